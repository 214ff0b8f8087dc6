// Slice: the examples [begin, end) of a data set, as a data set; used to split one file into training and validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "concept.hpp"
#include "fields.hpp"

namespace algoperf {

// Holds the data set by value, so a slice may outlive the object it was created from. The library's own data sets are
// cheap to copy: InMemory and Text share their storage, and Glyphs has four scalar fields. Example i of the slice is
// example begin + i of the whole data set.
template <class Whole>
class Slice {
 public:
  using Input = typename Whole::Input;
  using ReadsInPlace = Slice;
  using Label = detail::LabelOf<Whole>;
  static constexpr bool has_labels = !detail::Unlabelled<Whole>;

  // Throws Error unless begin <= end <= whole.size().
  Slice(Whole whole, std::size_t begin, std::size_t end) : whole_(std::move(whole)), begin_(begin), size_(end - begin) {
    require(begin <= end && end <= whole_.size(), "Slice: the range is [", begin, ", ", end,
            "), expected begin <= end <= ", whole_.size());
    require(end <= max_examples, "Slice: the range ends at example ", end, ", expected at most ", max_examples,
            ": indices have 32 bits");
  }

  std::size_t size() const { return size_; }
  Shape shape() const { return whole_.shape(); }
  std::size_t classes() const requires(!RegressionDataset<Whole>) { return whole_.classes(); }
  Shape label_shape() const requires RegressionDataset<Whole> { return whole_.label_shape(); }
  Whole whole() const { return whole_; }

  // Returns a slice of this slice; `begin` and `end` count from this slice's own begin.
  Slice subset(std::size_t begin, std::size_t end) const {
    require(begin <= end && end <= size_, "Slice: the range is [", begin, ", ", end,
            "), expected begin <= end <= ", size_);
    return Slice(whole_, begin_ + begin, begin_ + end);
  }

  auto in_place(std::size_t begin) const requires detail::InPlaceDataset<Whole> {
    return whole_.in_place(begin_ + begin);
  }
  template <class T, class L>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const {
    constexpr std::size_t block = 64;  // indices shifted per pass; avoids an allocation
    std::uint32_t shifted[block];
    const std::size_t width = shape().size(), label_width = detail::label_width(whole_);
    for (std::size_t done = 0; done < n; done += block) {
      const std::size_t m = n - done < block ? n - done : block;
      for (std::size_t i = 0; i < m; ++i) shifted[i] = static_cast<std::uint32_t>(begin_ + indices[done + i]);
      whole_.gather(shifted, m, inputs + done * width, labels + done * label_width);
    }
  }

 private:
  Whole whole_;
  std::size_t begin_, size_;
};

// The same for a data set of fields.
template <FieldDataset Whole>
class Slice<Whole> {
  static_assert(!detail::RandomDataset<Whole>,
                "algoperf: a slice of transformed data would drop the transforms: transform the slice instead");

 public:
  using Fields = typename Whole::Fields;

  // Throws Error unless begin <= end <= whole.size().
  Slice(Whole whole, std::size_t begin, std::size_t end) : whole_(std::move(whole)), begin_(begin), size_(end - begin) {
    require(begin <= end && end <= whole_.size(), "Slice: the range is [", begin, ", ", end,
            "), expected begin <= end <= ", whole_.size());
    require(end <= max_examples, "Slice: the range ends at example ", end, ", expected at most ", max_examples,
            ": indices have 32 bits");
  }

  std::size_t size() const { return size_; }
  Shape shape(std::string_view field) const { return whole_.shape(field); }
  std::string_view axis(std::string_view field) const requires RaggedDataset<Whole> { return whole_.axis(field); }
  std::size_t rows(std::string_view axis, std::size_t example) const requires RaggedDataset<Whole> {
    return whole_.rows(axis, begin_ + example);
  }
  Whole whole() const { return whole_; }
  Slice subset(std::size_t begin, std::size_t end) const {
    require(begin <= end && end <= size_, "Slice: the range is [", begin, ", ", end,
            "), expected begin <= end <= ", size_);
    return Slice(whole_, begin_ + begin, begin_ + end);
  }

  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    constexpr std::size_t block = 64;
    std::uint32_t shifted[block];
    for (std::size_t done = 0; done < n; done += block) {
      const std::size_t m = n - done < block ? n - done : block;
      for (std::size_t i = 0; i < m; ++i) shifted[i] = static_cast<std::uint32_t>(begin_ + indices[done + i]);
      whole_.gather(shifted, m, RowsFrom<To>{to, *this, indices, done});
    }
  }

 private:
  // Writes to the rows of example `first` and those after it.
  template <class To>
  struct RowsFrom {
    const To& to;
    const Slice& slice;
    const std::uint32_t* indices;
    std::size_t first;
    template <FieldName name>
    auto* at() const {
      return to.template at<name>() + detail::rows_of_field(slice, name, indices, first) * slice.shape(name).size();
    }
  };

  Whole whole_;
  std::size_t begin_, size_;
};

}  // namespace algoperf
