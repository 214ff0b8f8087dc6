// Tests of frozen(), ScaleBy and Named: tensors that do not change, or change more slowly than others.
#include "algoperf/rules/wrappers/frozen.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/rules/all.hpp"

namespace ap = algoperf;

namespace {

constexpr ap::Named first_layer{"first."};

struct Trained {
  std::vector<float> first, second, evaluated;
};

// Runs ten steps on two tensors, "first.weight" and "second.weight".
template <class Rule>
Trained train(const Rule& rule) {
  ap::Layout layout;
  const ap::TensorHandle handles[] = {layout.add({"first.weight", ap::Kind::weight, {3, 7}}),
                                      layout.add({"second.weight", ap::Kind::weight, {5, 4}})};
  layout.arrange_for(rule);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> values(layout.size()), gradients(layout.size());
  const auto each = [&](const auto& f) {
    for (const ap::TensorHandle handle : handles)
      for (std::size_t i = 0; i < layout.place_of(handle).size; ++i)
        f(layout.place_of(handle).offset + i, i + 31 * handle.index);
  };
  each([&](std::size_t at, std::size_t i) { values[at] = static_cast<float>(i % 11) - 5.0f; });
  for (std::uint64_t t = 1; t <= 10; ++t) {
    each([&](std::size_t at, std::size_t i) { gradients[at] = static_cast<float>((i * 7 + t * 3) % 13) - 6.0f; });
    rule.step(ap::Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 0.1});
    CHECK(state.t() == t);
  }
  std::vector<float> evaluated(layout.size());
  rule.evaluation_values(static_cast<const float*>(values.data()), state, evaluated.data());
  const auto of = [&](ap::TensorHandle handle, const std::vector<float>& arena) {
    const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(layout.place_of(handle).offset);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(layout.place_of(handle).size));
  };
  return {of(handles[0], values), of(handles[1], values), of(handles[0], evaluated)};
}

std::vector<float> start() {
  std::vector<float> values;
  for (std::size_t i = 0; i < 21; ++i) values.push_back(static_cast<float>(i % 11) - 5.0f);
  return values;
}

}  // namespace

TEST_CASE("frozen tensors do not change, and others are updated as without them") {
  const Trained all = train(ap::adamw()),
                part = train(ap::partition(first_layer, ap::frozen(), ap::otherwise, ap::adamw()));
  CHECK(part.first == start());
  CHECK(part.evaluated == start());
  CHECK(part.second == all.second);
  CHECK(all.first != start());
  const Trained muon = train(ap::partition(first_layer, ap::frozen(), ap::matrices, ap::muon()));
  CHECK(muon.first == start());
}

TEST_CASE("a frozen part keeps only the step count") {
  const auto rule = ap::partition(first_layer, ap::frozen(), ap::otherwise, ap::sgd());
  ap::Layout layout;
  layout.add({"first.weight", ap::Kind::weight, {30}});
  layout.add({"second.weight", ap::Kind::weight, {5}});
  auto state = rule.state(ap::Host<float>{}, layout);
  CHECK(ap::testing::save(state).size() == 2);
  CHECK(ap::describe(rule).find(": no pass, no state\n") != std::string::npos);
}

TEST_CASE("ScaleBy scales the learning rate of its tensors, and a factor of 0 freezes them") {
  const auto with = [](double factor) {
    return ap::chain(ap::Adam{}, ap::DecayedWeights{.rate = 0.1}, ap::masked(ap::ScaleBy{factor}, first_layer),
                     ap::Descend{});
  };
  const auto slow = [](double scale) {
    return ap::chain(ap::Adam{}, ap::DecayedWeights{.rate = 0.1}, ap::Descend{.scale = scale});
  };
  const Trained quarter = train(with(0.25)), all = train(slow(1)), slower = train(slow(0.25));
  for (std::size_t i = 0; i < quarter.first.size(); ++i) CHECK(quarter.first[i] == near(slower.first[i], 1e-6));
  for (std::size_t i = 0; i < quarter.second.size(); ++i) CHECK(quarter.second[i] == near(all.second[i], 1e-6));
  CHECK(train(with(0)).first == start());
  CHECK_THROWS_WITH_AS(train(with(1.0 / 0.0)), "ScaleBy: factor is inf, expected a finite number", ap::Error);
}
