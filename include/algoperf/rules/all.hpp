// The members of rules/.
#pragma once

#include "adam.hpp"
#include "adamw.hpp"
#include "chain.hpp"
#include "concept.hpp"
#include "describe.hpp"
#include "lamb.hpp"
#include "lion.hpp"
#include "masked.hpp"
#include "momentum.hpp"
#include "muon.hpp"
#include "partition.hpp"
#include "sam.hpp"
#include "scheduled.hpp"
#include "sgd.hpp"
#include "stages/clip_by_global_norm.hpp"
#include "stages/weight_average.hpp"
