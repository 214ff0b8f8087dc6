// HostPasses: the host's execution of a chain's passes. Between barriers it runs all passes on one tensor before the
// next, so that a tensor that fits in cache is read from memory once, however many passes there are.
#pragma once

#include <cstddef>

#include "../../core/tuple.hpp"
#include "../factored_ports.hpp"
#include "../work.hpp"
#include "compiled_kernels.hpp"
#include "thread_pool.hpp"

namespace algoperf::detail {

template <class Work>
class HostPasses {
  using Program = typename Work::Program;
  using S = typename Program::Scalar;
  static constexpr auto list = Program::list;
  static constexpr std::size_t max_sums = Program::max_sums;

 public:
  HostPasses(Work& work, unsigned threads) : work_(work), threads_(threads) {}

  void run() {
    for_each_index<list.phase_count>(
        [&](auto phase) { run_phase<list.phases[phase].first, list.phases[phase].last>(); });
  }

 private:
  // Tensors of at least this size are split across the threads; smaller ones are processed whole, several at a time.
  static constexpr std::size_t large = 4 * chunk;

  template <std::size_t First, std::size_t Last>
  void run_phase() {
    constexpr PassShape closing = list.passes[Last - 1];
    double totals[max_sums] = {};
    for (std::size_t r = 0; r < work_.regions(); ++r) {
      const RegionWork<S>& region = work_.region(r);
      const Program program = work_.program(r);
      if constexpr (First + 1 == Last && closing.closing != Closing::measure_all && !opens_per_tensor(First) &&
                    !closing.factored)
        whole_region<First>(program, region);
      else
        by_tensor<First, Last>(program, region, totals);
      if constexpr (closing.closing == Closing::transform) work_.template transform<closing.stage>(r);
    }
    if constexpr (closing.closing == Closing::measure_all) work_.template measured<closing.stage>(totals);
    for (std::size_t m = 0; m < max_sums; ++m) opening_[m] = totals[m];
  }

  static constexpr bool opens_per_tensor(std::size_t pass) {
    return pass > 0 && list.passes[pass - 1].closing == Closing::measure_tensor;
  }
  static constexpr Then then(std::size_t pass) { return then_of(list.passes[pass]); }
  static constexpr bool idle(std::size_t pass) { return is_idle(list.passes[pass]); }

  template <std::size_t I>
  auto sweep_of(const RegionWork<S>& region) const {
    const auto ports = work_.ports.from(region.begin);
    return Sweep<S, std::remove_const_t<decltype(ports)>>{
        region.u, region.p, region.slots + Program::first_slot(I) * region.size, region.size, ports};
  }

  template <std::size_t I>
  void whole_region(const Program& program, const RegionWork<S>& region) {
    if constexpr (!idle(I)) {
      const auto kernel = program.template fused<I>(opening_, TensorFacts{});
      over_pieces(threads_, 0, region.size, [&](std::size_t begin, std::size_t end) {
        best_sweep<then(I)>(kernel, sweep_of<I>(region), begin, end);
      });
    }
  }

  template <std::size_t First, std::size_t Last>
  void by_tensor(const Program& program, const RegionWork<S>& region, double* totals) {
    double* const sums = work_.tensor_sums();
    const std::size_t count = region.tensors.size();
    for (std::size_t i = 0; i < count; ++i)
      if (threads_ <= 1 || region.tensors[i].facts.size >= large)
        walk<First, Last>(program, region, region.tensors[i], opening_, sums + i * max_sums, threads_);
    if (threads_ > 1)
      ThreadPool::instance().parallel_for(threads_, count, [&](std::size_t i) {
        if (region.tensors[i].facts.size < large)
          walk<First, Last>(program, region, region.tensors[i], opening_, sums + i * max_sums, 1);
      });
    if constexpr (list.passes[Last - 1].closing == Closing::measure_all)
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t m = 0; m < Program::sum_count(Last - 1); ++m) totals[m] += sums[i * max_sums + m];
  }

