// Products of floats in bfloat16, if the processor has instructions for them, whatever the flags of this file.
#include "algoperf/backend/products/gemm_bfloat16.hpp"

#if defined(__x86_64__)

#include "algoperf/backend/host/instruction_set.hpp"
#include "algoperf/backend/products/tiles/bfloat16.hpp"
#if defined(ALGOPERF_DISPATCH)
#include "dispatch.hpp"
#endif

bool algoperf::multiplies_bfloat16() {
#if defined(ALGOPERF_DISPATCH)
  static const InstructionSet highest = dispatched_instruction_set();  // which the user may limit
#else
  static const InstructionSet highest = supported_instruction_set();
#endif
  return highest == InstructionSet::avx512 && __builtin_cpu_supports("avx512bf16");
}

void algoperf::gemm_bfloat16(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_row,
                             std::size_t a_column, const float* b, std::size_t b_row, std::size_t b_column, float* c,
                             std::size_t ldc, bool accumulate) {
  detail::tiled::multiply_bfloat16(m, n, k, a, a_row, a_column, b, b_row, b_column, c, ldc, accumulate);
}

#else

bool algoperf::multiplies_bfloat16() { return false; }
void algoperf::gemm_bfloat16(std::size_t, std::size_t, std::size_t, const float*, std::size_t, std::size_t,
                             const float*, std::size_t, std::size_t, float*, std::size_t, bool) {
  __builtin_trap();  // see multiplies_bfloat16
}

#endif
