// Stopwatch: seconds on the monotonic clock. <chrono> would make the umbrella header too slow to compile.
#pragma once

#include <time.h>

#include "../core/config.hpp"

namespace algoperf {

class Stopwatch {
 public:
  Stopwatch() : start_(now()) {}
  double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double start_;
};

}  // namespace algoperf
