// Sizes that do not fit in 64 bits, or in memory, are refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/sentence.hpp"
#include "algoperf/backend/half_arrays.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/core/layout.hpp"
#include "algoperf/data/in_memory.hpp"
#include "algoperf/data/in_memory_regression.hpp"

namespace ap = algoperf;

namespace {

constexpr std::size_t all_ones = SIZE_MAX, limit = ap::max_elements;

std::string layout_error(ap::Shape shape, std::size_t alignment = 16) {
  return sentence([&] { ap::Layout(alignment).add({"w", ap::Kind::weight, shape}); });
}

}  // namespace

TEST_CASE("element_count is exact below 2^48 and 2^48 above") {
  static_assert(ap::element_count(0, all_ones) == 0 && ap::element_count(all_ones, 0) == 0);
  static_assert(ap::element_count(3u, 5u) == 15 && ap::element_count(3u, 5u, 7u, 11u) == 1155);
  static_assert(ap::element_count(1, limit - 1) == limit - 1 && ap::element_count(limit - 1, 1) == limit - 1);
  static_assert(ap::element_count((1u << 24) - 1, (1u << 24) + 1) == limit - 1);
  static_assert(ap::element_count(1u << 24, 1u << 24) == limit);
  static_assert(ap::element_count(1, limit + 1) == limit && ap::element_count(limit + 1, 1) == limit);
  static_assert(ap::element_count(std::size_t{1} << 32, std::size_t{1} << 32) == limit);
  static_assert(ap::element_count(std::size_t{1} << 32, std::size_t{1} << 32, std::size_t{0}) == 0);
  static_assert(ap::element_count(all_ones, all_ones) == limit);
  static_assert(ap::Shape(std::size_t{1} << 32, std::size_t{1} << 32).size() == limit);
  static_assert(ap::Shape(all_ones).size() == limit && ap::Shape(all_ones, 0).size() == 0);
}

TEST_CASE("a layout refuses tensors of 2^48 elements or more") {
  const std::size_t two_to_32 = std::size_t{1} << 32;
  CHECK(layout_error({two_to_32, two_to_32}) ==
        "Layout: tensor 'w' of shape {4294967296, 4294967296} has 2^48 elements or more");
  CHECK(layout_error(ap::Shape{std::size_t{1} << 63}) ==
        "Layout: tensor 'w' of shape {9223372036854775808} has 2^48 elements or more");
  CHECK(layout_error(ap::Shape{all_ones}) ==
        "Layout: tensor 'w' of shape {18446744073709551615} has 2^48 elements or more");
  CHECK(layout_error({1}, all_ones) ==
        "Layout: alignment is 18446744073709551615, expected at least 1 and less than 2^48");
  ap::Layout layout(1);
  layout.add({"a", ap::Kind::weight, ap::Shape{limit / 2}});
  CHECK(sentence([&] {
          layout.add({"b", ap::Kind::weight, ap::Shape{limit / 2}});
        }) == "Layout: the tensors up to 'b' have 2^48 elements or more");
}

TEST_CASE("an allocation that fails throws OutOfMemory with the number of elements") {
  const auto error = [](std::size_t n) -> std::string {
    try {
      (void)ap::Host<float>{}.array<float>(n);
      return "";
    } catch (const ap::OutOfMemory& failure) {
      return failure.what();
    }
  };
  for (const std::size_t n : {all_ones, std::size_t{1} << 62, (std::size_t{1} << 62) + 4, limit})
    CHECK(error(n) == "there is too little memory for " + std::to_string(n) + " or more elements of 4 bytes");
#if !defined(__SANITIZE_THREAD__) && !defined(__clang__)  // the sanitizers' allocators end the process instead
  CHECK(error(limit - 1) == "there is too little memory for 281474976710655 elements of 4 bytes");
#endif
}

TEST_CASE("data sets of shapes whose size wraps around are refused") {
  const std::size_t two_to_63 = std::size_t{1} << 63;
  CHECK(sentence([&] {
          ap::InMemory<float>({}, {0, 0}, ap::Shape{two_to_63}, 1);
        }) == "InMemory: there are 0 input values, expected 2 examples x 281474976710656 = 281474976710656");
  CHECK(sentence([&] {
          ap::InMemoryRegression<float>({}, {0, 0}, ap::Shape{two_to_63});
        }) == "InMemoryRegression: there are 0 input values, expected 2 examples x 281474976710656 = 281474976710656");
}
