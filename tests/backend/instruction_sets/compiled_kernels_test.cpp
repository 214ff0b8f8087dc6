// The kernels that algoperf::gemm contains for several instruction sets (src/common_sweeps.hpp, src/common_maps.hpp;
// sums of columns), beside the program's own.
#include "algoperf/backend/host/compiled_kernels.hpp"

#include <doctest/doctest.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/backend/products/gemm.hpp>
#include <algoperf/nn/layers/gelu.hpp>
#include <algoperf/nn/layers/relu.hpp>
#include <algoperf/nn/layers/silu.hpp>
#include <algoperf/nn/layers/tanh.hpp>
#include <algoperf/rules/all.hpp>
#include <cmath>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "../../../src/common_sweeps.hpp"
#include "../../support/near.hpp"

namespace ap = algoperf;

namespace {

// Whether algoperf::gemm provides kernels that are better than those of this file, which is compiled for SSE2.
bool component_is_better() {
  return std::string(ap::gemm_kernels(ap::InstructionSet::sse2)).find("update rules") != std::string::npos;
}

template <class Call>
bool found(const std::type_info& key, ap::InstructionSet level) {
  return ap::detail::find_compiled_kernel<Call>(key, level) != nullptr;
}

template <class S, class Rule>
void check_found(const char* name, const Rule& rule, bool expected) {
  CAPTURE(name);
  ap::detail::for_each_sweep_of<S>(rule, [&]<ap::detail::Then then, class Kernel, class Stage>() {
    const std::type_info& key = typeid(ap::detail::SweepKey<then, S, Kernel, Stage>);
    CHECK(found<ap::detail::SweepCall<S>>(key, ap::InstructionSet::sse2) == expected);
    CHECK_FALSE(found<ap::detail::SweepCall<S>>(key, ap::InstructionSet::avx512));
  });
}

// Parameters after three steps on tensors of odd sizes.
template <class S, class Rule>
std::vector<S> steps(const Rule& rule, unsigned threads) {
  ap::Layout layout;
  layout.add({"weight", ap::Kind::weight, {17, 59}});
  layout.add({"bias", ap::Kind::bias, {59}});
  layout.add({"wide", ap::Kind::weight, {3, 20001}});
  std::vector<S> p(layout.size()), g(layout.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = static_cast<S>(i % 17) / 17;
    g[i] = static_cast<S>(i % 13) / 13 - S(0.5);
  }
  auto state = rule.state(ap::Host<S>{.threads = threads}, layout);
  for (std::size_t t = 1; t <= 3; ++t) {
    std::vector<S> u = g;
    rule.step(std::span<S>(u), std::span<S>(p), state, ap::Step{.t = t, .learning_rate = 1e-2});
  }
  return p;
}

// A stage of a user's. The component contains no sweep with it.
struct Unchanged {
  static constexpr std::size_t slots = 0;
  template <class T>
  ALGOPERF_HD T operator()(T u, T, ap::Slots<T, 0>&) const {
    return u;
  }
};

// Checks that the component's sweeps agree with the program's, and that Host uses them: they differ in the last bits
// from those for SSE2, which have no fused multiply-add.
template <class S, class Rule>
void check_agrees(const char* name, const Rule& rule) {
  CAPTURE(name);
  const std::vector<S> own = steps<S>(ap::chain(Unchanged{}, rule), 1);
  const std::vector<S> one = steps<S>(rule, 1), two = steps<S>(rule, 2);
  double most = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    most = larger_or_nan(most, std::abs(static_cast<double>(one[i]) - static_cast<double>(own[i])));
  CHECK(most <= (sizeof(S) == 4 ? 1e-6 : 1e-14));
  CHECK((one != own) == component_is_better());
  CHECK(one == two);
}

bool wide(const ap::TensorSpec& spec) { return spec.name == "wide"; }

template <class F>
void for_each_common_rule(const F& f) {
  f("sgd", ap::sgd());
  f("momentum", ap::momentum());
  f("nesterov", ap::nesterov());
  f("adagrad", ap::adagrad());
  f("rmsprop", ap::rmsprop());
  f("adam", ap::adam());
  f("nadam", ap::nadam());
  f("adamw", ap::adamw());
  f("adamw, masked", ap::adamw({}, wide));
  f("lion", ap::lion());
  f("lion, masked", ap::lion({}, wide));
  f("lamb", ap::lamb());
  f("lamb, masked", ap::lamb({}, ap::decayable));
  f("lars", ap::lars());
  f("lars, masked", ap::lars({}, ap::decayable));
}

}  // namespace

