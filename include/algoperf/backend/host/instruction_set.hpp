// The vector instructions that a file is compiled for, and those that the processor has.
#pragma once

#include "../../core/config.hpp"

namespace algoperf {

// The levels that make a difference to kernels and products. `other`: none of those below.
enum class InstructionSet { other, neon, sse2, avx, avx2, avx512 };

constexpr const char* name(InstructionSet set) {
  constexpr const char* names[] = {"no vectors", "NEON", "SSE2", "AVX", "AVX2", "AVX-512"};
  return names[static_cast<int>(set)];
}

// The level for which the file that uses this macro is compiled. It is not a function, because the linker would keep
// one copy of that for files that are compiled differently.
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx2
#elif defined(__AVX__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::avx
#elif defined(__SSE2__)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::sse2
#elif defined(__ARM_NEON)
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::neon
#else
#define ALGOPERF_COMPILED_FOR ::algoperf::InstructionSet::other
#endif

// Returns the highest level that this processor and its operating system support.
inline InstructionSet supported_instruction_set() {
#if defined(__x86_64__) || defined(__i386__)
  const auto has_all = [](auto... has) { return (has && ...); };
  if (!has_all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma")))
    return __builtin_cpu_supports("avx") ? InstructionSet::avx : InstructionSet::sse2;
  // What options_of_avx512 in cmake/gemm.cmake permit the compiler to use.
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
