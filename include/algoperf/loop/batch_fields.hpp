// BatchFields: the fields of a batch in the order of the model's graph, and where a data set writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "check_fields.hpp"
#include "field_array.hpp"

namespace algoperf::detail {

// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class Backend>
class BatchFields {
 public:
  BatchFields(const Backend& backend, const ModelGraph& graph, std::size_t capacity);

  std::size_t size() const { return fields_.size(); }
  FieldArray<Backend>& operator[](std::size_t i) { return fields_[i]; }
  const FieldArray<Backend>& operator[](std::size_t i) const { return fields_[i]; }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  // Returns the index of a field in this list, or size() if the model reads none of this name.
  std::size_t find(std::string_view name) const;
  // Whether only losses read a field; whether a loss reads it as the weights of rows.
  bool is_of_loss(std::size_t i) const { return of_loss_[i]; }
  bool is_of_weights(std::size_t i) const { return of_weights_[i]; }

  // Lets data sets write a batch, with or without the fields that only losses read.
  void start_staging(bool with_labels) { leaves_out_labels_ = !with_labels; }
  bool is_left_out(std::size_t i) const { return leaves_out_labels_ && of_loss_[i]; }
  // Returns where a data set writes a field, the one with index `in_data` in its own list. Fields that the model does
  // not read, or that are left out, are written to scratch memory for elements() elements.
  template <class T, class Elements>
  T* target(std::string_view name, std::size_t in_data, const Elements& elements) {
    if (char* const to = place_to_write(name, std::is_same_v<T, std::int32_t>)) return reinterpret_cast<T*>(to);
    return reinterpret_cast<T*>(scratch(in_data, elements() * sizeof(T)));
  }

 private:
  char* place_to_write(std::string_view name, bool tokens);
  char* scratch(std::size_t in_data, std::size_t bytes);

  std::vector<FieldArray<Backend>> fields_;
  std::vector<bool> of_loss_, of_weights_;
  bool leaves_out_labels_ = false;
  std::vector<std::vector<char>> unread_;  // of each field of the data set
};

template <class Backend>
ALGOPERF_COLD BatchFields<Backend>::BatchFields(const Backend& backend, const ModelGraph& graph, std::size_t capacity) {
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field()) continue;
    fields_.emplace_back(backend, graph, info, capacity);
    of_loss_.push_back(!outputs_need(graph, info));
    bool of_weights = false;
    for (const ModelGraph::Op& op : graph.ops)
      of_weights = of_weights || (op.loss && op.inputs.count > 2 && graph.input(op, 2) == info.value.index);
    of_weights_.push_back(of_weights);
  }
}

template <class Backend>
std::size_t BatchFields<Backend>::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < fields_.size() && name != fields_[i].name()) ++i;
  return i;
}

// Returns where a data set writes a field, or null if the model reads none of this name and type, or if it is left out.
template <class Backend>
char* BatchFields<Backend>::place_to_write(std::string_view name, bool tokens) {
  const std::size_t i = find(name);
  if (i == fields_.size() || fields_[i].holds_tokens() != tokens || is_left_out(i)) return nullptr;
  fields_[i].set_written();
  return fields_[i].template host_data<char>();
}

template <class Backend>
char* BatchFields<Backend>::scratch(std::size_t in_data, std::size_t bytes) {
  if (unread_.size() <= in_data) unread_.resize(in_data + 1);
  if (unread_[in_data].size() < bytes) unread_[in_data].resize(bytes);
  return unread_[in_data].data();
}

}  // namespace algoperf::detail
