// Checks that training on a device agrees with training on the host. Shared by the tests of all devices.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/data/numbers_and_categories.hpp"
#include "algoperf/nn/losses/class_weights.hpp"
#include "ragged.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

namespace algoperf::testing {

// Returns the largest difference between two loops' parameters, relative to the largest parameter.
template <class A, class B>
double difference(A& a, B& b) {
  const auto x = values_of(a), y = values_of(b);
  REQUIRE(x.size() == y.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = larger_or_nan(most, std::fabs(double{x[i]} - double{y[i]}));
    largest = std::fmax(largest, std::fabs(double{x[i]}));
  }
  return std::isfinite(most) ? most / largest : most;
}

template <class Loop, class Data>
void train(Loop& loop, const Data& data, int steps) {
  for (int i = 0; i < steps; ++i) loop.step(data);
}

// Trains one loop on the host and two on the device, each created by `make`. Checks that host and device agree within
// tolerance, and that the two device loops agree bit for bit.
template <class Device, class Make, class Data>
void check_agreement(const Device& device, const Make& make, const Data& data, int steps) {
  auto host = make(Host<float>{});
  auto there = make(device), again = make(device), before = make(device);
  train(host, data, steps);
  train(there, data, steps);
  train(again, data, steps);
  CHECK(difference(host, there) < 1e-5);
  CHECK(difference(host, before) > 1e-3);
  CHECK(same_values(there, again));
  CHECK(std::fabs(*host.last().loss - *there.last().loss) < 1e-4 * *host.last().loss);
}

template <class Device>
void check_mlp(const Device& device) {
  const Tiny task;
  check_agreement(
      device, [](const auto& backend) { return tiny_loop(nesterov(), 0.02, backend); }, task.train(), 100);
}

template <class Device>
void check_cnn(const Device& device) {
  const Tiny task;
  check_agreement(
      device,
      [&](const auto& backend) {
        const auto model = Model(Shape{28, 28, 1}, Conv2d{.filters = 4, .size = 5, .stride = 2}, Relu{}, MaxPool{},
                                 Flatten{}, Dense{.units = 10});
        return TrainingLoop(model, task.loss(), momentum(), Constant{0.01}, LossProportional{.batch = 8}, backend);
      },
      task.train(), 100);
}

// Checks that a selector receives a loss per example.
struct CountedLosses : ShuffledEpochs {
  template <class Losses>
  void feedback(State&, const Selection& selection, const Losses& losses) const {
    CHECK(losses.size() == selection.indices.size());
  }
};

// Examples with different numbers of rows: attention and a weight per row, and messages between the nodes of graphs.
template <class Device>
void check_ragged(const Device& device) {
  const auto data = ragged::weighted_sentences();
  const ShuffledEpochs batches{.batch = 7};
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(ragged::Reader{}, Weighted{SoftmaxCrossEntropy{}, "importance"}, momentum(), Constant{0.05},
                            batches, Mean{}, InProcess{2}, backend);
      },
      data, 4);
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(ragged::GraphModel{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, batches, backend);
      },
      ragged::graphs(40), 4);
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(ragged::SmoothGraphModel{}, SoftmaxCrossEntropy{}, momentum(), Constant{0.02}, batches,
                            backend);
      },
      ragged::graphs(40), 6);
  check_agreement(  // a rule that needs each loss at once: on a device, batches have padding
      device,
      [&](const auto& backend) {
        return TrainingLoop(ragged::GraphModel{}, SoftmaxCrossEntropy{}, armijo(), Constant{1}, batches, backend);
      },
      ragged::graphs(40), 2);
  TrainingLoop counted(ragged::GraphModel{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, CountedLosses{batches},
                       device);
  for (int i = 0; i < 2; ++i) counted.step(ragged::graphs(40));
  const auto make = [&](const auto& backend) {
    return TrainingLoop(ragged::Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, batches, backend);
  };
  auto host = make(Host<float>{});
  auto there = make(device);
  const auto some = data.subset(3, 16);
  const auto expected = host.predict(some, 9), found = there.predict(some, 9);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-5f);
  CHECK(there.evaluate(some, ErrorRate{}).metric == near(host.evaluate(some, ErrorRate{}).metric, 1e-6));
}

