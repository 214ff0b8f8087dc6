// The sweeps of common update rules, the maps of common layers and sums of columns, for one instruction set.
#include "kernel_tables.hpp"
#include "renamed.hpp"

namespace tables = algoperf::kernels;
namespace ALGOPERF_RENAMED::detail {
using algoperf::detail::ColumnSumsCall;
using algoperf::detail::CompiledKernel;
using algoperf::detail::MapCall;
using algoperf::detail::SweepCall;
}  // namespace ALGOPERF_RENAMED::detail

#define algoperf ALGOPERF_RENAMED
#include <type_traits>
#include <utility>

#include "algoperf/backend/host/column_sums.hpp"
#include "algoperf/backend/host/sweep.hpp"
#include "algoperf/backend/serial_team.hpp"
#include "common_maps.hpp"
#include "common_sweeps.hpp"

namespace algoperf::detail {
namespace {

template <class S, Then then, class Kernel, class Stage>
void call_sweep(const SweepCall<S>& call) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  const Kernel& kernel = *static_cast<const Kernel*>(call.kernel);
  const Sweep<S> at{call.u, call.p, call.slots, call.stride};
  if constexpr (std::is_void_v<Stage>)
    sweep<then>(kernel, at, call.begin, call.end);
  else
    sweep_chunk<then, sums_of<Stage>()>(kernel, *static_cast<const Stage*>(call.stage), at, call.begin, call.end,
                                        call.sums);
}

template <class S, class Kernel, std::size_t inputs>
void call_map(const MapCall<S>& call) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    map_range(*static_cast<const Kernel*>(call.kernel), call.n, call.x, call.inputs[I]...);
  }
  (std::make_index_sequence<inputs>{});
}

template <class S>
constexpr auto sweeps = for_common_sweeps<S, CompiledKernel<SweepCall<S>>>([]<Then then, class Kernel, class Stage>() {
  return &call_sweep<S, then, Kernel, Stage>;
});
template <class S>
constexpr auto maps = for_common_maps([]<class Kernel, std::size_t inputs>() { return &call_map<S, Kernel, inputs>; });

template <class S>
void call_column_sums(const ColumnSumsCall<S>& call) {
  add_column_sums<S>(ElementTerms<Itself, S, S>{{}, call.x}, call.rows, call.cols, call.begin, call.end, {call.out});
}
template <class S>
constexpr CompiledKernel<ColumnSumsCall<S>> column_sums_kernel = &call_column_sums<S>;

}  // namespace
}  // namespace algoperf::detail

constinit const tables::Table tables::ALGOPERF_INSTRUCTION_SET{
    {algoperf::detail::sweeps<float>.data(), algoperf::detail::sweeps<float>.size()},
    {algoperf::detail::sweeps<double>.data(), algoperf::detail::sweeps<double>.size()},
    {algoperf::detail::maps<float>.data(), algoperf::detail::maps<float>.size()},
    {algoperf::detail::maps<double>.data(), algoperf::detail::maps<double>.size()},
    {&algoperf::detail::column_sums_kernel<float>, 1},
    {&algoperf::detail::column_sums_kernel<double>, 1}};
