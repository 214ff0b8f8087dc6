// Absolute numbers: a step of each rule by size, with the bytes it must move, beside the bare streams that bound it.
#include <benchmark/benchmark.h>

#include <algoperf/algoperf.hpp>
#include <string>

#include "baselines/handwritten.hpp"

namespace ap = algoperf;

namespace {

ap::Arena<float> random_values(std::size_t n, std::uint64_t key) {
  ap::Arena<float> values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.uniform_double() - 0.5);
  return values;
}

void count_bytes(benchmark::State& state, std::size_t bytes_per_parameter) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(bytes_per_parameter));
}

template <class Rule>
void rule_step(benchmark::State& state, const Rule& rule) {
  const auto n = static_cast<std::size_t>(state.range(0));
  ap::Layout layout;
  layout.add({"parameters", ap::Kind::weight, {n}});
  auto memory = rule.state(ap::Host<>{.threads = static_cast<unsigned>(state.range(1))}, layout);
  ap::Arena<float> gradients = random_values(n, 1), values = random_values(n, 2);
  ap::Step now{.t = 0, .learning_rate = 1e-3};
  for (auto _ : state) {
    ++now.t;
    rule.step(ap::Update<float>{gradients.data(), values.data()}, memory, now);
    benchmark::ClobberMemory();
  }
  count_bytes(state, ap::bytes_per_parameter(rule));
}

template <std::size_t Slots>
void stream(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  ap::Arena<float> gradients = random_values(n, 1), values = random_values(n, 2), memory(Slots * n);
  float* slots[Slots];
  for (std::size_t j = 0; j < Slots; ++j) slots[j] = memory.data() + j * n;
  for (auto _ : state) {
    handwritten::stream<Slots>(n, gradients.data(), values.data(), slots);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 4 * (3 + 2 * Slots));
}

void sizes_and_threads(benchmark::internal::Benchmark* each) {
  each->ArgNames({"parameters", "threads"})->UseRealTime();
  for (const std::int64_t n : {1 << 14, 1 << 18, 10'000'000})
    for (const std::int64_t threads : {1, 2}) each->Args({n, threads});
}
void sizes(benchmark::internal::Benchmark* each) {
  each->ArgName("parameters")->UseRealTime()->Arg(1 << 14)->Arg(1 << 18)->Arg(10'000'000);
}

BENCHMARK_CAPTURE(rule_step, sgd, ap::sgd())->Apply(sizes_and_threads);
BENCHMARK_CAPTURE(rule_step, momentum, ap::momentum())->Apply(sizes_and_threads);
BENCHMARK_CAPTURE(rule_step, lion, ap::lion())->Apply(sizes_and_threads);
BENCHMARK_CAPTURE(rule_step, adamw, ap::adamw())->Apply(sizes_and_threads);
BENCHMARK_CAPTURE(rule_step, nadamw, ap::nadamw())->Apply(sizes_and_threads);
BENCHMARK_CAPTURE(rule_step, lamb, ap::lamb())->Apply(sizes_and_threads);
BENCHMARK_TEMPLATE(stream, 1)->Apply(sizes);
BENCHMARK_TEMPLATE(stream, 2)->Apply(sizes);

}  // namespace
