// HalfPorts: where a host sweep takes its gradients and puts the new parameters, besides the float arenas it works in:
// arrays of 16 bits, converted vector by vector in registers. And conversions of whole arrays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../core/half.hpp"
#include "thread_pool.hpp"
#include "vector.hpp"
#include "work.hpp"

namespace algoperf {

namespace detail {

// A well mixed word of 32 bits (the hash "lowbias32" found by C. Wellons' search): the noise of stochastic rounding.
// U is a word or a vector of them.
template <class U>
U mixed_bits(U x) {
  x = x ^ (x >> 16);
  x = x * 0x21F0AAADu;
  x = x ^ (x >> 15);
  x = x * 0xD35A2D97u;
  return x ^ (x >> 15);
}

#if ALGOPERF_IN_CUDA_FILE
struct HalfVector {
  template <class Half>
  static Vector<float> widen(const Half* from) {
    return Vector<float>(static_cast<float>(*from));
  }
  template <class Half>
  static void narrow(Vector<float> x, Half* to) {
    *to = Half(x.lanes);
  }
  static void narrow_by_chance(Vector<float> x, std::uint32_t number, std::uint32_t key, bfloat16* to) {
    *to = bfloat16(x.lanes);
    const std::uint32_t bits = bits_of(x.lanes);
    if (to->is_finite()) to->bits = static_cast<std::uint16_t>((bits + (mixed_bits(number ^ key) & 0xFFFFu)) >> 16);
  }
};
#else
struct HalfVector {
  static constexpr std::size_t width = Vector<float>::width;
  typedef std::uint16_t Halves __attribute__((vector_size(2 * width)));
  typedef std::uint32_t Words __attribute__((vector_size(4 * width)));
  using Floats = Vector<float>::Native;

  static Vector<float> widen(const bfloat16* from) {
    Halves h;
    __builtin_memcpy(&h, from, sizeof h);
    return Vector<float>(reinterpret_cast<Floats>(__builtin_convertvector(h, Words) << 16));
  }
  static void narrow(Vector<float> x, bfloat16* to) {
    const Words b = reinterpret_cast<Words>(x.lanes), rounded = (b + 0x7FFFu + ((b >> 16) & 1u)) >> 16;
    put(x.lanes == x.lanes ? rounded : (b >> 16) | 0x40u, to);
  }
  // Adds noise below the bits that bfloat16 keeps, so that cutting them off rounds by chance. Infinity and NaN stay.
  static void narrow_by_chance(Vector<float> x, std::uint32_t number, std::uint32_t key, bfloat16* to) {
    Words numbers = {};
    for (std::size_t k = 0; k < width; ++k) numbers[k] = number + static_cast<std::uint32_t>(k);
    const Words b = reinterpret_cast<Words>(x.lanes), noise = mixed_bits(numbers ^ key) & 0xFFFFu;
    const Words finite = (b + noise) >> 16, other = (b >> 16) | (x.lanes == x.lanes ? Words{} : Words{} + 0x40u);
    put(x.lanes - x.lanes == 0 ? finite : other, to);
  }

  static Vector<float> widen(const float16* from) {
#if defined(__AVX512F__)
    return Vector<float>(Floats(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))));
#elif defined(__F16C__)
    return Vector<float>(Floats(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))));
#else
    Floats x;
    for (std::size_t k = 0; k < width; ++k) x[k] = static_cast<float>(from[k]);
    return Vector<float>(x);
#endif
  }
  static void narrow(Vector<float> x, float16* to) {
#if defined(__AVX512F__)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph(x.lanes, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(x.lanes, _MM_FROUND_TO_NEAREST_INT));
#else
    for (std::size_t k = 0; k < width; ++k) to[k] = float16(x.lanes[k]);
#endif
  }

 private:
  static void put(Words bits, bfloat16* to) {
    const Halves h = __builtin_convertvector(bits, Halves);
    __builtin_memcpy(to, &h, sizeof h);
  }
};
#endif

