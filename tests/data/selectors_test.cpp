#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/data/selectors/loss_proportional.hpp"
#include "algoperf/data/selectors/shuffled_epochs.hpp"
#include "algoperf/data/selectors/with_replacement.hpp"

namespace ap = algoperf;

static_assert(ap::DataSelector<ap::ShuffledEpochs>);
static_assert(ap::DataSelector<ap::WithReplacement>);
static_assert(ap::DataSelector<ap::LossProportional>);

namespace {

using Indices = std::vector<std::uint32_t>;

template <class Selector>
Indices take(const Selector& selector, typename Selector::State& state, std::size_t steps) {
  Indices all;
  ap::Selection selection;
  for (std::size_t t = 1; t <= steps; ++t) {
    selector.select(state, ap::Step{t, 0}, selection);
    REQUIRE(selection.weights.size() == selection.indices.size());
    all.insert(all.end(), selection.indices.begin(), selection.indices.end());
    if constexpr (requires { selector.feedback(state, selection, selection.weights); }) {
      std::vector<float> losses;
      for (const std::uint32_t i : selection.indices) losses.push_back(0.5f + static_cast<float>(i % 7));
      selector.feedback(state, selection, losses);
    }
  }
  return all;
}

// Stops after `before` steps, saves, loads into a fresh state and continues: the result must equal an uninterrupted
// run.
template <class Selector>
void check_resume(const Selector& selector, std::size_t size, std::size_t before) {
  auto unbroken = selector.state(size), first = selector.state(size), second = selector.state(size);
  const Indices whole = take(selector, unbroken, before + 40);
  Indices parts = take(selector, first, before);
  ap::testing::load(second, ap::testing::save(first));
  const Indices rest = take(selector, second, 40);
  parts.insert(parts.end(), rest.begin(), rest.end());
  CHECK(parts == whole);
  CHECK(ap::testing::save(second) == ap::testing::save(unbroken));
}

bool is_permutation_of_all(Indices order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return true;
}

}  // namespace

TEST_CASE("each epoch of ShuffledEpochs is a new permutation") {
  const ap::ShuffledEpochs selector{.batch = 8, .seed = 5};
  auto state = selector.state(100);
  const Indices first = take(selector, state, 13), second = take(selector, state, 13);
  CHECK(first.size() == 100);
  CHECK(is_permutation_of_all(first));
  CHECK(is_permutation_of_all(second));
  CHECK(first != second);
  auto again = selector.state(100), other = ap::ShuffledEpochs{.batch = 8, .seed = 6}.state(100);
  CHECK(take(selector, again, 13) == first);
  CHECK(take(selector, other, 13) != first);
}

TEST_CASE("an epoch's order does not depend on the batch") {
  const ap::ShuffledEpochs small{.batch = 3}, large{.batch = 50};
  auto a = small.state(100), b = large.state(100);
  CHECK(take(small, a, 34) == take(large, b, 2));
}

TEST_CASE("ShuffledEpochs keeps or drops a partial last batch") {
  ap::Selection selection;
  const ap::ShuffledEpochs keep{.batch = 8};
  auto kept = keep.state(20);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 4; ++i) {
    keep.select(kept, {}, selection);
    sizes.push_back(selection.indices.size());
  }
  CHECK(sizes == std::vector<std::size_t>{8, 8, 4, 8});
  CHECK(kept.epoch() == 1);

  const ap::ShuffledEpochs drop{.batch = 8, .last = ap::LastBatch::drop};
  auto dropped = drop.state(20);
  for (int i = 0; i < 3; ++i) {
    drop.select(dropped, {}, selection);
    CHECK(selection.indices.size() == 8);
  }
  CHECK(dropped.epoch() == 1);
  CHECK(dropped.position() == 8);

  // If the batch divides the number of examples, nothing is dropped.
  auto whole = drop.state(24);
  std::set<std::uint32_t> chosen;
  for (int i = 0; i < 3; ++i) {
    drop.select(whole, {}, selection);
    chosen.insert(selection.indices.begin(), selection.indices.end());
  }
  CHECK(chosen.size() == 24);
  CHECK(whole.epoch() == 0);
  drop.select(whole, {}, selection);
  CHECK(whole.epoch() == 1);
}

