// Adasum of Maleki et al. 2020, "Scaling Distributed Training with Adaptive Summation" (arXiv:2006.02924):
//   adasum(a, b) = (1 - a.b / (2 |a|^2)) a + (1 - a.b / (2 |b|^2)) b
// per tensor. Workers are combined in a binary tree: adasum of [0, n) is adasum of the two halves. Orthogonal vectors
// are added, parallel vectors are averaged. A squared norm below sqrt(DBL_MIN) counts as zero: its coefficient is 1, as
// in Horovod.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/layout.hpp"
#include "../core/map_kernels.hpp"
#include "group/array_blocks.hpp"

namespace algoperf {

namespace detail {

constexpr double adasum_coefficient(double dot, double square) {
  constexpr double negligible = 1.4916681462400413e-154;  // sqrt(DBL_MIN)
  return square >= negligible ? 1 - 0.5 * dot / square : 1;
}

}  // namespace detail

// a = adasum(a, b), tensor by tensor. Tensors that are not trained are averaged instead.
template <class Backend, class S>
void adasum_pair(const Backend& backend, const Layout& layout, S* a, const S* b) {
  for (const TensorHandle handle : layout.tensors()) {
    const TensorPlace place = layout.place_of(handle);
    S* const x = a + place.offset;
    const S* const y = b + place.offset;
    if (!layout.spec(handle).trained()) {
      backend.map(LinearCombination<S>{S(0.5), S(0.5)}, place.size, x, y);
      continue;
    }
    const double dot = backend.dot(place.size, x, y);
    const double xx = backend.dot(place.size, x, x), yy = backend.dot(place.size, y, y);
    backend.map(LinearCombination<S>{static_cast<S>(detail::adasum_coefficient(dot, xx)),
                                     static_cast<S>(detail::adasum_coefficient(dot, yy))},
                place.size, x, y);
  }
}

// vectors[begin] = adasum of vectors [begin, end). The other vectors in this range may be overwritten.
template <class Backend, class S>
void adasum_tree(const Backend& backend, const Layout& layout, const std::vector<S*>& vectors, std::size_t begin,
                 std::size_t end) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  adasum_tree(backend, layout, vectors, begin, middle);
  adasum_tree(backend, layout, vectors, middle, end);
  adasum_pair(backend, layout, vectors[begin], static_cast<const S*>(vectors[middle]));
}

// Replaces the first of each `per_node` consecutive vectors of n elements by their mean, and leaves these first ones in
// the list. per_node divides the number of vectors.
template <class Backend, class S>
void average_nodes(const Backend& backend, std::size_t n, std::vector<S*>& vectors, std::size_t per_node) {
  if (per_node == 1) return;
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < vectors.size(); i += per_node) {
    S* const mean = vectors[i];
    for (std::size_t j = i + 1; j < i + per_node; ++j) backend.map(Add{}, n, mean, static_cast<const S*>(vectors[j]));
    backend.map(Multiply<S>{static_cast<S>(1.0 / static_cast<double>(per_node))}, n, mean);
    vectors[nodes++] = mean;
  }
  vectors.resize(nodes);
}

namespace detail {

// A pair of the tree over vectors: vectors[begin] = adasum(vectors[begin], vectors[middle]).
struct AdasumPair {
  std::size_t begin = 0, middle = 0;
};

// Appends the pairs of the tree over [begin, end) to levels[depth] and deeper levels.
inline void list_adasum_pairs(std::vector<std::vector<AdasumPair>>& levels, std::size_t depth, std::size_t begin,
                              std::size_t end) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  if (levels.size() <= depth) levels.resize(depth + 1);
  levels[depth].push_back({begin, middle});
  list_adasum_pairs(levels, depth + 1, begin, middle);
  list_adasum_pairs(levels, depth + 1, middle, end);
}

// The dot products of a pair's vectors x and y.
struct AdasumProducts {
  double xy = 0, xx = 0, yy = 0;
};

// Adds the products of all chunks of each tensor, in their order. `of_pieces` has those of `pairs` pairs for each
// piece.
inline std::vector<AdasumProducts> add_adasum_products(const std::vector<AdasumProducts>& of_pieces, std::size_t pairs,
                                                       std::size_t tensors, const auto& pieces) {
  std::vector<AdasumProducts> of_tensors(tensors * pairs);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t p = 0; p < pairs; ++p) {
      AdasumProducts& total = of_tensors[pieces[i].tensor * pairs + p];
      const AdasumProducts& part = of_pieces[i * pairs + p];
      total.xy += part.xy;
      total.xx += part.xx;
      total.yy += part.yy;
    }
  return of_tensors;
}

}  // namespace detail

