// FieldBatch: the fields of the current examples that a model reads, in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/element_count.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../data/fields.hpp"
#include "../nn/graph/model_graph.hpp"
#include "check_fields.hpp"

namespace algoperf {

struct GatherOptions {
  bool with_labels = true;            // false leaves out fields that only losses read
  const RandomKey* random = nullptr;  // of the transforms of a data set; null to leave them out
};

// Memory for up to `capacity` examples, allocated once: gathering allocates nothing after the first call.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class Backend>
class FieldBatch {
 public:
  using Scalar = typename Backend::Scalar;

  // Has the fields of `graph`.
  FieldBatch(const Backend& backend, const ModelGraph& graph, std::size_t capacity);
  ~FieldBatch();
  FieldBatch(const FieldBatch&) = delete;
  FieldBatch& operator=(const FieldBatch&) = delete;

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return size_; }
  // Fields are numbered in the order of the graph. width(i) is the number of elements of one example.
  std::size_t fields() const { return fields_.size(); }
  const char* name(std::size_t i) const { return fields_[i].info.field; }
  const Value& value(std::size_t i) const { return fields_[i].info.value; }
  std::size_t width(std::size_t i) const { return fields_[i].width; }
  // Returns the place of a field, or fields() if the model reads none of this name.
  std::size_t find(std::string_view name) const;
  // Returns a field of example `begin` of the batch; later examples follow.
  const void* data(std::size_t i, std::size_t begin = 0) const {
    return static_cast<const char*>(fields_[i].current) + begin * bytes(i);
  }

  // Copies n <= capacity() examples into the batch. Throws Error if a value is out of range (check_fields.hpp).
  template <class Data>
  void gather(const Backend& backend, const Data& data, const std::uint32_t* indices, std::size_t n,
              const GatherOptions& options = {}) {
    stage(data, indices, n, options);
    send(backend);
  }
  // The first half of gather(), which does not use the backend: gathers and checks n examples in host memory.
  template <class Data>
  void stage(const Data& data, const std::uint32_t* indices, std::size_t n, const GatherOptions& options = {}) {
    start_staging();
    if constexpr (detail::RandomDataset<Data>) {
      const Target<Data> target{*this, data, n};
      if (options.random != nullptr)
        data.gather(indices, n, target, *options.random);
      else
        data.gather(indices, n, target);
    } else if constexpr (FieldDataset<Data>) {
      data.gather(indices, n, Target<Data>{*this, data, n});
    } else {
      gather_pair(data, indices, n);
    }
    finish_staging(indices, n, options.with_labels);
  }
  // Returns field i of the staged examples, with the types of the backend, or null if it was left out.
  const char* staged(std::size_t i) const { return fields_[i].staged; }
  // The second half of gather().
  void send(const Backend& backend);
  // Takes the staged examples of a batch of the same model and capacity, in exchange for memory.
  void take_staged(FieldBatch& other);
  // gather() from the backend's own memory: copy(i, to) writes field i of the n examples.
  template <class Copy>
  void gather_by(std::size_t n, const Copy& copy) {
    size_ = n;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      fields_[i].current = fields_[i].memory.data();
      copy(i, fields_[i].memory.data());
    }
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

  // Returns the number of bytes of one example in field i.
  std::size_t bytes(std::size_t i) const { return fields_[i].width * element_bytes(value(i).type); }

 private:
  using S = Stored<Backend>;
  struct Own {
    ModelGraph::ValueInfo info;
    std::size_t width = 1;
    typename Backend::template Array<char> memory = {};
    bool of_loss = false;           // whether only losses read it
    bool of_weights = false;        // whether it holds the weights of a loss
    bool written = false;           // by the last stage()
    const void* current = nullptr;  // the field of the batch's examples, in the backend's memory
    std::vector<char> host = {};    // where data sets write, unless that is `memory`
    std::vector<char> stored = {};  // `host` converted to Stored
    const char* staged = nullptr;   // the staged examples, in `memory`, `host` or `stored`
  };
  // What a FieldDataset writes to.
  template <class Data>
  struct Target {
    FieldBatch& batch;
    const Data& data;
    std::size_t n;

