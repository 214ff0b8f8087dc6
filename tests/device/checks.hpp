// Checks that every device backend must pass, compared with the host backend. `device` is a Thrust or Cuda backend.
#pragma once

#include <doctest/doctest.h>

#include <algoperf/backend/host.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "../support/near.hpp"
#include "agreement.hpp"

namespace agreement {

template <class S>
std::vector<S> numbers(std::size_t n, unsigned seed) {
  RandomStream random(RandomKey{seed});
  std::vector<S> x(n);
  for (S& each : x) each = static_cast<S>(random.normal());
  return x;
}

template <class B, class T>
auto on_device(const B& backend, const std::vector<T>& x) {
  auto array = backend.template array<T>(x.size());
  backend.write(x.size(), x.data(), array.data());
  return array;
}
template <class B, class Array>
auto on_host(const B& backend, const Array& array) {
  std::vector<std::remove_cvref_t<decltype(*array.data())>> x(array.size());
  backend.read(x.size(), array.data(), x.data());
  return x;
}

struct Blend {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a, T b) const {
    return x * a + b;
  }
};
struct Times {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a) const {
    return x * a;
  }
};
struct Square {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return x * x;
  }
};

struct TwoTerms {
  static constexpr std::size_t sums = 2;
  template <class T>
  ALGOPERF_HD Sums<T, 2> operator()(T a, T b, T column) const {
    return {{a * b - column, a * column}};
  }
};

// x[r][c] = x[r][c] * row[c], by teams that may be smaller than a warp.
template <class S>
struct TimesByRow {
  static constexpr bool elementwise = true;
  std::size_t cols;
  S* x;
  const S* row;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    team.map(Times{}, cols, x + r * cols, row);
  }
};

// Checks that arrays are zero-initialised, copied by value and moved by pointer.
template <class B>
void check_arrays(const B& b) {
  auto a = b.template array<float>(37);
  CHECK(a.size() == 37);
  CHECK(on_host(b, a) == std::vector<float>(37));
  b.fill(37, a.data(), 2.5f);
  auto copy = a;
  b.fill(10, a.data(), 1.0f);
  CHECK(on_host(b, copy) == std::vector<float>(37, 2.5f));
  b.copy(10, static_cast<const float*>(a.data()), copy.data() + 20);
  CHECK(on_host(b, copy)[19] == 2.5f);
  CHECK(on_host(b, copy)[20] == 1.0f);
  CHECK(on_host(b, copy)[30] == 2.5f);
  const float* const where = a.data();
  std::vector<decltype(a)> arrays;
  arrays.push_back(std::move(a));
  arrays.reserve(arrays.capacity() + 1);
  CHECK(arrays[0].data() == where);
  b.fill(0, static_cast<float*>(nullptr), 1.0f);
  CHECK(b.template array<float>(0).size() == 0);
}

