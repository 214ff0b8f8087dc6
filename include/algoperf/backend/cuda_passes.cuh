// How the CUDA backend walks a chain's passes: one launch a pass over all tensors of a region, a block a chunk of at
// most 8192 elements, in accesses of 16 bytes. Sums stay on the device: each block writes those of its chunk, a second
// launch adds the chunks of each tensor in order, and the blocks of the next pass make its kernel of them. So LAMB is
// three launches and 40 bytes a parameter, whatever the number of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../core/config.hpp"
#include "../core/math.hpp"
#include "../core/slots.hpp"
#include "../core/tuple.hpp"
#include "cuda_device.cuh"
#include "cuda_loops.cuh"
#include "cuda_team.cuh"
#include "work.hpp"

namespace algoperf::detail {

template <class S>
struct CudaTensor {
  TensorWork<S> work;
  std::size_t first_chunk = 0, chunks = 0;
};

// A stretch of one tensor, or of a whole region.
struct CudaChunk {
  std::size_t begin = 0;
  std::uint32_t tensor = 0, size = 0;
};

// What kernels must know of a region, in device memory: made when it is first walked, and again where its tensors have
// changed (a matrix stage may leave u in other factors).
template <class S>
class CudaRegion {
 public:
  void follow(const CudaDevice& device, const RegionWork<S>& region, std::size_t max_sums) {
    if (same_tensors(region)) return;
    known_ = region.tensors;
    longest_ = 0;
    std::vector<CudaTensor<S>> tensors;
    std::vector<CudaChunk> chunks, whole;
    for (const TensorWork<S>& work : known_) {
      CudaTensor<S>& tensor = tensors.emplace_back();
      tensor = {work, chunks.size(), chunks_of(work.facts.size)};
      longest_ = math::max(longest_, tensor.chunks);
      cut(work.offset, work.facts.size, tensors.size() - 1, chunks);
    }
    cut(0, region.size, 0, whole);
    write(device, tensors, tensors_);
    write(device, chunks, chunks_);
    write(device, whole, whole_);
    if (partials_.size() != chunks.size() * max_sums) partials_ = CudaArray<double>(chunks.size() * max_sums);
    if (sums_.size() != tensors.size() * max_sums) sums_ = CudaArray<double>(tensors.size() * max_sums);
  }

  std::size_t count() const { return tensors_.size(); }
  std::size_t longest() const { return longest_; }  // the most chunks of a tensor
  const CudaTensor<S>* tensors() const { return tensors_.data(); }
  const CudaArray<CudaChunk>& chunks() const { return chunks_; }  // tensor by tensor
  const CudaArray<CudaChunk>& whole() const { return whole_; }    // of the region, padding included
  double* partials() { return partials_.data(); }
  CudaArray<double>& sums() { return sums_; }

 private:
  bool same_tensors(const RegionWork<S>& region) const {
    if (tensors_.size() == 0 || region.tensors.size() != known_.size()) return false;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const TensorWork<S>&a = known_[i], &b = region.tensors[i];
      if (a.offset != b.offset || a.facts.size != b.facts.size || a.facts.cols != b.facts.cols ||
          a.factors.rows != b.factors.rows || a.factors.columns != b.factors.columns ||
          a.factors.most != b.factors.most)
        return false;
    }
    return true;
  }
  static void cut(std::size_t begin, std::size_t size, std::size_t tensor, std::vector<CudaChunk>& chunks) {
    for (std::size_t i = 0; i < size; i += chunk)
      chunks.push_back({begin + i, static_cast<std::uint32_t>(tensor),
                        static_cast<std::uint32_t>(size - i < chunk ? size - i : chunk)});
  }
  template <class T>
  static void write(const CudaDevice& device, const std::vector<T>& from, CudaArray<T>& to) {
    device.settle();
    if (to.size() != from.size()) to = CudaArray<T>(from.size());
    cuda_check(
        cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, device.stream()),
        "writing a table of tensors");
    device.synchronize();  // `from` does not live on
  }

  std::vector<TensorWork<S>> known_;
  std::size_t longest_ = 0;
  CudaArray<CudaTensor<S>> tensors_;
  CudaArray<CudaChunk> chunks_, whole_;
  CudaArray<double> partials_, sums_;
};

// The tables of a chain's regions. Copies start empty.
template <class S>
struct CudaTables {
  std::vector<CudaRegion<S>> regions;
  CudaArray<double> totals;

  CudaTables() = default;
  CudaTables(const CudaTables&) {}
  CudaTables& operator=(const CudaTables&) { return *this; }
};

// The data of one pass over one region.
template <class S>
struct CudaPass {
  Sweep<S> at;
  const CudaTensor<S>* tensors;
  const CudaChunk* chunks;
  const double* opening;  // the sums that open tensor i's kernel begin at opening + i * stride
  std::size_t stride;
  double* partials;            // of each chunk
  const std::int64_t* unless;  // not to run while this is not 0; or null
  bool packed;                 // whether all arrays take accesses of 16 bytes
};

