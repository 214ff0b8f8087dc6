// StateDict: state as named arrays in memory, like torch's state_dict; exchanged with other programs.
//
//   StateDict dict = state_dict(state);                    "t", "0.weight/exp_avg", "0.weight/exp_avg_sq", ...
//   dict.set("0.weight/exp_avg", std::span(theirs));       the array gets the span's type; only cast.hpp casts
//   load_state_dict(dict, state);                          loads all of it or nothing; throws Error, naming the array
//   state_dict(loop)                                       for a TrainingLoop: "values/0.weight", "rule/t", "step", ...
//   state_dict(state, layout)                              for a state without a layout, or with another layout
//
// Names consist of the tensor's and the slot's name (torch's names if torch has the rule). Works for any type with
// visit(archive). formats/ reads and writes a StateDict in file formats that other programs support.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/half.hpp"
#include "../core/layout.hpp"
#include "../core/name_index.hpp"
#include "archive.hpp"

namespace algoperf {

class StateDict {
 public:
  struct Array {
    std::string name, type;
    std::vector<std::size_t> shape;  // row-major; empty for a scalar
    std::size_t size = 0;            // number of elements
    std::vector<unsigned char> bytes;
    friend bool operator==(const Array&, const Array&) = default;
  };

  // Returns the name of T: "float32", "bfloat16", "uint64", ...
  template <class T>
  static std::string type_name() {
    if constexpr (std::is_same_v<T, bfloat16>) {
      return "bfloat16";
    } else {
      static_assert((std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, float16>,
                    "algoperf: a StateDict holds numbers; store truth values as std::uint8_t");
      const std::string bits = std::to_string(8 * sizeof(T));
      return (std::is_integral_v<T> ? std::is_signed_v<T> ? "int" : "uint" : "float") + bits;
    }
  }

  // Returns the arrays in the order in which they were first set. Called on a temporary, as in
  // state_dict(loop).arrays(), it returns them by value, so that they outlive the dict.
  const std::vector<Array>& arrays() const& { return arrays_; }
  std::vector<Array> arrays() && {
    index_ = {};
    return std::exchange(arrays_, {});
  }
  bool contains(const std::string& name) const { return index_.find(name, arrays_) != detail::NameIndex::none; }
  // Throws Error if there is no such array. Takes constant time.
  const Array& at(const std::string& name) const& { return arrays_[find(name)]; }
  Array at(const std::string& name) && { return arrays_[find(name)]; }

  template <class T>
  void set(const std::string& name, std::span<const T> values) {
    set(name, values, {values.size()});
  }
  // Throws Error if the shape has a different number of elements.
  template <class T>
  void set(const std::string& name, std::span<const T> values, std::vector<std::size_t> shape) {
    Array array{name, type_name<T>(), std::move(shape), values.size(), std::vector<unsigned char>(values.size_bytes())};
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
    put(std::move(array));
  }
  // Sets an array of the type named `type`, whose elements have `width` bytes. Throws Error if the shape has a
  // different number of elements.
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
  // Throws Error if there is no such array, or the shape has a different number of elements.
  void reshape(const std::string& name, std::vector<std::size_t> shape) {
    const std::size_t place = find(name);
    must_fill(name, arrays_[place].size, shape);
    arrays_[place].shape = std::move(shape);
  }

  // Whether get<T> accepts an array of this type. Truth values ("bool") are read as std::uint8_t.
  template <class T>
  static bool holds(const std::string& type) {
    return type == type_name<T>() || (std::is_same_v<T, std::uint8_t> && type == "bool");
  }
  // Throws Error if there is no such array, or its type is not T.
  template <class T>
  const Array& at(const std::string& name) const& {
    const Array& found = at(name);
    require(holds<T>(found.type), "state_dict: '", name, "' is ", found.type, ", expected ", type_name<T>());
    require(found.bytes.size() == found.size * sizeof(T), "state_dict: '", name, "' has ", found.bytes.size(),
            " bytes for ", found.size, " elements of ", found.type);
    return found;
  }
  template <class T>
  Array at(const std::string& name) && {
    return std::as_const(*this).template at<T>(name);
  }
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const Array& found = at<T>(name);
    std::vector<T> values(found.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), found.bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  static void must_fill(const std::string& name, std::size_t size, const std::vector<std::size_t>& shape) {
    std::size_t elements = 1;
    for (const std::size_t side : shape)  // any number above `size` is an error
      elements = side > 0 && elements > size / side ? size + 1 : elements * side;
    require(elements == size, "state_dict: '", name, "' has ", size, " elements, but its shape has ",
            elements > size ? "more" : std::to_string(elements));
  }
  void put(Array array) {
    must_fill(array.name, array.size, array.shape);
    const std::size_t at = index_.find(array.name, arrays_);
    if (at != detail::NameIndex::none) {
      arrays_[at] = std::move(array);
    } else {
      arrays_.push_back(std::move(array));
      index_.add_last(arrays_);
    }
  }
  std::size_t find(const std::string& name) const {
    const std::size_t found = index_.find(name, arrays_);
    require(found != detail::NameIndex::none, "state_dict: there is no array '", name, "'");
    return found;
  }
  std::vector<Array> arrays_;
  detail::NameIndex index_;
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

// Calls f(part) for every sequence of consecutive parts of a name: for "a/b/c", these are a, a/b, a/b/c, b, b/c and c.
template <class F>
void for_each_part(const std::string& name, const F& f) {
  for (std::size_t begin = 0; begin <= name.size(); begin = std::min(name.find('/', begin), name.size()) + 1)
    for (std::size_t end = begin; end < name.size();) {
      end = std::min(name.find('/', end + 1), name.size());
      f(name.substr(begin, end - begin));
    }
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

  // Throws Error unless the array `name` has n elements of type T; to be called before allocating memory for them.
  template <class T>
  void expect(const char* name, std::size_t n) {
    const StateDict::Array& array = dict.at(prefix + name);
    require(StateDict::holds<T>(array.type) && array.size == n, "state_dict: '", prefix, name, "' has ", array.size,
            " elements of ", array.type, ", expected ", n, " of ", StateDict::type_name<T>());
  }
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

namespace detail {

// Returns a dict in which every array has one axis, and every scalar none.
template <class State>
StateDict flat_state_dict(State& state) {
  StateDict dict;
  StateDictWriter writer{dict};
  state.visit(writer);
  return dict;
}

// Whether a state has the layout of its tensors, as a rule's state and a TrainingLoop do.
template <class State>
concept KnowsLayout = requires(const State& state) {
  { state.layout() } -> std::convertible_to<const Layout&>;
};

}  // namespace detail

// Gives arrays the shapes of the layout's tensors: those that have a tensor's name, or are within its scope
// ("0.weight/exp_avg"), and have its number of elements. Other arrays keep one axis.
template <class State>
StateDict state_dict(State& state, const Layout& layout) {
  StateDict dict = detail::flat_state_dict(state);
  for (const StateDict::Array& array : dict.arrays())
    detail::for_each_part(array.name, [&](const std::string& part) {
      if (!layout.contains(part)) return;
      const Shape& shape = layout.spec(layout.find(part)).shape;
      if (array.size == shape.size()) dict.reshape(array.name, detail::sides(shape));
    });
  return dict;
}
// Uses the state's own layout; if it has none, every array keeps one axis.
template <class State>
StateDict state_dict(State& state) {
  if constexpr (detail::KnowsLayout<State>)
    return state_dict(state, state.layout());
  else
    return detail::flat_state_dict(state);
}

namespace detail {

// Reads all of the dict, which may hold nothing else. An exception leaves the state partially read.
template <class State>
void read_state_dict(const StateDict& dict, State& state) {
  StateDictReader reader{dict};
  state.visit(reader);
  const StateDict known = flat_state_dict(state);
  for (const StateDict::Array& array : dict.arrays())
    require(known.contains(array.name), "state_dict: '", array.name, "' belongs to no tensor or slot of this state");
}

// Loads all of the dict or nothing. For a state that cannot be copied (a TrainingLoop), saves the previous values first
// and restores them on failure.
template <class State>
void load_flat_state_dict(const StateDict& dict, State& state) {
  if constexpr (std::is_copy_constructible_v<State> && std::is_move_assignable_v<State>) {
    State copy = state;
    read_state_dict(dict, copy);
    state = std::move(copy);
  } else {
    const StateDict before = flat_state_dict(state);
    try {
      read_state_dict(dict, state);
    } catch (...) {
      StateDictReader back{before};
      state.visit(back);
      throw;
    }
  }
}

// Throws Error if an array's shape differs from the state's; if `lax`, only if its axes are in another order.
template <class State>
void check_shapes(const StateDict& dict, State& state, const Layout& layout, bool lax) {
  const StateDict known = state_dict(state, layout);
  for (const StateDict::Array& array : dict.arrays()) {
    if (!known.contains(array.name)) continue;
    const std::vector<std::size_t>& expected = known.at(array.name).shape;
    if (lax && !std::is_permutation(array.shape.begin(), array.shape.end(), expected.begin(), expected.end())) continue;
    require(array.shape == expected, "state_dict: '", array.name, "' is of shape ", describe(array.shape),
            ", expected ", describe(expected));
  }
}

}  // namespace detail

// Loads the dict. Throws Error, and leaves the state unchanged, if an array is missing, unknown, or has another type or
// size; or, if the state has a layout, if an array has the axes of a tensor in another order.
template <class State>
void load_state_dict(const StateDict& dict, State& state) {
  if constexpr (detail::KnowsLayout<State>) detail::check_shapes(dict, state, state.layout(), true);
  detail::load_flat_state_dict(dict, state);
}
// Loads the dict by this layout. Also throws Error if a shape differs: an array of one axis is not accepted for two
// axes, nor a scalar for an array of one element.
template <class State>
void load_state_dict(const StateDict& dict, State& state, const Layout& layout) {
  detail::check_shapes(dict, state, layout, false);
  detail::load_flat_state_dict(dict, state);
}

}  // namespace algoperf
