#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf::detail {

// Computes, for one example, the sum over c of max(z_c, 0) - q_c z_c + log(1 + exp(-|z_c|)) with q_c = target(r, c),
// and its gradient.
template <class S, class Target>
struct SigmoidRow {
  using T = Arithmetic<S>;
  std::size_t width;
  const S* logits;
  Target target;
  const T* weights;
  T* losses;
  S* d_logits;  // null if only losses are required
  T scale;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const S* const z = logits + r * width;
    const Target q = target;
    losses[r] = team.template sum<T>(width, [z, q, r](std::size_t c) {
      return math::max(T(z[c]), T(0)) - q(r, c) * z[c] + math::log(T(1) + math::exp(-math::abs(T(z[c]))));
    });
    if (d_logits == nullptr) return;
    S* const d = d_logits + r * width;
    const T weight = weights[r] * scale;
    team.each(width, [z, q, r, d, weight](std::size_t c) { d[c] = S(weight * (math::sigmoid(T(z[c])) - q(r, c))); });
  }
};

template <class B, class S, class Target>
void sigmoid_cross_entropy(const B& backend, std::size_t batch, std::size_t width, const S* logits,
                           const Target& target, const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) {
  backend.for_each_row(batch, 16 * width,
                       SigmoidRow<S, Target>{width, logits, target, weights, losses, d_logits,
                                             static_cast<Arithmetic<S>>(1.0 / static_cast<double>(batch))});
}

}  // namespace algoperf::detail
