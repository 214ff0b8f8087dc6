// The options of rules and schedules as numbers, by which a checkpoint is compared with the run that resumes it.
#include "algoperf/core/options.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "algoperf/rules/matrix/newton_root.hpp"
#include "algoperf/rules/wrappers/mixed_precision.hpp"
#include "algoperf/schedules/all.hpp"
#include "recipes.hpp"

namespace ap = algoperf;
using ap::detail::Options;

namespace {

using Values = std::vector<double>;

template <class T>
Values values_of(const T& x) {
  const Options options(x);
  CHECK(options.complete);
  return options.values;
}

struct Own {
  double rate = 0.5;
  double operator()(std::uint64_t) const { return rate; }
};
struct OwnVisited : Own {
  template <class F>
  void visit_options(F& f) const {
    f(rate);
  }
};

}  // namespace

TEST_CASE("every recipe has options, and every option of a rule changes them") {
  std::size_t recipes = 0;
  ap::testing::for_each_recipe([&](const auto& recipe) {
    CHECK(!Options(recipe.rule).values.empty());
    ++recipes;
  });
  CHECK(recipes >= 20);
  CHECK(values_of(ap::chain(ap::Adam{.beta1 = 0.8, .beta2 = 0.9, .eps = 0.25}, ap::Descend{.scale = 2})) ==
        Values{0.8, 0.9, 0.25, 0, 0, 2});
  const Values base = values_of(ap::adamw());
  for (const ap::AdamWOptions& other :
       {ap::AdamWOptions{.beta1 = 0.5}, {.beta2 = 0.5}, {.eps = 0.5}, {.weight_decay = 0.5}})
    CHECK(values_of(ap::adamw(other)) != base);
}

TEST_CASE("options of wrappers, partitions, matrix stages and schedules inside rules") {
  CHECK(values_of(ap::sam(ap::sgd(), {.rho = 0.3})) != values_of(ap::sam(ap::sgd(), {.rho = 0.4})));
  CHECK(values_of(ap::sam(ap::momentum({.mu = 0.3}))) != values_of(ap::sam(ap::momentum())));
  CHECK(values_of(ap::armijo({.c = 0.3})) != values_of(ap::armijo()));
  CHECK(values_of(ap::apply_if_finite(ap::momentum({.mu = 0.3}))) != values_of(ap::apply_if_finite(ap::momentum())));
  CHECK(values_of(ap::mixed_precision<ap::bfloat16>(ap::momentum({.mu = 0.3}))) !=
        values_of(ap::mixed_precision<ap::bfloat16>(ap::momentum())));
  const auto hybrid = [](int steps, double beta1) {
    return Options(ap::partition(ap::matrices, ap::muon({.steps = steps}), ap::otherwise, ap::adamw({.beta1 = beta1})));
  };
  CHECK(hybrid(5, 0.9).values == hybrid(5, 0.9).values);
  CHECK(hybrid(5, 0.9).values != hybrid(6, 0.9).values);
  CHECK(hybrid(5, 0.9).values != hybrid(5, 0.8).values);
  const auto vectors = [](const ap::TensorSpec& spec) { return spec.shape.rank == 1; };
  CHECK(!Options(ap::partition(vectors, ap::sgd(), ap::otherwise, ap::muon())).complete);  // a lambda is left out
  const auto masked = [](double rate) {
    return Options(ap::chain(ap::masked(ap::DecayedWeights{.rate = rate}, ap::decayable), ap::Descend{})).values;
  };
  CHECK(masked(0.1) != masked(0.2));
  const auto scheduled = [](double to) {
    return values_of(ap::chain(
        ap::scheduled(ap::DecayedWeights{}, &ap::DecayedWeights::rate, ap::Linear{.from = 0.5, .to = to, .steps = 9}),
        ap::Descend{}));
  };
  CHECK(scheduled(0.1) != scheduled(0.2));
}

TEST_CASE("options of schedules") {
  CHECK(values_of(ap::WarmupCosine{.peak = 0.5, .warmup = 3, .total = 9}) == Values{0.5, 3, 9, 0, 0, 0});
  CHECK(values_of(ap::MultiStep{.from = 0.5, .milestones = {3, 7}, .factor = 0.25}) == Values{0.5, 3, 7, 0.25});
  CHECK(values_of(ap::PiecewiseConstant{.from = 0.5, .drops = {{3, 0.25}}}) == Values{0.5, 3, 0.25});
  CHECK(values_of(ap::join(ap::Constant{1}, 4, ap::Constant{2})) == Values{1, 4, 2});
  ap::Plateau used{.peak = 0.5, .patience = 0};
  const Values fresh = values_of(used);
  used.observe(1);
  used.observe(2);
  CHECK(used(0) < 0.5);
  CHECK(values_of(used) == fresh);
  const auto lambda = [](std::uint64_t) { return 0.5; };
  CHECK(!Options(lambda).complete);
  CHECK(!Options(ap::join(ap::Constant{1}, 4, lambda)).complete);
  CHECK(!Options(Own{}).complete);
  CHECK(values_of(OwnVisited{}) == Values{0.5});
}

TEST_CASE("the ends that a range includes are accepted") {
  const auto accept = [](const auto&... stage) { CHECK_NOTHROW((stage.check(), ...)); };
  accept(ap::Adam{.beta1 = 0, .beta2 = 0}, ap::NAdam{.beta1 = 0, .beta2 = 0, .momentum_decay = 0});
  accept(ap::RmsProp{.rho = 0}, ap::RmsProp{.rho = 1}, ap::CenteredRmsProp{.rho = 0});
  accept(ap::Momentum{.mu = 0, .dampening = 0}, ap::Momentum{.dampening = 1}, ap::Nesterov{.mu = 0, .dampening = 1});
  accept(ap::Lion{.beta1 = 0, .beta2 = 0}, ap::WeightAverage{.decay = 0}, ap::DecayedWeights{.rate = 0});
  accept(ap::TrustRatio{.eps = 0}, ap::MlperfTrustRatio{.weight_decay = 0, .eps = 0}, ap::ClipByGlobalNorm{.eps = 0});
  accept(ap::Yogi{.beta1 = 0, .beta2 = 0, .start = 0}, ap::Adagrad{.start = 0}, ap::AdagradNorm{.eps = 0});
  accept(ap::MaxVa{.beta1 = 0, .beta_min = 0}, ap::LaMaxVa{.beta1 = 0, .beta_min = 0});
  accept(ap::AdEmaMix{.beta2 = 0, .alpha = 0}, ap::ScheduleFree{.r = 0, .lr_power = 0});
  accept(ap::DynamicLossScale{.growth = 1, .backoff = 1, .interval = 1});
  CHECK_NOTHROW((ap::NewtonRoot{.max_iterations = 1, .tolerance = 0}.check(1)));
}
