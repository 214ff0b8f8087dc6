#include "algoperf/scaling/cost/step_cost.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/nn/all.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/scaling/cost/cost_sweep.hpp"

namespace ap = algoperf;

namespace {

// A model with 4 inputs, 5 hidden units and 3 outputs, counted by hand for two examples.
constexpr ap::Model small(ap::Shape{4}, ap::Dense{.units = 5}, ap::Relu{}, ap::Dense{.units = 3, .output_layer = true});
constexpr ap::StepCost step = ap::cost(small, 2);
static_assert(step.parameters == 25 + 18);
static_assert(step.forward.flops == 2 * (40 + 5) + 2 * 5 + 2 * (30 + 3));
static_assert(step.loss.flops == 2 * (6 * 3 + 12));
static_assert(step.backward.flops == 2 * (30 + 3 + 30) + 2 * 5 + 2 * (40 + 5));
static_assert(step.forward.read == (8 + 20) + (10 + 5) + 10 + (10 + 15) + (6 + 3));
static_assert(step.forward.written == 10 + 10 + 10 + 6 + 6);
static_assert(step.loss.moved() == 2 * (3 + 2) + 2 * (3 + 1));
static_assert(step.backward.read == (6 + 10) + 6 + (6 + 15) + 20 + (10 + 8) + 10);
static_assert(step.backward.written == 15 + 3 + 10 + 10 + 20 + 5);
static_assert(step.input == 2 * 5);

// The peak is the backward pass of the first layer: parameters, batch and labels, the gradient of its output, and the
// gradients of the parameters of both layers. The outputs of both layers are no longer needed.
static_assert(step.footprint == 43 + 10 + 10 + 18 + 25);
static_assert(step.footprint_phase == ap::Phase::backward);
static_assert(std::string_view(step.footprint_at) == "dense, weight gradient");

// Counting selects what is counted.
constexpr ap::StepOptions<> products{.counting = {.products_only = true}};
static_assert(ap::cost(small, 2, products).total_flops() == 2 * (40 + 30 + 30 + 30 + 40));
constexpr ap::StepOptions<> pairs{.counting = {.products_only = true, .multiply_adds = true}};
static_assert(ap::cost(small, 2, pairs).total_flops() == 40 + 30 + 30 + 30 + 40);
constexpr ap::StepOptions<> body{.counting = {.output_layer = false}};
static_assert(ap::cost(small, 2, body).parameters == 25);
static_assert(ap::cost(small, 2, ap::StepOptions<>{.update = {.flops = 2}, .counting = body.counting}).update.flops ==
              2 * 25);
static_assert(ap::cost(small, 2, ap::StepOptions<ap::MeanSquaredError>{}).input == 2 * (4 + 3));
static_assert(ap::cost(small, 2, body).forward.flops == 2 * (40 + 5) + 2 * 5);

// A model provided by the library.
constexpr ap::StepCost mlp = ap::cost(ap::mlp({28, 28, 1}, {256, 256}, 10), 128);
static_assert(mlp.parameters == 269322);
static_assert(mlp.forward.flops + mlp.backward.flops == 128 * ap::mlp({28, 28, 1}, {256, 256}, 10).cost().flops());

}  // namespace

TEST_CASE("embeddings and output layers can be excluded") {
  const auto model = ap::next_character(5, 16, {.width = 3, .units = 8});
  const auto with = [&](const ap::Counting& counting) {
    return ap::cost(model, 4, ap::StepOptions<>{.counting = counting}).parameters;
  };
  CHECK(with({}) == 48 + 128 + 16 + 72 + 144);
  CHECK(with({.embedding = false}) == 128 + 72 + 16 + 144);
  CHECK(with({.embedding = false, .output_layer = false}) == 128 + 72 + 16);
}

