#pragma once

#include "mean_penalty.hpp"

namespace algoperf {

namespace detail {

struct SquaredDifference {
  static constexpr int factor = 2;
  static constexpr std::uint64_t flops = 3;
  template <class T>
  ALGOPERF_HD static T value(T d) {
    return d * d;
  }
  template <class T>
  ALGOPERF_HD static T slope(T d) {
    return d;
  }
};

}  // namespace detail

// The mean squared difference between outputs and labels, with example weights. A label holds one value per output:
//   loss_i = mean over c of (z_ic - y_ic)^2,   d_outputs_ic = weight_i / batch * 2 (z_ic - y_ic) / outputs
// As torch's MSELoss. This loss is also a metric.
struct MeanSquaredError : detail::MeanPenalty<detail::SquaredDifference> {
  static constexpr const char* name = "mean squared error";
};

}  // namespace algoperf
