// Finds the kernels that the library algoperf::gemm contains: with ALGOPERF_DISPATCH, the sweeps of common update rules
// and the maps of common layers for several instruction sets (kernel_table.cpp); otherwise none.
#include <string>

#include "algoperf/backend/host/instruction_set.hpp"
#include "algoperf/backend/host/kernel_call.hpp"
#include "algoperf/backend/products/gemm.hpp"

#if defined(ALGOPERF_DISPATCH)

#include "algoperf/backend/host/compiled_kernels.hpp"
#include "common_maps.hpp"
#include "common_sweeps.hpp"
#include "dispatch.hpp"
#include "kernel_tables.hpp"

namespace algoperf::detail {
namespace {

// The keys of all kernels with arguments Call, in the order of their table, and that part of a Table.
template <class Call>
struct Common;
template <class S>
struct Common<SweepCall<S>> {
  static auto keys() {
    return for_common_sweeps<S, const std::type_info*>(
        []<Then then, class Kernel, class Stage>() { return &typeid(SweepKey<then, S, Kernel, Stage>); });
  }
  static const auto& of(const kernels::Table& table) {
    if constexpr (std::is_same_v<S, float>)
      return table.float_sweeps;
    else
      return table.double_sweeps;
  }
};
template <class S>
struct Common<MapCall<S>> {
  static auto keys() {
    return for_common_maps<const std::type_info*>(
        []<class Kernel, std::size_t inputs>() { return &typeid(MapKey<S, Kernel, inputs>); });
  }
  static const auto& of(const kernels::Table& table) {
    if constexpr (std::is_same_v<S, float>)
      return table.float_maps;
    else
      return table.double_maps;
  }
};

}  // namespace

template <class Call>
CompiledKernel<Call> find_compiled_kernel(const std::type_info& key, InstructionSet level) {
  const InstructionSet chosen = dispatched_instruction_set();
  if (chosen <= level || chosen == InstructionSet::sse2) return nullptr;
  const auto& common = Common<Call>::of(chosen == InstructionSet::avx512 ? kernels::avx512 : kernels::avx2);
  static const auto keys = Common<Call>::keys();
  require(keys.size() == common.count, "algoperf::gemm was compiled from different versions of the library");
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (*keys[i] == key) return common.first[i];
  return nullptr;
}

}  // namespace algoperf::detail

const char* algoperf::gemm_kernels() {
  static const std::string text = std::string("decompositions, common update rules and activations: for ") +
                                  instruction_set_name(dispatched_instruction_set()) + ", chosen at run time";
  return text.c_str();
}

#else

template <class Call>
algoperf::detail::CompiledKernel<Call> algoperf::detail::find_compiled_kernel(const std::type_info&, InstructionSet) {
  return nullptr;
}

const char* algoperf::gemm_kernels() {
  static const std::string text = std::string("decompositions: for ") + instruction_set_name(ALGOPERF_COMPILED_FOR);
  return text.c_str();
}

#endif

#define ALGOPERF_INSTANTIATE_KERNELS(Call)                          \
  template algoperf::detail::CompiledKernel<algoperf::detail::Call> \
  algoperf::detail::find_compiled_kernel<algoperf::detail::Call>(const std::type_info&, algoperf::InstructionSet)
ALGOPERF_INSTANTIATE_KERNELS(SweepCall<float>);
ALGOPERF_INSTANTIATE_KERNELS(SweepCall<double>);
ALGOPERF_INSTANTIATE_KERNELS(MapCall<float>);
ALGOPERF_INSTANTIATE_KERNELS(MapCall<double>);
