// Combiners in a training loop with W virtual workers.
#include <doctest/doctest.h>

#include <algoperf/combine/sequential_workers.hpp>
#include <cmath>
#include <type_traits>

#include "../loop/tiny.hpp"
#include "../support/near.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Loop>
void train(Loop& loop, int steps) {
  const Tiny task;
  for (int i = 0; i < steps; ++i) loop.step(task.train());
}

template <class A, class B>
double distance(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger_or_nan(most, std::fabs(double{a[i]} - double{b[i]}));
  return most;
}

// Returns the parameters after some steps.
template <class Rule, class... Tail>
auto trained(int steps, const Rule& rule, const Tail&... tail) {
  auto loop = tiny_loop(rule, 0.05, tail...);
  train(loop, steps);
  return values_of(loop);
}

}  // namespace

TEST_CASE("Mean: W workers are equivalent to one worker, up to rounding") {
  for (const std::size_t workers : {2u, 3u, 4u, 5u, 32u}) {  // of 32 examples: equal and unequal parts
    CAPTURE(workers);
    const InProcess group{workers};
    const auto alone = trained(6, momentum(), Host<double>{});
    CHECK(distance(trained(6, momentum(), Mean{}, group, Host<double>{}), alone) < 1e-12);
    const auto climbed = trained(6, sam(momentum()), Host<double>{});
    CHECK(distance(trained(6, sam(momentum()), Mean{}, group, Host<double>{}), climbed) < 1e-12);
    CHECK(distance(climbed, alone) > 1e-6);
  }
}

TEST_CASE_TEMPLATE("a group of one worker equals SingleWorker bit for bit", C, Mean, WorkerSum<Of::gradients>,
                   WorkerSum<Of::updates>, Adasum<Of::gradients>, Adasum<Of::updates>) {
  const auto same = [](const auto& rule) { return same_bits(trained(5, rule), trained(5, rule, C{}, InProcess{1})); };
  CHECK(same(sgd()));
  CHECK(same(adamw()));
  CHECK(same(sam(momentum())));
}

TEST_CASE("Adasum of updates and of gradients, computed by hand for two workers and SGD") {
  const Tiny task;
  const double rate = 0.3;
  const auto one_step = [&](const Always& examples, const auto&... tail) {
    TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{rate}, examples, Host<double>{}, tail...);
    loop.step(task.train());
    return values_of(loop);
  };
  TrainingLoop fresh(task.model(), task.loss(), sgd(), Constant{rate}, Always(range(0, 16)), Host<double>{});
  const auto start = values_of(fresh);
  const auto a = one_step(Always(range(0, 8))), b = one_step(Always(range(8, 16)));

  auto expected = start;  // start + adasum(a - start, b - start), tensor by tensor
  for (const TensorHandle handle : fresh.layout().tensors()) {
    const TensorPlace place = fresh.layout().place_of(handle);
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = place.offset; i < place.offset + place.size; ++i) {
      const double x = a[i] - start[i], y = b[i] - start[i];
      dot += x * y;
      aa += x * x;
      bb += y * y;
    }
    for (std::size_t i = place.offset; i < place.offset + place.size; ++i)
      expected[i] += (1 - dot / (2 * aa)) * (a[i] - start[i]) + (1 - dot / (2 * bb)) * (b[i] - start[i]);
  }
  REQUIRE(distance(expected, a) > 1e-3);
  CHECK(distance(one_step(Always(range(0, 16)), Adasum<Of::updates>{}, InProcess{2}), expected) < 1e-13);
  // An SGD step is linear in the gradient, and Adasum is homogeneous, so both variants agree.
  CHECK(distance(one_step(Always(range(0, 16)), Adasum<Of::gradients>{}, InProcess{2}), expected) < 1e-13);
}

TEST_CASE("hierarchical Adasum: one node of all workers is the mean, nodes of one worker are Adasum") {
  const auto with = [](const auto& rule, const auto& combiner) {
    return trained(6, rule, combiner, InProcess{4}, Host<double>{});
  };
  const auto mean = with(momentum(), Mean{}), plain = with(momentum(), Adasum<Of::gradients>{});
  CHECK(distance(with(momentum(), Adasum<Of::gradients>{.per_node = 4}), mean) < 1e-12);
  CHECK(same_bits(with(momentum(), Adasum<Of::gradients>{.per_node = 1}), plain));
  const auto nodes = with(momentum(), Adasum<Of::gradients>{.per_node = 2});
  CHECK(distance(nodes, mean) > 1e-6);
  CHECK(distance(nodes, plain) > 1e-6);
  // Nodes of two workers with 8 examples have the gradients of two workers with 16 examples.
  CHECK(distance(nodes, trained(6, momentum(), Adasum<Of::gradients>{}, InProcess{2}, Host<double>{})) < 1e-12);
  // The mean of SGD's updates is the update of the mean.
  CHECK(distance(with(sgd(), Adasum<Of::updates>{.per_node = 4}), with(sgd(), Mean{})) < 1e-12);
}

