// Shared functions of the device benchmarks: whether there is a device, the time of a call on it, and the time of a
// plain copy as a bound.
#pragma once

#include <cuda_runtime.h>

#include <algoperf/backend/cuda.cuh>
#include <algoperf/core/layout.hpp>
#include <algoperf/rules/concept.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lines.hpp"

namespace bench {

inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

// Returns the seconds of one call: the median of `samples` samples after a warm-up. Each sample makes as many calls
// as take 5 ms and then waits for the device. Launch overhead on the host counts only if the device has to wait for
// it.
template <class F>
double seconds(const F& f, std::size_t samples = 20) {
  const algoperf::Cuda<> backend;
  const auto sample = [&](std::size_t calls) {
    backend.synchronize();
    const double start = now();
    for (std::size_t i = 0; i < calls; ++i) f();
    backend.synchronize();
    return (now() - start) / static_cast<double>(calls);
  };
  std::size_t calls = 1;
  sample(3);
  while (sample(calls) * static_cast<double>(calls) < 0.005) calls *= 2;
  std::vector<double> all;
  for (std::size_t i = 0; i < samples; ++i) all.push_back(sample(calls));
  return median(all);
}

// Prints a line with the seconds that measure() returns, or a line without seconds if there is no device.
template <class F>
void line_of(const std::string& table, const std::string& row, const std::string& column, double amount,
             const F& measure) {
  if (has_device())
    line(table, row, column, measure(), amount);
  else
    not_measured(table, row, column, amount);
}

// Returns the seconds of a plain copy of n floats on the device, which moves 8 n bytes.
inline double copy_seconds(std::size_t n) {
  const algoperf::Cuda<> backend;
  const auto from = backend.array<float>(n);
  auto to = backend.array<float>(n);
  return seconds([&] { backend.copy(n, from.data(), to.data()); });
}

// Returns the seconds of a step of a rule on tensors of these shapes.
template <class Rule>
double step_seconds(const Rule& rule, const std::vector<algoperf::Shape>& shapes, std::size_t samples = 20) {
  const algoperf::Cuda<> backend;
  algoperf::Layout layout;
  for (const algoperf::Shape& shape : shapes)
    layout.add({"tensor" + std::to_string(layout.tensors().size()), algoperf::Kind::weight, shape});
  auto state = rule.state(backend, layout);
  auto gradients = backend.array<float>(layout.size()), values = backend.array<float>(layout.size());
  backend.fill(layout.size(), gradients.data(), 1e-3f);
  backend.fill(layout.size(), values.data(), 1e-1f);
  std::uint64_t t = 0;
  return seconds(
      [&] {
        ++t;
        rule.step(algoperf::Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 1e-6});
      },
      samples);
}

}  // namespace bench
