// The workloads that need no other library. mnist.hpp needs zlib; include it by name.
#pragma once

#include "concept.hpp"
#include "data_workload.hpp"
#include "glyph_digits.hpp"
#include "markov_lm.hpp"
#include "motif_graphs.hpp"
#include "reversed_translation.hpp"
#include "shakespeare.hpp"
#include "shakespeare_lm.hpp"
#include "shakespeare_masked_lm.hpp"
#include "synthetic_clicks.hpp"
#include "touch_tones.hpp"