TEST_CASE("Adasum in 16 bits is near Adasum, and its gradients and updates are 16-bit numbers") {
  const auto one_step = [](const auto& combiner) { return trained(1, sgd(), combiner, InProcess{4}); };
  const auto full = one_step(Adasum<Of::updates>{});
  for (const VectorFormat format : {VectorFormat::bfloat16, VectorFormat::float16}) {
    const auto rounded = one_step(Adasum<Of::updates>{.format = format});
    const double found = distance(rounded, full);
    CHECK(found > 0);
    CHECK(found < 0.01);
    CHECK(distance(one_step(Adasum<Of::gradients>{.format = format}), full) < 0.01);
  }
}

TEST_CASE("WorkerSum adds: SGD steps as if the learning rate were W times as large, and updates of any rule add") {
  for (const std::size_t workers : {2u, 4u, 8u}) {
    CAPTURE(workers);
    const InProcess group{workers};
    auto large = tiny_loop(momentum(), 0.01 * static_cast<double>(workers), Host<double>{});
    train(large, 4);
    const auto expected = values_of(large);
    const auto added = [&](const auto& combiner) {
      auto loop = tiny_loop(momentum(), 0.01, combiner, group, Host<double>{});
      train(loop, 4);
      return values_of(loop);
    };
    // Momentum is linear in the gradients, so it does not matter which are added.
    CHECK(distance(added(WorkerSum<Of::gradients>{}), expected) < 1e-12);
    CHECK(distance(added(WorkerSum<Of::updates>{}), expected) < 1e-12);
    CHECK(distance(added(Mean{}), expected) > 1e-3);
  }
  // Adam's first step is the sign of the gradient: sums of updates grow with the workers, sums of gradients do not.
  const auto first_step = [&](const auto& combiner) {
    return distance(trained(1, adamw({.weight_decay = 0}), combiner, InProcess{4}, Host<double>{}),
                    trained(0, adamw({.weight_decay = 0}), Host<double>{}));
  };
  CHECK(first_step(WorkerSum<Of::gradients>{}) == near(0.05, 1e-5));
  CHECK(first_step(WorkerSum<Of::updates>{}) == near(4 * 0.05, 1e-5));
}

TEST_CASE_TEMPLATE("WorkerSum averages tensors that are not trained", C, WorkerSum<Of::gradients>,
                   WorkerSum<Of::updates>) {
  const Tiny task;
  const auto averages = [&](const auto&... tail) {
    const auto model = Model(Shape{28, 28, 1}, Dense{.units = 12}, BatchNorm{}, Relu{}, Dense{.units = 10});
    TrainingLoop loop(model, task.loss(), sgd(), Constant{0}, Always(range(0, 32)), Host<double>{}, tail...);
    loop.step(task.train());
    return values_of(loop);
  };
  CHECK(distance(averages(C{}, InProcess{4}), averages(Mean{}, InProcess{4})) < 1e-13);
}

TEST_CASE("Adasum of updates keeps a separate rule state for each worker") {
  CHECK(distance(trained(4, adamw(), Adasum<Of::updates>{}, InProcess{3}),
                 trained(4, adamw(), Adasum<Of::gradients>{}, InProcess{3})) > 1e-4);
}

TEST_CASE_TEMPLATE("a last batch smaller than the group", C, Mean, WorkerSum<Of::gradients>, WorkerSum<Of::updates>,
                   Adasum<Of::gradients>, Adasum<Of::updates>) {
  const Tiny task;  // 256 = 5 * 51 + 1: one worker learns from the last example, two have none
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{1e-3}, ShuffledEpochs{.batch = 51}, C{}, InProcess{3});
  for (int i = 0; i < 5; ++i) loop.step(task.train());
  const auto before = values_of(loop);
  const StepReport last = loop.step(task.train());
  CHECK(last.examples == 256);
  CHECK(last.loss > 0);
  CHECK(distance(values_of(loop), before) > 1e-4);
  CHECK(distance(values_of(loop), before) < 1e-2);
}

TEST_CASE_TEMPLATE("workers without examples do not change a step", C, Mean, WorkerSum<Of::gradients>,
                   WorkerSum<Of::updates>, Adasum<Of::gradients>, Adasum<Of::updates>) {
  const Tiny task;
  const auto step_of = [&](std::size_t workers) {
    Always two(range(0, 2));
    two.batch = 4;  // of which only two examples come, one for every second of four workers
    TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{0.3}, two, C{}, InProcess{workers}, Host<double>{});
    loop.step(task.train());
    return values_of(loop);
  };
  CHECK(distance(step_of(4), step_of(2)) < 1e-13);
}

