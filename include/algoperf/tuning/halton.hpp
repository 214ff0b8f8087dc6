// Halton sequences: quasi-random points in the unit cube, which fill it more evenly than random points.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"

namespace algoperf {

namespace detail {

inline bool is_prime(std::uint32_t n) {
  for (std::uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

}  // namespace detail

// The scrambled Halton sequence. Coordinate d of point i, both from 0, is the radical inverse of i in base p, the prime
// number d (2, 3, 5, ...), with a random permutation of the digits at each position:
//   x = sum over k from 0 of pi_k(i_k) p^-(k+1),   i = sum over k of i_k p^k.
// Digits go on, also where i has only zeros left, until p^-(k+1) is below 2^-53. Permutation pi_k is a Fisher-Yates
// shuffle of 0 ... p - 1 with the stream RandomKey{seed}.fold(d).fold(k): for j from p - 1 down to 1, element j is
// exchanged with element below(j + 1). Every point is uniform in the cube, and different seeds give independent
// sequences. Any p^k successive points have one coordinate in each interval of length p^-k.
// Source: Owen 2017, "A randomized Halton algorithm in R", arXiv:1706.02808. Bousquet et al. 2017, arXiv:1706.03200,
// recommend such points for searches of hyperparameters.
class ScrambledHalton {
 public:
  explicit ScrambledHalton(std::size_t dimensions, std::uint64_t seed = 0) {
    std::uint32_t p = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      do ++p;
      while (!detail::is_prime(p));
      Base base{p, {}};
      double share = 1;
      for (std::uint64_t k = 0; share >= 0x1p-53; ++k) {
        share /= p;
        RandomStream random(RandomKey{seed}.fold(d).fold(k));
        std::vector<std::uint32_t> digits(p);
        for (std::uint32_t j = 0; j < p; ++j) digits[j] = j;
        for (std::uint32_t j = p - 1; j > 0; --j) std::swap(digits[j], digits[random.below(j + 1)]);
        base.digits.push_back(std::move(digits));
      }
      bases_.push_back(std::move(base));
    }
  }

  std::size_t dimensions() const { return bases_.size(); }
  // Returns point i, in [0, 1) in each dimension.
  std::vector<double> point(std::uint64_t i) const {
    std::vector<double> x;
    for (const Base& base : bases_) {
      std::uint64_t rest = i;
      double sum = 0, share = 1;
      for (const std::vector<std::uint32_t>& digits : base.digits) {
        share /= base.p;
        sum += share * digits[rest % base.p];
        rest /= base.p;
      }
      x.push_back(std::fmin(sum, 1 - 0x1p-53));
    }
    return x;
  }

 private:
  struct Base {
    std::uint32_t p;
    std::vector<std::vector<std::uint32_t>> digits;  // a permutation per position
  };
  std::vector<Base> bases_;
};

}  // namespace algoperf
