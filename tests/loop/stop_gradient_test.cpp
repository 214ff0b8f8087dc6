// Training on top of layers that are not trained (StopGradient): the result has the same bits as with frozen(), for any
// rule, any combiner and any values of the fixed tensors.
#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

constexpr Shape in{28, 28, 1};
constexpr Dense hidden{.units = 12}, head{.units = 10, .output_layer = true};
constexpr const char* fixed[] = {"0.weight", "0.bias"};
constexpr const char* trained_names[] = {"2.weight", "2.bias"};

template <class Body, class Rule, class... Tail>
auto loop_on(const Body& body, const Rule& rule, const Tail&... tail) {
  return TrainingLoop(Model(in, body, Relu{}, head), SoftmaxCrossEntropy{}, rule, Constant{0.01},
                      ShuffledEpochs{.batch = 30}, tail...);
}

}  // namespace

TEST_CASE("the head is trained as with frozen tensors, bit for bit") {
  const Tiny task;
  const auto check = [&](const auto& rule, const auto&... tail) {
    auto stopped = loop_on(StopGradient(hidden), rule, tail...);
    auto frozen_loop = loop_on(hidden, partition(Named{"0."}, frozen(), otherwise, rule), tail...);
    const std::vector<float> weight = tensor_values(stopped, fixed[0]),
                             start = tensor_values(stopped, trained_names[0]);
    stopped.run(task.train(), UntilStep{20});
    frozen_loop.run(task.train(), UntilStep{20});
    CHECK(tensor_values(stopped, fixed[0]) == weight);
    CHECK(tensor_values(stopped, trained_names[0]) != start);
    for (const char* name : {fixed[0], fixed[1], trained_names[0], trained_names[1]})
      CHECK(tensor_values(stopped, name) == tensor_values(frozen_loop, name));
    CHECK(stopped.evaluate(task.validation(), ErrorRate{}).loss ==
          frozen_loop.evaluate(task.validation(), ErrorRate{}).loss);
  };
  check(adamw({.weight_decay = 0.1}));
  check(momentum(), Mean{}, InProcess{.workers = 4});
  check(adamw(), Adasum<>{}, InProcess{.workers = 2});
  check(adamw(), Adasum<Of::gradients>{}, InProcess{.workers = 2});
  check(momentum(), MeasuredMean{}, InProcess{.workers = 2});
  check(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9}));
}

TEST_CASE("rules that use all gradients see only those of the head") {
  const Tiny task;
  const auto check = [&](const auto& rule, const auto& of_head) {
    auto stopped = loop_on(StopGradient(hidden), rule);
    stopped.run(task.train(), UntilStep{20});
    auto alone = loop_on(hidden, partition(Named{"0."}, frozen(), otherwise, of_head));
    alone.run(task.train(), UntilStep{20});
    for (const char* name : trained_names) CHECK(tensor_values(stopped, name) == tensor_values(alone, name));
  };
  const auto clipped = chain(ClipByGlobalNorm{.max_norm = 0.1}, momentum());
  check(clipped, clipped);
  check(apply_if_finite(clipped), clipped);
  const auto falls = [&](const auto& rule) {
    auto loop = loop_on(StopGradient(hidden), rule);
    const std::vector<float> weight = tensor_values(loop, fixed[0]);
    const double before = loop.evaluate(task.train(), ErrorRate{}).loss;
    loop.run(task.train(), UntilStep{200});
    CHECK(loop.evaluate(task.train(), ErrorRate{}).loss < before);
    CHECK(tensor_values(loop, fixed[0]) == weight);
  };
  falls(sam(momentum()));
  falls(armijo(momentum()));
  falls(partition(matrices, muon(), otherwise, adamw()));
}

TEST_CASE("a trained body is loaded under a different head, and back into the original model") {
  const Tiny task;
  const Folder folder;
  constexpr BatchNorm norm;
  const auto make = [](const auto&... layers) {
    return TrainingLoop(Model(in, layers...), SoftmaxCrossEntropy{}, adamw(), Constant{0.01},
                        ShuffledEpochs{.batch = 32});
  };
  auto whole = make(hidden, norm, Relu{}, head);
  whole.run(task.train(), UntilStep{50});
  save_checkpoint(folder / "whole", whole);

  auto tuned = make(StopGradient(hidden), StopGradient(norm), Relu{}, head);
  load_values(folder / "whole", tuned, [](const TensorSpec& tensor) { return !tensor.output; });
  for (const char* name : {"0.weight", "1.scale", "1.mean", "1.variance"})
    CHECK(tensor_values(tuned, name) == tensor_values(whole, name));
  CHECK(tensor_values(tuned, "3.weight") != tensor_values(whole, "3.weight"));
  const double before = tuned.evaluate(task.train(), ErrorRate{}).loss;
  tuned.run(task.train(), UntilStep{50});
  for (const char* name : {"0.weight", "1.scale", "1.mean", "1.variance"})
    CHECK(tensor_values(tuned, name) == tensor_values(whole, name));
  CHECK(tuned.evaluate(task.train(), ErrorRate{}).loss < 0.8 * before);

  save_checkpoint(folder / "tuned", tuned);  // includes the fixed tensors
  auto resumed = make(StopGradient(hidden), StopGradient(norm), Relu{}, head);
  load_checkpoint(folder / "tuned", resumed);
  CHECK(same_values(tuned, resumed));
  load_values(folder / "tuned", whole);
  CHECK(whole.evaluate(task.validation(), ErrorRate{}).loss == tuned.evaluate(task.validation(), ErrorRate{}).loss);
}
