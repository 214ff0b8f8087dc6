// Rules that evaluate the loss several times per step, in a loop.
#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

constexpr std::uint64_t total_steps = 160;

template <class... Tail>
auto searching_loop(const Tail&... tail) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), armijo(momentum(), {.start = 0.1}),
                      NoiseAdaptive{.from = 1, .steps = total_steps}, ShuffledEpochs{.batch = 32}, tail...);
}

template <class Loop>
double loss_after_training(Loop loop) {
  const Tiny task;
  const double before = loop.evaluate(task.validation(), task.metric()).loss;
  for (std::uint64_t i = 0; i < total_steps; ++i) loop.step(task.train());
  return loop.evaluate(task.validation(), task.metric()).loss / before;
}

}  // namespace

TEST_CASE("armijo trains without a tuned learning rate, with one worker and with several") {
  CHECK(loss_after_training(searching_loop()) < 0.8);
  CHECK(loss_after_training(searching_loop(Mean{}, InProcess{3})) < 0.8);
  CHECK(loss_after_training(searching_loop(Adasum<Of::updates>{}, InProcess{2})) < 0.9);
}

TEST_CASE("a line search resumes from a checkpoint bit for bit") {
  const Tiny task;
  const TemporaryFile file;
  auto whole = searching_loop(), first = searching_loop(), second = searching_loop();
  for (int i = 0; i < 12; ++i) whole.step(task.train());
  for (int i = 0; i < 5; ++i) first.step(task.train());
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  for (int i = 0; i < 7; ++i) second.step(task.train());
  CHECK(same_values(whole, second));
}
