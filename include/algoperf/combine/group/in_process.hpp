#pragma once

#include "../concept.hpp"

namespace algoperf {

// Virtual workers that run one after the other in this process: the arithmetic of data parallelism on one machine. With
// Mean{} this is gradient accumulation: a batch is processed in `workers` parts, with the activation memory of one
// part.
struct InProcess {
  static constexpr bool is_worker_group = true;
  std::size_t workers = 1;
};

}  // namespace algoperf
