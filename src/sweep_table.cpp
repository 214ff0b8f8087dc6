// The sweeps of common update rules, for one instruction set.
#include "renamed.hpp"
#include "sweep_tables.hpp"

namespace tables = algoperf::sweeps;
namespace ALGOPERF_RENAMED::detail {
using algoperf::detail::CompiledSweep;
using algoperf::detail::SweepCall;
}  // namespace ALGOPERF_RENAMED::detail

#define algoperf ALGOPERF_RENAMED
#include "algoperf/backend/host/sweep.hpp"
#include "common_sweeps.hpp"

namespace algoperf::detail {
namespace {

template <class S, Then then, class Kernel, class Stage>
void call(const SweepCall<S>& call) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  const Kernel& kernel = *static_cast<const Kernel*>(call.kernel);
  const Sweep<S> at{call.u, call.p, call.slots, call.stride};
  if constexpr (std::is_void_v<Stage>)
    sweep<then>(kernel, at, call.begin, call.end);
  else
    sweep_chunk<then, sums_of<Stage>()>(kernel, *static_cast<const Stage*>(call.stage), at, call.begin, call.end,
                                        call.sums);
}

template <class S>
constexpr auto functions = for_common_sweeps<S, CompiledSweep<S>>([]<Then then, class Kernel, class Stage>() {
  return &call<S, then, Kernel, Stage>;
});

template <class S>
constexpr tables::Functions<S> table{functions<S>.data(), functions<S>.size()};

}  // namespace
}  // namespace algoperf::detail

constinit const tables::Table tables::ALGOPERF_INSTRUCTION_SET{algoperf::detail::table<float>,
                                                               algoperf::detail::table<double>};
