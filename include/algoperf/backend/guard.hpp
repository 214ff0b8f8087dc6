// Guard: what may keep a step from being made though the host has asked for it, where a device's work goes on
// meanwhile: a flag in the device's memory. A rule's passes then change nothing.
#pragma once

#include <cstdint>

#include "../core/config.hpp"

namespace algoperf {

// Every step is made.
struct NoGuard {
  static constexpr bool none = true, counts = false;
  ALGOPERF_HD bool closes() const { return false; }
};

// None while *closed is not 0.
struct Unless {
  static constexpr bool none = false, counts = false;
  const std::int64_t* closed;
  ALGOPERF_HD bool closes() const { return *closed != 0; }
};

// The same; and how many steps were made, this one included, only the device knows: it makes the step's constants.
struct CountedUnless {
  static constexpr bool none = false, counts = true;
  const std::int64_t* closed;
  const std::uint64_t* t;
  ALGOPERF_HD bool closes() const { return *closed != 0; }
};

}  // namespace algoperf
