#include "host_contract.hpp"

namespace ap = algoperf;

TEST_CASE("a rule keeps its contract in float") { ap::testing::check_host_contract<float>(); }
