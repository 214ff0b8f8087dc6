#include "dispatch.hpp"

#include <cstdlib>
#include <string>

#include "algoperf/core/error.hpp"

namespace algoperf {
namespace {

InstructionSet choose() {
  const char* const variable = std::getenv("ALGOPERF_INSTRUCTION_SET");
  const std::string wanted = variable == nullptr ? "" : variable;
  const InstructionSet supported = supported_instruction_set();
  if (wanted.empty()) return supported == InstructionSet::avx ? InstructionSet::sse2 : supported;
  require(wanted == "sse2" || wanted == "avx2" || wanted == "avx512",
          "the environment variable ALGOPERF_INSTRUCTION_SET is ", wanted, ", expected sse2, avx2 or avx512");
  const InstructionSet named = wanted == "sse2"   ? InstructionSet::sse2
                               : wanted == "avx2" ? InstructionSet::avx2
                                                  : InstructionSet::avx512;
  require(named <= supported, "the environment variable ALGOPERF_INSTRUCTION_SET is ", wanted,
          ", which this processor does not support");
  return named;
}

}  // namespace

InstructionSet dispatched_instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

}  // namespace algoperf
