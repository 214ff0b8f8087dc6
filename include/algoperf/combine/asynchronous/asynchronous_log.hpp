#pragma once

#include <cstdint>

#include "../../core/config.hpp"

namespace algoperf {

// What an asynchronous combiner writes after each step, if it is given a pointer to it. The delay of a gradient is the
// number of updates between the parameters at which it was computed and those to which it is applied.
struct AsynchronousLog {
  double seconds = 0;  // of simulated time; MpiServer and MpiAllToAll: of wall-clock time
  std::uint64_t applied = 0, dropped = 0;
  std::uint64_t largest_delay = 0;
  // The mean over the gradients that were computed and those that workers still compute, whose delays are those so far
  // (Koloskova et al. 2022, tau_avg). MpiServer and MpiAllToAll: the mean over those that have arrived.
  double mean_delay = 0;
};

namespace detail {

// The delays of the gradients that were computed.
struct Delays {
  std::uint64_t count = 0, sum = 0, largest = 0;
  void add(std::uint64_t delay) {
    ++count;
    sum += delay;
    largest = delay > largest ? delay : largest;
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive.number("count", count);
    archive.number("sum", sum);
    archive.number("largest", largest);
  }
};

}  // namespace detail

}  // namespace algoperf
