// The value types and functions of core/: Arena, Shape, Tuple, Slots, predicates on Kind, math, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>

#include "../support/near.hpp"
#include "algoperf/core/arena.hpp"
#include "algoperf/core/cost.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/core/math.hpp"
#include "algoperf/core/shape.hpp"
#include "algoperf/core/slots.hpp"
#include "algoperf/core/tensor_spec.hpp"
#include "algoperf/core/tuple.hpp"

namespace ap = algoperf;

TEST_CASE("an arena is zeroed and aligned, and has value semantics") {
  ap::Arena<float> a(1003);
  CHECK(a.size() == 1003);
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % ap::Arena<float>::alignment == 0);
  for (const float x : a) REQUIRE(x == 0);

  a[7] = 2;
  ap::Arena<float> b = a;
  b[7] = 3;
  CHECK(a[7] == 2);
  const float* const at = a.data();
  const ap::Arena<float> c = std::move(a);
  CHECK(c.data() == at);
  CHECK(a.size() == 0);  // a moved-from arena is empty
  a = b;
  CHECK(a[7] == 3);
  a = std::move(b);
  CHECK(a[7] == 3);
  ap::Arena<float>& same = a;
  a = same;
  CHECK(a[7] == 3);

  const ap::Arena<double> empty(0);
  CHECK(empty.begin() == empty.end());
  CHECK(ap::Arena<double>(empty).size() == 0);
}

TEST_CASE("large arenas are zeroed to their ends, and begin at different distances from a huge page") {
  const std::size_t n = (std::size_t{5} << 18) + 3;  // 5 MB and a little
  const auto distance = [](const ap::Arena<float>& arena) {
    return reinterpret_cast<std::uintptr_t>(arena.data()) % (std::size_t{1} << 21);
  };
  ap::Arena<float> a(n);
  REQUIRE(a.size() == n);
  CHECK(distance(a) % 4096 == 0);
  CHECK(distance(a) < std::size_t{1} << 18);
  float most = 0;
  for (const float x : a) most = x > most || x < -most ? x : most;
  CHECK(most == 0);
  a[n - 1] = 4;
  const ap::Arena<float> b = a;
  CHECK(b[n - 1] == 4);
  CHECK(distance(b) != distance(a));
  std::set<std::uintptr_t> distances;
  for (int i = 0; i < 16; ++i) distances.insert(distance(ap::Arena<float>(n)));
  CHECK(distances.size() == 16);
}

// A sanitizer checks that the memory is freed.
TEST_CASE_TEMPLATE("arenas about the size of a large one can be moved and exchanged", T, char, double) {
  const std::size_t large = (std::size_t{1} << 20) / sizeof(T);
  for (const std::size_t n : {large - 1, large, large + 1}) {
    ap::Arena<T> a(n), small(3);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % ap::Arena<T>::alignment == 0);
    a[n - 1] = T(5);
    std::swap(a, small);
    CHECK(a.size() == 3);
    CHECK(small[n - 1] == T(5));
    ap::Arena<T> moved = std::move(small);
    CHECK(moved[n - 1] == T(5));
    moved = ap::Arena<T>();
    CHECK(moved.size() == 0);
  }
}

TEST_CASE("shapes in constant expressions") {
  constexpr ap::Shape image{28, 20, 3};
  static_assert(image.rank == 3 && image.size() == 1680 && image[1] == 20);
  static_assert(image.rows() == 28 && image.cols() == 60);
  static_assert(ap::Shape{}.size() == 1 && ap::Shape{}.rows() == 1 && ap::Shape{}.cols() == 1);
  static_assert(ap::Shape{5}.rows() == 5 && ap::Shape{5}.cols() == 1);
  static_assert(ap::Shape{0, 4}.size() == 0 && ap::Shape{0, 4}.cols() == 0);
  static_assert(ap::Shape{2, 3} == ap::Shape{2, 3} && !(ap::Shape{2, 3} == ap::Shape{3, 2}));
  static_assert(!(ap::Shape{2} == ap::Shape{2, 1}));
  static_assert(!std::is_constructible_v<ap::Shape, int, int, int, int, int>);
}

