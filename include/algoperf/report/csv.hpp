// Trials as CSV: one line an evaluation.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "../core/atomic_file.hpp"
#include "concept.hpp"

namespace algoperf {

inline void write_csv(const std::string& path, const std::vector<Trial>& trials) {
  std::string text = "rule,seed,step,training_seconds,evaluation_seconds,loss,metric\n";
  for (const Trial& trial : trials)
    for (const EvaluationReport& e : trial.evaluations)
      text += fmt::format("{},{},{},{:.6f},{:.6f},{:.9g},{:.9g}\n", trial.rule, trial.seed, e.step, e.training_seconds,
                          e.evaluation_seconds, e.loss, e.metric);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace algoperf
