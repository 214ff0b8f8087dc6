// The pen of Glyphs: draws strokes into a small grey image in integer arithmetic only, so that the image does not
// depend on machine, compiler or flags. Lengths are in 1/64 pixel ("grains"); the centre of pixel (r, c) is at (64c +
// 32, 64r + 32).
#pragma once

#include <cstddef>
#include <cstdint>

#include "glyphs_strokes.hpp"

namespace algoperf::glyphs {

inline constexpr std::int32_t side = 28;   // pixels
inline constexpr std::int32_t grain = 64;  // grains in a pixel
inline constexpr std::size_t pixels = static_cast<std::size_t>(side * side);

// Returns the largest r with r * r <= n, for n >= 0.
constexpr std::int32_t whole_sqrt(std::int32_t n) {
  std::int32_t root = 0;
  for (std::int32_t bit = 1 << 15; bit > 0; bit >>= 1)
    if (std::int64_t{root + bit} * (root + bit) <= n) root += bit;
  return root;
}

class Pen {
 public:
  // radius: half the stroke's width, in grains, at least 32; ink: a pixel's value within a stroke, 0 to 255.
  constexpr Pen(std::int32_t radius, std::int32_t ink) : reach_(radius + grain / 2), radius_(radius), ink_(ink) {
    for (std::int32_t& d : squared_distance_) d = reach_ * reach_;
  }

  // Draws a quadratic B-spline with n >= 2 control points (defined in glyphs_strokes.hpp), each within 64 pixels of the
  // image.
  constexpr void stroke(const Point* p, int n) {
    if (n == 2) line(p[0], p[1]);
    for (int i = 1; i + 1 < n; ++i)
      curve(i == 1 ? p[0] : middle(p[i - 1], p[i]), p[i], i + 2 == n ? p[n - 1] : middle(p[i], p[i + 1]));
  }

  // Returns the current value of a pixel: full ink up to half a pixel inside the stroke's edge, none from half a pixel
  // outside it, and in between linear in the squared distance (which needs no square root).
  constexpr std::int32_t value(std::size_t pixel) const {
    const std::int32_t inner = radius_ - grain / 2, rim = reach_ * reach_ - inner * inner;
    const std::int32_t depth = reach_ * reach_ - squared_distance_[pixel];
    return ink_ * (depth < rim ? depth : rim) / rim;
  }

 private:
  static constexpr Point middle(Point a, Point b) { return {(a.x + b.x) >> 1, (a.y + b.y) >> 1}; }

  // Draws the quadratic Bezier curve from a to c with control point b, as four line segments.
  constexpr void curve(Point a, Point b, Point c) {
    Point from = a;
    for (std::int32_t k = 1; k <= 4; ++k) {
      const std::int32_t wa = (4 - k) * (4 - k), wb = 2 * k * (4 - k), wc = k * k;
      const Point to{(wa * a.x + wb * b.x + wc * c.x) >> 4, (wa * a.y + wb * b.y + wc * c.y) >> 4};
      line(from, to);
      from = to;
    }
  }

  // Lowers the squared distance of every pixel within reach of the line from a to b.
  constexpr void line(Point a, Point b) {
    const std::int32_t dx = b.x - a.x, dy = b.y - a.y, length = whole_sqrt(dx * dx + dy * dy);
    const std::int32_t ux = length > 0 ? dx * 4096 / length : 4096, uy = length > 0 ? dy * 4096 / length : 0;
    const std::int32_t left = first_pixel(a.x < b.x ? a.x : b.x), right = last_pixel(a.x < b.x ? b.x : a.x);
    const std::int32_t top = first_pixel(a.y < b.y ? a.y : b.y), bottom = last_pixel(a.y < b.y ? b.y : a.y);
    for (std::int32_t r = top; r <= bottom; ++r)
      for (std::int32_t c = left; c <= right; ++c) {
        const std::int32_t px = c * grain + grain / 2 - a.x, py = r * grain + grain / 2 - a.y;
        const std::int32_t along = (px * ux + py * uy) >> 12, across = (py * ux - px * uy) >> 12;
        const std::int32_t beyond = along < 0 ? -along : along > length ? along - length : 0;
        const std::int32_t squared = across * across + beyond * beyond;
        std::int32_t& least = squared_distance_[r * side + c];
        least = squared < least ? squared : least;
      }
  }
  constexpr std::int32_t first_pixel(std::int32_t low) const {
    const std::int32_t p = (low - reach_) >> 6;
    return p < 0 ? 0 : p;
  }
  constexpr std::int32_t last_pixel(std::int32_t high) const {
    const std::int32_t p = (high + reach_) >> 6;
    return p < side - 1 ? p : side - 1;
  }

  std::int32_t reach_, radius_, ink_;
  std::int32_t squared_distance_[pixels] = {};
};

}  // namespace algoperf::glyphs
