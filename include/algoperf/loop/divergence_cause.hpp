// divergence_cause: describes why a loss is not finite.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../core/finite.hpp"
#include "../core/layout.hpp"
#include "field_batch.hpp"

namespace algoperf::detail {

// Returns the index of the first of `n` elements in the backend's memory that is not finite, or n if all are finite.
template <class T, class B>
std::size_t first_not_finite(const B& backend, const T* x, std::size_t n) {
  std::vector<T> host(n);
  backend.read(n, x, host.data());
  std::size_t i = 0;
  while (i < n && finite_bits(static_cast<double>(host[i]))) ++i;
  return i;
}

// Returns the name of the first field of a batch with real values that are not all finite, or null if there is none.
template <class B>
ALGOPERF_COLD const char* field_not_finite(const B& backend, const FieldBatch<B>& batch) {
  for (std::size_t i = 0; i < batch.fields(); ++i) {
    const std::size_t n = batch.entry(i, batch.size()) * batch.width(i);
    const auto finite = [&](const auto* x) { return first_not_finite(backend, x, n) == n; };
    const ElementType type = batch.value(i).type;
    if ((type == ElementType::activation && !finite(static_cast<const Stored<B>*>(batch.data(i)))) ||
        (type == ElementType::parameter && !finite(static_cast<const typename B::Scalar*>(batch.data(i)))))
      return batch.name(i);
  }
  return nullptr;
}

// Returns a description of the first cause found among parameters, fields of the batch and gradients, in this order.
template <class S, class B>
ALGOPERF_COLD std::string divergence_cause(const B& backend, const Layout& layout, const S* values, const S* gradients,
                                           const FieldBatch<B>& batch) {
  const auto tensor_of = [&](const S* arena) {
    for (const TensorHandle handle : layout.tensors()) {
      const TensorPlace at = layout.place_of(handle);
      if (first_not_finite(backend, arena + at.offset, at.size) < at.size) return layout.spec(handle).name;
    }
    return std::string();
  };
  if (const std::string name = tensor_of(values); !name.empty())
    return "the parameters of tensor '" + name + "' hold NaN or infinity";
  if (const char* const field = field_not_finite(backend, batch))
    return std::string("the parameters are finite, but ") +
           (same_text(field, "input") ? "an input" : "field '" + std::string(field) + "'") + " of the batch is not";
  if (const std::string name = tensor_of(gradients); !name.empty())
    return "the gradient of tensor '" + name + "' holds NaN or infinity";
  return "parameters, inputs and gradients are finite, so the outputs overflowed";
}

}  // namespace algoperf::detail
