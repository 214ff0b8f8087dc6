// Tests of rules that treat tensors differently: masks and partitions, alone and with scheduled hyperparameters.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/schedules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::mlp_layout;
using ap::testing::Training;
using ap::testing::values_after;

namespace {

// Alternating weights and biases, as a model declares them.
constexpr auto masked_decay = ap::masked(ap::DecayedWeights{.rate = 0.1}, ap::decayable);

struct IsTensor {
  const char* name;
  bool operator()(const ap::TensorSpec& spec) const { return spec.name == name; }
};

}  // namespace

TEST_CASE("arrange_for makes tensors with equal treatment adjacent, which leaves few regions") {
  const auto rule = ap::chain(ap::Adam{}, masked_decay, ap::Descend{});
  ap::Layout layout = mlp_layout();
  CHECK(layout.regions_for(ap::adam()).size() == 1);
  CHECK(layout.regions_for(rule).size() == 6);
  layout.arrange_for(rule);
  CHECK(layout.regions_for(rule).size() == 2);
  CHECK(rule.state(ap::Host{}, layout).regions().size() == 2);

  // Two masks and a partition give their common refinement: matrices, the vector t1, and other vectors.
  const auto refined = ap::partition(
      ap::matrices, ap::muon(), ap::otherwise,
      ap::chain(ap::Adam{}, masked_decay, ap::masked(ap::DecayedWeights{}, IsTensor{"t1"}), ap::Descend{}));
  layout.arrange_for(refined);
  CHECK(layout.regions_for(refined).size() == 3);
}

TEST_CASE("the order of tensors in the arena does not change the result") {
  const auto rule = ap::chain(ap::Adam{}, masked_decay, ap::Descend{});
  ap::Layout arranged = mlp_layout();
  arranged.arrange_for(rule);
  CHECK(values_after(rule, arranged) == values_after(rule, mlp_layout()));
}

TEST_CASE("a masked stage does not change other tensors") {
  const ap::Layout layout = mlp_layout();
  const auto with = values_after(ap::adamw({.weight_decay = 0.1}), layout);
  const auto without = values_after(ap::adam(), layout);
  const auto masked = values_after(ap::chain(ap::Adam{}, masked_decay, ap::Descend{}), layout);
  std::size_t i = 0;
  for (const ap::TensorHandle handle : layout.tensors())
    for (std::size_t n = layout.place_of(handle).size; n > 0; --n, ++i)
      CHECK(masked[i] == (layout.spec(handle).shape.rank == 2 ? with[i] : without[i]));
}

TEST_CASE("nested masks select the tensors that both accept") {
  const ap::Layout layout = layout_of({{9}, {11}, {13}});
  const auto not_last = [](const ap::TensorSpec& spec) { return spec.name != "t2"; };
  const auto not_first = [](const ap::TensorSpec& spec) { return spec.name != "t0"; };
  const ap::DecayedWeights decay{.rate = 0.5};
  const auto both = ap::chain(ap::masked(ap::masked(decay, not_last), not_first), ap::Descend{});
  CHECK(values_after(both, layout) ==
        values_after(ap::chain(ap::masked(decay, IsTensor{"t1"}), ap::Descend{}), layout));
  const ap::ClipByGlobalNorm clip{.max_norm = 0.1};
  CHECK(values_after(ap::chain(ap::masked(ap::masked(clip, not_last), not_first), ap::Descend{}), layout) ==
        values_after(ap::chain(ap::masked(clip, IsTensor{"t1"}), ap::Descend{}), layout));
}

TEST_CASE("the parts of a partition remain separate, regardless of which one has masks") {
  const ap::Layout layout = layout_of({{4, 6}, {5}, {3, 2}});
  const auto decayed = ap::chain(ap::masked(ap::DecayedWeights{.rate = 0.5}, ap::decayable), ap::Descend{});
  const auto lion = ap::chain(ap::Lion{}, ap::Descend{});
  const auto first = values_after(ap::partition(ap::matrices, decayed, ap::otherwise, lion), layout);
  const auto last = values_after(
      ap::partition([](const ap::TensorSpec& spec) { return spec.shape.rank == 1; }, lion, ap::otherwise, decayed),
      layout);
  CHECK(first == last);
  const auto all_lion = values_after(lion, layout);
  for (std::size_t i = 24; i < 29; ++i) CHECK(first[i] == all_lion[i]);
}

