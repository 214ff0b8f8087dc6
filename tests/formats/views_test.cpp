#include <doctest/doctest.h>

#include <type_traits>
#include <vector>
#include <xtensor/xmath.hpp>

#include "../support/folder.hpp"
#include "algoperf/algoperf.hpp"
#include "algoperf/formats/eigen.hpp"
#include "algoperf/formats/npz.hpp"
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

TEST_CASE("a dict's arrays are copied to xtensor and Eigen, and expressions into a dict") {
  ap::StateDict dict;
  const xt::xarray<float> x = {{1, 2, 3}, {4, 5, 6}};
  ap::set(dict, "x", x);
  ap::set(dict, "twice", 2 * x);
  ap::set(dict, "columns", xt::transpose(x));
  ap::set(dict, "large", x > 3);
  ap::set(dict, "sum", xt::sum(x));
  CHECK(dict.at("x").shape == std::vector<std::size_t>{2, 3});
  CHECK(dict.get<float>("columns") == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(dict.at("large").type == "bool");
  CHECK(dict.at("sum").shape.empty());
  CHECK(ap::as_xtensor<float>(dict, "twice") == 2 * x);
  CHECK(ap::as_xtensor<std::uint8_t>(dict, "large")(1, 0) == 1);
  CHECK(ap::as_xtensor<float>(dict, "sum")() == 21);
  CHECK(sentence([&] { ap::as_xtensor<double>(dict, "x"); }) == "state_dict: 'x' is float32, expected float64");
  CHECK(sentence([&] { ap::as_xtensor<double>(dict, "y"); }) == "state_dict: there is no array 'y'");

  const auto matrix = ap::as_eigen<float>(dict, "columns");
  CHECK(matrix.rows() == 3);
  CHECK(matrix.cols() == 2);
  CHECK(matrix(2, 0) == 3);
  CHECK(matrix(0, 1) == 4);
  CHECK(ap::as_eigen<float>(dict, "sum")(0, 0) == 21);
  dict.set("cube", std::vector<double>(24, 7), {4, 3, 2});
  CHECK(ap::as_eigen<double>(dict, "cube").cols() == 6);
  dict.set("none", std::vector<double>{}, {0, 3});
  CHECK(ap::as_eigen<double>(dict, "none").size() == 0);
  CHECK(sentence([&] { ap::as_eigen<double>(dict, "x"); }) == "state_dict: 'x' is float32, expected float64");

  const Folder folder;
  ap::save_npz(folder / "x.npz", dict);
  CHECK(ap::as_xtensor<float>(ap::load_npz(folder / "x.npz"), "x") == x);
}

TEST_CASE("a shape with a different number of elements is refused") {
  std::vector<double> values(6);
  CHECK(sentence([&] {
          ap::as_eigen(std::span(values), ap::Shape{4, 2});
        }) == "as_eigen: there are 6 values, the shape has 8");
  CHECK(sentence([&] { ap::as_xtensor(std::span(values), ap::Shape{5}); }) ==
        "as_xtensor: there are 6 values, the shape has 5");
}
