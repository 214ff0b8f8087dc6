// Update rules written as in libraries of whole-array expressions (ensmallen, dlib): a few statements, each of which
// Eigen compiles to a SIMD loop over all parameters. The arithmetic is that of the library's rules with their default
// options.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace whole_array {

using Array = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

// The arrays and the time of a step. a, b and c are the slots in the library's order.
struct At {
  Array g, p, a, b, c;
  double t, rate;
  double product = 1;  // of the momentum coefficients of nadam

  float lr() const { return static_cast<float>(rate); }
};

// Shared by the Adam family: 1 - beta^t, the averages m and v, and the rate and eps of the form in which the divisor
// is multiplied by sqrt(1 - beta2^t).
inline double bias(double beta, double t) { return 1 - std::pow(beta, t); }
inline double root_bias2(const At& at) { return std::sqrt(bias(0.999, at.t)); }
inline float adam_rate(const At& at) { return static_cast<float>(at.rate * root_bias2(at) / bias(0.9, at.t)); }
inline float adam_eps(const At& at) { return static_cast<float>(1e-8 * root_bias2(at)); }
inline void moments(At& at) {
  at.a *= 0.9f;
  at.a += 0.1f * at.g;
  at.b *= 0.999f;
  at.b += 0.001f * at.g.square();
}
inline float norm(const Array& x) { return std::sqrt(x.square().sum()); }

inline void sgd(At& at) { at.p -= at.lr() * at.g; }
inline void momentum(At& at) {
  at.a *= 0.9f;
  at.a += at.g;
  at.p -= at.lr() * at.a;
}
inline void nesterov(At& at) {
  at.a *= 0.9f;
  at.a += at.g;
  at.p -= at.lr() * (at.g + 0.9f * at.a);
}
inline void adam(At& at) {
  moments(at);
  at.p -= adam_rate(at) * at.a / (at.b.sqrt() + adam_eps(at));
}
inline void adamw(At& at) {
  at.p *= 1 - 0.01f * at.lr();
  adam(at);
}
inline void clipped_adamw(At& at) {
  const float size = norm(at.g);
  if (size > 1) at.g *= 1 / size;
  adamw(at);
}
inline void nadamw(At& at) {
  moments(at);
  at.p *= 1 - 0.01f * at.lr();
  at.p -= adam_rate(at) * (0.9f * at.a + 0.1f * at.g) / (at.b.sqrt() + adam_eps(at));
}
inline void nadam(At& at) {
  const auto mu = [](double t) { return 0.9 * (1 - 0.5 * std::pow(0.96, 0.004 * t)); };
  at.product = (at.t == 1 ? 1 : at.product) * mu(at.t);
  const double scale = at.rate * root_bias2(at), next = mu(at.t + 1);
  const auto of_g = static_cast<float>(scale * (1 - mu(at.t)) / (1 - at.product));
  const auto of_m = static_cast<float>(scale * next / (1 - at.product * next));
  moments(at);
  at.p -= of_g * at.g / (at.b.sqrt() + adam_eps(at));
  at.p -= of_m * at.a / (at.b.sqrt() + adam_eps(at));
}
inline void radam(At& at) {
  const double c = bias(0.999, at.t), limit = 1999, rho = limit - 2 * at.t * (1 - c) / c;
  moments(at);
  if (rho <= 5) {
    at.p -= static_cast<float>(at.rate / bias(0.9, at.t)) * at.a;
  } else {
    const double r = std::sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho));
    at.p -= static_cast<float>(r) * adam_rate(at) * at.a / (at.b.sqrt() + 1e-8f);
  }
}
inline void amsgrad(At& at) {
  moments(at);
  at.c = at.c.max(at.b);
  at.p -= adam_rate(at) * at.a / (at.c.sqrt() + adam_eps(at));
}
inline void ademamix(At& at) {
  moments(at);
  at.c *= 0.9999f;
  at.c += 1e-4f * at.g;
  const auto of_c = static_cast<float>(5 * at.rate * root_bias2(at));
  at.p -= (adam_rate(at) * at.a + of_c * at.c) / (at.b.sqrt() + adam_eps(at));
}
inline void lion(At& at) {
  at.p *= 1 - 0.01f * at.lr();
  at.p -= at.lr() * (0.9f * at.a + 0.1f * at.g).sign();
  at.a *= 0.99f;
  at.a += 0.01f * at.g;
}
inline void adagrad(At& at) {
  at.a += at.g.square();
  at.p -= at.lr() * at.g / (at.a.sqrt() + 1e-10f);
}
inline void rmsprop(At& at) {
  at.a *= 0.99f;
  at.a += 0.01f * at.g.square();
  at.p -= at.lr() * at.g / (at.a.sqrt() + 1e-8f);
}
inline void centered_rmsprop_momentum(At& at) {
  at.a *= 0.99f;
  at.a += 0.01f * at.g.square();
  at.b *= 0.99f;
  at.b += 0.01f * at.g;
  at.c *= 0.9f;
  at.c += at.g / ((at.a - at.b.square()).max(0.0f).sqrt() + 1e-8f);
  at.p -= at.lr() * at.c;
}
// With a constant rate the weight of the average is 1 / t. `u` is an expression that both statements evaluate again.
template <class Direction>
void schedule_free(At& at, Array& z, const Direction& u) {
  const auto weight = static_cast<float>(1 / at.t);
  if (at.t == 1) z = at.p;
  at.p += weight * (z - at.p) - at.lr() * (1 - 0.9f * (1 - weight)) * u;
  z -= at.lr() * u;
}
inline void schedule_free_sgd(At& at) { schedule_free(at, at.a, at.g); }
inline void schedule_free_adamw(At& at) {
  at.a *= 0.999f;
  at.a += 0.001f * at.g.square();
  schedule_free(at, at.b, static_cast<float>(root_bias2(at)) * at.g / (at.a.sqrt() + adam_eps(at)));
}
inline void lamb(At& at) {
  moments(at);
  const auto scale = static_cast<float>(root_bias2(at) / bias(0.9, at.t));
  at.g = scale * at.a / (at.b.sqrt() + 100 * adam_eps(at));  // eps 1e-6
  at.g += 0.01f * at.p;
  at.p -= at.lr() * norm(at.p) / norm(at.g) * at.g;
}
inline void lars(At& at) {
  at.a *= 0.9f;
  at.a -= at.lr() * 0.001f * norm(at.p) / norm(at.g) * at.g;
  at.p += at.a;
}

}  // namespace whole_array