TEST_CASE_TEMPLATE("the loss of a step is the mean over the batch for any number of workers", C, Mean,
                   WorkerSum<Of::gradients>, WorkerSum<Of::updates>, Adasum<Of::gradients>, Adasum<Of::updates>) {
  const Tiny task;
  auto alone = tiny_loop(sgd(), 0.05, Host<double>{});
  const double expected = alone.step(task.train()).loss.value();
  for (const std::size_t workers : {1u, 2u, 3u, 5u}) {  // of 32 examples: equal and unequal parts
    CAPTURE(workers);
    auto loop = tiny_loop(sgd(), 0.05, C{}, InProcess{workers}, Host<double>{});
    CHECK(loop.step(task.train()).loss.value() == near(expected, 1e-12));
  }
}

TEST_CASE_TEMPLATE("a checkpoint contains the state of the rule", C, Mean, WorkerSum<Of::gradients>,
                   WorkerSum<Of::updates>, Adasum<Of::gradients>, Adasum<Of::updates>) {
  const TemporaryFile file;
  auto whole = tiny_loop(momentum(), 0.05, C{}, InProcess{2});
  auto resumed = tiny_loop(momentum(), 0.05, C{}, InProcess{2});
  train(whole, 3);
  save_checkpoint(file.path(), whole);
  const bool of_each_worker = std::is_same_v<C, Adasum<Of::updates>> || std::is_same_v<C, WorkerSum<Of::updates>>;
  CHECK(contains(file.read(), "worker_1") == of_each_worker);
  CHECK(!contains(file.read(), "worker_2"));
  load_checkpoint(file.path(), resumed);
  train(whole, 2);
  train(resumed, 2);
  CHECK(same_values(whole, resumed));
}

TEST_CASE("Adasum rejects nodes that do not divide the workers") {
  for (const std::size_t per_node : {std::size_t{0}, std::size_t{3}, std::size_t{8}})
    CHECK(sentence([&] { tiny_loop(sgd(), 0.1, Adasum<Of::gradients>{.per_node = per_node}, InProcess{4}); }) ==
          "Adasum: per_node is " + std::to_string(per_node) + ", which does not divide 4 workers");
}

TEST_CASE("invalid worker groups are rejected") {
  const auto make = [](std::size_t workers, const auto& combiner) {
    return sentence([&] { tiny_loop(sgd(), 0.1, combiner, InProcess{workers}); });
  };
  CHECK(make(2, SingleWorker{}) == "TrainingLoop: 2 workers need a combiner, Mean{} or Adasum<>{}");
  CHECK(make(0, Mean{}) == "TrainingLoop: the worker group has 0 workers, expected at least 1");
  CHECK(make(33, Mean{}) == "TrainingLoop: the batch is 32 examples for 33 workers, expected at least one each");
  CHECK(make(32, Mean{}).empty());
}

TEST_CASE("SequentialWorkers makes the steps of SGD with small batches, one after the other") {
  const Tiny task;
  std::vector<SequentialErrors> errors;
  TrainingLoop small(task.model(), task.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8}, Host<double>{});
  TrainingLoop sequence(task.model(), task.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 32},
                        SequentialWorkers{&errors, 3}, InProcess{4}, Host<double>{});
  for (int i = 0; i < 4 * 6; ++i) small.step(task.train());
  for (int i = 0; i < 6; ++i) sequence.step(task.train());
  CHECK(distance(values_of(sequence), values_of(small)) < 1e-13);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].step == 3);
  CHECK(errors[1].step == 6);
}

TEST_CASE("the errors of combined gradients against sequential steps, by hand") {
  const Tiny task;
  const double rate = 0.2;
  const auto one_step = [&](const Always& examples, const auto&... tail) {
    TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{rate}, examples, Host<double>{}, tail...);
    loop.step(task.train());
    return values_of(loop);
  };
  const auto norm_of_difference = [](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  };
  std::vector<SequentialErrors> errors;
  const Always examples(range(0, 24));
  const auto sequential = one_step(examples, SequentialWorkers{&errors}, InProcess{3});
  TrainingLoop fresh(task.model(), task.loss(), sgd(), Constant{rate}, examples, Host<double>{});
  const double moved = norm_of_difference(sequential, values_of(fresh));
  const auto error = [&](const auto& combiner) {
    return norm_of_difference(one_step(examples, combiner, InProcess{3}), sequential) / moved;
  };
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].mean == near(error(Mean{}), 1e-10));
  CHECK(errors[0].sum == near(error(WorkerSum<Of::gradients>{}), 1e-10));
  CHECK(errors[0].adasum == near(error(Adasum<Of::gradients>{}), 1e-10));
  // Without curvature, the sum of the gradients would be exact: a small step is nearly so.
  std::vector<SequentialErrors> small;
  TrainingLoop slow(task.model(), task.loss(), sgd(), Constant{1e-4}, examples, Host<double>{},
                    SequentialWorkers{&small}, InProcess{3});
  slow.step(task.train());
  CHECK(small[0].sum < 1e-2);
  CHECK(small[0].mean == near(2.0 / 3, 1e-2));
}
