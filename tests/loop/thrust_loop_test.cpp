// Training loops on the Thrust backend, with the device system for which the program was built.
#include <algoperf/backend/thrust.hpp>

#include "device_loops.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("Thrust: an MLP") { check_mlp(Thrust<float>{}); }
TEST_CASE("Thrust: a CNN") { check_cnn(Thrust<float>{}); }
TEST_CASE("Thrust: class weights, and layers without a bias") { check_class_weights(Thrust<float>{}); }
TEST_CASE("Thrust: a body that is not trained") { check_stopped(Thrust<float>{}); }
TEST_CASE("Thrust: a model that reads tokens") { check_tokens(Thrust<float>{}); }
TEST_CASE("Thrust: a loss and a weight per word") { check_weighted(Thrust<float>{}); }
TEST_CASE("Thrust: examples with different numbers of rows") { check_ragged(Thrust<float>{}); }
TEST_CASE("Thrust: decoder-only Transformers") { check_transformers(Thrust<float>{}); }
TEST_CASE("Thrust: recurrent models") { check_recurrent(Thrust<float>{}); }
TEST_CASE("Thrust: a Vision Transformer") { check_vision(Thrust<float>{}); }
TEST_CASE("Thrust: a U-Net") { check_restoration(Thrust<float>{}); }
TEST_CASE("Thrust: a loss over all paths that spell the labels") { check_spelling(Thrust<float>{}); }
TEST_CASE_TEMPLATE("Thrust: workers", C, Mean, Adasum<Of::gradients>, Adasum<Of::updates>) {
  check_workers<C>(Thrust<float>{});
}
TEST_CASE("Thrust: binary decisions per class") { check_questions(Thrust<float>{}); }
TEST_CASE("Thrust: evaluation") { check_evaluation(Thrust<float>{}); }
TEST_CASE("Thrust: checkpoints") { check_checkpoints(Thrust<float>{}); }
TEST_CASE("Thrust: divergence") { check_divergence(Thrust<float>{}); }
TEST_CASE("Thrust: skipped steps") { check_left_out(Thrust<float>{}); }
