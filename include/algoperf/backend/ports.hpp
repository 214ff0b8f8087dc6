// NoPorts: the default ports of a sweep. Ports are an alternative source of u and an additional destination of the
// new p, besides the arenas of the backend's scalar. With NoPorts a sweep uses the arenas only.
// backend/half_ports.hpp defines ports to 16-bit arrays.
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
