#include "../golden/armijo.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/schedules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::Training;

namespace {

// f = k / 2 |x|^2, for which gamma satisfies the condition if gamma <= 2 (1 - c) / k.
template <int k>
double parabola(std::uint64_t, const std::vector<double>& p, std::vector<double>& g) {
  double loss = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    g[i] = k * p[i];
    loss += 0.5 * k * p[i] * p[i];
  }
  return loss;
}

using SearchingSgd = decltype(ap::armijo());

template <class Backend = ap::Host<double>>
Training<SearchingSgd, Backend> training_of(ap::testing::Gradient gradient, ap::ArmijoOptions options = {}) {
  return {ap::armijo(options), layout_of({{3, 2}, {5}}), Backend{}, gradient};
}

// The loss of the batch of step t, as in make_armijo.py: one example, 5 (t - 1) mod examples.
double logistic(std::uint64_t t, const std::vector<double>& x, std::vector<double>& g) {
  namespace data = golden::armijo;
  const int i = static_cast<int>(5 * (t - 1) % data::examples);
  const double y = data::label(i);
  double score = 0, square = 0;
  for (int j = 0; j < data::width; ++j) {
    const double each = x[static_cast<std::size_t>(j)];
    score += data::example(i, j) * each;
    square += each * each;
  }
  const double e = std::exp(-y * score);
  for (int j = 0; j < data::width; ++j) {
    const auto at = static_cast<std::size_t>(j);
    g[at] = -y * e / (1 + e) * data::example(i, j) + data::precision * x[at];
  }
  return std::log(1 + e) + data::precision / 2 * square;
}

}  // namespace

TEST_CASE("the search finds the first gamma with sufficient decrease on a quadratic, and the next step uses it") {
  const auto rule = ap::armijo({.shrink = 0.5, .eps = 0});
  const ap::Layout layout = layout_of({{2}, {1, 3}}, 1);
  auto state = rule.state(ap::Host<double>{}, layout);
  std::vector<double> x{1, -2, 3, 0.5, -4}, g(5);
  const auto evaluate = [&] { return parabola<4>(0, x, g); };  // all values in this test are exact
  evaluate();
  CHECK(state.gamma == 2);
  rule.step(g, x, state, {.t = 1, .learning_rate = 0.0625}, evaluate);
  CHECK(state.gamma == 0.25);  // 1 / k, after trying 2, 1 and 0.5
  CHECK(state.tried == 4);
  CHECK(x == std::vector<double>{0.5, -1, 1.5, 0.25, -2});  // this step still uses gamma = 2
  evaluate();
  rule.step(g, x, state, {.t = 2, .learning_rate = 1}, evaluate);
  CHECK(state.gamma == 0.25);
  CHECK(state.tried == 1);
  CHECK(x == std::vector<double>(5));  // with gamma = 1 / k, Newton's step
  CHECK(state.t() == 2);
}

TEST_CASE("gamma shrinks by the given factor to the bound given by the curvature, and never grows") {
  auto training = training_of(parabola<3>);
  double expected = 2;
  while (expected > 1.0 / 3) expected *= 0.7;
  training.step(0.1);
  CHECK(training.state.gamma == expected);
  training.steps(5, 0.1);
  CHECK(training.state.gamma == expected);
  // A larger c requires a larger decrease.
  auto greedy = training_of(parabola<3>, {.c = 0.9});
  expected = 2;
  while (expected > 0.2 / 3) expected *= 0.7;
  greedy.step(0.1);
  CHECK(greedy.state.gamma == expected);
}

TEST_CASE("if no try decreases the loss enough, gamma shrinks once") {
  const auto uphill = [](std::uint64_t, const std::vector<double>& p, std::vector<double>& g) {
    for (std::size_t i = 0; i < p.size(); ++i) g[i] = -p[i];
    double loss = 0;
    for (const double x : p) loss += 0.5 * x * x;
    return loss;
  };
  auto training = training_of(uphill, {.tries = 7});
  training.step(0.1);
  CHECK(training.state.tried == 7);
  CHECK(training.state.gamma == 0.7 * 2);
  // At a minimum, where the gradient is zero, nothing is tried, and gamma shrinks once too.
  auto still = training_of([](std::uint64_t, const std::vector<double>& p, std::vector<double>& g) {
    g.assign(p.size(), 0);
    return 1.0;
  });
  const auto before = still.values();
  still.step(0.1);
  CHECK(still.state.tried == 0);
  CHECK(still.state.gamma == 0.7 * 2);
  CHECK(still.values() == before);
}

