// The strokes of Glyphs: ten digits in two writing styles each, as control points of pen strokes.
//
// The box is 40 wide and 60 high, x to the right and y down. Control points may lie outside the box. A stroke is a
// quadratic B-spline that starts at its first point, ends at its last and passes through the midpoint of every edge
// between inner points. A point listed twice is a corner. `lift` ends a stroke.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"

namespace algoperf::glyphs {

struct Point {
  std::int32_t x = 0, y = 0;
  friend constexpr bool operator==(Point, Point) = default;
};

inline constexpr Point lift{INT32_MIN, INT32_MIN};
inline constexpr std::int32_t box_width = 40, box_height = 60;

struct Style {
  static constexpr int max_points = 16;
  Point points[max_points] = {};
  int size = 0;

  template <std::size_t n>
  constexpr Style(const Point (&p)[n]) : size(static_cast<int>(n)) {
    static_assert(n <= max_points);
    for (std::size_t i = 0; i < n; ++i) points[i] = p[i];
  }
};

inline constexpr int digits = 10, styles_per_digit = 2;

inline constexpr Style styles[digits][styles_per_digit] = {
    // 0: upright; leaning, with the ends crossing
    {Style({{24, 2}, {8, -2}, {-2, 30}, {8, 62}, {32, 62}, {42, 30}, {34, -1}, {20, 1}}),
     Style({{30, 5}, {14, -2}, {2, 26}, {4, 58}, {22, 64}, {38, 44}, {40, 12}, {26, -2}, {17, 9}})},
    // 1: a bar; with a flag
    {Style({{22, 0}, {20, 30}, {20, 60}}),  //
     Style({{8, 15}, {22, 0}, {22, 0}, {21, 30}, {21, 60}})},
    // 2: with a corner; with a loop
    {Style({{4, 14}, {8, -2}, {38, -6}, {40, 20}, {24, 38}, {2, 59}, {2, 59}, {39, 58}}),
     Style({{4, 14}, {8, -4}, {38, -4}, {36, 20}, {22, 46}, {8, 64}, {-2, 54}, {10, 44}, {26, 60}, {41, 56}})},
    // 3: round; with a flat top
    {Style({{3, 8}, {12, -6}, {40, -2}, {38, 26}, {14, 28}, {14, 28}, {44, 28}, {44, 60}, {12, 66}, {0, 52}}),
     Style({{4, 2}, {36, 1}, {36, 1}, {17, 24}, {17, 24}, {40, 24}, {46, 58}, {14, 66}, {1, 53}})},
    // 4: open, two strokes; closed, one stroke
    {Style({{9, 0}, {2, 36}, {2, 36}, {39, 34}, lift, {31, 5}, {30, 30}, {27, 60}}),
     Style({{40, 40}, {0, 41}, {0, 41}, {28, 0}, {28, 0}, {28, 60}})},
    // 5: the top bar last; in one stroke
    {Style({{8, 2}, {6, 27}, {6, 27}, {38, 16}, {46, 56}, {14, 68}, {0, 52}, lift, {8, 2}, {37, 0}}),
     Style({{36, 2}, {8, 2}, {8, 2}, {4, 29}, {4, 29}, {32, 16}, {48, 44}, {24, 66}, {1, 56}})},
    // 6: a round back; a straight back
    {Style({{31, 1}, {6, 10}, {-4, 48}, {8, 66}, {40, 64}, {42, 32}, {14, 26}, {3, 46}}),
     Style({{23, 0}, {6, 28}, {-4, 62}, {24, 66}, {44, 50}, {30, 26}, {12, 32}, {5, 48}})},
    // 7: plain; with a serif and a crossbar
    {Style({{2, 3}, {37, 2}, {37, 2}, {22, 30}, {14, 60}}),
     Style({{3, 10}, {5, 3}, {5, 3}, {38, 2}, {38, 2}, {24, 28}, {16, 60}, lift, {11, 33}, {34, 30}})},
    // 8: in one stroke; two rings
    {Style({{35, 8},
            {26, -6},
            {2, -2},
            {2, 20},
            {38, 36},
            {44, 60},
            {12, 68},
            {-6, 52},
            {8, 34},
            {34, 22},
            {38, 4},
            {29, 3}}),
     Style({{20, 0},
            {3, 0},
            {3, 27},
            {37, 27},
            {37, 0},
            {20, 0},
            lift,
            {20, 27},
            {-4, 28},
            {-4, 61},
            {44, 61},
            {44, 28},
            {20, 27}})},
    // 9: a straight stem; a curved tail
    {Style({{36, 8}, {24, -6}, {0, -2}, {-2, 32}, {28, 36}, {36, 8}, {36, 8}, {34, 36}, {30, 60}}),
     Style({{36, 14}, {28, -6}, {0, -4}, {0, 32}, {34, 34}, {37, 4}, {42, 36}, {30, 66}, {7, 58}})},
};

}  // namespace algoperf::glyphs
