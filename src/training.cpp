// The parts of training programs that depend on no template argument, and those that depend only on the type of Host.
#define ALGOPERF_IN_TRAINING_CPP
#include "algoperf/algoperf.hpp"
#include "algoperf/workloads/glyph_digits.hpp"

ALGOPERF_DATA_INSTANCES();
ALGOPERF_TRAINING_INSTANCES(, float);
ALGOPERF_TRAINING_INSTANCES(, double);