TEST_CASE("a batch larger than the data set is the whole data set") {
  const ap::ShuffledEpochs selector{.batch = 128};
  auto state = selector.state(10);
  ap::Selection selection;
  for (int i = 0; i < 3; ++i) {
    selector.select(state, {}, selection);
    CHECK(is_permutation_of_all(selection.indices));
  }
}

TEST_CASE("every order of a shuffle is equally likely") {
  int counts[6] = {};
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto state = ap::ShuffledEpochs{.seed = seed}.state(3);
    const Indices& o = state.order();
    ++counts[2 * o[0] + (o[1] > o[2])];
  }
  for (const int count : counts) {  // mean 1000, standard deviation 29
    CHECK(count > 870);
    CHECK(count < 1130);
  }
}

TEST_CASE("selectors resume where they stopped") {
  for (const std::size_t before : {0u, 1u, 5u, 13u, 26u, 31u}) {
    check_resume(ap::ShuffledEpochs{.batch = 8, .seed = 2}, 100, before);
    check_resume(ap::ShuffledEpochs{.batch = 8, .seed = 2, .last = ap::LastBatch::drop}, 100, before);
    check_resume(ap::WithReplacement{.batch = 7, .seed = 2}, 100, before);
    check_resume(ap::LossProportional{.batch = 7, .seed = 2, .memory = 0.5}, 100, before);
  }
}

TEST_CASE("selectors refuse the archive of another data set") {
  const auto refuses = [](const auto& selector, const char* sentence) {
    auto a = selector.state(100), b = selector.state(99);
    CHECK_THROWS_WITH_AS(ap::testing::load(b, ap::testing::save(a)), sentence, ap::Error);
  };
  refuses(ap::ShuffledEpochs{}, "ShuffledEpochs: the archive is for 100 examples, expected 99");
  refuses(ap::WithReplacement{}, "WithReplacement: the archive is for 100 examples, expected 99");
  refuses(ap::LossProportional{}, "MemoryReader: 'losses' has 800 bytes, expected 792");
}

TEST_CASE("WithReplacement draws uniformly, with weight 1") {
  const ap::WithReplacement selector{.batch = 100, .seed = 4};
  auto state = selector.state(50);
  int counts[50] = {};
  for (const std::uint32_t i : take(selector, state, 1000)) ++counts[i];
  double chi = 0;
  for (const int count : counts) chi += (count - 2000.0) * (count - 2000.0) / 2000.0;
  CHECK(chi > 22);  // chi-squared of 49 degrees of freedom: mean 49, standard deviation 9.9
  CHECK(chi < 89);
  ap::Selection selection;
  selector.select(state, {}, selection);
  CHECK(selection.weights == std::vector<float>(100, 1.0f));
}

TEST_CASE("a SumTree finds indices by cumulative weight and rebuilds to the same bits") {
  ap::SumTree tree(5, 1.0);
  CHECK(tree.total() == 5);
  tree.set(1, 0);
  tree.set(4, 2.5);
  CHECK(tree.total() == 5.5);
  CHECK(tree.find(0) == 0);
  CHECK(tree.find(0.999) == 0);
  CHECK(tree.find(1.0) == 2);
  CHECK(tree.find(2.5) == 3);
  CHECK(tree.find(3.0) == 4);
  CHECK(tree.find(5.5) == 4);  // a point rounded up to the total still finds a leaf of positive weight
  for (std::size_t i = 0; i < 5; ++i) tree.set(i, 0.1 * static_cast<double>(i + 1));
  const double total = tree.total();
  tree.rebuild();
  CHECK(tree.total() == total);
  CHECK(ap::SumTree(1, 3.0).find(2.0) == 0);
}

