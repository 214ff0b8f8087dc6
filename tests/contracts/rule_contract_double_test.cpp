// A file of its own, for each of the two takes a compiler minutes.
#include "host_contract.hpp"

namespace ap = algoperf;

TEST_CASE("a rule keeps its contract in double") { ap::testing::check_host_contract<double>(); }

TEST_CASE("double and float agree") {
  ap::testing::for_each_rule([](const auto& member) {
    INFO("rule: ", std::string(member.name));
    CHECK(difference_between(member, ap::Host<double>{}, ap::Host<float>{}) < 2e-6);
  });
}