TEST_CASE("updates are counted from their kernels") {
  CHECK(ap::update_cost(ap::chain(ap::Descend{})).flops == 2);                  // rate g, p + u
  CHECK(ap::update_cost(ap::chain(ap::Momentum{}, ap::Descend{})).flops == 5);  // preceded by mu m + k g
  CHECK(ap::update_cost(ap::sgd()).flops == 4);  // preceded by g + decay p, even if decay is 0
  const ap::UpdateCost of_sgd = ap::update_cost(ap::sgd());
  CHECK(of_sgd.read == 2);
  CHECK(of_sgd.written == 1);
  CHECK(of_sgd.state == 0);
  const ap::UpdateCost of_adamw = ap::update_cost(ap::adamw());
  CHECK(of_adamw.read == 4);
  CHECK(of_adamw.written == 3);
  CHECK(of_adamw.state == 2);
  CHECK(of_adamw.flops >= 12);
  CHECK(of_adamw.flops <= 18);
  const ap::UpdateCost of_lamb = ap::update_cost(ap::lamb());
  CHECK(4 * (of_lamb.read + of_lamb.written) == 40);
  CHECK(of_lamb.flops > of_adamw.flops);
  const auto whole = ap::cost(small, 2, {.update = of_adamw});
  CHECK(whole.update.flops == 43 * of_adamw.flops);
  CHECK(whole.total_moved() == step.total_moved() + 43 * 7);
  CHECK(whole.footprint == step.footprint + 2 * 43);
}

TEST_CASE("the operations of a step add up to its cost") {
  const auto cnn = ap::simple_cnn({28, 28, 1}, 10);
  const ap::StepOptions<> options{.update = ap::update_cost(ap::sgd())};
  const ap::StepCost whole = ap::cost(cnn, 32, options);
  std::uint64_t flops = 0, moved = 0, in_products = 0;
  std::vector<std::string> names;
  ap::for_each_operation(
      cnn, 32,
      [&](ap::Phase, const ap::Operation& o) {
        flops += o.flops, moved += o.read + o.written, in_products += o.is_product() ? o.flops : 0;
        names.emplace_back(o.name);
      },
      options);
  CHECK(flops == whole.total_flops());
  CHECK(moved == whole.total_moved());
  CHECK(in_products == ap::cost(cnn, 32, products).total_flops());
  CHECK(names.front() == "convolution");
  CHECK(names.back() == "update");
}

TEST_CASE("the time of a step on a roofline") {
  const auto model = ap::mlp({28, 28, 1}, {2048, 2048}, 10);
  const ap::Accelerator a;
  const double flops = a.compute_time(ap::cost(model, 512).flops()).value;
  const double bytes = a.memory_time(ap::cost(model, 512).bytes()).value;
  const double time = ap::step_time(model, 512, a).value;
  CHECK(time >= std::max(flops, bytes));  // the times of operations add up without overlap
  CHECK(time <= flops + bytes);
  CHECK(ap::step_time(model, 512, a, {}, true).value >= time);
  ap::Accelerator endless = a;
  endless.cache = ap::Bytes(1e12);
  CHECK(ap::step_time(model, 512, endless, {}, true).value == time);
}

TEST_CASE("a step whose counts exceed 64 bits is refused") {
  const auto model = ap::mlp({28, 28, 1}, {256, 256}, 10);
  CHECK(ap::cost(model, std::uint64_t{1} << 40).flops().value == near(0x1p40 * ap::cost(model, 1).flops().value, 1e-9));
  CHECK_THROWS_WITH_AS(ap::cost(model, 100000000000000),
                       "cost: a step of 100000000000000 examples exceeds what 64 bits can count", ap::Error);
}

TEST_CASE("first-order requirements of a family are fitted to its exact costs") {
  std::vector<decltype(ap::mlp({28, 28, 1}, {1, 1, 1}, 10))> family;
  for (const std::size_t width : {256u, 512u, 1024u, 2048u, 4096u})
    family.push_back(ap::mlp({28, 28, 1}, {width, width, width}, 10));
  const ap::Requirements r = ap::requirements_of(family, {16, 64, 256}, 32);
  CHECK(r.gamma == near(6, 0.12));   // one product forward and two backward, but one in the first layer
  CHECK(r.lambda == near(12, 0.1));  // weights read twice, their gradients written, 4 bytes each
  CHECK(r.delta == near(8, 0.15));   // parameters and gradients
  CHECK(r.mu > 0);
  family.erase(family.begin() + 1, family.end());
  CHECK_THROWS_WITH_AS(ap::requirements_of(family, {16}, 16),
                       "requirements_of: there are 1 models, expected at least 2", ap::Error);
}
