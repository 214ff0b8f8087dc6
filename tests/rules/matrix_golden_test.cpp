// Checks every row of tests/golden/matrix_rules.hpp: Shampoo, SOAP and Muon with the options a user would write.
#include "../golden/matrix_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "../golden/rules.hpp"
#include "../support/near.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/rules/recipes/muon.hpp"
#include "algoperf/rules/recipes/shampoo.hpp"
#include "algoperf/rules/recipes/soap.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

void golden_gradient(std::uint64_t t, const std::vector<double>& p, std::vector<double>& g) {
  for (std::size_t i = 0; i < p.size(); ++i) g[i] = golden::gradient(static_cast<int>(t), static_cast<int>(i), p[i]);
}

// The tolerance is relative to each value in double, and to the largest value in float.
template <class S>
constexpr double tolerance = std::is_same_v<S, double> ? 1e-12 : 1e-5;

template <class S>
double error_of(const std::vector<S>& values, const double (&expected)[52]) {
  double largest = 0, error = 0;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const double scale = std::is_same_v<S, double> ? std::abs(expected[i]) : largest;
    error = larger_or_nan(error, std::abs(static_cast<double>(values[i]) - expected[i]) / scale);
  }
  return error;
}

template <class S>
struct MatrixGolden {
  int checked = 0;

  template <class Rule>
  void operator()(const char* name, const Rule& rule) {
    const auto* const row = std::find_if(std::begin(golden::three_matrices), std::end(golden::three_matrices),
                                         [&](const auto& r) { return std::strcmp(r.rule, name) == 0; });
    REQUIRE(row != std::end(golden::three_matrices));
    const ap::Layout layout = ap::testing::layout_of({{4, 4}, {3, 6}, {6, 3}});
    ap::testing::Training<Rule, ap::Host<S>> training(rule, layout, {}, golden_gradient);
    training.steps(golden::steps, golden::learning_rate);
    const double error = error_of(training.values(), row->values);
    CHECK_MESSAGE(error <= tolerance<S>, std::string(name), ": largest error ", error);
    ++checked;
  }
};

template <class Root = ap::EigenRoot, class Graft>
auto preconditioned(ap::Precondition<Root, Graft> options) {
  return ap::chain(options, ap::DecayedWeights{.rate = 0.1}, ap::Descend{});
}

template <class S>
void check_matrix_rules() {
  using ap::EigenRoot, ap::NewtonRoot, ap::Precondition;
  MatrixGolden<S> check;
  const ap::ShampooOptions each_step{
      .beta2 = 0.99, .weight_decay = 0.1, .epsilon = 1e-3, .root_frequency = 1, .start_step = 1};
  check("shampoo_sgd", ap::shampoo(each_step, ap::GraftSgd{}));
  auto options = each_step;
  options.epsilon = 0.1;
  check("shampoo_none", ap::shampoo(options, ap::NoGraft{}));
  options = each_step;
  options.beta1 = 0;
  options.beta2 = 1;
  check("shampoo_adagrad", ap::shampoo(options, ap::GraftAdagrad{}));
  check("shampoo_rmsprop", preconditioned(Precondition<EigenRoot, ap::GraftRmsProp>{
                               .beta2 = 0.99, .beta3 = 0.5, .epsilon = 1e-3, .root_frequency = 1, .start_step = 1}));
  options = each_step;
  options.root_frequency = options.start_step = 3;
  check("shampoo_adam", ap::shampoo(options));
  options.start_step = 2;
  options.staggered = false;
  check("shampoo_at_once", ap::shampoo(options));
  check("shampoo_newton", preconditioned(Precondition<NewtonRoot>{.beta2 = 0.99,
                                                                  .epsilon = 1e-3,
                                                                  .block = 2,
                                                                  .statistics_frequency = 2,
                                                                  .root_frequency = 4,
                                                                  .start_step = 1}));
  check("shampoo_algoperf",
        ap::chain(
            Precondition<NewtonRoot, ap::GraftRmsPropNormalized>{
                .beta1 = 0, .beta2 = 0.99, .epsilon = 1e-3, .root_frequency = 1, .start_step = 1},
            ap::DecayedWeights{.rate = 0.1}, ap::Nesterov{.mu = 0.9, .dampening = 0.9}, ap::Descend{}));
  check(
      "shampoo_left",
      preconditioned(Precondition<EigenRoot, ap::GraftSgd>{
          .beta2 = 0.99, .epsilon = 1e-3, .root = 3, .root_frequency = 1, .start_step = 1, .sides = ap::Sides::left}));
  check("shampoo_right",
        preconditioned(Precondition<>{
            .beta2 = 0.9, .epsilon = 1e-3, .root_frequency = 1, .start_step = 1, .sides = ap::Sides::right}));

  check("soap", ap::soap({.weight_decay = 0, .frequency = 2, .largest_side = 4, .staggered = false}));
  check(
      "soap_staggered",
      ap::soap(
          {.beta1 = 0.9, .beta2 = 0.99, .shampoo_beta = 0.8, .weight_decay = 0.1, .frequency = 3, .largest_side = 4}));

  check("muon_simple", ap::muon({.scale = ap::OrthogonalScale::match_rms}));
  check("muon_quintic", ap::muon({.coefficients = ap::newton_schulz::quintic, .scale = ap::OrthogonalScale::unit_rms}));
  check("muon_polar_express", ap::muon({.steps = 10, .coefficients = ap::newton_schulz::polar_express}));
  check("muon_cans", ap::muon({.coefficients = ap::newton_schulz::cans, .scale = ap::OrthogonalScale::match_rms}));
  CHECK(check.checked == std::size(golden::three_matrices));
}

}  // namespace

TEST_CASE("matrix rules match their golden values in double") { check_matrix_rules<double>(); }
TEST_CASE("matrix rules match their golden values in float") { check_matrix_rules<float>(); }
