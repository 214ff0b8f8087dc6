#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/near.hpp"
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define HAS_JSON 1
#endif

using namespace algoperf;
using Vectors = std::vector<std::vector<double>>;

namespace {

// Returns Adasum of vectors that are one tensor each, or that have one tensor per element.
std::vector<double> adasum(Vectors vectors, bool a_tensor_an_element = false) {
  const std::size_t n = vectors[0].size();
  Layout layout(1);
  if (a_tensor_an_element)
    for (std::size_t i = 0; i < n; ++i) layout.add({"t" + std::to_string(i), Kind::weight, Shape(1)});
  else
    layout.add({"t", Kind::weight, Shape(n)});
  std::vector<double*> pointers;
  for (auto& vector : vectors) pointers.push_back(vector.data());
  adasum_tree(Host<double>{}, layout, pointers, 0, pointers.size());
  return vectors[0];
}

std::vector<double> normal(std::uint64_t seed, std::size_t n) {
  RandomStream random(RandomKey{seed});
  std::vector<double> vector(n);
  for (double& x : vector) x = random.normal();
  return vector;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger_or_nan(most, std::fabs(a[i] - b[i]));
  return most;
}

std::vector<double> combination(double x, const std::vector<double>& a, double y, const std::vector<double>& b) {
  std::vector<double> sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(x * a[i] + y * b[i]);
  return sum;
}

}  // namespace

#if defined(HAS_JSON)
TEST_CASE("adasum: reference values") {
  const std::string path = data_path("adasum_reference_values.json");
  if (path.empty()) return;
  std::ifstream file(path);
  const auto cases = nlohmann::json::parse(file);
  REQUIRE(cases.size() >= 7);
  for (const auto& one : cases) {
    CAPTURE(one["name"].get<std::string>());
    CHECK(distance(adasum(one["ranks"].get<Vectors>()), one["adasum"].get<std::vector<double>>()) < 1e-12);
  }
}
#endif

TEST_CASE("adasum: invariants of a pair") {
  const auto a = normal(1, 37), b = normal(2, 37);
  const std::vector<double> zero(37);
  const double tight = 1e-13;
  CHECK(distance(adasum({a, b}), adasum({b, a})) < tight);
  CHECK(distance(adasum({combination(3, a, 0, b), combination(3, b, 0, b)}), combination(3, adasum({a, b}), 0, b)) <
        tight);
  CHECK(distance(adasum({combination(2, a, 0, b), combination(6, a, 0, b)}), combination(4, a, 0, b)) < tight);
  CHECK(distance(adasum({a, combination(-1, a, 0, b)}), zero) < tight);
  CHECK(adasum({zero, a}) == a);
  CHECK(adasum({a, zero}) == a);
  CHECK(adasum({zero, zero}) == zero);
  CHECK(adasum({a}) == a);
  CHECK(adasum({{1, 0, 2}, {0, 5, 0}}) == std::vector<double>{1, 5, 2});  // orthogonal
}

TEST_CASE("adasum: vanishing vectors do not divide by zero") {
  for (const double tiny : {1e-200, 1e-160, 1e-80})
    for (const double x : adasum({{tiny, tiny}, {tiny, 0}})) {
      CAPTURE(tiny);
      CHECK(std::isfinite(x));
      CHECK(std::fabs(x) <= 2 * tiny);
    }
}

TEST_CASE("adasum: each tensor is combined separately") {
  const Vectors vectors{{1, 2}, {1, -2}};
  const auto each = adasum(vectors, true), whole = adasum(vectors);
  CHECK(distance(each, {1, 0}) < 1e-15);         // the first elements agree, the second cancel
  CHECK(distance(whole, {2 * 1.3, 0}) < 1e-15);  // a.b = -3, |a|^2 = |b|^2 = 5: coefficients 1.3
}

