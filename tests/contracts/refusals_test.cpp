// Tests that rules reject invalid hyperparameters.
#include "algoperf/backend/host.hpp"
#include "rule_contract.hpp"

namespace ap = algoperf;

namespace {

template <class Rule>
void check_refused(const Rule& rule, const std::string& sentence) {
  const ap::Layout layout = ap::testing::problem_layout();
  CHECK_THROWS_WITH_AS((void)rule.state(ap::Host<float>{}, layout), sentence.c_str(), ap::Error);
}

}  // namespace

TEST_CASE("every recipe rejects invalid hyperparameters") {
  ap::testing::for_each_recipe([](const auto& recipe) {
    std::apply([](const auto&... each) { (check_refused(each.rule, each.message), ...); }, recipe.refusals);
  });
}

TEST_CASE("an invalid hyperparameter throws an Error that names the field and its range") {
  const double nan = std::nan("");
  check_refused(ap::lamb({.weight_decay = -0.1}), "DecayedWeights: rate is -0.1, expected at least 0");
  check_refused(ap::chain(ap::ClipByGlobalNorm{.max_norm = 0}, ap::Descend{}),
                "ClipByGlobalNorm: max_norm is 0, expected more than 0");
  check_refused(ap::chain(ap::Descend{}, ap::WeightAverage{.decay = 1}), "WeightAverage: decay is 1, expected [0, 1)");
  check_refused(ap::chain(ap::ClipByGlobalNorm{.eps = -1}, ap::Descend{}),
                "ClipByGlobalNorm: eps is -1, expected at least 0");
  check_refused(ap::chain(ap::ClipByValue{.max_value = nan}, ap::Descend{}),
                "ClipByValue: max_value is nan, expected more than 0");
  check_refused(ap::chain(ap::Descend{.scale = -1}), "Descend: scale is -1, expected more than 0");
  check_refused(ap::lars({.coefficient = 0}), "TrustRatio: coefficient is 0, expected more than 0");
  check_refused(ap::chain(ap::TrustRatio{.least = 2, .most = 1}, ap::Descend{}),
                "TrustRatio: least is 2, expected [0, most]");
  check_refused(ap::mlperf_lars({.eps = -1}), "MlperfTrustRatio: eps is -1, expected at least 0");
  check_refused(ap::dgrad({.beta2 = 1}), "DGrad: beta2 is 1, expected [0, 1)");
  check_refused(ap::adagrad_norm({.start = 0}), "AdagradNorm: start is 0, expected more than 0");
  check_refused(ap::relative_clipped_sgd({.weight_decay = 0}),
                "ClipByRelativeNorm: weight_decay is 0, expected more than 0");
  check_refused(ap::chain(ap::Descend{}, ap::DetachedDecay{.peak = 0}),
                "DetachedDecay: peak is 0, expected more than 0");
  check_refused(ap::adafactor({.decay_rate = 1.5}), "FactoredRms: decay is 1.5, expected (0, 1]");
  check_refused(ap::adafactor({.eps = 0}), "FactoredRms: eps is 0, expected more than 0");
  check_refused(ap::adafactor({.clipping_threshold = 0}), "ClipByRms: max_rms is 0, expected more than 0");
  check_refused(ap::adafactor({.least_scale = 0}), "ScaleByParameterRms: least is 0, expected more than 0");
  check_refused(ap::adafactor({.weight_decay = -1}), "DetachedDecay: rate is -1, expected at least 0");
  check_refused(ap::adafactor_torch({.beta2_decay = 0.8}), "FactoredRms: decay is -0.8, expected (0, 1]");
  check_refused(ap::adafactor_torch({.eps1 = -1}), "FactoredRms: eps is -1, expected at least 0");
  check_refused(ap::adafactor_algoperf({.beta1 = 1}), "Momentum: mu is 1, expected [0, 1)");
  check_refused(ap::adafactor_algoperf({.decay_adam = nan}), "FactoredRms: decay is nan, expected (0, 1)");
  check_refused(ap::armijo({.c = 1}), "armijo: c is 1, expected (0, 1)");
  check_refused(ap::armijo({.shrink = 1}), "armijo: shrink is 1, expected (0, 1)");
  check_refused(ap::armijo({.start = 0}), "armijo: start is 0, expected more than 0");
  check_refused(ap::armijo({.eps = -1}), "armijo: eps is -1, expected at least 0");
  check_refused(ap::armijo({.tries = 0}), "armijo: tries is 0, expected at least 1");
  check_refused(ap::armijo(ap::momentum({.mu = 2})), "Momentum: mu is 2, expected [0, 1)");
  check_refused(ap::sam(ap::sgd(), {.rho = 0}), "sam: rho is 0, expected more than 0");
  check_refused(ap::sam(ap::momentum({.mu = 2})), "Momentum: mu is 2, expected [0, 1)");
  check_refused(ap::partition(ap::matrices, ap::muon({.steps = 0}), ap::otherwise, ap::sgd()),
                "Orthogonalize: steps is 0, expected at least 1");
  check_refused(ap::chain(ap::masked(ap::DecayedWeights{.rate = -2}, ap::decayable), ap::Descend{}),
                "DecayedWeights: rate is -2, expected at least 0");
  const auto falls_below_zero = ap::Linear{.from = -3, .to = 0, .steps = 4};
  check_refused(
      ap::chain(ap::scheduled(ap::DecayedWeights{}, &ap::DecayedWeights::rate, falls_below_zero), ap::Descend{}),
      "DecayedWeights: rate is -3, expected at least 0");
  check_refused(ap::muon(),
                "Orthogonalize: the tensor 't1' is not a matrix; use partition(matrices, muon(), otherwise, adamw())");
}

