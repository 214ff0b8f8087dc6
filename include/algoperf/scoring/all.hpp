// All of scoring/ but the readers of files, which need zlib (readers/all.hpp).
#pragma once

#include "chi_square.hpp"
#include "concept.hpp"
#include "held_out.hpp"
#include "missing_logs.hpp"
#include "performance_profile.hpp"
#include "score_bootstrap.hpp"
#include "score_bounds.hpp"
#include "score_grid.hpp"
#include "significance.hpp"
#include "speedup.hpp"
#include "standings.hpp"
#include "step_time.hpp"
#include "time_to_target.hpp"
