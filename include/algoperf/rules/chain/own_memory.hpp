#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

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

// Arrays of which one has other elements than S, e.g. std::vector<double> where S is float.
template <class S, class G, class V>
concept OtherElements = requires(const G& gradients, const V& values) {
  *gradients.data();
  *values.data();
  requires !(std::is_convertible_v<G&, std::span<S>> && std::is_convertible_v<V&, std::span<S>>);
};

// Fails with a readable message if step() is called with OtherElements.
template <class S>
void explain_elements() {
  static_assert(sizeof(S) == 0,
                "algoperf: step(gradients, values, state, step) takes arrays of the backend's element type that it may "
                "write, e.g. std::vector<float>& for Host<float>, std::vector<double>& for Host<double>");
}

// Returns the caller's gradients and values as an Update. Throws Error as check_own_memory does.
template <class S, class Evaluate>
Update<S, Evaluate> own_memory(std::span<S> gradients, std::span<S> values, const Layout& layout,
                               const Evaluate& evaluate) {
  check_own_memory(gradients.size(), values.size(), layout);
  return {gradients.data(), values.data(), evaluate};
}

}  // namespace algoperf::detail
