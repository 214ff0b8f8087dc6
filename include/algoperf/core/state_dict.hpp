// StateDict: a state as named arrays in memory, as torch's state_dict: read by other programs, filled from theirs.
//
//   StateDict dict = state_dict(state);                    "t", "0.weight/exp_avg", "0.weight/exp_avg_sq", ...
//   dict.set("0.weight/exp_avg", std::span(theirs));       the type is kept: no array is cast
//   load_state_dict(state, dict);                          all of it or nothing; throws Error, naming the array
//   state_dict(state, layout)                              the same, the arrays of a tensor in its shape
//
// Names are the tensor's and the slot's (torch's names where torch has the rule). Works for anything with
// visit(archive). formats/ puts a StateDict into files that other programs read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "error.hpp"
#include "half.hpp"
#include "layout.hpp"

namespace algoperf {

class StateDict {
 public:
  struct Array {
    std::string name, type;
    std::vector<std::size_t> shape;  // rows first; empty for a number
    std::size_t size = 0;            // elements
    std::vector<unsigned char> bytes;
    friend bool operator==(const Array&, const Array&) = default;
  };

  // "float32", "bfloat16", "uint64", ...
  template <class T>
  static std::string type_name() {
    if constexpr (std::is_same_v<T, bfloat16>) {
      return "bfloat16";
    } else {
      static_assert((std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, float16>,
                    "algoperf: a StateDict holds numbers; truth values as std::uint8_t");
      const std::string bits = std::to_string(8 * sizeof(T));
      return (std::is_integral_v<T> ? std::is_signed_v<T> ? "int" : "uint" : "float") + bits;
    }
  }

  // In the order they were first set.
  const std::vector<Array>& arrays() const { return arrays_; }
  bool contains(const std::string& name) const { return find(name) != arrays_.end(); }
  // Throws Error where there is no such array.
  const Array& at(const std::string& name) const {
    const auto found = find(name);
    require(found != arrays_.end(), "state_dict: there is no '", name, "'");
    return *found;
  }

  template <class T>
  void set(const std::string& name, std::span<const T> values) {
    set(name, values, {values.size()});
  }
  // Throws Error where the shape has another number of elements.
  template <class T>
  void set(const std::string& name, std::span<const T> values, std::vector<std::size_t> shape) {
    Array array{name, type_name<T>(), std::move(shape), values.size(), std::vector<unsigned char>(values.size_bytes())};
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
    put(std::move(array));
  }
  // Of a type by its name, whose numbers have `width` bytes. Throws Error where the shape has another number of them.
  void set_bytes(const std::string& name, const std::string& type, std::size_t width, std::vector<std::size_t> shape,
                 std::vector<unsigned char> bytes) {
    require(width > 0 && bytes.size() % width == 0, "state_dict: '", name, "' has ", bytes.size(),
            " bytes, expected a multiple of ", width);
    const std::size_t size = bytes.size() / width;
    put({name, type, std::move(shape), size, std::move(bytes)});
  }
  template <class T>
  void set(const std::string& name, std::span<T> values) {
    set(name, std::span<const T>(values));
  }
  template <class T>
  void set(const std::string& name, const std::vector<T>& values) {
    set(name, std::span<const T>(values));
  }
  template <class T>
  void set(const std::string& name, const std::vector<T>& values, std::vector<std::size_t> shape) {
    set(name, std::span<const T>(values), std::move(shape));
  }
  template <class T>
  void set(const std::string& name, T value) requires std::is_arithmetic_v<T> {
    set(name, std::span<const T>(&value, 1), {});
  }
  // Throws Error where there is no such array, or the shape has another number of elements.
  void reshape(const std::string& name, std::vector<std::size_t> shape) {
    const auto place = static_cast<std::size_t>(&at(name) - arrays_.data());
    must_fill(name, arrays_[place].size, shape);
    arrays_[place].shape = std::move(shape);
  }

  // Throws Error where there is no such array, or it has another type. Truth values ("bool") come as std::uint8_t.
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const Array& found = at(name);
    const bool is_bool = std::is_same_v<T, std::uint8_t> && found.type == "bool";
    require(is_bool || found.type == type_name<T>(), "state_dict: '", name, "' is ", found.type, ", expected ",
            type_name<T>());
    std::vector<T> values(found.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), found.bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  static void must_fill(const std::string& name, std::size_t size, const std::vector<std::size_t>& shape) {
    std::size_t elements = 1;
    for (const std::size_t side : shape)  // beyond `size` it does not matter how far
      elements = side > 0 && elements > size / side ? size + 1 : elements * side;
    require(elements == size, "state_dict: '", name, "' has ", size, " elements, its shape ",
            elements > size ? "more" : std::to_string(elements));
  }
  void put(Array array) {
    must_fill(array.name, array.size, array.shape);
    const auto at = static_cast<std::size_t>(find(array.name) - arrays_.begin());
    if (at == arrays_.size()) arrays_.emplace_back();
    arrays_[at] = std::move(array);
  }
  std::vector<Array>::const_iterator find(const std::string& name) const {
    return std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& array) { return array.name == name; });
  }
  std::vector<Array> arrays_;
};

