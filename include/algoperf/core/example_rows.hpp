// ExampleRows: which rows of an axis belong to each example of a batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config.hpp"

namespace algoperf {

// The rows of an example are contiguous, and those of the next example follow. Example e has rows [begin(e), end(e)).
struct ExampleRows {
  std::size_t each = 1;                   // rows per example, unless `begins` is given
  const std::uint32_t* begins = nullptr;  // the first row of each example, and the number of all rows

  ALGOPERF_HD constexpr std::size_t begin(std::size_t e) const { return begins == nullptr ? e * each : begins[e]; }
  ALGOPERF_HD constexpr std::size_t end(std::size_t e) const { return begin(e + 1); }
  ALGOPERF_HD constexpr std::size_t count(std::size_t e) const { return end(e) - begin(e); }
};

// The rows of an axis in a pass over some of a batch's examples.
struct AxisRows {
  std::size_t count = 0;    // of all examples
  std::size_t longest = 0;  // the most rows of an example
  std::size_t first = 0;    // the index of row 0 within the step's batch
  ExampleRows rows;         // in the backend's memory
};

}  // namespace algoperf
