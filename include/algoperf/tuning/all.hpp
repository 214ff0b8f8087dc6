// Includes all of tuning/ except baselines.hpp, batch_size/ but for batch_study.hpp, workers/, rank_runner.hpp, which
// needs MPI, and the headers that need nlohmann-json: compare.hpp, find_target.hpp, journal.hpp, merge_journals.hpp,
// search_space_json.hpp, successive_halving.hpp, task_runner.hpp, tune.hpp and study*.hpp.
#pragma once

#include "batch_size/batch_study.hpp"
#include "clock_noise.hpp"
#include "concept.hpp"
#include "entry.hpp"
#include "halton.hpp"
#include "median_rule.hpp"
#include "official_halton.hpp"
#include "random_points.hpp"
#include "search_space.hpp"
#include "shared_point.hpp"
#include "sobol.hpp"
#include "submission.hpp"
#include "trial.hpp"
#include "trial_result.hpp"
#include "widen.hpp"
#include "worker_pool.hpp"
