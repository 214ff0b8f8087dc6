// FieldBatch: the fields of the current examples that a model reads, in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../data/fields.hpp"
#include "../nn/graph/model_graph.hpp"
#include "../nn/graph/ragged_rows.hpp"
#include "batch_fields.hpp"
#include "check_fields.hpp"
#include "gather_pair.hpp"

namespace algoperf {

struct GatherOptions {
  bool with_labels = true;            // false leaves out fields that only losses read
  const RandomKey* random = nullptr;  // of the transforms of a data set; null to leave them out
  bool pad = false;                   // appends padding examples (FieldBatch::padding_of)
  bool on_all_threads = false;        // lets all threads of a host backend copy the examples of an InPlaceDataset
};

// Memory for up to `capacity` examples, allocated once: gathering allocates nothing after the first call, unless a
// ragged axis has more rows than ever before.
// A device can replay a step as a graph only if its products have the sizes of an earlier step. A batch of a model with
// ragged axes may therefore be padded: examples of zeros follow, so that the number of rows is one of few sizes.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class Backend>
class FieldBatch {
 public:
  using Scalar = typename Backend::Scalar;

  // Has the fields of `graph`, which must outlive it.
  FieldBatch(const Backend& backend, const ModelGraph& graph, std::size_t capacity);
  ~FieldBatch();
  FieldBatch(const FieldBatch&) = delete;
  FieldBatch& operator=(const FieldBatch&) = delete;

  // Returns the number of padding examples of a batch of `examples`: an eighth on a device, if the model has a ragged
  // axis. Each then needs no more rows than the longest example, unless all examples are short.
  static std::size_t padding_of(const ModelGraph& graph, std::size_t examples) {
    return AsynchronousBackend<Backend> && graph.is_ragged() ? (examples + 7) / 8 : 0;
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t padded_capacity() const { return capacity_ + padding_of(graph_, capacity_); }
  std::size_t size() const { return size_; }
  std::size_t padded_size() const { return size_ + padding_; }
  // Fields are numbered in the order of the graph. A field has entries of width(i) elements: one entry per example or,
  // on a ragged axis, per row.
  std::size_t fields() const { return fields_.size(); }
  const char* name(std::size_t i) const { return fields_[i].name(); }
  const Value& value(std::size_t i) const { return fields_[i].info().value; }
  std::size_t width(std::size_t i) const { return fields_[i].width(); }
  std::size_t bytes(std::size_t i) const { return fields_[i].bytes(); }  // of an entry
  // Returns the first entry of an example.
  std::size_t entry(std::size_t i, std::size_t example) const {
    return is_ragged(i) ? ragged_[value(i).axis].rows().begin(example) : example;
  }
  // Returns the place of a field, or fields() if the model reads none of this name.
  std::size_t find(std::string_view name) const { return fields_.find(name); }
  // Returns a field of example `begin` of the batch; later examples follow.
  const void* data(std::size_t i, std::size_t begin = 0) const { return fields_[i].data(entry(i, begin)); }
  // Returns the rows of the batch's examples on an axis, in host memory.
  ExampleRows rows(GraphIndex axis) const {
    return graph_.axes[axis].ragged ? ragged_[axis].rows() : ExampleRows{graph_.axes[axis].rows};
  }
  // Returns the rows of n examples from `begin` on, on a ragged axis. Valid until the next call for this axis.
  AxisRows part(const Backend& backend, GraphIndex axis, std::size_t begin, std::size_t n) {
    return ragged_[axis].part(backend, begin, n);
  }

  // Copies n <= capacity() examples into the batch. Throws Error if a value is out of range (check_fields.hpp).
  template <class Data>
  void gather(const Backend& backend, const Data& data, const std::uint32_t* indices, std::size_t n,
              const GatherOptions& options = {}) {
    stage(data, indices, n, options);
    send(backend);
  }
  // The first half of gather(): gathers and checks n examples in host memory, also on another thread.
  template <class Data>
  void stage(const Data& data, const std::uint32_t* indices, std::size_t n, const GatherOptions& options = {});
  // Returns field i of the staged examples, with the types of the backend, or null if it was left out.
  const char* staged(std::size_t i) const { return fields_[i].staged(); }
  // Returns the numbers of examples and of rows of the staged batch: two batches with the same sizes have steps of the
  // same sizes.
  const std::vector<std::size_t>& staged_sizes();
  // The second half of gather().
  void send(const Backend& backend);
  // Takes the staged examples of a batch of the same model and capacity, in exchange for memory.
  void take_staged(FieldBatch& other);
  // gather() from the backend's own memory: copy(i, to) writes field i of the n examples. Requires a model without
  // ragged axes.
  template <class Copy>
  void gather_by(const Backend& backend, std::size_t n, const Copy& copy) {
    size_ = n;
    padding_ = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) copy(i, fields_[i].writable(backend, n));
  }
  // Makes examples [begin, begin + n) of the data the batch. If the data set provides in_place() with the batch's
  // types, the batch points into the data, which must stay valid until the next gather() or load_range().
  template <class Data>
  void load_range(const Backend& backend, const Data& data, std::size_t begin, std::size_t n, bool with_labels = true) {
    if constexpr (Backend::on_host && detail::InPlaceDataset<Data>)
      if (point_into(data.in_place(begin), begin, n, with_labels)) return;
    range_.resize(n);
    for (std::size_t i = 0; i < n; ++i) range_[i] = static_cast<std::uint32_t>(begin + i);
    gather(backend, data, range_.data(), n, {.with_labels = with_labels});
  }

