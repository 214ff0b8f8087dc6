#include <algoperf/workloads/markov_lm.hpp>
#include <algoperf/workloads/shakespeare.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>
#include <algoperf/workloads/shakespeare_masked_lm.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> text_entries() {
  return with_baselines(algoperf::Shakespeare{}, algoperf::ShakespeareLm{}, algoperf::ShakespeareLstm{},
                        algoperf::ShakespeareBert{}, algoperf::ShakespeareSibert{}, algoperf::MarkovLm{});
}
