// Checks that all ranks train the same model in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../combine/group/ranks.hpp"
#include "../core/layout.hpp"

namespace algoperf::detail {

// A hash of bytes that is the same on machines of the same byte order.
inline std::uint64_t hash_bytes(const void* from, std::size_t size, std::uint64_t sum = 0x9e3779b97f4a7c15u) {
  const char* bytes = static_cast<const char*>(from);
  for (; size > 0;) {
    std::uint64_t word = 0;
    const std::size_t n = size < sizeof word ? size : sizeof word;
    std::memcpy(&word, bytes, n);
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
    bytes += n;
    size -= n;
  }
  return sum;
}

// The names, kinds and shapes of all tensors, and their places.
inline std::uint64_t hash_of(const Layout& layout) {
  std::uint64_t sum = layout.size();
  for (const TensorHandle handle : layout.tensors()) {
    const TensorSpec& spec = layout.spec(handle);
    const TensorPlace place = layout.place_of(handle);
    sum = hash_bytes(spec.name.data(), spec.name.size(), sum);
    for (const std::uint64_t x : {std::uint64_t(spec.kind), std::uint64_t(place.offset), std::uint64_t(place.size)})
      sum = hash_bytes(&x, sizeof x, sum);
    for (std::size_t i = 0; i < spec.shape.rank; ++i) {
      const std::uint64_t side = spec.shape[i];
      sum = hash_bytes(&side, sizeof side, sum);
    }
  }
  return sum;
}

// Throws RankFailure, naming the first tensor that differs, unless the parameters have the same bits on all ranks.
template <class S>
void require_same_parameters(const Ranks& ranks, const Layout& layout, const S* values, std::uint64_t step) {
  std::vector<std::uint64_t> mine;
  for (const TensorHandle handle : layout.tensors()) {
    const TensorPlace place = layout.place_of(handle);
    mine.push_back(hash_bytes(values + place.offset, place.size * sizeof(S)));
  }
  const std::size_t n = mine.size();
  const std::vector<std::uint64_t> all = ranks.all_gather(mine, std::vector<std::size_t>(ranks.size(), n));
  std::size_t i = 0;
  for (const TensorHandle handle : layout.tensors()) {
    for (std::size_t r = 1; r < ranks.size(); ++r)
      if (all[r * n + i] != all[i])
        fail_as<RankFailure>("the tensor '", layout.spec(handle).name, "' differs between rank ", r, " of ",
                             ranks.size(), " and rank 0 after step ", step);
    ++i;
  }
}

}  // namespace algoperf::detail
