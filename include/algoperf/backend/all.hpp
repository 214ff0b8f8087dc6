// The backend headers that depend on nothing but Eigen. Include products/linear_algebra.hpp, thrust.hpp and cuda.cuh
// by name.
#pragma once

#include "concept.hpp"
#include "host.hpp"
#include "host/describe.hpp"
