// Batch: the current examples in the backend's memory, and the workspace for a model's passes over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/error.hpp"
#include "../data/concept.hpp"
#include "../nn/workspace.hpp"
#include "resident_data.hpp"

namespace algoperf {

// Memory for up to `capacity` examples, allocated once: gathering allocates nothing after the first call. A Label is an
// integer class, or real-valued, in which case a label has one value per output of the model.
template <class ModelType, class Backend, class Label = std::int32_t>
class Batch {
 public:
  using Scalar = typename Backend::Scalar;
  using Input = typename ModelType::template Input<Stored<Backend>>;

  // Class labels lie in [0, classes). A pass covers at most `at_once` of the examples.
  Batch(const Backend& backend, const ModelType& model, std::size_t classes, std::size_t capacity, std::size_t at_once)
      : width_(model.input().size()),
        label_width_(std::is_integral_v<Label> ? 1 : model.output().size()),
        classes_(classes),
        capacity_(capacity),
        workspace_(backend, model, at_once),
        inputs_(backend.template array<Input>(element_count(width_, capacity))),
        labels_(backend.template array<Label>(element_count(label_width_, capacity))),
        losses_(backend.template array<Scalar>(capacity)),
        current_{inputs_.data(), labels_.data()} {}

  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::size_t capacity() const { return capacity_; }
  std::size_t at_once() const { return workspace_.capacity(); }
  std::size_t size() const { return size_; }
  // Return pointers to the data of example `begin` of the batch; later examples follow.
  const Input* inputs(std::size_t begin = 0) const { return current_.inputs + begin * width_; }
  const Label* labels(std::size_t begin = 0) const { return current_.labels + begin * label_width_; }
  Scalar* losses(std::size_t begin = 0) { return losses_.data() + begin; }

  // Copies n <= capacity() examples into the batch. Throws Error if check() fails.
  template <class Data>
  void gather(const Backend& backend, const ModelType& model, const Data& data, const std::uint32_t* indices,
              std::size_t n) {
    use_own_memory(n);
    const auto index_of = [indices](std::size_t i) { return indices[i]; };
    if constexpr (Backend::on_host) {
      data.gather(indices, n, inputs_.data(), labels_.data());
      check(model, index_of, n, inputs_.data(), labels_.data());
    } else {
      host_inputs_.resize(capacity() * width_);
      host_labels_.resize(capacity() * label_width_);
      data.gather(indices, n, host_inputs_.data(), host_labels_.data());
      check(model, index_of, n, host_inputs_.data(), host_labels_.data());
      detail::send(backend, n * width_, host_inputs_.data(), inputs_.data());
      detail::send(backend, n * label_width_, host_labels_.data(), labels_.data());
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
  void load_range(const Backend& backend, const ModelType& model, const Data& data, std::size_t begin, std::size_t n) {
    if constexpr (reads_in_place<Data>()) {
      size_ = n;
      current_ = data.in_place(begin);
      check(
          model, [begin](std::size_t i) { return begin + i; }, n, current_.inputs, current_.labels);
    } else {
      range_.resize(n);
      for (std::size_t i = 0; i < n; ++i) range_[i] = static_cast<std::uint32_t>(begin + i);
      gather(backend, model, data, range_.data(), n);
    }
  }

  // Throws Error, naming the example, if a class label or a token is out of range or a real-valued label is not finite.
  // index_of(i) is the index of example i in the data set.
  template <class IndexOf>
  void check(const ModelType& model, const IndexOf& index_of, std::size_t n, const Input* inputs,
             const Label* labels) const {
    if constexpr (std::is_integral_v<Label>) {
      for (std::size_t i = 0; i < n; ++i)
        require(labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes_, "data: the label of example ",
                index_of(i), " is ", labels[i], ", expected [0, ", classes_, ")");
    } else {
      for (std::size_t i = 0; i < n * label_width_; ++i)
        require(labels[i] - labels[i] == 0, "data: value ", i % label_width_, " of the label of example ",
                index_of(i / label_width_), " is ", labels[i], ", expected a finite number");
    }
    if constexpr (std::is_integral_v<Input> && detail::HasTokens<ModelType>) {
      const std::size_t tokens = model.tokens(), width = model.input().size();
      for (std::size_t i = 0; i < n * width; ++i)
        require(inputs[i] >= 0 && static_cast<std::size_t>(inputs[i]) < tokens, "data: token ", i % width,
                " of example ", index_of(i / width), " is ", inputs[i], ", expected [0, ", tokens,
                "), the model's vocabulary");
    }
  }

  // Returns the LayerCall for a pass over `n` of the examples.
  LayerCall<Backend> call(const Backend& backend, const Layout& layout, const Scalar* values, Scalar* gradients,
                          std::size_t n, Mode mode, RandomKey key) {
    return workspace_.call(backend, layout, values, gradients, n, mode, key);
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

  std::size_t width_, label_width_, classes_, capacity_, size_ = 0;  // widths: elements per example
  Workspace<Backend> workspace_;
  typename Backend::template Array<Input> inputs_;
  typename Backend::template Array<Label> labels_;
  typename Backend::template Array<Scalar> losses_;
  ExamplesInPlace<Input, Label> current_;  // the examples of the batch, in the backend's memory
  std::vector<std::uint32_t> range_;
  std::vector<Input> host_inputs_;  // staging memory for a device
  std::vector<Label> host_labels_;
};

}  // namespace algoperf
