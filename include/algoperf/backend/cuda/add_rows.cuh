// add_rows of the CUDA backend: sorts the rows by key and adds each run of equal keys in order.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "device.cuh"
#include "each.cuh"
#include "rows.cuh"

namespace algoperf::detail {

// Adds the rows of one key, which are a run of the sorted keys, to the key's row of `out` in their original order.
template <class X, class S>
struct CudaAddRun {
  std::size_t count, cols;
  const std::int32_t* keys;
  const std::int32_t* places;
  const X* x;
  S* out;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    const std::int32_t key = keys[i];
    if (i > 0 && keys[i - 1] == key) return;  // not the first of its run
    std::size_t end = i + 1;
    while (end < count && keys[end] == key) ++end;
    const std::size_t width = cols;
    const std::int32_t* const at = places;
    const X* const from = x;
    S* const to = out + static_cast<std::size_t>(key) * cols;
    team.each(cols, [=](std::size_t c) {
      S total = to[c];
      for (std::size_t j = i; j < end; ++j) total += from[static_cast<std::size_t>(at[j]) * width + c];
      to[c] = total;
    });
  }
};

struct CudaPlace {
  std::int32_t* places;
  ALGOPERF_HD void operator()(std::size_t i) const { places[i] = static_cast<std::int32_t>(i); }
};

// Sorts `count` keys with their original positions, by CUB's radix sort.
struct CudaSort {
  void* memory;
  std::size_t bytes;
  const std::int32_t* keys;
  std::int32_t* sorted;
  const std::int32_t* places;
  std::int32_t* sorted_places;
  int count;
  bool operator==(const CudaSort&) const = default;
  // If `memory` is null, only writes the required number of bytes to `needed`.
  void run(std::size_t& needed, cudaStream_t stream) const {
    cuda_check(
        cub::DeviceRadixSort::SortPairs(memory, needed, keys, sorted, places, sorted_places, count, 0, 32, stream),
        "sorting keys");
  }
  void operator()(cudaStream_t stream) const {
    std::size_t size = bytes;
    run(size, stream);
  }
};

// out[keys[i]] += x[i], row by row. A stable sort groups equal keys, and each group is added in order.
template <class X, class S>
void cuda_add_rows(CudaDevice& device, std::size_t count, std::size_t cols, const std::int32_t* keys, const X* x,
                   S* out) {
  if (count == 0) return;
  CudaSort sort{nullptr, 0, keys, nullptr, nullptr, nullptr, static_cast<int>(count)};
  sort.run(sort.bytes, device.stream());
  const std::size_t aligned = (count + 63) / 64 * 64;
  std::int32_t* const memory = device.scratch<std::int32_t>(3 * aligned + sort.bytes / sizeof(std::int32_t) + 1);
  std::int32_t* const first = memory + aligned;
  sort.sorted = memory;
  sort.places = first;
  sort.sorted_places = memory + 2 * aligned;
  sort.memory = memory + 3 * aligned;
  cuda_each(device, count, CudaPlace{first});
  cuda_call(device, sort);
  cuda_rows(device, count, cols, CudaAddRun<X, S>{count, cols, sort.sorted, sort.sorted_places, x, out});
}

}  // namespace algoperf::detail
