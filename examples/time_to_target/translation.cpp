#include <algoperf/workloads/multi30k.hpp>
#include <algoperf/workloads/reversed_translation.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> translation_entries() {
  return with_baselines(algoperf::Multi30k{}, algoperf::ReversedTranslation{});
}
