// On a device, or on the host in its stead (tests/emulated_cuda).
#include <algoperf/backend/cuda.cuh>

#include "device_loops.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("Cuda: an MLP") { check_mlp(Cuda<float>{}); }
TEST_CASE("Cuda: a CNN") { check_cnn(Cuda<float>{}); }
TEST_CASE("Cuda: a model of tokens") { check_tokens(Cuda<float>{}); }
TEST_CASE_TEMPLATE("Cuda: workers", C, Mean, Adasum<Of::gradients>, Adasum<Of::updates>) {
  check_workers<C>(Cuda<float>{});
}
TEST_CASE("Cuda: evaluation") { check_evaluation(Cuda<float>{}); }
TEST_CASE("Cuda: checkpoints") { check_checkpoints(Cuda<float>{}); }
TEST_CASE("Cuda: divergence") { check_divergence(Cuda<float>{}); }
