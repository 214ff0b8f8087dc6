// ArrayBlocks: an arena of parameters, cut into one block per rank, for combining a vector of every rank (a gradient,
// or an update of the parameters). all_to_all() gives each rank its block of all vectors. The rank combines them, and
// all_gather() sends the combined blocks to all ranks. Each of the two moves (R - 1) / R of a vector in and out of
// every rank, like the halves of a ring all-reduce, for any number R of ranks. A block is combined on one rank, in the
// order of ranks, so that all ranks get the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../backend/work.hpp"
#include "../../core/layout.hpp"
#include "array_exchange.hpp"
#include "ranks.hpp"
#include "vector_format.hpp"

namespace algoperf {

// Arrays are in the memory of `Backend`.
template <class Backend>
class ArrayBlocks {
  using S = typename Backend::Scalar;

 public:
  // A part of a tensor, over which a backend's dot() adds first: at most a chunk, and on a device, where each dot()
  // makes the host wait, at most 16 chunks.
  struct Piece {
    std::size_t begin = 0, size = 0;  // in the arena
    std::size_t tensor = 0;           // its place in layout.tensors()
  };

  ArrayBlocks() = default;
  // Room for `vectors` vectors of this rank.
  ArrayBlocks(const Backend& backend, const Ranks& ranks, const Layout& layout, std::size_t vectors)
      : vectors_(vectors) {
    if (ranks.alone()) return;
    constexpr std::size_t longest = Backend::on_host ? detail::chunk : 16 * detail::chunk;
    std::size_t tensor = 0;
    for (const TensorHandle handle : layout.tensors()) {
      const TensorPlace place = layout.place_of(handle);
      for (std::size_t begin = 0; begin < place.size; begin += longest) {
        const std::size_t left = place.size - begin;
        pieces_.push_back({place.offset + begin, left < longest ? left : longest, tensor});
      }
      ++tensor;
    }
    cut(ranks, layout.size());
    received_ = backend.template array<S>(vectors_ * ranks.size() * own_block().size);
  }

  // Returns this rank's block in the arena.
  const ByteRange& own_block() const { return blocks_[rank_]; }
  // Returns the pieces of this rank's block, and the number of pieces of each rank's.
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::size_t first_piece() const { return first_piece_[rank_]; }
  std::size_t end_piece() const { return first_piece_[rank_ + 1]; }
  const std::vector<std::size_t>& piece_counts() const { return piece_counts_; }

  // Returns this rank's block of vector v of rank r, after all_to_all().
  S* received(std::size_t r, std::size_t v = 0) { return received_.data() + (r * vectors_ + v) * own_block().size; }

  // Collects this rank's block of vector number v of every rank. `vector` is this rank's. Elements are rounded to the
  // format, which must be full unless the backend is Host.
  void all_to_all(const Backend& backend, const Ranks& ranks, const S* vector, std::size_t v = 0,
                  VectorFormat format = VectorFormat::full) {
    if constexpr (Backend::on_host)
      if (format != VectorFormat::full) return all_to_all_packed(ranks, vector, v, format);
    const std::size_t mine = own_block().size;
    std::vector<ByteRange> from;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      from.push_back({(r * vectors_ + v) * mine * sizeof(S), mine * sizeof(S)});
    exchange_(backend, ranks, vector, in_bytes_, received_.data(), from);
  }
  // Sends the combined block, received(0), to all ranks, and receives the combined vector from them. Elements are
  // rounded to the format.
  void all_gather(const Backend& backend, const Ranks& ranks, S* vector, VectorFormat format = VectorFormat::full) {
    if constexpr (Backend::on_host)
      if (format != VectorFormat::full) return all_gather_packed(ranks, vector, format);
    const std::vector<ByteRange> to(ranks.size(), ByteRange{0, own_block().size * sizeof(S)});
    exchange_(backend, ranks, static_cast<const S*>(received_.data()), to, vector, in_bytes_);
  }

 private:
  void all_to_all_packed(const Ranks& ranks, const S* vector, std::size_t v, VectorFormat format) {
    const std::size_t mine = own_block().size;
    std::vector<ByteRange> from;
    for (std::size_t r = 0; r < ranks.size(); ++r) from.push_back({r * mine * 2, mine * 2});
    resize_packed(ranks);
    detail::pack(format, packed_.size(), vector, packed_.data());
    ranks.exchange(packed_.data(), packed_bytes(), packed_blocks_.data(), from);
    for (std::size_t r = 0; r < ranks.size(); ++r)
      detail::unpack(format, mine, packed_blocks_.data() + r * mine, received(r, v));
  }
  void all_gather_packed(const Ranks& ranks, S* vector, VectorFormat format) {
    const std::size_t mine = own_block().size;
    const std::vector<ByteRange> to(ranks.size(), ByteRange{0, mine * 2});
    resize_packed(ranks);
    detail::pack(format, mine, static_cast<const S*>(received(0)), packed_blocks_.data());
    ranks.exchange(packed_blocks_.data(), to, packed_.data(), packed_bytes());
    detail::unpack(format, packed_.size(), packed_.data(), vector);
  }
  // Returns the bytes of each rank's block in packed_.
  std::vector<ByteRange> packed_bytes() const {
    std::vector<ByteRange> bytes;
    for (const ByteRange& block : blocks_) bytes.push_back({2 * block.begin, 2 * block.size});
    return bytes;
  }
  void resize_packed(const Ranks& ranks) {
    packed_.resize(blocks_.back().begin + blocks_.back().size);
    packed_blocks_.resize(ranks.size() * own_block().size);
  }

  // Gives each rank a run of whole pieces of about the same size.
  void cut(const Ranks& ranks, std::size_t size) {
    rank_ = ranks.rank();
    first_piece_.push_back(0);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::size_t first = first_piece_.back(), goal = size * (r + 1) / ranks.size();
      std::size_t end = first;
      while (end < pieces_.size() && (r + 1 == ranks.size() || pieces_[end].begin + pieces_[end].size / 2 < goal))
        ++end;
      const std::size_t begin_of = first < pieces_.size() ? pieces_[first].begin : size;
      const std::size_t end_of = end < pieces_.size() ? pieces_[end].begin : size;
      blocks_.push_back({begin_of, end_of - begin_of});
      in_bytes_.push_back({begin_of * sizeof(S), (end_of - begin_of) * sizeof(S)});
      first_piece_.push_back(end);
      piece_counts_.push_back(end - first);
    }
  }

  std::size_t vectors_ = 0, rank_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> first_piece_, piece_counts_;
  std::vector<ByteRange> blocks_, in_bytes_;  // of each rank in the arena, in elements and in bytes
  typename Backend::template Array<S> received_;
  ArrayExchange<Backend, S> exchange_;
  std::vector<std::uint16_t> packed_, packed_blocks_;  // of 16-bit formats: an arena, and a block of each rank
};

}  // namespace algoperf