TEST_CASE("adasum: combines halves in a binary tree") {
  const auto a = normal(1, 9), b = normal(2, 9), c = normal(3, 9), d = normal(4, 9), e = normal(5, 9);
  CHECK(adasum({a, b, c, d}) == adasum({adasum({a, b}), adasum({c, d})}));
  CHECK(adasum({a, b, c, d}) != adasum({adasum({adasum({a, b}), c}), d}));
  CHECK(adasum({a, b, c}) == adasum({a, adasum({b, c})}));
  CHECK(adasum({a, b, c, d, e}) == adasum({adasum({a, b}), adasum({c, adasum({d, e})})}));
}

TEST_CASE("adasum: a squared norm counts as zero below sqrt(DBL_MIN), but not at it") {
  const double negligible = std::sqrt(std::numeric_limits<double>::min());
  CHECK(detail::adasum_coefficient(negligible, negligible) == 0.5);
  CHECK(detail::adasum_coefficient(negligible, std::nextafter(negligible, 0)) == 1);
  CHECK(detail::adasum_coefficient(negligible, std::nextafter(negligible, 1)) < 1);
  // Two equal vectors are averaged above the bound and added below it.
  const double above = std::sqrt(negligible * 1.001), below = std::sqrt(negligible * 0.999);
  CHECK(adasum({{above}, {above}})[0] == above);
  CHECK(adasum({{below}, {below}})[0] == 2 * below);
}

namespace {

// Horovod accepts a result if its error's norm is below 100 epsilon times the norm of the expected vector.
double relative_error(const std::vector<float>& found, const std::vector<double>& expected) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - expected[i];
    error += difference * difference;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}
constexpr double tolerance = 100 * double{std::numeric_limits<float>::epsilon()};

std::vector<float> adasum_of_floats(std::vector<std::vector<float>> vectors, VectorFormat format = VectorFormat::full) {
  Layout layout(1);
  layout.add({"t", Kind::weight, Shape(vectors[0].size())});
  std::vector<float*> pointers;
  for (auto& vector : vectors) pointers.push_back(vector.data());
  ArrayBlocks<Host<float>> none;
  adasum_tree(Host<float>{}, layout, pointers, Ranks{}, none, 1, format);
  return vectors[0];
}

// The formats, their relative spacing of numbers, and the numbers by which the vectors of a test are multiplied.
struct FormatRange {
  VectorFormat format;
  double epsilon, tiny, large;
};
constexpr FormatRange formats[] = {{VectorFormat::full, double{std::numeric_limits<float>::epsilon()}, 1e-30, 1e15},
                                   {VectorFormat::bfloat16, 0x1p-7, 1e-30, 1e15},
                                   {VectorFormat::float16, 0x1p-10, 2e-3, 1e3}};

}  // namespace

// The families of Horovod's tests (test_adasum_pytorch.py: test_orthogonal, test_parallel, test_stability and
// test_stability_2), in float.
TEST_CASE("adasum: orthogonal vectors are added") {
  for (const std::size_t ranks : {2u, 4u, 8u, 16u})
    for (const std::size_t n : {20 * ranks - 17, 2 * ranks + 1, ranks + 2, std::size_t{40000}}) {
      std::vector<std::vector<double>> basis;  // by Gram and Schmidt, twice
      for (std::size_t r = 0; r < ranks; ++r) {
        std::vector<double> v = normal(100 + r, n);
        const auto inner = [&](const auto& a, const auto& b) {
          double sum = 0;
          for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
          return sum;
        };
        for (int twice = 0; twice < 2; ++twice)
          for (const auto& other : basis) {
            const double along = inner(v, other);
            for (std::size_t i = 0; i < n; ++i) v[i] -= along * other[i];
          }
        const double norm = std::sqrt(inner(v, v));
        for (double& x : v) x /= norm;
        basis.push_back(v);
      }
      std::vector<std::vector<float>> vectors;
      std::vector<double> sum(n);
      for (const auto& v : basis) {
        vectors.emplace_back(v.begin(), v.end());
        for (std::size_t i = 0; i < n; ++i) sum[i] += v[i];
      }
      CAPTURE(ranks);
      CAPTURE(n);
      CHECK(relative_error(adasum_of_floats(vectors), sum) < tolerance);
    }
}

