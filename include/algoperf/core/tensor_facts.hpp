// TensorFacts: the sizes of a tensor that a kernel may depend on.
#pragma once

#include <cstddef>

#include "config.hpp"

namespace algoperf {

struct TensorFacts {
  std::size_t size = 0, rows = 0, cols = 0;
};

}  // namespace algoperf
