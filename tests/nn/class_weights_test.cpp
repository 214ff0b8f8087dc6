#include "algoperf/nn/losses/class_weights.hpp"

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/losses/sigmoid_cross_entropy.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

const ap::ClassWeights weighted(ap::SoftmaxCrossEntropy{.label_smoothing = 0.1}, {1.0, 0.25, 8.0});

TEST_CASE_TEMPLATE("class weights multiply the losses and gradients of their class", B, NN_BACKENDS) {
  using S = typename B::Scalar;
  const S logits[] = {S(0.3), S(-1), 2, S(0.5), 0, 1, 0, 0, 0}, weights[] = {1, 2, S(0.5)};
  const std::int32_t labels[] = {2, 0, 1};
  S plain[3], d_plain[9], losses[3], d_logits[9];
  const B host;
  ap::SoftmaxCrossEntropy{.label_smoothing = 0.1}.write(host, 3, 3, logits, labels, weights, plain, d_plain);
  weighted.write(host, 3, 3, logits, labels, weights, losses, d_logits);
  const S factor[] = {8, 1, S(0.25)};
  for (int i = 0; i < 3; ++i) CHECK(losses[i] == factor[i] * plain[i]);
  for (int i = 0; i < 9; ++i) CHECK(d_logits[i] == factor[i / 3] * d_plain[i]);

  S evaluated[3];
  weighted.write(host, 3, 3, logits, labels, static_cast<const S*>(nullptr), evaluated, static_cast<S*>(nullptr));
  for (int i = 0; i < 3; ++i) CHECK(evaluated[i] == losses[i]);
}

TEST_CASE("class weights: gradients") {
  const ap::Model model(ap::Shape{4}, ap::Dense{.units = 3});
  CHECK(ap::gradient_check(model, weighted, {.weights = {1, 0.5, 2}}).error < 1e-6);
  const ap::Model one_output(ap::Shape{4}, ap::Dense{.units = 1});
  CHECK(ap::gradient_check(one_output, ap::ClassWeights(ap::SigmoidCrossEntropy{}, {1.0, 5.0})).error < 1e-6);
}

TEST_CASE("class weights are refused unless finite, not negative, and one per class") {
  const auto refused = [](double second) {
    return sentence([&] { ap::ClassWeights(ap::SoftmaxCrossEntropy{}, {1.0, second}).check(); });
  };
  CHECK(refused(0).empty());
  CHECK(refused(0.5).empty());
  CHECK(refused(-1) == "ClassWeights: the weight of class 1 is -1, expected [0, inf)");
  CHECK(refused(INFINITY) == "ClassWeights: the weight of class 1 is inf, expected [0, inf)");
  CHECK(sentence([] { ap::ClassWeights(ap::SoftmaxCrossEntropy{.label_smoothing = 2}, {1.0}).check(); }) ==
        "SoftmaxCrossEntropy: label_smoothing is 2, expected [0, 1)");
  CHECK(sentence([] { (void)weighted.classes_of(10); }) == "ClassWeights: there are 3 weights for 10 classes");
  CHECK(ap::ClassWeights(ap::SigmoidCrossEntropy{}, {1.0, 5.0}).classes_of(1) == 2);
}

}  // namespace
