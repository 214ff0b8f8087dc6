// The headers of combine/ that need no other library, except sequential_workers.hpp, which measures.
#pragma once

#include "adasum.hpp"
#include "adasum_tree.hpp"
#include "concept.hpp"
#include "group/in_process.hpp"
#include "mean.hpp"
#include "measured_mean.hpp"
#include "measured_spread.hpp"
#include "single_worker.hpp"
#include "worker_sum.hpp"
