// All of tuning/ but search_space_json.hpp, which needs nlohmann-json.
#pragma once

#include "concept.hpp"
#include "halton.hpp"
#include "official_halton.hpp"
#include "random_points.hpp"
#include "search_space.hpp"
#include "sobol.hpp"
