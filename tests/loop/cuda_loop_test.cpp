// Training loops on a CUDA device, or on the host with the emulated CUDA runtime (tests/emulated_cuda).
#include <algoperf/backend/cuda.cuh>
#include <cmath>

#include <algoperf/data/prefetched.hpp>
#include <algoperf/loop/observers/until.hpp>
#include "../support/near.hpp"
#include "algoperf/nn/losses/soft_cross_entropy.hpp"
#include "algoperf/nn/metrics/soft_error_rate.hpp"

#include "decoding.hpp"
#include "device_loops.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("Cuda: an MLP") { check_mlp(Cuda<float>{}); }
TEST_CASE("Cuda: a CNN") { check_cnn(Cuda<float>{}); }
TEST_CASE("Cuda: class weights, and layers without a bias") { check_class_weights(Cuda<float>{}); }
TEST_CASE("Cuda: interactions of categories") { check_clicks(Cuda<float>{}); }
TEST_CASE("Cuda: a body that is not trained") { check_stopped(Cuda<float>{}); }
TEST_CASE("Cuda: a model that reads tokens") { check_tokens(Cuda<float>{}); }
TEST_CASE("Cuda: a loss and a weight per word") { check_weighted(Cuda<float>{}); }
TEST_CASE("Cuda: examples with different numbers of rows") { check_ragged(Cuda<float>{}); }
TEST_CASE("Cuda: decoder-only Transformers") { check_transformers(Cuda<float>{}); }
TEST_CASE("Cuda: recurrent models") { check_recurrent(Cuda<float>{}); }
TEST_CASE("Cuda: a Vision Transformer") { check_vision(Cuda<float>{}); }
TEST_CASE("Cuda: a U-Net") { check_restoration(Cuda<float>{}); }
TEST_CASE("Cuda: a loss over all paths that spell the labels") { check_spelling(Cuda<float>{}); }
TEST_CASE_TEMPLATE("Cuda: workers", C, Mean, Adasum<Of::gradients>, Adasum<Of::updates>) {
  check_workers<C>(Cuda<float>{});
}
TEST_CASE("Cuda: binary decisions per class") { check_questions(Cuda<float>{}); }
TEST_CASE("Cuda: decoding") {
  check_decoders(Cuda<float>{}, 1e-5);
  check_decoders(Cuda<float, bfloat16>{}, 0.05);
}
TEST_CASE("Cuda: evaluation") { check_evaluation(Cuda<float>{}); }
TEST_CASE("Cuda: checkpoints") { check_checkpoints(Cuda<float>{}); }
TEST_CASE("Cuda: divergence") { check_divergence(Cuda<float>{}); }
TEST_CASE("Cuda: skipped steps") { check_left_out(Cuda<float>{}); }

namespace {

// Checks training in mixed precision: the result is close to float on the host, and has the same bits with and without
// graphs.
template <class Make, class Task>
void check_mixed(const Make& make, const Task& task, int steps, std::size_t replays) {
  auto host = make(Host<float>{});
  auto mixed = make(Cuda<float, bfloat16>{}), again = make(Cuda<float, bfloat16>{.graphs = false});
  train(host, task, steps);
  train(mixed, task, steps);
  train(again, task, steps);
  CHECK(same_values(mixed, again));
  CHECK(mixed.recording().replays() + mixed.recordings().replays() > replays);
  const double apart = difference(host, mixed);
  CHECK(apart > 1e-5);
  CHECK(apart < 0.05);
  CHECK(*mixed.last().loss == near(*host.last().loss, 0.02));
}

struct Losses {
  std::vector<std::optional<double>>& seen;
  bool reads = false;
  bool reads_loss(const StepReport&) const { return reads; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) const {
    return seen.push_back(report.loss), Control::go_on;
  }
};

}  // namespace

