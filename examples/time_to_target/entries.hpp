// The workloads of time_to_target with their variants, each with the ten baselines. Each function is compiled
// in a file of its own, and the workloads of one file share the compiled code of their training loops.
#pragma once

#include <algoperf/tuning/entry.hpp>
#include <vector>

std::vector<algoperf::StudyEntry> digit_entries();
std::vector<algoperf::StudyEntry> image_entries();
std::vector<algoperf::StudyEntry> text_entries();
std::vector<algoperf::StudyEntry> translation_entries();
std::vector<algoperf::StudyEntry> speech_entries();
std::vector<algoperf::StudyEntry> graph_entries();
std::vector<algoperf::StudyEntry> click_entries();
