#pragma once

#include "../concept.hpp"

namespace algoperf::detail {

// A loss that is the mean of a penalty over the outputs, with example weights. A label holds one value per output:
//   loss_i = mean over c of penalty(z_ic - y_ic),   d_outputs_ic = weight_i / batch * penalty'(z_ic - y_ic) / outputs
// Penalty has value(d); slope(d), its derivative divided by the constant `factor`; and `flops`, the FLOPs of both, of
// adding up the values and of multiplying the slopes.
template <class Penalty>
struct MeanPenalty {
  template <class S>
  using Label = S;
  static constexpr bool lower_is_better = true;

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t width, Tally& tally) const {
    tally.operation({"loss", batch * ((Penalty::flops + 2) * width + 4), batch * (2 * width + 1), batch * (width + 1)});
  }

  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    std::size_t width;
    const S* outputs;
    const T* labels;
    const T* weights;
    T* losses;
    S* d_outputs;  // null if only losses are required
    T scale;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const z = outputs + r * width;
      const T* const y = labels + r * width;
      losses[r] = team.template sum<T>(width, [z, y](std::size_t c) { return Penalty::value(T(z[c] - y[c])); }) /
                  static_cast<T>(width);
      if (d_outputs == nullptr) return;
      S* const d = d_outputs + r * width;
      const T factor = weights[r] * scale * T(Penalty::factor) / static_cast<T>(width);
      team.each(width, [d, z, y, factor](std::size_t c) { d[c] = S(factor * Penalty::slope(T(z[c] - y[c]))); });
    }
  };

  // d_outputs may be null. weights may be null only when d_outputs is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* outputs, const Arithmetic<S>* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_outputs) const {
    backend.for_each_row(batch, 4 * width,
                         Row<S>{width, outputs, labels, weights, losses, d_outputs,
                                static_cast<Arithmetic<S>>(1.0 / static_cast<double>(batch))});
  }
  // As a metric.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* outputs, const Arithmetic<S>* labels,
             Arithmetic<S>* scores) const {
    write(backend, batch, width, outputs, labels, nullptr, scores, static_cast<S*>(nullptr));
  }
};

}  // namespace algoperf::detail
