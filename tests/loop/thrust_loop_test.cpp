// Training loops on the Thrust backend, with the device system for which the program was built.
#include <algoperf/backend/thrust.hpp>

#include <algoperf/combine/group/threads.hpp>
#include "../support/near.hpp"
#include "algoperf/loop/measured_examples.hpp"
#include "decoding.hpp"
#include "device_loops.hpp"
#include "gradient_squares.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("Thrust: an MLP") { check_mlp(Thrust<float>{}); }
TEST_CASE("Thrust: a CNN") { check_cnn(Thrust<float>{}); }
TEST_CASE("Thrust: class weights, and layers without a bias") { check_class_weights(Thrust<float>{}); }
TEST_CASE("Thrust: interactions of categories") { check_clicks(Thrust<float>{}); }
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
TEST_CASE_TEMPLATE("Thrust: ranks, whose arrays pass through host memory", C, Mean, Adasum<Of::updates>) {
  const Tiny task;
  const auto trained = [&](const auto& group) {
    auto loop = tiny_loop(momentum(), 0.02, C{}, group, Thrust<float>{});
    const RunReport report = loop.run(task.train(), Evaluate{task, {.every = 5}}, UntilStep{10});
    return std::pair(values_of(loop), report);
  };
  const auto [expected, alone] = trained(InProcess{.workers = 3});
  run_ranks(3, [&, &of_one = expected, &report = alone](Threads group) {
    const auto [found, of_rank] = trained(group);
    CHECK_UNARY(same_bits(found, of_one));
    CHECK_UNARY(of_rank.last.loss == report.last.loss);
    CHECK_UNARY(of_rank.best.metric == report.best.metric);
  });
}
TEST_CASE("Thrust: binary decisions per class") { check_questions(Thrust<float>{}); }
TEST_CASE("Thrust: decoding") { check_decoders(Thrust<float>{}, 1e-5); }
TEST_CASE("Thrust: evaluation") { check_evaluation(Thrust<float>{}); }
TEST_CASE("Thrust: checkpoints") { check_checkpoints(Thrust<float>{}); }
TEST_CASE("Thrust: divergence") { check_divergence(Thrust<float>{}); }
TEST_CASE("Thrust: skipped steps") { check_left_out(Thrust<float>{}); }
TEST_CASE("Thrust: the gradients of single examples") {
  const auto digits = Tiny::digits().subset(0, 9);
  const Model cnn(Shape{28, 28, 1}, Conv2d{.filters = 3, .stride = 2}, GroupNorm{}, Relu{}, Dense{.units = 6}, Relu{},
                  Dense{.units = 10});
  const auto host = measure(cnn, digits, MeasuredExamples{}, 1, {}, Host<float>{});
  const auto device = measure(cnn, digits, MeasuredExamples{}, 1, {}, Thrust<float>{});
  for (std::size_t i = 0; i < host.size(); ++i) {
    CHECK(device[i].square_small == near(host[i].square_small, 1e-4));
    CHECK(device[i].square_big == near(host[i].square_big, 1e-4));
    CHECK(device[i].spread->along == near(host[i].spread->along, 1e-3));
    CHECK(device[i].spread->across == near(host[i].spread->across, 1e-4));
  }
}
