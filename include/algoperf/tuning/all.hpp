// All of tuning/ but baselines.hpp, and journal.hpp, merge_journals.hpp, search_space_json.hpp, study.hpp and tune.hpp,
// which need nlohmann-json.
#pragma once

#include "concept.hpp"
#include "halton.hpp"
#include "official_halton.hpp"
#include "random_points.hpp"
#include "search_space.hpp"
#include "sobol.hpp"
#include "submission.hpp"
#include "trial.hpp"
#include "worker_pool.hpp"
