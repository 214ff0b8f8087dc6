// ResidentData: a copy of a data set in the backend's memory, from which batches are gathered without the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/config.hpp"
#include "../core/error.hpp"
#include "../data/concept.hpp"

namespace algoperf {
namespace detail {

// The functor that copies example indices[i] of the data to row i of a batch.
template <class Input, class Label>
struct GatherExample {
  std::size_t width, label_width;
  const std::uint32_t* indices;
  const Input* from;
  const Label* from_labels;
  Input* to;
  Label* to_labels;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    const std::size_t index = indices[i];
    team.copy(width, from + index * width, to + i * width);
    team.copy(label_width, from_labels + index * label_width, to_labels + i * label_width);
  }
};

}  // namespace detail

template <class Input, class Label, class Backend>
class ResidentData {
 public:
  // Copies `data` part by part and calls check(indices, n, inputs, labels) for each part. Throws Error if the data does
  // not fit in the memory.
  template <class Data, class Check>
  ResidentData(const Backend& backend, const Data& data, const Check& check)
      : width_(data.shape().size()),
        label_width_(detail::label_width(data)),
        inputs_(backend.template array<Input>(element_count(data.size(), width_))),
        labels_(backend.template array<Label>(element_count(data.size(), label_width_))) {
    const std::size_t size = data.size(), most = 4096;
    std::vector<std::uint32_t> indices(most);
    std::vector<Input> inputs(most * width_);
    std::vector<Label> labels(most * label_width_);
    for (std::size_t begin = 0; begin < size; begin += most) {
      const std::size_t n = size - begin < most ? size - begin : most;
      for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint32_t>(begin + i);
      data.gather(indices.data(), n, inputs.data(), labels.data());
      check(indices.data(), n, inputs.data(), labels.data());
      backend.write(n * width_, inputs.data(), inputs_.data() + begin * width_);
      backend.write(n * label_width_, labels.data(), labels_.data() + begin * label_width_);
    }
  }

  // Gathers examples indices[0 .. n). All pointers point into the backend's memory.
  void gather(const Backend& backend, const std::uint32_t* indices, std::size_t n, Input* inputs, Label* labels) const {
    backend.for_each_row(n, width_ + label_width_,
                         detail::GatherExample<Input, Label>{width_, label_width_, indices, inputs_.data(),
                                                             labels_.data(), inputs, labels});
  }

 private:
  std::size_t width_, label_width_;
  typename Backend::template Array<Input> inputs_;
  typename Backend::template Array<Label> labels_;
};

// The training data of a run, copied to an asynchronous backend's memory if it fits.
template <class Input, class Label, class Backend>
class ResidentCopy {
 public:
  // For batches of up to `capacity` examples.
  ResidentCopy(const Backend& backend, std::size_t capacity)
      : indices_(backend.template array<std::uint32_t>(capacity)) {}

  // Copies `data` and calls check(indices, n, inputs, labels) for each part. If this would leave less than 64 MB of
  // memory free, nothing is copied, and batches are gathered on the host.
  template <class Data, class Check>
  void make(const Backend& backend, const Data& data, const Check& check) try {
    const auto margin = backend.template array<char>(std::size_t{1} << 26);
    data_.emplace(backend, data, check);
    source_ = &data;
  } catch (const OutOfMemory&) {
  }
  void release() { data_.reset(); }
  template <class Data>
  bool holds(const Data& data) const {
    return data_ && source_ == &data;
  }
  template <class Batch>
  void gather(const Backend& backend, const std::uint32_t* indices, std::size_t n, Batch& batch) {
    detail::send(backend, n, indices, indices_.data());
    batch.gather(backend, *data_, indices_.data(), n);
  }

 private:
  std::optional<ResidentData<Input, Label, Backend>> data_;
  const void* source_ = nullptr;
  typename Backend::template Array<std::uint32_t> indices_;
};

// For backends that share the host's memory.
template <class Backend>
struct NoResidentCopy {
  NoResidentCopy(const Backend&, std::size_t) {}
};

}  // namespace algoperf
