#pragma once

#include <cstdint>

#include "../core/error.hpp"
#include "report.hpp"

namespace algoperf {

// Thrown when the loss stops being a number; names the step and the first tensor that is to blame.
struct Diverged : Error {
  using Error::Error;
  RunReport report = {};   // what the run had to tell until then; of loop.step() alone, nothing
  std::uint64_t step = 0;  // whose loss was not finite
};

}  // namespace algoperf
