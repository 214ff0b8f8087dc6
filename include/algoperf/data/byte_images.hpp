// ByteImages: images with 8 bits per channel in memory, which batches receive as normalised real numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "concept.hpp"
#include "shared.hpp"
#include "slice.hpp"

namespace algoperf {

// The mean and standard deviation of each channel of byte / 255.
struct ChannelStatistics {
  static constexpr std::size_t max_channels = 4;
  std::array<double, max_channels> mean{}, deviation{1, 1, 1, 1};
};

// An image classification data set. Images have shape {rows, columns, channels}, with at most 4 channels. An element of
// a batch is (byte / 255 - mean) / deviation of its channel. It takes a quarter of the memory of InMemory<float>.
// Copies share the images.
class ByteImages {
 public:
  using Input = float;

  // `bytes` holds images in the order rows, columns, channels. Throws Error if the sizes do not fit, a label is outside
  // [0, classes), or a deviation is not positive.
  ByteImages(std::vector<std::uint8_t> bytes, std::vector<std::int32_t> labels, const Shape& shape, std::size_t classes,
             const ChannelStatistics& statistics = {})
      : images_(Images{std::move(bytes), std::move(labels)}), shape_(shape), classes_(classes) {
    require(shape.rank == 3 && shape.size() > 0 && shape[2] <= ChannelStatistics::max_channels,
            "ByteImages: the shape has rank ", shape.rank, " and ", shape.rank == 3 ? shape[2] : 0,
            " channels, expected {rows, columns, channels} with 1 to 4 channels");
    require(images_->bytes.size() == images_->labels.size() * shape.size(), "ByteImages: there are ",
            images_->bytes.size(), " bytes and ", images_->labels.size(), " labels, expected ", shape.size(),
            " bytes per label");
    require(size() <= max_examples, "ByteImages: there are ", size(), " images, expected at most ", max_examples,
            ": indices have 32 bits");
    for (std::size_t i = 0; i < size(); ++i)
      require(images_->labels[i] >= 0 && static_cast<std::size_t>(images_->labels[i]) < classes, "ByteImages: label ",
              i, " is ", images_->labels[i], ", expected [0, ", classes, ")");
    for (std::size_t k = 0; k < shape[2]; ++k) {
      require(statistics.deviation[k] > 0, "ByteImages: the deviation of channel ", k, " is ", statistics.deviation[k],
              ", expected more than 0");
      for (std::size_t byte = 0; byte < 256; ++byte)
        values_[k][byte] =
            static_cast<float>((static_cast<double>(byte) / 255 - statistics.mean[k]) / statistics.deviation[k]);
    }
  }

  std::size_t size() const { return images_->labels.size(); }
  Shape shape() const { return shape_; }
  std::size_t classes() const { return classes_; }
  const std::vector<std::uint8_t>& bytes() const { return images_->bytes; }
  const std::vector<std::int32_t>& labels() const { return images_->labels; }

  // Returns examples [begin, end) as a data set that shares the images.
  Slice<ByteImages> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  // Does not check indices: each must be below size().
  template <class T>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, std::int32_t* labels) const {
    const std::size_t size = shape_.size(), channels = shape_[2];
    for (std::size_t i = 0; i < n; ++i, inputs += size) {
      const std::uint8_t* const image = images_->bytes.data() + indices[i] * size;
      for (std::size_t p = 0; p < size; p += channels)
        for (std::size_t k = 0; k < channels; ++k) inputs[p + k] = static_cast<T>(values_[k][image[p + k]]);
      labels[i] = images_->labels[indices[i]];
    }
  }

 private:
  struct Images {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int32_t> labels;
  };
  Shared<Images> images_;
  Shape shape_;
  std::size_t classes_;
  std::array<std::array<float, 256>, ChannelStatistics::max_channels> values_{};
};

}  // namespace algoperf
