// ThrustPasses: the execution of a chain's passes by the Thrust backend. Each pass covers a whole region in one
// launch, or in one launch per tensor if the kernels differ between tensors. Sums use the lanes and chunks of
// backend/work.hpp.
//
// The Cuda backend is faster for two reasons. It keeps sums and the kernels built from them on the device, whereas here
// every measuring pass reads the sums of its chunks back and waits. It also processes all tensors of a region in one
// launch.
#pragma once

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "../../core/config.hpp"
#include "../../core/math.hpp"
#include "../../core/slots.hpp"
#include "../../core/tuple.hpp"
#include "../work.hpp"

namespace algoperf::detail {

// Calls f(i) for i in [0, n), in any order.
template <class F>
void thrust_each(std::size_t n, const F& f) {
  if (n > 0) thrust::for_each_n(thrust::device, thrust::counting_iterator<std::size_t>(0), n, f);
}

// Computes lane i % lanes of chunk i / lanes, in T: the sums of the N terms that term(j) returns, over the elements
// j < n of that lane.
template <class T, std::size_t N, class Term>
struct ThrustLanes {
  Term term;
  std::size_t n;
  double* sums;  // [chunk][N][lane]

  ALGOPERF_HD void operator()(std::size_t i) const {
    const std::size_t c = i / lanes, lane = i % lanes, end = (c + 1) * chunk < n ? (c + 1) * chunk : n;
    T total[N] = {};
    for (std::size_t j = c * chunk + lane; j < end; j += lanes) {
      const Sums<T, N> terms = term(j);
      for (std::size_t m = 0; m < N; ++m) total[m] += terms[m];
    }
    for (std::size_t m = 0; m < N; ++m) sums[(c * N + m) * lanes + lane] = static_cast<double>(total[m]);
  }
};

// Adds the lanes of sum i by the fixed tree.
struct ThrustTree {
  const double* from;
  double* to;

  ALGOPERF_HD void operator()(std::size_t i) const {
    double sum[lanes];
    for (std::size_t j = 0; j < lanes; ++j) sum[j] = from[i * lanes + j];
    to[i] = tree_sum(sum);
  }
};

// Memory for sums. It grows on first use and is kept, so that a training step allocates nothing. Copies start empty.
class ThrustScratch {
 public:
  ThrustScratch() = default;
  ThrustScratch(const ThrustScratch&) {}
  ThrustScratch& operator=(const ThrustScratch&) { return *this; }

  // Returns memory for the lanes of `sums` sums.
  double* reserve(std::size_t sums) {
    if (host_.size() < sums) {
      lanes_.resize(sums * lanes);
      sums_.resize(sums);
      host_.resize(sums);
    }
    return thrust::raw_pointer_cast(lanes_.data());
  }
  // Returns the first `sums` sums of these lanes, in host memory.
  const double* collect(std::size_t sums) {
    thrust_each(sums, ThrustTree{thrust::raw_pointer_cast(lanes_.data()), thrust::raw_pointer_cast(sums_.data())});
    thrust::copy_n(sums_.begin(), sums, host_.begin());
    return host_.data();
  }
  // Returns the sum of term(i), which returns one term, for i in [0, n).
  template <class Term>
  double sum(std::size_t n, const Term& term) {
    const std::size_t count = chunks_of(n);
    thrust_each(count * lanes, ThrustLanes<double, 1, Term>{term, n, reserve(count)});
    const double* const sums = collect(count);
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) total += sums[i];
    return total;
  }

 private:
  thrust::device_vector<double> lanes_, sums_;
  std::vector<double> host_;
};

