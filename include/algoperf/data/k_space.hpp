// Reconstruction of images from undersampled k-space, their Fourier transform, as a magnetic resonance scanner measures
// it. Includes Eigen's FFT (unsupported/Eigen/FFT).
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <iterator>
#include <unsupported/Eigen/FFT>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/shape.hpp"
#include "in_memory_fields.hpp"

namespace algoperf {

// Which columns of k-space are measured, with frequency 0 in column `columns` / 2: the central fraction, and each of
// the others with the same probability, so that 1 / acceleration of the columns are expected.
struct Undersampling {
  double acceleration = 4;
  double center_fraction = 0.08;  // floor(center_fraction * columns) columns are always measured

  // Throws Error unless acceleration is at least 1, the fraction lies in [0, 1], and no more than 1 / acceleration of
  // the columns are always measured.
  std::vector<bool> columns(std::size_t columns, RandomStream& random) const {
    require(acceleration >= 1, "Undersampling: acceleration is ", acceleration, ", expected at least 1");
    require(center_fraction >= 0 && center_fraction <= 1, "Undersampling: center_fraction is ", center_fraction,
            ", expected [0, 1]");
    const double all = static_cast<double>(columns), low = std::floor(center_fraction * all);
    require(low <= all / acceleration, "Undersampling: the central ", low, " of ", all,
            " columns are measured, expected at most ", all / acceleration, ": acceleration is ", acceleration);
    const double probability = low == all ? 1 : (all / acceleration - low) / (all - low);
    const auto first = static_cast<std::size_t>((all - low + 1) / 2), end = first + static_cast<std::size_t>(low);
    std::vector<bool> measured(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const bool drawn = random.uniform_double() < probability;
      measured[c] = drawn || (c >= first && c < end);
    }
    return measured;
  }
};

// Returns the magnitude of the image whose k-space is that of `image` in the measured columns, and zero in the others.
// Whole columns are zeroed, so that the transforms along columns cancel and only those of each row remain.
inline std::vector<float> zero_filled(std::size_t rows, const float* image, const std::vector<bool>& measured) {
  const std::size_t columns = measured.size();
  Eigen::FFT<double> transform;
  std::vector<std::complex<double>> row(columns), frequencies(columns);
  std::vector<float> magnitudes;
  magnitudes.reserve(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy(image + r * columns, image + (r + 1) * columns, row.begin());
    transform.fwd(frequencies, row);
    for (std::size_t c = 0; c < columns; ++c)  // the transform begins with frequency 0
      if (!measured[(c + columns / 2) % columns]) frequencies[c] = 0;
    transform.inv(row, frequencies);
    for (const std::complex<double>& pixel : row) magnitudes.push_back(static_cast<float>(std::abs(pixel)));
  }
  return magnitudes;
}

// The data set of a reconstruction: the zero-filled image, the fully sampled image, and the values that undo the
// standardisation of both and give their range: {mean, deviation, largest pixel of the fully sampled image}.
using ReconstructionFields = InMemoryFields<Field<"input", float>, Field<"label", float>, Field<"intensity", float>>;

// Undersamples images of shape {rows, columns, 1}, one after another in `images`. Input and label are standardised by
// the mean and the standard deviation of the zero-filled image, and clipped to [-6, 6]. The measured columns of image i
// depend on `key` and i alone. Pixels are at least 0, because a zero-filled image consists of magnitudes.
// Source: Zbontar et al. 2018, arXiv:1811.08839, sections 4.9 and 6.1, for a single coil, with random columns, as
// AlgoPerf prepares its fastmri workload, which also crops the images and takes the range of a whole volume.
inline ReconstructionFields undersample(const std::vector<float>& images, Shape shape, RandomKey key,
                                        const Undersampling& undersampling = {}) {
  require(shape.rank == 3 && shape.size() > 0 && shape[2] == 1, "undersample: images have shape ", describe(shape),
          ", expected {rows, columns, 1}");
  const std::size_t pixels = shape.size();
  require(images.size() % pixels == 0, "undersample: there are ", images.size(), " pixels, expected a multiple of ",
          pixels, ", those of an image");
  std::vector<float> inputs, labels, intensity;
  inputs.reserve(images.size());
  labels.reserve(images.size());
  for (std::size_t i = 0; i < images.size() / pixels; ++i) {
    const float* const image = images.data() + i * pixels;
    for (std::size_t j = 0; j < pixels; ++j)
      require(image[j] >= 0, "undersample: pixel ", j, " of image ", i, " is ", static_cast<double>(image[j]),
              ", expected at least 0");
    RandomStream random(key.fold(i));
    const std::vector<float> input = zero_filled(shape[0], image, undersampling.columns(shape[1], random));
    double sum = 0, squares = 0;
    for (const float x : input) sum += static_cast<double>(x);
    const double mean = sum / static_cast<double>(pixels);
    for (const float x : input) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(pixels));
    require(deviation > 0, "undersample: the pixels of image ", i, " are equal after undersampling");
    const auto standardised = [&](float x) {
      return static_cast<float>(std::clamp((static_cast<double>(x) - mean) / deviation, -6.0, 6.0));
    };
    std::transform(input.begin(), input.end(), std::back_inserter(inputs), standardised);
    std::transform(image, image + pixels, std::back_inserter(labels), standardised);
    intensity.insert(intensity.end(), {static_cast<float>(mean), static_cast<float>(deviation),
                                       *std::max_element(image, image + pixels)});
  }
  return ReconstructionFields({std::move(inputs), shape}, {std::move(labels), shape}, {std::move(intensity), {3}});
}

}  // namespace algoperf
