// Phantoms: synthetic grey images that resemble slices through a head, for reconstruction without a download.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../core/shape.hpp"

namespace algoperf {

// Random ellipses of constant intensity that add up, as in the phantom of Shepp & Logan 1974, "The Fourier
// reconstruction of a head section": a bright skull, the tissue in it, and 3 to `details` ellipses centred in the
// tissue. Pixels lie in [0, 1]; each is the mean of 4 x 4 samples. Image i depends on first + i and on the members
// except count.
//   seed     selects the stream of images
//   first    offset in the stream of image 0; use disjoint ranges of one stream as training and test sets
//   count    number of images
//   rows, columns    at least 1
//   details  3 to 2^20
struct Phantoms {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 4000;
  std::size_t rows = 32, columns = 32;
  std::size_t details = 10;

  std::size_t size() const { return count; }
  Shape shape() const { return {rows, columns, 1}; }

  // Draws image i into rows * columns pixels.
  void draw(std::size_t i, float* image) const;
  // Returns all images, one after another.
  std::vector<float> render() const;

 private:
  static constexpr std::uint64_t stream_tag = 0x7068616E746F6D;  // "phantom"

  // The points (x, y), in [-1, 1] x [-1, 1], with |M (x - x0, y - y0)| <= 1.
  struct Ellipse {
    double x0, y0, xx, xy, yx, yy, intensity;
    double half_width, half_height;  // of the rectangle around it

    // half_tangent: the tangent of half the rotation angle. There is no angle, because sines and cosines differ between
    // machines.
    Ellipse(double x, double y, double first_axis, double second_axis, double half_tangent, double added)
        : x0(x), y0(y), intensity(added) {
      const double square = half_tangent * half_tangent;
      const double cosine = (1 - square) / (1 + square), sine = 2 * half_tangent / (1 + square);
      xx = cosine / first_axis, xy = sine / first_axis;
      yx = -sine / second_axis, yy = cosine / second_axis;
      half_width = std::sqrt(first_axis * cosine * first_axis * cosine + second_axis * sine * second_axis * sine);
      half_height = std::sqrt(first_axis * sine * first_axis * sine + second_axis * cosine * second_axis * cosine);
    }
    bool contains(double x, double y) const {
      const double u = xx * (x - x0) + xy * (y - y0), v = yx * (x - x0) + yy * (y - y0);
      return u * u + v * v <= 1;
    }
  };
};

inline void Phantoms::draw(std::size_t i, float* image) const {
  require(rows > 0 && columns > 0, "Phantoms: images have ", rows, " rows and ", columns,
          " columns, expected at least 1 each");
  require(details >= 3 && details <= 1 << 20, "Phantoms: details is ", details, ", expected 3 to 2^20");
  RandomStream random(RandomKey{seed}.fold(stream_tag).fold(first + i));
  const auto between = [&random](double low, double high) { return low + (high - low) * random.uniform_double(); };
  std::vector<Ellipse> ellipses;
  const double x = between(-0.08, 0.08), y = between(-0.08, 0.08), turn = between(-0.15, 0.15);
  const double wide = between(0.6, 0.8), high = between(0.75, 0.9), skull = between(0.06, 0.1);
  ellipses.emplace_back(x, y, wide, high, turn, 1);
  ellipses.emplace_back(x, y, wide - skull, high - skull, turn, between(-0.75, -0.6));
  const std::size_t inner = 3 + random.below(static_cast<std::uint32_t>(details - 2));
  for (std::size_t k = 0; k < inner; ++k) {
    const double at_x = x + between(-0.5, 0.5) * wide, at_y = y + between(-0.5, 0.5) * high;
    const double first_axis = between(0.05, 0.3), second_axis = between(0.05, 0.3), tangent = between(-1, 1);
    ellipses.emplace_back(at_x, at_y, first_axis, second_axis, tangent, between(-0.25, 0.35));
  }
  constexpr std::size_t samples = 4;
  const std::size_t wide_samples = columns * samples, high_samples = rows * samples;
  const auto place = [](std::size_t k, std::size_t of) {
    return (2 * static_cast<double>(k) + 1) / static_cast<double>(of) - 1;
  };
  std::vector<double> intensities(wide_samples * high_samples);
  for (const Ellipse& ellipse : ellipses)
    for (std::size_t r = 0; r < high_samples; ++r) {
      const double at_y = place(r, high_samples);
      if (std::abs(at_y - ellipse.y0) > ellipse.half_height) continue;
      for (std::size_t c = 0; c < wide_samples; ++c)
        if (const double at_x = place(c, wide_samples);
            std::abs(at_x - ellipse.x0) <= ellipse.half_width && ellipse.contains(at_x, at_y))
          intensities[r * wide_samples + c] += ellipse.intensity;
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < samples * samples; ++k)
        sum +=
            std::clamp(intensities[(r * samples + k / samples) * wide_samples + c * samples + k % samples], 0.0, 1.0);
      image[r * columns + c] = static_cast<float>(sum / (samples * samples));
    }
}

inline std::vector<float> Phantoms::render() const {
  const std::size_t pixels = rows * columns;
  std::vector<float> images(count * pixels);
  for (std::size_t i = 0; i < count; ++i) draw(i, images.data() + i * pixels);
  return images;
}

}  // namespace algoperf
