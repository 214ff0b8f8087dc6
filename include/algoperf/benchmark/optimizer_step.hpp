// ALGOPERF_OPTIMIZER_STEP(rule, backend, sizes...): Google Benchmarks of an update rule's step, one per size.
//
//   #include <algoperf/benchmark/optimizer_step.hpp>
//   ALGOPERF_OPTIMIZER_STEP(ap::adamw(), ap::Host<>{}, 1 << 14, 1 << 18);  // one tensor of 2^14 parameters; of 2^18
//   ALGOPERF_OPTIMIZER_STEP(ap::lion(), ap::Host<>{}, 1 << 10)  // Range adds sizes from 2^13 to 2^22
//       ->RangeMultiplier(8)->Range(1 << 13, 1 << 22);
//   ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(ap::muon(), ap::Host<>{.threads = 2}, ap::Shape{512, 256}, ap::Shape{64, 64})
//       ->Unit(benchmark::kMicrosecond);  // one benchmark: a step on all these tensors
//   BENCHMARK_MAIN();
//
// Sizes are Google Benchmark arguments, so ->Arg and ->Range add to them. A benchmark's name consists of the macro's
// arguments as written and its size, such as "optimizer_step/adamw/Host<>/16384/real_time": --benchmark_filter=adamw
// selects all benchmarks of the first line, --benchmark_filter=adamw.*/16384/ one of them. Memory is allocated and
// filled before the clock starts; a device is synchronised after every 16 steps. Link Google Benchmark
// (algoperf::benchmark).
#pragma once

#include <benchmark/benchmark.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../core/random.hpp"
#include "../rules/chain/describe.hpp"
#include "../rules/concept.hpp"
#include "concept.hpp"

