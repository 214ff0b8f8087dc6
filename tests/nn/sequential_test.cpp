#include "algoperf/nn/sequential.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/flatten.hpp"
#include "algoperf/nn/layers/layer_norm.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/residual.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

constexpr ap::Dense four{.units = 4}, six{.units = 6};
constexpr ap::Shape in{2, 3};

// An in-place layer uses no memory, unless it would overwrite values that backward still reads. Then it has a separate
// output. The numbers are the elements kept for backward, of which the last four are the gradient of the output.
template <class... Parts>
constexpr std::uint64_t kept(const Parts&... parts) {
  return ap::Model(in, parts...).cost().activations;
}
static_assert(kept(four, ap::Relu{}) == 4 + 4);
static_assert(kept(four, Softsign{}, ap::Flatten{}) == 4 + 4);
static_assert(kept(four, Softsign{}, Softsign{}) == 8 + 4);
static_assert(kept(four, Softsign{}, ap::Flatten{}, Double{}, Softsign{}) == 8 + 4);
static_assert(kept(ap::Sequential(four, Softsign{}), Double{}) == 4 + 4);
static_assert(kept(ap::Sequential(four, Double{}), Double{}) == 4);
static_assert(kept(four) == 4);

// The backward pass stops at the first layer with parameters, and its cost is counted accordingly.
static_assert(ap::Model(ap::Shape{28, 28, 1}, ap::Flatten{}, ap::Dense{.units = 10}).cost().backward_flops == 15690);
static_assert(ap::Model(in, ap::Relu{}, four).cost().backward_flops == 2 * 6 * 4 + 4);

TEST_CASE_TEMPLATE("sequential: consecutive in-place layers", B, NN_BACKENDS) {
  check_model<B>(ap::Model(in, four, Softsign{}, Softsign{}));
  check_model<B>(ap::Model(in, Softsign{}, Softsign{}, four, Softsign{}, Double{}, Double{}, six));
  check_model<B>(ap::Model(in, four, Double{}, Softsign{}, ap::Relu{}, ap::Flatten{}, Softsign{}, six));
  check_model<B>(ap::Model(in, ap::Flatten{}, Softsign{}, four, ap::Flatten{}));
  check_model<B>(ap::Model(in, Softsign{}, ap::Flatten{}));
  check_model<B>(ap::Model(in, ap::Relu{}));
}

TEST_CASE_TEMPLATE("sequential: nested", B, NN_BACKENDS) {
  check_model<B>(ap::Model(in, ap::Sequential(four, Softsign{}), Softsign{}, six));
  check_model<B>(ap::Model(in, ap::Sequential(ap::Sequential(Softsign{}, four), Double{}), Double{}, Softsign{}),
                 {.batch = 2, .capacity = 5});
  check_model<B>(ap::Model(in, six, Softsign{}, ap::Sequential(Softsign{}, Softsign{}), ap::Sequential(four, six),
                           ap::Sequential(ap::Flatten{}), Double{}));
}

TEST_CASE_TEMPLATE("residual: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{4}, ap::Residual(four)));
  check_model<B>(ap::Model(ap::Shape{4}, ap::Residual(Softsign{}), Softsign{}, ap::Residual(six, Softsign{}, four)));
  check_model<B>(ap::Model(in, four, Softsign{}, ap::Residual(ap::LayerNorm{}, four, ap::Relu{}), Softsign{}, six),
                 {.batch = 3, .capacity = 6});
  check_model<B>(ap::Model(ap::Shape{4}, ap::Residual(four, ap::Residual(six, Double{}, four), Softsign{})));
}

TEST_CASE_TEMPLATE("residual: forward", B, NN_BACKENDS) {
  const Outcome found = run<B>(ap::Model(ap::Shape{2}, ap::Residual(Double{}, Double{})), {1, 1, {}, {1, -2}, {3, 5}});
  CHECK(found.outputs == Numbers{5, -10});
  CHECK(found.d_input == Numbers{15, 25});
}

TEST_CASE("residual: shapes must match") {
  CHECK(declare_error(ap::Model(in, ap::Residual(six))) ==
        "0: Residual adds a row of shape {2, 3} to its layers' output of shape {6}, expected the same shape");
}

TEST_CASE("sequential: tensor names contain the layer's index") {
  const ap::Layout layout =
      ap::layout_of(ap::Model(in, four, ap::Residual(ap::LayerNorm{}, four), ap::Sequential(six)));
  std::string names;
  for (const ap::TensorHandle handle : layout.tensors()) names += layout.spec(handle).name + " ";
  CHECK(names == "0.weight 0.bias 1.0.scale 1.0.bias 1.1.weight 1.1.bias 2.0.weight 2.0.bias ");
}

}  // namespace
