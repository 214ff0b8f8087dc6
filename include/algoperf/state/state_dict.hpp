// StateDict: state as named arrays in memory, like torch's state_dict, for exchange with other programs.
//
//   StateDict dict = state_dict(state);                    "t", "0.weight/exp_avg", "0.weight/exp_avg_sq", ...
//   dict.set("0.weight/exp_avg", std::span(theirs));       the array gets the span's type (to convert: cast.hpp)
//   load_state_dict(dict, state);                          loads all of it or nothing; throws Error, naming the array
//   state_dict(loop)                                       for a TrainingLoop: "values/0.weight", "rule/t", "step", ...
//   state_dict(state, layout)                              for a state without a layout, or with another layout
//
// Names consist of the tensor's and the slot's name (torch's names if torch has the rule). Works for any type with
// visit(archive). formats/ reads and writes a StateDict in file formats that other programs support.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "archive.hpp"
#include "state_dict_class.hpp"

namespace algoperf {

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
  const auto end_of_part = [&](std::size_t from) {
    const std::size_t slash = name.find('/', from);
    return slash < name.size() ? slash : name.size();
  };
  for (std::size_t begin = 0; begin <= name.size(); begin = end_of_part(begin) + 1)
    for (std::size_t end = begin; end < name.size();) {
      end = end_of_part(end + 1);
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

// Returns the dict of a state. An array has the shape of a tensor of the layout if it has the tensor's name, or is
// within its scope ("0.weight/exp_avg"), and has its number of elements. Other arrays have one axis.
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
// Same, with the state's own layout; if it has none, every array has one axis.
template <class State>
StateDict state_dict(State& state) {
  if constexpr (detail::KnowsLayout<State>)
    return state_dict(state, state.layout());
  else
    return detail::flat_state_dict(state);
}

namespace detail {

// Reads the state from the dict. Throws Error if the dict has arrays that the state does not have. An exception leaves
// the state partially read.
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

// Whether two shapes have the same sides, in any order.
inline bool same_sides(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  const auto count = [](const std::vector<std::size_t>& sides, std::size_t side) {
    std::size_t n = 0;
    for (const std::size_t each : sides) n += each == side;
    return n;
  };
  for (const std::size_t side : a)
    if (count(a, side) != count(b, side)) return false;
  return a.size() == b.size();
}

// Throws Error if an array's shape differs from the state's; if `lax`, only if its axes are in another order.
template <class State>
void check_shapes(const StateDict& dict, State& state, const Layout& layout, bool lax) {
  const StateDict known = state_dict(state, layout);
  for (const StateDict::Array& array : dict.arrays()) {
    if (!known.contains(array.name)) continue;
    const std::vector<std::size_t>& expected = known.at(array.name).shape;
    if (lax && !same_sides(array.shape, expected)) continue;
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
// Same, with this layout. Throws Error if any shape differs: an array of one axis is not accepted for two axes, nor a
// scalar for an array of one element.
template <class State>
void load_state_dict(const StateDict& dict, State& state, const Layout& layout) {
  detail::check_shapes(dict, state, layout, false);
  detail::load_flat_state_dict(dict, state);
}

}  // namespace algoperf
