// StateDict: named arrays in memory, like torch's state_dict. The type only: include state_dict.hpp, which fills and
// loads dictionaries.
#pragma once

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
#include "../core/name_index.hpp"

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
    return std::move(arrays_);
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

}  // namespace algoperf
