// Update rules written by hand with intrinsics, one loop per pass: the baseline of the benchmarks. The instruction
// set is chosen as in backend/host/vector.hpp. Arrays must be aligned and consist of whole vectors.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#define BENCH_INLINE static inline __attribute__((always_inline))

namespace handwritten {

// A common name for each intrinsic.
#if defined(__AVX512F__)
using Register = __m512;
inline constexpr const char* instructions = "AVX-512";
BENCH_INLINE Register load(const float* x) { return _mm512_load_ps(x); }
BENCH_INLINE void store(float* x, Register a) { _mm512_store_ps(x, a); }
BENCH_INLINE Register set(float x) { return _mm512_set1_ps(x); }
BENCH_INLINE Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
BENCH_INLINE Register mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
BENCH_INLINE Register div(Register a, Register b) { return _mm512_div_ps(a, b); }
BENCH_INLINE Register root(Register a) { return _mm512_sqrt_ps(a); }
BENCH_INLINE Register fma(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
BENCH_INLINE Register negative_fma(Register a, Register b, Register c) { return _mm512_fnmadd_ps(a, b, c); }
BENCH_INLINE Register sign(Register a) {
  const Register zero = _mm512_setzero_ps();
  const Register above = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, zero, _CMP_GT_OQ), set(1));
  return _mm512_mask_mov_ps(above, _mm512_cmp_ps_mask(a, zero, _CMP_LT_OQ), set(-1));
}
#elif defined(__AVX__)
using Register = __m256;
inline constexpr const char* instructions = "AVX";
BENCH_INLINE Register load(const float* x) { return _mm256_load_ps(x); }
BENCH_INLINE void store(float* x, Register a) { _mm256_store_ps(x, a); }
BENCH_INLINE Register set(float x) { return _mm256_set1_ps(x); }
BENCH_INLINE Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
BENCH_INLINE Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
BENCH_INLINE Register div(Register a, Register b) { return _mm256_div_ps(a, b); }
BENCH_INLINE Register root(Register a) { return _mm256_sqrt_ps(a); }
#if defined(__FMA__)
BENCH_INLINE Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
BENCH_INLINE Register negative_fma(Register a, Register b, Register c) { return _mm256_fnmadd_ps(a, b, c); }
#else
BENCH_INLINE Register fma(Register a, Register b, Register c) { return add(mul(a, b), c); }
BENCH_INLINE Register negative_fma(Register a, Register b, Register c) { return _mm256_sub_ps(c, mul(a, b)); }
#endif
BENCH_INLINE Register sign(Register a) {
  const Register zero = _mm256_setzero_ps();
  return _mm256_or_ps(_mm256_and_ps(_mm256_cmp_ps(a, zero, _CMP_GT_OQ), set(1)),
                      _mm256_and_ps(_mm256_cmp_ps(a, zero, _CMP_LT_OQ), set(-1)));
}
#else
using Register = __m128;
inline constexpr const char* instructions = "SSE2";
BENCH_INLINE Register load(const float* x) { return _mm_load_ps(x); }
BENCH_INLINE void store(float* x, Register a) { _mm_store_ps(x, a); }
BENCH_INLINE Register set(float x) { return _mm_set1_ps(x); }
BENCH_INLINE Register add(Register a, Register b) { return _mm_add_ps(a, b); }
BENCH_INLINE Register mul(Register a, Register b) { return _mm_mul_ps(a, b); }
BENCH_INLINE Register div(Register a, Register b) { return _mm_div_ps(a, b); }
BENCH_INLINE Register root(Register a) { return _mm_sqrt_ps(a); }
BENCH_INLINE Register fma(Register a, Register b, Register c) { return add(mul(a, b), c); }
BENCH_INLINE Register negative_fma(Register a, Register b, Register c) { return _mm_sub_ps(c, mul(a, b)); }
BENCH_INLINE Register sign(Register a) {
  const Register zero = _mm_setzero_ps();
  return _mm_or_ps(_mm_and_ps(_mm_cmpgt_ps(a, zero), set(1)), _mm_and_ps(_mm_cmplt_ps(a, zero), set(-1)));
}
#endif

inline constexpr std::size_t width = sizeof(Register) / sizeof(float);

