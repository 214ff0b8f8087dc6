// Tests of fuse(...): which scales fold, which stay, and that the result equals that of the kernels one by one.
#include <doctest/doctest.h>

#include <type_traits>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"

namespace ap = algoperf;

namespace {

constexpr ap::Step third_step{.t = 3, .learning_rate = 0.125};
const ap::TensorSpec weight_matrix{"w", ap::Kind::weight, {2, 2}};

template <class Kernel>
auto first_slots(const Kernel&) {
  ap::Slots<double, Kernel::slots> s{};
  if constexpr (Kernel::slots > 0)
    for (std::size_t j = 0; j < Kernel::slots; ++j) s[j] = 0.5;
  return s;
}

// k(u, p, s)
template <class Kernel>
double run(double u, double p, const Kernel& kernel) {
  auto s = first_slots(kernel);
  return kernel(u, p, s);
}

template <class... Kernels>
double one_by_one(double u, double p, const Kernels&... kernels) {
  ((u = run(u, p, kernels)), ...);
  return u;
}

template <class... Kernels>
void agrees(const Kernels&... kernels) {
  const auto fused = ap::fuse(kernels...);
  static_assert(std::is_trivially_copyable_v<decltype(fused)>);
  for (const double u : {-1.5, 0.0, 2.25})
    for (const double p : {-0.75, 0.0, 3.0}) {
      const double update = one_by_one(u, p, kernels...);
      CHECK(run(u, p, fused) == near(update, 1e-14));
      auto s = first_slots(fused);
      CHECK(fused.applied(u, p, s) == near(p + update, 1e-14));
    }
}

}  // namespace

TEST_CASE("a learning rate folds into the constants of the kernels before it") {
  const auto adam = ap::Adam{}.at<double>(third_step);
  const auto decay = ap::DecayedWeights{.rate = 0.25}.at<double>(third_step);
  const auto masked = ap::detail::placed(ap::masked(ap::DecayedWeights{.rate = 0.25}, ap::decayable), weight_matrix, {})
                          .at<double>(third_step);
  const auto rate = ap::Descend{}.at<double>(third_step);
  using ap::fuse, std::is_same_v;
  static_assert(is_same_v<decltype(fuse(adam, rate)), decltype(fuse(adam))>);
  static_assert(is_same_v<decltype(fuse(adam, decay, rate)), decltype(fuse(adam, decay))>);
  static_assert(is_same_v<decltype(fuse(adam, masked, rate)), decltype(fuse(adam, masked))>);
  static_assert(is_same_v<decltype(fuse(rate, rate, rate)), decltype(fuse(rate))>);
  agrees(adam, rate);
  agrees(adam, decay, rate);
  agrees(adam, masked, rate);
  agrees(rate, rate);
  agrees(ap::NAdam{}.at<double>(third_step, {}), decay, rate);
  agrees(ap::Lion{}.at<double>(third_step), decay, rate);
}

TEST_CASE("a scale stays after a kernel that cannot absorb it") {
  const auto momentum = ap::Momentum{}.at<double>(third_step);
  const auto decay = ap::DecayedWeights{.rate = 0.25}.at<double>(third_step);
  const ap::Scale<double> clip{0.5}, rate{-0.125};
  using ap::fuse, std::is_same_v;
  static_assert(is_same_v<decltype(fuse(clip, momentum, rate)),
                          ap::Fused<ap::Scale<double>, ap::Momentum::Kernel<double>, ap::Scale<double>>>);
  agrees(clip, momentum, rate);
  agrees(clip, decay, momentum, rate, decay);
  agrees(decay, rate);
  const auto nowhere = [](const ap::TensorSpec&) { return false; };
  const auto masked = ap::masked(ap::DecayedWeights{.rate = 0.25}, nowhere);
  agrees(ap::detail::placed(masked, weight_matrix, {}).at<double>(third_step), rate);
}