TEST_CASE("Cuda: steps as graphs give the same bits as steps without graphs") {
  const Tiny task;
  const auto check = [&](const auto& make, std::size_t replays) {
    auto graphs = make(Cuda<float>{}), one_by_one = make(Cuda<float>{.graphs = false});
    train(graphs, task.train(), 20);
    train(one_by_one, task.train(), 20);
    CHECK(same_values(graphs, one_by_one));
    CHECK(graphs.last().loss == one_by_one.last().loss);
    CHECK(graphs.recording().replays() == replays);
    CHECK(one_by_one.recording().replays() == 0);
  };
  // The first step allocates memory, the second is recorded.
  check([](const auto& backend) { return tiny_loop(adamw(), 0.01, backend); }, 18);
  check([](const auto& backend) { return tiny_loop(lamb(), 0.01, backend); }, 18);
  check([](const auto& backend) { return tiny_loop(partition(matrices, muon(), otherwise, adamw()), 0.01, backend); },
        18);
  check([](const auto& backend) { return tiny_loop(momentum(), 0.02, Mean{}, InProcess{3}, backend); }, 18);
  check(
      [](const auto& backend) {
        return TrainingLoop(
            Model(Shape{28, 28, 1}, Dense{.units = 12}, BatchNorm{.ghost = 16}, Relu{}, Dropout{}, Dense{.units = 10}),
            SoftmaxCrossEntropy{}, momentum(), Constant{0.02}, ShuffledEpochs{.batch = 32}, backend);
      },
      18);
  // Whether the gradient is finite is decided on the device.
  check([](const auto& backend) { return tiny_loop(apply_if_finite(adamw()), 0.01, backend); }, 18);
  check(
      [](const auto& backend) {
        return tiny_loop(apply_if_finite(chain(ClipByGlobalNorm{}, partition(matrices, lamb(), otherwise, sgd()))),
                         0.01, Mean{}, InProcess{2}, backend);
      },
      18);
  // The host reads values from the device within the step, so no graph is used.
  check([](const auto& backend) { return tiny_loop(apply_if_finite(nadam()), 0.01, backend); }, 0);
  check([](const auto& backend) { return tiny_loop(adagrad_norm(), 0.01, backend); }, 0);
  check([](const auto& backend) { return tiny_loop(momentum(), 0.02, Adasum<>{}, InProcess{2}, backend); }, 0);
}

TEST_CASE("Cuda: activations in bfloat16, parameters in float") {
  const Tiny task;
  check_mixed([](const auto& backend) { return tiny_loop(adamw(), 0.003, backend); }, task.train(), 60, 30);
  check_mixed(
      [&](const auto& backend) {
        const auto model =
            Model(Shape{28, 28, 1}, Conv2d{.filters = 4, .size = 5, .stride = 2}, BatchNorm{}, Relu{}, MaxPool{},
                  Residual(Conv2d{.filters = 4, .padding = 1}, Silu{}), Dropout{.rate = 0.1}, Dense{.units = 10});
        return TrainingLoop(model, task.loss(), lamb(), Constant{0.01}, ShuffledEpochs{.batch = 16}, Mean{},
                            InProcess{2}, backend);
      },
      task.train(), 30, 15);
  const Text text = Text::from_string("the quick brown fox jumps over the lazy dog and runs away. ", {.context = 6});
  check_mixed(
      [&](const auto& backend) {
        // Smooth activations: with so few units, a single ReLU that rounding moves across its kink would change the
        // training.
        const Dense hidden{.units = 8};
        const auto model = Model(Shape{6}, Embedding{.vocabulary = text.classes(), .width = 4}, Flatten{}, hidden,
                                 Tanh{}, Residual(LayerNorm{}, hidden, Tanh{}), Dense{.units = text.classes()});
        return TrainingLoop(model, SoftmaxCrossEntropy{}, momentum(), Constant{0.02}, WithReplacement{.batch = 8},
                            backend);
      },
      text, 30, 15);
}

TEST_CASE("Cuda: examples with different numbers of rows in bfloat16") {
  check_mixed(
      [](const auto& backend) {
        return TrainingLoop(ragged::Reader{}, Weighted{SoftmaxCrossEntropy{}, "importance"}, momentum(), Constant{0.05},
                            ShuffledEpochs{.batch = 20}, backend);
      },
      ragged::weighted_sentences(), 24, 0);
  check_mixed(
      [](const auto& backend) {
        return TrainingLoop(ragged::SmoothGraphModel{}, SoftmaxCrossEntropy{}, momentum(), Constant{0.01},
                            ShuffledEpochs{.batch = 20}, backend);
      },
      ragged::graphs(40), 24, 0);
}