TEST_CASE("adasum: parallel vectors are averaged, also tiny ones and those of very different lengths") {
  const double tiny = double{std::numeric_limits<float>::min()}, huge = double{std::numeric_limits<float>::max()};
  // Vectors factor[r] * direction.
  const auto check = [&](const std::vector<double>& factors, std::size_t n, double scale) {
    const auto direction = normal(5, n);
    std::vector<std::vector<float>> vectors;
    std::vector<double> mean(n);
    for (const double factor : factors) {
      std::vector<float> v;
      for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<float>(factor * scale * direction[i]));
      for (std::size_t i = 0; i < n; ++i) mean[i] += double{v[i]} / static_cast<double>(factors.size());
      vectors.push_back(v);
    }
    CAPTURE(n);
    CAPTURE(factors.size());
    double sum = 0, lengths = 0;  // factors of both signs cancel, which amplifies rounding
    for (const double factor : factors) sum += factor, lengths += std::fabs(factor);
    CHECK(relative_error(adasum_of_floats(vectors), mean) < tolerance * lengths / std::fabs(sum));
  };
  for (const std::size_t ranks : {2u, 4u, 8u, 16u}) {
    const auto factors = normal(7 + ranks, ranks);
    for (const std::size_t n : {20 * ranks - 13, 2 * ranks + 1, ranks + 2, std::size_t{40000}}) check(factors, n, 1);
    check(factors, 1024, 1e6 * tiny);  // nothing here is subnormal, which Host would flush to 0
    std::vector<double> spread;
    for (std::size_t i = 0; i < ranks; ++i) {
      const double share = (static_cast<double>(i) + 1) / static_cast<double>(ranks);
      spread.push_back(std::pow(std::sqrt(huge), share) * std::pow(1e6 * tiny, 1 - share));
    }
    check(spread, 1024, 1e-3);
  }
}

// Horovod's four families in half precision: the vectors and the result are rounded, the sums are not.
TEST_CASE("adasum: orthogonal vectors are added and parallel ones averaged in 16 bits, also tiny and large ones") {
  for (const FormatRange& range : formats)
    for (const double scale : {range.tiny, 1.0, range.large})
      for (const std::size_t ranks : {2u, 4u, 8u}) {
        CAPTURE(static_cast<int>(range.format));
        CAPTURE(scale);
        CAPTURE(ranks);
        const std::size_t n = 32 * ranks;
        const auto direction = normal(11, n);
        std::vector<std::vector<float>> orthogonal, parallel;
        std::vector<double> sum(n), mean(n);
        for (std::size_t r = 0; r < ranks; ++r) {
          orthogonal.emplace_back(n, 0.0f);
          parallel.emplace_back(n, 0.0f);
          const double factor = 0.5 + static_cast<double>(r) / static_cast<double>(ranks);
          for (std::size_t i = 0; i < n; ++i) {
            // Disjoint elements are orthogonal.
            if (i % ranks == r) orthogonal[r][i] = static_cast<float>(scale * direction[i]);
            sum[i] += double{orthogonal[r][i]};
            parallel[r][i] = static_cast<float>(scale * factor * direction[i]);
            mean[i] += double{parallel[r][i]} / static_cast<double>(ranks);
          }
        }
        CHECK(relative_error(adasum_of_floats(orthogonal, range.format), sum) < 4 * range.epsilon);
        CHECK(relative_error(adasum_of_floats(parallel, range.format), mean) < 4 * range.epsilon);
      }
}

TEST_CASE("adasum: the formats round to nearest") {
  std::vector<float> x{1.0f + 0x1p-9f, -3.14159265f, 1e-30f, 70000.0f, 0.0f};
  auto bfloat = x, half = x, same = x;
  detail::round_to(VectorFormat::bfloat16, x.size(), bfloat.data());
  detail::round_to(VectorFormat::float16, x.size(), half.data());
  detail::round_to(VectorFormat::full, x.size(), same.data());
  CHECK(same == x);
  CHECK(bfloat == std::vector<float>{1.0f, -3.140625f, float{bfloat16(1e-30f)}, 70144.0f, 0.0f});
  CHECK(half == std::vector<float>{1.0f + 0x1p-9f, -3.140625f, 0.0f, std::numeric_limits<float>::infinity(), 0.0f});
}