 private:
  // What a FieldDataset writes to.
  template <class Data>
  struct Target {
    FieldBatch& batch;
    const Data& data;
    const std::uint32_t* indices;
    std::size_t n;

    // Returns where to write a field of the n examples.
    template <FieldName name>
    auto* at() const {
      using List = typename Data::Fields;
      constexpr std::size_t i = List::find(name);
      static_assert(i < List::size, "algoperf: gather() writes a field that is not in the data set's list Fields");
      using T = std::conditional_t<List::holds_tokens[i], std::int32_t, Scalar>;
      return batch.fields_.template target<T>(
          name, i, [this] { return detail::rows_of_field(data, name, indices, n) * data.shape(name).size(); });
    }
  };

  bool is_ragged(std::size_t i) const { return graph_.axes[value(i).axis].ragged; }
  // Returns the rows of the staged examples on an axis.
  ExampleRows staged_rows(GraphIndex axis) const {
    return graph_.axes[axis].ragged ? ragged_[axis].staged() : ExampleRows{graph_.axes[axis].rows};
  }
  std::size_t staged_entries(std::size_t i, std::size_t n) const {
    return is_ragged(i) ? ragged_[value(i).axis].staged().begin(n) : n;
  }
  void start_staging(std::size_t n, const GatherOptions& options);
  void finish_staging(const std::uint32_t* indices, std::size_t n);
  void check(std::size_t i, const std::uint32_t* indices, std::size_t first, std::size_t n, const void* data) const;
  // Lets the batch point to examples in host memory. Returns false if their types are not the batch's.
  template <class Input, class Label>
  bool point_into(const ExamplesInPlace<Input, Label>& examples, std::size_t begin, std::size_t n, bool with_labels) {
    const auto has_type = [](const FieldArray<Backend>& field, auto element) {
      using T = decltype(element);
      return field.holds_tokens() ? std::is_same_v<T, std::int32_t>
                                  : std::is_same_v<T, Scalar> && field.in_host_memory();
    };
    const auto is_input = [](const FieldArray<Backend>& field) { return field.name() == std::string_view("input"); };
    for (const FieldArray<Backend>& field : fields_)
      if (!(is_input(field) ? has_type(field, Input{}) : has_type(field, Label{}))) return false;
    size_ = n;
    padding_ = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const void* const data =
          is_input(fields_[i]) ? static_cast<const void*>(examples.inputs) : static_cast<const void*>(examples.labels);
      fields_[i].point_to(data);
      if (with_labels || !fields_.is_of_loss(i)) check(i, nullptr, begin, n, data);
    }
    return true;
  }

  Backend backend_;
  const ModelGraph& graph_;
  std::size_t capacity_, size_ = 0, padding_ = 0, staged_ = 0, staged_padding_ = 0;
  std::vector<std::size_t> staged_sizes_;
  detail::BatchFields<Backend> fields_;
  std::vector<RaggedRows<Backend>> ragged_;  // of each axis; of use for ragged ones
  std::vector<std::uint32_t> range_;
};

template <class Backend>
ALGOPERF_COLD FieldBatch<Backend>::FieldBatch(const Backend& backend, const ModelGraph& graph, std::size_t capacity)
    : backend_(backend),
      graph_(graph),
      capacity_(capacity),
      fields_(backend, graph, padded_capacity()),
      ragged_(graph.axes.size()) {}

template <class Backend>
FieldBatch<Backend>::~FieldBatch() = default;

