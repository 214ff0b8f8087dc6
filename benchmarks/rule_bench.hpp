// RuleBench: a rule with its memory, used alternately by the library and a baseline. must_agree: checks that both
// compute the same.
#pragma once

#include <algoperf/backend/all.hpp>
#include <algoperf/core/random.hpp>
#include <algoperf/rules/all.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Returns slot j of a rule whose tensors all have the same slots. Slot 0 of sam(rule) holds the saved parameters.
template <class State>
float* slot_of(State& state, std::size_t j) {
  return state.slot(0, j);
}
template <class Rule>
float* slot_of(algoperf::SamState<algoperf::Host<>, Rule>& state, std::size_t j) {
  return j == 0 ? slot_of(state.perturbed, 0) : slot_of(state.base, j - 1);
}

// A rule on `count` tensors of one shape, or on the tensors of a layout.
template <class Rule>
class RuleBench {
 public:
  RuleBench(const Rule& rule, std::size_t count, algoperf::Shape shape, unsigned threads = 1)
      : RuleBench(rule, layout_of(count, shape), threads) {}
  RuleBench(const Rule& rule, algoperf::Layout layout, unsigned threads = 1)
      : rule_(rule),
        backend_{.threads = threads},
        layout_(std::move(layout)),
        state_(rule.state(backend_, layout_)),
        gradients_(layout_.size()),
        values_(layout_.size()) {
    fill();
  }

  void reset() {
    state_ = rule_.state(backend_, layout_);
    t_ = 0;
    fill();
  }
  void step(double learning_rate) {
    rule_.step(algoperf::Update<float, SameGradient>{gradients_.data(), values_.data()}, state_,
               {.t = ++t_, .learning_rate = learning_rate});
  }

  std::uint64_t next() { return ++t_; }
  std::size_t size() const { return layout_.size(); }
  float* gradients() { return gradients_.data(); }
  float* values() { return values_.data(); }
  std::size_t slots() const { return state_.size() / layout_.size(); }
  float* slot(std::size_t j) { return slot_of(state_, j); }
  const algoperf::Layout& layout() const { return layout_; }
  const Rule& rule() const { return rule_; }

 private:
  struct SameGradient {  // passed to rules that evaluate the gradient again
    void operator()() const {}
  };

  static algoperf::Layout layout_of(std::size_t count, algoperf::Shape shape) {
    algoperf::Layout layout;
    for (std::size_t i = 0; i < count; ++i) layout.add({"tensor" + std::to_string(i), algoperf::Kind::weight, shape});
    return layout;
  }
  void fill() {
    algoperf::RandomStream random(algoperf::RandomKey{1});
    for (float& g : gradients_) g = static_cast<float>(random.uniform_double() - 0.5);
    for (float& p : values_) p = static_cast<float>(random.uniform_double() - 0.5);
  }

  Rule rule_;
  algoperf::Host<> backend_;
  algoperf::Layout layout_;
  typename Rule::template State<algoperf::Host<>> state_;
  algoperf::Arena<float> gradients_, values_;
  std::uint64_t t_ = 0;
};

// Exits with 2 if three steps of the library and three of the baseline do not produce the same parameters.
template <class B, class Library, class Baseline>
void must_agree(const char* what, B& bench, const Library& library, const Baseline& baseline, float tolerance = 1e-6f) {
  for (int i = 0; i < 3; ++i) library();
  const std::vector<float> values(bench.values(), bench.values() + bench.size());
  bench.reset();
  for (int i = 0; i < 3; ++i) baseline();
  for (std::size_t i = 0; i < bench.size(); ++i)
    if (!(std::abs(values[i] - bench.values()[i]) <= tolerance * (1 + std::abs(values[i])))) {
      std::fprintf(stderr, "%s: the library and the baseline differ at element %zu: %.9g and %.9g\n", what, i,
                   static_cast<double>(values[i]), static_cast<double>(bench.values()[i]));
      std::exit(2);
    }
  bench.reset();
}

}  // namespace bench
