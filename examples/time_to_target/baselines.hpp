// The ten baselines on a workload and on its variants.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/tuning/baselines.hpp>
#include <vector>

#include "entries.hpp"

template <class... W>
std::vector<algoperf::StudyEntry> with_baselines(const W&... workloads) {
  namespace ap = algoperf;
  std::vector<ap::StudyEntry> entries;
  const auto add = [&](const auto& workload) {
    for (ap::StudyEntry& entry : ap::study_entries(workload, ap::AdamWBaseline{}, ap::NAdamWBaseline{},
                                                   ap::LambBaseline{}, ap::AdafactorBaseline{}, ap::ShampooBaseline{},
                                                   ap::SamBaseline{}, ap::ScheduleFreeAdamWBaseline{},
                                                   ap::MuonBaseline{}, ap::HeavyBallBaseline{}, ap::NesterovBaseline{}))
      entries.push_back(std::move(entry));
  };
  const auto add_variants = [&](const auto& workload) {
    if constexpr (requires { workload.each_variant(add); }) workload.each_variant(add);
  };
  (add(workloads), ...);
  (add_variants(workloads), ...);
  return entries;
}
