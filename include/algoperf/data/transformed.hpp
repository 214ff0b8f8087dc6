// transformed(data, transforms...): data augmentation. Each training step applies random transforms to its examples.
//
//   const auto train = transformed(task.train(), RandomCrop{.padding = 4}, RandomFlip{});
//   loop.run(train, Evaluate(validation, ErrorRate{}, {.every = 500}), ...);
//
// A transform is a plain value that changes the fields of a batch in place:
//
//   struct Noise {
//     double deviation = 0.1;
//     template <class Batch>
//     void operator()(const Batch& batch, RandomKey key) const {
//       auto* const x = batch.reals("input");  // float or double; batch.size() rows, because "input" is not ragged
//       const std::size_t width = batch.shape("input").size();
//       for (std::size_t i = 0; i < batch.size(); ++i) {
//         RandomStream random(key.fold(i));
//         for (std::size_t j = 0; j < width; ++j) x[i * width + j] += deviation * random.normal();
//       }
//     }
//   };
//
// Transforms run in order. Each has a key of its own in each step, which depends on the loop's seed, the step and the
// transform's place. A transform draws the random numbers of example i from key.fold(i), where i is its place in the
// step's batch, and those of the whole batch from `key`. The random numbers then do not depend on threads, workers,
// prefetching or resumption.
// Evaluations and predictions gather examples without transforms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/tuple.hpp"
#include "fields.hpp"
#include "prefetched.hpp"
#include "slice.hpp"

namespace algoperf {

// The fields of the examples of a batch, in host memory.
template <class To, class Data>
class GatheredBatch {
 public:
  GatheredBatch(const To& to, const Data& data, const std::uint32_t* indices, std::size_t size)
      : to_(to), data_(data), indices_(indices), size_(size) {}

  std::size_t size() const { return size_; }  // examples
  Shape shape(std::string_view field) const { return data_.shape(field); }
  // Returns the number of rows of example i of the batch in a field: 1 unless the field lies on a ragged axis.
  std::size_t rows(std::string_view field, std::size_t i) const {
    return detail::rows_of_field(data_, field, indices_ + i, 1);
  }
  bool is_ragged(std::string_view field) const { return !detail::axis_of_field(data_, field).empty(); }
  // Return the rows of all examples in a field: of the backend's Scalar, or of std::int32_t. Throw Error unless the
  // data set has a field of this name and type.
  auto* reals(std::string_view field) const { return elements<false>(field); }
  std::int32_t* tokens(std::string_view field) const { return elements<true>(field); }

 private:
  using Fields = typename Data::Fields;

  template <bool tokens>
  auto* elements(std::string_view field) const {
    constexpr std::size_t some = find_type(tokens);
    static_assert(some < Fields::size, "algoperf: the data set has no field of the type that the transform changes");
    decltype(to_.template at<Fields::template name_of<some>>()) found = nullptr;
    bool exists = false;
    for_each_index<Fields::size>([&](auto i) {
      if constexpr (Fields::holds_tokens[i] == tokens)
        if (Fields::names[i] == field) {
          exists = true;
          found = to_.template at<Fields::template name_of<i>>();  // null if no example has rows
        }
    });
    require(exists, "data: a transform changes the field '", std::string(field), "', but the data set has no ",
            "field of this name that holds ", tokens ? "tokens" : "real values");
    return found;
  }
  static constexpr std::size_t find_type(bool tokens) {
    std::size_t i = 0;
    while (i < Fields::size && Fields::holds_tokens[i] != tokens) ++i;
    return i;
  }

  const To& to_;
  const Data& data_;
  const std::uint32_t* indices_;
  std::size_t size_;
};

template <class Data, class... Transforms>
class Transformed {
  static_assert(
      !detail::PrefetchedDataset<Data>,
      "algoperf: transforms of prefetched data would not be prefetched: prefetch the transformed data instead");

 public:
  using Fields = detail::FieldsOf<Data>;
  static constexpr bool is_random = true;

  explicit Transformed(const Data& data, const Transforms&... transforms) : data_(data), transforms_(transforms...) {}

  std::size_t size() const { return data_.size(); }
  Shape shape(std::string_view field) const {
    if constexpr (FieldDataset<Data>)
      return data_.shape(field);
    else if constexpr (RegressionDataset<Data>)
      return field == "label" ? data_.label_shape() : data_.shape();
    else
      return field == "label" ? Shape{1} : data_.shape();
  }
  std::string_view axis(std::string_view field) const requires RaggedDataset<Data> { return data_.axis(field); }
  std::size_t rows(std::string_view axis, std::size_t example) const requires RaggedDataset<Data> {
    return data_.rows(axis, example);
  }
  const Data& untransformed() const { return data_; }

  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    if constexpr (FieldDataset<Data>)
      data_.gather(indices, n, to);
    else
      data_.gather(indices, n, to.template at<"input">(), to.template at<"label">());
  }
  // Gathers examples and transforms them with the random numbers of `key`.
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to, RandomKey key) const {
    if constexpr (detail::RandomDataset<Data>)
      data_.gather(indices, n, to, key.fold(sizeof...(Transforms)));
    else
      gather(indices, n, to);
    const GatheredBatch<To, Transformed> batch(to, *this, indices, n);
    std::apply(
        [&](const Transforms&... transform) {
          std::uint64_t place = 0;
          (transform(batch, key.fold(place++)), ...);
        },
        transforms_);
  }

 private:
  Data data_;
  std::tuple<Transforms...> transforms_;
};

template <class Data, class... Transforms>
Transformed<Data, Transforms...> transformed(const Data& data, const Transforms&... transforms) {
  return Transformed<Data, Transforms...>(data, transforms...);
}

}  // namespace algoperf
