// Unlabelled: inputs without labels, for prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../core/copy_as.hpp"
#include "../core/error.hpp"
#include "concept.hpp"

namespace algoperf {

// Rows of shape.size() inputs in the caller's memory, which must outlive this object. gather() writes 0 for every
// label, for any label type.
template <class InputType>
class Unlabelled {
 public:
  using Input = InputType;

  // Throws Error if the inputs are not a whole number of rows.
  Unlabelled(std::span<const Input> inputs, Shape shape) : inputs_(inputs), shape_(shape) {
    require(shape.size() > 0 && inputs.size() % shape.size() == 0, "Unlabelled: there are ", inputs.size(),
            " input values, expected a multiple of ", shape.size(), ", the size of an example");
  }

  std::size_t size() const { return inputs_.size() / shape_.size(); }
  Shape shape() const { return shape_; }
  std::size_t classes() const { return 1; }
  static constexpr bool has_labels = false;

  template <class T, class L>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const {
    const std::size_t width = shape_.size();
    for (std::size_t i = 0; i < n; ++i) {
      copy_as(width, inputs_.data() + indices[i] * width, inputs + i * width);
      labels[i] = 0;
    }
  }

 private:
  std::span<const Input> inputs_;
  Shape shape_;
};

}  // namespace algoperf
