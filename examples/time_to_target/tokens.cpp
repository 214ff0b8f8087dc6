#include <algoperf/workloads/adult.hpp>
#include <algoperf/workloads/shakespeare.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> token_entries() {
  return with_baselines(algoperf::Shakespeare{}, algoperf::ShakespeareLm{}, algoperf::Adult{});
}