// vectors[0] = adasum_tree of the means of nodes, all in one process. Vectors and the result are rounded to the format,
// which needs host memory unless it is full. The other vectors may be overwritten; the list keeps the nodes' means.
template <class Backend, class S>
void adasum_of_nodes(const Backend& backend, const Layout& layout, std::vector<S*>& vectors, std::size_t per_node,
                     VectorFormat format) {
  if constexpr (Backend::on_host)
    for (S* const each : vectors) detail::round_to(format, layout.size(), each);
  average_nodes(backend, layout.size(), vectors, per_node);
  adasum_tree(backend, layout, vectors, 0, vectors.size());
  if constexpr (Backend::on_host) detail::round_to(format, layout.size(), vectors[0]);
}

// vectors[0] = adasum_tree of the means of nodes of all ranks' vectors; on Host, with the bits of one process. Vector v
// of the V vectors of rank r has the number r V + v. Vectors and the result are rounded to the format. Each rank
// combines its block of all vectors; at each level of the tree, the ranks exchange the dot products of their pieces, 24
// bytes per pair of vectors and piece (ArrayBlocks::Piece).
template <class Backend>
void adasum_tree(const Backend& backend, const Layout& layout, const std::vector<typename Backend::Scalar*>& vectors,
                 const Ranks& ranks, ArrayBlocks<Backend>& blocks, std::size_t per_node = 1,
                 VectorFormat format = VectorFormat::full) {
  using S = typename Backend::Scalar;
  if (ranks.alone()) {
    std::vector<S*> nodes = vectors;
    return adasum_of_nodes(backend, layout, nodes, per_node, format);
  }
  std::vector<bool> trained;
  for (const TensorHandle handle : layout.tensors()) trained.push_back(layout.spec(handle).trained());
  for (std::size_t v = 0; v < vectors.size(); ++v)
    blocks.all_to_all(backend, ranks, static_cast<const S*>(vectors[v]), v, format);
  std::vector<S*> nodes;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t v = 0; v < vectors.size(); ++v) nodes.push_back(blocks.received(r, v));
  average_nodes(backend, blocks.own_block().size, nodes, per_node);

  std::vector<std::vector<detail::AdasumPair>> levels;
  detail::list_adasum_pairs(levels, 0, 0, nodes.size());
  for (std::size_t depth = levels.size(); depth-- > 0;) {
    const std::vector<detail::AdasumPair>& pairs = levels[depth];
    // Calls f(piece, pair, x, y) for each pair on this rank's pieces.
    const auto for_each = [&](const auto& f) {
      for (std::size_t i = blocks.first_piece(); i < blocks.end_piece(); ++i)
        for (std::size_t p = 0; p < pairs.size(); ++p) {
          const std::size_t offset = blocks.pieces()[i].begin - blocks.own_block().begin;
          f(blocks.pieces()[i], p, nodes[pairs[p].begin] + offset,
            static_cast<const S*>(nodes[pairs[p].middle] + offset));
        }
    };
    std::vector<detail::AdasumProducts> mine;
    for_each([&](const auto& piece, std::size_t, const S* x, const S* y) {
      if (trained[piece.tensor])
        mine.push_back({backend.dot(piece.size, x, y), backend.dot(piece.size, x, x), backend.dot(piece.size, y, y)});
      else
        mine.push_back({});
    });
    std::vector<std::size_t> counts;
    for (const std::size_t count : blocks.piece_counts()) counts.push_back(count * pairs.size());
    const std::vector<detail::AdasumProducts> products =
        detail::add_adasum_products(ranks.all_gather(mine, counts), pairs.size(), trained.size(), blocks.pieces());
    for_each([&](const auto& piece, std::size_t p, S* x, const S* y) {
      const detail::AdasumProducts& of = products[piece.tensor * pairs.size() + p];
      const double a = trained[piece.tensor] ? detail::adasum_coefficient(of.xy, of.xx) : 0.5;
      const double b = trained[piece.tensor] ? detail::adasum_coefficient(of.xy, of.yy) : 0.5;
      backend.map(LinearCombination<S>{static_cast<S>(a), static_cast<S>(b)}, piece.size, x, y);
    });
  }
  blocks.all_gather(backend, ranks, vectors[0], format);
}

}  // namespace algoperf