// u of element i, counted from the region's beginning.
template <bool factored, class S>
__device__ __forceinline__ S cuda_read(S u, const TensorWork<S>& tensor, std::size_t i) {
  if constexpr (factored)
    if (tensor.factors.rows != nullptr) {
      const std::size_t at = i - tensor.offset;
      const S factor = tensor.factors.rows[at / tensor.facts.cols] * tensor.factors.columns[at % tensor.facts.cols];
      return u * math::min(tensor.factors.most, factor);
    }
  return u;
}

// Runs the kernel on W elements from i on, and applies the update or sees it with its parameter.
template <std::size_t W, Then then, bool factored, class S, class Kernel, class See>
__device__ __forceinline__ void cuda_sweep_pack(const Kernel& kernel, const Sweep<S>& at, const TensorWork<S>& tensor,
                                                std::size_t i, const See& see) {
  struct alignas(W * sizeof(S)) Pack {
    S values[W];
  };
  constexpr std::size_t n = Kernel::slots;
  Pack u = *reinterpret_cast<const Pack*>(at.u + i), p = *reinterpret_cast<const Pack*>(at.p + i), s[n + 1];
#pragma unroll
  for (std::size_t j = 0; j != n; ++j) s[j] = *reinterpret_cast<const Pack*>(at.slots + j * at.stride + i);
#pragma unroll
  for (std::size_t k = 0; k < W; ++k) {
    Slots<S, n> mine;
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) mine[j] = s[j].values[k];
    const S before = cuda_read<factored>(u.values[k], tensor, i + k);
    if constexpr (then == Then::apply) {
      p.values[k] = kernel.moved(before, p.values[k], mine);
    } else {
      u.values[k] = kernel(before, p.values[k], mine);
      see(u.values[k], p.values[k]);
    }
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) s[j].values[k] = mine[j];
  }
#pragma unroll
  for (std::size_t j = 0; j != n; ++j) *reinterpret_cast<Pack*>(at.slots + j * at.stride + i) = s[j];
  if constexpr (then == Then::apply) *reinterpret_cast<Pack*>(at.p + i) = p;
  if constexpr (then == Then::store) *reinterpret_cast<Pack*>(at.u + i) = u;
}

// Pass I of a program on chunk blockIdx.x.
template <std::size_t I, bool opened, bool measuring, class Program>
__global__ void __launch_bounds__(cuda_block)
    cuda_run_pass(const Program program, const CudaPass<typename Program::Scalar> pass) {
  using S = typename Program::Scalar;
  constexpr PassShape shape = Program::list.passes[I];
  if (pass.unless != nullptr && *pass.unless != 0) return;
  constexpr Then then = then_of(shape);
  constexpr bool factored = shape.factored;
  constexpr std::size_t W = CudaPack<S>::size, sums = measuring ? Program::sum_count(I) : 0;
  const CudaChunk mine = pass.chunks[blockIdx.x];
  const TensorWork<S> tensor = pass.tensors[mine.tensor].work;
  using Kernel = decltype(program.template fused<I>(nullptr, TensorFacts{}));
  alignas(16) __shared__ unsigned char shared[sizeof(Kernel)];
  if constexpr (opened) {  // its constants take roots and divisions in double: once a block
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
      cuda_sweep_pack<W, then, factored>(kernel, pass.at, tensor, begin + k * W, see);
    begin += packs * W;
  }
  for (std::size_t i = begin + threadIdx.x; i < end; i += cuda_block)
    cuda_sweep_pack<1, then, factored>(kernel, pass.at, tensor, i, see);
  if constexpr (measuring)
    for (std::size_t m = 0; m < sums; ++m) {
      const double total = cuda_over_block(static_cast<double>(totals[m]), CudaPlus{});
      if (threadIdx.x == 0) pass.partials[std::size_t{blockIdx.x} * sums + m] = total;
    }
}

// The chunks of tensor blockIdx.x, added in order.
template <class S>
__global__ void cuda_run_tensor_sums(std::size_t n, std::size_t stride, const CudaTensor<S>* tensors,
                                     const double* partials, double* sums) {
  const CudaTensor<S> tensor = tensors[blockIdx.x];
  for (std::size_t m = 0; m < n; ++m) {
    double total = 0;
    for (std::size_t i = threadIdx.x; i < tensor.chunks; i += blockDim.x)
      total += partials[(tensor.first_chunk + i) * n + m];
    total = cuda_over_block(total, CudaPlus{});
    if (threadIdx.x == 0) sums[blockIdx.x * stride + m] = total;
  }
}

// totals (+)= the sums of all tensors.
template <class T>
__global__ void cuda_run_totals(std::size_t count, std::size_t n, std::size_t stride, const T* sums, bool add,
                                T* totals) {
  for (std::size_t m = 0; m < n; ++m) {
    T total = 0;
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) total += sums[i * stride + m];
    total = cuda_over_block(total, CudaPlus{});
    if (threadIdx.x == 0) totals[m] = add ? totals[m] + total : total;
  }
}

