#include "algoperf/combine/measured_mean.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/near.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/combine/measured_spread.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/core/layout.hpp"

namespace ap = algoperf;

namespace {

static_assert(ap::Combiner<ap::MeasuredMean>);

// A context with three parameters and workers with fixed gradients.
struct Context {
  using Backend = ap::Host<double>;
  using Scalar = double;
  using Array = Backend::Array<double>;
  struct RuleState {};

  std::vector<std::vector<double>> of_workers;
  std::vector<std::size_t> counts;
  ap::Layout names{1};
  ap::Ranks rank;
  std::vector<double> parameters = {0, 0, 0}, mean = {0, 0, 0}, stepped_with = {};

  Context(std::vector<std::vector<double>> gradients, std::vector<std::size_t> examples)
      : of_workers(std::move(gradients)), counts(std::move(examples)) {
    names.add({"w", ap::Kind::weight, {3}});
  }
  Backend backend() const { return {}; }
  const ap::Layout& layout() const { return names; }
  std::size_t workers() const { return counts.size(); }
  const ap::Ranks& ranks() const { return rank; }
  double weight() const { return 0; }
  std::vector<ap::Ranks::Note> meet(ap::Meeting, double, double) const { return {}; }
  double* values() { return parameters.data(); }
  double* gradients() { return mean.data(); }
  std::size_t examples(std::size_t w) const { return counts[w]; }
  double share(std::size_t w) const {
    double all = 0;
    for (const std::size_t n : counts) all += static_cast<double>(n);
    return static_cast<double>(counts[w]) / all;
  }
  double gradient(std::size_t w, const double*, double* out) const {
    for (std::size_t i = 0; i < 3; ++i) out[i] = counts[w] == 0 ? 0 : of_workers[w][i];
    return static_cast<double>(w);
  }
  RuleState make_rule_state() const { return {}; }
  template <class Evaluate>
  void step(const double* gradients, double*, RuleState&, const Evaluate& evaluate) {
    stepped_with.assign(gradients, gradients + 3);
    evaluate();  // a second evaluation, as in sam
  }
};

template <class Combiner = ap::MeasuredMean>
ap::GradientSquares squares_of(Context& context) {
  const Combiner combiner;
  auto state = combiner.state(context);
  combiner.advance(context, state);
  return combiner.gradient_squares(state);
}

}  // namespace

TEST_CASE("the squared norms of the workers' gradients and of their mean") {
  Context context({{1, 2, 2}, {3, 0, -4}}, {8, 8});
  const ap::GradientSquares squares = squares_of(context);
  CHECK(context.stepped_with == std::vector<double>{2, 1, -1});
  CHECK(squares.small == 8);
  CHECK(squares.square_small == (9 + 25) / 2.0);
  CHECK(squares.big == 16);
  CHECK(squares.square_big == 6);
}

TEST_CASE("workers with unequal numbers of examples: the small batch is their harmonic mean") {
  Context context({{1, 0, 0}, {0, 1, 0}, {0, 0, 2}, {9, 9, 9}}, {2, 4, 4, 0});
  const ap::GradientSquares squares = squares_of(context);
  CHECK(squares.small == near(3));
  CHECK(squares.square_small == near(2));
  CHECK(squares.big == 10);
  CHECK(squares.square_big == near(0.04 + 0.16 + 0.64));
}

TEST_CASE("a single worker with examples gives no measurement; a group of one worker is rejected") {
  Context context({{1, 0, 0}, {0, 1, 0}}, {0, 4});
  CHECK(squares_of(context).small == 0);
  Context alone({{1, 0, 0}}, {4});
  CHECK_THROWS_WITH_AS(ap::MeasuredMean{}.state(alone),
                       "MeasuredMean: there is 1 worker, expected at least 2: InProcess{.workers = 2}", ap::Error);
}

TEST_CASE("the spread of the workers' gradients along their mean and across it") {
  // The mean is (2, 1, -1), of square 6. Inner products with it: 2, 10 and 6.
  const std::vector<std::vector<double>> gradients{{1, 1, 1}, {3, 2, -2}, {2, 0, -2}};
  Context context(gradients, {4, 4, 4});
  const ap::GradientSquares squares = squares_of<ap::MeasuredSpread>(context);
  CHECK(context.stepped_with[0] == near(2, 1e-12));
  CHECK(squares.square_small == near((3 + 17 + 8) / 3.0, 1e-12));
  CHECK(squares.square_big == near(6, 1e-12));
  REQUIRE(squares.spread.has_value());
  CHECK(squares.spread->along == near((16 + 16 + 0) / 2.0, 1e-12));
  CHECK(squares.spread->across == near((3 - 4 / 6.0 + 17 - 100 / 6.0 + 8 - 36 / 6.0) / 2, 1e-12));
  CHECK(!squares_of(context).spread.has_value());

  // A worker without examples does not count.
  Context idle({{1, 1, 1}, {3, 2, -2}, {2, 0, -2}, {9, 9, 9}}, {4, 4, 4, 0});
  const ap::GradientSquares same = squares_of<ap::MeasuredSpread>(idle);
  CHECK(same.spread->along == near(squares.spread->along, 1e-12));
  CHECK(same.spread->across == near(squares.spread->across, 1e-12));

  Context opposed({{1, 0, 0}, {-1, 0, 0}}, {4, 4});  // the mean is 0: all of the spread is across it
  const ap::GradientSquares none = squares_of<ap::MeasuredSpread>(opposed);
  CHECK(none.spread->along == 0);
  CHECK(none.spread->across == 2);
}
