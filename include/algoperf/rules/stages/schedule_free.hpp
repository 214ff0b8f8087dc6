#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Schedule-free learning with a direction u (the gradient, or RmsProp's). The parameters are y, where gradients are
// evaluated; z is the base sequence; x is the average, to be used for evaluation. With w = t^r (largest lr so
// far)^lr_power and c = w / (sum of w):
//   y' = y + c (z - y) - lr (1 - beta (1 - c)) u;  z' = z - lr u;  x = y + (1 - 1 / beta)(z - y).
// x is not stored; evaluation_values computes it. The stage applies the learning rate itself, so its chain has no
// Descend. Use a constant learning rate, optionally with warm-up.
// Hyperparameters: beta in (0, 1); r >= 0; lr_power >= 0.
// Source: Defazio et al. 2024, Algorithm 1 (arXiv:2405.15682), in the form of its official code, version 1.3. In
// that version, the learning rate in w does not include Adam's bias correction.
// Cost: one float of state per parameter, `z`, and three scalars per chain, `weight_sum`, `lr_max` and `steps`.
// chain(ScheduleFree{}) reads and writes 20 bytes per parameter and step.
struct ScheduleFree {
  double beta = 0.9;
  double r = 0;
  double lr_power = 2;

  struct Scalars {
    double weight_sum = 0, lr_max = 0, weight = 1;
    std::uint64_t steps = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("weight_sum", weight_sum);
      archive.number("lr_max", lr_max);
      archive.number("steps", steps);
    }
  };
  static constexpr bool applies_learning_rate = true;
  static constexpr bool sees_final_update = true;
  static constexpr const char* slot_names[] = {"z"};
  void check() const {
    require(beta > 0 && beta < 1, "ScheduleFree: beta is ", beta, ", expected (0, 1)");
    require_at_least(0, "ScheduleFree", "r", r);
    require_at_least(0, "ScheduleFree", "lr_power", lr_power);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S weight = 0, of_u = 0, rate = 0;
    bool first = false;  // first step: z starts as p
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      const T z = first ? p : s[0];
      s[0] = z - rate * u;
      return weight * (z - p) - of_u * u;
    }
  };
  void advance(Step step, Scalars& scalars) const {
    ++scalars.steps;
    scalars.lr_max = math::max(scalars.lr_max, step.learning_rate);
    const double w = power(static_cast<double>(step.t), r) * power(scalars.lr_max, lr_power);
    scalars.weight_sum += w;
    scalars.weight = scalars.weight_sum > 0 ? w / scalars.weight_sum : 0;
  }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step, const Scalars& scalars) const {
    const double rate = step.learning_rate;
    return {static_cast<S>(scalars.weight), static_cast<S>(rate * (1 - beta * (1 - scalars.weight))),
            static_cast<S>(rate), scalars.steps == 1};
  }

  // Maps (y, z) to x.
  template <class S>
  struct Evaluation {
    S of_z = 0;
    template <class T>
    ALGOPERF_HD T operator()(T y, T z) const {
      return y + of_z * (z - y);
    }
  };
  template <class S>
  Evaluation<S> evaluation(Step) const {
    return {static_cast<S>(1 - 1 / beta)};
  }

 private:
  static double power(double x, double exponent) {
    if (exponent == 0) return 1;
    return x > 0 ? math::exp(exponent * math::log(x)) : 0;
  }
};

}  // namespace algoperf
