// The work of one team for CtcLoss: the loss of one example, and the gradient of its logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "../../core/config.hpp"
#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/math.hpp"

namespace algoperf::detail {

// Logarithms of probabilities; `impossible` is that of 0.
template <class T>
struct CtcLog {
  static constexpr T impossible = -std::numeric_limits<T>::infinity();

  // log(exp(a) + exp(b) + exp(c))
  ALGOPERF_HD static T sum(T a, T b, T c) {
    const T most = math::max(math::max(a, b), c);
    if (!(most > impossible)) return a + b + c;  // also if one is NaN
    return most + math::log(math::exp(a - most) + math::exp(b - most) + math::exp(c - most));
  }
};

// State s of an example with L labels, 0 <= s <= 2 L, is the blank if s is even, and label s / 2 if s is odd. From
// frame to frame, a path stays in its state, or advances by one, or by two from a label to a different one.
template <class S>
struct CtcExample {
  using T = Arithmetic<S>;
  using Log = CtcLog<T>;
  std::size_t classes, blank, states;  // states: the most of an example, 2 max_labels + 1
  ExampleRows frames, symbols;
  const S* logits;
  const std::int32_t* labels;
  const T* weights;
  T* losses;
  S* d_logits;  // null if only losses are required
  T scale;      // of the gradient, besides the weights
  // Per frame: the log-sum-exp of its logits; and for each state the logarithm of the forward variable, of all paths up
  // to this frame, and of the backward variable, of all paths after it.
  T *log_normalizers, *log_alphas, *log_betas;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const CtcExample self = *this;
    const std::size_t n = frames.count(e), first = frames.begin(e), length = symbols.count(e), used = 2 * length + 1;
    if (n == 0 || used > states) {
      team.each(1, [=](std::size_t) { self.set_loss(e, length == 0 ? T(0) : -Log::impossible); });
      if (d_logits != nullptr)
        team.each(n * classes, [=](std::size_t i) { self.d_logits[first * self.classes + i] = S(0); });
      return;
    }
    for (std::size_t t = first; t < first + n; ++t) {
      const S* const z = logits + t * classes;
      const T top = team.template max<T>(classes, [z](std::size_t c) { return T(z[c]); });
      const T total = team.template sum<T>(classes, [z, top](std::size_t c) { return math::exp(T(z[c]) - top); });
      team.each(1, [=](std::size_t) { self.log_normalizers[t] = top + math::log(total); });
      team.each(used, [=](std::size_t s) {
        const T before = t == first ? (s < 2 ? T(0) : Log::impossible)
                                    : self.sum_before(self.log_alphas + (t - 1) * self.states, e, s);
        self.log_alphas[t * self.states + s] = before + self.log_probability(t, e, s);
      });
    }
    const T* const last = log_alphas + (first + n - 1) * states;
    const T total = team.template sum<T>(1, [=](std::size_t) {  // a team call sees what earlier calls wrote
      return Log::sum(last[used - 1], used > 1 ? last[used - 2] : Log::impossible, Log::impossible);
    });
    const T share = T(1) / static_cast<T>(length > 0 ? length : 1);
    team.each(1, [=](std::size_t) { self.set_loss(e, -total * share); });
    if (d_logits == nullptr) return;
    const T factor = weights[e] * scale * share;
    for (std::size_t t = first + n; t-- > first;) {
      team.each(used, [=](std::size_t s) {
        self.log_betas[t * self.states + s] =
            t + 1 == first + n ? (s + 2 >= used ? T(0) : Log::impossible) : self.sum_after(t + 1, e, s, used);
      });
      // The gradient is that of the log-sum-exp, less the probabilities that a path has each symbol in this frame.
      const T of_blank =
          team.template sum<T>(length + 1, [=](std::size_t i) { return self.posterior(t, 2 * i, total); });
      team.each(classes, [=](std::size_t c) {
        const T probability = math::exp(T(self.logits[t * self.classes + c]) - self.log_normalizers[t]);
        self.d_logits[t * self.classes + c] = S(factor * (c == self.blank ? probability - of_blank : probability));
      });
      team.each(1, [=](std::size_t) {
        for (std::size_t s = 1; s < used; s += 2) {
          S& d = self.d_logits[t * self.classes + self.symbol(e, s)];
          d = S(T(d) - factor * self.posterior(t, s, total));
        }
      });
    }
  }

 private:
  // The loss of padding, which has no weight, must be finite.
  ALGOPERF_HD void set_loss(std::size_t e, T loss) const {
    const bool padding = weights != nullptr && weights[e] == T(0);
    losses[e] = padding && !(loss < -Log::impossible) ? T(0) : loss;
  }
  ALGOPERF_HD std::size_t symbol(std::size_t e, std::size_t s) const {
    return s % 2 == 0 ? blank : static_cast<std::size_t>(labels[symbols.begin(e) + s / 2]);
  }
  ALGOPERF_HD T log_probability(std::size_t t, std::size_t e, std::size_t s) const {
    return T(logits[t * classes + symbol(e, s)]) - log_normalizers[t];
  }
  // Whether a path may advance from state s - 2 to state s.
  ALGOPERF_HD bool skips(std::size_t e, std::size_t s) const {
    return s % 2 == 1 && s >= 3 && symbol(e, s) != symbol(e, s - 2);
  }
  ALGOPERF_HD T sum_before(const T* previous, std::size_t e, std::size_t s) const {
    return Log::sum(previous[s], s >= 1 ? previous[s - 1] : Log::impossible,
                    skips(e, s) ? previous[s - 2] : Log::impossible);
  }
  // The logarithm of the probability of frame t and all later ones, from state s in the frame before.
  ALGOPERF_HD T sum_after(std::size_t t, std::size_t e, std::size_t s, std::size_t used) const {
    const auto from = [this, t, e](std::size_t next) {
      return log_betas[t * states + next] + log_probability(t, e, next);
    };
    return Log::sum(from(s), s + 1 < used ? from(s + 1) : Log::impossible,
                    s + 2 < used && skips(e, s + 2) ? from(s + 2) : Log::impossible);
  }
  // Returns the probability, given the labels, that a path is in state s in frame t; 0 if no path spells the labels.
  ALGOPERF_HD T posterior(std::size_t t, std::size_t s, T total) const {
    if (!(total > Log::impossible)) return T(0);
    return math::exp(log_alphas[t * states + s] + log_betas[t * states + s] - total);
  }
};

}  // namespace algoperf::detail
