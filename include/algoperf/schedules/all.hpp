// The members of schedules/.
#pragma once

#include "concept.hpp"
#include "constant.hpp"
#include "cosine.hpp"
#include "join.hpp"
#include "linear.hpp"
#include "warmup.hpp"
#include "warmup_cosine.hpp"
