// gather_pair: copies the inputs and labels of a Dataset into the fields of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../data/concept.hpp"
#include "batch_fields.hpp"

namespace algoperf::detail {

inline constexpr std::size_t least_for_threads = 1 << 14;  // elements: fewer are copied by one thread

// data.gather(), on one thread or, for an InPlaceDataset, on all threads of a host backend.
template <class Backend, class Data, class X, class Y>
void gather_examples(const Backend& backend, const Data& data, const std::uint32_t* indices, std::size_t n, X* x, Y* y,
                     bool on_all_threads) {
  if constexpr (Backend::on_host && InPlaceDataset<Data>)
    if (const std::size_t width = data.shape().size(), parts = backend.concurrency();
        on_all_threads && parts > 1 && n * width >= least_for_threads)
      return backend.run_concurrently(parts, parts, [&](const auto&, std::size_t, std::size_t i) {
        const std::size_t begin = i * n / parts, end = (i + 1) * n / parts;
        data.gather(indices + begin, end - begin, x + begin * width, y + begin * label_width(data));
      });
  data.gather(indices, n, x, y);
}

template <class Backend, class Data>
void gather_pair(const Backend& backend, BatchFields<Backend>& fields, const Data& data, const std::uint32_t* indices,
                 std::size_t n, bool on_all_threads) {
  using Scalar = typename Backend::Scalar;
  const std::size_t input = fields.find("input"), label = fields.find("label");
  const auto gather_with = [&](auto* labels) {
    const auto size = [&] { return n * data.shape().size(); };
    if constexpr (std::is_integral_v<typename Data::Input>)
      if (input < fields.size() && fields[input].holds_tokens())
        return gather_examples(backend, data, indices, n, fields.template target<std::int32_t>("input", 0, size),
                               labels, on_all_threads);
    gather_examples(backend, data, indices, n, fields.template target<Scalar>("input", 0, size), labels,
                    on_all_threads);
  };
  const auto label_elements = [&] { return n * label_width(data); };
  if constexpr (Unlabelled<Data>) {
    if (label < fields.size() && !fields[label].holds_tokens())
      return gather_with(fields.template target<Scalar>("label", 1, [&] { return n * fields[label].width(); }));
  }
  if constexpr (RegressionDataset<Data>)
    gather_with(fields.template target<Scalar>("label", 1, label_elements));
  else
    gather_with(fields.template target<std::int32_t>("label", 1, label_elements));
}

}  // namespace algoperf::detail
