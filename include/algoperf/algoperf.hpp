// algoperf: training algorithms, composed at compile time. The umbrella: everything that needs no library but Eigen.
// Included by name: backend/thrust.hpp, data/idx.hpp, workloads/*.hpp, scaling/all.hpp.
#pragma once

#include "backend/all.hpp"
#include "combine/all.hpp"
#include "data/all.hpp"
#include "loop/all.hpp"
#include "nn/all.hpp"
#include "rules/all.hpp"
#include "schedules/all.hpp"
