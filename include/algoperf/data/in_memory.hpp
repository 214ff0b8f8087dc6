// InMemory: a labelled data set stored in contiguous memory.
#pragma once

#include <concepts>
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

// Inputs are N x shape, row-major; labels are N integers in [0, classes). The constructor takes both vectors by value
// (move them in), and they never change. Copies share them, so copying the data set is cheap.
template <class InputType>
class InMemory {
 public:
  using Input = InputType;
  using ReadsInPlace = InMemory;

  // Throws Error if there are not shape.size() input values per label, or if a label is out of range (the message names
  // the first one).
  InMemory(std::vector<Input> inputs, std::vector<std::int32_t> labels, Shape shape, std::size_t classes)
      : examples_(Examples{std::move(inputs), std::move(labels)}), shape_(shape), classes_(classes) {
    const std::size_t n = size(), expected = element_count(n, shape.size());
    require(examples_->inputs.size() == expected, "InMemory: there are ", examples_->inputs.size(),
            " input values, expected ", n, " examples x ", shape.size(), " = ", expected);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t label = examples_->labels[i];
      require(label >= 0 && static_cast<std::size_t>(label) < classes, "InMemory: the label of example ", i, " is ",
              label, ", expected [0, ", classes, ")");
    }
  }

  // The same with labels of another integral type.
  template <std::integral L>
  InMemory(std::vector<Input> inputs, const std::vector<L>& labels, Shape shape, std::size_t classes)
      : InMemory(std::move(inputs), class_labels(labels), shape, classes) {}

  std::size_t size() const { return examples_->labels.size(); }
  Shape shape() const { return shape_; }
  std::size_t classes() const { return classes_; }
  const std::vector<Input>& inputs() const { return examples_->inputs; }
  const std::vector<std::int32_t>& labels() const { return examples_->labels; }

  // Returns examples [begin, end) as a data set that shares this one's memory.
  Slice<InMemory> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  ExamplesInPlace<Input, std::int32_t> in_place(std::size_t begin) const {
    return {examples_->inputs.data() + begin * shape_.size(), examples_->labels.data() + begin};
  }
  // Does not check indices: each must be below size().
  template <class T>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, std::int32_t* labels) const {
    const std::size_t width = shape_.size();
    for (std::size_t i = 0; i < n; ++i) {
      copy_as(width, examples_->inputs.data() + indices[i] * width, inputs + i * width);
      labels[i] = examples_->labels[indices[i]];
    }
  }

 private:
  template <std::integral L>
  static std::vector<std::int32_t> class_labels(const std::vector<L>& labels) {
    std::vector<std::int32_t> classes;
    classes.reserve(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      require(std::in_range<std::int32_t>(labels[i]), "InMemory: the label of example ", i, " is ", labels[i],
              ", expected at most ", INT32_MAX);
      classes.push_back(static_cast<std::int32_t>(labels[i]));
    }
    return classes;
  }

  struct Examples {
    std::vector<Input> inputs;
    std::vector<std::int32_t> labels;
  };
  Shared<Examples> examples_;
  Shape shape_;
  std::size_t classes_;
};

}  // namespace algoperf
