#pragma once

#include <cstddef>

#include "../../core/random.hpp"
#include "check_image.hpp"
#include "check_not_ragged.hpp"

namespace algoperf {

// Sets a square of `size` x `size` pixels of each image to zero. Its centre is uniform over the image, so squares at
// the edge are partly outside.
// Field: images {rows, columns, channels} or {rows, columns}. Source: DeVries & Taylor 2017, arXiv:1708.04552.
struct Cutout {
  std::size_t size = 8;
  const char* field = "input";

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    detail::check_not_ragged(batch, "Cutout", field);
    const detail::ImageShape image("Cutout", field, batch.shape(field));
    auto* const x = batch.reals(field);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RandomStream random(key.fold(i));
      const std::size_t row = random.below(static_cast<std::uint32_t>(image.rows));
      const std::size_t column = random.below(static_cast<std::uint32_t>(image.columns));
      const std::size_t top = begin(row), bottom = end(row, image.rows), left = begin(column),
                        right = end(column, image.columns);
      for (std::size_t r = top; r < bottom; ++r) {
        auto* const pixels = x + (i * image.rows + r) * image.row_size();
        for (std::size_t c = left * image.channels; c < right * image.channels; ++c) pixels[c] = 0;
      }
    }
  }

 private:
  std::size_t begin(std::size_t centre) const { return centre < size / 2 ? 0 : centre - size / 2; }
  std::size_t end(std::size_t centre, std::size_t extent) const {
    const std::size_t whole = centre + (size - size / 2);
    return whole < extent ? whole : extent;
  }
};

}  // namespace algoperf