TEST_CASE("Cuda: a run in bfloat16 evaluates, predicts and resumes, and its checkpoint can be loaded on the host") {
  const Tiny task;
  auto whole = tiny_loop(adamw(), 0.005, Cuda<float, bfloat16>{}),
       first = tiny_loop(adamw(), 0.005, Cuda<float, bfloat16>{});
  auto second = tiny_loop(adamw(), 0.005, Cuda<float, bfloat16>{});
  auto host = tiny_loop(adamw(), 0.005);
  train(whole, task.train(), 60);
  train(first, task.train(), 25);
  const TemporaryFile file;
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  train(second, task.train(), 35);
  CHECK(same_values(whole, second));
  save_checkpoint(file.path(), whole);
  load_checkpoint(file.path(), host);
  CHECK(same_bits(values_of(host), values_of(whole)));
  const auto there = whole.evaluate(task.validation(), task.metric()),
             here = host.evaluate(task.validation(), task.metric());
  CHECK(there.loss == near(here.loss, 0.01));
  CHECK(there.metric < 0.6);
  CHECK(std::fabs(there.metric - here.metric) < 0.04);
  const auto a = whole.predict(task.validation()), b = host.predict(task.validation());
  REQUIRE(a.size() == b.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = larger_or_nan(most, std::fabs(double{a[i]} - double{b[i]}));
    largest = std::fmax(largest, std::fabs(double{b[i]}));
  }
  CHECK(most > 0);
  CHECK(most < 4 * 0x1p-8 * largest);
}

TEST_CASE("Cuda: real-valued labels") {
  std::vector<float> inputs, labels;
  for (int i = 0; i < 50; ++i) {
    const float x = static_cast<float>(i) / 25 - 1;
    inputs.insert(inputs.end(), {x, x * x});
    labels.insert(labels.end(), {2 * x, x * x - x, 0.5f});
  }
  const InMemoryRegression<float> data(inputs, labels, Shape{2}, Shape{3});
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 3}), MeanSquaredError{}, adam(), Constant{0.05},
                    ShuffledEpochs{.batch = 10}, Cuda<float>{});
  const auto end = loop.run(data, Evaluate(data, MeanSquaredError{}, {.every = 100}), UntilStep{300});
  CHECK(end.best.metric < 1e-5);
  CHECK(loop.recording().replays() > 200);
  TrainingLoop mixed(Model(Shape{2}, Dense{.units = 3}), MeanSquaredError{}, adam(), Constant{0.05},
                     ShuffledEpochs{.batch = 10}, Cuda<float, bfloat16>{});
  CHECK(mixed.run(data, Evaluate(data, MeanSquaredError{}, {.every = 100}), UntilStep{300}).best.metric < 1e-4);
}

TEST_CASE("Cuda: soft targets") {
  std::vector<float> inputs, labels;
  for (int i = 0; i < 50; ++i) {
    const float x = static_cast<float>(i) / 25 - 1, p = 1 / (1 + std::exp(-3 * x));
    inputs.insert(inputs.end(), {x, x * x});
    labels.insert(labels.end(), {p, 0.8f * (1 - p), 0.2f * (1 - p)});
  }
  const InMemoryRegression<float> data(inputs, labels, Shape{2}, Shape{3});
  const auto make = [](const auto& backend) {
    return TrainingLoop(Model(Shape{2}, Dense{.units = 3}), SoftCrossEntropy{}, adam(), Constant{0.05},
                        ShuffledEpochs{.batch = 10}, backend);
  };
  auto host = make(Host<float>{});
  auto there = make(Cuda<float>{});
  const auto expected = host.run(data, Evaluate(data, SoftErrorRate{}, {.every = 100}), UntilStep{300}).best;
  const auto found = there.run(data, Evaluate(data, SoftErrorRate{}, {.every = 100}), UntilStep{300}).best;
  CHECK(found.loss == near(expected.loss, 1e-4));
  CHECK(found.metric == expected.metric);
  CHECK(found.metric < 0.05);
}

TEST_CASE("Cuda: graphs with a changing batch size") {
  const Tiny task;
  const auto make = [&](const auto& backend) {
    const auto growing = scheduled_batch(ShuffledEpochs{.batch = 12}, [](std::uint64_t step) { return 4 + step / 6; });
    return TrainingLoop(task.model(), task.loss(), adamw(), Constant{0.01}, growing, backend);
  };
  auto graphs = make(Cuda<float>{}), one_by_one = make(Cuda<float>{.graphs = false});
  train(graphs, task.train(), 40);
  train(one_by_one, task.train(), 40);
  CHECK(same_values(graphs, one_by_one));
  CHECK(graphs.recording().replays() > 10);
}