template <class Work>
class CudaPasses {
  using Program = typename Work::Program;
  using S = typename Program::Scalar;
  static constexpr auto list = Program::list;
  static constexpr std::size_t max_sums = Program::max_sums;
  static_assert(std::is_trivially_copyable_v<Program>,
                "algoperf: stages and their kernels must be trivially copyable to go to a device");

 public:
  static_assert(std::remove_reference_t<decltype(std::declval<Work&>().ports)>::none,
                "algoperf: mixed_precision runs on the host only");
  CudaPasses(Work& work, CudaDevice& device, CudaTables<S>& tables) : work_(work), device_(device), tables_(tables) {
    if (tables_.regions.size() != work_.regions()) {
      tables_.regions = std::vector<CudaRegion<S>>(work_.regions());
      tables_.totals = CudaArray<double>(max_sums);
    }
  }

  void run() {
    for_each_index<list.phase_count>(
        [&](auto phase) { run_phase<list.phases[phase].first, list.phases[phase].last>(); });
  }

 private:
  template <std::size_t First, std::size_t Last>
  void run_phase() {
    constexpr PassShape closing = list.passes[Last - 1];
    constexpr std::size_t n = Program::sum_count(Last - 1);
    for (std::size_t r = 0; r < work_.regions(); ++r) {
      CudaRegion<S>& table = tables_.regions[r];
      table.follow(device_, work_.region(r), max_sums);
      run_passes<First, First, Last>(work_.program(r), work_.region(r), table);
      if constexpr (closing.closing == Closing::measure_all) {
        cuda_launch(device_, 1, cuda_adders(table.count()), cuda_run_totals<double>, table.count(), n, max_sums,
                    table.sums().data(), r > 0, tables_.totals.data());
      }
      if constexpr (closing.closing == Closing::transform) work_.template transform<closing.stage>(r);
    }
    if constexpr (closing.closing == Closing::measure_all) tell<closing.stage>();
  }

  // The sums over all tensors to the stage that measured them, if it keeps something of them.
  template <std::size_t Stage>
  void tell() {
    if constexpr (Work::template hears_sums<Stage>) {
      double totals[max_sums] = {};
      device_.settle();
      cuda_check(
          cudaMemcpyAsync(totals, tables_.totals.data(), sizeof totals, cudaMemcpyDeviceToHost, device_.stream()),
          "reading sums");
      device_.synchronize();
      work_.template measured<Stage>(totals);
    }
  }

  // Passes I .. Last - 1 of a phase on one region.
  template <std::size_t I, std::size_t First, std::size_t Last>
  void run_passes(const Program& program, const RegionWork<S>& region, CudaRegion<S>& table) {
    constexpr PassShape shape = list.passes[I];
    constexpr bool measuring = shape.closing == Closing::measure_tensor || shape.closing == Closing::measure_all;
    if constexpr (measuring) {
      if (program.template measures<I>()) {
        launch<I, First, true>(program, region, table);
        constexpr std::size_t n = Program::sum_count(I);
        cuda_launch(device_, static_cast<unsigned>(table.count()), cuda_adders(table.longest()),
                    cuda_run_tensor_sums<S>, n, max_sums, table.tensors(), table.partials(), table.sums().data());
      } else {
        if constexpr (then_of(shape) != Then::discard) launch<I, First, false>(program, region, table);
        cuda_each(device_, table.sums().size(), CudaFill<double>{table.sums().data(), 0});
      }
    } else if constexpr (!is_idle(shape)) {
      launch<I, First, false>(program, region, table);
    }
    if constexpr (I + 1 < Last) run_passes<I + 1, First, Last>(program, region, table);
  }

  template <std::size_t I, std::size_t First, bool measuring>
  void launch(const Program& program, const RegionWork<S>& region, CudaRegion<S>& table) {
    constexpr PassShape shape = list.passes[I];
    constexpr bool of_tensor = I > First;  // opened by each tensor's own sums, which the pass before measured
    constexpr bool opened = of_tensor || (I > 0 && list.passes[I - (I > 0)].closing == Closing::measure_all);
    constexpr bool by_tensor = of_tensor || measuring || shape.factored;
    const CudaArray<CudaChunk>& chunks = by_tensor ? table.chunks() : table.whole();
    if (chunks.size() == 0) return;
    S* const slots = region.slots + Program::first_slot(I) * region.size;
    const CudaPass<S> pass{{region.u, region.p, slots, region.size},
                           table.tensors(),
                           chunks.data(),
                           of_tensor ? table.sums().data() : tables_.totals.data(),
                           of_tensor ? max_sums : 0,
                           table.partials(),
                           device_.unless,
                           cuda_aligned(region.u, region.p, slots) && region.size % CudaPack<S>::size == 0};
    cuda_launch(device_, static_cast<unsigned>(chunks.size()), cuda_block, cuda_run_pass<I, opened, measuring, Program>,
                program, pass);
  }

  Work& work_;
  CudaDevice& device_;
  CudaTables<S>& tables_;
};

}  // namespace algoperf::detail
