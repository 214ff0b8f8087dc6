// Tests that Shampoo splits matrices into blocks and spreads the computation of roots over the steps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../memory_archive.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/rules/chain/chain.hpp"
#include "algoperf/rules/recipes/shampoo.hpp"
#include "algoperf/rules/stages/adam.hpp"
#include "algoperf/rules/wrappers/partition.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::save;
using ap::testing::Training;
using ap::testing::values_after;

namespace {

// A backend that records its batches.
struct Recorder {
  std::vector<std::vector<std::size_t>>* batches;
  std::size_t most = 2;
  std::size_t concurrency() const { return most; }
  template <class F>
  void run_concurrently(std::size_t, std::size_t count, const F& f) const {
    batches->emplace_back();
    for (std::size_t i = 0; i < count; ++i) f(*this, 0, i);
  }
};

// Returns the number of roots that each step computes.
template <class Rule>
std::vector<std::size_t> roots_by_step(const Rule& rule, const ap::Layout& layout, int steps) {
  Training<Rule, ap::Host<double>> training(rule, layout);
  std::vector<std::size_t> counts;
  auto before = save(training.state);
  for (int t = 1; t <= steps; ++t) {
    training.step(0.01);
    auto after = save(training.state);
    counts.push_back(ap::testing::changed(before, after, "/root"));
    before = std::move(after);
  }
  return counts;
}

}  // namespace

TEST_CASE("matrices of equal shape form one batch regardless of their positions") {
  const ap::detail::Batches batches({{4, 2}, {3, 3}, {4, 2}, {2, 4}, {4, 2}, {3, 3}});
  std::vector<std::vector<std::size_t>> seen;
  const Recorder recorder{&seen};
  batches.run(recorder, 2, [&](const Recorder&, std::size_t, std::size_t i) { seen.back().push_back(i); });
  CHECK(seen == std::vector<std::vector<std::size_t>>{{3}, {1, 5}, {0, 2, 4}});
  CHECK(batches.concurrency(recorder) == 2);
  CHECK(batches.concurrency(Recorder{&seen, 3}) == 3);
  CHECK(batches.concurrency(Recorder{&seen, 9}) == 1);  // no batch has as many items
  CHECK(ap::detail::Batches().concurrency(recorder) == 0);
}

TEST_CASE("the roots are spread evenly over the steps, and each root is recomputed once per period") {
  const ap::ShampooOptions options{.block = 5, .root_frequency = 7, .start_step = 3};
  const auto alone = ap::shampoo(options);
  const auto among_others = ap::partition(ap::matrices, alone, ap::otherwise, ap::adam());
  const auto check = [](const std::vector<std::size_t>& counts, std::size_t factors) {
    CHECK(counts[0] + counts[1] == 0);
    CHECK(counts[2] == factors);  // start_step
    for (std::size_t t = 3; t < counts.size(); ++t) CHECK(counts[t] <= (factors + 6) / 7);
    for (std::size_t t = 3; t + 7 <= counts.size(); ++t) {
      std::size_t sum = 0;
      for (std::size_t i = 0; i < 7; ++i) sum += counts[t + i];
      CHECK(sum == factors);
    }
  };
  check(roots_by_step(alone, layout_of({{20, 20}, {12, 7}, {5, 5}}), 20), 2 * (16 + 6 + 1));
  // Each matrix is a separate region: the turns continue from one region to the next.
  const ap::Layout apart = layout_of({{6, 6}, {6}, {6, 4}, {4}, {8, 4}, {8}, {3, 8}, {3}});
  REQUIRE(apart.regions_for(among_others).size() == 8);
  check(roots_by_step(among_others, apart, 20), 2 * (4 + 2 + 2 + 2));
}

TEST_CASE("factors are sorted by side") {
  const ap::Layout layout = layout_of({{4, 10}, {10, 4}, {4, 4}});
  const ap::detail::Blocks cut(layout, layout.regions_for(ap::shampoo())[0],
                               {"stage", "rule()", 4, 0, ap::Sides::both});
  CHECK(cut.blocks.size() == 7);
  CHECK(cut.factors.size() == 14);
  std::size_t begin = 0, elements = 0;
  for (std::size_t f = 0; f < cut.factors.size(); ++f) {
    CHECK((f == 0 || cut.factors[f - 1].side <= cut.factors[f].side));
    CHECK(cut.factors[f].begin == begin);
    CHECK(cut.factors[f].order == 2);
    begin += cut.factors[f].side * cut.factors[f].side;
  }
  for (const auto& block : cut.blocks) {
    CHECK(block.begin == elements);
    CHECK(cut.factors[block.left].side == block.rows);
    CHECK(cut.factors[block.right].side == block.cols);
    elements += block.size();
  }
  CHECK(cut.squares == begin);
  CHECK(cut.elements == 40 + 40 + 16);
}

TEST_CASE_TEMPLATE("blocks behave as separate matrices", Graft, ap::NoGraft, ap::GraftAdam,
                   ap::GraftRmsPropNormalized) {
  const ap::ShampooOptions options{.block = 3, .root_frequency = 1, .start_step = 2};
  const auto rule = ap::shampoo(options, Graft{});
  constexpr std::size_t rows = 6, cols = 5;
  ap::Layout whole(1), parts(1);
  whole.add({"w", ap::Kind::weight, {rows, cols}});
  for (const std::size_t r : {0u, 3u})
    for (const std::size_t c : {0u, 3u})
      parts.add({std::to_string(r) + std::to_string(c), ap::Kind::weight, {3, c == 0 ? 3 : 2}});
  // Element i of the parts is element places[i] of the whole.
  std::vector<std::size_t> places;
  for (const std::size_t r : {0u, 3u})
    for (const std::size_t c : {0u, 3u})
      for (std::size_t i = r; i < r + 3; ++i)
        for (std::size_t j = c; j < (c == 0 ? 3 : cols); ++j) places.push_back(i * cols + j);

  auto state = rule.state(ap::Host<double>{}, whole), parts_state = rule.state(ap::Host<double>{}, parts);
  std::vector<double> values(rows * cols), gradients(rows * cols), part_values(rows * cols),
      part_gradients(rows * cols);
  for (std::uint64_t t = 1; t <= 5; ++t) {
    ap::testing::shaken(t, values, gradients);
    for (std::size_t i = 0; i < places.size(); ++i) part_gradients[i] = gradients[places[i]];
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
    rule.step(part_gradients, part_values, parts_state, {.t = t, .learning_rate = 0.1});
  }
  for (std::size_t i = 0; i < places.size(); ++i) CHECK(part_values[i] == values[places[i]]);
}

TEST_CASE("a convolution kernel is a matrix of filters x the rest; a row or a column has one factor") {
  const auto rule = ap::shampoo({.root_frequency = 2, .start_step = 2});
  CHECK(values_after<float>(rule, layout_of({{4, 3, 3, 2}}), 6) == values_after<float>(rule, layout_of({{4, 18}}), 6));

  for (const ap::Shape& thin : {ap::Shape{1, 6}, ap::Shape{6, 1}}) {
    auto state = rule.state(ap::Host<double>{}, layout_of({thin}));
    CHECK(ap::testing::arrays_named(save(state), "/root") == 1);
  }
}
