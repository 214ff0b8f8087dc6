// The members of backend/ that need no more than Eigen. thrust.hpp is included by name.
#pragma once

#include "concept.hpp"
#include "host.hpp"
