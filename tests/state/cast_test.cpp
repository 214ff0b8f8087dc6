#include "algoperf/state/cast.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ap = algoperf;

TEST_CASE("floating-point arrays are cast; other arrays, names, shapes and order are unchanged") {
  ap::StateDict dict;
  dict.set("brain", std::vector{ap::bfloat16(1.5f), ap::bfloat16(-0.75f)}, {2, 1});
  dict.set("tokens", std::vector<std::int64_t>{1, -2});
  dict.set("half", std::vector{ap::float16(0.1f)});
  dict.set("double", 0.1);
  dict.set("single", std::vector{0.1f, INFINITY, NAN});
  const ap::StateDict cast = ap::cast<float>(dict);
  REQUIRE(cast.arrays().size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(cast.arrays()[i].name == dict.arrays()[i].name);
    CHECK(cast.arrays()[i].shape == dict.arrays()[i].shape);
  }
  CHECK(cast.get<float>("brain") == std::vector<float>{1.5f, -0.75f});
  CHECK(cast.get<float>("half")[0] == static_cast<float>(ap::float16(0.1f)));
  CHECK(cast.get<float>("double") == std::vector<float>{0.1f});
  CHECK(cast.at("single") == dict.at("single"));  // bit for bit
  CHECK(cast.at("tokens") == dict.at("tokens"));
}

TEST_CASE("casts to every type and back: widening is exact, narrowing rounds to nearest") {
  ap::StateDict dict;
  dict.set("x", std::vector<double>{1, -2.5, 1 / 3.0, 1e6});
  CHECK(ap::cast<double>(dict).arrays() == dict.arrays());
  const auto x = [&](const auto& cast) { return ap::cast<double>(cast).template get<double>("x"); };
  CHECK(x(ap::cast<float>(dict)) == std::vector<double>{1, -2.5, static_cast<double>(1 / 3.0f), 1e6});
  CHECK(x(ap::cast<ap::bfloat16>(dict)) == std::vector<double>{1, -2.5, 0.333984375, 999424});
  CHECK(x(ap::cast<ap::float16>(dict)) == std::vector<double>{1, -2.5, 0.333251953125, HUGE_VAL});
  CHECK(ap::cast<ap::float16>(dict).at("x").type == "float16");
}
