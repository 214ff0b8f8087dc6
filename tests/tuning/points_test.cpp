// Point sequences: golden values, stratification, independence of seeds.
#include <doctest/doctest.h>

#include <algoperf/tuning/all.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "../golden/sobol.hpp"
#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// The squared L2-star discrepancy of n points in the unit cube, by Warnock's formula.
template <class Sequence>
double discrepancy(const Sequence& sequence, std::size_t n) {
  std::vector<std::vector<double>> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(sequence.point(i));
  double once = 0, twice = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double product = 1;
    for (const double c : x[i]) product *= (1 - c * c) / 2;
    once += product;
    for (std::size_t j = 0; j < n; ++j) {
      double both = 1;
      for (std::size_t d = 0; d < x[i].size(); ++d) both *= 1 - std::fmax(x[i][d], x[j][d]);
      twice += both;
    }
  }
  const double size = static_cast<double>(n);
  return std::pow(3, -static_cast<double>(sequence.dimensions())) - 2 / size * once + twice / (size * size);
}

// Whether coordinate d of `count` points from `first` on lies in each interval of length 1 / count once.
template <class Sequence>
bool stratified(const Sequence& sequence, std::size_t d, std::uint64_t first, std::size_t count) {
  std::set<std::size_t> intervals;
  for (std::size_t i = 0; i < count; ++i)
    intervals.insert(static_cast<std::size_t>(sequence.point(first + i)[d] * static_cast<double>(count)));
  return intervals.size() == count;
}

}  // namespace

TEST_CASE("the scrambled Halton sequence is stratified in its bases and depends on its seed") {
  const ap::ScrambledHalton points(6, 3);
  const std::size_t bases[] = {2, 3, 5, 7, 11, 13};
  for (std::size_t d = 0; d < 6; ++d) {
    CHECK(stratified(points, d, 5, bases[d]));
    CHECK(stratified(points, d, 1000, bases[d] * bases[d]));
  }
  CHECK(points.point(7) == ap::ScrambledHalton(6, 3).point(7));
  CHECK(points.point(7) != ap::ScrambledHalton(6, 4).point(7));
  // Coordinates belong to their dimension, however many there are.
  CHECK(points.point(9)[1] == ap::ScrambledHalton(2, 3).point(9)[1]);
}

TEST_CASE("every point of a scrambled Halton sequence is uniform over the seeds") {
  constexpr int seeds = 2000;
  double sum[4] = {}, squares[4] = {};
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<double> x = ap::ScrambledHalton(4, seed).point(0);  // all digits of 0 are permuted
    for (std::size_t d = 0; d < 4; ++d) sum[d] += x[d] / seeds, squares[d] += x[d] * x[d] / seeds;
  }
  for (std::size_t d = 0; d < 4; ++d) {
    CHECK(std::fabs(sum[d] - 0.5) < 4 * 0.289 / std::sqrt(seeds));
    CHECK(std::fabs(squares[d] - 1.0 / 3) < 4 * 0.298 / std::sqrt(seeds));
  }
}

TEST_CASE("scrambled Sobol points are stratified in blocks of powers of two and depend on their seed") {
  const ap::ScrambledSobol points(50, 3);
  for (const std::size_t d : {0u, 1u, 7u, 49u}) {
    CHECK(stratified(points, d, 0, 64));
    CHECK(stratified(points, d, 192, 64));
    CHECK(stratified(points, d, 1024, 1024));
  }
  CHECK(points.point(7) == ap::ScrambledSobol(50, 3).point(7));
  CHECK(points.point(7) != ap::ScrambledSobol(50, 4).point(7));
  CHECK(sentence([] { ap::ScrambledSobol(51); }) == "ScrambledSobol: there are 51 dimensions, expected at most 50");
  CHECK(sentence([&] { points.point(std::uint64_t{1} << 32); }) ==
        "ScrambledSobol: point 4294967296 does not exist, expected less than 2^32");
}

TEST_CASE("Sobol points without scrambling are scipy's in all dimensions") {
  for (std::size_t d = 0; d < 50; ++d) {
    const std::vector<std::uint32_t> directions = ap::ScrambledSobol::directions(d);
    for (const golden::SobolPoint& point : golden::sobol_points) {
      std::uint32_t bits = 0;
      for (std::size_t k = 0; k < 32; ++k)
        if (point.index >> k & 1) bits ^= directions[k];
      CHECK(bits == point.coordinates[d]);
    }
  }
}

TEST_CASE("Owen scrambling permutes the bits below a common prefix") {
  using ap::detail::owen_scrambled;
  CHECK(ap::detail::reversed_bits(0x80000001u) == 0x80000001u);
  CHECK(ap::detail::reversed_bits(0x12345678u) == 0x1E6A2C48u);
  const std::uint32_t a = 0xABCD1234u, b = 0xABCD1F34u;  // the first 20 bits are equal
  const std::uint32_t difference = owen_scrambled(a, 77) ^ owen_scrambled(b, 77);
  CHECK((difference >> 12) == 0);
  CHECK((difference >> 11 & 1) == 1);
}

TEST_CASE("quasi-random points fill the cube more evenly than random points") {
  double random = 0, halton = 0, sobol = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random += discrepancy(ap::RandomPoints(4, seed), 64) / 20;
    halton += discrepancy(ap::ScrambledHalton(4, seed), 64) / 20;
    sobol += discrepancy(ap::ScrambledSobol(4, seed), 64) / 20;
  }
  CHECK(halton < 0.4 * random);
  CHECK(sobol < 0.3 * random);
  CHECK(random == near((std::pow(2, -4) - std::pow(3, -4)) / 64, 0.2));  // its expectation
}

TEST_CASE("random points depend on seed, index and dimension") {
  const ap::RandomPoints points(3, 5);
  CHECK(points.point(2) == ap::RandomPoints(3, 5).point(2));
  CHECK(points.point(2) != ap::RandomPoints(3, 6).point(2));
  CHECK(points.point(2) != points.point(3));
  CHECK(points.point(2)[0] != points.point(2)[1]);
}
