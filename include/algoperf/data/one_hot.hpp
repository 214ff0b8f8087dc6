// one_hot(data): a data set whose class labels become one-hot vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/error.hpp"
#include "fields.hpp"

namespace algoperf {

// Has the fields "input" and "label" of `data`; a label has data.classes() values. For SoftCrossEntropy and Mixup.
template <class Data>
class OneHot {
 public:
  using Fields = FieldList<Field<"input", typename Data::Input>, Field<"label", float>>;

  explicit OneHot(const Data& data) : data_(data) {}

  std::size_t size() const { return data_.size(); }
  Shape shape(std::string_view field) const { return field == "label" ? Shape{data_.classes()} : data_.shape(); }

  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    constexpr std::size_t block = 64;
    std::int32_t classes[block];
    auto* inputs = to.template at<"input">();
    auto* labels = to.template at<"label">();
    const std::size_t count = data_.classes();
    for (std::size_t i = 0; i < n * count; ++i) labels[i] = 0;
    for (std::size_t done = 0; done < n; done += block) {
      const std::size_t m = n - done < block ? n - done : block;
      data_.gather(indices + done, m, inputs + done * data_.shape().size(), classes);
      for (std::size_t i = 0; i < m; ++i) {
        require(classes[i] >= 0 && static_cast<std::size_t>(classes[i]) < count, "one_hot: the label of example ",
                indices[done + i], " is ", classes[i], ", expected [0, ", count, ")");
        labels[(done + i) * count + static_cast<std::size_t>(classes[i])] = 1;
      }
    }
  }

 private:
  Data data_;
};
template <class Data>
OneHot<Data> one_hot(const Data& data) {
  return OneHot<Data>(data);
}

}  // namespace algoperf
