// The contract of every update rule, on any backend.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../memory_archive.hpp"
#include "../rules/training.hpp"
#include "../support/near.hpp"
#include "members.hpp"

namespace algoperf::testing {

// Returns the tensors of both problems: a matrix of 24 parameters and vectors of 3 and 13, with padding between and
// after them.
inline Layout problem_layout() { return layout_of({{6, 4}, {3}, {13}}); }

// A quadratic bowl with curvatures from 0.1 to 1. Its minimum is 0, at bowl_minimum.
inline double bowl_minimum(std::size_t i) { return start_value(3 * i + 5); }
inline double bowl_curvature(std::size_t i) { return 0.1 + 0.9 * static_cast<double>(i % 7) / 6; }
inline double bowl(const std::vector<double>& p) {
  double loss = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    loss += 0.5 * bowl_curvature(i) * (p[i] - bowl_minimum(i)) * (p[i] - bowl_minimum(i));
  return loss;
}
inline double bowl_gradient(std::uint64_t, const std::vector<double>& p, std::vector<double>& g) {
  for (std::size_t i = 0; i < p.size(); ++i) g[i] = bowl_curvature(i) * (p[i] - bowl_minimum(i));
  return bowl(p);
}

// The Rosenbrock function: the mean over consecutive pairs (x, y) of (1 - x)^2 + 100 (y - x^2)^2.
inline double rosenbrock(const std::vector<double>& p) {
  double loss = 0;
  for (std::size_t i = 0; i < p.size(); i += 2)
    loss += (1 - p[i]) * (1 - p[i]) + 100 * std::pow(p[i + 1] - p[i] * p[i], 2);
  return 2 * loss / static_cast<double>(p.size());
}
inline double rosenbrock_gradient(std::uint64_t, const std::vector<double>& p, std::vector<double>& g) {
  const double scale = 2 / static_cast<double>(p.size());
  for (std::size_t i = 0; i < p.size(); i += 2) {
    g[i] = scale * (-2 * (1 - p[i]) - 400 * p[i] * (p[i + 1] - p[i] * p[i]));
    g[i + 1] = scale * 200 * (p[i + 1] - p[i] * p[i]);
  }
  return rosenbrock(p);
}

// A training run of any rule on a backend of scalars S. The checks below use it, so that they are compiled once for all
// rules.
template <class S>
class AnyTraining {
 public:
  virtual ~AnyTraining() = default;
  virtual void step(double learning_rate) = 0;
  virtual std::vector<S> values() const = 0;
  virtual std::vector<S> arena() const = 0;
  virtual std::vector<S> evaluation_values() = 0;
  virtual std::uint64_t t() const = 0;
  virtual Saved saved_state() = 0;
  virtual std::unique_ptr<AnyTraining> copy() const = 0;
  // Continues from another run of the same rule: saves its state and loads it here.
  virtual void resume(AnyTraining& other) = 0;

  void steps(int n, double learning_rate) {
    for (int i = 0; i < n; ++i) step(learning_rate);
  }
};

template <class Rule, class Backend>
class TrainingOf final : public AnyTraining<typename Backend::Scalar> {
  using S = typename Backend::Scalar;

 public:
  TrainingOf(const Rule& rule, const Layout& layout, const Backend& backend, const Gradient& gradient)
      : training_(rule, layout, backend, gradient) {}

  void step(double learning_rate) override { training_.step(learning_rate); }
  std::vector<S> values() const override { return training_.values(); }
  std::vector<S> arena() const override { return training_.arena(); }
  std::vector<S> evaluation_values() override { return training_.evaluation_values(); }
  std::uint64_t t() const override { return training_.state.t(); }
  Saved saved_state() override { return save(training_.state); }
  std::unique_ptr<AnyTraining<S>> copy() const override { return std::make_unique<TrainingOf>(*this); }
  void resume(AnyTraining<S>& other) override {
    load(training_.state, other.saved_state());
    training_.resume(static_cast<const TrainingOf&>(other).training_);
  }

 private:
  Training<Rule, Backend> training_;
};

// Starts a training run of one rule on one backend.
template <class S>
class Start {
 public:
  template <class Rule, class Backend>
  Start(const Rule& rule, const Backend& backend)
      : start_([rule, backend](const Layout& layout, const Gradient& gradient) -> std::unique_ptr<AnyTraining<S>> {
          return std::make_unique<TrainingOf<Rule, Backend>>(rule, layout, backend, gradient);
        }) {}
  std::unique_ptr<AnyTraining<S>> operator()(const Layout& layout, const Gradient& gradient = shaken) const {
    return start_(layout, gradient);
  }

