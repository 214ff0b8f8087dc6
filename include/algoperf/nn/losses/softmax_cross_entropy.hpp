#pragma once

#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../log_sums.hpp"

namespace algoperf {

// Softmax cross-entropy over classes, with label smoothing and example weights:
//   loss_i = -sum_c q_c log softmax(z_i)_c,   q_c = (1 - s) [c = label_i] + s / classes
//   d_logits_i = weight_i / batch * (softmax(z_i) - q)
// losses are unweighted, in nats. label_smoothing s in [0, 1). Source: Szegedy et al. 2016; the same smoothing as in
// torch and optax.
struct SoftmaxCrossEntropy {
  double label_smoothing = 0;

  void check() const {
    require(label_smoothing >= 0 && label_smoothing < 1, "SoftmaxCrossEntropy: label_smoothing is ", label_smoothing,
            ", expected [0, 1)");
  }

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t classes, Tally& tally) const {
    const std::uint64_t smoothing = label_smoothing > 0 ? 3 * classes + 2 : 0;
    tally.operation({"loss", batch * (6 * classes + 12 + smoothing), batch * (classes + 2), batch * (classes + 1)});
  }

  template <class S>
  struct Gradient {
    S factor, least;
    template <class T>
    ALGOPERF_HD T operator()(T exponential) const {
      return exponential * T(factor) - T(least);
    }
  };
  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    static constexpr bool exact = std::is_same_v<S, T>;
    std::size_t classes;
    const S* logits;
    const std::int32_t* labels;
    const T* weights;
    T* losses;
    S* d_logits;  // null if only losses are required
    T smoothing, scale;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* z = logits + r * classes;
      const T top = team.template max<T>(classes, [z](std::size_t c) { return z[c]; });
      S* const d = d_logits == nullptr ? nullptr : d_logits + r * classes;
      const bool stores = exact && d != nullptr;  // the exponentials, in d until the last loop
      if constexpr (exact)
        if (stores) team.map(detail::ExponentialBelow<T>{top}, classes, d, z);
      const T total = stores ? team.template sum<T>(classes, [d](std::size_t c) { return T(d[c]); })
                             : team.template sum<T>(classes, [z, top](std::size_t c) { return math::exp(z[c] - top); });
      const T log_total = math::log(total);  // of exp(z - top); below, top is added as top - z to avoid cancellation
      const T uniform = smoothing / static_cast<T>(classes);
      const std::size_t label = static_cast<std::size_t>(labels[r]);
      T loss = (T(1) - smoothing) * (log_total + (top - z[label]));
      if (smoothing > T(0))
        loss += uniform *
                team.template sum<T>(classes, [z, top, log_total](std::size_t c) { return log_total + (top - z[c]); });
      losses[r] = loss;
      if (d == nullptr) return;
      const T weight = weights[r] * scale, keep = weight * (T(1) - smoothing);
      const T factor = weight / total, least = weight * uniform;
      if constexpr (exact) {
        team.map(Gradient<T>{factor, least}, classes, d);
        team.each(1, [=](std::size_t) { d[label] = d[label] - keep; });
      } else {
        team.each(classes, [=](std::size_t c) {
          d[c] = S(math::exp(z[c] - top) * factor - least - (c == label ? keep : T(0)));
        });
      }
    }
  };

  // d_logits may be null. weights may be null only when d_logits is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) const {
    backend.for_each_row(
        batch, 6 * classes,
        Row<S>{classes, logits, labels, weights, losses, d_logits, static_cast<Arithmetic<S>>(label_smoothing),
               static_cast<Arithmetic<S>>(1.0 / static_cast<double>(batch))});
  }
};

}  // namespace algoperf