TEST_CASE("Cuda: graphs where examples have different numbers of rows") {
  // Batches are padded, so that steps have few different sizes.
  const auto data = ragged::weighted_sentences();
  const auto check = [&](const auto& make, const auto& from, bool prefetches) {
    auto host = make(Host<float>{});
    auto graphs = make(Cuda<float>{}), one_by_one = make(Cuda<float>{.graphs = false});
    train(host, from, 24);
    train(one_by_one, from, 24);
    if (prefetches)
      graphs.run(prefetched(from), UntilStep{24});
    else
      train(graphs, from, 24);
    CHECK(same_values(graphs, one_by_one));
    CHECK(difference(host, graphs) < 1e-5);
    CHECK(graphs.last().loss == one_by_one.last().loss);
    CHECK(std::fabs(*host.last().loss - *graphs.last().loss) < 1e-4 * *host.last().loss);
    CHECK(graphs.recordings().replays() > 4);
    CHECK(one_by_one.recordings().replays() == 0);
  };
  const auto reader = [](const auto& backend) {
    return TrainingLoop(ragged::Reader{}, Weighted{SoftmaxCrossEntropy{}, "importance"}, momentum(), Constant{0.02},
                        ShuffledEpochs{.batch = 20}, backend);
  };
  check(reader, data, true);
  // The rows of the losses are examples.
  const auto of_graphs = [](const auto& backend) {
    return TrainingLoop(ragged::GraphModel{}, SoftmaxCrossEntropy{}, momentum(), Constant{0.02},
                        ShuffledEpochs{.batch = 24}, backend);
  };
  check(of_graphs, ragged::graphs(48), false);
  // Batches that workers share are not padded.
  TrainingLoop workers(ragged::Reader{}, SoftmaxCrossEntropy{}, momentum(), Constant{0.02}, ShuffledEpochs{.batch = 8},
                       Mean{}, InProcess{2}, Cuda<float>{});
  train(workers, data, 4);
  CHECK(workers.recordings().replays() == 0);
}

TEST_CASE("Cuda: a run reads the loss only where it is needed, and the result is the same") {
  const Tiny task;
  auto stepped = tiny_loop(adamw(), 0.01, Cuda<float>{}), run = tiny_loop(adamw(), 0.01, Cuda<float>{});
  std::vector<std::optional<double>> each, some, every;
  for (int i = 0; i < 10; ++i) each.push_back(stepped.step(task.train()).loss);
  const RunReport report = run.run(task.train(), Evaluate(task, {.every = 4}), Losses{some}, UntilStep{10});
  CHECK(same_values(stepped, run));
  REQUIRE(some.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    if (i % 4 == 3)  // evaluated
      CHECK(some[i] == each[i]);
    else
      CHECK(!some[i]);
  }
  CHECK(report.last.loss == each[9]);
  auto reading = tiny_loop(adamw(), 0.01, Cuda<float>{});
  reading.run(task.train(), Losses{every, true}, UntilStep{10});
  CHECK(every == each);
}

TEST_CASE("Cuda: a divergence is found later, and the parameters stay as before the diverged step") {
  const Tiny task;
  const auto rates = [](std::uint64_t step) { return step < 6 ? 0.01 : 1e30; };
  const auto make = [&](const auto& backend) {
    return TrainingLoop(task.model(), task.loss(), adamw(), rates, ShuffledEpochs{.batch = 16}, backend);
  };
  const auto diverge = [&](auto& loop) -> std::uint64_t {
    try {
      loop.run(task.train(), UntilStep{30});
    } catch (const Diverged& error) {
      CHECK(contains(error.what(), "training diverged at step " + std::to_string(error.step)));
      CHECK(error.report.diverged_at() == error.step);
      return error.step;
    }
    return 0;
  };
  auto host = make(Host<float>{});
  auto device = make(Cuda<float>{}), again = make(Cuda<float>{});
  const std::uint64_t step = diverge(host);
  CHECK(step > 6);
  CHECK(step < 30);
  CHECK(diverge(device) == step);
  train(again, task.train(), static_cast<int>(step) - 1);
  CHECK(same_values(device, again));  // the parameters before the diverged step
}

#if defined(ALGOPERF_EMULATED_CUDA)
TEST_CASE("Cuda: data that does not fit the device is copied from the host") {
  const Tiny task;
  auto resident = tiny_loop(adamw(), 0.01, Cuda<float>{}), streaming = tiny_loop(adamw(), 0.01, Cuda<float>{});
  resident.run(task.train(), UntilStep{6});
  const std::size_t before = emulated_cuda::most_bytes;
  emulated_cuda::most_bytes = 1 << 25;  // makes the allocation of the 64 MiB margin for resident data fail
  streaming.run(task.train(), UntilStep{6});
  emulated_cuda::most_bytes = before;
  CHECK(same_values(resident, streaming));
  CHECK(streaming.recording().replays() == 4);
}
#endif
