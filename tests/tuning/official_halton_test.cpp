// The points of AlgoPerf's generator, to the last bit.
#include "algoperf/tuning/official_halton.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

TEST_CASE("the first points of AlgoPerf's generator in one and two dimensions") {
  const ap::OfficialHalton line(1), plane(2);
  CHECK(line.point(0)[0] == 0.28612427728381884);
  CHECK(line.point(1)[0] == 0.8300193327833143);
  CHECK(plane.point(0)[1] == line.point(0)[0]);  // the last base stays the same
  CHECK(plane.dimensions() == 2);
  CHECK(sentence([] { ap::OfficialHalton(167); }) == "OfficialHalton: there are 167 dimensions, expected at most 166");
}

TEST_CASE("AlgoPerf's points in 1, 2, 4 and 6 dimensions") {
  const std::string path = data_path("algoperf-v05/halton_points.csv");
  if (path.empty()) return;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::size_t points = 0;
  for (; std::getline(file, line); ++points) {
    std::istringstream fields(line);
    std::vector<double> expected;
    for (std::string field; std::getline(fields, field, ',');) expected.push_back(std::strtod(field.c_str(), nullptr));
    const ap::OfficialHalton sequence(static_cast<std::size_t>(expected[0]));
    CHECK(sequence.point(static_cast<std::uint64_t>(expected[1])) ==
          std::vector<double>(expected.begin() + 2, expected.end()));
  }
  CHECK(points == 100);
}
