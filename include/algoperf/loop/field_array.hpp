// FieldArray: one field of the examples of a batch. Data sets write it to host memory, from which it is sent to the
// backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/copy_as.hpp"
#include "../core/element_count.hpp"
#include "../nn/graph/model_graph.hpp"

namespace algoperf {

// The field has entries of `width` elements: one entry per example or, on a ragged axis, per row.
template <class Backend>
class FieldArray {
 public:
  using Scalar = typename Backend::Scalar;
  using S = Stored<Backend>;

  FieldArray(const Backend& backend, const ModelGraph& graph, const ModelGraph::ValueInfo& info, std::size_t capacity)
      : info_(info), width_(info.value.shape.size()), ragged_(graph.axes[info.value.axis].ragged) {
    if (ragged_) return;  // its memory grows when it is used
    width_ = element_count(width_, graph.axes[info.value.axis].rows);
    reserve(backend, capacity);
    current_ = memory_.data();
  }

  const ModelGraph::ValueInfo& info() const { return info_; }
  const char* name() const { return info_.field; }
  ElementType type() const { return info_.value.type; }
  bool holds_tokens() const { return type() == ElementType::token; }
  std::size_t width() const { return width_; }
  // Returns the number of bytes of an entry in the backend's memory.
  std::size_t bytes() const { return width_ * (type() == ElementType::activation ? sizeof(S) : host_element_bytes()); }

  // Whether data sets write straight to the backend's memory.
  bool in_host_memory() const {
    return Backend::on_host && (std::is_same_v<S, Scalar> || type() != ElementType::activation);
  }
  // Returns the field of the batch from an entry on, in the backend's memory.
  const void* data(std::size_t entry) const { return static_cast<const char*>(current_) + entry * bytes(); }
  void point_to(const void* data) { current_ = data; }

  // Prepares memory for `entries` entries that a data set writes to host_data().
  void start_staging(const Backend& backend, std::size_t entries) {
    written_ = false;
    staged_ = nullptr;
    if (in_host_memory())
      reserve(backend, entries);
    else if (host_.size() < entries * width_ * host_element_bytes())
      host_.resize(entries * width_ * host_element_bytes());
  }
  template <class T>
  T* host_data() {
    return reinterpret_cast<T*>(in_host_memory() ? memory_.data() : host_.data());
  }
  void set_written() { written_ = true; }
  bool written() const { return written_; }
  // Sets the entries after the written ones to 0, and converts all to the types of the backend.
  void finish_staging(std::size_t written, std::size_t entries) {
    staged_ = host_data<char>();
    if (entries > written)
      std::memset(host_data<char>() + written * width_ * host_element_bytes(), 0,
                  (entries - written) * width_ * host_element_bytes());
    if constexpr (!std::is_same_v<S, Scalar>)
      if (type() == ElementType::activation) {
        if (stored_.size() < entries * bytes()) stored_.resize(entries * bytes());
        copy_as(entries * width_, host_data<const Scalar>(), reinterpret_cast<S*>(stored_.data()));
        staged_ = stored_.data();
      }
  }
  // Returns the staged entries with the types of the backend, or null if the field was left out.
  const char* staged() const { return staged_; }
  void take_staged(FieldArray& other) {
    if (in_host_memory()) std::swap(memory_, other.memory_);
    std::swap(host_, other.host_);
    std::swap(stored_, other.stored_);
    staged_ = other.staged_;
  }
  // Makes the staged entries those of the batch.
  void send(const Backend& backend, std::size_t entries) {
    char* const to = writable(backend, entries);
    if (staged_ == nullptr || staged_ == to) return;
    if (type() == ElementType::activation)
      send<S>(backend, entries, to);
    else if (type() == ElementType::parameter)
      send<Scalar>(backend, entries, to);
    else
      send<std::int32_t>(backend, entries, to);
  }
  // Returns the backend's memory for the field of the batch, which the caller writes.
  char* writable(const Backend& backend, std::size_t entries) {
    reserve(backend, entries);
    current_ = memory_.data();
    return memory_.data();
  }

 private:
  std::size_t host_element_bytes() const { return holds_tokens() ? sizeof(std::int32_t) : sizeof(Scalar); }
  // On a ragged axis, the memory grows to a quarter more than the entries need.
  void reserve(const Backend& backend, std::size_t entries) {
    if (memory_.size() / bytes() >= entries) return;
    memory_ = {};
    memory_ = backend.template array<char>(element_count(ragged_ ? entries + entries / 4 : entries, bytes()));
  }
  template <class T>
  void send(const Backend& backend, std::size_t entries, char* to) const {
    detail::send(backend, entries * width_, reinterpret_cast<const T*>(staged_), reinterpret_cast<T*>(to));
  }

  ModelGraph::ValueInfo info_;
  std::size_t width_;
  bool ragged_;
  typename Backend::template Array<char> memory_ = {};
  std::vector<char> host_ = {};    // where data sets write, unless that is `memory_`
  std::vector<char> stored_ = {};  // `host_` converted to Stored
  const char* staged_ = nullptr;   // in `memory_`, `host_` or `stored_`
  bool written_ = false;           // by the last staging
  const void* current_ = nullptr;  // the field of the batch's examples
};

}  // namespace algoperf
