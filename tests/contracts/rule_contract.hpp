// The contract of every update rule, on any backend.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

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

template <class Rule, class Backend>
double loss_after(const Rule& rule, const Backend& backend, const Goal& goal, Gradient gradient,
                  double (*loss)(const std::vector<double>&)) {
  Training<Rule, Backend> training(rule, problem_layout(), backend, gradient);
  const Cosine rate{.peak = goal.rate, .floor = 0, .steps = static_cast<std::uint64_t>(goal.steps)};
  for (int i = 0; i < goal.steps; ++i) training.step(rate(static_cast<std::uint64_t>(i)));
  const auto values = training.values();
  return loss(std::vector<double>(values.begin(), values.end()));
}

template <class Rule, class Backend>
void check_learns(const RuleMember<Rule>& member, const Backend& backend) {
  const double bowl_loss = loss_after(member.rule, backend, member.quadratic, bowl_gradient, bowl);
  CHECK_MESSAGE(bowl_loss <= member.quadratic.loss, "quadratic");
  const double valley_loss = loss_after(member.rule, backend, member.rosenbrock, rosenbrock_gradient, rosenbrock);
  CHECK_MESSAGE(valley_loss <= member.rosenbrock.loss, "Rosenbrock");
}

template <class Rule, class Backend>
void check_padding(const RuleMember<Rule>& member, const Backend& backend) {
  const Layout layout = problem_layout();
  Training<Rule, Backend> training(member.rule, layout, backend);
  training.steps(10, 0.05);
  auto arena = training.arena();
  for (const std::size_t place : places_of(layout)) arena[place] = 0;
  CHECK_MESSAGE(arena == decltype(arena)(layout.size()),
                "padding between tensors must stay 0: a kernel must return 0 for u = p = 0 and initial slots");
}

template <class Rule, class Backend>
void check_state_size(const RuleMember<Rule>& member, const Backend& backend) {
  const Layout layout = problem_layout();
  auto state = member.rule.state(backend, layout);
  std::size_t declared = 0, found = 0;
  for (const TensorHandle handle : layout.tensors()) {
    const Shape& shape = layout.spec(handle).shape;
    if (matrices(layout.spec(handle)))
      declared +=
          member.matrix_slots * shape.size() + member.side_slots * (shape.rows() + shape.cols()) + member.factors;
    else
      declared += member.other_slots * shape.size();
  }
  for (const auto& [name, bytes] : save(state))
    if (name.find('/') != std::string::npos && !name.ends_with("/t") && !name.ends_with("/roots_failed") &&
        name.find("stage_") == std::string::npos)
      found += bytes.size();
  CHECK(found == declared * sizeof(typename Backend::Scalar));
}

// Checks that a run that is saved after step 5 and resumed in a new state is bitwise identical to an uninterrupted run.
template <class Rule, class Backend>
void check_resumes(const RuleMember<Rule>& member, const Backend& backend) {
  Training<Rule, Backend> whole(member.rule, problem_layout(), backend), first = whole, second = whole;
  whole.steps(12, 0.02);
  first.steps(5, 0.02);
  load(second.state, save(first.state));
  CHECK(second.state.t() == 5);
  second.resume(first);
  second.steps(7, 0.02);
  CHECK(second.values() == whole.values());
  CHECK(second.evaluation_values() == whole.evaluation_values());
  CHECK(save(second.state) == save(whole.state));
}

// Checks that an element-wise rule computes bitwise identical values for any split of its parameters into tensors.
template <class Rule, class Backend>
void check_split(const RuleMember<Rule>& member, const Backend& backend) {
  if (!member.element_wise) return;
  Training<Rule, Backend> one(member.rule, layout_of({{40}}), backend);
  one.steps(10, 0.05);
  for (const std::size_t alignment : {std::size_t{1}, Layout::default_alignment})
    for (const std::vector<Shape>& shapes : {std::vector<Shape>{{17}, {23}}, {{5, 5}, {1}, {2, 7}}}) {
      Training<Rule, Backend> cut(member.rule, layout_of(shapes, alignment), backend);
      cut.steps(10, 0.05);
      CHECK(cut.values() == one.values());
    }
}

// Returns the largest difference between the values on two backends, relative to the largest absolute value. The
// backends may have different scalars.
template <class Rule, class A, class B>
double difference_between(const RuleMember<Rule>& member, const A& a, const B& b) {
  Training<Rule, A> one(member.rule, problem_layout(), a);
  Training<Rule, B> other(member.rule, problem_layout(), b);
  one.steps(10, 0.05);
  other.steps(10, 0.05);
  const auto x = one.values();
  const auto y = other.values();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = larger_or_nan(difference, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
    largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  }
  return difference / largest;
}

// Checks the whole contract for every rule, on one backend.
template <class Backend>
void check_rule_contract(const Backend& backend) {
  for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.name));
    check_learns(member, backend);
    check_padding(member, backend);
    check_state_size(member, backend);
    check_resumes(member, backend);
    check_split(member, backend);
  });
}

}  // namespace algoperf::testing