// Checks that loops agree with the host's within `loops` ulps, and sums within `sums` ulps.
template <class B>
void check_primitives(const B& device, double loops, double sums) {
  using S = typename B::Scalar;
  const Host<S> host;
  const std::size_t rows = 143, cols = 29, n = rows * cols;
  const auto a = numbers<S>(n, 1), x = numbers<S>(n, 2), y = numbers<S>(n, 3), row = numbers<S>(cols, 4);
  const auto dx = on_device(device, x), dy = on_device(device, y), d_row = on_device(device, row);
  const S* const px = dx.data();

  for (const std::size_t skip : {0u, 1u}) {  // aligned for packs, and not aligned
    auto expected = a;
    host.map(Blend{}, n - skip, expected.data() + skip, x.data() + skip, y.data() + skip);
    auto da = on_device(device, a);
    device.map(Blend{}, n - skip, da.data() + skip, px + skip, static_cast<const S*>(dy.data() + skip));
    CHECK_MESSAGE(ulps(on_host(device, da), expected) <= loops, "map");
  }
  {
    auto expected = a;
    host.map_rows(Times{}, rows, cols, expected.data(), row.data());
    auto da = on_device(device, a);
    device.map_rows(Times{}, rows, cols, da.data(), d_row.data());
    CHECK_MESSAGE(on_host(device, da) == expected, "map_rows");
  }
  {
    const std::size_t many = 8200, few = 11;
    auto expected = numbers<S>(many * few, 1);
    auto da = on_device(device, expected);
    host.map_rows(Times{}, many, few, expected.data(), row.data());
    device.for_each_row(many, few, TimesByRow<S>{few, da.data(), d_row.data()});
    CHECK_MESSAGE(on_host(device, da) == expected, "for_each_row, elementwise");
  }
  for (const std::size_t wide : {std::size_t{1}, cols, std::size_t{1030}}) {  // less and more than a tile
    const std::size_t high = n / wide;
    std::vector<S> expected(high + wide);
    auto got = device.template array<S>(high + wide);
    host.column_sums(high, wide, x.data(), expected.data() + high);
    device.column_sums(high, wide, px, got.data() + high);
    CHECK_MESSAGE(ulps(on_host(device, got), expected) <= sums, "column_sums");
    host.column_sums(high, wide, x.data(), expected.data() + high, true);
    device.column_sums(high, wide, px, got.data() + high, true);
    CHECK_MESSAGE(ulps(on_host(device, got), expected) <= sums, "column_sums, added");
    std::vector<S> two(2 * wide);
    auto got_two = device.template array<S>(2 * wide);
    const S *const py = dy.data(), *const column = py + 7;
    host.column_sums(TwoTerms{}, high, wide, {two.data(), two.data() + wide}, {x.data(), y.data()}, {y.data() + 7});
    device.column_sums(TwoTerms{}, high, wide, {got_two.data(), got_two.data() + wide}, {px, py}, {column});
    CHECK_MESSAGE(ulps(on_host(device, got_two), two) <= std::fmax(loops, sums), "column_sums of two terms");
    host.row_and_column_sums(Square{}, high, wide, x.data(), expected.data(), expected.data() + high);
    device.row_and_column_sums(Square{}, high, wide, px, got.data(), got.data() + high);
    CHECK_MESSAGE(ulps(on_host(device, got), expected) <= std::fmax(loops, sums), "row_and_column_sums");
  }
  {
    std::vector<std::size_t> calls;
    device.run_concurrently(device.concurrency(), 3, [&](const auto&, std::size_t slot, std::size_t i) {
      CHECK(slot < device.concurrency());
      calls.push_back(i);
    });
    CHECK(calls == std::vector<std::size_t>{0, 1, 2});
  }
  {
    const std::size_t vocabulary = 11;
    std::vector<std::int32_t> keys(rows);
    RandomStream random(RandomKey{5});
    for (auto& key : keys) key = static_cast<std::int32_t>(random.below(vocabulary));
    auto expected = numbers<S>(vocabulary * cols, 6);
    auto out = on_device(device, expected);
    host.add_rows(rows, cols, keys.data(), x.data(), expected.data());
    const auto d_keys = on_device(device, keys);
    device.add_rows(rows, cols, d_keys.data(), px, out.data());
    CHECK_MESSAGE(on_host(device, out) == expected, "add_rows");
  }
  for (const std::size_t count : {0u, 1u, 15u, 17u, 8191u, 8192u, 8193u, 50001u}) {  // less and more than a chunk
    const auto u = numbers<S>(count, 7), v = numbers<S>(count, 8);
    const auto du = on_device(device, u), dv = on_device(device, v);
    const double most = 1e-13 * std::fmax(loops, sums);
    CHECK_MESSAGE(std::abs(device.sum(count, du.data()) - host.sum(count, u.data())) <= most, "sum");
    CHECK_MESSAGE(std::abs(device.dot(count, du.data(), dv.data()) - host.dot(count, u.data(), v.data())) <= most,
                  "dot");
  }
}

