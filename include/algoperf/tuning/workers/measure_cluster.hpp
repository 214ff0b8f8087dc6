// measure_network, measure_pairing and measure_processors: measure the Cluster that ranks run on, for plan_workers
// (scaling/workers/worker_plan.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "../../backend/host.hpp"
#include "../../combine/adasum_tree.hpp"
#include "../../combine/group/ranks.hpp"
#include "../../core/error.hpp"
#include "../../core/layout.hpp"
#include "../../core/median.hpp"
#include "../../loop/stopwatch.hpp"
#include "../../scaling/workers/cluster.hpp"

namespace algoperf {

namespace detail {

// Returns the seconds of f() on the slowest rank, where all begin together. All ranks get the same result.
template <class F>
double seconds_together(const Ranks& ranks, const F& f) {
  (void)ranks.all_gather(0);
  const Stopwatch watch;
  f();
  double longest = 0;
  for (const double each : ranks.all_gather(watch.seconds())) longest = each > longest ? each : longest;
  return longest;
}

}  // namespace detail

// Returns the latency of short messages, and the bandwidth of exchanges in which each rank sends `vector` bytes in all.
// All ranks of the group call it, as many as can compute at the same time, and get the same result. Throws Error if
// there are fewer than two ranks or if `vector` is 0.
inline Cluster measure_network(const Ranks& ranks, std::size_t vector) {
  require(ranks.size() >= 2, "measure_network: there is one rank, expected at least 2");
  require(vector > 0, "measure_network: the vector has 0 bytes, expected more");
  const std::size_t others = ranks.size() - 1, piece = (vector + others - 1) / others;
  std::vector<char> out(piece), in(ranks.size() * piece);
  // Returns the seconds of an exchange in which each rank sends `bytes` to each other rank.
  const auto seconds = [&](std::size_t bytes) {
    std::vector<ByteRange> to(ranks.size(), ByteRange{0, bytes}), from;
    for (std::size_t r = 0; r < ranks.size(); ++r) from.push_back({r * piece, bytes});
    to[ranks.rank()].size = from[ranks.rank()].size = 0;
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) ranks.exchange(out.data(), to, in.data(), from);
    };
    repeat(1);
    const double once = detail::seconds_together(ranks, [&] { repeat(1); });
    const int times = once > 1e-2 ? 1 : once > 1e-5 ? static_cast<int>(1e-2 / once) : 1000;  // for some 10 ms
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i) samples.push_back(detail::seconds_together(ranks, [&] { repeat(times); }) / times);
    return median(samples);
  };
  const double brief = seconds(1), whole = seconds(piece);
  const double sending = whole > brief ? whole - brief : whole;
  return {.latency = Seconds(brief / static_cast<double>(others)),
          .bandwidth = BytesPerSecond(static_cast<double>(others * piece) / sending)};
}

// Returns the bandwidth of adasum_pair on this rank, for two vectors of `size` floats. Throws Error if size is 0.
inline BytesPerSecond measure_pairing(std::size_t size) {
  require(size > 0, "measure_pairing: the vectors have 0 elements, expected more");
  Layout layout;
  layout.add({"vector", Kind::weight, Shape{size}});
  std::vector<float> a(layout.size(), 1), b(layout.size(), -1);
  std::vector<double> samples;
  for (int i = 0; i < 30; ++i) {
    const Stopwatch watch;
    adasum_pair(Host<float>{}, layout, a.data(), static_cast<const float*>(b.data()));
    samples.push_back(watch.seconds());
  }
  return BytesPerSecond(static_cast<double>(size * sizeof(float)) / median(samples));
}

// Returns how many ranks compute at the same time: the number of ranks times `alone`, the seconds of work() on one rank
// while the others wait, divided by the seconds of work() on all ranks; at least 1. Calls work() twice: the first call
// warms up. All ranks of the group call this function with the same `alone`, and get the same result. work() must not
// throw on one rank alone, because the others would wait for it.
template <class F>
double measure_processors(const Ranks& ranks, double alone, const F& work) {
  require(alone > 0, "measure_processors: work took ", alone, " s, expected more than 0");
  work();
  const double together = detail::seconds_together(ranks, work);
  const double processors = static_cast<double>(ranks.size()) * alone / together;
  return processors < 1 ? 1 : processors;
}

}  // namespace algoperf
