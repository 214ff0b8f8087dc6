// The data splits of the workloads of digits.
#pragma once

#include "../data/in_memory.hpp"
#include "../data/slice.hpp"

namespace algoperf::detail {

using Digits = Slice<InMemory<float>>;
struct DigitSplits {
  Digits train, validation, test;
};

}  // namespace algoperf::detail
