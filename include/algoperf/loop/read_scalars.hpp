#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "../backend/concept.hpp"

namespace algoperf::detail {

// Copies n activations from the backend's memory to host memory, as scalars.
template <class Backend>
void read_scalars(const Backend& backend, std::size_t n, const Stored<Backend>* from, typename Backend::Scalar* to) {
  if (n == 0) return;
  if constexpr (std::is_same_v<Stored<Backend>, typename Backend::Scalar>) {
    backend.read(n, from, to);
  } else {
    std::vector<Stored<Backend>> stored(n);
    backend.read(n, from, stored.data());
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<typename Backend::Scalar>(stored[i]);
  }
}

}  // namespace algoperf::detail