// Numbers, and categories whose rows of a table interact.
template <class Device>
void check_clicks(const Device& device) {
  constexpr Dlrm model{.numbers = 3, .categories = 2, .vocabulary = 7, .width = 4, .bottom = {5}, .top = {6, 4}};
  std::vector<float> numbers;
  std::vector<std::int32_t> categories, labels;
  for (std::int32_t i = 0; i < 40; ++i) {
    for (int k = 0; k < 3; ++k) numbers.push_back(static_cast<float>((i * 7 + k * 5) % 11) / 11);
    categories.insert(categories.end(), {i % 7, (i * 3 + 1) % 7});
    labels.push_back(i % 7 < 3);
  }
  const NumbersAndCategories data({numbers, {3}}, {categories, {2}}, {labels, {1}});
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(model, SigmoidCrossEntropy{}, momentum(), Constant{0.05}, ShuffledEpochs{.batch = 16},
                            backend);
      },
      data, 12);
}

// Layers without a bias, and a weight per class.
template <class Device>
void check_class_weights(const Device& device) {
  const Tiny task;
  check_agreement(
      device,
      [](const auto& backend) {
        const auto model = Model(Shape{28, 28, 1}, Conv2d{.filters = 4, .size = 5, .stride = 2, .bias = false}, Relu{},
                                 Flatten{}, Dense{.units = 10, .bias = false});
        const ClassWeights loss(SoftmaxCrossEntropy{}, {1.0, 0.5, 2.0, 1.0, 1.0, 0.0, 1.0, 1.0, 3.0, 1.0});
        return TrainingLoop(model, loss, momentum(), Constant{0.01}, ShuffledEpochs{.batch = 16}, backend);
      },
      task.train(), 50);
}

// A model whose body is not trained.
template <class Device>
void check_stopped(const Device& device) {
  const Tiny task;
  check_agreement(
      device,
      [&](const auto& backend) {
        const auto model = Model(Shape{28, 28, 1}, StopGradient(Sequential(Dense{.units = 12}, BatchNorm{})), Relu{},
                                 BatchNorm{}, Dense{.units = 10});
        return TrainingLoop(model, task.loss(), momentum(), Constant{0.01}, ShuffledEpochs{.batch = 32}, backend);
      },
      task.train(), 50);
}

template <class Device>
void check_tokens(const Device& device) {
  const Text text = Text::from_string("the quick brown fox jumps over the lazy dog and runs away. ", {.context = 6});
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(next_character(6, text.classes(), {.width = 4, .units = 8}), SoftmaxCrossEntropy{},
                            momentum(), Constant{0.05}, WithReplacement{.batch = 8}, backend);
      },
      text, 50);
}

// Decoder-only Transformers.
template <class Device>
void check_transformers(const Device& device) {
  const TextSequences data(Text::from_string("how vexingly quick daft zebras jump over the lazy dogs, and run."),
                           {.length = 8, .stride = 2});
  const auto check = [&](const auto& model) {
    check_agreement(
        device,
        [&](const auto& backend) {
          return TrainingLoop(model, SoftmaxCrossEntropy{}, momentum(), Constant{0.05}, ShuffledEpochs{.batch = 8},
                              backend);
        },
        data, 20);
  };
  const std::size_t vocabulary = data.text().classes();
  check(Gpt{.vocabulary = vocabulary, .context = 8, .width = 8, .layers = 1, .heads = 2});
  check(RotaryTransformer{.vocabulary = vocabulary, .context = 8, .width = 8, .layers = 1, .heads = 2});
}