TEST_CASE("the parts of a partition can have different learning rates") {
  const ap::Layout layout = layout_of({{4, 6}, {5}});
  const auto rule = ap::partition(ap::matrices, ap::chain(ap::Descend{.scale = 3}), ap::otherwise, ap::sgd());
  const auto values = values_after(rule, layout, 1), once = values_after(ap::sgd(), layout, 1);
  const auto thrice = values_after(ap::chain(ap::Descend{.scale = 3}), layout, 1);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (i < 24 ? thrice[i] : once[i]));
}

TEST_CASE("a masked measuring stage neither measures nor scales other tensors") {
  const ap::Layout layout = layout_of({{9}, {11}});
  const auto clip = ap::ClipByGlobalNorm{.max_norm = 0.1};
  const auto only_first = ap::chain(ap::masked(clip, IsTensor{"t0"}), ap::Descend{});
  const auto values = values_after(only_first, layout, 1);
  const auto clipped_alone = values_after(ap::chain(clip, ap::Descend{}), layout_of({{9}}), 1);
  const auto free = values_after(ap::chain(ap::Descend{}), layout, 1);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (i < 9 ? clipped_alone[i] : free[i]));

  const auto trust = ap::chain(ap::Adam{}, ap::masked(ap::TrustRatio{}, IsTensor{"t1"}), ap::Descend{});
  const auto trusted = values_after(trust, layout),
             whole = values_after(ap::chain(ap::Adam{}, ap::TrustRatio{}, ap::Descend{}), layout);
  const auto adam = values_after(ap::adam(), layout);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(trusted[i] == near(i < 9 ? adam[i] : whole[i], 1e-6));
}

TEST_CASE("ClipByGlobalNorm computes one norm over all regions") {
  const auto regions = ap::chain(ap::ClipByGlobalNorm{.max_norm = 0.5},
                                 ap::masked(ap::DecayedWeights{.rate = 0}, ap::decayable), ap::Descend{});
  const auto one = ap::chain(ap::ClipByGlobalNorm{.max_norm = 0.5}, ap::Descend{});
  REQUIRE(mlp_layout().regions_for(regions).size() == 6);
  const auto x = values_after(regions, mlp_layout()), y = values_after(one, mlp_layout());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == near(y[i], 1e-14));

  // The norm of one step is lr max_norm, independent of the regions.
  Training<decltype(regions), ap::Host<double>> training(regions, mlp_layout());
  const auto before = training.values();
  training.step(0.1);
  const auto after = training.values();
  double moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += (after[i] - before[i]) * (after[i] - before[i]);
  CHECK(std::sqrt(moved) == near(0.1 * 0.5, 1e-12));
}

TEST_CASE("each part of a partition behaves as its rule alone") {
  const ap::Layout layout = mlp_layout();
  const auto rule = ap::partition(IsTensor{"t0"}, ap::momentum(), ap::matrices, ap::lamb(), ap::otherwise, ap::lion());
  const auto values = values_after(rule, layout);
  const auto momentum = values_after(ap::momentum(), layout), lamb = values_after(ap::lamb(), layout),
             lion = values_after(ap::lion(), layout);
  std::size_t i = 0;
  for (const ap::TensorHandle handle : layout.tensors())
    for (std::size_t n = layout.place_of(handle).size; n > 0; --n, ++i)
      CHECK(values[i] == (handle.index == 0 ? momentum : handle.index % 2 == 0 ? lamb : lion)[i]);
}

TEST_CASE("a part without tensors, and a partition within a partition") {
  const ap::Layout vectors = layout_of({{7}, {3}});
  CHECK(values_after(ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::adam()), vectors) ==
        values_after(ap::adam(), vectors));

  const auto inner = ap::partition(IsTensor{"t1"}, ap::lion(), ap::otherwise, ap::adam());
  const auto nested = ap::partition(ap::matrices, ap::lamb(), ap::otherwise, inner);
  const auto flat = ap::partition(ap::matrices, ap::lamb(), IsTensor{"t1"}, ap::lion(), ap::otherwise, ap::adam());
  CHECK(values_after(nested, mlp_layout()) == values_after(flat, mlp_layout()));
  CHECK_NOTHROW(values_after(ap::sam(flat), mlp_layout()));
}

