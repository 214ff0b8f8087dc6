// The light part of data/. idx.hpp needs zlib and is included by name.
#pragma once

#include "concept.hpp"
#include "glyphs.hpp"
#include "in_memory.hpp"
#include "in_memory_regression.hpp"
#include "selectors/importance.hpp"
#include "selectors/scheduled_batch.hpp"
#include "selectors/shuffled_epochs.hpp"
#include "selectors/with_replacement.hpp"
#include "slice.hpp"
#include "text.hpp"
#include "unlabelled.hpp"
