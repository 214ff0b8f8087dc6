// algoperf: training algorithms, composed at compile time. The umbrella: everything that needs no library but Eigen.
// Included by name: backend/products/linear_algebra.hpp with rules/recipes/shampoo.hpp and rules/recipes/soap.hpp, backend/thrust.hpp and
// cuda.cuh, state/cast.hpp, files of data (docs/data.md), workloads/, formats/, report/, benchmark/, scaling/all.hpp.
#pragma once

#include "backend/all.hpp"
#include "combine/all.hpp"
#include "data/all.hpp"
#include "loop/all.hpp"
#include "nn/all.hpp"
#include "rules/all.hpp"
#include "schedules/all.hpp"
