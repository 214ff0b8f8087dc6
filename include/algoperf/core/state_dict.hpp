// StateDict: a state as named arrays in memory, as torch's state_dict: read by other programs, filled from theirs.
//
//   StateDict dict = state_dict(state);                    "t", "0.weight/exp_avg", "0.weight/exp_avg_sq", ...
//   dict.set("0.weight/exp_avg", std::span(theirs));       the type is kept: no array is cast
//   load_state_dict(state, dict);                          all of it or nothing; throws Error, naming the array
//
// Names are the tensor's and the slot's (torch's names where torch has the rule). Works for anything with
// visit(archive).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "error.hpp"

namespace algoperf {

class StateDict {
 public:
  struct Array {
    std::string name, type;
    std::size_t size = 0;  // elements
    std::vector<unsigned char> bytes;
    friend bool operator==(const Array&, const Array&) = default;
  };

  // "float32", "uint64", ...
  template <class T>
  static std::string type_name() {
    static_assert(std::is_arithmetic_v<T>);
    const std::string bits = std::to_string(8 * sizeof(T));
    return (std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint") + bits;
  }

  // In the order they were first set.
  const std::vector<Array>& arrays() const { return arrays_; }
  bool contains(const std::string& name) const { return find(name) != arrays_.end(); }

  template <class T>
  void set(const std::string& name, std::span<const T> values) {
    Array array{name, type_name<T>(), values.size(), std::vector<unsigned char>(values.size_bytes())};
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), values.size_bytes());
    const auto found = find(name);
    if (found == arrays_.end())
      arrays_.push_back(std::move(array));
    else
      arrays_[static_cast<std::size_t>(found - arrays_.begin())] = std::move(array);
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
  void set(const std::string& name, T value) requires std::is_arithmetic_v<T> {
    set(name, std::span<const T>(&value, 1));
  }

  // Throws Error where there is no such array, or it has another type.
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const auto found = find(name);
    require(found != arrays_.end(), "state_dict: there is no '", name, "'");
    require(found->type == type_name<T>(), "state_dict: '", name, "' is ", found->type, ", expected ", type_name<T>());
    std::vector<T> values(found->size);
    if (!values.empty()) std::memcpy(values.data(), found->bytes.data(), found->bytes.size());
    return values;
  }

 private:
  std::vector<Array>::const_iterator find(const std::string& name) const {
    return std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& array) { return array.name == name; });
  }
  std::vector<Array> arrays_;
};

namespace detail {

struct StateDictWriter {
  static constexpr bool reading = false;
  StateDict& dict;
  std::string prefix = {};

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
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

}  // namespace algoperf
