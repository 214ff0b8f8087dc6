#pragma once

#include <cstddef>
#include <utility>

#include "../../core/random.hpp"
#include "check_image.hpp"
#include "check_not_ragged.hpp"

namespace algoperf {

// Reverses the columns of each image with a probability.
// Field: images {rows, columns, channels} or {rows, columns}. torchvision: RandomHorizontalFlip.
struct RandomFlip {
  double probability = 0.5;
  const char* field = "input";

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    detail::check_not_ragged(batch, "RandomFlip", field);
    const detail::ImageShape image("RandomFlip", field, batch.shape(field));
    require(probability >= 0 && probability <= 1, "RandomFlip: probability is ", probability, ", expected [0, 1]");
    auto* const x = batch.reals(field);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!(RandomStream(key.fold(i)).uniform_double() < probability)) continue;
      for (std::size_t r = 0; r < image.rows; ++r) {
        auto* const row = x + (i * image.rows + r) * image.row_size();
        for (std::size_t c = 0; 2 * c + 1 < image.columns; ++c)
          for (std::size_t k = 0; k < image.channels; ++k)
            std::swap(row[c * image.channels + k], row[(image.columns - 1 - c) * image.channels + k]);
      }
    }
  }
};

}  // namespace algoperf