template <class B>
void check_products(const B& device) {
  using S = typename B::Scalar;
  const Host<S> host;
  const std::size_t m = 17, n = 23, k = 31;
  const auto a = numbers<S>(m * k, 1), b = numbers<S>(k * n, 2);
  const auto da = on_device(device, a), db = on_device(device, b);
  for (const bool accumulate : {false, true}) {
    CAPTURE(accumulate);
    auto expected = numbers<S>(m * n, 3);
    auto c = on_device(device, expected);
    host.gemm_nn(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    device.gemm_nn(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(ulps(on_host(device, c), expected) < 16);
    host.gemm_nt(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    device.gemm_nt(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(ulps(on_host(device, c), expected) < 16);
    host.gemm_tn(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    device.gemm_tn(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(ulps(on_host(device, c), expected) < 16);
  }
  auto expected = numbers<S>(m * n, 3);
  const auto bias = numbers<S>(n, 4);
  const auto d_bias = on_device(device, bias);
  auto c = on_device(device, expected);
  host.gemm_nt_bias(m, n, k, a.data(), b.data(), bias.data(), expected.data());
  device.gemm_nt_bias(m, n, k, da.data(), db.data(), d_bias.data(), c.data());
  CHECK(ulps(on_host(device, c), expected) < 16);
  const S* const none = nullptr;
  host.gemm_nt_bias(m, n, k, a.data(), b.data(), none, expected.data());
  device.gemm_nt_bias(m, n, k, da.data(), db.data(), none, c.data());
  CHECK(ulps(on_host(device, c), expected) < 16);
}

// Checks that ten steps of every rule agree with the host's within the given number of ulps, and that two runs give
// identical bits. Matrix stages add the terms of their products in another order, and Newton-Schulz steps amplify the
// resulting differences in small singular values.
template <class B>
void check_rules(const B& device, double element_rules, double matrix_rules) {
  using S = typename B::Scalar;
  const auto check = [&](const char* name, const auto& rule, double most) {
    CAPTURE(name);
    const auto got = train(device, rule);
    CHECK(ulps(got, train(Host<S>{}, rule)) <= most);
    CHECK(train(device, rule) == got);
  };
  for_each_rule([&](const char* name, const auto& rule) { check(name, rule, element_rules); });
  for_each_matrix_rule([&](const char* name, const auto& rule) { check(name, rule, matrix_rules); });
}

// Checks steps in mixed precision: the master parameters agree with the host's, equal masters round to equal
// parameters, and a step with a gradient that is not finite is skipped.
template <class Half, class B, class Rule>
void check_mixed_precision(const B& device, const Rule& rule, double most) {
  const Layout layout = odd_layout();
  const std::size_t n = layout.size();
  const auto halves = [n](unsigned seed) {
    std::vector<Half> h;
    for (const float x : numbers<float>(n, seed)) h.push_back(Half(x));
    return h;
  };
  std::vector<double> scales;
  struct Trained {
    std::vector<float> masters;
    std::vector<Half> values;
  };
  const auto train = [&](const auto& backend) {
    auto state = rule.state(backend, layout);
    auto values = on_device(backend, halves(0));
    for (unsigned t = 1; t <= 6; ++t) {
      std::vector<Half> g = halves(t);
      if (t == 3 && rule.scales) g[n / 2] = Half(std::numeric_limits<float>::infinity());
      const auto gradients = on_device(backend, g);
      rule.step(std::span<const Half>(gradients.data(), n), std::span<Half>(values.data(), n), state,
                {.learning_rate = 0.05});
    }
    CHECK(state.t() == (rule.scales ? 5 : 6));
    CHECK(state.skipped_steps() == (rule.scales ? 1 : 0));
    scales.push_back(state.loss_scale());
    return Trained{on_host(backend, state.masters), on_host(backend, values)};
  };
  const Trained own = train(device), expected = train(Host<float>{});
  CHECK(scales[0] == scales[1]);
  CHECK(ulps(own.masters, expected.masters) <= most);
  std::size_t same = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (own.masters[i] == expected.masters[i]) {
      ++same;
      REQUIRE(own.values[i].bits == expected.values[i].bits);
    }
  // nvcc contracts products and sums on the device but not on the host. About a third of the masters may therefore be
  // identical, and the rest agree within `most`.
  CHECK(same > n / 8);
}
template <class B>
void check_mixed_precision(const B& device, double most) {
  const auto clipped = chain(ClipByGlobalNorm{}, Adam{}, Descend{});
  check_mixed_precision<bfloat16>(device, mixed_precision<bfloat16>(adamw({.weight_decay = 0.1})), most);
  check_mixed_precision<bfloat16>(
      device, mixed_precision<bfloat16>(clipped, {.rounding = Rounding::stochastic, .seed = 3}), most);
  check_mixed_precision<bfloat16>(device, mixed_precision<bfloat16>(lamb()), most);
  check_mixed_precision<float16>(device, mixed_precision<float16>(lion(), DynamicLossScale{.start = 1}), most);
  check_mixed_precision<float16>(
      device, mixed_precision<float16>(lamb(), DynamicLossScale{.start = 8, .growth = 4, .interval = 2}), most);
  check_mixed_precision<float16>(device, mixed_precision<float16>(nadam(), DynamicLossScale{}), most);
  check_mixed_precision<float16>(device, mixed_precision<float16>(sgd(), DynamicLossScale{.start = 8}), most);
  check_mixed_precision<float16>(
      device, mixed_precision<float16>(partition(matrices, lars(), otherwise, sgd()), DynamicLossScale{}), most);
}

// Checks that Muon's iteration in bfloat16 gives the host's result, up to the distance of two values of 8 bits.
template <class B>
void check_orthogonalization_in_bfloat16(const B& device) {
  for (const Shape& shape : {Shape{36, 50}, Shape{50, 36}}) {
    Layout layout;
    layout.add({"matrix", Kind::weight, shape});
    const std::size_t n = layout.size();
    const auto update = [&](const auto& backend) {
      const auto rule = chain(Orthogonalize{.scale = OrthogonalScale::none, .precision = Precision::bf16}, Descend{});
      auto state = rule.state(backend, layout);
      auto gradients = on_device(backend, numbers<float>(n, 1));
      auto values = on_device(backend, std::vector<float>(n));
      rule.step(Update<float>{gradients.data(), values.data()}, state, {.t = 1, .learning_rate = 1});
      return on_host(backend, values);
    };
    const std::vector<float> own = update(device), expected = update(Host<float>{});
    double worst = 0, most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      worst = larger_or_nan(worst, std::fabs(own[i] - expected[i]));
      most = larger_or_nan(most, std::fabs(expected[i]));
    }
    CHECK(most > 0);
    CHECK(worst <= most / 128);
  }
}

// Checks that a copy of a rule's state continues like the original.
template <class B>
void check_state_copies(const B& device) {
  using S = typename B::Scalar;
  const auto rule = lamb();
  const Layout layout = odd_layout();
  const std::size_t n = layout.size();
  auto state = rule.state(device, layout);
  const auto gradient = numbers<S>(n, 9);
  auto p = on_device(device, numbers<S>(n, 10));
  const auto step = [&](auto& values, auto& of, std::uint64_t t) {
    auto g = on_device(device, gradient);
    rule.step(std::span<S>(g.data(), n), std::span<S>(values.data(), n), of, Step{t, 0.1});
  };
  step(p, state, 1);
  auto other = state;
  auto p2 = p;
  step(p, state, 2);
  step(p2, other, 2);
  CHECK(on_host(device, p) == on_host(device, p2));
}

// Every layer in float, and most in double.
template <class B>
void check_layers(const B& device, double most) {
  using S = typename B::Scalar;
  const auto check = [&](const char* name, const auto& model) {
    INFO("model: ", std::string(name));
    const auto got = propagate(device, model), expected = propagate(Host<S>{}, model);
    CHECK(ulps(got, expected) <= most);
    CHECK(propagate(device, model) == got);
    B narrow = device;
    narrow.scratch = 1;  // convolutions are computed line by line
    CHECK(ulps(propagate(narrow, model), expected) <= most);
  };
  if constexpr (std::is_same_v<S, float>)
    for_each_model(check);
  else
    for_most_models(check);
}

}  // namespace agreement