 private:
  std::function<std::unique_ptr<AnyTraining<S>>(const Layout&, const Gradient&)> start_;
};
template <class Rule, class Backend>
Start(const Rule&, const Backend&) -> Start<typename Backend::Scalar>;

template <class S>
double loss_after(const Start<S>& start, const Goal& goal, const Gradient& gradient,
                  double (*loss)(const std::vector<double>&)) {
  const auto training = start(problem_layout(), gradient);
  const Cosine rate{.peak = goal.rate, .floor = 0, .steps = static_cast<std::uint64_t>(goal.steps)};
  for (int i = 0; i < goal.steps; ++i) training->step(rate(static_cast<std::uint64_t>(i)));
  const auto values = training->values();
  return loss(std::vector<double>(values.begin(), values.end()));
}

template <class S>
void check_learns(const RuleFacts& facts, const Start<S>& start) {
  const double bowl_loss = loss_after(start, facts.quadratic, bowl_gradient, bowl);
  CHECK_MESSAGE(bowl_loss <= facts.quadratic.loss, "quadratic");
  const double valley_loss = loss_after(start, facts.rosenbrock, rosenbrock_gradient, rosenbrock);
  CHECK_MESSAGE(valley_loss <= facts.rosenbrock.loss, "Rosenbrock");
}

template <class S>
void check_padding(const Start<S>& start) {
  const Layout layout = problem_layout();
  const auto training = start(layout);
  training->steps(10, 0.05);
  auto arena = training->arena();
  for (const std::size_t place : places_of(layout)) arena[place] = 0;
  CHECK_MESSAGE(arena == decltype(arena)(layout.size()),
                "padding between tensors must stay 0: a kernel must return 0 for u = p = 0 and initial slots");
}

template <class S>
void check_state_size(const RuleFacts& facts, const Start<S>& start) {
  const Layout layout = problem_layout();
  std::size_t declared = 0, found = 0;
  for (const TensorHandle handle : layout.tensors()) {
    const Shape& shape = layout.spec(handle).shape;
    if (matrices(layout.spec(handle)))
      declared += facts.matrix_slots * shape.size() + facts.side_slots * (shape.rows() + shape.cols()) + facts.factors;
    else
      declared += facts.other_slots * shape.size();
  }
  for (const auto& [name, bytes] : start(layout)->saved_state())
    if (name.find('/') != std::string::npos && !name.ends_with("/t") && !name.ends_with("/roots_failed") &&
        name.find("stage_") == std::string::npos)
      found += bytes.size();
  CHECK(found == declared * sizeof(S));
}

// Checks that a run that is saved after step 5 and resumed in a new state is bitwise identical to an uninterrupted run.
template <class S>
void check_resumes(const Start<S>& start) {
  const auto whole = start(problem_layout()), first = whole->copy(), second = whole->copy();
  whole->steps(12, 0.02);
  first->steps(5, 0.02);
  second->resume(*first);
  CHECK(second->t() == 5);
  second->steps(7, 0.02);
  CHECK(second->values() == whole->values());
  CHECK(second->evaluation_values() == whole->evaluation_values());
  CHECK(second->saved_state() == whole->saved_state());
}

// Checks that an element-wise rule computes bitwise identical values for any split of its parameters into tensors.
template <class S>
void check_split(const Start<S>& start) {
  const auto one = start(layout_of({{40}}));
  one->steps(10, 0.05);
  for (const std::size_t alignment : {std::size_t{1}, Layout::default_alignment})
    for (const std::vector<Shape>& shapes : {std::vector<Shape>{{17}, {23}}, {{5, 5}, {1}, {2, 7}}}) {
      const auto cut = start(layout_of(shapes, alignment));
      cut->steps(10, 0.05);
      CHECK(cut->values() == one->values());
    }
}

template <class S>
void check_rule(const RuleFacts& facts, const Start<S>& start) {
  check_learns(facts, start);
  check_padding(start);
  check_state_size(facts, start);
  check_resumes(start);
  if (facts.element_wise) check_split(start);
}

// Checks the whole contract for every rule, on one backend.
template <class Backend>
void check_rule_contract(const Backend& backend) {
  for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.facts.name));
    check_rule(member.facts, Start(member.rule, backend));
  });
}

// Returns the largest difference between the values of two runs, relative to the largest absolute value. They may have
// different backends and scalars.
template <class S, class T>
double difference_between(const Start<S>& start_one, const Start<T>& start_other) {
  const auto one = start_one(problem_layout());
  const auto other = start_other(problem_layout());
  one->steps(10, 0.05);
  other->steps(10, 0.05);
  const auto x = one->values();
  const auto y = other->values();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = larger_or_nan(difference, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
    largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  }
  return difference / largest;
}

// Checks for every rule that its values on two backends agree up to rounding.
template <class A, class B>
void check_agreement(const A& a, const B& b) {
  for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.facts.name));
    CHECK(difference_between(Start(member.rule, a), Start(member.rule, b)) < 2e-6);
  });
}

}  // namespace algoperf::testing
