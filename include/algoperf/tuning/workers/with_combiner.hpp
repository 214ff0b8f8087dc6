// WithCombiner: a submission whose workers' gradients or updates are combined by a given combiner.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "../../combine/adasum.hpp"
#include "../../combine/mean.hpp"
#include "../../combine/worker_sum.hpp"
#include "../submission.hpp"

namespace algoperf {

namespace detail {

template <class C>
inline constexpr std::string_view combiner_name = "";
template <>
inline constexpr std::string_view combiner_name<Mean> = "mean";
template <Of of>
inline constexpr std::string_view combiner_name<WorkerSum<of>> = "sum";
template <Of of>
inline constexpr std::string_view combiner_name<Adasum<of>> = "adasum";

// "submission+combiner", ended by a zero.
template <class S, class C>
struct JoinedName {
  static_assert(!combiner_name<C>.empty(), "algoperf: WithCombiner takes Mean, WorkerSum or Adasum");
  static constexpr std::string_view first = S::name, second = combiner_name<C>;
  static constexpr std::array<char, first.size() + second.size() + 2> text = [] {
    std::array<char, first.size() + second.size() + 2> joined{};
    for (std::size_t i = 0; i < first.size(); ++i) joined[i] = first[i];
    joined[first.size()] = '+';
    for (std::size_t i = 0; i < second.size(); ++i) joined[first.size() + 1 + i] = second[i];
    return joined;
  }();
};

}  // namespace detail

// Submission S with combiner C: Mean, WorkerSum or Adasum. Its name is "S+mean", "S+sum" or "S+adasum".
template <class S, class C>
struct WithCombiner : S {
  static constexpr const char* name = detail::JoinedName<S, C>::text.data();

  C combiner(const HyperPoint&, const WorkloadFacts&) const { return {}; }
};

}  // namespace algoperf
