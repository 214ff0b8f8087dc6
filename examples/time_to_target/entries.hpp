// The workloads of time_to_target with their variants, each with the ten baselines. Workloads with inputs of one type
// share the code of their training loops, so a file compiles several workloads.
#pragma once

#include <algoperf/tuning/entry.hpp>
#include <vector>

std::vector<algoperf::StudyEntry> image_entries();
std::vector<algoperf::StudyEntry> token_entries();
