#include <doctest/doctest.h>

#include <vector>

#include "algoperf/backend/host.hpp"
#include "algoperf/rules/recipes/adafactor.hpp"
#include "algoperf/rules/recipes/sgd.hpp"
#include "algoperf/state/state_dict.hpp"

namespace ap = algoperf;

#if defined(__SSE2__)
TEST_CASE("decaying averages become zero instead of denormal, and the caller's floating-point mode is preserved") {
  ap::Layout layout(1);
  layout.add({"w", ap::Kind::weight, {100}});  // vectors and a tail
  const auto rule = ap::momentum({.mu = 0.5});
  auto state = rule.state(ap::Host{}, layout);
  std::vector<float> gradients(layout.size(), 1.0f), values(layout.size());
  const unsigned mode = _mm_getcsr();
  for (std::uint64_t t = 1; t <= 130; ++t) {
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
    gradients.assign(layout.size(), 0.0f);
    if (t == 127) CHECK(state.slot(0, 0)[99] == 0x1p-126f);
  }
  for (std::size_t i = 0; i < layout.size(); ++i)
    CHECK(state.slot(0, 0)[i] == 0.0f);  // 2^-129 without flushing to zero
  CHECK((_mm_getcsr() & 0x8040u) == (mode & 0x8040u));
}

TEST_CASE("decaying averages of matrix rules become zero too") {
  ap::Layout layout(1);
  layout.add({"w", ap::Kind::weight, {4, 4}});
  const auto rule =
      ap::chain(ap::FactoredRms{.decay = 0.5, .memory = ap::RmsMemory::debiased, .least_side = 2}, ap::Descend{});
  auto state = rule.state(ap::Host{}, layout);
  std::vector<float> gradients(16, 1e-3f), values(16);
  for (std::uint64_t t = 1; t <= 160; ++t) {
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
    gradients.assign(16, 0.0f);
  }
  const ap::StateDict dict = ap::state_dict(state);
  for (const auto& array : dict.arrays())
    if (array.type == "float32")
      for (const float x : dict.get<float>(array.name)) CHECK((x == 0 || x >= 0x1p-126f));
}
#endif
