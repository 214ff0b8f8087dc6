// WorkerSplit: the division of a selection of examples among the workers of all ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/error.hpp"
#include "../data/concept.hpp"
#include "selection_range.hpp"

namespace algoperf::detail {

// Each of the W = ranks * workers workers has consecutive examples of a selection of n: worker w of rank r begins at
// example floor((r * workers + w) n / W).
struct WorkerSplit {
  std::size_t rank, ranks;
  std::size_t workers;  // of each rank

  // Returns where a worker of this rank begins in a selection of n. begin_of(workers, n) is the end of the rank's part.
  std::size_t begin_of(std::size_t worker, std::size_t n) const {
    return (rank * workers + worker) * n / (ranks * workers);
  }
  // Returns this rank's part of a selection.
  SelectionRange part_of(const Selection& selection) const {
    const std::size_t n = selection.indices.size(), begin = begin_of(0, n);
    return {selection.indices.data() + begin, selection.weights.data() + begin, begin_of(workers, n) - begin};
  }
  // Returns the number of examples of each rank.
  std::vector<std::size_t> examples_of_ranks(std::size_t n) const;
  // Returns the largest number of examples of a rank.
  std::size_t most_per_rank(std::size_t n) const { return (n + ranks - 1) / ranks; }
  // Returns the largest number of examples of a worker.
  std::size_t most_per_worker(std::size_t n) const { return (n + ranks * workers - 1) / (ranks * workers); }
};

// Throws Error unless a selector chose 1 to `most` examples from `size`, with a weight each.
void check_selection(const Selection& selection, std::size_t most, std::size_t size);

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED std::vector<std::size_t> WorkerSplit::examples_of_ranks(std::size_t n) const {
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < ranks; ++r) counts.push_back((r + 1) * n / ranks - r * n / ranks);
  return counts;
}

ALGOPERF_COMPILED void check_selection(const Selection& selection, std::size_t most, std::size_t size) {
  const std::size_t n = selection.indices.size();
  require(n > 0 && n <= most && selection.weights.size() == n, "TrainingLoop: the selector chose ", n, " examples and ",
          selection.weights.size(), " weights, expected the same number of each, 1 to ", most);
  for (const std::uint32_t index : selection.indices)
    require(index < size, "TrainingLoop: the selector chose example ", index, ", expected [0, ", size, ")");
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
