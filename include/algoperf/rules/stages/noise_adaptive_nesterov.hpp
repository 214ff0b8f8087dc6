#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "recipe.hpp"

namespace algoperf {

// Accelerated SGD with exponentially decreasing steps, for strongly convex losses. The parameters are y, where
// gradients are evaluated; x is the sequence that converges, to be used for evaluation. At step t = 1, 2, ..., with
// alpha = (beta / steps)^(1 / steps) and a_t = min(1, sqrt(strong_convexity lr alpha^t)):
//   x' = y - lr alpha^t u;  y' = x' + b (x' - x),  b = (1 - a_t) a_{t+1} / (a_t (1 + a_{t+1})).
// Without a decay, beta = steps, this is Nesterov's method with the momentum (1 - a) / (1 + a). The stage applies the
// learning rate itself, so its chain has no Descend. Use a constant lr = 1 / (rho L), where L is the smoothness of the
// loss and rho grows with the noise: the paper's code has rho = 100, and without noise, rho = 1.
// Hyperparameters: strong_convexity > 0, where a_t is at most 1; beta in (0, steps]; steps >= 1, required: those of the
// whole training, after which alpha^t stays. Source: Vaswani, Dubois-Taine & Babanezhad 2022 (arXiv:2110.11442),
// accelerated SGD, in the form of their code. Departures: their a_{t+1}, b_{t+1} and steps are rewritten in terms of
// lr, and gradients may be of any batch. Cost: one float of state per parameter, `x`, and one scalar per chain,
// `steps`. chain(NoiseAdaptiveNesterov{}) reads and writes 20 bytes per parameter and step.
struct NoiseAdaptiveNesterov {
  double strong_convexity = 1e-2;
  double beta = 1;
  std::uint64_t steps = 0;

  struct Scalars {
    std::uint64_t steps = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("steps", steps);
    }
  };
  static constexpr bool applies_learning_rate = true;
  static constexpr bool sees_final_update = true;
  static constexpr const char* slot_names[] = {"x"};
  void check() const {
    require(strong_convexity > 0 && strong_convexity < __builtin_huge_val(),
            "NoiseAdaptiveNesterov: strong_convexity is ", strong_convexity, ", expected (0, inf)");
    require(steps >= 1, "NoiseAdaptiveNesterov: steps is 0, expected at least 1");
    require(beta > 0 && beta <= static_cast<double>(steps), "NoiseAdaptiveNesterov: beta is ", beta,
            ", expected (0, steps], and steps is ", steps);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S rate = 0, momentum = 0;
    bool first = false;  // first step: x starts as p
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      const T x = first ? p : s[0];
      s[0] = p - rate * u;
      return momentum * (s[0] - x) - rate * u;
    }
  };
  void advance(Step, Scalars& scalars) const { ++scalars.steps; }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step, const Scalars& scalars) const {
    const double rate = step.learning_rate * decay(scalars.steps);
    const double a = math::min(1.0, math::sqrt(strong_convexity * rate));
    const double next = math::min(1.0, math::sqrt(strong_convexity * step.learning_rate * decay(scalars.steps + 1)));
    const double b = a > 0 ? (1 - a) * next / (a * (1 + next)) : 0;
    return {static_cast<S>(rate), static_cast<S>(b), scalars.steps == 1};
  }

  // Maps (y, x) to x.
  template <class S>
  struct Evaluation {
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return x;
    }
  };
  template <class S>
  Evaluation<S> evaluation(Step) const {
    return {};
  }

 private:
  // alpha^t
  ALGOPERF_HD double decay(std::uint64_t t) const {
    const double n = static_cast<double>(steps), done = static_cast<double>(t < steps ? t : steps);
    return math::exp(done / n * math::log(beta / n));
  }
};

// The rule chain(NoiseAdaptiveNesterov{...}).
// Hyperparameters, source and cost: those of NoiseAdaptiveNesterov.
inline constexpr auto noise_adaptive_nesterov =
    []<std::same_as<NoiseAdaptiveNesterov> Options = NoiseAdaptiveNesterov>(Options options = {}) {
  return chain(options);
};

}  // namespace algoperf
