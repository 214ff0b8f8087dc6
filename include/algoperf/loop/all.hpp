// The headers of loop/.
#pragma once

#include "checkpoint.hpp"
#include "concept.hpp"
#include "ensemble.hpp"
#include "generate.hpp"
#include "learning_rate_finder.hpp"
#include "observers/best_checkpoint.hpp"
#include "observers/checkpoints.hpp"
#include "observers/csv_log.hpp"
#include "observers/evaluate.hpp"
#include "observers/history.hpp"
#include "observers/progress_bar.hpp"
#include "observers/step_log.hpp"
#include "observers/until.hpp"
#include "predictor.hpp"
#include "training_loop.hpp"
#include "values_dict.hpp"
