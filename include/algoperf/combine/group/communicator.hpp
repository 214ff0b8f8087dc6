// Communicator: one rank's connection to the other ranks of its group. A group of several ranks (Threads, Mpi, Nccl)
// makes one; your own transport can be another.
#pragma once

#include <cstddef>
#include <span>

#include "../../core/config.hpp"
#include "../../core/error.hpp"

namespace algoperf {

// `size` bytes of a buffer from `begin` on.
struct ByteRange {
  std::size_t begin = 0, size = 0;
  bool operator==(const ByteRange&) const = default;
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

  // Whether exchange_on_device() works. If not, arrays in a device's memory are exchanged through host memory.
  virtual bool reaches_device() const { return false; }
  // exchange() of buffers in the memory of each rank's device. It takes place after the work that the device was given
  // before, and before work that it is given later; the call need not wait for it. If it is still to be launched, the
  // next exchange() launches it first, because other ranks may wait for it.
  virtual void exchange_on_device(const void*, std::span<const ByteRange>, void*, std::span<const ByteRange>) {
    fail("Communicator: this group of ranks does not reach the memory of devices");
  }
};

}  // namespace algoperf
