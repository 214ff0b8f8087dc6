#include <doctest/doctest.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/backend/thrust.hpp>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "../device/agreement.hpp"

using namespace algoperf;

namespace {

static_assert(Backend<Thrust<float>>);
static_assert(Backend<Thrust<double>>);
static_assert(std::is_same_v<decltype(Thrust{}), Thrust<float>>);

// Where the compiler may contract a * b + c into one rounding, it does so differently in a vector loop and a scalar
// one; elsewhere the two backends do the same operations in the same order.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr double same = 64;
#else
constexpr double same = 0;
#endif

template <class S>
std::vector<S> numbers(std::size_t n, unsigned seed) {
  RandomStream random(RandomKey{seed});
  std::vector<S> x(n);
  for (S& each : x) each = static_cast<S>(random.normal());
  return x;
}

template <class T>
ThrustArray<T> on_device(const std::vector<T>& x) {
  ThrustArray<T> array(x.size());
  Thrust<float>{}.write(x.size(), x.data(), array.data());
  return array;
}
template <class T>
std::vector<T> on_host(const ThrustArray<T>& array) {
  std::vector<T> x(array.size());
  Thrust<float>{}.read(x.size(), array.data(), x.data());
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

}  // namespace

TEST_CASE("arrays are zeroed, copied by value and moved by pointer") {
  const Thrust<float> b;
  auto a = b.array<float>(37);
  CHECK(a.size() == 37);
  CHECK(on_host(a) == std::vector<float>(37));
  b.fill(37, a.data(), 2.5f);
  auto copy = a;
  b.fill(10, a.data(), 1.0f);
  CHECK(on_host(copy) == std::vector<float>(37, 2.5f));
  b.copy(10, a.data(), copy.data() + 20);
  CHECK(on_host(copy)[19] == 2.5f);
  CHECK(on_host(copy)[20] == 1.0f);
  CHECK(on_host(copy)[30] == 2.5f);
  const float* const where = a.data();
  const auto moved = std::move(a);
  CHECK(moved.data() == where);
  b.fill(0, static_cast<float*>(nullptr), 1.0f);
  CHECK(b.array<float>(0).size() == 0);
}

TEST_CASE_TEMPLATE("primitives agree with the host's", S, float, double) {
  const Thrust<S> thrust;
  const Host<S> host;
  const std::size_t rows = 143, cols = 29, n = rows * cols;
  const auto a = numbers<S>(n, 1), x = numbers<S>(n, 2), y = numbers<S>(n, 3), row = numbers<S>(cols, 4);
  const auto dx = on_device(x), dy = on_device(y), d_row = on_device(row);

  SUBCASE("map") {
    auto expected = a;
    host.map(Blend{}, n, expected.data(), x.data(), y.data());
    auto da = on_device(a);
    thrust.map(Blend{}, n, da.data(), static_cast<const S*>(dx.data()), static_cast<const S*>(dy.data()));
    CHECK(agreement::ulps(on_host(da), expected) <= same);
  }
  SUBCASE("map_rows") {
    auto expected = a;
    host.map_rows(Times{}, rows, cols, expected.data(), row.data());
    auto da = on_device(a);
    thrust.map_rows(Times{}, rows, cols, da.data(), d_row.data());
    CHECK(on_host(da) == expected);
  }
  SUBCASE("column_sums") {
    std::vector<S> expected(cols);
    host.column_sums(rows, cols, x.data(), expected.data());
    ThrustArray<S> sums(cols);
    thrust.column_sums(rows, cols, dx.data(), sums.data());
    CHECK(on_host(sums) == expected);
  }
  SUBCASE("row_and_column_sums, less and more than a tile") {
    for (const std::size_t wide : {std::size_t{1}, cols, std::size_t{1030}}) {
      const std::size_t high = n / wide;
      std::vector<S> expected(high + wide);
      host.row_and_column_sums(Square{}, high, wide, x.data(), expected.data(), expected.data() + high);
      ThrustArray<S> sums(high + wide);
      thrust.row_and_column_sums(Square{}, high, wide, dx.data(), sums.data(), sums.data() + high);
      CHECK(agreement::ulps(on_host(sums), expected) <= same);
    }
  }
  SUBCASE("batch") {
    std::vector<std::size_t> calls;
    thrust.batch(thrust.slots(), 3, [&](const auto&, std::size_t slot, std::size_t i) { calls.push_back(slot + i); });
    CHECK(calls == std::vector<std::size_t>{0, 1, 2});
  }
  SUBCASE("add_rows") {
    const std::size_t vocabulary = 11;
    std::vector<std::int32_t> keys(rows);
    RandomStream random(RandomKey{5});
    for (auto& key : keys) key = static_cast<std::int32_t>(random.below(vocabulary));
    auto expected = numbers<S>(vocabulary * cols, 6);
    auto out = on_device(expected);
    host.add_rows(rows, cols, keys.data(), x.data(), expected.data());
    thrust.add_rows(rows, cols, on_device(keys).data(), dx.data(), out.data());
    CHECK(on_host(out) == expected);
  }
  SUBCASE("sum and dot, less and more than a chunk") {
    for (const std::size_t count : {0u, 1u, 15u, 17u, 8191u, 8192u, 8193u, 50001u}) {
      const auto u = numbers<S>(count, 7), v = numbers<S>(count, 8);
      const auto du = on_device(u), dv = on_device(v);
      CHECK(thrust.sum(count, du.data()) == host.sum(count, u.data()));
      CHECK(std::abs(thrust.dot(count, du.data(), dv.data()) - host.dot(count, u.data(), v.data())) <= same * 1e-13);
    }
  }
}

TEST_CASE_TEMPLATE("matrix products agree with the host's", S, float, double) {
  const Thrust<S> thrust;
  const Host<S> host;
  const std::size_t m = 17, n = 23, k = 31;
  const auto a = numbers<S>(m * k, 1), b = numbers<S>(k * n, 2);
  const auto da = on_device(a), db = on_device(b);
  for (const bool accumulate : {false, true}) {
    CAPTURE(accumulate);
    auto expected = numbers<S>(m * n, 3);
    auto c = on_device(expected);
    host.gemm_nn(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    thrust.gemm_nn(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(agreement::ulps(on_host(c), expected) < 16);
    host.gemm_nt(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    thrust.gemm_nt(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(agreement::ulps(on_host(c), expected) < 16);
    host.gemm_tn(m, n, k, a.data(), b.data(), expected.data(), accumulate);
    thrust.gemm_tn(m, n, k, da.data(), db.data(), c.data(), accumulate);
    CHECK(agreement::ulps(on_host(c), expected) < 16);
  }
}

// In float: tests/contracts.
TEST_CASE("rules agree with the host's after ten steps") {
  agreement::for_each_rule([](const char* name, const auto& rule) {
    CAPTURE(name);
    const auto expected = agreement::train(Host<double>{}, rule);
    const auto got = agreement::train(Thrust<double>{}, rule);
    CHECK(agreement::ulps(got, expected) <= same);
    CHECK(agreement::train(Thrust<double>{}, rule) == got);
  });
}

// The products' terms are added in another order, and five Newton-Schulz steps enlarge what that does to the small
// singular values.
TEST_CASE("rules with matrix stages agree with the host's after ten steps") {
  agreement::for_each_matrix_rule([](const char* name, const auto& rule) {
    CAPTURE(name);
    const auto expected = agreement::train(Host<double>{}, rule);
    const auto got = agreement::train(Thrust<double>{}, rule);
    CHECK(agreement::ulps(got, expected) < 64);
    CHECK(agreement::train(Thrust<double>{}, rule) == got);
  });
}

TEST_CASE("a copy of a rule's state goes on as the state does") {
  const auto rule = lamb();
  Layout layout = agreement::odd_layout();
  const Thrust<float> backend;
  auto state = rule.state(backend, layout);
  const auto gradient = numbers<float>(layout.size(), 9), values = numbers<float>(layout.size(), 10);
  auto g = on_device(gradient), p = on_device(values);
  rule.step(std::span(g.data(), g.size()), std::span(p.data(), p.size()), state, Step{1, 0.1});
  auto other = state;
  auto p2 = p;
  g = on_device(gradient);
  auto g2 = g;
  rule.step(std::span(g.data(), g.size()), std::span(p.data(), p.size()), state, Step{2, 0.1});
  rule.step(std::span(g2.data(), g2.size()), std::span(p2.data(), p2.size()), other, Step{2, 0.1});
  CHECK(on_host(p) == on_host(p2));
}

TEST_CASE_TEMPLATE("layers agree with the host's, forward and backward", S, float, double) {
  agreement::for_each_model([](const char* name, const auto& model) {
    CAPTURE(name);
    const auto expected = agreement::propagate(Host<S>{}, model);
    const auto got = agreement::propagate(Thrust<S>{}, model);
    CHECK(agreement::ulps(got, expected) < 16);
    CHECK(agreement::propagate(Thrust<S>{}, model) == got);
  });
}

TEST_CASE("layers without matrix products do the host's arithmetic") {
  const auto check = [](const auto& model) {
    CHECK(agreement::ulps(agreement::propagate(Thrust<double>{}, model), agreement::propagate(Host<double>{}, model)) <=
          same);
  };
  check(Model(Shape{3, 19}, LayerNorm{}));
  check(Model(Shape{7, 6, 3}, MaxPool{.size = 3, .stride = 2}));
  check(Model(Shape{5}, Embedding{.vocabulary = 16, .width = 3}));
}

TEST_CASE("gradients on the device agree with finite differences") {
  CHECK(gradient_check(next_character(5, 16, {.width = 3, .units = 8}), SoftmaxCrossEntropy{}, {}, Thrust<double>{})
            .error < 1e-5);
}
