#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// The mean of squared differences from labels that are numbers, as many an example as outputs, with example weights:
//   loss_i = mean over c of (z_ic - y_ic)^2,   d_outputs_ic = weight_i / batch * 2 (z_ic - y_ic) / outputs
// As torch's MSELoss. It is a metric, too.
struct MeanSquaredError {
  template <class S>
  using Label = S;
  static constexpr const char* name = "mean squared error";
  static constexpr bool lower_is_better = true;

  template <class S>
  struct Row {
    std::size_t width;
    const S* outputs;
    const S* labels;
    const S* weights;
    S* losses;
    S* d_outputs;  // null when only losses are wanted
    S scale;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const z = outputs + r * width;
      const S* const y = labels + r * width;
      losses[r] = team.template sum<S>(width, [z, y](std::size_t c) { return (z[c] - y[c]) * (z[c] - y[c]); }) /
                  static_cast<S>(width);
      if (d_outputs == nullptr) return;
      S* const d = d_outputs + r * width;
      const S factor = weights[r] * scale * S(2) / static_cast<S>(width);
      team.each(width, [d, z, y, factor](std::size_t c) { d[c] = factor * (z[c] - y[c]); });
    }
  };

  // d_outputs may be null. weights may be null only when d_outputs is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* outputs, const S* labels,
             const S* weights, S* losses, S* d_outputs) const {
    backend.for_each_row(
        batch, 4 * width,
        Row<S>{width, outputs, labels, weights, losses, d_outputs, static_cast<S>(1.0 / static_cast<double>(batch))});
  }
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* outputs, const S* labels,
             S* scores) const {
    write(backend, batch, width, outputs, labels, static_cast<const S*>(nullptr), scores, static_cast<S*>(nullptr));
  }
};

}  // namespace algoperf
