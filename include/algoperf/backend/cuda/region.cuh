// CudaRegion: the tables in device memory that describe a region to the kernels of a pass: its tensors, split into
// chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/math.hpp"
#include "../work.hpp"
#include "array.cuh"
#include "check.cuh"
#include "device.cuh"

namespace algoperf::detail {

template <class S>
struct CudaTensor {
  TensorWork<S> work;
  std::size_t first_chunk = 0, chunks = 0;
};

// A range of elements of one tensor or of a whole region.
struct CudaChunk {
  std::size_t begin = 0;
  std::uint32_t tensor = 0, size = 0;
};

// The tables of one region. They are built when the region is first used, and rebuilt when its tensors have changed
// (a matrix stage may leave different Factors).
template <class S>
class CudaRegion {
 public:
  void follow(const CudaDevice& device, const RegionWork<S>& region, std::size_t max_sums) {
    if (same_tensors(region)) return;
    known_ = region.tensors;
    longest_ = 0;
    std::vector<CudaTensor<S>> tensors;
    std::vector<CudaChunk> chunks, whole;
    for (const TensorWork<S>& work : known_) {
      CudaTensor<S>& tensor = tensors.emplace_back();
      tensor = {work, chunks.size(), chunks_of(work.facts.size)};
      longest_ = math::max(longest_, tensor.chunks);
      cut(work.offset, work.facts.size, chunk, tensors.size() - 1, chunks);
    }
    // Passes over a whole region measure nothing, so the chunks of a small region may be shorter, to fill the device.
    cut(0, region.size, region.size < (std::size_t{1} << 24) ? chunk / 4 : chunk, 0, whole);
    write(device, tensors, tensors_);
    write(device, chunks, chunks_);
    write(device, whole, whole_);
    if (partials_.size() != chunks.size() * max_sums) partials_ = CudaArray<double>(chunks.size() * max_sums);
    if (sums_.size() != tensors.size() * max_sums) sums_ = CudaArray<double>(tensors.size() * max_sums);
  }

  std::size_t count() const { return tensors_.size(); }
  std::size_t longest() const { return longest_; }  // the maximum number of chunks of a tensor
  const CudaTensor<S>* tensors() const { return tensors_.data(); }
  const CudaArray<CudaChunk>& chunks() const { return chunks_; }  // of each tensor in order
  const CudaArray<CudaChunk>& whole() const { return whole_; }    // of the region, padding included
  double* partials() { return partials_.data(); }
  // Returns the device memory in which the device constructs the region's program.
  template <class Program>
  Program* program(const CudaDevice& device) {
    if (program_.size() < sizeof(Program)) {
      device.settle();
      program_ = CudaArray<unsigned char>(sizeof(Program));
    }
    return reinterpret_cast<Program*>(program_.data());
  }
  CudaArray<double>& sums() { return sums_; }

 private:
  bool same_tensors(const RegionWork<S>& region) const {
    if (tensors_.size() == 0 || region.tensors.size() != known_.size()) return false;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const TensorWork<S>&a = known_[i], &b = region.tensors[i];
      if (a.offset != b.offset || a.facts.size != b.facts.size || a.facts.cols != b.facts.cols ||
          a.factors.rows != b.factors.rows || a.factors.columns != b.factors.columns ||
          a.factors.most != b.factors.most)
        return false;
    }
    return true;
  }
  static void cut(std::size_t begin, std::size_t size, std::size_t most, std::size_t tensor,
                  std::vector<CudaChunk>& chunks) {
    for (std::size_t i = 0; i < size; i += most)
      chunks.push_back({begin + i, static_cast<std::uint32_t>(tensor),
                        static_cast<std::uint32_t>(size - i < most ? size - i : most)});
  }
  template <class T>
  static void write(const CudaDevice& device, const std::vector<T>& from, CudaArray<T>& to) {
    device.settle();
    if (to.size() != from.size()) to = CudaArray<T>(from.size());
    cuda_check(
        cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, device.stream()),
        "writing a table of tensors");
    device.synchronize();  // `from` is destroyed after this call
  }

  std::vector<TensorWork<S>> known_;
  std::size_t longest_ = 0;
  CudaArray<CudaTensor<S>> tensors_;
  CudaArray<CudaChunk> chunks_, whole_;
  CudaArray<double> partials_, sums_;
  CudaArray<unsigned char> program_;
};

// The tables of a chain's regions. Copies start empty.
template <class S>
struct CudaTables {
  std::vector<CudaRegion<S>> regions;
  CudaArray<double> totals;

  CudaTables() = default;
  CudaTables(const CudaTables&) {}
  CudaTables& operator=(const CudaTables&) { return *this; }
};

}  // namespace algoperf::detail
