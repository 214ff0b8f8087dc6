// A measured learning curve, and its report.
#pragma once

#include <algoperf/scaling/all.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "family.hpp"

struct CurveOptions {
  std::string workload = std::getenv("ALGOPERF_DATA") != nullptr ? "mnist" : "glyphs";
  double label_noise = 0.05;
  std::size_t smallest = 0, largest = 0, held_out = 2;
  std::vector<std::size_t> widths;
  std::uint64_t seeds = 3, seed = 1;
  double target = 0;
  std::string out = "out";
  bool quick = false;
};

// The results of one network size on one shard.
struct CurveCell {
  std::size_t shard = 0, width = 0;
  double parameters = 0, flops = 0;  // of the network, and of one training run
  std::vector<double> errors;        // the best validation error for each seed
  double error = 0;                  // their median
};

// The results of training, by shard.
struct MeasuredCurve {
  std::vector<std::size_t> shards;
  std::vector<CurveCell> cells;
  std::vector<const CurveCell*> best, enough;                // per shard: the lowest error, and the smallest size whose
                                                             // error is within the family's tolerance of it
  std::vector<algoperf::Observation<1>> errors, all_errors;  // of the best sizes: fitted, and including held-out
  std::vector<algoperf::Observation<1>> sizes;
  algoperf::Regions regions;
};

// Fits the law of errors, compares it with the held-out shards, and writes charts and learning_curve.json. Returns
// whether the fit has a unique optimum.
bool report(const CurveOptions& options, const Family& family, const MeasuredCurve& found);
