#include <doctest/doctest.h>

#include <type_traits>
#include <vector>
#include <xtensor/xmath.hpp>

#include "../support/folder.hpp"
#include "algoperf/algoperf.hpp"
#include "algoperf/formats/eigen.hpp"
#include "algoperf/formats/xtensor.hpp"
#include "sentence.hpp"

namespace ap = algoperf;

TEST_CASE("a loop's parameters as matrices and arrays, without a copy") {
  auto loop =
      ap::TrainingLoop(ap::Model(ap::Shape{4, 4, 2}, ap::Conv2d{.filters = 3}, ap::Relu{}, ap::Dense{.units = 5}),
                       ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1}, ap::ShuffledEpochs{.batch = 5});
  auto matrix = ap::as_eigen(loop, "2.weight");
  CHECK(matrix.rows() == 5);
  CHECK(matrix.cols() == 12);
  CHECK(matrix.data() == loop.values("2.weight").data());
  matrix(1, 2) = 7;
  CHECK(loop.values("2.weight")[14] == 7);

  auto kernels = ap::as_xtensor(loop, "0.weight");
  CHECK(kernels.dimension() == 4);
  CHECK(kernels.shape()[3] == 2);
  kernels(2, 1, 0, 1) = 9;
  CHECK(loop.values("0.weight")[2 * 18 + 6 + 1] == 9);
  CHECK(ap::as_eigen(loop, "0.weight")(2, 7) == 9);
  CHECK(xt::amax(kernels)() == 9);

  const auto& still = loop;
  static_assert(std::is_same_v<decltype(ap::as_eigen(still, "0.weight").data()), const float*>);
  CHECK(ap::as_eigen(still, "0.bias").cols() == 1);
  CHECK(ap::as_xtensor(still, "0.bias").dimension() == 1);
}

TEST_CASE("a shape of another size") {
  std::vector<double> values(6);
  CHECK(sentence([&] {
          ap::as_eigen(std::span(values), ap::Shape{4, 2});
        }) == "as_eigen: there are 6 values, the shape has 8");
  CHECK(sentence([&] { ap::as_xtensor(std::span(values), ap::Shape{5}); }) ==
        "as_xtensor: there are 6 values, the shape has 5");
}
