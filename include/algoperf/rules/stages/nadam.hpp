#pragma once

#include "moments.hpp"

namespace algoperf {

// The look-ahead m_hat of NAdam, corrected for the bias of m. P_t is the product mu_1 ... mu_t.
enum class NAdamForm {
  algoperf,  // (b1 m' + (1 - b1) u) / (1 - b1^t)
  optax,     // b1 m' / (1 - b1^(t+1)) + (1 - b1) u / (1 - b1^t)
  torch,     // mu_(t+1) m' / (1 - P_(t+1)) + (1 - mu_t) u / (1 - P_t), mu_t = b1 (1 - 0.96^(t momentum_decay) / 2)
};

// The direction of NAdam, Adam with Nesterov momentum. m and v are as in Adam, and m_hat is defined by `form`:
//   u' = m_hat / (sqrt(v' / (1 - b2^t)) + eps).
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0; momentum_decay >= 0, used by NAdamForm::torch only.
// Source: Dozat 2016; Choi et al. 2019 (arXiv:1910.05446), Table 1; AlgoPerf's NadamW baseline; optax.nadamw;
// torch.optim.NAdam.
// Cost: two floats of state per parameter, `exp_avg` and `exp_avg_sq`, and one scalar per chain, `mu_product` (used
// by NAdamForm::torch). chain(NAdam{}, Descend{}) reads and writes 28 bytes per parameter and step.
struct NAdam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  NAdamForm form = NAdamForm::algoperf;
  double momentum_decay = 4e-3;

  struct Scalars {
    double mu_product = 1;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("mu_product", mu_product);
    }
  };
  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const {
    detail::check_moments("NAdam", beta1, beta2, eps);
    require_at_least(0, "NAdam", "momentum_decay", momentum_decay);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S of_m = 0, of_u = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[0], s[1]);
      return math::fast_divide(of_m * s[0] + of_u * u, root(s[1]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, factor * of_m, factor * of_u}; }
  };
  void advance(Step step, Scalars& scalars) const {
    if (form == NAdamForm::torch) scalars.mu_product *= mu(step.t);
  }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step, const Scalars& scalars) const {
    const double c = math::sqrt(detail::bias(beta2, step));
    double of_m = beta1 / detail::bias(beta1, step), of_u = (1 - beta1) / detail::bias(beta1, step);
    if (form == NAdamForm::optax) of_m = beta1 / detail::bias(beta1, {step.t + 1, 0});
    if (form == NAdamForm::torch) {
      const double now = mu(step.t), next = mu(step.t + 1);
      of_m = next / (1 - scalars.mu_product * next);
      of_u = (1 - now) / (1 - scalars.mu_product);
    }
    return {detail::Moments<S>::of(beta1, beta2), detail::Root<S>::of(EpsAt::outside, eps, c), static_cast<S>(c * of_m),
            static_cast<S>(c * of_u)};
  }

 private:
  ALGOPERF_HD double mu(std::uint64_t t) const {
    return beta1 * (1 - 0.5 * math::exp(math::log(0.96) * static_cast<double>(t) * momentum_decay));
  }
};

}  // namespace algoperf