// Runs a sweep on element i. If `factored` is true, u is read through the tensor's factors.
template <Then then, bool factored, class S, class Ports, class Kernel>
struct ThrustSweep {
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "algoperf: a kernel must be trivially copyable to run on a device");
  Kernel kernel;
  Sweep<S, Ports> at;
  Factors<S> factors;
  std::size_t cols;

  ALGOPERF_HD void operator()(std::size_t i) const {
    S p;
    run(i, p);
  }
  // Returns the update computed by the kernel or, if the pass applies it, the new parameter. p receives the parameter
  // before the update.
  ALGOPERF_HD S run(std::size_t i, S& p) const {
    constexpr std::size_t n = Kernel::slots;
    Slots<S, n> s;
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) s[j] = at.slots[j * at.stride + i];
    p = at.p[i];
    S u;
    if constexpr (then == Then::apply) {
      u = at.p[i] = kernel.applied(read(i), p, s);
      if constexpr (!Ports::none) at.ports.values[i] = at.ports.narrowed(u, i);
    } else {
      u = kernel(read(i), p, s);
    }
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) at.slots[j * at.stride + i] = s[j];
    if constexpr (then == Then::store) at.u[i] = u;
    return u;
  }

 private:
  ALGOPERF_HD S read(std::size_t i) const {
    if constexpr (!Ports::none) return at.ports.widened(at.ports.gradients[i]);
    if constexpr (factored)
      if (factors.rows != nullptr)
        return at.u[i] * math::min(factors.most, factors.rows[i / cols] * factors.columns[i % cols]);
    return at.u[i];
  }
};

// Runs the sweep on element i and returns the terms that `stage` sums.
template <class Sweeping, class Stage>
struct ThrustMeasure {
  static_assert(std::is_trivially_copyable_v<Stage>,
                "algoperf: a measuring stage must be trivially copyable to run on a device");
  Sweeping sweep;
  Stage stage;

  ALGOPERF_HD auto operator()(std::size_t i) const {
    decltype(sweep.run(i, *sweep.at.p)) p;
    const auto u = sweep.run(i, p);
    return stage.measure(u, p);
  }
};

template <class Work>
class ThrustPasses {
  using Program = typename Work::Program;
  using S = typename Program::Scalar;
  static constexpr auto list = Program::list;
  static constexpr std::size_t max_sums = Program::max_sums;

 public:
  ThrustPasses(Work& work, ThrustScratch& scratch) : work_(work), scratch_(scratch) {}

  void run() {
    for_each_index<list.phase_count>(
        [&](auto phase) { run_phase<list.phases[phase].first, list.phases[phase].last>(); });
  }

 private:
  template <std::size_t First, std::size_t Last>
  void run_phase() {
    constexpr PassShape closing = list.passes[Last - 1];
    double totals[max_sums] = {};
    for (std::size_t r = 0; r < work_.regions(); ++r) {
      const Program program = work_.program(r);
      run_passes<First, First, Last>(program, work_.region(r));
      if constexpr (closing.closing == Closing::measure_all)
        for (std::size_t i = 0; i < work_.region(r).tensors.size(); ++i)
          for (std::size_t m = 0; m < Program::sum_count(Last - 1); ++m)
            totals[m] += work_.tensor_sums()[i * max_sums + m];
      if constexpr (closing.closing == Closing::transform) work_.template transform<closing.stage>(r);
    }
    if constexpr (closing.closing == Closing::measure_all) work_.template measured<closing.stage>(totals);
    for (std::size_t m = 0; m < max_sums; ++m) opening_[m] = totals[m];
  }

  // Runs passes I .. Last - 1 of a phase on one region. Between passes, the sums of tensor i are at tensor_sums() + i
  // * max_sums.
  template <std::size_t I, std::size_t First, std::size_t Last>
  void run_passes(const Program& program, const RegionWork<S>& region) {
    constexpr bool measuring =
        list.passes[I].closing == Closing::measure_tensor || list.passes[I].closing == Closing::measure_all;
    constexpr bool per_tensor = I > First, factored = list.passes[I].factored;
    if constexpr (measuring) {
      if (program.template measures<I>()) {
        measure<I, per_tensor>(program, region);
      } else {
        if constexpr (then_of(list.passes[I]) != Then::discard) sweep<I, per_tensor, factored>(program, region);
        for (std::size_t i = 0; i < region.tensors.size() * max_sums; ++i) work_.tensor_sums()[i] = 0;
      }
    } else if constexpr (!is_idle(list.passes[I])) {
      sweep<I, per_tensor, factored>(program, region);
    }
    if constexpr (I + 1 < Last) run_passes<I + 1, First, Last>(program, region);
  }

