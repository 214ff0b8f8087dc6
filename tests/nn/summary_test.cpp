#include "algoperf/nn/summary.hpp"

#include <doctest/doctest.h>

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/embedding.hpp"
#include "algoperf/nn/layers/flatten.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/residual.hpp"
#include "algoperf/nn/tied.hpp"

namespace ap = algoperf;

TEST_CASE("summary: a row per layer and op") {
  const ap::Conv2d same{.filters = 2, .size = 3, .padding = 1};
  const ap::Model model(ap::Shape{4, 4, 2}, ap::Residual(same, ap::Relu{}), ap::Flatten{}, ap::Dense{.units = 10});
  CHECK(ap::summary(model) ==
        "        layer               output                parameters           FLOPs\n"
        "        input               {4, 4, 2}                                       \n"
        "0.0     Conv2d              {4, 4, 2}                     38            1184\n"
        "0.1     Relu                {4, 4, 2}                      0              32\n"
        "0.sum   Sum                 {4, 4, 2}                      0              32\n"
        "1       Flatten             {32}                           0               0\n"
        "2       Dense               {10}                         330             650\n"
        "        total                                            368            1898\n");
}

TEST_CASE("summary: a shared tensor has a row of its own") {
  const std::string table = ap::summary(ap::Model(
      ap::Shape{3}, ap::Tied(ap::Embedding{.vocabulary = 16, .width = 5}, ap::Flatten{}, ap::Dense{.units = 5})));
  CHECK(table.find("0.embedding.weight  tensor              {16, 5}                       80") != std::string::npos);
  CHECK(table.find("0.tied_logits       TiedLogits          {16}                           0             176\n") !=
        std::string::npos);
  CHECK(table.find("                    total                                            176 ") != std::string::npos);
}
