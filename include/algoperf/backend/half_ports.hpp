// HalfPorts: ports (backend/ports.hpp) of a sweep to 16-bit arrays. The sweep works on float arenas, but it reads the
// gradients from one 16-bit array and also writes the new parameters to another. Values are converted in registers; on
// the host, one SIMD vector at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../core/half.hpp"
#include "host/vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

// A 32-bit hash that generates the noise of stochastic rounding: [16 21f0aaad 15 d35a2d97 15] of C. Wellons'
// hash-prospector (the form of lowbias32, with other constants). U is a 32-bit word or a vector of words.
template <class U>
ALGOPERF_HD U mixed_bits(U x) {
  x = x ^ (x >> 16);
  x = x * 0x21F0AAADu;
  x = x ^ (x >> 15);
  x = x * 0xD35A2D97u;
  return x ^ (x >> 15);
}

// Rounds stochastically: adds noise below the bits that bfloat16 keeps, then truncates. Infinity and NaN are
// preserved.
ALGOPERF_HD bfloat16 narrowed_by_chance(float x, std::uint32_t number, std::uint32_t key) {
  bfloat16 y(x);
  if (x - x == 0) y.bits = static_cast<std::uint16_t>((bits_of(x) + (mixed_bits(number ^ key) & 0xFFFFu)) >> 16);
  return y;
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
    *to = narrowed_by_chance(x.lanes, number, key);
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
    put(reinterpret_cast<Words>(math::nearest_bfloat16(x).lanes) >> 16, to);
  }
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
    // The mask selects all lanes. At -O0, g++ warns inside the macro _mm512_cvtps_ph, which takes no mask.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtps_ph(__mmask16{0xFFFF}, x.lanes, _MM_FROUND_TO_NEAREST_INT));
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

template <class H>
struct HalfPorts {
  using Half = H;
  const Half* gradients = nullptr;
  Half* values = nullptr;
  float scale = 1;  // of the gradients
  Rounding rounding = Rounding::nearest;
  std::uint32_t key = 0;            // of the noise, different at each step
  std::uint32_t origin = 0;         // index of gradients[0] in the whole array, for the noise
  const float* scale_at = nullptr;  // address of the scale if only the device stores it, else null

  static constexpr bool none = false;
  HalfPorts from(std::size_t begin) const {
    HalfPorts later = *this;
    later.gradients += begin;
    later.values += begin;
    later.origin += static_cast<std::uint32_t>(begin);
    return later;
  }
  // Returns these ports with `scale` loaded from scale_at, if it is set. Call it where scale_at can be read.
  ALGOPERF_HD HalfPorts there() const {
    HalfPorts known = *this;
    if (scale_at != nullptr) known.scale = *scale_at;
    return known;
  }

  // Convert one element. load and store convert a vector that begins at element i, on the host.
  ALGOPERF_HD float widened(Half gradient) const { return scale * static_cast<float>(gradient); }
  ALGOPERF_HD Half narrowed(float x, std::size_t i) const {
    if constexpr (std::is_same_v<Half, bfloat16>)
      if (rounding == Rounding::stochastic) return narrowed_by_chance(x, origin + static_cast<std::uint32_t>(i), key);
    return Half(x);
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

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