    // Returns where to write n rows of a field.
    template <FieldName name>
    auto* at() const {
      using List = typename Data::Fields;
      constexpr std::size_t i = List::find(name);
      static_assert(i < List::size, "algoperf: gather() writes a field that is not in the data set's list Fields");
      using T = std::conditional_t<List::holds_tokens[i], std::int32_t, Scalar>;
      return batch.target<T>(name, i, n * data.shape(name).size());
    }
  };

  void start_staging();
  void finish_staging(const std::uint32_t* indices, std::size_t n, bool with_labels);
  void check(const Own& own, const std::uint32_t* indices, std::size_t first, std::size_t n, const void* data) const;
  const char* converted(Own& own, std::size_t n);
  char* place_to_write(std::string_view name, std::size_t place, std::size_t bytes, bool tokens);
  template <class T>
  static void send(const Backend& backend, std::size_t n, const char* from, char* to) {
    detail::send(backend, n, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  }

  static constexpr std::size_t element_bytes(ElementType type) {
    return type == ElementType::activation ? sizeof(S) : host_element_bytes(type);
  }
  static constexpr std::size_t host_element_bytes(ElementType type) {
    return type == ElementType::token ? sizeof(std::int32_t) : sizeof(Scalar);
  }
  // Whether data sets write straight to the backend's memory.
  static bool in_host_memory(const Own& own) {
    return Backend::on_host && (std::is_same_v<S, Scalar> || own.info.value.type != ElementType::activation);
  }
  template <class T>
  static T* host_data(Own& own) {
    return reinterpret_cast<T*>(in_host_memory(own) ? own.memory.data() : own.host.data());
  }
  // Returns where a data set writes `size` elements of its field number `place`. Fields that the model does not read
  // are written to scratch memory.
  template <class T>
  T* target(std::string_view name, std::size_t place, std::size_t size) {
    return reinterpret_cast<T*>(place_to_write(name, place, size * sizeof(T), std::is_same_v<T, std::int32_t>));
  }
  // Gathers the inputs and labels of a Dataset.
  template <class Data>
  void gather_pair(const Data& data, const std::uint32_t* indices, std::size_t n) {
    const std::size_t input = find("input"), label = find("label");
    const auto gather_with = [&](auto* labels) {
      const std::size_t size = n * data.shape().size();
      if constexpr (std::is_integral_v<typename Data::Input>)
        if (input < fields_.size() && value(input).type == ElementType::token)
          return data.gather(indices, n, target<std::int32_t>("input", 0, size), labels);
      data.gather(indices, n, target<Scalar>("input", 0, size), labels);
    };
    const std::size_t labels = n * detail::label_width(data);
    if constexpr (detail::Unlabelled<Data>) {
      if (label < fields_.size() && value(label).type != ElementType::token)
        return gather_with(target<Scalar>("label", 1, n * width(label)));
    }
    if constexpr (RegressionDataset<Data>)
      gather_with(target<Scalar>("label", 1, labels));
    else
      gather_with(target<std::int32_t>("label", 1, labels));
  }
  // Lets the batch point to examples in host memory. Returns false if their types are not the batch's.
  template <class Input, class Label>
  bool point_into(const ExamplesInPlace<Input, Label>& examples, std::size_t begin, std::size_t n, bool with_labels) {
    const auto has_type = [](const Own& own, auto element) {
      using T = decltype(element);
      const ElementType type = own.info.value.type;
      return type == ElementType::token ? std::is_same_v<T, std::int32_t>
                                        : std::is_same_v<T, Scalar> && in_host_memory(own);
    };
    for (const Own& own : fields_)
      if (!(own.info.field == std::string_view("input") ? has_type(own, Input{}) : has_type(own, Label{})))
        return false;
    size_ = n;
    for (Own& own : fields_) {
      const bool input = own.info.field == std::string_view("input");
      own.current = input ? static_cast<const void*>(examples.inputs) : static_cast<const void*>(examples.labels);
      if (with_labels || !own.of_loss) check(own, nullptr, begin, n, own.current);
    }
    return true;
  }

  std::size_t capacity_, size_ = 0, staged_ = 0;
  std::vector<Own> fields_;
  std::vector<std::vector<char>> unread_;
  std::vector<std::uint32_t> range_;
};

template <class Backend>
ALGOPERF_COLD FieldBatch<Backend>::FieldBatch(const Backend& backend, const ModelGraph& graph, std::size_t capacity)
    : capacity_(capacity) {
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field()) continue;
    Own own{info, graph.axes[info.value.axis].rows * info.value.shape.size()};
    own.of_loss = !detail::outputs_need(graph, info);
    for (const ModelGraph::Op& op : graph.ops)
      own.of_weights = own.of_weights || (op.loss && op.inputs.count > 2 && graph.input(op, 2) == info.value.index);
    own.memory = backend.template array<char>(element_count(element_bytes(info.value.type), own.width, capacity));
    own.current = own.memory.data();
    fields_.push_back(std::move(own));
  }
}

