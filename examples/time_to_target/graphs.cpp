#include <algoperf/workloads/motif_graphs.hpp>
#include <algoperf/workloads/tu_graphs.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> graph_entries() {
  return with_baselines(algoperf::Nci1{}, algoperf::Proteins{}, algoperf::Mutag{}, algoperf::MotifGraphSearch{});
}
