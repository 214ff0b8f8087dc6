#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>

namespace ap = algoperf;

ALGOPERF_OPTIMIZER_STEP(ap::adamw(), ap::Host<>{}, 1024);
ALGOPERF_TIME_TO_TARGET(ap::GlyphDigits{}, ap::adamw(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 128});
BENCHMARK_MAIN();
