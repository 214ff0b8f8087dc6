// ArrayExchange: the exchange of arrays in the memory of a backend between ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../../backend/concept.hpp"
#include "ranks.hpp"

namespace algoperf {

// Communicator::exchange() of arrays of T in the memory of `Backend`. If that is a device's, and the communicator does
// not reach it, the elements are copied to host memory and back. Ranges are in bytes, and hold whole elements. Those of
// `in` are in ascending order.
template <class Backend, class T>
class ArrayExchange {
 public:
  void operator()(const Backend& backend, const Ranks& ranks, const T* out, std::span<const ByteRange> to, T* in,
                  std::span<const ByteRange> from) {
    if constexpr (Backend::on_host)
      ranks.exchange(out, to, in, from);
    else if (AsynchronousBackend<Backend> && ranks.reach_device())
      ranks.exchange_on_device(out, to, in, from);
    else
      through_host(backend, ranks, out, to, in, from);
  }

 private:
  void through_host(const Backend& backend, const Ranks& ranks, const T* out, std::span<const ByteRange> to, T* in,
                    std::span<const ByteRange> from) {
    out_.resize(end_of(to));
    in_.resize(end_of(from));
    backend.read(out_.size(), out, out_.data());
    ranks.exchange(out_.data(), to, in_.data(), from);
    for (std::size_t r = 0; r < from.size();) {  // one copy for adjacent ranges
      const std::size_t begin = from[r].begin / sizeof(T);
      std::size_t end = begin;
      for (; r < from.size() && from[r].begin / sizeof(T) == end; ++r) end += from[r].size / sizeof(T);
      backend.write(end - begin, in_.data() + begin, in + begin);
    }
  }
  // Returns the number of elements up to the end of the last range.
  static std::size_t end_of(std::span<const ByteRange> ranges) {
    std::size_t end = 0;
    for (const ByteRange& range : ranges)
      if (const std::size_t e = (range.begin + range.size) / sizeof(T); e > end) end = e;
    return end;
  }

  std::vector<T> out_, in_;  // copies in host memory
};

}  // namespace algoperf
