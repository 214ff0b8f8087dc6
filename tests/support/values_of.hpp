// The parameters of a training loop.
#pragma once

#include <vector>

namespace algoperf::testing {

// Returns the parameters, in host memory.
template <class Loop>
std::vector<typename Loop::Backend::Scalar> values_of(Loop& loop) {
  std::vector<typename Loop::Backend::Scalar> values(loop.layout().size());
  loop.backend().read(values.size(), loop.values(), values.data());
  return values;
}

}  // namespace algoperf::testing
