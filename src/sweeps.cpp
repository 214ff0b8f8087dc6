// Finds the sweeps that the library algoperf::gemm contains: with ALGOPERF_DISPATCH, those of common update rules for
// several instruction sets (sweep_table.cpp); otherwise none.
#include "algoperf/backend/host/sweep_call.hpp"

#include <string>

#include "algoperf/backend/products/gemm.hpp"

#if defined(ALGOPERF_DISPATCH)

#include <algorithm>

#include "algoperf/backend/host/compiled_sweeps.hpp"
#include "common_sweeps.hpp"
#include "dispatch.hpp"
#include "sweep_tables.hpp"

namespace algoperf::detail {

template <class S>
CompiledSweep<S> find_compiled_sweep(const std::type_info& key, InstructionSet level) {
  const InstructionSet chosen = dispatched_instruction_set();
  if (chosen <= level || chosen == InstructionSet::sse2) return nullptr;
  const sweeps::Table& table = chosen == InstructionSet::avx512 ? sweeps::avx512 : sweeps::avx2;
  static const auto keys = for_common_sweeps<S, const std::type_info*>(
      []<Then then, class Kernel, class Stage>() { return &typeid(SweepKey<then, S, Kernel, Stage>); });
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const std::type_info* each) { return *each == key; });
  if (found == keys.end()) return nullptr;
  const auto place = static_cast<std::size_t>(found - keys.begin());
  if constexpr (std::is_same_v<S, float>)
    return table.of_float.sweeps[place];
  else
    return table.of_double.sweeps[place];
}

}  // namespace algoperf::detail

const char* algoperf::gemm_kernels() {
  static const std::string text = std::string("decompositions, common update rules: for ") +
                                  instruction_set_name(dispatched_instruction_set()) + ", chosen at run time";
  return text.c_str();
}

#else

template <class S>
algoperf::detail::CompiledSweep<S> algoperf::detail::find_compiled_sweep(const std::type_info&, InstructionSet) {
  return nullptr;
}

const char* algoperf::gemm_kernels() {
  static const std::string text = std::string("decompositions: for ") + instruction_set_name(ALGOPERF_COMPILED_FOR);
  return text.c_str();
}

#endif

template algoperf::detail::CompiledSweep<float> algoperf::detail::find_compiled_sweep<float>(const std::type_info&,
                                                                                             InstructionSet);
template algoperf::detail::CompiledSweep<double> algoperf::detail::find_compiled_sweep<double>(const std::type_info&,
                                                                                               InstructionSet);
