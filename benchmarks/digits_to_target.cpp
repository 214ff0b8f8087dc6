// Trains the simple CNN to a validation accuracy of 99 % on MNIST and on Glyphs, with AdamW and with momentum. Five
// seeds each, 40 minutes in total on two cores. ALGOPERF_DATA names the data folder.
//   bench_digits_to_target --benchmark_filter=mnist --benchmark_out=trials.json
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/data_workload.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>

namespace ap = algoperf;

namespace {

constexpr ap::TimeToTargetOptions options{.budget = 1200, .every = 100};

// A workload's data with the Simple CNN in full size.
template <class Workload>
auto with_simple_cnn(const Workload& workload) {
  return ap::DataWorkload({.name = workload.name, .target = {0.01}}, ap::simple_cnn(ap::Shape{28, 28, 1}, 10),
                          workload.loss(), workload.metric(), workload.train(), workload.validation(), workload.test());
}

template <class Workload, class Rule>
void trials(const std::string& name, const Workload& workload, const Rule& rule, double peak) {
  ap::register_time_to_target("time_to_target/" + name, options, workload, rule,
                              ap::WarmupCosine{.peak = peak, .warmup = 100, .total = options.budget},
                              ap::ShuffledEpochs{.batch = 128}, ap::Host<>{.threads = 2})
      ->Repetitions(5);
}

}  // namespace

int main(int count, char** words) {
  const auto mnist = with_simple_cnn(ap::Mnist{});
  const auto glyphs = with_simple_cnn(ap::GlyphDigits{});
  trials("mnist, simple CNN, adamw", mnist, ap::adamw(), 1e-3);
  trials("mnist, simple CNN, momentum", mnist, ap::momentum(), 0.05);
  trials("glyphs, simple CNN, adamw", glyphs, ap::adamw(), 1e-3);
  trials("glyphs, simple CNN, momentum", glyphs, ap::momentum(), 0.05);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
