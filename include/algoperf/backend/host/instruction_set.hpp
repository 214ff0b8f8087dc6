// The vector instructions for which a file is compiled, and those that the processor supports.
#pragma once

#include "../../core/config.hpp"

namespace algoperf {

// The levels that make a difference to kernels and products; those of x86 ascend. `other` stands for every processor
// that is neither x86 nor ARM, and for host code in .cu files.
enum class InstructionSet { other, neon, sse2, avx, avx2, avx512 };

constexpr const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::neon:
      return "NEON";
    case InstructionSet::sse2:
      return "SSE2";
    case InstructionSet::avx:
      return "AVX";
    case InstructionSet::avx2:
      return "AVX2";
    case InstructionSet::avx512:
      return "AVX-512";
    default:
      return "no particular instruction set";
  }
}

// ALGOPERF_COMPILED_FOR is the level for which the file that uses this macro is compiled. It is a macro, because the
// linker keeps only one copy of an inline function, even if files are compiled with different flags.
//
// ALGOPERF_SIMD names the inline namespace of everything whose layout or arithmetic depends on the width of a SIMD
// vector. Files that are compiled for different levels can therefore be linked into one program: the linker never
// replaces such a function of one file by that of another.
#if ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::other
#define ALGOPERF_SIMD one_lane
#elif defined(__AVX512F__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx512
#define ALGOPERF_SIMD avx512
#elif defined(__AVX2__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx2
#define ALGOPERF_SIMD avx2
#elif defined(__AVX__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx
#define ALGOPERF_SIMD avx
#elif defined(__SSE2__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::sse2
#define ALGOPERF_SIMD sse2
#elif defined(__ARM_NEON)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::neon
#define ALGOPERF_SIMD neon
#else
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::other
#define ALGOPERF_SIMD other
#endif

// Returns the highest level that this processor and its operating system support. AVX2 includes FMA. AVX-512 includes
// the extensions that options_of_avx512 in cmake/gemm.cmake enables; keep both lists equal.
inline InstructionSet supported_instruction_set() {
#if defined(__x86_64__)
  const auto has_all = [](auto... has) { return (has && ...); };
  if (!has_all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma")))
    return __builtin_cpu_supports("avx") ? InstructionSet::avx : InstructionSet::sse2;
  return has_all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"),
                 __builtin_cpu_supports("avx512cd"), __builtin_cpu_supports("avx512dq"),
                 __builtin_cpu_supports("avx512vl"))
             ? InstructionSet::avx512
             : InstructionSet::avx2;
#elif defined(__ARM_NEON)
  return InstructionSet::neon;
#else
  return InstructionSet::other;
#endif
}

}  // namespace algoperf
