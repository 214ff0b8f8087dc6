// Updates of tensors that exceed the caches, for which sweeps may prefetch (backend/host/sweep.hpp).
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algoperf/backend/host.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace algoperf::testing::of_large_tensors {

// Returns elements [begin, begin + n) of a parameter after three steps on them alone.
template <class Rule>
std::vector<float> after_steps(const Rule& rule, std::size_t begin, std::size_t n) {
  const Layout layout = layout_of({{n}});
  auto state = rule.state(Host<>{}, layout);
  std::vector<float> values(layout.size()), gradients(layout.size());
  const auto wave = [&](std::size_t i, double period) {
    return static_cast<float>(std::sin(static_cast<double>(begin + i) / period));
  };
  for (std::size_t i = 0; i < n; ++i) values[i] = wave(i, 7);
  for (std::uint64_t t = 1; t <= 3; ++t) {
    for (std::size_t i = 0; i < n; ++i) gradients[i] = wave(i, 3 + static_cast<double>(t));
    rule.step(Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 0.1});
  }
  values.resize(n);
  return values;
}

TEST_CASE("a tensor beyond the caches gets the bits of its parts") {
  constexpr std::size_t parts = 3, part = 400'001;
  const auto check = [&](const auto& rule) {
    const std::vector<float> whole = after_steps(rule, 0, parts * part);
    std::vector<float> joined;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::vector<float> values = after_steps(rule, i * part, part);
      joined.insert(joined.end(), values.begin(), values.end());
    }
    CHECK(whole == joined);
  };
  check(momentum());
  check(adamw());
}

}  // namespace algoperf::testing::of_large_tensors
