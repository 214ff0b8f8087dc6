// CudaPasses: the execution of a chain's passes by the CUDA backend. A pass over all tensors of a region is one
// launch, with one block per chunk of at most 8192 elements and memory accesses of 16 bytes. Sums stay on the device:
// each block writes the sums of its chunk, a second launch adds the chunks of each tensor in a fixed order, and the
// blocks of the next pass build its kernel from these sums. LAMB therefore takes three launches and 40 bytes per
// parameter for any number of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../core/tuple.hpp"
#include "../work.hpp"
#include "device.cuh"
#include "each.cuh"
#include "region.cuh"
#include "sweep.cuh"
#include "team.cuh"

namespace algoperf::detail {

// The data of one pass over one region.
template <class S, class Ports, class Guard>
struct CudaPass {
  Sweep<S, Ports> at;
  const CudaTensor<S>* tensors;
  const CudaChunk* chunks;
  const double* opening;  // the kernel of tensor i is built from the sums at opening + i * stride
  std::size_t stride;
  double* partials;  // the sums of each chunk
  bool packed;       // whether all arrays are aligned for accesses of whole packs
  Guard guard;
};

// A program is passed as a kernel argument, or by pointer if the device has constructed it.
template <class Program>
__device__ __forceinline__ const Program& cuda_program(const Program& program) {
  return program;
}
template <class Program>
__device__ __forceinline__ const Program& cuda_program(const Program* program) {
  return *program;
}

// Constructs the program of step *t on the device.
template <class Program>
__global__ void cuda_make_program(const typename Program::Plan plan, double learning_rate, const std::uint64_t* t,
                                  Program* program) {
  const Program made(plan, {*t, learning_rate});
  memcpy(static_cast<void*>(program), &made, sizeof made);
}

// Runs pass I of a program on chunk blockIdx.x. Source is the Program or a pointer to it.
template <std::size_t I, bool opened, bool measuring, class Program, class Source, class Ports, class Guard>
__global__ void __launch_bounds__(cuda_block)
    cuda_run_pass(const Source source, const CudaPass<typename Program::Scalar, Ports, Guard> pass) {
  using S = typename Program::Scalar;
  constexpr PassShape shape = Program::list.passes[I];
  if (pass.guard.closes()) return;
  const Program& program = cuda_program(source);
  Sweep<S, Ports> at = pass.at;
  if constexpr (!Ports::none) at.ports = at.ports.there();
  constexpr Then then = then_of(shape);
  constexpr bool factored = shape.factored;
  constexpr std::size_t W = cuda_width<S>, sums = measuring ? Program::sum_count(I) : 0;
  const CudaChunk mine = pass.chunks[blockIdx.x];
  const TensorWork<S> tensor = pass.tensors[mine.tensor].work;
  using Kernel = decltype(program.template fused<I>(nullptr, TensorFacts{}));
  alignas(16) __shared__ unsigned char shared[sizeof(Kernel)];
  if constexpr (opened) {  // once per block, because the constants need square roots and divisions in double
    if (threadIdx.x == 0) {
      const Kernel made = program.template fused<I>(pass.opening + mine.tensor * pass.stride, tensor.facts);
      memcpy(shared, &made, sizeof made);
    }
    __syncthreads();
  }
  const auto kernel = [&] {
    if constexpr (opened)
      return *reinterpret_cast<const Kernel*>(shared);
    else
      return program.template fused<I>(nullptr, TensorFacts{});
  }();
  S totals[sums + 1] = {};
  const auto see = [&](S u, S p) {
    if constexpr (measuring) {
      const auto terms = program.template measure<I>(u, p);
      for (std::size_t m = 0; m < sums; ++m) totals[m] += terms[m];
    }
  };
  const std::size_t end = mine.begin + mine.size;
  std::size_t begin = mine.begin;
  if (pass.packed && begin % W == 0) {
    const std::size_t packs = mine.size / W;
    for (std::size_t k = threadIdx.x; k < packs; k += cuda_block)
      cuda_sweep_pack<W, then, factored>(kernel, at, tensor, begin + k * W, see);
    begin += packs * W;
  }
  for (std::size_t i = begin + threadIdx.x; i < end; i += cuda_block)
    cuda_sweep_pack<1, then, factored>(kernel, at, tensor, i, see);
  if constexpr (measuring)
    for (std::size_t m = 0; m < sums; ++m) {
      const double total = cuda_over_block(static_cast<double>(totals[m]), Plus{});
      if (threadIdx.x == 0) pass.partials[std::size_t{blockIdx.x} * sums + m] = total;
    }
}

// Adds the sums of the chunks of tensor blockIdx.x in a fixed order.
template <class S>
__global__ void cuda_run_tensor_sums(std::size_t n, std::size_t stride, const CudaTensor<S>* tensors,
                                     const double* partials, double* sums) {
  const CudaTensor<S> tensor = tensors[blockIdx.x];
  for (std::size_t m = 0; m < n; ++m) {
    double total = 0;
    for (std::size_t i = threadIdx.x; i < tensor.chunks; i += blockDim.x)
      total += partials[(tensor.first_chunk + i) * n + m];
    total = cuda_over_block(total, Plus{});
    if (threadIdx.x == 0) sums[blockIdx.x * stride + m] = total;
  }
}

// Writes the sum over all tensors to `totals`, or adds it if `add` is true.
template <class T>
__global__ void cuda_run_totals(std::size_t count, std::size_t n, std::size_t stride, const T* sums, bool add,
                                T* totals) {
  for (std::size_t m = 0; m < n; ++m) {
    T total = 0;
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) total += sums[i * stride + m];
    total = cuda_over_block(total, Plus{});
    if (threadIdx.x == 0) totals[m] = add ? totals[m] + total : total;
  }
}

