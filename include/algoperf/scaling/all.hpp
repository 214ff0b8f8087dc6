// The members of scaling/.
#pragma once

#include "affine_map.hpp"
#include "allocation.hpp"
#include "bootstrap.hpp"
#include "concept.hpp"
#include "extrapolation.hpp"
#include "fit.hpp"
#include "fit_values.hpp"
#include "geometric.hpp"
#include "laws/all.hpp"
#include "noisy_quadratic.hpp"
#include "nqm_rules.hpp"
#include "profile.hpp"
#include "regions.hpp"
