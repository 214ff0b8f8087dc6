#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../golden/digit_models.hpp"
#include "../support/near.hpp"
#include "algoperf/data/in_memory_fields.hpp"
#include "algoperf/nn/all.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

// The costs below are computed by hand: products; biases, ReLUs and comparisons; and the sums over overlapping windows.
constexpr auto line = ap::linear_model({28, 28, 1}, 10);
static_assert(line.cost() == ap::Cost{7850, 15690, 15690, 10});

constexpr auto perceptron = ap::mlp(ap::Shape{784}, {256, 128}, 10);
static_assert(perceptron.cost() ==
              ap::Cost{200960 + 32896 + 1290, 401408 + 65536 + 2560 + 778, 401408 + 131072 + 5120 + 778, 394});

constexpr auto digits_cnn = ap::simple_cnn({28, 28, 1}, 10);
static_assert(digits_cnn.output() == ap::Shape{10});
static_assert(digits_cnn.cost().parameters == 832 + 51264 + 3212288 + 10250);
static_assert(digits_cnn.cost().forward_flops == 27767808 + 105546 + 28224);
static_assert(digits_cnn.cost().backward_flops == 54281216 + 77322 + 131072);

constexpr auto characters = ap::next_character(5, 16, {.width = 3, .units = 8});
static_assert(characters.cost().parameters == 48 + 128 + 16 + 72 + 144);
static_assert(characters.cost().forward_flops == 749);
static_assert(characters.cost().backward_flops == 1449);

TEST_CASE_TEMPLATE("models: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::linear_model({5}, 3));
  check_model<B>(ap::mlp(ap::Shape{2, 3}, {7, 5, 4}, 3), {.batch = 4, .capacity = 5});
  check_model<B>(ap::simple_cnn({9, 8, 2}, 4, {.filters1 = 3, .filters2 = 5, .units = 6, .size = 3}));
  check_model<B>(characters, {.batch = 4, .weights = {1, 0, 2, 0.5}}, 0.1);
}

TEST_CASE("models of digits: losses, gradients, steps of AdamW and outputs are torch's") {
  std::vector<double> pixels;
  for (int i = 0; i < 4 * 8 * 8 * 2; ++i) pixels.push_back(std::sin(0.1 + 0.37 * i));
  const ap::InMemoryFields<ap::Field<"input", double>, ap::Field<"label", std::int32_t>> data({pixels, {8, 8, 2}},
                                                                                              {{0, 1, 2, 0}, {1}});
  const ap::SoftmaxCrossEntropy loss;
  golden::check(ap::linear_model({8, 8, 2}, 3), loss, data, golden::linear_model);
  golden::check(ap::mlp(ap::Shape{8, 8, 2}, {5, 4}, 3), loss, data, golden::mlp);
  golden::check(ap::simple_cnn({8, 8, 2}, 3, {.filters1 = 3, .filters2 = 4, .units = 5, .size = 3}), loss, data,
                golden::simple_cnn);
}

template <class Model>
std::string output_tensors(const Model& model) {
  const ap::Layout layout = ap::layout_of(model);
  std::string names;
  for (const ap::TensorHandle handle : layout.tensors())
    if (layout.spec(handle).output) names += layout.spec(handle).name + " ";
  return names;
}

TEST_CASE("models: only the last layer is marked as output") {
  CHECK(output_tensors(line) == "0.weight 0.bias ");
  CHECK(output_tensors(perceptron) == "4.weight 4.bias ");
  CHECK(output_tensors(digits_cnn) == "9.weight 9.bias ");
  CHECK(output_tensors(characters) == "5.weight 5.bias ");
}

// At the initial values, the signal neither grows nor vanishes through the layers.
TEST_CASE("models: initial outputs have about the variance of the input") {
  const auto variance = [](const Numbers& y) {
    double squares = 0;
    for (const double x : y) squares += x * x;
    return squares / static_cast<double>(y.size());
  };
  const Start start{64, 64, {}, {}, {}};
  CHECK(variance(run<ap::Host<float>>(perceptron, start).outputs) == near(1, 0.25));
  CHECK(variance(run<ap::Host<float>>(line, start).outputs) == near(1, 0.25));
}

}  // namespace
