// A submission whose steps to a target follow a known law of the batch size and the learning rate.
#pragma once

#include <cmath>
#include <string>

#include "algoperf/tuning/entry.hpp"

struct KnownScaling {
  double least_steps = 200, critical_batch = 32;  // S = least_steps (1 + critical_batch / B) at the best learning rate,
  double rate = 0.01, exponent = 0.5;             // which is rate B^exponent;
  double curvature = 0.2;                         // S grows by exp(curvature log(learning rate / best)^2),
  double diverges_from = 20;                      // and training diverges from this many times the best rate on
  double low = 1e-3, high = 10;                   // the search space
  std::string name = "known";

  double best_rate(std::size_t batch) const { return rate * std::pow(static_cast<double>(batch), exponent); }
  double steps(double learning_rate, std::size_t batch) const {
    const double off = std::log(learning_rate / best_rate(batch));
    return least_steps * (1 + critical_batch / static_cast<double>(batch)) * std::exp(curvature * off * off);
  }

  algoperf::TrialResult run(const algoperf::HyperPoint& point, const algoperf::TrialOptions& options) const {
    algoperf::TrialResult result;
    result.total_seconds = 1;
    const double learning_rate = point["learning_rate"];
    if (learning_rate >= diverges_from * best_rate(options.batch_size)) {
      result.failure = "the loss of step 1 is NaN";
      return result;
    }
    const auto needed = static_cast<std::uint64_t>(std::ceil(steps(learning_rate, options.batch_size)));
    const auto measure = [&](std::uint64_t step, double metric) {
      algoperf::TrialEvaluation evaluation;
      evaluation.step = step;
      evaluation.metric = metric;
      result.evaluations.push_back(evaluation);
      result.steps = step;
    };
    measure(1, 0.9);
    if (needed / 2 <= options.steps) measure(needed / 2, 0.4);
    if (needed <= options.steps)
      measure(needed, 0.1);
    else
      measure(options.steps, 0.3);
    return result;
  }

  algoperf::StudyEntry entry() const {
    algoperf::StudyEntry entry{
        name,
        {"law", "law", "error", {0.1, true}},
        algoperf::SearchSpace({{.name = "learning_rate", .min = low, .max = high, .scaling = algoperf::Scaling::log}}),
        {},
        1000,
        64,
        {},
        {},
        {}};
    entry.facts = [] {
      algoperf::WorkloadFacts facts;
      facts.examples = 50000;
      return facts;
    };
    entry.load = [] {};
    entry.run = [*this](const algoperf::HyperPoint& point, const algoperf::TrialOptions& options) {
      return run(point, options);
    };
    return entry;
  }
};