  // Runs passes I .. Last - 1 on one tensor.
  template <std::size_t I, std::size_t Last>
  void walk(const Program& program, const RegionWork<S>& region, const TensorWork<S>& tensor, const double* opening,
            double* sums, unsigned threads) {
    const auto kernel = program.template fused<I>(opening, tensor.facts);
    const std::size_t begin = tensor.offset, end = begin + tensor.facts.size;
    constexpr std::size_t n = Program::sum_count(I);
    if constexpr (n > 0) {
      double measured[max_sums] = {};
      if (program.template measures<I>())
        with_sweep<I>(region, tensor,
                      [&](const auto& at) { measure<I>(program, kernel, at, begin, end, threads, measured); });
      else if constexpr (then(I) != Then::discard)
        with_sweep<I>(region, tensor, [&](const auto& at) {
          over_pieces(threads, begin, end,
                      [&](std::size_t from, std::size_t to) { best_sweep<then(I)>(kernel, at, from, to); });
        });
      if constexpr (I + 1 < Last)
        walk<I + 1, Last>(program, region, tensor, measured, sums, threads);
      else
        for (std::size_t m = 0; m < n; ++m) sums[m] = measured[m];
    } else if constexpr (!idle(I)) {
      with_sweep<I>(region, tensor, [&](const auto& at) {
        over_pieces(threads, begin, end,
                    [&](std::size_t from, std::size_t to) { best_sweep<then(I)>(kernel, at, from, to); });
      });
    }
  }

  // Calls f(sweep) for pass I on one tensor, with FactoredPorts if the tensor has factors.
  template <std::size_t I, class F>
  void with_sweep(const RegionWork<S>& region, const TensorWork<S>& tensor, const F& f) const {
    const auto at = sweep_of<I>(region);
    if constexpr (list.passes[I].factored)
      if (tensor.factors.rows != nullptr)
        return f(Sweep<S, FactoredPorts<S>>{
            at.u, at.p, at.slots, at.stride, {at.u, tensor.offset, tensor.facts.cols, tensor.factors}});
    f(at);
  }

  // Adds the sums that pass I measures over [begin, end) to `measured`.
  template <std::size_t I, class Kernel, class At>
  void measure(const Program& program, const Kernel& kernel, const At& at, std::size_t begin, std::size_t end,
               unsigned threads, double* measured) {
    constexpr std::size_t n = Program::sum_count(I);
    const auto stage = program.template closing<I>();
    if (threads <= 1) {
      for (std::size_t from = begin; from < end; from += chunk) {
        double part[n];
        best_sweep_chunk<then(I), n>(kernel, stage, at, from, from + chunk < end ? from + chunk : end, part);
        for (std::size_t m = 0; m < n; ++m) measured[m] += part[m];
      }
    } else {
      double* const parts = work_.chunk_sums();
      over_chunks(threads, begin, end, [&](std::size_t i, std::size_t from, std::size_t to) {
        best_sweep_chunk<then(I), n>(kernel, stage, at, from, to, parts + i * max_sums);
      });
      for (std::size_t i = 0; i < chunks_of(end - begin); ++i)
        for (std::size_t m = 0; m < n; ++m) measured[m] += parts[i * max_sums + m];
    }
  }

  // Calls f(begin, end) for pieces of [begin, end) of a whole number of chunks each. There are few pieces per thread,
  // because at the boundary of two pieces one thread prefetches cache lines that another writes, and each thread gets
  // the same number of pieces.
  template <class F>
  static void over_pieces(unsigned threads, std::size_t begin, std::size_t end, const F& f) {
    if (threads <= 1) return f(begin, end);
    constexpr std::size_t each = 4, most = 16;
    const std::size_t chunks = chunks_of(end - begin), rounds = (chunks - 1) / (most * threads) + 1;
    const std::size_t wanted = threads * (rounds < each ? each : rounds), pieces = chunks < wanted ? chunks : wanted;
    ThreadPool::instance().parallel_for(threads, pieces, [&](std::size_t i) {
      const std::size_t to = begin + (i + 1) * chunks / pieces * chunk;
      f(begin + i * chunks / pieces * chunk, to < end ? to : end);
    });
  }

  // Calls f(i, begin, end) for each chunk i of [begin, end).
  template <class F>
  static void over_chunks(unsigned threads, std::size_t begin, std::size_t end, const F& f) {
    ThreadPool::instance().parallel_for(threads, chunks_of(end - begin), [&](std::size_t i) {
      const std::size_t from = begin + i * chunk;
      f(i, from, from + chunk < end ? from + chunk : end);
    });
  }

  Work& work_;
  unsigned threads_;
  double opening_[max_sums] = {};
};

}  // namespace algoperf::detail
