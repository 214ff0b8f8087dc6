// Saves a whole loop to a StateDict, and loads it back completely or not at all.
#include "algoperf/state/state_dict.hpp"

#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Loop>
auto after_steps(int steps, Loop&& loop) {
  for (int i = 0; i < steps; ++i) loop.step(Tiny{}.train());
  return state_dict(loop);
}

// Returns the error message of loading the dict into the loop, and checks that the loop is unchanged.
template <class Loop>
std::string refusal(Loop& loop, const StateDict& dict) {
  const StateDict before = state_dict(loop);
  const std::string what = sentence([&] { load_state_dict(dict, loop); });
  CHECK(state_dict(loop).arrays() == before.arrays());
  return what;
}

}  // namespace

TEST_CASE("a loop's state is loaded into a new or running loop, which continues as the first would") {
  auto trained = tiny_loop(nadam(), 0.01), fresh = tiny_loop(nadam(), 0.01, Seed{2});
  auto under_way = tiny_loop(nadam(), 0.01, Seed{3});
  const StateDict dict = after_steps(5, trained);
  CHECK(dict.at("values/0.weight").shape == std::vector<std::size_t>{12, 784});
  CHECK(dict.at("rule/0.weight/exp_avg").shape == std::vector<std::size_t>{12, 784});
  CHECK(dict.get<std::uint64_t>("rule/t").front() == 5);
  after_steps(2, under_way);
  load_state_dict(dict, fresh, fresh.layout());
  load_state_dict(dict, under_way);
  const auto expected = after_steps(4, trained).get<float>("values/0.weight");
  CHECK(after_steps(4, fresh).get<float>("values/0.weight") == expected);
  CHECK(after_steps(4, under_way).get<float>("values/0.weight") == expected);
  CHECK(fresh.steps() == 9);
  CHECK(under_way.last().loss == trained.last().loss);
}

TEST_CASE("a state that does not fit is rejected by name, and the loop is unchanged") {
  const StateDict good = after_steps(5, tiny_loop(adamw(), 0.01));
  auto fresh = tiny_loop(adamw(), 0.01, Seed{2}), under_way = tiny_loop(adamw(), 0.01, Seed{3});
  after_steps(2, under_way);
  const auto told = [&](const auto& change) {
    StateDict dict = good;
    change(dict);
    const std::string what = refusal(fresh, dict);
    CHECK(refusal(under_way, dict) == what);
    return what;
  };
  CHECK(told([](StateDict& dict) { dict = {}; }) == "state_dict: there is no array 'step'");
  CHECK(told([](StateDict& dict) {
          dict.reshape("rule/0.weight/exp_avg", {784, 12});
        }) == "state_dict: 'rule/0.weight/exp_avg' is of shape {784, 12}, expected {12, 784}");
  CHECK(told([](StateDict& dict) { dict.set("rule/2.bias/exp_avg_sq", std::vector<double>(10)); }) ==
        "state_dict: 'rule/2.bias/exp_avg_sq' is float64, expected float32");
  CHECK(told([](StateDict& dict) { dict.set("9.weight", 1.0f); }) ==
        "state_dict: '9.weight' belongs to no tensor or slot of this state");
  CHECK(told([](StateDict& dict) { dict.set("batch", std::uint64_t{7}); }) ==
        "checkpoint: the batch was 7, now it is 32");
  // This error is found last, after everything else has been read.
  CHECK(told([](StateDict& dict) { dict.set("selector/position", std::uint64_t{257}); }) ==
        "ShuffledEpochs: the archive's position is 257, expected [0, 256]");
  CHECK(fresh.steps() == 0);
  fresh.step(Tiny{}.validation());  // the rejected states did not fix its data set
  CHECK(refusal(under_way, state_dict(fresh, fresh.layout())) ==
        "checkpoint: the data set had 64 examples, now it has 256");
}

TEST_CASE("a dict with a large data set size but too few entries is rejected without allocating memory") {
  const auto make = [] {
    return TrainingLoop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.01}, LossProportional{.batch = 8});
  };
  StateDict dict = after_steps(2, make());
  auto loop = make();
  load_state_dict(dict, loop);
  CHECK(loop.steps() == 2);
  dict.set("data_size", std::uint64_t{4000000000});
  auto other = make();
  CHECK(refusal(other, dict) ==
        "state_dict: 'selector/losses' has 256 elements of float64, expected 4000000000 of float64");
}
