// InMemoryRegression: a data set in memory with real-valued labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/copy_as.hpp"
#include "../core/error.hpp"
#include "concept.hpp"
#include "shared.hpp"
#include "slice.hpp"

namespace algoperf {

// Inputs are N x shape, labels N x label_shape, both row-major. The constructor takes both vectors by value (move them
// in), and they never change. Copies share them, so copying the data set is cheap. Train with
// MeanSquaredError{}.
template <class InputType>
class InMemoryRegression {
 public:
  using Input = InputType;
  using Label = float;
  using ReadsInPlace = InMemoryRegression;

  // Throws Error if a shape is empty, or if the inputs and the labels do not hold the same whole number of examples.
  InMemoryRegression(std::vector<Input> inputs, std::vector<Label> labels, Shape shape, Shape label_shape = {1})
      : examples_(Examples{std::move(inputs), std::move(labels)}), shape_(shape), label_shape_(label_shape) {
    const std::size_t width = shape.size(), label_width = label_shape.size();
    require(width > 0 && label_width > 0, "InMemoryRegression: a shape has no elements");
    require(examples_->labels.size() % label_width == 0, "InMemoryRegression: there are ", examples_->labels.size(),
            " label values, expected a multiple of ", label_width);
    const std::size_t n = size(), expected = element_count(n, width);
    require(examples_->inputs.size() == expected, "InMemoryRegression: there are ", examples_->inputs.size(),
            " input values, expected ", n, " examples x ", width, " = ", expected);
  }

  std::size_t size() const { return examples_->labels.size() / label_shape_.size(); }
  Shape shape() const { return shape_; }
  Shape label_shape() const { return label_shape_; }
  const std::vector<Input>& inputs() const { return examples_->inputs; }
  const std::vector<Label>& labels() const { return examples_->labels; }

  // Returns examples [begin, end) as a data set that shares this one's memory.
  Slice<InMemoryRegression> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  ExamplesInPlace<Input, Label> in_place(std::size_t begin) const {
    return {examples_->inputs.data() + begin * shape_.size(), examples_->labels.data() + begin * label_shape_.size()};
  }
  // Does not check indices: each must be below size().
  template <class T, class L>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const {
    for (std::size_t i = 0; i < n; ++i) {
      copy_as(shape_.size(), examples_->inputs.data() + indices[i] * shape_.size(), inputs + i * shape_.size());
      copy_as(label_shape_.size(), examples_->labels.data() + indices[i] * label_shape_.size(),
              labels + i * label_shape_.size());
    }
  }

 private:
  struct Examples {
    std::vector<Input> inputs;
    std::vector<Label> labels;
  };

  Shared<Examples> examples_;
  Shape shape_, label_shape_;
};

}  // namespace algoperf