TEST_CASE("LossProportional draws with its probabilities and its weights are unbiased") {
  const ap::LossProportional selector{.batch = 64, .seed = 3, .mix = 0.25};
  constexpr std::size_t size = 40;
  auto state = selector.state(size);
  ap::Selection everyone;
  std::vector<float> losses;
  double mean = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    everyone.indices.push_back(i);
    losses.push_back(i < 10 ? 0.0f : static_cast<float>(i * i) / 100);
    mean += std::sin(i) + 2;
  }
  mean /= size;
  selector.feedback(state, everyone, losses);
  double total = 0, counts[size] = {};
  for (std::size_t i = 0; i < size; ++i) total += selector.probability(state, i);
  CHECK(total == near(1));

  constexpr int steps = 3000;
  double weight_sum = 0, estimate = 0, largest = 0;
  ap::Selection selection;
  for (int t = 0; t < steps; ++t) {
    selector.select(state, {}, selection);
    for (std::size_t k = 0; k < selector.batch; ++k) {
      const double weight = static_cast<double>(selection.weights[k]);
      weight_sum += weight;
      estimate += weight * (std::sin(selection.indices[k]) + 2);
      largest = std::max(largest, weight);
      ++counts[selection.indices[k]];
    }
  }
  const double draws = steps * 64.0;
  CHECK(weight_sum / draws == near(1, 0.015));
  CHECK(estimate / draws == near(mean, 0.015));
  CHECK(largest <= 1 / selector.mix + 1e-6);
  for (std::size_t i = 0; i < size; ++i) {
    const double expected = draws * selector.probability(state, i);
    CHECK(std::abs(counts[i] - expected) < 5 * std::sqrt(expected));
  }
}

TEST_CASE("LossProportional smooths losses and is uniform when all are zero") {
  const ap::LossProportional selector{.batch = 4, .memory = 0.75, .initial = 8};
  auto state = selector.state(3);
  const ap::Selection one{{1}, {1.0f}};
  selector.feedback(state, one, std::vector<double>{4.0});
  CHECK(state.losses()[1] == 7);
  CHECK(state.losses()[0] == 8);

  const ap::LossProportional forgetful{.batch = 4};
  auto solved = forgetful.state(3);
  forgetful.feedback(solved, ap::Selection{{0, 1, 2}, {1, 1, 1}}, std::vector<float>{0, 0, 0});
  ap::Selection selection;
  forgetful.select(solved, {}, selection);
  for (const float weight : selection.weights) CHECK(weight == near(1));
}

TEST_CASE("selectors name an invalid option") {
  const auto fails = [](const auto& selector, std::size_t size, const char* sentence) {
    CHECK_THROWS_WITH_AS(selector.state(size), sentence, ap::Error);
  };
  fails(ap::ShuffledEpochs{.batch = 0}, 9, "ShuffledEpochs: batch is 0, expected at least 1");
  fails(ap::ShuffledEpochs{}, 0, "ShuffledEpochs: there are 0 examples, expected 1 to 4294967295");
  fails(ap::ShuffledEpochs{.batch = 10, .last = ap::LastBatch::drop}, 9,
        "ShuffledEpochs: batch is 10, expected at most the 9 examples when the last batch is dropped");
  fails(ap::WithReplacement{.batch = 0}, 9, "WithReplacement: batch is 0, expected at least 1");
  fails(ap::WithReplacement{}, 0, "WithReplacement: there are 0 examples, expected 1 to 4294967295");
  fails(ap::LossProportional{.batch = 0}, 9, "LossProportional: batch is 0, expected at least 1");
  fails(ap::LossProportional{.mix = 0}, 9, "LossProportional: mix is 0, expected (0, 1]");
  fails(ap::LossProportional{.memory = 1}, 9, "LossProportional: memory is 1, expected [0, 1)");
  fails(ap::LossProportional{.initial = 0}, 9, "LossProportional: initial is 0, expected (0, 1e100]");
  fails(ap::LossProportional{}, 0, "LossProportional: there are 0 examples, expected 1 to 4294967295");
  const ap::LossProportional selector{};
  auto state = selector.state(9);
  CHECK_THROWS_WITH_AS(selector.feedback(state, ap::Selection{{3}, {1.0f}}, std::vector<float>{-1}),
                       "LossProportional: the loss of example 3 is -1, expected [0, 1e100]", ap::Error);
  CHECK_THROWS_AS(selector.feedback(state, ap::Selection{{3}, {1.0f}}, std::vector<float>{std::nanf("")}), ap::Error);
}
