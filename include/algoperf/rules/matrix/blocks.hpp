// Blocks: the matrices of a region, split into blocks, and the square factors for the two sides of each block. Used by
// the rules that keep one matrix per side (rules/matrix/precondition.hpp, rules/matrix/eigenbasis_adam.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/layout.hpp"
#include "../../core/math.hpp"
#include "../../state/archive.hpp"
#include "batches.hpp"

namespace algoperf {

// The sides of a matrix that have a factor: `left` acts on its rows (G G^T), `right` on its columns (G^T G).
enum class Sides { both, left, right };

namespace detail {

// A square matrix of side x side: elements [begin, begin + side^2) of the arrays of factors. `order` is the number of
// factors of its block.
struct Factor {
  std::size_t side = 0, begin = 0;
  int order = 1;
};

inline constexpr std::size_t no_factor = ~std::size_t{0};

// A block of rows x cols elements: in the region, it begins at `offset` with rows `stride` elements apart; in packed
// arrays, it begins at `begin`.
struct MatrixBlock {
  std::size_t tensor = 0;  // index in the region
  std::size_t offset = 0, stride = 0, rows = 0, cols = 0, begin = 0;
  std::size_t left = no_factor, right = no_factor;  // indices in Blocks::factors

  std::size_t size() const { return rows * cols; }
};

struct BlockOptions {
  const char* stage;        // the stage's name in error messages
  const char* instead;      // the rule that error messages recommend
  std::size_t block = 0;    // the largest extent of a block; 0: matrices are not split
  std::size_t largest = 0;  // a longer side has no factor; 0: no limit
  Sides sides = Sides::both;
};

class Blocks {
 public:
  std::vector<MatrixBlock> blocks;                  // in the order of the tensors, row-major within each
  std::vector<Factor> factors;                      // sorted by side
  std::size_t elements = 0, squares = 0;            // elements of all blocks, and of all factors
  std::size_t largest_block = 0, largest_side = 0;  // elements of the largest block; side of the largest factor

  Blocks() = default;
  Blocks(const Layout& layout, const Region& region, const BlockOptions& options) {
    for (const TensorHandle handle : layout.tensors())
      if (layout.place_of(handle).offset < region.begin && layout.spec(handle).shape.rank >= 2)
        first_turn_ += 2 * count(layout.spec(handle).shape, options);
    for (std::size_t i = 0; i < region.tensors.size(); ++i)
      cut(i, layout.spec(region.tensors[i]), layout.place_of(region.tensors[i]).offset - region.begin, options);
    sort_factors();
  }

  // Returns the blocks, grouped by shape.
  Batches batches() const {
    std::vector<Batches::Extents> extents;
    for (const MatrixBlock& block : blocks) extents.push_back({block.rows, block.cols});
    return Batches(extents);
  }
  // Returns the factors, grouped by side.
  Batches factor_batches() const {
    std::vector<Batches::Extents> extents;
    for (const Factor& factor : factors) extents.push_back({factor.side, factor.side});
    return Batches(extents);
  }

  // Calls f(block) for each block of the region's tensor i, within a scope block_0, block_1, ... if there are several.
  template <class Archive, class F>
  void visit(Archive& archive, std::size_t i, const F& f) const {
    std::size_t first = 0;
    while (blocks[first].tensor != i) ++first;
    for (std::size_t b = first; b < blocks.size() && blocks[b].tensor == i; ++b) {
      const bool alone = b == first && (b + 1 == blocks.size() || blocks[b + 1].tensor != i);
      if (alone) return f(blocks[b]);
      const ArchiveScope scope(archive, "block_" + std::to_string(b - first));
      f(blocks[b]);
    }
  }

  // Whether a factor is due at step t. Each factor is due once every `period` steps. The turns are staggered over the
  // factors of this region and of the regions before it, to spread their work evenly over the steps.
  bool is_turn(std::size_t factor, std::uint64_t t, std::uint64_t period) const {
    return (t + first_turn_ + factor) % period == 0;
  }

 private:
  static std::size_t pieces(std::size_t extent, std::size_t block) {
    return block == 0 ? 1 : (extent + block - 1) / block;
  }
  static std::size_t count(const Shape& shape, const BlockOptions& options) {
    return pieces(shape.rows(), options.block) * pieces(shape.cols(), options.block);
  }

  void cut(std::size_t tensor, const TensorSpec& spec, std::size_t offset, const BlockOptions& options) {
    const Shape& shape = spec.shape;
    require(shape.rank >= 2, options.stage, ": the tensor '", spec.name, "' is not a matrix; use partition(matrices, ",
            options.instead, ", otherwise, adamw())");
    const std::size_t rows = shape.rows(), cols = shape.cols();
    // A side of extent 1 has no factor, except the left side of a 1 x 1 matrix.
    const bool left = options.sides != Sides::right && (rows > 1 || cols == 1);
    const bool right = options.sides != Sides::left && cols > 1;
    const std::size_t most_rows = options.block == 0 ? rows : options.block;
    const std::size_t most_cols = options.block == 0 ? cols : options.block;
    for (std::size_t r = 0; r < rows; r += most_rows)
      for (std::size_t c = 0; c < cols; c += most_cols) {
        MatrixBlock b;
        b.tensor = tensor;
        b.offset = offset + r * cols + c;
        b.stride = cols;
        b.rows = math::min(most_rows, rows - r);
        b.cols = math::min(most_cols, cols - c);
        b.begin = elements;
        const bool has_left = left && fits(b.rows, options), has_right = right && fits(b.cols, options);
        if (has_left) b.left = add_factor(b.rows, has_left + has_right);
        if (has_right) b.right = add_factor(b.cols, has_left + has_right);
        elements += b.size();
        largest_block = math::max(largest_block, b.size());
        blocks.push_back(b);
      }
  }
  static bool fits(std::size_t extent, const BlockOptions& options) {
    return options.largest == 0 || extent <= options.largest;
  }
  std::size_t add_factor(std::size_t side, int order) {
    factors.push_back({side, 0, order});
    largest_side = math::max(largest_side, side);
    return factors.size() - 1;
  }

  // Sorts the factors by side, stably, and assigns their offsets.
  void sort_factors() {
    std::vector<std::size_t> order(factors.size()), place(factors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return factors[a].side < factors[b].side; });
    std::vector<Factor> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      Factor factor = factors[order[i]];
      factor.begin = squares;
      squares += factor.side * factor.side;
      place[order[i]] = i;
      sorted.push_back(factor);
    }
    factors = std::move(sorted);
    for (MatrixBlock& block : blocks) {
      if (block.left != no_factor) block.left = place[block.left];
      if (block.right != no_factor) block.right = place[block.right];
    }
  }

  std::size_t first_turn_ = 0;  // upper bound on the number of factors before this region
};

}  // namespace detail
}  // namespace algoperf
