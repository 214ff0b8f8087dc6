// Tests of SOAP beyond its formula (golden values: matrix_golden_test.cpp).
#include "algoperf/rules/recipes/soap.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/rules/chain/chain.hpp"
#include "algoperf/rules/stages/adam.hpp"
#include "algoperf/rules/wrappers/partition.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::save;
using ap::testing::Training;
using ap::testing::values_after;

namespace {

constexpr auto soap_of(ap::EigenbasisAdam options) { return ap::chain(options, ap::Descend{}); }

// Returns the number of bases that each step computes.
std::vector<std::size_t> bases_by_step(const ap::EigenbasisAdam& options, const ap::Layout& layout, int steps) {
  const auto rule = soap_of(options);
  Training<decltype(soap_of(options)), ap::Host<double>> training(rule, layout);
  std::vector<std::size_t> counts;
  auto before = save(training.state);
  for (int t = 1; t <= steps; ++t) {
    training.step(0.01);
    auto after = save(training.state);
    counts.push_back(0);
    for (const auto& [name, bytes] : after) counts.back() += name.ends_with("/basis") && bytes != before.at(name);
    before = std::move(after);
  }
  return counts;
}

std::vector<double> numbers(const std::vector<unsigned char>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("the first step computes the bases and does not change the parameters") {
  const ap::Layout layout = layout_of({{4, 6}});
  CHECK(values_after<float>(soap_of({}), layout, 1) == values_after<float>(soap_of({}), layout, 0));
  CHECK(values_after<float>(soap_of({}), layout, 2) != values_after<float>(soap_of({}), layout, 0));
}

TEST_CASE("staggered bases are spread evenly over the steps; otherwise all are updated at once") {
  const ap::Layout layout = layout_of({{6, 4}, {5, 5}, {3, 7}, {8, 9}});  // 8 factors
  const auto staggered = bases_by_step({.frequency = 3}, layout, 13);
  CHECK(staggered[0] == 8);
  for (std::size_t t = 1; t < 13; ++t) CHECK(staggered[t] <= 3);
  for (std::size_t t = 1; t + 3 <= 13; ++t) CHECK(staggered[t] + staggered[t + 1] + staggered[t + 2] == 8);
  const auto at_once = bases_by_step({.frequency = 3, .staggered = false}, layout, 13);
  for (std::size_t t = 0; t < 13; ++t) CHECK(at_once[t] == (t % 3 == 0 ? 8 : 0));
}

TEST_CASE("without bases SOAP equals Adam, one step later") {
  const ap::Layout layout = layout_of({{3, 4}});
  const auto soap = soap_of({.beta1 = 0.9, .beta2 = 0.99, .largest_side = 2});
  const auto adam =
      ap::chain(ap::Adam{.beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .eps_at = ap::EpsAt::uncorrected}, ap::Descend{});
  auto soap_state = soap.state(ap::Host<double>{}, layout);
  auto adam_state = adam.state(ap::Host<double>{}, layout);
  std::vector<double> x(layout.size()), y(layout.size()), g(layout.size());
  for (std::uint64_t t = 1; t <= 8; ++t) {
    const auto shake = [&](const std::vector<double>& p) {
      ap::testing::shaken(t, p, g);
      for (std::size_t i = 12; i < g.size(); ++i) g[i] = 0;
    };
    shake(x);
    soap.step(g, x, soap_state, {.t = t, .learning_rate = 0.1});
    if (t == 1) continue;
    shake(y);
    adam.step(g, y, adam_state, {.t = t - 1, .learning_rate = 0.1});
  }
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == near(y[i], 1e-12));
}

TEST_CASE("bases stay orthogonal and converge to the eigenvectors of their factors") {
  const auto rule = soap_of({.frequency = 1});
  Training<decltype(soap_of({})), ap::Host<double>> training(rule, layout_of({{5, 6}}));
  training.steps(300, 0);  // gradients repeat every 97 steps, so the factors hardly move
  const auto saved = save(training.state);
  for (const std::string side : {"left", "right"}) {
    const std::size_t n = side == "left" ? 5 : 6;
    const auto a = numbers(saved.at("t0/" + side + "/statistic"));
    const auto q = numbers(saved.at("t0/" + side + "/basis"));
    double trace = 0, off = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double product = 0, rotated = 0;
        for (std::size_t k = 0; k < n; ++k) {
          product += q[k * n + i] * q[k * n + j];
          for (std::size_t l = 0; l < n; ++l) rotated += q[k * n + i] * a[k * n + l] * q[l * n + j];
        }
        CHECK(std::abs(product - (i == j)) < 1e-12);
        if (i == j)
          trace += rotated;
        else
          off += std::abs(rotated);
      }
    CHECK(off < 0.1 * trace);
  }
}

