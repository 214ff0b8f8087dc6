#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../../core/random.hpp"
#include "check_image.hpp"
#include "check_not_ragged.hpp"

namespace algoperf {

// Pads each image by `padding` zeros on every side and crops it to its size at a random place, which moves it by up to
// `padding` rows and columns.
// Field: images {rows, columns, channels} or {rows, columns}. torchvision: RandomCrop(size, padding).
struct RandomCrop {
  std::size_t padding = 4;
  const char* field = "input";

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    detail::check_not_ragged(batch, "RandomCrop", field);
    const detail::ImageShape image("RandomCrop", field, batch.shape(field));
    require(padding <= INT32_MAX, "RandomCrop: padding is ", padding, ", expected at most ", INT32_MAX);
    auto* const x = batch.reals(field);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RandomStream random(key.fold(i));
      const auto shift = [&] {
        const auto drawn = static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint32_t>(2 * padding + 1)));
        return drawn - static_cast<std::ptrdiff_t>(padding);
      };
      const std::ptrdiff_t down = shift(), right = shift();
      move(image, x + i * image.size(), down, right);
    }
  }

 private:
  // Replaces pixel (r, c) by pixel (r + down, c + right) of the padded image, in an order that reads each row before it
  // is overwritten.
  template <class S>
  static void move(const detail::ImageShape& image, S* x, std::ptrdiff_t down, std::ptrdiff_t right) {
    const auto rows = static_cast<std::ptrdiff_t>(image.rows), columns = static_cast<std::ptrdiff_t>(image.columns);
    const auto channels = static_cast<std::ptrdiff_t>(image.channels), row_size = columns * channels;
    const std::ptrdiff_t distance = right < 0 ? -right : right;
    const std::ptrdiff_t gap = distance < columns ? distance : columns, kept = columns - gap;
    const auto clear = [](S* begin, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = 0; i < n; ++i) begin[i] = S(0);
    };
    for (std::ptrdiff_t k = 0; k < rows; ++k) {
      const std::ptrdiff_t r = down < 0 ? rows - 1 - k : k, from = r + down;
      S* const to = x + r * row_size;
      if (from < 0 || from >= rows) {
        clear(to, row_size);
        continue;
      }
      const S* const source = x + from * row_size + (right > 0 ? gap * channels : 0);
      std::memmove(to + (right < 0 ? gap * channels : 0), source,
                   static_cast<std::size_t>(kept * channels) * sizeof(S));
      clear(to + (right < 0 ? 0 : kept * channels), gap * channels);
    }
  }
};

}  // namespace algoperf
