#pragma once

#include <cstdint>
#include <limits>

// The largest step, at which no formula may overflow.
constexpr std::uint64_t last_step = std::numeric_limits<std::uint64_t>::max();
