// The points of AlgoPerf's own generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "halton.hpp"

namespace algoperf {

// The points that AlgoPerf's generator (halton.py) makes, bit for bit, before it shuffles them with a generator that it
// does not seed. With D dimensions, the bases are the D largest primes below 997, in ascending order. For base p,
// numpy's RandomState(p) shuffles the digits 1 ... p - 1 and leaves 0 in place. The next number in [0, 1) of the same
// generator is the shift:
//   x = (shift + radical inverse of i with these digits) mod 1,   i from 101.
// AlgoPerf uses these points for its tuning, so that results can be compared point by point. They do not depend on a
// seed; prefer ScrambledHalton or Sobol for repeated studies.
// Source: algoperf/halton.py of AlgoPerf v0.5; Bousquet et al. 2017, arXiv:1706.03200.
class OfficialHalton {
 public:
  static constexpr std::uint64_t skipped = 100;

  // Throws Error if there are more dimensions than primes.
  explicit OfficialHalton(std::size_t dimensions) {
    std::vector<std::uint32_t> primes;
    for (std::uint32_t p = 3; p < 1000; p += 2)
      if (detail::is_prime(p)) primes.push_back(p);
    require(dimensions < primes.size(), "OfficialHalton: there are ", dimensions, " dimensions, expected at most ",
            primes.size() - 1);
    for (std::size_t d = 0; d < dimensions; ++d) bases_.push_back(Base(primes[primes.size() - 1 - dimensions + d]));
  }

  std::size_t dimensions() const { return bases_.size(); }
  // Returns point i, from 0, after the skipped ones; in [0, 1) in each dimension.
  std::vector<double> point(std::uint64_t i) const {
    std::vector<double> x;
    for (const Base& base : bases_) {
      double sum = 0, power = 1;
      for (std::uint64_t rest = i + skipped + 1; rest > 0; rest /= base.p) {
        power *= base.p;
        sum += base.digits[rest % base.p] / power;
      }
      sum += base.shift;
      x.push_back(sum >= 1 ? sum - 1 : sum);
    }
    return x;
  }

 private:
  struct Base {
    std::uint32_t p;
    std::vector<std::uint32_t> digits;
    double shift = 0;

    explicit Base(std::uint32_t prime) : p(prime), digits(prime) {
      std::mt19937 random(prime);  // numpy's RandomState(prime) is this generator with this seed
      for (std::uint32_t j = 0; j < p; ++j) digits[j] = j;
      for (std::uint32_t j = p - 2; j > 0; --j) std::swap(digits[1 + j], digits[1 + up_to(random, j)]);
      const std::uint32_t high = static_cast<std::uint32_t>(random()) >> 5;
      const std::uint32_t low = static_cast<std::uint32_t>(random()) >> 6;
      shift = (high * 67108864.0 + low) / 9007199254740992.0;  // 2^26 and 2^53
    }

    // numpy's uniform number in [0, most]: the low bits, drawn until they are in range.
    static std::uint32_t up_to(std::mt19937& random, std::uint32_t most) {
      std::uint32_t mask = most;
      for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
      for (;;)
        if (const std::uint32_t value = static_cast<std::uint32_t>(random()) & mask; value <= most) return value;
    }
  };
  std::vector<Base> bases_;
};

}  // namespace algoperf
