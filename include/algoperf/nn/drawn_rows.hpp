// drawn_rows: random numbers of rows on ragged axes, for gradient_check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/math.hpp"
#include "../core/random.hpp"
#include "graph/model_graph.hpp"

namespace algoperf::detail {

// Returns the rows of each example on each axis, drawn from [0, rows]; on each ragged axis, one example has `rows`, or
// as many as the model can process. If a field on axis A holds rows of axis B, as edges name nodes, an example without
// rows on B gets none on A. Labels that are aligned with rows get no more than those suffice for.
inline std::vector<std::vector<std::size_t>> drawn_rows(const ModelGraph& graph, std::size_t batch, std::size_t rows,
                                                        RandomKey key) {
  const std::size_t axes = graph.axes.size();
  std::vector<std::vector<std::size_t>> counts(axes, std::vector<std::size_t>(batch));
  for (std::size_t i = 0; i < axes; ++i) {
    RandomStream random(key.fold(i));
    const std::size_t limit = graph.axes[i].most, most = limit > 0 ? math::min(limit, rows) : rows;
    for (std::size_t& count : counts[i]) count = random.below(static_cast<std::uint32_t>(most + 1));
    counts[i][random.below(static_cast<std::uint32_t>(batch))] = most;
  }
  for (std::size_t repeat = 0; repeat < axes; ++repeat)  // an indexed axis may hold indices itself
    for (const ModelGraph::ValueInfo& info : graph.values)
      for (std::size_t e = 0; info.indexes_axis != no_index && e < batch; ++e)
        if (graph.axes[info.indexes_axis].ragged && counts[info.indexes_axis][e] == 0) counts[info.value.axis][e] = 0;
  for (const ModelGraph::ValueInfo& info : graph.values)
    for (std::size_t e = 0; info.aligned_axis != no_index && e < batch; ++e) {
      const Axis& of = graph.axes[info.aligned_axis];
      const std::size_t room = of.ragged ? counts[info.aligned_axis][e] : of.rows;
      std::size_t& labels = counts[info.value.axis][e];
      labels = math::min(labels, (room + 1) / 2);  // they may all be equal
    }
  return counts;
}

}  // namespace algoperf::detail
