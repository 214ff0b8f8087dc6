// Guards: a guard can suppress a step that the host has already issued to an asynchronous device. It reads a flag in
// device memory. The passes of a rule change nothing if closes() returns true.
#pragma once

#include <cstdint>

#include "../core/config.hpp"

namespace algoperf {

// Never suppresses a step.
struct NoGuard {
  static constexpr bool none = true, counts = false;
  ALGOPERF_HD bool closes() const { return false; }
};

// Suppresses steps while *closed is not 0.
struct Unless {
  static constexpr bool none = false, counts = false;
  const std::int64_t* closed;
  ALGOPERF_HD bool closes() const { return *closed != 0; }
};

// Like Unless, for steps whose number only the device stores: *t is the number of executed steps, including this one.
// The device therefore computes the step's constants.
struct CountedUnless {
  static constexpr bool none = false, counts = true;
  const std::int64_t* closed;
  const std::uint64_t* t;
  ALGOPERF_HD bool closes() const { return *closed != 0; }
};

}  // namespace algoperf
