// Counter-based random numbers: Philox4x32-10 of Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3".
// A number depends only on (key, counter), not on the order of calls or the device. Integers and uniform numbers are
// the same on every machine; normal numbers are the same up to the rounding of the machine's log. The counter is the
// only state to save.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config.hpp"

namespace algoperf {

namespace detail {

// The number of rounds, the multipliers of words 0 and 2, and what each round adds to the halves of the key.
inline constexpr int philox_rounds = 10;
inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53u, philox_multiplier_2 = 0xCD9E8D57u;
inline constexpr std::uint32_t philox_key_step_0 = 0x9E3779B9u, philox_key_step_1 = 0xBB67AE85u;

}  // namespace detail

struct PhiloxBlock {
  std::uint32_t words[4];
};

// Ten rounds of the Philox bijection of the 128-bit counter (`counter` and `stream`) under the 64-bit key.
ALGOPERF_HD constexpr PhiloxBlock philox(std::uint64_t key, std::uint64_t counter, std::uint64_t stream = 0) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter), c1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream), c3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < detail::philox_rounds; ++round) {
    const std::uint64_t a = std::uint64_t{detail::philox_multiplier_0} * c0,
                        b = std::uint64_t{detail::philox_multiplier_2} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(b);
    c3 = static_cast<std::uint32_t>(a);
    c0 = n0;
    c2 = n2;
    k0 += detail::philox_key_step_0;
    k1 += detail::philox_key_step_1;
  }
  return {{c0, c1, c2, c3}};
}

// A key identifies a stream of random numbers. fold derives the key of an independent stream:
// key.fold(epoch).fold(worker).
struct RandomKey {
  std::uint64_t value = 0;
  ALGOPERF_HD constexpr RandomKey fold(std::uint64_t tag) const {
    const PhiloxBlock b = philox(value, tag, 0x666F6C64u);  // "fold" in ASCII; RandomStream reads stream 0
    return {b.words[0] | std::uint64_t{b.words[1]} << 32};
  }
};

// The random numbers of one key, in sequence. Copy the stream to branch; store `counter` to resume.
class RandomStream {
 public:
  ALGOPERF_HD constexpr explicit RandomStream(RandomKey key, std::uint64_t counter = 0)
      : key_(key.value), counter_(counter) {}

  ALGOPERF_HD constexpr std::uint32_t bits() {
    if (counter_ % 4 == 0 || !filled_) fill();
    return block_.words[counter_++ % 4];
  }
  // Uniform in [0, 1), with 24 bits for uniform() and 32 bits for uniform_double().
  ALGOPERF_HD constexpr float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }
  ALGOPERF_HD constexpr double uniform_double() { return static_cast<double>(bits()) * 0x1p-32; }
  // Uniform in [0, n), n > 0, without bias (Lemire 2019, "Fast Random Integer Generation in an Interval").
  ALGOPERF_HD constexpr std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t{bits()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t threshold = (0u - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  // Standard normal by Marsaglia's polar method, which needs only log and sqrt, no table.
  double normal() {
    for (;;) {
      const double x = 2 * uniform_double() - 1, y = 2 * uniform_double() - 1, r = x * x + y * y;
      if (r > 0 && r < 1) return x * __builtin_sqrt(-2 * __builtin_log(r) / r);
    }
  }
  ALGOPERF_HD constexpr std::uint64_t counter() const { return counter_; }

 private:
  // Not inlined on the host: inlining makes programs 6 % larger.
#if defined(__CUDACC__)
  ALGOPERF_HD
#else
  ALGOPERF_ONE_COPY
#endif
  constexpr void fill() {
    block_ = philox(key_, counter_ / 4);
    filled_ = true;
  }

  std::uint64_t key_, counter_;
  PhiloxBlock block_{};
  bool filled_ = false;
};

}  // namespace algoperf
