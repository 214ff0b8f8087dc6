// divergence_cause: describes why a loss is not finite.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/finite.hpp"
#include "../core/layout.hpp"

namespace algoperf::detail {

// Returns the index of the first of `n` elements in the backend's memory that is not finite, or n if all are finite.
template <class T, class B>
std::size_t first_not_finite(const B& backend, const T* x, std::size_t n) {
  if constexpr (std::is_integral_v<T>) return n;
  std::vector<T> host(n);
  backend.read(n, x, host.data());
  std::size_t i = 0;
  while (i < n && finite_bits(static_cast<double>(host[i]))) ++i;
  return i;
}

// Returns a description of the first cause found among parameters, inputs and gradients, in this order.
template <class S, class Input, class B>
ALGOPERF_COLD std::string divergence_cause(const B& backend, const Layout& layout, const S* values, const S* gradients,
                                           const Input* inputs, std::size_t count) {
  const auto tensor_of = [&](const S* arena) {
    for (const TensorHandle handle : layout.tensors()) {
      const TensorPlace at = layout.place_of(handle);
      if (first_not_finite(backend, arena + at.offset, at.size) < at.size) return layout.spec(handle).name;
    }
    return std::string();
  };
  if (const std::string name = tensor_of(values); !name.empty())
    return "the parameters of tensor '" + name + "' hold NaN or infinity";
  if (first_not_finite(backend, inputs, count) < count)
    return "the parameters are finite, but an input of the batch is not";
  if (const std::string name = tensor_of(gradients); !name.empty())
    return "the gradient of tensor '" + name + "' holds NaN or infinity";
  return "parameters, inputs and gradients are finite, so the outputs overflowed";
}

}  // namespace algoperf::detail
