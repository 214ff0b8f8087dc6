// The mean cost of steps on examples of different lengths.
#include "algoperf/scaling/cost/mean_step_cost.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "algoperf/data/in_memory_fields.hpp"
#include "algoperf/data/masked_tokens.hpp"
#include "algoperf/data/selectors/shuffled_epochs.hpp"
#include "algoperf/nn/models/encoder_decoder.hpp"
#include "algoperf/nn/models/mlp.hpp"
#include "algoperf/rules/recipes/adamw.hpp"

namespace of_mean_step_cost {

namespace ap = algoperf;

using Pairs = ap::InMemoryFields<ap::Field<"source", std::int32_t>, ap::Field<"input", std::int32_t>,
                                 ap::Field<"label", std::int32_t>>;

Pairs pairs(const std::vector<std::uint32_t>& sources, const std::vector<std::uint32_t>& targets) {
  const auto zeros = [](const std::vector<std::uint32_t>& rows) {
    std::size_t n = 0;
    for (const std::uint32_t r : rows) n += r;
    return std::vector<std::int32_t>(n);
  };
  return Pairs({{"source", sources}, {"target", targets}}, {zeros(sources), {1}, "source"},
               {zeros(targets), {1}, "target"}, {zeros(targets), {1}, "target"});
}

constexpr ap::EncoderDecoder<> model{.vocabulary = 11, .width = 8, .blocks = 1, .heads = 2, .hidden = 6};
const ap::StepOptions<> options{.update = ap::update_cost(ap::adamw())};

ap::StepCost cost_of(std::uint64_t batch, std::size_t source, std::size_t target) {
  ap::StepOptions<> with = options;
  with.lengths = {{"source", source}, {"target", target}};
  return ap::cost(model, batch, with);
}

TEST_CASE("mean step cost: of equal lengths, it is the cost of a step") {
  const auto mean =
      ap::mean_step_cost(model, pairs({5, 5, 5, 5}, {3, 3, 3, 3}), ap::ShuffledEpochs{.batch = 4}, 3, options);
  const ap::StepCost step = cost_of(4, 5, 3);
  CHECK(mean.examples == 4);
  CHECK(mean.flops.value == near(step.flops().value, 1e-12));
  CHECK(mean.bytes.value == near(step.bytes().value, 1e-12));
}

TEST_CASE("mean step cost: examples count with their own lengths, and the update once per step") {
  const Pairs data = pairs({1, 9, 4}, {2, 7, 0});
  const auto whole = ap::mean_step_cost(model, data, ap::ShuffledEpochs{.batch = 3}, 2, options);
  const double update = static_cast<double>(cost_of(1, 1, 1).update.flops);
  double flops = update, moved = static_cast<double>(cost_of(1, 1, 1).update.moved());
  for (const auto& [source, target] : {std::pair{1, 2}, {9, 7}, {4, 0}}) {
    const ap::StepCost one = cost_of(1, static_cast<std::size_t>(source), static_cast<std::size_t>(target));
    flops += static_cast<double>(one.total_flops()) - update;
    moved += static_cast<double>(one.total_moved() - one.update.moved());
  }
  // Each product reads its weights once per step, so three single steps move more.
  CHECK(whole.flops.value == near(flops, 1e-12));
  CHECK(whole.bytes.value < 4 * moved);
  CHECK(whole.bytes.value > 4 * moved / 3);
  // Mean lengths underestimate attention.
  CHECK(whole.flops.value > cost_of(3, 14 / 3, 3).flops().value);
  // With batches of 2 and 1, the mean over the two steps of an epoch has half of all examples.
  const auto halves = ap::mean_step_cost(model, data, ap::ShuffledEpochs{.batch = 2}, 2, options);
  CHECK(halves.examples == 1.5);
  CHECK(halves.flops.value == near((whole.flops.value - update) / 2 + update, 1e-12));
}

TEST_CASE("mean step cost: models without ragged axes, and mistakes") {
  constexpr ap::Model mlp = ap::mlp(ap::Shape{4}, {5}, 3);
  const ap::InMemoryFields<ap::Field<"input", float>, ap::Field<"label", std::int32_t>> data(
      {std::vector<float>(40), {4}}, {std::vector<std::int32_t>(10), {1}});
  const auto mean = ap::mean_step_cost(mlp, data, ap::ShuffledEpochs{.batch = 5}, 7);
  CHECK(mean.flops.value == near(ap::cost(mlp, 5).flops().value, 1e-12));
  CHECK(mean.bytes.value == near(ap::cost(mlp, 5).bytes().value, 1e-12));
  CHECK(sentence([&] { ap::mean_step_cost(mlp, data, ap::ShuffledEpochs{.batch = 5}, 0); }) ==
        "mean_step_cost: steps is 0, expected at least 1");
  const ap::MaskedTokens tokens({0, 1, 2, 3}, {.vocabulary = 4, .length = 2, .chosen = 1});
  CHECK(sentence([&] { ap::mean_step_cost(model, tokens, ap::ShuffledEpochs{.batch = 2}, 1); }) ==
        "mean_step_cost: the data set has no ragged axis 'source'");
}

}  // namespace of_mean_step_cost
