// The workloads that need no other library. mnist.hpp needs zlib and is included by name.
#pragma once

#include "concept.hpp"
#include "glyph_digits.hpp"
#include "shakespeare.hpp"
