// Finds the kernels that the library algoperf::gemm contains: with ALGOPERF_DISPATCH and run-time type information, the
// sweeps of common update rules, the maps of common layers and sums of columns for several instruction sets
// (kernel_table.cpp); otherwise none.
#include <array>
#include <string>
#include <type_traits>

#include "algoperf/backend/host/instruction_set.hpp"
#include "algoperf/backend/host/kernel_call.hpp"
#include "algoperf/backend/products/gemm.hpp"

#if defined(ALGOPERF_DISPATCH)
#include "dispatch.hpp"
#endif

#if defined(ALGOPERF_DISPATCH) && defined(__cpp_rtti)
#define ALGOPERF_CONTAINS_KERNELS 1
#else
#define ALGOPERF_CONTAINS_KERNELS 0
#endif

#if ALGOPERF_CONTAINS_KERNELS

#include "algoperf/backend/host/compiled_kernels.hpp"
#include "common_maps.hpp"
#include "common_sweeps.hpp"
#include "kernel_tables.hpp"

namespace algoperf::detail {
namespace {

// Returns the keys of all kernels that take a type of call, in the order of their table.
template <class S>
auto keys_of(std::type_identity<SweepCall<S>>) {
  return for_common_sweeps<S, const std::type_info*>(
      []<Then then, class Kernel, class Stage>() { return &typeid(SweepKey<then, S, Kernel, Stage>); });
}
template <class S>
auto keys_of(std::type_identity<MapCall<S>>) {
  return for_common_maps([]<class Kernel, std::size_t inputs>() { return &typeid(MapKey<S, Kernel, inputs>); });
}
template <class S>
auto keys_of(std::type_identity<ColumnSumsCall<S>>) {
  return std::array{&typeid(ColumnSumsKey<S>)};
}

}  // namespace

template <class Call>
CompiledKernel<Call> find_compiled_kernel(const std::type_info& key, InstructionSet level) {
  const InstructionSet chosen = dispatched_instruction_set();
  if (chosen <= level || chosen == InstructionSet::sse2) return nullptr;
  const kernels::Kernels<Call>& common = chosen == InstructionSet::avx512 ? kernels::avx512 : kernels::avx2;
  static const auto keys = keys_of(std::type_identity<Call>{});
  require(keys.size() == common.count, "algoperf::gemm was compiled from different versions of the library");
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (*keys[i] == key) return common.first[i];
  return nullptr;
}

}  // namespace algoperf::detail

#else

template <class Call>
algoperf::detail::CompiledKernel<Call> algoperf::detail::find_compiled_kernel(const std::type_info&, InstructionSet) {
  return nullptr;
}

#endif

const char* algoperf::gemm_kernels([[maybe_unused]] InstructionSet level) {
#if defined(ALGOPERF_DISPATCH)
  const InstructionSet chosen = dispatched_instruction_set();
  const std::string end = std::string(": for ") + instruction_set_name(chosen) + ", chosen at run time";
  static const std::string decompositions = "decompositions" + end;
  static const std::string all = "decompositions, common update rules and activations" + end;
  return ALGOPERF_CONTAINS_KERNELS && chosen > level ? all.c_str() : decompositions.c_str();
#else
  static const std::string text = std::string("decompositions: for ") + instruction_set_name(ALGOPERF_COMPILED_FOR);
  return text.c_str();
#endif
}

#define ALGOPERF_INSTANTIATE_KERNELS(Call)                          \
  template algoperf::detail::CompiledKernel<algoperf::detail::Call> \
  algoperf::detail::find_compiled_kernel<algoperf::detail::Call>(const std::type_info&, algoperf::InstructionSet)
ALGOPERF_INSTANTIATE_KERNELS(SweepCall<float>);
ALGOPERF_INSTANTIATE_KERNELS(SweepCall<double>);
ALGOPERF_INSTANTIATE_KERNELS(MapCall<float>);
ALGOPERF_INSTANTIATE_KERNELS(MapCall<double>);
ALGOPERF_INSTANTIATE_KERNELS(ColumnSumsCall<float>);
ALGOPERF_INSTANTIATE_KERNELS(ColumnSumsCall<double>);
