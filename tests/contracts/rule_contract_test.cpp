#include "host_contract.hpp"

namespace ap = algoperf;

TEST_CASE("every rule satisfies its contract in float") { ap::testing::check_host_contract<float>(); }