  // Returns the sweep of pass I from element `begin` of the region on. Its kernel is built from the sums `opening`.
  template <std::size_t I>
  auto sweep_from(const Program& program, const RegionWork<S>& region, std::size_t begin, const double* opening,
                  const TensorFacts& facts, const Factors<S>& factors = {}) const {
    const auto kernel = program.template fused<I>(opening, facts);
    constexpr PassShape pass = list.passes[I];
    using Kernel = std::remove_const_t<decltype(kernel)>;
    const auto ports = work_.ports.from(region.begin + begin);
    S* const slots = Kernel::slots == 0 ? nullptr : region.slots + Program::first_slot(I) * region.size + begin;
    return ThrustSweep<then_of(pass), pass.factored, S, std::remove_const_t<decltype(ports)>, Kernel>{
        kernel, {region.u + begin, region.p + begin, slots, region.size, ports}, factors, facts.cols};
  }
  // Returns the sweep of pass I for tensor i. Its kernel is built from the tensor's sums or from those of the
  // previous phase.
  template <std::size_t I, bool PerTensor>
  auto sweep_of(const Program& program, const RegionWork<S>& region, std::size_t i) const {
    const TensorWork<S>& tensor = region.tensors[i];
    return sweep_from<I>(program, region, tensor.offset, PerTensor ? work_.tensor_sums() + i * max_sums : opening_,
                         tensor.facts, tensor.factors);
  }

  template <std::size_t I, bool PerTensor, bool Factored>
  void sweep(const Program& program, const RegionWork<S>& region) const {
    if constexpr (PerTensor || Factored) {
      for (std::size_t i = 0; i < region.tensors.size(); ++i)
        thrust_each(region.tensors[i].facts.size, sweep_of<I, PerTensor>(program, region, i));
    } else {
      thrust_each(region.size, sweep_from<I>(program, region, 0, opening_, TensorFacts{}));
    }
  }

  // Runs the sweep with one launch per tensor, then reads the sums of all chunks at once. The host adds the chunks of
  // each tensor in order.
  template <std::size_t I, bool PerTensor>
  void measure(const Program& program, const RegionWork<S>& region) {
    constexpr std::size_t n = Program::sum_count(I);
    const std::size_t count = region.tensors.size();
    std::size_t chunks = 0;
    for (std::size_t i = 0; i < count; ++i) chunks += chunks_of(region.tensors[i].facts.size);
    double* next = scratch_.reserve(chunks * n);
    for (std::size_t i = 0; i < count; ++i) {
      const auto sweep = sweep_of<I, PerTensor>(program, region, i);
      const auto stage = program.template closing<I>();
      using Term = ThrustMeasure<std::remove_const_t<decltype(sweep)>, std::remove_const_t<decltype(stage)>>;
      const std::size_t size = region.tensors[i].facts.size;
      thrust_each(chunks_of(size) * lanes, ThrustLanes<S, n, Term>{{sweep, stage}, size, next});
      next += chunks_of(size) * n * lanes;
    }
    const double* sums = scratch_.collect(chunks * n);
    for (std::size_t i = 0; i < count; ++i) {
      double* const measured = work_.tensor_sums() + i * max_sums;
      for (std::size_t m = 0; m < max_sums; ++m) measured[m] = 0;
      for (std::size_t c = 0; c < chunks_of(region.tensors[i].facts.size); ++c, sums += n)
        for (std::size_t m = 0; m < n; ++m) measured[m] += sums[m];
    }
  }

  Work& work_;
  ThrustScratch& scratch_;
  double opening_[max_sums] = {};
};

}  // namespace algoperf::detail
