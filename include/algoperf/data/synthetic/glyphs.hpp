// Glyphs: synthetic images that resemble handwritten digits, for runs without a download.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../core/shape.hpp"
#include "../in_memory.hpp"
#include "glyphs_pen.hpp"

namespace algoperf {

// Ten classes of 28x28x1 grey images in [0, 1], as in MNIST. Strokes are rendered with random affine maps, thickness,
// elastic bend and noise from the counter-based generator, so example i of seed s is the same on every machine and the
// number of examples is unlimited. Optional label noise gives a known irreducible error. Drawing uses integers; the
// only floating-point operation is the last one, pixel / 255.
//   seed         selects the stream of examples
//   first        offset in the stream of example 0; use disjoint ranges of one stream as training and test sets
//   count        number of examples, below 2^32
//   label_noise  in [0, 1]: the probability that a label is replaced by one of the nine others; if it is below 9/10,
//                no classifier has a lower expected error
// Validation error after training on 50,000 (10,000 held out, Adam, batch 128): softmax regression 37 %, an MLP of
// 256-256 hidden units 2.7 % in 10 epochs; with AdamW, the simple CNN 1.5 % in one epoch, 0.7 % in two, 0.5 % in four.
// Cost: gather() draws each example anew in about 8 us. A run reads each example many times, so train on the result of
// render() instead.
struct Glyphs {
  using Input = float;

  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 50000;
  double label_noise = 0;

  std::size_t size() const { return count; }
  Shape shape() const { return {glyphs::side, glyphs::side, 1}; }
  std::size_t classes() const { return glyphs::digits; }

  // Draws example `i` into 28 * 28 bytes and returns its label.
  std::int32_t draw(std::size_t i, std::uint8_t* image) const;

  template <class T>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, std::int32_t* labels) const {
    std::uint8_t image[glyphs::pixels];
    for (std::size_t i = 0; i < n; ++i) {
      labels[i] = draw(indices[i], image);
      for (std::size_t j = 0; j < glyphs::pixels; ++j)
        inputs[i * glyphs::pixels + j] = static_cast<T>(image[j]) / static_cast<T>(255);
    }
  }

  // Returns all examples, drawn once and stored: 3 kB each.
  InMemory<float> render() const;

 private:
  static constexpr std::uint64_t stream_tag = 0x676C79706873;  // "glyphs"

  std::uint64_t flip_threshold() const {
    require(label_noise >= 0 && label_noise <= 1, "Glyphs: label_noise is ", label_noise, ", expected [0, 1]");
    return static_cast<std::uint64_t>(label_noise * 0x1p32);
  }

  // Returns an integer uniform in [-most, most].
  static std::int32_t around_zero(RandomStream& random, std::int32_t most);

  struct Paper;
  static void write(const glyphs::Style& style, RandomStream& random, std::uint8_t* image);

  // Writes the pen's image with uniform noise added to each pixel, from one random byte per pixel.
  static void develop(const glyphs::Pen& pen, RandomStream& random, std::uint8_t* image);
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED std::int32_t Glyphs::draw(std::size_t i, std::uint8_t* image) const {
  RandomStream random(RandomKey{seed}.fold(stream_tag).fold(first + i));
  const std::uint32_t digit = random.below(glyphs::digits);
  const bool noisy = random.bits() < flip_threshold();
  const std::uint32_t other = (digit + 1 + random.below(glyphs::digits - 1)) % glyphs::digits;
  write(glyphs::styles[digit][random.below(glyphs::styles_per_digit)], random, image);
  return static_cast<std::int32_t>(noisy ? other : digit);
}

ALGOPERF_COMPILED ALGOPERF_COLD InMemory<float> Glyphs::render() const {
  std::vector<float> inputs(count * glyphs::pixels);
  std::vector<std::int32_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t index = static_cast<std::uint32_t>(i);
    gather(&index, 1, inputs.data() + i * glyphs::pixels, labels.data() + i);
  }
  return InMemory<float>(std::move(inputs), std::move(labels), shape(), classes());
}

