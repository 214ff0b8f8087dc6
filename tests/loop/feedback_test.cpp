// The feedback that a selector receives after a step, and the state after a step that throws.
#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// A selector that records the losses it receives.
struct Listening : Always {
  using Always::Always;
  std::vector<double>* heard = nullptr;
  template <class Losses>
  void feedback(State&, const Selection& selection, const Losses& losses) const {
    heard->assign(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(selection.indices.size()));
  }
};

template <class Model, class Rule, class... Tail>
std::vector<double> losses_of_model(const Model& model, const Rule& rule, const Tail&... tail) {
  std::vector<double> heard;
  Listening examples(range(0, 9));
  examples.heard = &heard;
  TrainingLoop loop(model, Tiny::loss(), rule, Constant{0.1}, examples, tail...);
  loop.step(Tiny{}.train());
  return heard;
}
template <class Rule, class... Tail>
std::vector<double> losses_of_first_step(const Rule& rule, const Tail&... tail) {
  return losses_of_model(Tiny::model(), rule, tail...);
}

}  // namespace

TEST_CASE("feedback: the losses at the parameters before the step, for rules that evaluate several times") {
  const std::vector<double> expected = losses_of_first_step(sgd());
  REQUIRE(expected.size() == 9);
  CHECK(losses_of_first_step(sam(sgd(), {.rho = 2})) == expected);
  CHECK(losses_of_first_step(sam(sgd(), {.rho = 2}), Mean{}, InProcess{2}) ==
        losses_of_first_step(sgd(), Mean{}, InProcess{2}));
  CHECK(losses_of_first_step(sam(sgd(), {.rho = 2}), Adasum<>{}, InProcess{2}) ==
        losses_of_first_step(sgd(), Adasum<>{}, InProcess{2}));
}

TEST_CASE("feedback: the losses of examples do not depend on the number of workers, with dropout, too") {
  const Model model(Shape{28, 28, 1}, Dense{.units = 12}, Relu{}, Dropout{.rate = 0.5}, Dense{.units = 10});
  const std::vector<double> expected = losses_of_model(model, sgd());
  REQUIRE(expected.size() == 9);
  CHECK(losses_of_model(model, sgd(), Mean{}, InProcess{2}) == expected);
  CHECK(losses_of_model(model, sgd(), Mean{}, InProcess{4}) == expected);
}

TEST_CASE("if sam diverges at the perturbed parameters, the original parameters are restored") {
  const Tiny task;
  TrainingLoop loop(task.model(), task.loss(), sam(sgd(), {.rho = 1e30}), Constant{0.1}, ShuffledEpochs{.batch = 32});
  const auto before = values_of(loop);
  CHECK_THROWS_AS(loop.step(task.train()), Diverged);
  CHECK(same_bits(values_of(loop), before));
  CHECK(loop.steps() == 0);
}
