// On the system of Thrust that the program was built for.
#include <algoperf/backend/thrust.hpp>

#include "device_loops.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("Thrust: an MLP") { check_mlp(Thrust<float>{}); }
TEST_CASE("Thrust: a CNN") { check_cnn(Thrust<float>{}); }
TEST_CASE("Thrust: a body that does not train") { check_stopped(Thrust<float>{}); }
TEST_CASE("Thrust: a model of tokens") { check_tokens(Thrust<float>{}); }
TEST_CASE_TEMPLATE("Thrust: workers", C, Mean, Adasum<Of::gradients>, Adasum<Of::updates>) {
  check_workers<C>(Thrust<float>{});
}
TEST_CASE("Thrust: questions") { check_questions(Thrust<float>{}); }
TEST_CASE("Thrust: evaluation") { check_evaluation(Thrust<float>{}); }
TEST_CASE("Thrust: checkpoints") { check_checkpoints(Thrust<float>{}); }
TEST_CASE("Thrust: divergence") { check_divergence(Thrust<float>{}); }
TEST_CASE("Thrust: steps left out") { check_left_out(Thrust<float>{}); }
