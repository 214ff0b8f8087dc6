// Google Benchmarks of an update rule: the time of one step, and the time to reach a target on a task.
//   08_benchmark --benchmark_filter=time_to_target --benchmark_repetitions=5 --benchmark_out=trials.json
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
namespace ap = algoperf;

ALGOPERF_OPTIMIZER_STEP(ap::adamw(), ap::Host<>{.threads = 2}, 1 << 20);
ALGOPERF_TIME_TO_TARGET(ap::GlyphDigits{.target_error = 0.03}, ap::adamw(),
                        ap::WarmupCosine{.peak = 4e-3, .warmup = 50, .total = 1500}, ap::ShuffledEpochs{.batch = 128},
                        ap::Host<>{.threads = 2});
BENCHMARK_MAIN();
