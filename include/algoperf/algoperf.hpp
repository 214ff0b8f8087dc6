// algoperf: training algorithms, composed at compile time. The umbrella header: includes everything that needs no other
// library (in .cu files: none but Eigen). Include separately: rules/recipes/shampoo.hpp and rules/recipes/soap.hpp with
// backend/products/linear_algebra.hpp, backend/thrust.hpp, backend/cuda.cuh, state/cast.hpp, data/readers/
// (docs/data.md), workloads/, formats/, report/, benchmark/, scaling/all.hpp.
#pragma once

#include "backend/all.hpp"
#include "combine/all.hpp"
#include "data/all.hpp"
#include "loop/all.hpp"
#include "nn/all.hpp"
#include "rules/all.hpp"
#include "schedules/all.hpp"

#include "compiled.hpp"
