// Model parallelism: splits a model that does not fit one accelerator into consecutive stages of layers, and
// embedding tables into shards (Hestness et al. 2019, section 6).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "quantities.hpp"

namespace algoperf {

// A layer, or any part that stays on one accelerator: its memory, and its time per step, forward and backward.
struct LayerLoad {
  Bytes memory;
  Seconds time;
};

// A split of layers into stages. Stage s has layers first[s] to first[s + 1], the last excluded.
struct LayerSplit {
  std::vector<std::size_t> first;
  std::vector<Bytes> memory;  // of each stage
  std::vector<Seconds> time;

  Bytes most_memory() const { return *std::max_element(memory.begin(), memory.end()); }
  // Returns the time of a step whose batch is divided into `parts` that pass through the stages one after another
  // (Huang et al. 2019, GPipe). Every stage waits for the slowest, and stages idle while the first and last parts
  // fill and drain the pipeline:  max time (parts + stages - 1) / parts.
  Seconds step_time(double parts = 1) const {
    require(parts >= 1, "LayerSplit: parts is ", parts, ", expected at least 1");
    const Seconds slowest = *std::max_element(time.begin(), time.end());
    return slowest * ((parts + static_cast<double>(time.size()) - 1) / parts);
  }
};

// Splits the layers, in order, over `stages` accelerators so that the largest memory of a stage is minimal. Among
// such splits it returns one whose slowest stage is fastest. Throws Error if there are fewer layers than stages, or
// no stage.
inline LayerSplit split_layers(const std::vector<LayerLoad>& layers, std::size_t stages) {
  const std::size_t n = layers.size();
  require(stages >= 1 && n >= stages, "split_layers: there are ", n, " layers for ", stages,
          " stages, expected at least one layer each");
  // Returns the minimum over splits of the largest sum of `of` over a stage, and the first layer of each stage. Each
  // stage has at most `most` memory.
  const auto best = [&](const auto& of, double most) {
    // worst[s][i]: the result for the first i layers in s stages; begins[s][i]: where the last of these stages
    // begins.
    std::vector<std::vector<double>> worst(stages + 1, std::vector<double>(n + 1, HUGE_VAL));
    std::vector<std::vector<std::size_t>> begins(stages + 1, std::vector<std::size_t>(n + 1, 0));
    worst[0][0] = 0;
    for (std::size_t s = 1; s <= stages; ++s)
      for (std::size_t i = s; i <= n; ++i) {
        double memory = 0, last = 0;
        for (std::size_t first = i; first-- > s - 1;) {
          memory += layers[first].memory.value, last += of(layers[first]);
          const double all = std::max(worst[s - 1][first], last);
          if (memory <= most && all < worst[s][i]) worst[s][i] = all, begins[s][i] = first;
        }
      }
    std::vector<std::size_t> first(stages + 1, n);
    for (std::size_t s = stages; s > 0; --s) first[s - 1] = begins[s][first[s]];
    return std::pair(worst[stages][n], first);
  };
  const double most = best([](const LayerLoad& layer) { return layer.memory.value; }, HUGE_VAL).first;
  LayerSplit split{
      .first = best([](const LayerLoad& layer) { return layer.time.value; }, most).second, .memory = {}, .time = {}};
  for (std::size_t s = 0; s < stages; ++s) {
    LayerLoad sum;
    for (std::size_t i = split.first[s]; i < split.first[s + 1]; ++i)
      sum.memory += layers[i].memory, sum.time += layers[i].time;
    split.memory.push_back(sum.memory);
    split.time.push_back(sum.time);
  }
  return split;
}

// Distributes a table of `table` bytes, held by stage `from`, in equal shards over the first `shards` stages, and
// returns the memory of each stage. Each of these stages then looks up its own shard. Throws Error if there are fewer
// stages than `shards`, or if stage `from` holds less than the table.
inline std::vector<Bytes> shard_table(std::vector<Bytes> memory, std::size_t from, Bytes table, std::size_t shards) {
  require(from < memory.size() && shards >= 1 && shards <= memory.size(), "shard_table: got stage ", from, " and ",
          shards, " shards for ", memory.size(), " stages, expected stage < stages and 1 <= shards <= stages");
  require(table <= memory[from], "shard_table: the table has ", table.value, " bytes, but its stage holds ",
          memory[from].value);
  memory[from] = memory[from] - table;
  for (std::size_t s = 0; s < shards; ++s) memory[s] += table / static_cast<double>(shards);
  return memory;
}

}  // namespace algoperf