template <class Half>
struct HalfPorts {
  const Half* gradients = nullptr;
  Half* values = nullptr;
  float scale = 1;  // of the gradients
  Rounding rounding = Rounding::nearest;
  std::uint32_t key = 0;     // of the noise, another at each step
  std::uint32_t origin = 0;  // the number of gradients[0], for the noise

  static constexpr bool none = false;
  HalfPorts from(std::size_t begin) const {
    return {gradients + begin, values + begin, scale, rounding, key, origin + static_cast<std::uint32_t>(begin)};
  }
  Vector<float> load(std::size_t i) const { return HalfVector::widen(gradients + i) * Vector<float>(scale); }
  void store(Vector<float> x, std::size_t i) const {
    if constexpr (std::is_same_v<Half, bfloat16>)
      if (rounding == Rounding::stochastic)
        return HalfVector::narrow_by_chance(x, origin + static_cast<std::uint32_t>(i), key, values + i);
    HalfVector::narrow(x, values + i);
  }

  // The last, partial vector of a sweep.
  struct Tail {
    Half gradients[Vector<float>::width], values[Vector<float>::width];
  };
  void copy_in(std::size_t begin, std::size_t n, Tail& tail) const {
    __builtin_memset(&tail, 0, sizeof tail);
    __builtin_memcpy(tail.gradients, gradients + begin, n * sizeof(Half));
  }
  void copy_out(std::size_t begin, std::size_t n, const Tail& tail) const {
    __builtin_memcpy(values + begin, tail.values, n * sizeof(Half));
  }
  HalfPorts of(Tail& tail, std::size_t begin) const {
    return {tail.gradients, tail.values, scale, rounding, key, origin + static_cast<std::uint32_t>(begin)};
  }
};

// f(begin, end) over whole vectors of [0, n) on the threads, and then g(begin, n) for the rest.
template <class F, class G>
void over_vectors(unsigned threads, std::size_t n, const F& f, const G& g) {
  const std::size_t whole = n - n % Vector<float>::width;
  ThreadPool::instance().parallel_for(threads, chunks_of(whole), [&](std::size_t i) {
    f(i * chunk, (i + 1) * chunk < whole ? (i + 1) * chunk : whole);
  });
  if (whole < n) g(whole, n);
}

// x[i] = scale gradients[i]
template <class Half>
void widen(unsigned threads, std::size_t n, const HalfPorts<Half>& ports, float* x) {
  over_vectors(
      threads, n,
      [&](std::size_t i, std::size_t end) {
        for (; i < end; i += Vector<float>::width) ports.load(i).store(x + i);
      },
      [&](std::size_t i, std::size_t end) {
        for (; i < end; ++i) x[i] = ports.scale * static_cast<float>(ports.gradients[i]);
      });
}

// values[i] = x[i], rounded
template <class Half>
void narrow(unsigned threads, std::size_t n, const float* x, const HalfPorts<Half>& ports) {
  over_vectors(
      threads, n,
      [&](std::size_t i, std::size_t end) {
        for (; i < end; i += Vector<float>::width) ports.store(Vector<float>::load(x + i), i);
      },
      [&](std::size_t i, std::size_t end) {
        typename HalfPorts<Half>::Tail tail = {};
        float rest[Vector<float>::width] = {};
        __builtin_memcpy(rest, x + i, (end - i) * sizeof(float));
        ports.of(tail, i).store(Vector<float>::load(rest), 0);
        ports.copy_out(i, end - i, tail);
      });
}

// Whether no element is infinite or NaN.
template <class Half>
bool all_finite(unsigned threads, std::size_t n, const Half* x) {
  std::atomic<bool> finite = true;
  ThreadPool::instance().parallel_for(threads, chunks_of(n), [&](std::size_t i) {
    const std::size_t end = (i + 1) * chunk < n ? (i + 1) * chunk : n;
    std::uint16_t all = 1;
    for (std::size_t k = i * chunk; k < end; ++k) all = all & std::uint16_t{x[k].is_finite()};
    if (all == 0) finite = false;
  });
  return finite;
}

}  // namespace detail
}  // namespace algoperf
