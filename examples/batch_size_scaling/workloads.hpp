// The workloads of batch_size_scaling, each with five submissions. Each function is compiled in a file of its own.
#pragma once

#include <algoperf/tuning/batch_size/constant_rate_submissions.hpp>
#include <algoperf/tuning/batch_size/measure_noise_scale.hpp>
#include <algoperf/tuning/entry.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct BatchSizeEntry {
  algoperf::StudyEntry entry;
  std::vector<algoperf::Hyperparameter> widest;
  // The noise scale at a point, at a batch size, within a number of steps.
  std::function<std::vector<algoperf::NoiseSample>(const algoperf::HyperPoint&, std::size_t, std::uint64_t)> noise;
};

template <class W, class... S>
void add_entries(std::vector<BatchSizeEntry>& entries, const W& workload, const S&... submissions) {
  const auto noise = [&](const auto& submission) {
    return [workload, submission](const algoperf::HyperPoint& point, std::size_t batch, std::uint64_t steps) {
      return algoperf::measure_noise_scale(
          workload, submission, point,
          {.batch = batch, .steps = steps, .samples = static_cast<std::size_t>(steps < 20 ? steps : 20)});
    };
  };
  const std::vector<algoperf::StudyEntry> all = algoperf::study_entries(workload, submissions...);
  std::size_t i = 0;
  (entries.push_back({all[i++], algoperf::detail::widest_space_of(submissions), noise(submissions)}), ...);
}

// Adds the five submissions on each workload.
template <class... W>
std::vector<BatchSizeEntry> with_submissions(const W&... workloads) {
  std::vector<BatchSizeEntry> entries;
  (add_entries(entries, workloads, algoperf::ConstantSgd{}, algoperf::ConstantMomentum{}, algoperf::ConstantNesterov{},
               algoperf::ConstantAdamW{}, algoperf::ConstantLamb{}),
   ...);
  return entries;
}

std::vector<BatchSizeEntry> digit_entries();
std::vector<BatchSizeEntry> language_entries();
