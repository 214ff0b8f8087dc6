#include "host_contract.hpp"

namespace ap = algoperf;

TEST_CASE("every rule satisfies its contract in float") { ap::testing::check_host_contract<float>(); }

TEST_CASE("every rule computes the same bits in float for any number of threads") {
  ap::testing::check_thread_contract<float>();
}