TEST_CASE_TEMPLATE("the component contains the sweeps of common rules, also with clipping", S, float, double) {
  for_each_common_rule([](const char* name, const auto& rule) {
    check_found<S>(name, rule, component_is_better());
    check_found<S>(name, ap::chain(ap::ClipByGlobalNorm{}, rule), component_is_better());
    check_found<S>(name, ap::chain(Unchanged{}, ap::Adam{}, ap::Descend{}), false);
  });
}

TEST_CASE("the component's sweeps agree with the program's") {
  check_agrees<float>("momentum", ap::momentum({.weight_decay = 0.1}));
  check_agrees<float>("adamw, masked", ap::adamw({.weight_decay = 0.1}, wide));
  check_agrees<float>("lamb, clipped", ap::chain(ap::ClipByGlobalNorm{.max_norm = 3}, ap::lamb()));
  check_agrees<double>("adamw", ap::adamw());
}

namespace {

// A kernel of a user's. The component does not contain it.
template <class Kernel>
struct Own : Kernel {
  template <class... T>
  ALGOPERF_HD auto operator()(T... x) const {
    return Kernel::operator()(x...);
  }
};

// `rounds`: whether the kernel adds products, so that the component's results differ in the last bits.
template <class Kernel, std::size_t inputs, class S>
void check_map(const char* name, bool rounds = false) {
  CAPTURE(name);
  using Call = ap::detail::MapCall<S>;
  CHECK(found<Call>(typeid(ap::detail::MapKey<S, Kernel, inputs>), ap::InstructionSet::sse2) == component_is_better());
  CHECK_FALSE(found<Call>(typeid(ap::detail::MapKey<S, Kernel, inputs>), ap::InstructionSet::avx512));
  CHECK_FALSE(found<Call>(typeid(ap::detail::MapKey<S, Own<Kernel>, inputs>), ap::InstructionSet::sse2));
  constexpr std::size_t n = 1003;
  std::vector<S> x(n), a(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = (static_cast<S>(i) - 500) / 50;
    x[i] = b[i] = std::cos(static_cast<S>(i));
  }
  std::vector<S> y = x;
  const ap::Host<S> host;
  if constexpr (inputs == 1) {
    host.map(Kernel{}, n, x.data(), a.data());
    host.map(Own<Kernel>{}, n, y.data(), a.data());
  } else {
    host.map(Kernel{}, n, x.data(), a.data(), b.data());
    host.map(Own<Kernel>{}, n, y.data(), a.data(), b.data());
  }
  double most = 0;
  for (std::size_t i = 0; i < n; ++i)
    most = larger_or_nan(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  CHECK(most <= (sizeof(S) == 4 ? 2e-6 : 1e-14));
  if (rounds) CHECK((x != y) == component_is_better());
}

}  // namespace

TEST_CASE_TEMPLATE("the component's maps agree with the program's", S, float, double) {
  check_map<ap::Add, 1, S>("add to");
  check_map<ap::Add, 2, S>("add");
  check_map<ap::Times, 2, S>("times");
  check_map<ap::detail::ReluForward, 1, S>("relu");
  check_map<ap::detail::ReluBackward, 2, S>("relu, backward");
  check_map<ap::detail::TanhForward, 1, S>("tanh");
  check_map<ap::detail::TanhBackward, 2, S>("tanh, backward");
  check_map<ap::detail::SiluForward, 1, S>("silu");
  check_map<ap::detail::SiluBackward, 2, S>("silu, backward");
  check_map<ap::detail::GeluForward, 1, S>("gelu");
  check_map<ap::detail::GeluBackward, 2, S>("gelu, backward");
  check_map<ap::detail::GeluTanhForward, 1, S>("gelu_tanh", true);
  check_map<ap::detail::GeluTanhBackward, 2, S>("gelu_tanh, backward", true);
}

TEST_CASE_TEMPLATE("the component's sums of columns are the program's", S, float, double) {
  using Call = ap::detail::ColumnSumsCall<S>;
  const std::type_info& key = typeid(ap::detail::ColumnSumsKey<S>);
  CHECK(found<Call>(key, ap::InstructionSet::sse2) == component_is_better());
  CHECK_FALSE(found<Call>(key, ap::InstructionSet::avx512));
  constexpr std::size_t rows = 301, cols = 77;
  std::vector<S> x(rows * cols), sums(cols), own(cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<S>(i));
  ap::detail::add_column_sums<S>(ap::detail::ElementTerms<ap::detail::Itself, S, S>{{}, x.data()}, rows, cols, 0, cols,
                                 {own.data()});
  for (const unsigned threads : {1u, 3u}) {
    ap::Host<S>{.threads = threads}.column_sums(rows, cols, x.data(), sums.data());
    CHECK(sums == own);
  }
}
