// The rule contract on Thrust, whose system the program was built for.
#include "algoperf/backend/thrust.hpp"
#include "rule_contract.hpp"

namespace ap = algoperf;

TEST_CASE("a rule keeps its contract on Thrust") { ap::testing::check_rule_contract(ap::Thrust<float>{}); }

TEST_CASE("Thrust and the host agree") {
  ap::testing::for_each_rule([](const auto& member) {
    INFO("rule: ", std::string(member.name));
    CHECK(difference_between(member, ap::Host<float>{}, ap::Thrust<float>{}) < 2e-6);
  });
}
