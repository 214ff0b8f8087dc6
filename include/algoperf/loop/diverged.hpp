#pragma once

#include <cstdint>

#include "../combine/group/ranks.hpp"
#include "../core/error.hpp"
#include "report.hpp"

namespace algoperf {

// Thrown when a loss is not finite. The message names the step and the cause, e.g. the first tensor with a NaN.
struct Diverged : Error {
  using Error::Error;
  // What all ranks throw.
  explicit Diverged(const RankFailure& failure) : Error(failure.what()), step(failure.step), on_all_ranks(true) {}
  RunReport report = {};      // the report of the run so far; empty if loop.step() was called directly
  std::uint64_t step = 0;     // the step whose loss was not finite
  bool on_all_ranks = false;  // whether the other ranks of a group throw it, too
};

}  // namespace algoperf
