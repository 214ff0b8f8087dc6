#include "algoperf/nn/stop_gradient.hpp"

#include "algoperf/nn/layers/batch_norm.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/dropout.hpp"
#include "algoperf/nn/layers/embedding.hpp"
#include "algoperf/nn/layers/flatten.hpp"
#include "algoperf/nn/layers/layer_norm.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/models/simple_cnn.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

constexpr ap::Dense output_layer{.units = 4}, hidden_layer{.units = 6};
constexpr ap::Shape input_shape{2, 3};

static_assert(ap::Model(input_shape, ap::StopGradient(hidden_layer), ap::Relu{}, output_layer).cost().parameters ==
              6 * 4 + 4);

// The backward pass computes only the gradients of the head, for a body of any depth.
static_assert(ap::Model(input_shape, ap::StopGradient(hidden_layer), ap::Relu{},
                        ap::StopGradient(ap::Sequential(hidden_layer, Softsign{})), output_layer)
                  .cost()
                  .backward_flops == ap::Model(input_shape, output_layer).cost().backward_flops);

static_assert(ap::stop_gradient<3>(ap::Model(input_shape, hidden_layer, Softsign{}, hidden_layer, output_layer))
                  .cost()
                  .parameters == 6 * 4 + 4);
static_assert(ap::stop_gradient<0>(ap::Model(input_shape, hidden_layer, output_layer)).cost().parameters ==
              ap::Model(input_shape, hidden_layer, output_layer).parameters());

// A wrapped layer keeps nothing for backward.
template <class... Parts>
constexpr std::uint64_t kept_by(const Parts&... parts) {
  return ap::Model(input_shape, parts...).cost().activations;
}
static_assert(kept_by(ap::StopGradient(hidden_layer), ap::StopGradient(ap::LayerNorm{}), output_layer) ==
              kept_by(ap::StopGradient(hidden_layer), output_layer));
static_assert(kept_by(hidden_layer, ap::StopGradient(ap::Flatten{}), output_layer) ==
              kept_by(ap::StopGradient(hidden_layer), output_layer));

// A layer whose backward must not be called.
struct NoBackward : Softsign {
  template <class B, class S>
  void backward(const ap::LayerCall<B>&, Handles, ap::Shape, const S*, const S*, const S*, S*) const {
    FAIL("backward was called on a layer before every trained layer");
  }
};

Numbers tensor(const ap::Layout& layout, const Numbers& arena, const char* name) {
  const ap::TensorPlace place = layout.place_of(layout.find(name));
  const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(place.offset);
  return Numbers(begin, begin + static_cast<std::ptrdiff_t>(place.size));
}

TEST_CASE_TEMPLATE("stop gradient: later layers get the same gradients, wrapped layers get none", B, NN_BACKENDS) {
  const ap::Model whole(input_shape, hidden_layer, Softsign{}, ap::Flatten{}, hidden_layer, Softsign{}, output_layer);
  const ap::Model stopped(input_shape, ap::StopGradient(hidden_layer), Softsign{}, ap::StopGradient(ap::Flatten{}),
                          hidden_layer, Softsign{}, output_layer);
  const ap::Layout layout = ap::layout_of(whole), of_stopped = ap::layout_of(stopped);
  CHECK(layout.parameters() == whole.parameters());
  CHECK(of_stopped.parameters() == stopped.parameters());
  const Outcome expected = run<B>(whole), found = run<B>(stopped);
  CHECK(found.outputs == expected.outputs);
  for (const char* name : {"3.weight", "3.bias", "5.weight", "5.bias"})
    CHECK(tensor(of_stopped, found.gradients, name) == tensor(layout, expected.gradients, name));
  for (const double untouched : tensor(of_stopped, found.gradients, "0.weight")) CHECK(std::isnan(untouched));
}