TEST_CASE("a tuple is trivially copyable if its members are, so that it can be copied to devices") {
  struct Plain {
    double x;
    int n;
  };
  struct Owning {
    ap::Arena<float> memory;
  };
  static_assert(std::is_trivially_copyable_v<ap::Tuple<Plain, float, Plain>>);
  static_assert(std::is_trivially_copyable_v<ap::Tuple<>>);
  static_assert(!std::is_trivially_copyable_v<ap::Tuple<Plain, Owning>>);
  static_assert(std::is_same_v<ap::TupleElement<1, ap::Tuple<int, Plain>>, Plain>);
  static_assert(ap::Tuple<int, int, char>::size == 3);

  auto tuple = ap::tuple_of(1, 2.5, Plain{3, 4});
  ap::get<0>(tuple) = 7;  // members of equal type are distinguished by index
  CHECK(ap::get<0>(tuple) == 7);
  CHECK(ap::get<1>(std::as_const(tuple)) == 2.5);
  CHECK(ap::get<2>(tuple).n == 4);

  std::size_t sum = 0;
  ap::for_each_index<4>([&](auto i) {
    static_assert(decltype(i)::value < 4);
    sum += i;
  });
  CHECK(sum == 6);
}

TEST_CASE("slots") {
  ap::Slots<double, 2> s{{1, 2}};
  s[1] = 5;
  CHECK(std::as_const(s)[1] == 5);
  static_assert(std::is_trivially_copyable_v<ap::Slots<float, 3>> && std::is_empty_v<ap::Slots<float, 0>>);
}

TEST_CASE("the predicates matrices, decayable and otherwise") {
  using ap::Kind;
  const auto spec = [](Kind kind, ap::Shape shape, bool output = false) {
    return ap::TensorSpec{"x", kind, shape, output};
  };
  CHECK(ap::matrices(spec(Kind::weight, {4, 3})));
  CHECK(ap::matrices(spec(Kind::conv_weight, {8, 3, 3, 2})));
  CHECK(!ap::matrices(spec(Kind::weight, {4, 3}, true)));
  CHECK(!ap::matrices(spec(Kind::embedding, {100, 8})));
  CHECK(!ap::matrices(spec(Kind::bias, {4})));
  CHECK(!ap::matrices(spec(Kind::weight, {1, 9})));
  CHECK(!ap::matrices(spec(Kind::weight, {9, 1})));
  CHECK(ap::decayable(spec(Kind::embedding, {100, 8})));
  CHECK(!ap::decayable(spec(Kind::layer_norm_scale, {8})));
  CHECK(!ap::decayable(spec(Kind::weight, {1000})));
  CHECK(!ap::decayable(spec(Kind::attention_bias, {8, 64})));
  CHECK(!ap::matrices(spec(Kind::attention_bias, {8, 64})));
  CHECK(ap::matrices(spec(Kind::attention_q, {8, 64})));
  CHECK(ap::otherwise(spec(Kind::bias, {4})));
}

TEST_CASE("scalar math functions") {
  CHECK(ap::math::sqrt(2.0) == std::sqrt(2.0));
  CHECK(ap::math::sqrt(2.0f) == std::sqrt(2.0f));
  CHECK(ap::math::exp(1.5) == std::exp(1.5));
  CHECK(ap::math::log(1.5f) == std::log(1.5f));
  CHECK(ap::math::max(1, 2) == 2);
  CHECK(ap::math::min(1.0f, 2.0f) == 1);
  CHECK(ap::math::abs(-3.0) == 3);
  CHECK(ap::math::sign(-0.5) == -1);
  CHECK(ap::math::sign(0.0) == 0);
  CHECK(ap::math::sign(2.0f) == 1);
  CHECK(std::isnan(ap::math::sign(std::nan(""))));
  CHECK(ap::math::select(true, 1, 2) == 1);
}

TEST_CASE("integer powers are accurate to a few ulp, and fast for any exponent") {
  CHECK(ap::math::power(0.9, 0) == 1);
  CHECK(ap::math::power(0, 5) == 0);
  CHECK(ap::math::power(2, 62) == 0x1p62);
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 999u, 100000u})
    CHECK(ap::math::power(0.999, n) == near(std::pow(0.999, static_cast<double>(n)), 1e-12));
  CHECK(ap::math::power(0.999, ~std::uint64_t{0}) == 0);
}

TEST_CASE("error messages are composed of their arguments") {
  CHECK_THROWS_WITH_AS(ap::fail("x is ", 0.5, ", expected ", std::size_t{3}, " of '", std::string("name"), "'"),
                       "x is 0.5, expected 3 of 'name'", ap::Error);
  CHECK_NOTHROW(ap::require(true, "not used"));
  CHECK_THROWS_WITH_AS(ap::require(false, "beta1 is ", -1), "beta1 is -1", std::runtime_error);
}
