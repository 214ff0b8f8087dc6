// The parts of data/ that need no other library, without the file readers except Text. Include the other readers by
// name from data/readers/: idx.hpp, csv.hpp, tar.hpp, spoken_digits.hpp, graphs.hpp and sentence_pairs.hpp need zlib;
// wav.hpp, table.hpp and vocabulary.hpp do not.
#pragma once

#include "concept.hpp"
#include "fields.hpp"
#include "in_memory.hpp"
#include "in_memory_fields.hpp"
#include "in_memory_regression.hpp"
#include "readers/text.hpp"
#include "readers/text_sequences.hpp"
#include "selectors/loss_proportional.hpp"
#include "selectors/scheduled_batch.hpp"
#include "selectors/shuffled_epochs.hpp"
#include "selectors/with_replacement.hpp"
#include "slice.hpp"
#include "synthetic/glyphs.hpp"
#include "unlabelled.hpp"
