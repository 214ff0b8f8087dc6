// The members of scaling/.
#pragma once

#include "affine_map.hpp"
#include "concept.hpp"
#include "geometric.hpp"
#include "noisy_quadratic.hpp"
#include "nqm_rules.hpp"
