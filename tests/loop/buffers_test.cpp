// Buffers, such as a batch norm's running averages, in training: rules do not see them, steps update them, workers
// agree on them, evaluation reads them, and checkpoints contain them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Rule, class... Tail>
auto normed_loop(const Rule& rule, const Tail&... tail) {
  return TrainingLoop(Model(Shape{28, 28, 1}, Dense{.units = 12}, BatchNorm{.ghost = 16}, Relu{}, Dense{.units = 10}),
                      SoftmaxCrossEntropy{}, rule, Constant{0.05}, ShuffledEpochs{.batch = 32}, tail...);
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger_or_nan(most, std::abs(static_cast<double>(a[i] - b[i])));
  return most;
}

}  // namespace

TEST_CASE("arrange_for places buffers after the trained tensors, and fixed tensors after the buffers") {
  Layout layout;
  layout.add({.name = "fixed", .kind = Kind::weight, .shape = {3}});
  layout.add({.name = "fixed.mean", .kind = Kind::weight, .shape = {3}, .buffer = true});
  layout.fix_since(0);
  layout.add({"a", Kind::weight, {3}});
  layout.add({.name = "b", .shape = {5}, .buffer = true});
  layout.add({"c", Kind::weight, {4}});
  const auto rule = adamw();
  REQUIRE(layout.regions_for(rule).size() == 2);  // b separates a and c
  CHECK(layout.buffers().size() == 1);
  CHECK(sentence([&] { layout.trained_size(); }) ==
        "Layout: 'a' is trained but comes after a tensor that is not: call arrange_for(rule) before creating arenas");
  layout.arrange_for(rule);
  REQUIRE(layout.regions_for(rule).size() == 1);
  CHECK(layout.regions_for(rule)[0].tensors.size() == 2);
  CHECK(layout.trained_size() == 32);
  REQUIRE(layout.buffers().size() == 1);
  CHECK(layout.buffers()[0].begin == 32);
  CHECK(layout.buffers()[0].end == 48);
  CHECK(layout.spec(layout.tensors().back()).name == "fixed.mean");
  const auto only_weights = partition([](const TensorSpec& tensor) { return tensor.name != "b"; }, sgd());
  CHECK(layout.regions_for(only_weights).size() == 1);  // the buffer b needs no rule
}

TEST_CASE("running averages follow the data with any rule") {
  const Tiny task;
  const auto check = [&](const auto& rule) {
    auto loop = normed_loop(rule);
    loop.run(task.train(), UntilStep{200});
    const std::vector<float> before = tensor_values(loop, "1.mean"), variance = tensor_values(loop, "1.variance");
    loop.run(task.train(), UntilStep{208});
    CHECK(tensor_values(loop, "1.mean") != before);
    for (const float v : variance) CHECK((v > 0.0f && std::isfinite(v)));
    const auto report = loop.evaluate(task.train(), ErrorRate{});
    CHECK(report.metric < 0.5);  // evaluation uses the running averages from training
  };
  check(momentum());
  check(adamw());
  check(partition(matrices, muon(), otherwise, adamw()));
  check(sam(momentum()));
  check(armijo(momentum()));
  check(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9}));
}

TEST_CASE("two workers, each with one ghost batch, update running averages as one worker does") {
  const Tiny task;
  auto one = normed_loop(momentum());
  auto two = normed_loop(momentum(), Mean{}, InProcess{2});
  one.run(task.train(), UntilStep{12});
  two.run(task.train(), UntilStep{12});
  CHECK(largest_difference(tensor_values(one, "1.mean"), tensor_values(two, "1.mean")) < 1e-3);
  CHECK(largest_difference(tensor_values(one, "1.variance"), tensor_values(two, "1.variance")) < 1e-2);
}

TEST_CASE("running averages are resumed bit for bit") {
  const Tiny task;
  auto whole = normed_loop(adamw()), first = normed_loop(adamw()), second = normed_loop(adamw());
  whole.run(task.train(), UntilStep{20});
  first.run(task.train(), UntilStep{9});
  load(second, save(first));
  second.run(task.train(), UntilStep{20});
  CHECK(same_values(whole, second));
}

TEST_CASE("a batch with a non-finite input does not change parameters and running averages") {
  const Tiny task;
  std::vector<float> inputs(Tiny::digits().inputs());
  inputs[5] = std::numeric_limits<float>::infinity();  // of example 0
  const InMemory<float> bad(inputs, Tiny::digits().labels(), Shape{28, 28, 1}, 10);
  auto loop = normed_loop(apply_if_finite(momentum()));
  loop.run(bad.subset(0, 256), UntilStep{200});
  for (const char* const tensor : {"0.weight", "1.mean", "1.variance"})
    for (const float x : tensor_values(loop, tensor)) REQUIRE(std::isfinite(x));
  CHECK(loop.evaluate(task.train(), ErrorRate{}).metric < 0.5);
}

TEST_CASE("Adasum combines running averages by their mean") {
  const Tiny task;
  auto mean = normed_loop(sgd(), Mean{}, InProcess{2});
  auto adasum = normed_loop(sgd(), Adasum<Of::gradients>{}, InProcess{2});
  mean.step(task.train());
  adasum.step(task.train());
  CHECK(largest_difference(tensor_values(mean, "1.mean"), tensor_values(adasum, "1.mean")) < 1e-6);
}
