// GradientNorm: the norm of the gradients of a step, if it is measured.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "../core/math.hpp"
#include "stopwatch.hpp"

namespace algoperf::detail {

class GradientNorm {
 public:
  void measure(bool yes) { measures_ = yes; }
  bool measures() const { return measures_; }

  // Adds the squared norm of a gradient: n elements in the backend's memory. Waits for the backend.
  template <class Backend, class Scalar>
  void add(const Backend& backend, std::size_t n, const Scalar* gradients) {
    backend.synchronize();
    const Stopwatch watch;
    squares_ += backend.dot(n, gradients, gradients);
    ++count_;
    seconds_ += watch.seconds();
  }
  // Returns the root mean square of the norms added since the last call, or nothing if there are none.
  std::optional<double> take() {
    const std::size_t count = std::exchange(count_, 0);
    if (count == 0) return std::nullopt;
    return math::sqrt(std::exchange(squares_, 0) / static_cast<double>(count));
  }
  // Returns the seconds spent in add() since the last call.
  double take_seconds() { return std::exchange(seconds_, 0); }

 private:
  bool measures_ = false;
  std::size_t count_ = 0;
  double squares_ = 0, seconds_ = 0;
};

}  // namespace algoperf::detail
