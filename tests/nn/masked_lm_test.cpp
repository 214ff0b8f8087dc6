// Masked language models against torch (tests/golden/make_masked_lm.py), and scale invariance.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/data/masked_tokens.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../golden/masked_lm.hpp"
#include "../support/check_error.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "../support/values_of.hpp"

namespace algoperf::testing::of_masked_lm {

// bert-base-uncased has 109,514,298 parameters with its head, 1,536 of which embed segments.
static_assert(parameters_of(Bert{.vocabulary = 30522, .context = 512, .width = 768, .layers = 12, .heads = 12}) ==
              109514298 - 1536);

constexpr Bert small_bert{
    .vocabulary = 11, .context = 6, .chosen = 2, .width = 8, .layers = 2, .heads = 2, .hidden = 12};
constexpr ScaleInvariantTransformer small_invariant{
    .vocabulary = 11, .context = 6, .chosen = 2, .width = 8, .layers = 2, .heads = 2, .hidden = 12};

using Sequences =
    InMemoryFields<Field<"input", std::int32_t>, Field<"position", std::int32_t>, Field<"label", std::int32_t>>;
Sequences golden_sequences() {
  std::vector<std::int32_t> tokens, labels;
  for (int i = 0; i < 18; ++i) tokens.push_back((i * 7 + 3) % 11);
  for (int i = 0; i < 6; ++i) labels.push_back((i * 5 + 1) % 11);
  return Sequences({tokens, {6}}, {{0, 3, 2, 5, 1, 2}, {2}}, {labels, {2}});
}

TEST_CASE("masked language models: losses, gradients, steps of AdamW and logits are torch's") {
  golden::check(small_bert, SoftmaxCrossEntropy{}, golden_sequences(), golden::bert, "qkv.bias");  // the biases of keys
  golden::check(small_invariant, SoftmaxCrossEntropy{}, golden_sequences(), golden::scale_invariant);
}

TEST_CASE("masked language models: gradients agree with differences") {
  check_error(gradient_check(small_bert, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 12}));
  check_error(gradient_check(small_invariant, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 12}));
}

TEST_CASE("scale-invariant transformer: a factor of all parameters changes no output and divides the gradient") {
  const auto data = golden_sequences();
  const auto outcome = [&](double factor) {
    TrainingLoop loop(small_invariant, SoftmaxCrossEntropy{}, sgd(), Constant{factor * factor}, golden::WholeBatch{3},
                      Host<double>{});
    for (std::size_t i = 0; i < loop.layout().size(); ++i) loop.values()[i] *= factor;
    const std::vector<double> before = values_of(loop), outputs = loop.predict(data);
    loop.step(data);
    std::vector<double> gradient;
    double along = 0, norm = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      gradient.push_back((before[i] - loop.values()[i]) / factor);  // times the factor
      along += gradient[i] * before[i] / factor;
      norm += gradient[i] * gradient[i];
    }
    CHECK(norm > 1e-4);
    CHECK(std::abs(along) < 1e-12);  // Euler's theorem: the gradient is orthogonal to the parameters
    return std::pair(outputs, gradient);
  };
  const auto [outputs, gradient] = outcome(1);
  for (const double factor : {0.125, 3.0, 1000.0}) {
    const auto [same, scaled] = outcome(factor);
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(same[i] == near(outputs[i], 1e-12));
    CHECK(golden::error_of(scaled, gradient) < 1e-9);
  }
  CHECK(outcome(1024).first == outputs);  // rounding is the same for a power of two
}

// Section 4 of the paper: with x0 -> c x0, rate -> c^2 rate and decay -> decay / c^2, SGD with relative clipping
// computes the same directions; with the loss c times as large, rate -> rate / c and decay -> c decay, the same
// parameters.
TEST_CASE("scale-invariant transformer: rescaled parameters with rescaled rates train alike") {
  const auto data = golden_sequences();
  const auto trained = [&](double factor) {
    TrainingLoop loop(small_invariant, SoftmaxCrossEntropy{},
                      relative_clipped_sgd({.weight_decay = 0.1 / (factor * factor)}), Constant{0.5 * factor * factor},
                      golden::WholeBatch{3}, Host<double>{});
    for (std::size_t i = 0; i < loop.layout().size(); ++i) loop.values()[i] *= factor;
    for (int step = 0; step < 20; ++step) loop.step(data);
    return loop.predict(data);
  };
  const auto outputs = trained(1);
  CHECK(golden::error_of(trained(4), outputs) < 1e-9);
  CHECK(golden::error_of(trained(0.25), outputs) < 1e-9);
}

// Tokens that follow from their neighbours: 0 to 4, again and again.
MaskedTokens repeated(std::size_t length, std::size_t chosen) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < 1000; ++i) tokens.push_back(i % 5);
  return MaskedTokens(tokens, {.vocabulary = 5, .length = length, .chosen = chosen});
}

TEST_CASE("masked language models: learn, deterministically, and resume") {
  const auto data = repeated(6, 2);
  Bert dropped = small_bert;
  dropped.dropout = 0.1;
  check_reproducible(
      [&](const auto&... tail) {
        return TrainingLoop(dropped, SoftmaxCrossEntropy{}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 8},
                            tail...);
      },
      data, 12);
  check_reproducible(
      [&](const auto&... tail) {
        return TrainingLoop(small_invariant, SoftmaxCrossEntropy{}, momentum(), Constant{1e-2},
                            ShuffledEpochs{.batch = 8}, tail...);
      },
      data, 12);
  Bert learner = small_bert;
  learner.init = Init::normal(0.3);
  const auto loss_after = [&](const auto& model, const auto& rule, double rate, const auto&... combiner) {
    TrainingLoop loop(model, SoftmaxCrossEntropy{}, rule, Constant{rate}, ShuffledEpochs{.batch = 16}, combiner...);
    loop.run(data, UntilStep{150});
    return loop.evaluate(data, CrossEntropy{}).metric;
  };
  // Guesses have a loss of 1.6.
  CHECK(loss_after(learner, adamw(), 1e-2) < 1.2);
  CHECK(loss_after(learner, lamb(), 1e-2, Mean{}, InProcess{.workers = 4}) < 1.2);
  CHECK(loss_after(learner, adamw(), 1e-2, Adasum{}, InProcess{.workers = 2}) < 1.2);
  ScaleInvariantTransformer wide = small_invariant;
  wide.width = 16;
  CHECK(loss_after(wide, relative_clipped_sgd({.weight_decay = 1e-4}), 1) < 1.2);
}

}  // namespace algoperf::testing::of_masked_lm