template <class Work>
class CudaPasses {
  using Program = typename Work::Program;
  using S = typename Program::Scalar;
  using Guard = typename Work::Guard;
  static constexpr auto list = Program::list;
  static constexpr std::size_t max_sums = Program::max_sums;
  static_assert(std::is_trivially_copyable_v<Program>,
                "algoperf: stages and their kernels must be trivially copyable to run on a device");

 public:
  CudaPasses(Work& work, CudaDevice& device, CudaTables<S>& tables) : work_(work), device_(device), tables_(tables) {
    if (tables_.regions.size() != work_.regions()) tables_.regions = std::vector<CudaRegion<S>>(work_.regions());
    if (tables_.totals.size() == 0) tables_.totals = CudaArray<double>(2 * max_sums);
  }

  void run() {
    for_each_index<list.phase_count>(
        [&](auto phase) { run_phase<phase.value, list.phases[phase].first, list.phases[phase].last>(); });
  }

 private:
  // Returns the memory of the totals of phase `Phase`. The next phase reads them, region by region, while it computes
  // its own totals, so two buffers alternate.
  template <std::size_t Phase>
  double* totals_after() const {
    return tables_.totals.data() + Phase % 2 * max_sums;
  }

  template <std::size_t Phase, std::size_t First, std::size_t Last>
  void run_phase() {
    constexpr PassShape closing = list.passes[Last - 1];
    constexpr std::size_t n = Program::sum_count(Last - 1);
    for (std::size_t r = 0; r < work_.regions(); ++r) {
      CudaRegion<S>& table = tables_.regions[r];
      table.follow(device_, work_.region(r), max_sums);
      const auto plan = work_.plan(r);
      const Program program(plan, work_.step);
      if constexpr (Guard::counts) {
        Program* const made = table.template program<Program>(device_);
        if constexpr (First == 0)
          cuda_launch(device_, 1, 1, cuda_make_program<Program>, plan, work_.step.learning_rate, work_.guard.t, made);
        run_passes<First, First, Last>(static_cast<const Program*>(made), program, work_.region(r), table,
                                       totals_after<Phase + 1>());
      } else {
        run_passes<First, First, Last>(program, program, work_.region(r), table, totals_after<Phase + 1>());
      }
      if constexpr (closing.closing == Closing::measure_all) {
        cuda_launch(device_, 1, cuda_adders(table.count()), cuda_run_totals<double>, table.count(), n, max_sums,
                    table.sums().data(), r > 0, totals_after<Phase>());
      }
      if constexpr (closing.closing == Closing::transform) work_.template transform<closing.stage>(r);
    }
    if constexpr (closing.closing == Closing::measure_all) tell<closing.stage>(totals_after<Phase>());
  }