BENCH_INLINE double total(Register a) {
  alignas(64) float lanes[width];
  store(lanes, a);
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

struct AdamW {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
};

// p' = (1 - lr wd) p - lr mh / (sqrt(vh) + eps), with folded bias corrections. 28 bytes per parameter.
__attribute__((noinline)) inline void adamw(const AdamW& o, std::uint64_t t, std::size_t n, const float* g, float* p,
                                            float* m, float* v) {
  const double c1 = 1 - std::pow(o.beta1, static_cast<double>(t));
  const double c2 = std::sqrt(1 - std::pow(o.beta2, static_cast<double>(t)));
  const Register beta1 = set(static_cast<float>(o.beta1)), rest1 = set(static_cast<float>(1 - o.beta1));
  const Register beta2 = set(static_cast<float>(o.beta2)), rest2 = set(static_cast<float>(1 - o.beta2));
  const Register eps = set(static_cast<float>(c2 * o.eps));
  const Register rate = set(static_cast<float>(o.learning_rate * c2 / c1));
  const Register keep = set(static_cast<float>(1 - o.learning_rate * o.weight_decay));
  for (std::size_t i = 0; i < n; i += width) {
    const Register gi = load(g + i);
    const Register mi = fma(beta1, load(m + i), mul(rest1, gi));
    const Register vi = fma(beta2, load(v + i), mul(rest2, mul(gi, gi)));
    store(m + i, mi);
    store(v + i, vi);
    store(p + i, negative_fma(rate, div(mi, add(root(vi), eps)), mul(keep, load(p + i))));
  }
}

// The same rule with the stages of a chain in sequence and nothing folded across stages: two operations more.
__attribute__((noinline)) inline void adamw_in_stages(const AdamW& o, std::uint64_t t, std::size_t n, const float* g,
                                                      float* p, float* m, float* v) {
  const double c1 = 1 - std::pow(o.beta1, static_cast<double>(t));
  const double c2 = std::sqrt(1 - std::pow(o.beta2, static_cast<double>(t)));
  const Register beta1 = set(static_cast<float>(o.beta1)), rest1 = set(static_cast<float>(1 - o.beta1));
  const Register beta2 = set(static_cast<float>(o.beta2)), rest2 = set(static_cast<float>(1 - o.beta2));
  const Register eps = set(static_cast<float>(c2 * o.eps)), scale = set(static_cast<float>(c2 / c1));
  const Register decay = set(static_cast<float>(o.weight_decay)), rate = set(static_cast<float>(o.learning_rate));
  for (std::size_t i = 0; i < n; i += width) {
    const Register gi = load(g + i), pi = load(p + i);
    const Register mi = fma(beta1, load(m + i), mul(rest1, gi));
    const Register vi = fma(beta2, load(v + i), mul(rest2, mul(gi, gi)));
    store(m + i, mi);
    store(v + i, vi);
    store(p + i, negative_fma(rate, fma(decay, pi, div(mul(scale, mi), add(root(vi), eps))), pi));
  }
}

struct Lion {
  double learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0.01;
};

// p' = (1 - lr wd) p - lr sign(b1 m + (1 - b1) g); m' = b2 m + (1 - b2) g. 20 bytes per parameter.
__attribute__((noinline)) inline void lion(const Lion& o, std::size_t n, const float* g, float* p, float* m) {
  const Register beta1 = set(static_cast<float>(o.beta1)), rest1 = set(static_cast<float>(1 - o.beta1));
  const Register beta2 = set(static_cast<float>(o.beta2)), rest2 = set(static_cast<float>(1 - o.beta2));
  const Register rate = set(static_cast<float>(o.learning_rate));
  const Register keep = set(static_cast<float>(1 - o.learning_rate * o.weight_decay));
  for (std::size_t i = 0; i < n; i += width) {
    const Register gi = load(g + i), mi = load(m + i);
    const Register direction = sign(fma(beta1, mi, mul(rest1, gi)));
    store(m + i, fma(beta2, mi, mul(rest2, gi)));
    store(p + i, negative_fma(rate, direction, mul(keep, load(p + i))));
  }
}

// LAMB on one tensor in two passes: 28 + 12 bytes per parameter. The update replaces the gradient. Norms are summed
// in float within 8192 elements and in double beyond.
__attribute__((noinline)) inline void lamb(const AdamW& o, std::uint64_t t, std::size_t n, float* g, float* p, float* m,
                                           float* v) {
  constexpr std::size_t chunk = 8192;
  const double c1 = 1 - std::pow(o.beta1, static_cast<double>(t));
  const double c2 = std::sqrt(1 - std::pow(o.beta2, static_cast<double>(t)));
  const Register beta1 = set(static_cast<float>(o.beta1)), rest1 = set(static_cast<float>(1 - o.beta1));
  const Register beta2 = set(static_cast<float>(o.beta2)), rest2 = set(static_cast<float>(1 - o.beta2));
  const Register eps = set(static_cast<float>(c2 * o.eps)), scale = set(static_cast<float>(c2 / c1));
  const Register decay = set(static_cast<float>(o.weight_decay));
  double p_square = 0, u_square = 0;
  for (std::size_t begin = 0; begin < n; begin += chunk) {
    Register p_part = set(0), u_part = set(0);
    for (std::size_t i = begin; i < n && i < begin + chunk; i += width) {
      const Register gi = load(g + i), pi = load(p + i);
      const Register mi = fma(beta1, load(m + i), mul(rest1, gi));
      const Register vi = fma(beta2, load(v + i), mul(rest2, mul(gi, gi)));
      const Register ui = fma(decay, pi, div(mul(scale, mi), add(root(vi), eps)));
      store(m + i, mi);
      store(v + i, vi);
      store(g + i, ui);
      p_part = fma(pi, pi, p_part);
      u_part = fma(ui, ui, u_part);
    }
    p_square += total(p_part);
    u_square += total(u_part);
  }
  const double trust = p_square > 0 && u_square > 0 ? std::sqrt(p_square / u_square) : 1;
  const Register rate = set(static_cast<float>(o.learning_rate * trust));
  for (std::size_t i = 0; i < n; i += width) store(p + i, negative_fma(rate, load(g + i), load(p + i)));
}

// The memory traffic of a pass with almost no arithmetic: reads `Reads` arrays and updates `InPlace` arrays in place,
// with one addition or FMA per array. The values of the in-place arrays change by the last bit at most.
template <std::size_t Reads, std::size_t InPlace>
__attribute__((noinline)) void pass(std::size_t n, const float* const* reads, float* const* in_place) {
  [&]<std::size_t... R, std::size_t... W>(std::index_sequence<R...>, std::index_sequence<W...>) {
    const float* const from[] = {reads[R]..., nullptr};
    float* const at[] = {in_place[W]..., nullptr};
    const Register tiny = set(1e-30f);
    if constexpr (InPlace > 0) {
      for (std::size_t i = 0; i < n; i += width) {
        Register read = tiny;
        ((read = R == 0 ? load(from[R] + i) : add(read, load(from[R] + i))), ...);
        (store(at[W] + i, fma(tiny, read, load(at[W] + i))), ...);
      }
    } else {
      Register sums[4] = {tiny, tiny, tiny, tiny};  // independent chains of additions
      const auto add_up = [&]([[maybe_unused]] std::size_t i, Register& sum) {
        ((sum = add(sum, load(from[R] + i))), ...);
      };
      std::size_t i = 0;
      for (; i + 4 * width <= n; i += 4 * width) {
        add_up(i, sums[0]);
        add_up(i + width, sums[1]);
        add_up(i + 2 * width, sums[2]);
        add_up(i + 3 * width, sums[3]);
      }
      for (; i < n; i += width) add_up(i, sums[0]);
      for (const Register& sum : sums) __asm__ volatile("" : : "x"(sum));  // prevents elimination of the reads
    }
  }
  (std::make_index_sequence<Reads>{}, std::make_index_sequence<InPlace>{});
}

__attribute__((noinline)) inline void copy(std::size_t n, const float* from, float* to) {
  for (std::size_t i = 0; i < n; i += width) store(to + i, load(from + i));
}

// The memory traffic of a one-pass rule with `Slots` slots: reads g, p and the slots, and writes p and the slots.
template <std::size_t Slots>
void stream(std::size_t n, const float* g, float* p, float* const (&slots)[Slots]) {
  const float* const reads[] = {g};
  float* in_place[Slots + 1] = {p};
  for (std::size_t j = 0; j < Slots; ++j) in_place[j + 1] = slots[j];
  pass<1, Slots + 1>(n, reads, in_place);
}

}  // namespace handwritten
