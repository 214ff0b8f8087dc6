// FieldBatch: the fields of the current examples that a model reads, in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../data/fields.hpp"
#include "../nn/graph/model_graph.hpp"
#include "../nn/graph/ragged_rows.hpp"
#include "check_fields.hpp"
#include "field_array.hpp"

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
  std::size_t find(std::string_view name) const;
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
  static constexpr std::size_t least_for_threads = 1 << 14;  // elements: fewer are copied by one thread

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
      return batch.target<T>(
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
  char* place_to_write(std::string_view name, bool tokens);
  char* scratch(std::size_t place, std::size_t bytes);
  bool is_left_out(std::size_t i) const { return leaves_out_labels_ && of_loss_[i]; }

  // Returns where a data set writes its field number `place`. Fields that the model does not read, or that are left
  // out, are written to scratch memory of size() elements.
  template <class T, class Size>
  T* target(std::string_view name, std::size_t place, const Size& size) {
    if (char* const to = place_to_write(name, std::is_same_v<T, std::int32_t>)) return reinterpret_cast<T*>(to);
    return reinterpret_cast<T*>(scratch(place, size() * sizeof(T)));
  }
  // Gathers the inputs and labels of a Dataset.
  template <class Data>
  void gather_pair(const Data& data, const std::uint32_t* indices, std::size_t n, bool on_all_threads) {
    const std::size_t input = find("input"), label = find("label");
    const auto gather_with = [&](auto* labels) {
      const auto size = [&] { return n * data.shape().size(); };
      if constexpr (std::is_integral_v<typename Data::Input>)
        if (input < fields_.size() && fields_[input].holds_tokens())
          return gather_examples(data, indices, n, target<std::int32_t>("input", 0, size), labels, on_all_threads);
      gather_examples(data, indices, n, target<Scalar>("input", 0, size), labels, on_all_threads);
    };
    const auto labels = [&] { return n * detail::label_width(data); };
    if constexpr (detail::Unlabelled<Data>) {
      if (label < fields_.size() && !fields_[label].holds_tokens())
        return gather_with(target<Scalar>("label", 1, [&] { return n * width(label); }));
    }
    if constexpr (RegressionDataset<Data>)
      gather_with(target<Scalar>("label", 1, labels));
    else
      gather_with(target<std::int32_t>("label", 1, labels));
  }
  // data.gather(), on one thread or on all.
  template <class Data, class X, class Y>
  void gather_examples(const Data& data, const std::uint32_t* indices, std::size_t n, X* x, Y* y, bool on_all_threads) {
    if constexpr (Backend::on_host && detail::InPlaceDataset<Data>)
      if (const std::size_t width = data.shape().size(), parts = backend_.concurrency();
          on_all_threads && parts > 1 && n * width >= least_for_threads)
        return backend_.run_concurrently(parts, parts, [&](const auto&, std::size_t, std::size_t i) {
          const std::size_t begin = i * n / parts, end = (i + 1) * n / parts;
          data.gather(indices + begin, end - begin, x + begin * width, y + begin * detail::label_width(data));
        });
    data.gather(indices, n, x, y);
  }
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
      if (with_labels || !of_loss_[i]) check(i, nullptr, begin, n, data);
    }
    return true;
  }

  Backend backend_;
  const ModelGraph& graph_;
  std::size_t capacity_, size_ = 0, padding_ = 0, staged_ = 0, staged_padding_ = 0;
  std::vector<std::size_t> staged_sizes_;
  bool leaves_out_labels_ = false;  // of the staged examples
  std::vector<FieldArray<Backend>> fields_;
  std::vector<RaggedRows<Backend>> ragged_;  // of each axis; of use for ragged ones
  std::vector<bool> of_loss_, of_weights_;   // of each field: whether only losses read it; whether as weights of rows
  std::vector<std::vector<char>> unread_;
  std::vector<std::uint32_t> range_;
};

template <class Backend>
ALGOPERF_COLD FieldBatch<Backend>::FieldBatch(const Backend& backend, const ModelGraph& graph, std::size_t capacity)
    : backend_(backend), graph_(graph), capacity_(capacity), ragged_(graph.axes.size()) {
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field()) continue;
    fields_.emplace_back(backend, graph, info, capacity + padding_of(graph, capacity));
    of_loss_.push_back(!detail::outputs_need(graph, info));
    bool of_weights = false;
    for (const ModelGraph::Op& op : graph.ops)
      of_weights = of_weights || (op.loss && op.inputs.count > 2 && graph.input(op, 2) == info.value.index);
    of_weights_.push_back(of_weights);
  }
}

template <class Backend>
FieldBatch<Backend>::~FieldBatch() = default;

template <class Backend>
std::size_t FieldBatch<Backend>::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < fields_.size() && name != fields_[i].name()) ++i;
  return i;
}

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
    gather_pair(data, indices, n, options.on_all_threads);
  }
  finish_staging(indices, n);
}

template <class Backend>
void FieldBatch<Backend>::start_staging(std::size_t n, const GatherOptions& options) {
  leaves_out_labels_ = !options.with_labels;
  staged_padding_ = options.pad ? padding_of(graph_, n) : 0;
  for (std::size_t i = 0; staged_padding_ > 0 && i < ragged_.size(); ++i)
    if (graph_.axes[i].ragged) ragged_[i].pad(staged_padding_);
  const std::size_t most = capacity_ + padding_of(graph_, capacity_);
  for (std::size_t i = 0; i < fields_.size(); ++i)
    fields_[i].start_staging(backend_, is_ragged(i) ? staged_entries(i, n + staged_padding_) : most);
}

template <class Backend>
void FieldBatch<Backend>::finish_staging(const std::uint32_t* indices, std::size_t n) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (is_left_out(i)) continue;
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
  detail::check_field(place, static_cast<const Scalar*>(data), static_cast<const std::int32_t*>(data), of_weights_[i]);
  if (info.indexes_axis != no_index)
    detail::check_row_indices(place, static_cast<const std::int32_t*>(data), staged_rows(info.indexes_axis),
                              graph_.axes[info.indexes_axis].name);
}

// Returns where a data set writes a field, or null if the model does not read it, or if it is left out.
template <class Backend>
char* FieldBatch<Backend>::place_to_write(std::string_view name, bool tokens) {
  const std::size_t i = find(name);
  if (i == fields_.size() || fields_[i].holds_tokens() != tokens || is_left_out(i)) return nullptr;
  fields_[i].set_written();
  return fields_[i].template host_data<char>();
}

template <class Backend>
char* FieldBatch<Backend>::scratch(std::size_t place, std::size_t bytes) {
  if (unread_.size() <= place) unread_.resize(place + 1);
  if (unread_[place].size() < bytes) unread_[place].resize(bytes);
  return unread_[place].data();
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