TEST_CASE("a convolution kernel is a matrix of filters x the rest; the state resumes between updates of the bases") {
  CHECK(values_after<float>(ap::soap({.frequency = 2}), layout_of({{4, 3, 3, 2}}), 6) ==
        values_after<float>(ap::soap({.frequency = 2}), layout_of({{4, 18}}), 6));

  const auto rule = ap::soap({.frequency = 4});
  const ap::Layout layout = layout_of({{6, 4}, {3, 3}});
  Training<decltype(ap::soap()), ap::Host<float>> whole(rule, layout), first = whole, second = whole;
  std::size_t bytes = 0;
  for (const auto& [name, array] : save(whole.state)) bytes += array.size();
  CHECK(bytes == 8 * 3 + 4 * (2 * (36 + 16 + 9 + 9) + 2 * (24 + 9)));
  whole.steps(12, 0.02);
  first.steps(6, 0.02);
  ap::testing::load(second.state, save(first.state));
  second.resume(first);
  second.steps(6, 0.02);
  CHECK(second.values() == whole.values());
  CHECK(save(second.state) == save(whole.state));
}

TEST_CASE("zero and non-finite gradients leave the bases orthogonal") {
  const auto rule = soap_of({.frequency = 1});
  const ap::Layout layout = layout_of({{4, 4}});
  auto state = rule.state(ap::Host<double>{}, layout);
  std::vector<double> g(16), p(16);
  rule.step(g, p, state, {.t = 1, .learning_rate = 0.1});
  rule.step(g, p, state, {.t = 2, .learning_rate = 0.1});
  for (const double value : p) CHECK(value == 0);
  g[3] = std::nan("");
  rule.step(g, p, state, {.t = 3, .learning_rate = 0.1});
  for (const auto& [name, bytes] : save(state))
    if (name.ends_with("/basis")) {
      const auto q = numbers(bytes);
      double square = 0;
      for (const double x : q) square += x * x;
      CHECK(square == near(4));
    }
}

TEST_CASE("invalid hyperparameters and tensors throw") {
  const ap::Layout layout = layout_of({{4, 3}, {5}});
  const auto refuses = [&](const auto& rule, const char* sentence) {
    CHECK_THROWS_WITH_AS((void)rule.state(ap::Host<float>{}, layout), sentence, ap::Error);
  };
  refuses(ap::soap({.beta1 = 1}), "EigenbasisAdam: beta1 is 1, expected [0, 1)");
  refuses(ap::soap({.beta2 = -1}), "EigenbasisAdam: beta2 is -1, expected [0, 1)");
  refuses(ap::soap({.shampoo_beta = 1}), "EigenbasisAdam: shampoo_beta is 1, expected less than 1");
  refuses(ap::soap({.eps = 0}), "EigenbasisAdam: eps is 0, expected more than 0");
  refuses(ap::soap({.frequency = 0}), "EigenbasisAdam: frequency is 0, expected at least 1");
  refuses(ap::soap({.weight_decay = -1}), "DecayedWeights: rate is -1, expected at least 0");
  refuses(ap::soap(),
          "EigenbasisAdam: the tensor 't1' is not a matrix; use partition(matrices, soap(), otherwise, adamw())");
}
