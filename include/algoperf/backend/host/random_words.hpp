// Philox blocks (core/random.hpp) by SIMD vectors, for passes that draw a random word per element. Vectors of products
// of 32-bit factors need SSE2. Other processors, and host code in .cu files, compute one block at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "../../core/random.hpp"
#include "vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

#if defined(__SSE2__) && !ALGOPERF_IN_CUDA_FILE

#if defined(__AVX2__)
inline constexpr std::size_t random_vector_bytes = native_vector_bytes;
#else
inline constexpr std::size_t random_vector_bytes = 16;  // AVX has no larger vectors of integers
#endif
// Each lane belongs to one Philox block and holds a word of it in its lower half. The upper half is ignored.
typedef std::uint64_t RandomVector __attribute__((vector_size(random_vector_bytes)));

// Returns the products of the lower halves.
ALGOPERF_INLINE RandomVector wide_product(RandomVector a, RandomVector b) {
#if defined(__AVX512F__)
  return RandomVector(_mm512_maskz_mul_epu32(0xFF, __m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return RandomVector(_mm256_mul_epu32(__m256i(a), __m256i(b)));
#else
  return RandomVector(_mm_mul_epu32(__m128i(a), __m128i(b)));
#endif
}

// The states of Philox blocks with consecutive counters. A lane of c0 to c3 holds the variables c0 to c3 of philox().
struct PhiloxVectors {
  static constexpr std::size_t blocks = random_vector_bytes / sizeof(std::uint64_t);
  RandomVector c0, c1, c2, c3;

  ALGOPERF_INLINE PhiloxVectors(std::uint64_t counter, std::uint64_t stream) {
    constexpr std::uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
    __builtin_memcpy(&c0, numbers, sizeof c0);
    c0 += counter;
    c1 = c0 >> 32;
    c2 = stream - RandomVector{};
    c3 = c2 >> 32;
  }
  ALGOPERF_INLINE void round(std::uint32_t k0, std::uint32_t k1) {
    const RandomVector a = wide_product(c0, philox_multiplier_0 - RandomVector{}),
                       b = wide_product(c2, philox_multiplier_2 - RandomVector{});
    c0 = (b >> 32) ^ c1 ^ std::uint64_t{k0};
    c2 = (a >> 32) ^ c3 ^ std::uint64_t{k1};
    c1 = b;
    c3 = a;
  }
  // Stores the words of the first block, then those of the second, and so on.
  ALGOPERF_INLINE void store(std::uint32_t* to) const {
    constexpr std::uint64_t lower = 0xFFFFFFFFu;
    const RandomVector a = (c0 & lower) | c1 << 32, b = (c2 & lower) | c3 << 32;
#if defined(__AVX512F__)
    const RandomVector first = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
                       second = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(__AVX2__)
    const RandomVector first = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                       second = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
    const RandomVector first = __builtin_shufflevector(a, b, 0, 2), second = __builtin_shufflevector(a, b, 1, 3);
#endif
    __builtin_memcpy(to, &first, sizeof first);
    __builtin_memcpy(to + 2 * blocks, &second, sizeof second);
  }
};

// Two independent vectors: while the products of one are computed, the processor works on the other.
inline constexpr std::size_t random_blocks = 2 * PhiloxVectors::blocks;

// Writes the words of random_blocks blocks, whose counters are `counter`, `counter` + 1, ..., to `words`.
ALGOPERF_INLINE void random_words(std::uint64_t key, std::uint64_t counter, std::uint64_t stream,
                                  std::uint32_t* words) {
  PhiloxVectors first(counter, stream), second(counter + PhiloxVectors::blocks, stream);
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    first.round(k0, k1);
    second.round(k0, k1);
    k0 += philox_key_step_0;
    k1 += philox_key_step_1;
  }
  first.store(words);
  second.store(words + 4 * PhiloxVectors::blocks);
}

#else

inline constexpr std::size_t random_blocks = 1;

ALGOPERF_HD void random_words(std::uint64_t key, std::uint64_t counter, std::uint64_t stream, std::uint32_t* words) {
  const PhiloxBlock block = philox(key, counter, stream);
  for (std::size_t j = 0; j < 4; ++j) words[j] = block.words[j];
}

#endif

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