TEST_CASE("stop gradient: names are unchanged, and wrapped tensors are not trained") {
  const ap::Layout layout = ap::layout_of(
      ap::Model(input_shape, ap::StopGradient(hidden_layer), ap::StopGradient(ap::BatchNorm{}), output_layer));
  std::string names;
  for (const ap::TensorHandle handle : layout.tensors())
    names += layout.spec(handle).name + (layout.spec(handle).trained() ? " " : "! ");
  CHECK(names == "0.weight! 0.bias! 1.scale! 1.bias! 1.mean! 1.variance! 2.weight 2.bias ");
  CHECK(layout.buffers().empty());
  static_assert(!ap::Model(input_shape, ap::StopGradient(ap::BatchNorm{}), output_layer).has_buffers);
  CHECK(declare_error(ap::Model(input_shape, ap::StopGradient(ap::Dropout{.rate = 1}))) ==
        "0: Dropout has rate 1, expected [0, 1)");
}

TEST_CASE("stop gradient: the first layers of a model") {
  const auto cnn = ap::simple_cnn({9, 8, 2}, 4, {.filters1 = 3, .filters2 = 5, .units = 6, .size = 3});
  const ap::Layout layout = ap::layout_of(cnn), of_tuned = ap::layout_of(ap::stop_gradient<7>(cnn));
  REQUIRE(layout.tensors().size() == of_tuned.tensors().size());
  std::string trained;
  for (const ap::TensorHandle handle : layout.tensors()) {
    CHECK(layout.spec(handle).name == of_tuned.spec(handle).name);
    if (of_tuned.spec(handle).trained()) trained += of_tuned.spec(handle).name + " ";
  }
  CHECK(trained == "7.weight 7.bias 9.weight 9.bias ");
  CHECK(run<ap::Host<>>(ap::stop_gradient<7>(cnn)).outputs == run<ap::Host<>>(cnn).outputs);
}

TEST_CASE_TEMPLATE("stop gradient: layers run in evaluation mode, and no gradient passes", B, NN_BACKENDS) {
  const Numbers x = normals(6, 1), dy = normals(6, 2);
  const Outcome dropout = run<B>(ap::Model(input_shape, ap::StopGradient(ap::Dropout{})), {1, 1, {}, x, dy});
  CHECK(distance(dropout.outputs, x) < 1e-6);
  CHECK(dropout.d_input == Numbers(6, 0));

  Numbers normed = x;  // normalised by the initial running averages, 0 and 1
  for (double& number : normed) number /= std::sqrt(1 + 1e-5);
  const Outcome norm = run<B>(ap::Model(input_shape, ap::StopGradient(ap::BatchNorm{})), {1, 1, {}, x, dy});
  CHECK(distance(norm.outputs, normed) < 1e-6);
  CHECK(norm.d_input == Numbers(6, 0));
}

TEST_CASE_TEMPLATE("stop gradient: a trained layer before it gets zeros; backward stops at the first trained layer", B,
                   NN_BACKENDS) {
  const Outcome before = run<B>(ap::Model(input_shape, output_layer, ap::StopGradient(Softsign{}), hidden_layer));
  const ap::Layout layout =
      ap::layout_of(ap::Model(input_shape, output_layer, ap::StopGradient(Softsign{}), hidden_layer));
  CHECK(tensor(layout, before.gradients, "0.weight") == Numbers(24, 0));
  CHECK(tensor(layout, before.gradients, "0.bias") == Numbers(4, 0));

  // The input is tokens, so that the gradient of the input is not required.
  const ap::Model words(ap::Shape{3}, ap::StopGradient(ap::Embedding{.vocabulary = 16, .width = 2}), NoBackward{},
                        ap::StopGradient(ap::Sequential(hidden_layer, NoBackward{})), output_layer);
  CHECK(words.tokens() == 16);
  run<B>(words);
}

TEST_CASE("stop_gradient<n>(model) keeps the model's initial values") {
  const ap::Model model = ap::Model(ap::Shape{400}, ap::Dense{.units = 300}, ap::Relu{}, ap::Dense{.units = 10});
  const auto as_torch = model.with_init(ap::Init::torch_uniform);
  CHECK(first_variance(ap::stop_gradient<1>(as_torch), "0.weight") == first_variance(as_torch, "0.weight"));
  CHECK(first_variance(ap::stop_gradient<1>(model), "0.weight") != first_variance(as_torch, "0.weight"));
}

}  // namespace
