// The parts of data/ that need no other library, without the file readers except Text. Include the other readers by
// name from data/readers/: idx.hpp, cifar10.hpp, csv.hpp, tar.hpp, spoken_digits.hpp, graphs.hpp and
// sentence_pairs.hpp need zlib; wav.hpp, table.hpp and vocabulary.hpp do not.
#pragma once

#include "byte_images.hpp"
#include "concept.hpp"
#include "fields.hpp"
#include "in_memory.hpp"
#include "in_memory_fields.hpp"
#include "in_memory_regression.hpp"
#include "one_hot.hpp"
#include "prefetched.hpp"
#include "readers/text.hpp"
#include "readers/text_sequences.hpp"
#include "selectors/loss_proportional.hpp"
#include "selectors/scheduled_batch.hpp"
#include "selectors/shuffled_epochs.hpp"
#include "selectors/with_replacement.hpp"
#include "slice.hpp"
#include "synthetic/glyphs.hpp"
#include "transformed.hpp"
#include "transforms/cutout.hpp"
#include "transforms/mixup.hpp"
#include "transforms/random_crop.hpp"
#include "transforms/random_flip.hpp"
#include "transforms/spec_augment.hpp"
#include "unlabelled.hpp"