// Attention between the patches of images, and from a learned query to the patches.
template <class Device>
void check_vision(const Device& device) {
  const InMemory<float> images(tagging::numbers(24 * 48, 5), tagging::tokens(24, 3, 6), {4, 4, 3}, 3);
  check_agreement(
      device,
      [](const auto& backend) {
        const VisionTransformer model{.patch = 2,
                                      .width = 8,
                                      .blocks = 1,
                                      .heads = 2,
                                      .hidden = 8,
                                      .classes = 3,
                                      .attention_pooling = true,
                                      .in = {4, 4, 3}};
        return TrainingLoop(model, SoftmaxCrossEntropy{}, momentum(), Constant{0.1}, ShuffledEpochs{.batch = 8},
                            backend);
      },
      images, 6);
}

// A U-Net, and a metric that reads a field which no layer reads.
template <class Device>
void check_restoration(const Device& device) {
  const InMemoryFields<Field<"input", float>, Field<"label", float>, Field<"intensity", float>> data(
      {tagging::numbers(12 * 96, 5), {8, 12, 1}}, {tagging::numbers(12 * 96, 7), {8, 12, 1}},
      {std::vector<float>(12 * 3, 2), {3}});
  const auto learner = [](const auto& backend) {
    return TrainingLoop(UNet<>{.channels = 2, .in = {8, 12, 1}}, WithField{MeanAbsoluteError{}, "intensity", {3}},
                        sgd(), Constant{0.1}, ShuffledEpochs{.batch = 4}, backend);
  };
  check_agreement(device, learner, data, 6);
  const StructuralSimilarity metric{.rows = 8, .columns = 12, .intensity_field = "intensity"};
  CHECK(learner(device).evaluate(data, metric).metric ==
        near(learner(Host<float>{}).evaluate(data, metric).metric, 1e-4));
}

// A recurrent model that spells sequences of different lengths.
struct Speller {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value x = net.field("input", {3}, net.ragged_axis("frames"));
    return net("symbols", Dense{.units = 5}, net("lstm", Lstm{.units = 6}, x));
  }
};
template <class Device>
void check_spelling(const Device& device) {
  std::vector<std::uint32_t> frames, lengths;
  std::vector<std::int32_t> labels;
  std::size_t all = 0;
  for (std::uint32_t e = 0; e < 24; ++e) {
    lengths.push_back(e * 5 % 4);
    frames.push_back(2 * lengths.back() + 1 + e * 7 % 6);
    all += frames.back();
    for (std::uint32_t i = 0; i < lengths.back(); ++i) labels.push_back(1 + static_cast<std::int32_t>((e + 3 * i) % 4));
  }
  const InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>> data(
      {{"frames", frames}, {"symbols", lengths}}, {tagging::numbers(all * 3, 5), {3}, "frames"},
      {labels, {1}, "symbols"});
  const auto learner = [](const auto& backend) {
    return TrainingLoop(Speller{}, CtcLoss{.max_labels = 3}, momentum(), Constant{0.1}, ShuffledEpochs{.batch = 9},
                        backend);
  };
  check_agreement(device, learner, data, 6);
  CHECK(learner(device).evaluate(data, WordErrorRate{}).loss ==
        near(learner(Host<float>{}).evaluate(data, WordErrorRate{}).loss, 1e-4));
}

// A recurrent language model, and a tagger of sentences of different lengths.
template <class Device>
void check_recurrent(const Device& device) {
  const TextSequences data(Text::from_string("abcabdabeabcabdabeabcabdabe", {.context = 1}), {.length = 5});
  check_agreement(
      device,
      [&](const auto& backend) {
        const LstmLanguageModel model{
            .vocabulary = data.text().classes(), .context = 5, .width = 3, .units = 7, .layers = 2};
        return TrainingLoop(model, SoftmaxCrossEntropy{}, momentum(), Constant{0.1}, ShuffledEpochs{.batch = 2},
                            backend);
      },
      data, 6);
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(ragged::RecurrentReader{}, SoftmaxCrossEntropy{}, momentum(), Constant{0.05},
                            ShuffledEpochs{.batch = 7}, backend);
      },
      ragged::sentences(), 4);
}

