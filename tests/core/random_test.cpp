#include "algoperf/core/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace ap = algoperf;

namespace {

bool is(const ap::PhiloxBlock& block, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return block.words[0] == a && block.words[1] == b && block.words[2] == c && block.words[3] == d;
}

std::vector<std::uint32_t> bits_of(ap::RandomKey key, std::size_t n) {
  ap::RandomStream stream(key);
  std::vector<std::uint32_t> bits(n);
  for (std::uint32_t& b : bits) b = stream.bits();
  return bits;
}

// Returns Pearson's chi squared of counts whose expectations are equal.
double chi_squared(const std::vector<int>& counts) {
  double total = 0, sum = 0;
  for (const int n : counts) total += n;
  const double expected = total / static_cast<double>(counts.size());
  for (const int n : counts) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("Philox4x32-10 gives Random123's known answers") {
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(is(ap::philox(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  CHECK(is(ap::philox(ones, ones, ones), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  // Counter 243f6a88 85a308d3 13198a2e 03707344 and key a4093822 299f31d0, with the low words first.
  CHECK(is(ap::philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e), 0xd16cfe09, 0x94fdcceb, 0x5001e420,
           0x24126ea1));
}

TEST_CASE("a stream continues from its counter, and a copy is independent") {
  const std::vector<std::uint32_t> whole = bits_of({42}, 23);
  for (const std::uint64_t start : {0u, 1u, 3u, 4u, 7u, 8u}) {
    ap::RandomStream later(ap::RandomKey{42}, start);
    for (std::size_t i = start; i < whole.size(); ++i) CHECK(later.bits() == whole[i]);
    CHECK(later.counter() == whole.size());
  }
  ap::RandomStream a(ap::RandomKey{42});
  a.bits();
  ap::RandomStream b = a;
  CHECK(a.bits() == b.bits());
}

TEST_CASE("uniform numbers lie in [0, 1) and have mean 1/2 and variance 1/12") {
  ap::RandomStream stream(ap::RandomKey{3});
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const float x = stream.uniform();
    const double y = stream.uniform_double();
    REQUIRE((x >= 0 && x < 1 && y >= 0 && y < 1));
    sum += y;
    squares += (y - 0.5) * (y - 0.5);
  }
  CHECK(std::abs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(squares / n - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / n));
}

TEST_CASE("below(n) is uniform, also if n does not divide 2^32") {
  // The limits are the 99.99 % quantiles of chi squared with n - 1 degrees of freedom.
  const struct {
    std::uint32_t n;
    double limit;
  } cases[] = {{2, 15.2}, {3, 18.5}, {10, 33.8}, {100, 161.4}};
  for (const auto& [n, limit] : cases) {
    ap::RandomStream stream(ap::RandomKey{n});
    std::vector<int> counts(n);
    for (int i = 0; i < 100000; ++i) ++counts[stream.below(n)];
    CHECK(chi_squared(counts) < limit);
  }
  // With n = 3/4 of 2^32, a plain multiplication would give half of all draws to one third of the values.
  const std::uint32_t large = 0xC0000000u;
  ap::RandomStream stream(ap::RandomKey{9});
  std::vector<int> thirds(3), residues(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t x = stream.below(large);
    REQUIRE(x < large);
    ++thirds[x / 0x40000000u];
    ++residues[x % 3];
  }
  CHECK(chi_squared(thirds) < 18.5);
  CHECK(chi_squared(residues) < 18.5);
  CHECK(stream.below(1) == 0);
}

TEST_CASE("folded keys give different streams, independent of the parent's") {
  std::set<std::uint64_t> keys;
  const ap::RandomKey parent{5};
  for (std::uint64_t tag = 0; tag < 1000; ++tag) keys.insert(parent.fold(tag).value);
  CHECK(keys.size() == 1000);
  CHECK(parent.fold(1).fold(2).value != parent.fold(2).fold(1).value);
  CHECK(parent.fold(1).value == ap::RandomKey{5}.fold(1).value);

  // Streams of neighbouring tags, and of parent and child, agree in 16 of 32 bits on average, as independent ones do.
  const auto a = bits_of(parent, 10000), b = bits_of(parent.fold(0), 10000), c = bits_of(parent.fold(1), 10000);
  const auto equal_bits = [](const auto& x, const auto& y) {
    double equal = 0;
    for (std::size_t i = 0; i < x.size(); ++i) equal += 32 - __builtin_popcount(x[i] ^ y[i]);
    return equal / static_cast<double>(x.size());
  };
  const double five_sigma = 5 * std::sqrt(32 * 0.25 / 10000);
  CHECK(std::abs(equal_bits(a, b) - 16) < five_sigma);
  CHECK(std::abs(equal_bits(b, c) - 16) < five_sigma);
}

TEST_CASE("normal numbers have mean 0, variance 1 and no skew") {
  ap::RandomStream stream(ap::RandomKey{11});
  const int n = 100000;
  double sum = 0, squares = 0, cubes = 0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal();
    sum += x;
    squares += x * x;
    cubes += x * x * x;
  }
  CHECK(std::abs(sum / n) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(squares / n - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(cubes / n) < 5 * std::sqrt(15.0 / n));
}