ALGOPERF_COMPILED std::int32_t Glyphs::around_zero(RandomStream& random, std::int32_t most) {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(2 * most + 1))) - most;
}

// The map from the coordinates of a stroke to the image: bend, then scale, slant, rotation and shift. Lengths are in
// grains, factors in 1/4096.
struct Glyphs::Paper {
  std::int32_t bend_x, bend_y, xx, xy, yx, yy, shift_x, shift_y;

  explicit Paper(RandomStream& random) : bend_x(around_zero(random, 128)), bend_y(around_zero(random, 100)) {
    // The rotation by 2 atan(h / 256) is the rational point ((256^2 - h^2), 2 * 256 h) / (256^2 + h^2) of the circle.
    const std::int32_t h = around_zero(random, 50), whole = 65536 + h * h;
    const std::int32_t cosine = (65536 - h * h) * 4096 / whole, sine = 512 * h * 4096 / whole;
    const std::int32_t wide = 3600 + around_zero(random, 1100), high = 3500 + around_zero(random, 800);
    const std::int32_t slant = around_zero(random, 1700) - 300;
    xx = cosine * wide >> 12;
    yx = sine * wide >> 12;
    xy = ((cosine * slant >> 12) - sine) * high >> 12;
    yy = ((sine * slant >> 12) + cosine) * high >> 12;
    shift_x = glyphs::side * glyphs::grain / 2 + around_zero(random, 256);
    shift_y = glyphs::side * glyphs::grain / 2 + around_zero(random, 220);
  }

  glyphs::Point operator()(glyphs::Point p) const {
    const std::int32_t x = p.x + (bend_x * (p.y * p.y >> 12) >> 7), y = p.y + (bend_y * (p.x * p.x >> 12) >> 7);
    return {((xx * x + xy * y) >> 12) + shift_x, ((yx * x + yy * y) >> 12) + shift_y};
  }
};

ALGOPERF_COMPILED void Glyphs::write(const glyphs::Style& style, RandomStream& random, std::uint8_t* image) {
  constexpr std::int32_t unit = 21;     // grains in a unit of the styles: a digit is 20 pixels high
  constexpr std::int32_t tremor = 116;  // maximum random offset of a control point, in grains
  const Paper paper(random);
  glyphs::Pen pen{72 + around_zero(random, 32),
                  215 + around_zero(random, 40)};  // braces: the random draws are evaluated left to right
  glyphs::Point stroke[glyphs::Style::max_points] = {};
  int n = 0;
  for (int i = 0; i < style.size; ++i) {
    const glyphs::Point p = style.points[i];
    if (p == glyphs::lift) {
      pen.stroke(stroke, n);
      n = 0;
    } else if (n > 0 && p == style.points[i - 1]) {
      stroke[n] = stroke[n - 1];  // keeps the two points of a corner equal
      ++n;
    } else {
      stroke[n++] = paper({(p.x - glyphs::box_width / 2) * unit + around_zero(random, tremor),
                           (p.y - glyphs::box_height / 2) * unit + around_zero(random, tremor)});
    }
  }
  pen.stroke(stroke, n);
  develop(pen, random, image);
}

ALGOPERF_COMPILED void Glyphs::develop(const glyphs::Pen& pen, RandomStream& random, std::uint8_t* image) {
  constexpr std::int32_t amplitude = 40;
  for (std::size_t i = 0; i < glyphs::pixels; i += 4) {
    std::uint32_t speckle = random.bits();
    for (std::size_t j = i; j < i + 4; ++j, speckle >>= 8) {
      const std::int32_t noise = (static_cast<std::int32_t>(speckle & 255) - 128) * amplitude >> 7;
      const std::int32_t value = pen.value(j) + noise;
      image[j] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