TEST_CASE("an infinite hyperparameter is refused") {
  constexpr double infinite = HUGE_VAL;
  const auto refused = [](const auto& rule, const std::string& option) {
    check_refused(rule, option + " is inf, expected a finite number");
  };
  const auto stage_refused = [&](const auto& stage, const std::string& option) {
    refused(ap::chain(stage, ap::Descend{}), option);
  };
  refused(ap::adamw({.eps = infinite}), "Adam: eps");
  refused(ap::adamw({.weight_decay = infinite}), "DecayedWeights: rate");
  refused(ap::nadam({.momentum_decay = infinite}), "NAdam: momentum_decay");
  refused(ap::adagrad({.start = infinite}), "Adagrad: start");
  refused(ap::dgrad({.eps = infinite}), "DGrad: eps");
  refused(ap::adagrad_norm({.start = infinite}), "AdagradNorm: start");
  refused(ap::rmsprop({.start = infinite}), "RmsProp: start");
  refused(ap::yogi({.start = infinite}), "Yogi: start");
  refused(ap::ademamix({.alpha = infinite}), "AdEmaMix: alpha");
  refused(ap::schedule_free_adamw({.r = infinite}), "ScheduleFree: r");
  refused(ap::lars({.coefficient = infinite}), "TrustRatio: coefficient");
  refused(ap::mlperf_lars({.eps = infinite}), "MlperfTrustRatio: eps");
  refused(ap::relative_clipped_sgd({.weight_decay = infinite}), "ClipByRelativeNorm: weight_decay");
  refused(ap::adafactor_torch({.eps1 = infinite}), "FactoredRms: eps");
  refused(ap::adafactor({.clipping_threshold = infinite}), "ClipByRms: max_rms");
  refused(ap::adafactor({.least_scale = infinite}), "ScaleByParameterRms: least");
  refused(ap::sam(ap::sgd(), {.rho = infinite}), "sam: rho");
  refused(ap::armijo({.start = infinite}), "armijo: start");
  refused(ap::shampoo({}, ap::GraftAdagrad{.eps = infinite}), "GraftAdagrad: eps");
  stage_refused(ap::ClipByGlobalNorm{.max_norm = infinite}, "ClipByGlobalNorm: max_norm");
  stage_refused(ap::ClipByValue{.max_value = infinite}, "ClipByValue: max_value");
  stage_refused(ap::ScaleBy{.factor = infinite}, "ScaleBy: factor");
  stage_refused(ap::DetachedDecay{.peak = infinite}, "DetachedDecay: peak");
  stage_refused(ap::Orthogonalize{.eps = infinite}, "Orthogonalize: eps");
  check_refused(ap::chain(ap::Descend{.scale = infinite}), "Descend: scale is inf, expected a finite number");
  check_refused(ap::chain(ap::TrustRatio{.least = infinite}, ap::Descend{}),
                "TrustRatio: least is inf, expected [0, most]");
  CHECK_NOTHROW((void)ap::lamb().state(ap::Host<float>{}, ap::testing::problem_layout()));  // most is infinite
}
