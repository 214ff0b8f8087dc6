// A workload of a few hundred digits, and submissions, for tests of studies.
#pragma once

#include <csignal>
#include <cstdint>
#include <vector>

#include "../loop/tiny.hpp"
#include "algoperf/tuning/submission.hpp"

struct SmallDigits : algoperf::testing::Tiny {
  static constexpr const char* name = "small_digits";
  auto test() const { return all.subset(256, 320); }
  algoperf::Target target() const { return {0.7, true}; }
  std::uint64_t step_hint() const { return 40; }
};

// SGD with a learning rate from its search space.
struct SgdSubmission {
  static constexpr const char* name = "sgd";
  algoperf::SearchSpace search_space() const {
    return algoperf::SearchSpace(std::vector<algoperf::Hyperparameter>{
        {.name = "rate", .min = 1e-3, .max = 0.5, .scaling = algoperf::Scaling::log}});
  }
  auto rule(const algoperf::HyperPoint&, const algoperf::WorkloadFacts&) const { return algoperf::sgd(); }
  auto schedule(const algoperf::HyperPoint& point, const algoperf::WorkloadFacts&) const {
    return algoperf::Constant{point["rate"]};
  }
  std::size_t batch_size(const algoperf::WorkloadFacts&) const { return 32; }
};

struct HeavyBallSubmission : SgdSubmission {
  static constexpr const char* name = "heavy_ball";
  auto rule(const algoperf::HyperPoint&, const algoperf::WorkloadFacts&) const { return algoperf::momentum(); }
};

// One point of its list crashes, and one has an impossible weight decay.
struct CrashingSubmission : SgdSubmission {
  static constexpr const char* name = "crashing";
  algoperf::SearchSpace search_space() const {
    std::vector<algoperf::HyperPoint> points;
    for (const double decay : {0.0, -1.0, 1.0, 2.0}) points.push_back({{"rate", 0.01}, {"decay", decay}});
    return algoperf::SearchSpace(points);
  }
  auto rule(const algoperf::HyperPoint& point, const algoperf::WorkloadFacts&) const {
    if (point["decay"] == 2) ::raise(SIGKILL);
    return algoperf::sgd({.weight_decay = point["decay"]});
  }
};
