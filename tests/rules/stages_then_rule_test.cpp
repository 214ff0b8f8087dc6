// Tests of chains within chains, and of stages in front of a rule that is not a chain.
#include <doctest/doctest.h>

#include <cmath>
#include <type_traits>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/rules/wrappers/apply_if_finite.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::mlp_layout;
using ap::testing::Training;
using ap::testing::values_after;

namespace {

const ap::ClipByGlobalNorm clip{.max_norm = 0.1};
const auto muon_adamw = ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::adamw());
const auto parts_of_sgd = ap::partition(ap::matrices, ap::sgd(), ap::otherwise, ap::sgd());

}  // namespace

TEST_CASE("a chain among the stages is replaced by its stages") {
  const auto flat = ap::chain(clip, ap::Adam{}, ap::DecayedWeights{.rate = 0.01}, ap::Descend{});
  const auto nested = ap::chain(clip, ap::chain(ap::Adam{}, ap::DecayedWeights{.rate = 0.01}, ap::Descend{}));
  static_assert(std::is_same_v<decltype(flat), decltype(nested)>);
  CHECK(values_after(nested, mlp_layout()) == values_after(flat, mlp_layout()));

  const auto averaged = ap::chain(ap::sgd(), ap::WeightAverage{});
  static_assert(std::is_same_v<std::remove_const_t<decltype(averaged)>,
                               ap::Chain<ap::DecayedWeights, ap::Descend, ap::WeightAverage>>);
  static_assert(std::is_same_v<decltype(ap::chain(ap::chain(ap::Descend{}))), ap::Chain<ap::Descend>>);
  static_assert(std::is_same_v<decltype(ap::chain(muon_adamw)), std::remove_const_t<decltype(muon_adamw)>>);
}

TEST_CASE("one norm clips all parts of a partition") {
  ap::Layout layout = mlp_layout();
  const auto rule = ap::chain(clip, muon_adamw);
  layout.arrange_for(rule);
  auto state = rule.state(ap::Host<double>{}, layout), whole = rule.state(ap::Host<double>{.threads = 2}, layout);
  auto by_hand = muon_adamw.state(ap::Host<double>{}, layout);
  std::vector<double> p(layout.size(), 1.0), q = p, r = p;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    std::vector<double> g(layout.size()), h;
    double square = 0;
    for (const ap::TensorHandle handle : layout.tensors())
      for (std::size_t i = 0; i < layout.place_of(handle).size; ++i) {
        double& x = g[layout.place_of(handle).offset + i];
        x = std::sin(static_cast<double>(7 * t + 3 * i));
        square += x * x;
      }
    h = g;
    for (double& x : h) x *= 0.1 / std::sqrt(square);
    std::vector<double> again = g;
    rule.step(g, p, state, {.t = t, .learning_rate = 0.05});
    rule.step(again, r, whole, {.t = t, .learning_rate = 0.05});
    muon_adamw.step(h, q, by_hand, {.t = t, .learning_rate = 0.05});
  }
  for (const ap::TensorHandle handle : layout.tensors())
    for (std::size_t i = 0; i < layout.place_of(handle).size; ++i) {
      const std::size_t at = layout.place_of(handle).offset + i;
      CHECK(p[at] == near(q[at], 1e-12));
      CHECK(p[at] == r[at]);
    }
  CHECK(state.t() == 4);
}

TEST_CASE("stages with state and with masks work in front of a rule") {
  const auto close = [](const auto& a, const auto& b) {
    const auto x = values_after(a, mlp_layout()), y = values_after(b, mlp_layout());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == near(y[i], 1e-12));
  };
  close(ap::chain(ap::Momentum{}, parts_of_sgd), ap::momentum());
  close(ap::chain(ap::Adam{}, ap::TrustRatio{}, parts_of_sgd), ap::chain(ap::Adam{}, ap::TrustRatio{}, ap::Descend{}));
  const auto decay = ap::masked(ap::DecayedWeights{.rate = 0.1}, ap::decayable);
  close(ap::chain(decay, parts_of_sgd), ap::chain(decay, ap::Descend{}));
  const auto orthogonal =
      ap::partition(ap::matrices, ap::chain(ap::Orthogonalize{}, ap::Descend{}), ap::otherwise, ap::sgd());
  const auto momentum_inside = ap::partition(
      ap::matrices, ap::chain(ap::Momentum{}, ap::Orthogonalize{}, ap::Descend{}), ap::otherwise, ap::momentum());
  close(ap::chain(ap::Momentum{}, orthogonal), momentum_inside);
}

TEST_CASE("a rule with stages in front saves and loads its complete state, and has evaluation values") {
  const auto averaged = ap::chain(ap::Momentum{}, ap::Descend{}, ap::WeightAverage{.decay = 0.5});
  const auto rule = ap::chain(ap::Momentum{}, ap::partition(ap::matrices, averaged, ap::otherwise, ap::adam()));
  static_assert(std::remove_cvref_t<decltype(rule)>::has_evaluation_values);
  using T = Training<std::remove_cvref_t<decltype(rule)>, ap::Host<double>>;
  T whole(rule, mlp_layout()), second(rule, mlp_layout());
  whole.steps(3, 0.05);
  second.steps(3, 0.05);
  const auto saved = ap::testing::save(second.state);
  CHECK(saved.count("before/t0/momentum_buffer") == 1);
  auto fresh = rule.state(ap::Host<double>{}, mlp_layout());
  ap::testing::load(fresh, saved);
  CHECK(ap::testing::save(fresh) == saved);
  second.state = fresh;
  whole.steps(3, 0.05);
  second.steps(3, 0.05);
  CHECK(second.values() == whole.values());
}

TEST_CASE("wrappers can wrap stages in front of a rule") {
  const auto rule = ap::chain(clip, muon_adamw);
  CHECK(values_after(ap::apply_if_finite(rule), mlp_layout()) == values_after(rule, mlp_layout()));
  CHECK(values_after(ap::sam(rule, {.rho = 1e-9}), mlp_layout())[0] == near(values_after(rule, mlp_layout())[0]));
  CHECK_THROWS_WITH_AS(ap::chain(ap::ClipByGlobalNorm{.max_norm = -1}, muon_adamw).state(ap::Host{}, mlp_layout()),
                       doctest::Contains("ClipByGlobalNorm: max_norm is -1"), ap::Error);
}

TEST_CASE("describe reports the cost of stages in front of a rule") {
  CHECK(ap::describe(ap::chain(clip, parts_of_sgd)) ==
        "2 passes, 12 bytes per parameter, 0 slots (0 bytes) of state\n"
        "  pass 1: | measure ClipByGlobalNorm over all tensors; reads u: 4 bytes\n"
        "  pass 2: ClipByGlobalNorm | store u; reads u, writes u: 8 bytes\n"
        "then\n" +
            ap::describe(parts_of_sgd));
}
