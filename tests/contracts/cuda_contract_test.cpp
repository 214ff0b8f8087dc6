// The rule contract on a device, or on the host in its stead (tests/emulated_cuda).
#include "algoperf/backend/cuda.cuh"
#include "rule_contract.hpp"

namespace ap = algoperf;

TEST_CASE("a rule keeps its contract on Cuda") { ap::testing::check_rule_contract(ap::Cuda<float>{}); }

TEST_CASE("Cuda and the host agree") {
  ap::testing::for_each_rule([](const auto& member) {
    INFO("rule: ", std::string(member.name));
    CHECK(difference_between(member, ap::Host<float>{}, ap::Cuda<float>{}) < 2e-6);
  });
}
