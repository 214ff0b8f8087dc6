#include <algoperf/workloads/shakespeare.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> character_entries() { return with_baselines(algoperf::Shakespeare{}); }