template <class Backend>
template <class Data>
void FieldBatch<Backend>::stage(const Data& data, const std::uint32_t* indices, std::size_t n,
                                const GatherOptions& options) {
  for (std::size_t i = 0; i < graph_.axes.size(); ++i)
    if (const Axis& axis = graph_.axes[i]; axis.ragged) {
      const bool left_out = !options.with_labels && !detail::outputs_need_axis(graph_, static_cast<GraphIndex>(i));
      const auto count = [&](std::size_t e) -> std::size_t {
        return left_out ? 0 : detail::rows_on(data, axis.name, indices[e]);
      };
      ragged_[i].stage(axis.name, n, count);
      detail::check_rows(graph_, static_cast<GraphIndex>(i), ragged_[i].staged(), indices, n);
    }
  start_staging(n, options);
  if constexpr (detail::RandomDataset<Data>) {
    const Target<Data> target{*this, data, indices, n};
    if (options.random != nullptr)
      data.gather(indices, n, target, *options.random);
    else
      data.gather(indices, n, target);
  } else if constexpr (FieldDataset<Data>) {
    data.gather(indices, n, Target<Data>{*this, data, indices, n});
  } else {
    detail::gather_pair(backend_, fields_, data, indices, n, options.on_all_threads);
  }
  finish_staging(indices, n);
}

template <class Backend>
void FieldBatch<Backend>::start_staging(std::size_t n, const GatherOptions& options) {
  fields_.start_staging(options.with_labels);
  staged_padding_ = options.pad ? padding_of(graph_, n) : 0;
  for (std::size_t i = 0; staged_padding_ > 0 && i < ragged_.size(); ++i)
    if (graph_.axes[i].ragged) ragged_[i].pad(staged_padding_);
  const std::size_t most = padded_capacity();
  for (std::size_t i = 0; i < fields_.size(); ++i)
    fields_[i].start_staging(backend_, is_ragged(i) ? staged_entries(i, n + staged_padding_) : most);
}

template <class Backend>
void FieldBatch<Backend>::finish_staging(const std::uint32_t* indices, std::size_t n) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_.is_left_out(i)) continue;
    FieldArray<Backend>& field = fields_[i];
    require(field.written(), "data: gather() wrote no field '", field.name(), "' of the type that the model reads");
    check(i, indices, 0, n, field.template host_data<char>());
    field.finish_staging(staged_entries(i, n), staged_entries(i, n + staged_padding_));
  }
  staged_ = n;
}

// Checks the elements of n examples of a field at `data`, which are staged or, without indices, lie in the data set.
template <class Backend>
void FieldBatch<Backend>::check(std::size_t i, const std::uint32_t* indices, std::size_t first, std::size_t n,
                                const void* data) const {
  const ModelGraph::ValueInfo& info = fields_[i].info();
  const detail::FieldPlace place{info, info.value.shape.size(), staged_rows(info.value.axis), indices, first, n};
  const auto* const tokens = static_cast<const std::int32_t*>(data);
  const auto name_of = [&](GraphIndex axis) { return graph_.axes[axis].name; };
  detail::check_field(place, static_cast<const Scalar*>(data), tokens, fields_.is_of_weights(i));
  if (info.indexes_axis != no_index)
    detail::check_row_indices(place, tokens, staged_rows(info.indexes_axis), name_of(info.indexes_axis));
  if (info.aligned_axis != no_index)
    detail::check_alignment(place, tokens, staged_rows(info.aligned_axis), name_of(info.aligned_axis));
}

template <class Backend>
void FieldBatch<Backend>::send(const Backend& backend) {
  size_ = staged_;
  padding_ = staged_padding_;
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].send(backend, staged_entries(i, padded_size()));
  for (RaggedRows<Backend>& rows : ragged_) rows.use_staged();
}

template <class Backend>
const std::vector<std::size_t>& FieldBatch<Backend>::staged_sizes() {
  staged_sizes_.assign(1, staged_);
  for (std::size_t i = 0; i < ragged_.size(); ++i)
    if (graph_.axes[i].ragged) staged_sizes_.push_back(ragged_[i].staged().begin(staged_ + staged_padding_));
  return staged_sizes_;
}

template <class Backend>
void FieldBatch<Backend>::take_staged(FieldBatch& other) {
  staged_ = other.staged_;
  staged_padding_ = other.staged_padding_;
  for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].take_staged(other.fields_[i]);
  for (std::size_t i = 0; i < ragged_.size(); ++i) ragged_[i].take_staged(other.ragged_[i]);
}

}  // namespace algoperf
