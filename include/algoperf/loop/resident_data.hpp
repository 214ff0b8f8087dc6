// ResidentData: a data set in the backend's memory, from which batches are gathered there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"

namespace algoperf {
namespace detail {

// Example i of a batch.
template <class Input>
struct GatherExample {
  std::size_t width;
  const std::uint32_t* indices;
  const Input* from;
  const std::int32_t* from_labels;
  Input* to;
  std::int32_t* to_labels;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    const std::size_t index = indices[i];
    team.copy(width, from + index * width, to + i * width);
    to_labels[i] = from_labels[index];
  }
};

}  // namespace detail

template <class Input, class Backend>
class ResidentData {
 public:
  // Copies `data` in; check(indices, n, inputs, labels) sees it part by part. Throws Error if it does not fit.
  template <class Data, class Check>
  ResidentData(const Backend& backend, const Data& data, const Check& check)
      : width_(data.shape().size()),
        inputs_(backend.template array<Input>(data.size() * width_)),
        labels_(backend.template array<std::int32_t>(data.size())) {
    const std::size_t size = data.size(), most = 4096;
    std::vector<std::uint32_t> indices(most);
    std::vector<Input> inputs(most * width_);
    std::vector<std::int32_t> labels(most);
    for (std::size_t begin = 0; begin < size; begin += most) {
      const std::size_t n = size - begin < most ? size - begin : most;
      for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint32_t>(begin + i);
      data.gather(indices.data(), n, inputs.data(), labels.data());
      check(indices.data(), n, inputs.data(), labels.data());
      backend.write(n * width_, inputs.data(), inputs_.data() + begin * width_);
      backend.write(n, labels.data(), labels_.data() + begin);
    }
  }

  // Examples indices[0 .. n), which lie in the backend's memory as the rest does.
  void gather(const Backend& backend, const std::uint32_t* indices, std::size_t n, Input* inputs,
              std::int32_t* labels) const {
    backend.for_each_row(n, width_,
                         detail::GatherExample<Input>{width_, indices, inputs_.data(), labels_.data(), inputs, labels});
  }

 private:
  std::size_t width_;
  typename Backend::template Array<Input> inputs_;
  typename Backend::template Array<std::int32_t> labels_;
};

}  // namespace algoperf
