// The workloads that need no other library. mnist.hpp needs zlib; include it by name.
#pragma once

#include "concept.hpp"
#include "data_workload.hpp"
#include "glyph_digits.hpp"
#include "shakespeare.hpp"
#include "shakespeare_lm.hpp"
