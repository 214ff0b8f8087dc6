// What combiners share to combine vectors and losses of several ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/config.hpp"
#include "../core/map_kernels.hpp"
#include "concept.hpp"
#include "group/array_blocks.hpp"

namespace algoperf::detail {

// Adds one worker's share of the loss. Compiled to a single copy, so that a step's loss has the same bits whether or
// not the combiner also measures gradients.
ALGOPERF_ONE_COPY inline double plus_share(double total, double share, double loss) { return total + share * loss; }

// Returns the mean loss of all ranks, from the notes of their meeting.
inline double mean_loss(const std::vector<Ranks::Note>& notes, double weight) {
  double loss = 0;
  for (const Ranks::Note& note : notes)
    if (note.weight > 0) loss = plus_share(loss, note.weight / weight, note.loss);
  return loss;
}
inline double sum_of_weights(const std::vector<Ranks::Note>& notes) {
  double weight = 0;
  for (const Ranks::Note& note : notes) weight += note.weight;
  return weight;
}

// Replaces this rank's vector by the sum over ranks r of factor(r) times the vector of rank r, in the order of ranks.
template <class Context, class Backend, class S, class Factor>
void sum_over_ranks(Context& context, ArrayBlocks<Backend>& blocks, S* vector, const Factor& factor) {
  const Ranks& ranks = context.ranks();
  blocks.all_to_all(context.backend(), ranks, vector);
  S* const total = blocks.received(0);
  const std::size_t n = blocks.own_block().size;
  context.backend().map(Multiply<S>{factor(0)}, n, total);
  for (std::size_t r = 1; r < ranks.size(); ++r)
    context.backend().map(LinearCombination<S>{1, factor(r)}, n, total, static_cast<const S*>(blocks.received(r)));
  blocks.all_gather(context.backend(), ranks, vector);
}

}  // namespace algoperf::detail
