#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/error.hpp"
#include "../../core/math.hpp"
#include "../../core/random.hpp"
#include "check_not_ragged.hpp"

namespace algoperf {

namespace detail {

// Draws from the gamma distribution of a shape a > 0 and scale 1 (Marsaglia & Tsang 2000, "A simple method for
// generating gamma variables").
inline double draw_gamma(double a, RandomStream& random) {
  double boost = 1;
  if (a < 1) {
    boost = math::exp(math::log(1 - random.uniform_double()) / a);
    a += 1;
  }
  const double d = a - 1.0 / 3, c = 1 / math::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && math::log(1 - random.uniform_double()) < x * x / 2 + d - d * v + d * math::log(v))
      return d * v * boost;
  }
}

}  // namespace detail

// Mixes each example of a batch with the one before it, the first with the last:
//   x_i = w x_i + (1 - w) x_{i-1},   y_i = w y_i + (1 - w) y_{i-1}
// with one weight w ~ Beta(alpha, alpha) for the batch. Labels must be real-valued, such as those of one_hot(data),
// with the loss SoftCrossEntropy.
// Does not mix the weights of examples: use it with selectors of equal weights.
// Source: Zhang et al. 2018, arXiv:1710.09412; one weight per batch as in AlgoPerf.
struct Mixup {
  double alpha = 0.2;
  const char* field = "input";
  const char* labels = "label";

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    require(alpha > 0, "Mixup: alpha is ", alpha, ", expected more than 0");
    RandomStream random(key);
    const double a = detail::draw_gamma(alpha, random), b = detail::draw_gamma(alpha, random);
    const double w = a + b > 0 ? a / (a + b) : 1;
    detail::check_not_ragged(batch, "Mixup", field);
    detail::check_not_ragged(batch, "Mixup", labels);
    mix(batch.size(), batch.shape(field).size(), w, batch.reals(field));
    mix(batch.size(), batch.shape(labels).size(), w, batch.reals(labels));
  }

 private:
  template <class S>
  static void mix(std::size_t n, std::size_t width, double weight, S* x) {
    constexpr std::size_t block = 256;
    const S w = static_cast<S>(weight), rest = static_cast<S>(1 - weight);
    S last[block];
    for (std::size_t begin = 0; n > 0 && begin < width; begin += block) {
      const std::size_t count = width - begin < block ? width - begin : block;
      for (std::size_t j = 0; j < count; ++j) last[j] = x[(n - 1) * width + begin + j];
      for (std::size_t i = n; i-- > 0;) {
        S* const row = x + i * width + begin;
        const S* const before = i > 0 ? row - width : last;
        for (std::size_t j = 0; j < count; ++j) row[j] = w * row[j] + rest * before[j];
      }
    }
  }
};

}  // namespace algoperf
