// ResidentData: a data set in the backend's memory, from which batches are gathered there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"
#include "../data/concept.hpp"

namespace algoperf {
namespace detail {

// Example i of a batch.
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
  // Copies `data` in; check(indices, n, inputs, labels) sees it part by part. Throws Error if it does not fit.
  template <class Data, class Check>
  ResidentData(const Backend& backend, const Data& data, const Check& check)
      : width_(data.shape().size()),
        label_width_(detail::label_width(data)),
        inputs_(backend.template array<Input>(data.size() * width_)),
        labels_(backend.template array<Label>(data.size() * label_width_)) {
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

  // Examples indices[0 .. n), which lie in the backend's memory as the rest does.
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

}  // namespace algoperf