TEST_CASE("partition reports a tensor that no predicate accepts") {
  const auto rule = ap::partition(ap::matrices, ap::muon());
  const ap::Layout layout = mlp_layout();
  CHECK_THROWS_WITH_AS((void)rule.state(ap::Host{}, layout),
                       "partition: no predicate accepts the tensor 't1': end with `otherwise, rule`", ap::Error);
}

TEST_CASE("the schedule of a hyperparameter is called with t - 1") {
  // The rate is 0 in the first step and 0.5 in the second.
  const auto rule = ap::chain(
      ap::scheduled(ap::DecayedWeights{}, &ap::DecayedWeights::rate, ap::Linear{.from = 0, .to = 0.5, .steps = 1}),
      ap::Descend{});
  const ap::Layout layout = layout_of({{3}});
  CHECK(values_after(rule, layout, 1) == values_after(ap::sgd(), layout, 1));
  const auto one = values_after(rule, layout, 1), two = values_after(rule, layout, 2);
  std::vector<double> gradients(3);
  ap::testing::shaken(2, one, gradients);
  for (std::size_t i = 0; i < 3; ++i) CHECK(two[i] == near(one[i] - 0.05 * (gradients[i] + 0.5 * one[i])));
}

TEST_CASE("two fields, a measuring stage, a matrix stage and a masked stage can follow schedules") {
  const ap::Layout layout = mlp_layout();
  const ap::Constant beta1{0.7}, beta2{0.95}, max_norm{0.2}, rate{0.1};
  CHECK(
      values_after(ap::chain(ap::scheduled(ap::scheduled(ap::Adam{}, &ap::Adam::beta1, beta1), &ap::Adam::beta2, beta2),
                             ap::Descend{}),
                   layout) == values_after(ap::adam({.beta1 = 0.7, .beta2 = 0.95}), layout));
  CHECK(values_after(
            ap::chain(ap::scheduled(ap::ClipByGlobalNorm{}, &ap::ClipByGlobalNorm::max_norm, max_norm), ap::Descend{}),
            layout) == values_after(ap::chain(ap::ClipByGlobalNorm{.max_norm = 0.2}, ap::Descend{}), layout));
  const auto scheduled_decay = ap::scheduled(ap::DecayedWeights{.rate = 7}, &ap::DecayedWeights::rate,
                                             [rate](std::uint64_t t) { return rate(t); });
  CHECK(values_after(ap::chain(ap::Adam{}, ap::masked(scheduled_decay, ap::decayable), ap::Descend{}), layout) ==
        values_after(ap::chain(ap::Adam{}, masked_decay, ap::Descend{}), layout));
  const ap::Layout matrices = layout_of({{4, 6}});
  CHECK(values_after(
            ap::chain(ap::scheduled(ap::Orthogonalize{}, &ap::Orthogonalize::eps, ap::Constant{3}), ap::Descend{}),
            matrices) == values_after(ap::chain(ap::Orthogonalize{.eps = 3}, ap::Descend{}), matrices));
}

TEST_CASE("a measuring stage with scalars can follow a schedule, and rules can start at t > 1") {
  const auto norm = [](const auto& stage) { return ap::chain(stage, ap::Descend{}); };
  const ap::Layout layout = mlp_layout();
  CHECK(values_after(norm(ap::scheduled(ap::AdagradNorm{}, &ap::AdagradNorm::eps, ap::Constant{0.5})), layout) ==
        values_after(norm(ap::AdagradNorm{.eps = 0.5}), layout));
  const auto late = [&](const auto& rule) {  // its first step is step 2 of the run
    auto state = rule.state(ap::Host<double>{}, layout);
    std::vector<double> values(layout.size(), 1.0), gradients(layout.size());
    for (std::uint64_t t = 2; t < 5; ++t) {
      gradients.assign(layout.size(), 0.1);
      rule.step(gradients, values, state, {.t = t, .learning_rate = 0.01});
    }
    for (const double value : values) CHECK(std::abs(value - 1) < 0.1);
  };
  late(ap::madam());
  late(ap::lamadam());
  late(ap::schedule_free_sgd());
  late(ap::schedule_free_adamw());
}

TEST_CASE("Step::t counts from 1") {
  const ap::Layout layout = layout_of({{3}});
  auto state = ap::adam().state(ap::Host{}, layout);
  std::vector<float> gradients(layout.size()), values(layout.size());
  CHECK_THROWS_WITH_AS(ap::adam().step(gradients, values, state, {.t = 0, .learning_rate = 1}),
                       "step: t is 0, expected a count from 1", ap::Error);
}
