// Batch: the current examples in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/error.hpp"
#include "../data/concept.hpp"
#include "resident_data.hpp"

namespace algoperf {

// What the examples of a batch must be.
struct BatchShape {
  std::size_t width = 1;        // elements of an input
  std::size_t label_width = 1;  // elements of a label
  std::size_t classes = 1;      // class labels lie in [0, classes)
  std::size_t tokens = 0;       // tokens of the input lie in [0, tokens), the model's vocabulary; 0: no limit
};

// Memory for up to `capacity` examples, allocated once: gathering allocates nothing after the first call. A Label is an
// integer class, or real-valued.
template <class Backend, class Input, class Label>
class Batch {
 public:
  using Scalar = typename Backend::Scalar;

  Batch(const Backend& backend, const BatchShape& shape, std::size_t capacity)
      : shape_(shape),
        capacity_(capacity),
        inputs_(backend.template array<Input>(element_count(shape.width, capacity))),
        labels_(backend.template array<Label>(element_count(shape.label_width, capacity))),
        losses_(backend.template array<Scalar>(capacity)),
        current_{inputs_.data(), labels_.data()} {}

  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return size_; }
  // Return pointers to the data of example `begin` of the batch; later examples follow.
  const Input* inputs(std::size_t begin = 0) const { return current_.inputs + begin * shape_.width; }
  const Label* labels(std::size_t begin = 0) const { return current_.labels + begin * shape_.label_width; }
  Scalar* losses(std::size_t begin = 0) { return losses_.data() + begin; }

  // Copies n <= capacity() examples into the batch. Throws Error if check() fails.
  template <class Data>
  void gather(const Backend& backend, const Data& data, const std::uint32_t* indices, std::size_t n) {
    use_own_memory(n);
    if constexpr (Backend::on_host) {
      data.gather(indices, n, inputs_.data(), labels_.data());
      check(indices, 0, n, inputs_.data(), labels_.data());
    } else {
      host_inputs_.resize(capacity() * shape_.width);
      host_labels_.resize(capacity() * shape_.label_width);
      data.gather(indices, n, host_inputs_.data(), host_labels_.data());
      check(indices, 0, n, host_inputs_.data(), host_labels_.data());
      detail::send(backend, n * shape_.width, host_inputs_.data(), inputs_.data());
      detail::send(backend, n * shape_.label_width, host_labels_.data(), labels_.data());
    }
  }
  // The same, but from a copy of the data in the backend's memory. `indices` must be in the backend's memory, too. Does
  // not check the data.
  void gather(const Backend& backend, const ResidentData<Input, Label, Backend>& data, const std::uint32_t* indices,
              std::size_t n) {
    use_own_memory(n);
    data.gather(backend, indices, n, inputs_.data(), labels_.data());
  }
  // Makes examples [begin, begin + n) of the data the batch. If the data set provides in_place() with the batch's
  // types, the batch points into the data, which must stay valid until the next gather() or load_range().
  template <class Data>
  void load_range(const Backend& backend, const Data& data, std::size_t begin, std::size_t n) {
    if constexpr (reads_in_place<Data>()) {
      size_ = n;
      current_ = data.in_place(begin);
      check(nullptr, begin, n, current_.inputs, current_.labels);
    } else {
      range_.resize(n);
      for (std::size_t i = 0; i < n; ++i) range_[i] = static_cast<std::uint32_t>(begin + i);
      gather(backend, data, range_.data(), n);
    }
  }

  // Throws Error, naming the example, if a class label or a token is out of range or a real-valued label is not finite.
  // The index of example i in the data set is indices[i], or first + i if indices is null.
  void check(const std::uint32_t* indices, std::size_t first, std::size_t n, const Input* inputs,
             const Label* labels) const {
    const auto index_of = [=](std::size_t i) { return indices == nullptr ? first + i : indices[i]; };
    const std::size_t width = shape_.width, label_width = shape_.label_width;
    if constexpr (std::is_integral_v<Label>) {
      for (std::size_t i = 0; i < n; ++i)
        require(labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < shape_.classes, "data: the label of example ",
                index_of(i), " is ", labels[i], ", expected [0, ", shape_.classes, ")");
    } else {
      for (std::size_t i = 0; i < n * label_width; ++i)
        require(labels[i] - labels[i] == 0, "data: value ", i % label_width, " of the label of example ",
                index_of(i / label_width), " is ", labels[i], ", expected a finite number");
    }
    if constexpr (std::is_integral_v<Input>)
      if (shape_.tokens > 0)
        for (std::size_t i = 0; i < n * width; ++i)
          require(inputs[i] >= 0 && static_cast<std::size_t>(inputs[i]) < shape_.tokens, "data: token ", i % width,
                  " of example ", index_of(i / width), " is ", inputs[i], ", expected [0, ", shape_.tokens,
                  "), the model's vocabulary");
  }

 private:
  template <class Data>
  static constexpr bool reads_in_place() {
    if constexpr (Backend::on_host && detail::InPlaceDataset<Data>)
      return std::is_same_v<decltype(std::declval<const Data&>().in_place(0)), ExamplesInPlace<Input, Label>>;
    else
      return false;
  }
  void use_own_memory(std::size_t n) {
    size_ = n;
    current_ = {inputs_.data(), labels_.data()};
  }

  BatchShape shape_;
  std::size_t capacity_, size_ = 0;
  typename Backend::template Array<Input> inputs_;
  typename Backend::template Array<Label> labels_;
  typename Backend::template Array<Scalar> losses_;
  ExamplesInPlace<Input, Label> current_;  // the examples of the batch, in the backend's memory
  std::vector<std::uint32_t> range_;
  std::vector<Input> host_inputs_;  // staging memory for a device
  std::vector<Label> host_labels_;
};

}  // namespace algoperf
