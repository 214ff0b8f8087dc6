#include "algoperf/data/in_memory.hpp"

#include <doctest/doctest.h>

#include "algoperf/data/in_memory_regression.hpp"
#include "algoperf/data/slice.hpp"

namespace ap = algoperf;

static_assert(ap::Dataset<ap::InMemory<float>>);
static_assert(ap::Dataset<ap::Slice<ap::InMemory<std::int32_t>>>);

namespace {

// Example i of n is {10 i, 10 i + 1} with label i % 3.
ap::InMemory<float> numbered(std::size_t n) {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < n; ++i) {
    inputs.push_back(static_cast<float>(10 * i));
    inputs.push_back(static_cast<float>(10 * i + 1));
    labels.push_back(static_cast<std::int32_t>(i % 3));
  }
  return {inputs, labels, ap::Shape(2), 3};
}

}  // namespace

TEST_CASE("InMemory gathers examples by index, into any arithmetic type") {
  const auto data = numbered(5);
  CHECK(data.size() == 5);
  CHECK(data.shape() == ap::Shape(2));
  CHECK(data.classes() == 3);
  const std::uint32_t indices[] = {4, 0, 4};
  double x[6];
  std::int32_t y[3];
  data.gather(indices, 3, x, y);
  CHECK(x[0] == 40);
  CHECK(x[1] == 41);
  CHECK(x[2] == 0);
  CHECK(x[5] == 41);
  CHECK(y[0] == 1);
  CHECK(y[1] == 0);
}

TEST_CASE("InMemory names invalid sizes and labels") {
  CHECK_THROWS_WITH_AS(ap::InMemory<float>({1, 2, 3}, {0, 0}, ap::Shape(2), 3),
                       "InMemory: there are 3 input values, expected 2 examples x 2 = 4", ap::Error);
  CHECK_THROWS_WITH_AS(ap::InMemory<float>({1, 2, 3}, {0, 1, 3}, ap::Shape(1), 3),
                       "InMemory: the label of example 2 is 3, expected [0, 3)", ap::Error);
  CHECK_THROWS_WITH_AS(ap::InMemory<float>({1, 2}, {-1, 1}, ap::Shape(1), 3),
                       "InMemory: the label of example 0 is -1, expected [0, 3)", ap::Error);
}

TEST_CASE("a Slice shifts indices, over more than one block, and outlives its source") {
  const auto slice = [] {
    const auto whole = numbered(500);
    return whole.subset(100, 400);
  }();
  REQUIRE(slice.size() == 300);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < 300; ++i) indices.push_back(299 - i);
  std::vector<float> x(600);
  std::vector<std::int32_t> y(300);
  slice.gather(indices.data(), 300, x.data(), y.data());
  for (std::size_t i = 0; i < 300; ++i) {
    REQUIRE(x[2 * i] == static_cast<float>(10 * (399 - i)));
    REQUIRE(y[i] == static_cast<std::int32_t>((399 - i) % 3));
  }
}

TEST_CASE("slices nest, may be empty and share memory when copied") {
  const auto data = numbered(10);
  const auto part = data.subset(2, 9).subset(3, 5);
  const std::uint32_t index = 1;
  float x[2];
  std::int32_t y;
  part.gather(&index, 1, x, &y);
  CHECK(x[0] == 60);
  CHECK(data.subset(10, 10).size() == 0);
  auto copy = part;
  copy = data.subset(0, 1);
  CHECK(copy.whole().inputs().data() == data.inputs().data());
}

TEST_CASE("examples in place: the memory of the whole data, from the first example of a slice") {
  const auto data = numbered(10);
  const auto slice = data.subset(2, 9).subset(3, 7);
  CHECK(data.in_place(4).inputs == data.inputs().data() + 8);
  CHECK(slice.in_place(1).inputs == data.inputs().data() + 12);
  CHECK(slice.in_place(1).labels == data.labels().data() + 6);
  const ap::InMemoryRegression<float> targets({1, 2, 3, 4}, {5, 6, 7, 8, 9, 10}, ap::Shape(2), ap::Shape(3));
  CHECK(*targets.subset(1, 2).in_place(0).inputs == 3);
  CHECK(*targets.subset(1, 2).in_place(0).labels == 8);
}

TEST_CASE("a Slice refuses a range outside its data") {
  const auto data = numbered(10);
  CHECK_THROWS_WITH_AS(data.subset(5, 11), "Slice: the range is [5, 11), expected begin <= end <= 10", ap::Error);
  CHECK_THROWS_WITH_AS(data.subset(6, 5), "Slice: the range is [6, 5), expected begin <= end <= 10", ap::Error);
  CHECK_THROWS_WITH_AS(data.subset(2, 6).subset(0, 5), "Slice: the range is [0, 5), expected begin <= end <= 4",
                       ap::Error);
}
