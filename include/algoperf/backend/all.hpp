// The members of backend/ that need no more than Eigen. linear_algebra.hpp and thrust.hpp are included by name.
#pragma once

#include "concept.hpp"
#include "host.hpp"
