#include "rule_contract.hpp"

#include "algoperf/backend/host.hpp"

namespace ap = algoperf;

TEST_CASE("a rule keeps its contract in float") { ap::testing::check_rule_contract(ap::Host<float>{}); }
