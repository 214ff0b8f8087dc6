#pragma once

#include <cstddef>
#include <span>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "concept.hpp"

namespace algoperf::detail {

// The caller's own memory as what a rule updates. Throws Error unless it has the layout's size.
template <class S, class Evaluate>
Update<S, Evaluate> own_memory(std::span<S> gradients, std::span<S> values, const Layout& layout,
                               const Evaluate& evaluate) {
  const std::size_t n = layout.size();
  constexpr const char* hint = " (padding included: Layout(1) describes packed tensors)";
  require(gradients.size() == n, "step: gradients have ", gradients.size(), " elements, the layout has ", n, hint);
  require(values.size() == n, "step: values have ", values.size(), " elements, the layout has ", n, hint);
  return {gradients.data(), values.data(), evaluate};
}

}  // namespace algoperf::detail
