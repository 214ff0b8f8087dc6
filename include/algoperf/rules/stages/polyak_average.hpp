#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// The Polyak-Ruppert average: the mean of the parameters after the steps start + 1, start + 2, ... Up to step `start`,
// the average equals the parameters. With k = t - start:
//   a' = a + (p + u - a) / k;  u' = u.
// Place the stage last, after Descend. evaluation_values returns a.
// Source: Ruppert 1988; Polyak & Juditsky 1992; torch's ASGD and AveragedModel.
// Cost: one float of state per parameter, `weight_average`.
struct PolyakAverage {
  std::uint64_t start = 0;

  static constexpr bool sees_final_update = true;
  static constexpr const char* slot_names[] = {"weight_average"};

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S gain = 1;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      s[0] = s[0] + gain * (p + u - s[0]);
      return u;
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    return {static_cast<S>(step.t > start ? 1 / static_cast<double>(step.t - start) : 1)};
  }

  // Maps (value, average) to the value used for evaluation.
  struct Evaluation {
    template <class T>
    ALGOPERF_HD T operator()(T, T average) const {
      return average;
    }
  };
  template <class S>
  Evaluation evaluation(Step) const {
    return {};
  }
};

}  // namespace algoperf
