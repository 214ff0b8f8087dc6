#include <algoperf/workloads/adult.hpp>
#include <algoperf/workloads/synthetic_clicks.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> click_entries() {
  return with_baselines(algoperf::Adult{}, algoperf::SyntheticClicks{});
}
