// ResidentData: the fields of a data set that a model reads, copied to the backend's memory, from which batches are
// gathered without the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/config.hpp"
#include "../core/error.hpp"
#include "field_batch.hpp"

namespace algoperf {
namespace detail {

// The functor that copies example indices[i] of a field to row i of a batch.
template <class T>
struct GatherExample {
  std::size_t width;
  const std::uint32_t* indices;
  const T* from;
  T* to;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    team.copy(width, from + indices[i] * width, to + i * width);
  }
};

}  // namespace detail

template <class Backend>
class ResidentData {
 public:
  // Copies `data` part by part through `batch`, which checks it. Throws Error if the data does not fit in the memory.
  template <class Data>
  ALGOPERF_COLD ResidentData(const Backend& backend, const Data& data, FieldBatch<Backend>& batch) {
    for (std::size_t i = 0; i < batch.fields(); ++i)
      fields_.push_back(backend.template array<char>(element_count(data.size(), batch.bytes(i))));
    const std::size_t size = data.size(), most = batch.capacity();
    std::vector<std::uint32_t> indices(most);
    for (std::size_t begin = 0; begin < size; begin += most) {
      const std::size_t n = size - begin < most ? size - begin : most;
      for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint32_t>(begin + i);
      batch.stage(data, indices.data(), n);
      for (std::size_t i = 0; i < batch.fields(); ++i)
        backend.write(n * batch.bytes(i), batch.staged(i), fields_[i].data() + begin * batch.bytes(i));
    }
  }

  // Gathers examples indices[0 .. n) into the batch without checks. `indices` must be in the backend's memory.
  void gather(const Backend& backend, const std::uint32_t* indices, std::size_t n, FieldBatch<Backend>& batch) const {
    batch.gather_by(backend, n, [&](std::size_t i, char* to) {
      const ElementType type = batch.value(i).type;
      if (type == ElementType::activation)
        copy<Stored<Backend>>(backend, indices, n, batch.width(i), i, to);
      else if (type == ElementType::parameter)
        copy<typename Backend::Scalar>(backend, indices, n, batch.width(i), i, to);
      else
        copy<std::int32_t>(backend, indices, n, batch.width(i), i, to);
    });
  }

 private:
  template <class T>
  void copy(const Backend& backend, const std::uint32_t* indices, std::size_t n, std::size_t width, std::size_t i,
            char* to) const {
    backend.for_each_row(n, width,
                         detail::GatherExample<T>{width, indices, reinterpret_cast<const T*>(fields_[i].data()),
                                                  reinterpret_cast<T*>(to)});
  }

  std::vector<typename Backend::template Array<char>> fields_;
};

// The training data of a run, copied to an asynchronous backend's memory if it fits.
template <class Backend>
class ResidentCopy {
 public:
  // For batches of up to `capacity` examples.
  ResidentCopy(const Backend& backend, std::size_t capacity)
      : indices_(backend.template array<std::uint32_t>(capacity)) {}

  // Copies `data` through `batch`. If this would leave less than 64 MB of memory free, nothing is copied, and batches
  // are gathered on the host.
  template <class Data>
  void make(const Backend& backend, const Data& data, FieldBatch<Backend>& batch) try {
    const auto margin = backend.template array<char>(std::size_t{1} << 26);
    data_.emplace(backend, data, batch);
    source_ = &data;
  } catch (const OutOfMemory&) {
  }
  void release() { data_.reset(); }
  template <class Data>
  bool holds(const Data& data) const {
    return data_ && source_ == &data;
  }
  void gather(const Backend& backend, const std::uint32_t* indices, std::size_t n, FieldBatch<Backend>& batch) {
    detail::send(backend, n, indices, indices_.data());
    data_->gather(backend, indices_.data(), n, batch);
  }

 private:
  std::optional<ResidentData<Backend>> data_;
  const void* source_ = nullptr;
  typename Backend::template Array<std::uint32_t> indices_;
};

// The same where no copy is needed, as for backends that share the host's memory.
template <class Backend>
struct NoResidentCopy {
  NoResidentCopy(const Backend&, std::size_t) {}
  template <class Data>
  void make(const Backend&, const Data&, FieldBatch<Backend>&) {}
  void release() {}
  template <class Data>
  bool holds(const Data&) const {
    return false;
  }
};

}  // namespace algoperf
