// Ports: where a sweep takes u from and puts the new p to, besides the arenas of the backend's scalar. Without any, it
// works in the arenas alone. backend/half_ports.hpp has ports to arrays of 16 bits.
#pragma once

#include <cstddef>

#include "../core/config.hpp"

namespace algoperf {

struct NoPorts {
  static constexpr bool none = true;
  struct Tail {};
  NoPorts from(std::size_t) const { return {}; }
  NoPorts of(Tail&, std::size_t) const { return {}; }
};

}  // namespace algoperf
