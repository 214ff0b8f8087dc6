// Runs the rule contract on Thrust, on the device system selected at build time.
#include "algoperf/backend/thrust.hpp"
#include "rule_contract.hpp"

namespace ap = algoperf;

TEST_CASE("every rule satisfies its contract on Thrust") { ap::testing::check_rule_contract(ap::Thrust<float>{}); }

TEST_CASE("Thrust and the host compute the same values up to rounding") {
  ap::testing::check_agreement(ap::Host<float>{}, ap::Thrust<float>{});
}
