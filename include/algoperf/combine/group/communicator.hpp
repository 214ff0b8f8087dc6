// Communicator: one rank's connection to the other ranks of its group. A group of several ranks (Threads, Mpi) makes
// one; your own transport can be another.
#pragma once

#include <cstddef>
#include <span>

#include "../../core/config.hpp"

namespace algoperf {

// `size` bytes of a buffer from `begin` on.
struct ByteRange {
  std::size_t begin = 0, size = 0;
};

// Ranks are numbered from 0. All ranks must make the same calls in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  // Sends the range to[r] of `out` to rank r, and receives the range from[r] of `in` from rank r, for every rank r,
  // this one included. A rank sends as many bytes as the other one receives. The buffers are in host memory and do not
  // overlap. If another rank has ended, Threads throws Error; Mpi may wait until mpirun ends this rank, too.
  virtual void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) = 0;
};

}  // namespace algoperf