namespace detail {

inline std::vector<std::size_t> sides(const Shape& shape) {
  std::vector<std::size_t> sides(shape.rank);
  for (std::size_t i = 0; i < shape.rank; ++i) sides[i] = shape[i];
  return sides;
}

inline std::string describe(const std::vector<std::size_t>& sides) {
  std::string text = "{";
  for (std::size_t i = 0; i < sides.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(sides[i]);
  return text + "}";
}

// Whether "a/tensor" or "a/tensor/b", with or without the scopes a and b, is called so.
inline bool is_of_tensor(const std::string& name, const std::string& tensor) {
  return ('/' + name + '/').find('/' + tensor + '/') != std::string::npos;
}

struct StateDictWriter {
  static constexpr bool reading = false;
  StateDict& dict;
  std::string prefix = {};

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
    dict.reshape(prefix + name, {});
  }
  template <class T>
  void array(const char* name, const T* data, std::size_t n) {
    require(!dict.contains(prefix + name), "state_dict: two arrays of this state are called '", prefix, name, "'");
    dict.set(prefix + name, std::span<const T>(data, n));
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, const T* data, std::size_t n) {
    std::vector<T> host(n);
    backend.read(n, data, host.data());
    array(name, host.data(), n);
  }
};

struct StateDictReader {
  static constexpr bool reading = true;
  const StateDict& dict;
  std::string prefix = {};

  template <class T>
  std::vector<T> found(const char* name, std::size_t n) {
    std::vector<T> values = dict.get<T>(prefix + name);
    require(values.size() == n, "state_dict: '", prefix, name, "' has ", values.size(), " elements, expected ", n);
    return values;
  }
  template <class T>
  void number(const char* name, T& value) {
    const std::vector<T> values = found<T>(name, 1);
    value = values.front();
  }
  template <class T>
  void array(const char* name, T* data, std::size_t n) {
    const std::vector<T> values = found<T>(name, n);
    if (n > 0) std::memcpy(data, values.data(), n * sizeof(T));
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, T* data, std::size_t n) {
    const std::vector<T> values = found<T>(name, n);
    backend.write(n, values.data(), data);
  }
};

}  // namespace detail

template <class State>
StateDict state_dict(State& state) {
  StateDict dict;
  detail::StateDictWriter writer{dict};
  state.visit(writer);
  return dict;
}

// With the shapes of the layout's tensors: of arrays called as one, or within one's scope ("0.weight/exp_avg"), and of
// its size. Other arrays keep one axis.
template <class State>
StateDict state_dict(State& state, const Layout& layout) {
  StateDict dict = state_dict(state);
  for (const TensorHandle handle : layout.tensors()) {
    const TensorSpec& tensor = layout.spec(handle);
    for (const StateDict::Array& array : dict.arrays())
      if (array.size == tensor.shape.size() && detail::is_of_tensor(array.name, tensor.name))
        dict.reshape(array.name, detail::sides(tensor.shape));
  }
  return dict;
}

// Throws Error, and leaves the state as it was, where an array is missing, left over, or of another type or size.
template <class State>
void load_state_dict(State& state, const StateDict& dict) {
  State copy = state;
  detail::StateDictReader reader{dict};
  copy.visit(reader);
  const StateDict known = state_dict(copy);
  for (const StateDict::Array& array : dict.arrays())
    require(known.contains(array.name), "state_dict: '", array.name, "' belongs to no tensor or slot of this state");
  state = std::move(copy);
}

// The same, and an array of a tensor in another shape is refused too: one that is transposed, say.
template <class State>
void load_state_dict(State& state, const StateDict& dict, const Layout& layout) {
  const StateDict known = state_dict(state, layout);
  for (const StateDict::Array& array : dict.arrays())
    require(!known.contains(array.name) || known.at(array.name).shape == array.shape, "state_dict: '", array.name,
            "' is of shape ", detail::describe(array.shape), ", expected ",
            detail::describe(known.contains(array.name) ? known.at(array.name).shape : array.shape));
  load_state_dict(state, dict);
}

}  // namespace algoperf