// A loss and a weight per word.
template <class Device>
void check_weighted(const Device& device) {
  using namespace tagging;
  std::vector<float> weights = numbers(examples * length, 9);
  for (float& w : weights) w = w < 0 ? 0.0f : w;
  const Sentences data = sentences(weights);
  const auto make = [&](const auto& backend) {
    return TrainingLoop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, momentum(), Constant{0.05},
                        ShuffledEpochs{.batch = 8}, backend);
  };
  check_agreement(device, make, data, 50);
  auto host = make(Host<float>{});
  auto there = make(device);
  const EvaluationReport expected = host.evaluate(data, ErrorRate{}), found = there.evaluate(data, ErrorRate{});
  CHECK(found.loss == near(expected.loss, 1e-5));
  CHECK(found.metric == near(expected.metric, 1e-5));
  CHECK(there.evaluate(data, BalancedError{}).metric == near(host.evaluate(data, BalancedError{}).metric, 1e-5));
  check_agreement(
      device,
      [&](const auto& backend) {
        return TrainingLoop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, momentum(), Constant{0.05},
                            ShuffledEpochs{.batch = 8}, Mean{}, InProcess{3}, backend);
      },
      data, 20);
}

template <class Combiner, class Device>
void check_workers(const Device& device) {
  const Tiny task;
  check_agreement(
      device, [](const auto& backend) { return tiny_loop(momentum(), 0.02, Combiner{}, InProcess{3}, backend); },
      task.train(), 10);
}

// Independent binary decisions for each class, a layer with a smaller learning rate, and workers whose gradients are
// measured.
template <class Device>
void check_questions(const Device& device) {
  const Tiny task;
  const auto rule = chain(Momentum{}, masked(ScaleBy{0.1}, Named{"0."}), Descend{});
  const auto make = [&](const auto& backend) {
    return TrainingLoop(Tiny::model(), SigmoidCrossEntropy{.label_smoothing = 0.1}, rule, Constant{0.02},
                        ShuffledEpochs{.batch = 32}, MeasuredMean{}, InProcess{2}, backend);
  };
  check_agreement(device, make, task.train(), 20);
  auto host = make(Host<float>{});
  auto there = make(device);
  train(host, task.train(), 5);
  train(there, task.train(), 5);
  CHECK(there.evaluate(task.validation(), CrossEntropy{}).metric ==
        near(host.evaluate(task.validation(), CrossEntropy{}).metric, 1e-4));
}

// Evaluations with averaged parameters, and predictions.
template <class Device>
void check_evaluation(const Device& device) {
  const Tiny task;
  const auto rule = chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.8});
  auto host = tiny_loop(rule, 0.05);
  auto there = tiny_loop(rule, 0.05, device);
  train(host, task.train(), 10);
  train(there, task.train(), 10);
  const auto expected = host.evaluate(task.validation(), task.metric(), 48);
  const auto found = there.evaluate(task.validation(), task.metric(), 48);
  CHECK(found.loss == near(expected.loss, 1e-5));
  CHECK(found.metric == expected.metric);
  const auto a = host.predict(task.validation()), b = there.predict(task.validation());
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger_or_nan(most, std::fabs(double{a[i]} - double{b[i]}));
  CHECK(most < 1e-4);
}

// A run resumes bit for bit, and a checkpoint can be moved from the device to the host and back.
template <class Device>
void check_checkpoints(const Device& device) {
  const Tiny task;
  const auto rule = partition(matrices, muon(), otherwise, adamw());
  const auto make = [&](const auto& backend) {
    return TrainingLoop(task.model(), task.loss(), rule, WarmupCosine{.peak = 0.02, .warmup = 4, .total = 20},
                        LossProportional{.batch = 32}, Adasum<Of::updates>{}, InProcess{2}, backend);
  };
  auto whole = make(device), first = make(device), second = make(device), third = make(device);
  auto host = make(Host<float>{});
  train(whole, task.train(), 12);
  train(first, task.train(), 5);
  const TemporaryFile file, written;
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  train(second, task.train(), 7);
  CHECK(same_values(whole, second));

  load_checkpoint(file.path(), host);
  CHECK(same_bits(values_of(host), values_of(first)));
  train(host, task.train(), 1);
  save_checkpoint(written.path(), host);
  load_checkpoint(written.path(), third);
  CHECK(third.steps() == 6);
  CHECK(same_bits(values_of(third), values_of(host)));
  train(third, task.train(), 1);
  train(host, task.train(), 1);
  CHECK(difference(host, third) < 1e-4);
}

