#include "algoperf/tuning/widen.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

TEST_CASE("a point is at the edge that is nearest, within the margin") {
  const ap::SearchSpace space({{.name = "log", .min = 1e-4, .max = 1, .scaling = ap::Scaling::log},
                               {.name = "linear", .min = -1, .max = 1},
                               {.name = "list", .feasible = {1, 2}},
                               {.name = "constant", .min = 3, .max = 3},
                               {.name = "whole", .min = 1, .max = 4, .integer = true}});
  const auto at = [&](double log, double linear, double whole = 2) {
    return ap::edges_at(space, {{"log", log}, {"linear", linear}, {"list", 1}, {"constant", 3}, {"whole", whole}}, 0.1);
  };
  CHECK(at(1e-2, 0).empty());
  CHECK(at(3e-4, 0.75).empty());  // at 0.12 and 0.875
  REQUIRE(at(2e-4, 0).size() == 1);
  CHECK(at(2e-4, 0)[0].hyperparameter == 0);
  CHECK_FALSE(at(2e-4, 0)[0].upper);
  REQUIRE(at(2e-4, 0.99).size() == 2);  // at 0.075 and 0.995
  CHECK(at(2e-4, 0.99)[0].hyperparameter == 1);
  CHECK(at(2e-4, 0.99)[0].upper);
  CHECK(at(2e-4, 0.99)[1].hyperparameter == 0);
  CHECK(at(1, 0)[0].upper);
  REQUIRE(at(1e-2, 0, 4).size() == 1);
  CHECK(at(1e-2, 0, 4)[0].upper);
  CHECK_FALSE(at(1e-2, 0, 1)[0].upper);
}

TEST_CASE("coordinates are the inverse of values") {
  for (const ap::Scaling scaling : {ap::Scaling::linear, ap::Scaling::log, ap::Scaling::reverse_log})
    for (const bool integer : {false, true}) {
      const ap::Hyperparameter range{.name = "x", .min = 2, .max = 50, .scaling = scaling, .integer = integer};
      const auto number = [&](double u) {
        const ap::HyperValue value = range.at(u);
        return *std::get_if<double>(&value.alternatives());
      };
      for (const double u : {0.1, 0.2, 0.5, 0.9}) {
        const double back = range.coordinate(number(u));
        CHECK(std::fabs(back - u) <= (integer ? 0.06 : 1e-12));
        CHECK(number(back) == near(number(u), 1e-9));
      }
    }
}

TEST_CASE("a strip beyond an edge has a share of the range's width") {
  const ap::Hyperparameter log{.name = "x", .min = 1e-2, .max = 1, .scaling = ap::Scaling::log};
  CHECK(ap::strip_beyond(log, true, 0.5)->min == 1);
  CHECK(ap::strip_beyond(log, true, 0.5)->max == near(10, 1e-12));
  CHECK(ap::strip_beyond(log, true, 0.5)->scaling == ap::Scaling::log);
  CHECK(ap::strip_beyond(log, false, 0.5)->min == near(1e-3, 1e-12));
  CHECK(ap::strip_beyond(log, false, 0.5)->max == 1e-2);
  const ap::Hyperparameter linear{.name = "x", .min = 1, .max = 3};
  CHECK(ap::strip_beyond(linear, false, 0.25)->min == 0.5);
  CHECK(ap::strip_beyond(linear, true, 0.25)->max == 3.5);
  const ap::Hyperparameter mirrored{.name = "x", .min = 1, .max = 3, .scaling = ap::Scaling::reverse_log};
  CHECK(ap::strip_beyond(mirrored, true, 0.25)->max == 3.5);
  CHECK(ap::strip_beyond(mirrored, true, 0.25)->scaling == ap::Scaling::linear);
  CHECK(ap::strip_beyond(mirrored, false, 4)->min == 0.5);  // above 0, which a logarithm needs
  const ap::Hyperparameter whole{.name = "x", .min = 1, .max = 4, .integer = true};
  CHECK(ap::strip_beyond(whole, true, 0.5)->min == 5);
  CHECK(ap::strip_beyond(whole, true, 0.5)->max == 6);
  CHECK(ap::strip_beyond(whole, false, 0.5)->max == 0);
  const ap::Hyperparameter powers{.name = "x", .min = 1, .max = 4, .scaling = ap::Scaling::log, .integer = true};
  CHECK_FALSE(ap::strip_beyond(powers, false, 0.5).has_value());  // no whole number between 0 and 1

  // Limits.
  CHECK(ap::strip_beyond(log, true, 0.5, {{.name = "x", .min = 0, .max = 2}})->max == 2);
  CHECK(ap::strip_beyond(log, true, 0.5, {{.name = "y", .min = 0, .max = 2}})->max == near(10, 1e-12));
  CHECK_FALSE(ap::strip_beyond(log, true, 0.5, {{.name = "x", .min = 0, .max = 1}}).has_value());
  CHECK(sentence([&] { (void)ap::strip_beyond(log, true, 0); }) ==
        "strip_beyond: the share is 0, expected a finite number above 0");
}
