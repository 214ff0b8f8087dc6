// Trains the simple CNN to a validation accuracy of 99 % on MNIST and on Glyphs, with AdamW and with momentum. Five
// seeds each, 40 minutes in total on two cores. ALGOPERF_DATA names the data folder.
//   bench_digits_to_target --benchmark_filter=mnist --benchmark_out=trials.json
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>

namespace ap = algoperf;

namespace {

constexpr ap::TimeToTargetOptions options{.budget = 1200, .every = 100};

template <class Workload, class Rule>
void trials(const std::string& name, const Workload& workload, const Rule& rule, double peak) {
  ap::register_time_to_target("time_to_target/" + name, options, workload, rule,
                              ap::WarmupCosine{.peak = peak, .warmup = 100, .total = options.budget},
                              ap::ShuffledEpochs{.batch = 128}, ap::Host<>{.threads = 2})
      ->Repetitions(5);
}

}  // namespace

int main(int count, char** words) {
  const ap::MnistCnn mnist{.target_error = 0.01};
  const ap::GlyphDigitsCnn glyphs{.target_error = 0.01};
  trials("mnist, simple CNN, adamw", mnist, ap::adamw(), 1e-3);
  trials("mnist, simple CNN, momentum", mnist, ap::momentum(), 0.05);
  trials("glyphs, simple CNN, adamw", glyphs, ap::adamw(), 1e-3);
  trials("glyphs, simple CNN, momentum", glyphs, ap::momentum(), 0.05);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
