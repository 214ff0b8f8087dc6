// The contract in double is in a separate file because double and float each take minutes to compile.
#include "host_contract.hpp"

namespace ap = algoperf;

TEST_CASE("every rule satisfies its contract in double") { ap::testing::check_host_contract<double>(); }

TEST_CASE("every rule computes the same bits in double for any number of threads") {
  ap::testing::check_thread_contract<double>();
}

TEST_CASE("double and float compute the same values up to rounding") {
  ap::testing::check_agreement(ap::Host<double>{}, ap::Host<float>{});
}
