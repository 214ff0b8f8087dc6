#pragma once

#include <cstddef>
#include <span>

#include "../../core/error.hpp"
#include "../../core/layout.hpp"
#include "../concept.hpp"

namespace algoperf::detail {

// Throws Error unless the caller's gradients and values have the layout's size.
inline void check_own_memory(std::size_t gradients, std::size_t values, const Layout& layout) {
  const std::size_t n = layout.size();
  constexpr const char* hint = " (padding included: Layout(1) describes packed tensors)";
  require(gradients == n, "step: gradients have ", gradients, " elements, the layout has ", n, hint);
  require(values == n, "step: values have ", values, " elements, the layout has ", n, hint);
}

// Returns the caller's gradients and values as an Update. Throws Error as check_own_memory does.
template <class S, class Evaluate>
Update<S, Evaluate> own_memory(std::span<S> gradients, std::span<S> values, const Layout& layout,
                               const Evaluate& evaluate) {
  check_own_memory(gradients.size(), values.size(), layout);
  return {gradients.data(), values.data(), evaluate};
}

}  // namespace algoperf::detail
