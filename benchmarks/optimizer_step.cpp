// Absolute times of a step of each rule, by size and number of threads, and of the bare memory streams that bound it.
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/optimizer_step.hpp>
#include <string>

#include "baselines/handwritten.hpp"

namespace ap = algoperf;

namespace {

constexpr std::size_t sizes[] = {1 << 14, 1 << 18, 10'000'000};

template <class Rule>
void add(const std::string& name, const Rule& rule) {
  for (const std::size_t n : sizes)
    for (const unsigned threads : {1u, 2u}) {
      ap::Layout layout;
      layout.add({"parameters", ap::Kind::weight, {n}});
      const std::string run = name + "/" + std::to_string(n) + "/threads:" + std::to_string(threads);
      ap::register_optimizer_step(run, rule, ap::Host<>{.threads = threads}, layout);
    }
}

template <std::size_t Slots>
void stream(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  ap::Arena<float> gradients(n), values(n), memory(Slots * n);
  float* slots[Slots];
  for (std::size_t j = 0; j < Slots; ++j) slots[j] = memory.data() + j * n;
  for (auto _ : state) {
    handwritten::stream<Slots>(n, gradients.data(), values.data(), slots);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(4 * (3 + 2 * Slots)));
}
BENCHMARK_TEMPLATE(stream, 1)->UseRealTime()->Arg(sizes[0])->Arg(sizes[1])->Arg(sizes[2]);
BENCHMARK_TEMPLATE(stream, 2)->UseRealTime()->Arg(sizes[0])->Arg(sizes[1])->Arg(sizes[2]);

}  // namespace

int main(int count, char** arguments) {
  add("sgd", ap::sgd());
  add("momentum", ap::momentum());
  add("lion", ap::lion());
  add("adamw", ap::adamw());
  add("nadamw", ap::nadamw());
  add("lamb", ap::lamb());
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