  // Passes the sums over all tensors to the stage that measured them, if it stores anything derived from them.
  template <std::size_t Stage>
  void tell(const double* sums) {
    if constexpr (Work::template keeps_sums<Stage>) {
      double totals[max_sums] = {};
      device_.settle();
      cuda_check(cudaMemcpyAsync(totals, sums, sizeof totals, cudaMemcpyDeviceToHost, device_.stream()),
                 "reading sums");
      device_.synchronize();
      work_.template measured<Stage>(totals);
    }
  }

  // Runs passes I .. Last - 1 of a phase on one region. `source` holds the step's constants; `program` is used only
  // for decisions on the host. `before` points to the totals of the previous phase.
  template <std::size_t I, std::size_t First, std::size_t Last, class Source>
  void run_passes(const Source& source, const Program& program, const RegionWork<S>& region, CudaRegion<S>& table,
                  const double* before) {
    constexpr PassShape shape = list.passes[I];
    constexpr bool measuring = shape.closing == Closing::measure_tensor || shape.closing == Closing::measure_all;
    if constexpr (measuring) {
      if (program.template measures<I>()) {
        launch<I, First, true>(source, region, table, before);
        constexpr std::size_t n = Program::sum_count(I);
        cuda_launch(device_, static_cast<unsigned>(table.count()), cuda_adders(table.longest()),
                    cuda_run_tensor_sums<S>, n, max_sums, table.tensors(), table.partials(), table.sums().data());
      } else {
        if constexpr (then_of(shape) != Then::discard) launch<I, First, false>(source, region, table, before);
        cuda_each(device_, table.sums().size(), CudaFill<double>{table.sums().data(), 0});
      }
    } else if constexpr (!is_idle(shape)) {
      launch<I, First, false>(source, region, table, before);
    }
    if constexpr (I + 1 < Last) run_passes<I + 1, First, Last>(source, program, region, table, before);
  }

  template <std::size_t I, std::size_t First, bool measuring, class Source>
  void launch(const Source& source, const RegionWork<S>& region, CudaRegion<S>& table, const double* before) {
    constexpr PassShape shape = list.passes[I];
    constexpr bool of_tensor = I > First;  // the kernel is built from each tensor's sums, measured by the previous pass
    constexpr bool opened = of_tensor || (I > 0 && list.passes[I - (I > 0)].closing == Closing::measure_all);
    constexpr bool by_tensor = of_tensor || measuring || shape.factored;
    const CudaArray<CudaChunk>& chunks = by_tensor ? table.chunks() : table.whole();
    if (chunks.size() == 0) return;
    S* const slots = region.slots + Program::first_slot(I) * region.size;
    const auto ports = work_.ports.from(region.begin);
    using Ports = std::remove_const_t<decltype(ports)>;
    constexpr std::size_t W = cuda_width<S>;
    bool packed = cuda_aligned<W>(region.u, region.p, slots) && region.size % W == 0;
    if constexpr (!Ports::none) packed = packed && cuda_aligned<W>(ports.gradients, ports.values);
    const CudaPass<S, Ports, Guard> pass{{region.u, region.p, slots, region.size, ports},
                                         table.tensors(),
                                         chunks.data(),
                                         of_tensor ? table.sums().data() : before,
                                         of_tensor ? max_sums : 0,
                                         table.partials(),
                                         packed,
                                         work_.guard};
    cuda_launch(device_, static_cast<unsigned>(chunks.size()), cuda_block,
                cuda_run_pass<I, opened, measuring, Program, Source, Ports, Guard>, source, pass);
  }

  Work& work_;
  CudaDevice& device_;
  CudaTables<S>& tables_;
};

}  // namespace algoperf::detail
