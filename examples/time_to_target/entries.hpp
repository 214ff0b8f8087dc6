// The workloads of time_to_target with their variants, each with the ten baselines. A file per network compiles them,
// so that they compile side by side.
#pragma once

#include <algoperf/tuning/entry.hpp>
#include <vector>

std::vector<algoperf::StudyEntry> linear_entries();
std::vector<algoperf::StudyEntry> mlp_entries();
std::vector<algoperf::StudyEntry> cnn_entries();
std::vector<algoperf::StudyEntry> character_entries();