template <class Backend>
FieldBatch<Backend>::~FieldBatch() = default;

template <class Backend>
std::size_t FieldBatch<Backend>::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < fields_.size() && name != fields_[i].info.field) ++i;
  return i;
}

template <class Backend>
void FieldBatch<Backend>::start_staging() {
  for (Own& own : fields_) {
    own.written = false;
    own.staged = nullptr;
    if (!in_host_memory(own)) own.host.resize(own.width * capacity_ * host_element_bytes(own.info.value.type));
  }
}

template <class Backend>
void FieldBatch<Backend>::finish_staging(const std::uint32_t* indices, std::size_t n, bool with_labels) {
  for (Own& own : fields_) {
    if (own.of_loss && !with_labels) continue;
    require(own.written, "data: gather() wrote no field '", own.info.field, "' of the type that the model reads");
    check(own, indices, 0, n, host_data<char>(own));
    own.staged = converted(own, n);
  }
  staged_ = n;
}

template <class Backend>
void FieldBatch<Backend>::check(const Own& own, const std::uint32_t* indices, std::size_t first, std::size_t n,
                                const void* data) const {
  detail::check_field(own.info, own.width, indices, first, n, static_cast<const Scalar*>(data),
                      static_cast<const std::int32_t*>(data), own.of_weights);
}

// Returns the written elements of a field with the types of the backend.
template <class Backend>
const char* FieldBatch<Backend>::converted(Own& own, std::size_t n) {
  if constexpr (!std::is_same_v<S, Scalar>)
    if (own.info.value.type == ElementType::activation) {
      own.stored.resize(own.width * capacity_ * sizeof(S));
      S* const to = reinterpret_cast<S*>(own.stored.data());
      const Scalar* const from = host_data<Scalar>(own);
      for (std::size_t i = 0; i < n * own.width; ++i) to[i] = static_cast<S>(from[i]);
      return own.stored.data();
    }
  return host_data<char>(own);
}

// Returns where a data set writes `bytes` of its field number `place`. Fields that the model does not read are written
// to scratch memory.
template <class Backend>
char* FieldBatch<Backend>::place_to_write(std::string_view name, std::size_t place, std::size_t bytes, bool tokens) {
  const std::size_t i = find(name);
  if (i < fields_.size() && (value(i).type == ElementType::token) == tokens) {
    fields_[i].written = true;
    return host_data<char>(fields_[i]);
  }
  if (unread_.size() <= place) unread_.resize(place + 1);
  if (unread_[place].size() < bytes) unread_[place].resize(bytes);
  return unread_[place].data();
}

template <class Backend>
void FieldBatch<Backend>::send(const Backend& backend) {
  size_ = staged_;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    Own& own = fields_[i];
    char* const to = own.memory.data();
    own.current = to;
    if (own.staged == nullptr || own.staged == to) continue;
    const ElementType type = value(i).type;
    if (type == ElementType::activation)
      send<S>(backend, size_ * width(i), own.staged, to);
    else if (type == ElementType::parameter)
      send<Scalar>(backend, size_ * width(i), own.staged, to);
    else
      send<std::int32_t>(backend, size_ * width(i), own.staged, to);
  }
}

template <class Backend>
void FieldBatch<Backend>::take_staged(FieldBatch& other) {
  staged_ = other.staged_;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    Own &own = fields_[i], &from = other.fields_[i];
    if (in_host_memory(own)) std::swap(own.memory, from.memory);
    std::swap(own.host, from.host);
    std::swap(own.stored, from.stored);
    own.staged = from.staged;
  }
}

}  // namespace algoperf