namespace algoperf {

namespace detail {

struct SameGradient {  // for rules that re-evaluate the gradient; leaves it unchanged
  void operator()() const {}
};

// Runs the benchmark f(); an exception skips it with the exception's message.
template <class F>
void skip_on_error(::benchmark::State& state, const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

}  // namespace detail

// Benchmarks a step of `rule` on `backend` and the tensors of `layout`, with gradients and parameters uniform in
// [-0.5, 0.5). Reports wall-clock time, because backends use threads and devices. Counters: parameters;
// bytes_per_second if the rule's memory traffic is known (bytes_per_parameter), to compare with a plain copy.
template <class Rule, class Backend>
void benchmark_optimizer_step(::benchmark::State& state, const Rule& rule, const Backend& backend,
                              const Layout& layout) {
  using S = typename Backend::Scalar;
  constexpr ::benchmark::IterationCount together = AsynchronousBackend<Backend> ? 16 : 1;
  detail::skip_on_error(state, [&] {
    const std::size_t n = layout.size();  // with padding
    const std::size_t parameters = layout.parameters();
    auto memory = rule.state(backend, layout);
    auto gradients = backend.template array<S>(n), values = backend.template array<S>(n);
    RandomStream random(RandomKey{1});
    std::vector<S> numbers(n);
    for (auto* const array : {&gradients, &values}) {
      for (S& x : numbers) x = static_cast<S>(random.uniform_double() - 0.5);
      backend.write(n, numbers.data(), array->data());
    }
    Step now{.t = 0, .learning_rate = 1e-3};
    while (state.KeepRunningBatch(together)) {
      for (::benchmark::IterationCount i = 0; i < together; ++i) {
        ++now.t;
        rule.step(Update<S, detail::SameGradient>{gradients.data(), values.data()}, memory, now);
      }
      backend.synchronize();
      ::benchmark::ClobberMemory();
    }
    state.counters["parameters"] = static_cast<double>(parameters);
    if constexpr (requires { bytes_per_parameter(rule); })
      state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(parameters * bytes_per_parameter(rule)));
  });
}

// Registers the benchmark above and returns it for further configuration.
template <class Rule, class Backend>
auto* register_optimizer_step(const std::string& name, const Rule& rule, const Backend& backend, const Layout& layout) {
  const auto run = [=](::benchmark::State& state) { benchmark_optimizer_step(state, rule, backend, layout); };
  return ::benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime();
}

// Registers one benchmark per size, on one tensor with that number of parameters; ->Arg and ->Range add sizes.
template <class Rule, class Backend, std::integral... Sizes>
requires(sizeof...(Sizes) > 0) auto* register_optimizer_step(const std::string& name, const Rule& rule,
                                                             const Backend& backend, Sizes... sizes) {
  const auto run = [=](::benchmark::State& state) {
    detail::skip_on_error(state, [&] {
      Layout layout;
      layout.add({"parameters", Kind::weight, {state.range(0)}});
      benchmark_optimizer_step(state, rule, backend, layout);
    });
  };
  auto* const registered = ::benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime();
  (registered->Arg(static_cast<std::int64_t>(sizes)), ...);
  return registered;
}

namespace detail {

struct OnSizes {
  template <class Rule, class Backend, class... Sizes>
  auto* operator()(const std::string& name, const Rule& rule, const Backend& backend, const Sizes&... sizes) const {
    static_assert(!std::is_arithmetic_v<Backend>,
                  "algoperf: ALGOPERF_OPTIMIZER_STEP(rule, backend, sizes...) needs a backend before its sizes, "
                  "such as Host{}");
    static_assert(
        sizeof...(Sizes) > 0 && (std::is_integral_v<Sizes> && ...),
        "algoperf: ALGOPERF_OPTIMIZER_STEP(rule, backend, sizes...) needs integer sizes, one benchmark each; a "
        "step on several tensors is ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(rule, backend, shapes...)");
    return register_optimizer_step(name, rule, backend, sizes...);
  }
  // Returns the name without the sizes, which Google Benchmark appends.
  static std::string name_of(std::string_view arguments, std::size_t sizes) {
    return readable_name("optimizer_step", without_last(arguments, sizes));
  }
};

struct OnTensors {
  template <class Rule, class Backend, class... Shapes>
  auto* operator()(const std::string& name, const Rule& rule, const Backend& backend, const Shapes&... shapes) const {
    static_assert(sizeof...(Shapes) > 0,
                  "algoperf: ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(rule, backend, shapes...) needs a shape");
    const std::vector<Shape> all{Shape(shapes)...};
    const auto run = [=](::benchmark::State& state) {
      skip_on_error(state, [&] {
        Layout layout;
        for (const Shape& shape : all)
          layout.add({"tensor" + std::to_string(layout.tensors().size()), Kind::weight, shape});
        benchmark_optimizer_step(state, rule, backend, layout);
      });
    };
    return ::benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime();
  }
  static std::string name_of(std::string_view arguments, std::size_t) {
    return readable_name("optimizer_step", arguments);
  }
};

template <class On, class First, class... Rest>
auto* register_step(const char* arguments, const First& first, const Rest&... rest) {
  static_assert(sizeof...(Rest) > 0, "algoperf: a benchmark of an optimizer step needs a rule, a backend, and a size");
  if constexpr (std::is_convertible_v<const First&, const char*>)
    return On{}(std::string("optimizer_step/") + first, rest...);
  else
    return On{}(On::name_of(arguments, sizeof...(Rest) - 1), first, rest...);
}

}  // namespace detail
}  // namespace algoperf

// Arguments: (rule, backend, sizes...) or (rule, backend, shapes...), optionally preceded by a name.
#define ALGOPERF_OPTIMIZER_STEP(...) \
  ALGOPERF_BENCHMARK_VARIABLE =      \
      ::algoperf::detail::register_step<::algoperf::detail::OnSizes>(#__VA_ARGS__, __VA_ARGS__)
#define ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(...) \
  ALGOPERF_BENCHMARK_VARIABLE =                 \
      ::algoperf::detail::register_step<::algoperf::detail::OnTensors>(#__VA_ARGS__, __VA_ARGS__)
