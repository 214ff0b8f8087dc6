// The choice of an instruction set at run time, in a library that is compiled for several.
#pragma once

#include "algoperf/backend/host/instruction_set.hpp"

namespace algoperf {

// Returns sse2, avx2 or avx512: the best for this processor, or that of the environment variable
// ALGOPERF_INSTRUCTION_SET unless it is empty. Throws Error if the variable is anything else, or if the processor does
// not support what it names.
InstructionSet dispatched_instruction_set();

// Returns the table for that instruction set.
template <class Table>
const Table& dispatched(const Table& sse2, const Table& avx2, const Table& avx512) {
  const InstructionSet set = dispatched_instruction_set();
  return set == InstructionSet::avx512 ? avx512 : set == InstructionSet::avx2 ? avx2 : sse2;
}

}  // namespace algoperf
