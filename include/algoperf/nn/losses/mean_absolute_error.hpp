#pragma once

#include "../../core/math.hpp"
#include "mean_penalty.hpp"

namespace algoperf {

namespace detail {

struct AbsoluteDifference {
  static constexpr int factor = 1;
  static constexpr std::uint64_t flops = 5;  // three of them comparisons
  template <class T>
  ALGOPERF_HD static T value(T d) {
    return math::abs(d);
  }
  template <class T>
  ALGOPERF_HD static T slope(T d) {
    return math::sign(d);
  }
};

}  // namespace detail

// The mean absolute difference between outputs and labels, with example weights. A label holds one value per output:
//   loss_i = mean over c of |z_ic - y_ic|,   d_outputs_ic = weight_i / batch * sign(z_ic - y_ic) / outputs
// where sign(0) = 0. As torch's L1Loss. This loss is also a metric.
struct MeanAbsoluteError : detail::MeanPenalty<detail::AbsoluteDifference> {
  static constexpr const char* name = "mean absolute error";
};

}  // namespace algoperf
