#include "algoperf/nn/layers/embedding.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/flatten.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Embedding> && ap::Layer<ap::Flatten>);
static_assert(std::is_same_v<ap::LayerInput<ap::Embedding, float>, std::int32_t>);
static_assert(cost_of(ap::Embedding{.vocabulary = 30, .width = 4}, {5}) == ap::Cost{120, 0, 20, 20});

TEST_CASE_TEMPLATE("embedding: golden values; gradients of repeated tokens are summed", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{3}, ap::Embedding{.vocabulary = 4, .width = 2});
  Start start{2, 2, Numbers(16), {3, 0, 3, 1, 3, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  for (std::size_t i = 0; i < 8; ++i) start.values[i] = static_cast<double>(i);
  const Outcome found = run<B>(model, start);
  CHECK(found.outputs == Numbers{6, 7, 0, 1, 6, 7, 2, 3, 6, 7, 0, 1});
  CHECK(Numbers(found.gradients.begin(), found.gradients.begin() + 8) == Numbers{14, 16, 7, 8, 0, 0, 15, 18});
}

TEST_CASE_TEMPLATE("embedding: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{3}, ap::Embedding{.vocabulary = 16, .width = 2}), {.batch = 4, .capacity = 9});
  check_model<B>(ap::Model(ap::Shape{4}, ap::Embedding{.vocabulary = 16, .width = 17}, Softsign{}, ap::Flatten{},
                           ap::Dense{.units = 5}));
}

TEST_CASE("embedding: initial values, kind and errors") {
  const ap::Model model(ap::Shape{3}, ap::Embedding{.vocabulary = 500, .width = 40});
  CHECK(first_variance(model, "0.weight") == near(1, 0.03));
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.weight")).kind == ap::Kind::embedding);
  CHECK(declare_error(ap::Model(ap::Shape{3}, ap::Embedding{.vocabulary = 5, .width = 0})) ==
        "0: Embedding has vocabulary 5 and width 0, expected both at least 1");
}

}  // namespace
