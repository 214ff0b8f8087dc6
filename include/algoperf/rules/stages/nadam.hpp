#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Adam with Nesterov momentum, in AlgoPerf's form: m and v as Adam;
//   u' = ((b1 m' + (1 - b1) u) / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + eps).
// beta1, beta2 in [0, 1), eps > 0. Dozat 2016; Choi et al. 2019 (arXiv:1910.05446), Table 1; AlgoPerf's NadamW
// baseline. Departs from torch's NAdam (no momentum decay schedule) and from optax's nadam (which corrects m' by 1 -
// b1^(t+1)). State: two floats, `exp_avg` and `exp_avg_sq`.
struct NAdam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const {
    require(beta1 >= 0 && beta1 < 1, "NAdam: beta1 is ", beta1, ", expected [0, 1)");
    require(beta2 >= 0 && beta2 < 1, "NAdam: beta2 is ", beta2, ", expected [0, 1)");
    require(eps > 0, "NAdam: eps is ", eps, ", expected more than 0");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    S beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, scale = 0, eps = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      s[0] = beta1 * s[0] + rest1 * u;
      s[1] = beta2 * s[1] + rest2 * u * u;
      return scale * (beta1 * s[0] + rest1 * u) / (math::sqrt(s[1]) + eps);
    }
  };
  template <class S>
  Kernel<S> at(Step step) const {
    const double c = math::sqrt(1 - math::power(beta2, step.t));
    return {static_cast<S>(beta1),
            static_cast<S>(1 - beta1),
            static_cast<S>(beta2),
            static_cast<S>(1 - beta2),
            static_cast<S>(c / (1 - math::power(beta1, step.t))),
            static_cast<S>(c * eps)};
  }
};

}  // namespace algoperf