TEST_CASE("the search restores parameters and gradients, also if evaluate throws") {
  const auto rule = ap::armijo();
  const ap::Layout layout = layout_of({{4}, {3}});
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> gradients(layout.size()), values(layout.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    values[i] = 0.1f * static_cast<float>(i);
    gradients[i] = 1 / (1 + static_cast<float>(i));
  }
  const auto first_values = values, first_gradients = gradients;
  for (const int last : {1, 2, 5}) {
    int calls = 0;
    const auto fails = [&]() -> double {
      gradients.assign(gradients.size(), -1);
      if (++calls == last) throw ap::Error("no gradient");
      return calls;
    };
    CHECK_THROWS_AS(rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1}, fails), ap::Error);
    CHECK(calls == last);
    CHECK(values == first_values);
    CHECK(gradients == first_gradients);
    CHECK(state.gamma == 2);
    CHECK(state.t() == 0);
  }
}

TEST_CASE("around another rule, gamma scales the rule's learning rate") {
  const auto rule = ap::armijo(ap::momentum());
  Training<ap::Armijo<decltype(ap::momentum())>, ap::Host<double>> training(rule, layout_of({{4}}), {}, parabola<1>);
  std::vector<double> p = training.values(), m(4);
  training.steps(3, 0.25);
  double gamma = 2;
  for (int t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      m[i] = 0.9 * m[i] + p[i];
      p[i] -= gamma * 0.25 * m[i];
    }
    while (gamma > 1) gamma *= 0.7;
  }
  for (std::size_t i = 0; i < 4; ++i) CHECK(training.values()[i] == near(p[i], 1e-14));
}

TEST_CASE("SGD with exponential steps and the line search matches the authors' code") {
  namespace data = golden::armijo;
  const auto rule = ap::armijo();
  const ap::Layout layout = layout_of({{data::width}}, 1);
  auto state = rule.state(ap::Host<double>{}, layout);
  const ap::NoiseAdaptive alpha{.from = 1, .beta = 1, .steps = data::steps};
  std::vector<double> x(data::width), g(data::width);
  for (std::uint64_t t = 1; t <= data::steps; ++t) {
    const auto evaluate = [&] { return logistic(t, x, g); };
    evaluate();
    rule.step(g, x, state, {.t = t, .learning_rate = alpha(t - 1)}, evaluate);
    CHECK(state.gamma == near(data::gammas[t - 1], 1e-15));
    CHECK(state.tried == data::tries[t - 1]);
  }
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < data::width; ++i) {
    largest = std::fmax(largest, std::abs(data::x[i]));
    error = larger_or_nan(error, std::abs(x[i] - data::x[i]));
  }
  CHECK_MESSAGE(error <= 1e-12 * largest, "largest error ", error / largest);
}

TEST_CASE("a saved search resumes where it was") {
  const auto changing = [](std::uint64_t t, const std::vector<double>& p, std::vector<double>& g) {
    const double k = static_cast<double>(t);
    double loss = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      g[i] = k * p[i];
      loss += 0.5 * k * p[i] * p[i];
    }
    return loss;
  };
  auto whole = training_of<ap::Host<float>>(changing), first = whole, second = whole;
  whole.steps(9, 0.1);
  first.steps(4, 0.1);
  const auto saved = ap::testing::save(first.state);
  CHECK(saved.contains("gamma"));
  CHECK(saved.contains("armijo/t"));
  ap::testing::load(second.state, saved);
  second.resume(first);
  CHECK(second.state.gamma == first.state.gamma);
  second.steps(5, 0.1);
  CHECK(second.state.gamma == whole.state.gamma);
  CHECK(second.values() == whole.values());
}

TEST_CASE("describe reports the cost of a search") {
  CHECK(ap::describe(ap::armijo()) ==
        "a line search: 1 + tries gradients; 36 bytes per parameter (save, norm, restore) and 12 a try, 2 slots of "
        "scratch; then\n" +
            ap::describe(ap::sgd()));
}
