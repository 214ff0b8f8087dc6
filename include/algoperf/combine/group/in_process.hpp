#pragma once

#include "../concept.hpp"

namespace algoperf {

// Virtual workers in this process, one after the other: the arithmetic of data parallelism without its machines. With
// Mean{} it is gradient accumulation: a batch in `workers` parts, in the memory of one part.
struct InProcess {
  static constexpr bool is_worker_group = true;
  std::size_t workers = 1;
};

}  // namespace algoperf