// Divergence is reported with the same message as on the host.
template <class Device>
void check_divergence(const Device& device) {
  const Tiny task;
  const auto told_by = [&](const auto& backend) {
    auto loop = tiny_loop(sgd(), 1e30, backend);
    return sentence([&] { train(loop, task.train(), 50); });
  };
  const std::string told = told_by(device);
  CAPTURE(told);
  CHECK(contains(told, "training diverged at step "));
  CHECK(told == told_by(Host<float>{}));
}

// Returns digits of which every eleventh has a NaN input, so that about a third of all batches of 4 contain NaN.
inline InMemory<float> spoilt_digits() {
  const InMemory<float>& digits = Tiny::digits();
  std::vector<float> inputs(digits.inputs());
  for (std::size_t i = 5; i < digits.size(); i += 11) inputs[i * 784 + i] = std::numeric_limits<float>::quiet_NaN();
  return InMemory<float>(inputs, digits.labels(), Shape{28, 28, 1}, 10);
}

// Returns how many steps a loop's rule has skipped, as stored in its checkpoint.
template <class Loop>
std::uint64_t left_out(Loop& loop) {
  std::uint64_t found = 0;
  for (const auto& [name, bytes] : save(loop))
    if (name.ends_with("skipped")) std::memcpy(&found, bytes.data(), sizeof found);
  return found;
}

// Steps with a non-finite gradient are skipped entirely, as on the host, before and after a checkpoint.
template <class Device>
void check_left_out(const Device& device) {
  const InMemory<float> data = spoilt_digits();
  const auto check = [&](const auto& rule) {
    const auto make = [&](const auto& backend) {
      return TrainingLoop(Tiny::model(), Tiny::loss(), rule, WarmupCosine{.peak = 0.02, .warmup = 4, .total = 40},
                          ShuffledEpochs{.batch = 4}, backend);
    };
    auto host = make(Host<float>{});
    auto whole = make(device), first = make(device), second = make(device);
    train(host, data, 30);
    train(whole, data, 30);
    CHECK(left_out(host) > 3);
    CHECK(left_out(host) < 25);
    CHECK(left_out(whole) == left_out(host));
    CHECK(difference(host, whole) < 1e-4);
    CHECK(difference(host, first) > 1e-2);
    const Tiny task;
    const auto expected = host.evaluate(task.validation(), task.metric()),
               found = whole.evaluate(task.validation(), task.metric());
    CHECK(found.loss == near(expected.loss, 1e-3));
    train(first, data, 12);
    CHECK(left_out(first) > 0);
    const TemporaryFile file;
    save_checkpoint(file.path(), first);
    load_checkpoint(file.path(), second);
    train(second, data, 18);
    CHECK(same_values(whole, second));
    CHECK(left_out(whole) == left_out(second));
  };
  check(apply_if_finite(adamw()));
  check(apply_if_finite(chain(ClipByGlobalNorm{}, partition(matrices, lamb(), otherwise, nesterov()))));
  check(apply_if_finite(nadam()));  // has scalar state
  check(apply_if_finite(chain(Momentum{}, Descend{}, PolyakAverage{.start = 2})));
  const auto clipped = chain(masked(ClipByGlobalNorm{.max_norm = 0.1}, decayable), Adam{},
                             masked(DecayedWeights{.rate = 0.1}, decayable), Descend{});
  check(apply_if_finite(partition(Named{"2.weight"}, frozen(), otherwise, clipped)));
  check(sam(apply_if_finite(adamw()), {.rho = 1e-3}));
}

}  // namespace algoperf::testing
