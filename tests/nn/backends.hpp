// The backends on which every test of nn/ runs, as in TEST_CASE_TEMPLATE("...", B, NN_BACKENDS).
#pragma once

#include "algoperf/backend/host.hpp"

#define NN_BACKENDS algoperf::Host<double>, algoperf::Host<float>
