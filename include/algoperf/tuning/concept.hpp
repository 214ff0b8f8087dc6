// Tuning: the choice of hyperparameters by trying points of a search space.
//
//   a point            values of named hyperparameters: HyperPoint
//   a search space     ranges and lists of values, or a list of points: SearchSpace (search_space.hpp)
//   a point sequence   points in the unit cube, which a search space maps to its own points: ScrambledHalton,
//                      ScrambledSobol, RandomPoints, OfficialHalton. A type with
//     dimensions()     the number of coordinates
//     point(i)         point i, from 0: a std::vector<double> of coordinates in [0, 1)
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

template <class S>
concept PointSequence = requires(const S& sequence, std::uint64_t i) {
  { sequence.dimensions() } -> std::same_as<std::size_t>;
  { sequence.point(i) } -> std::same_as<std::vector<double>>;
};

// The value of a hyperparameter: a number, true or false, or a text.
struct HyperValue : std::variant<double, bool, std::string> {
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) HyperValue(T number)
      : variant(static_cast<double>(number)) {}
  HyperValue(bool value) : variant(value) {}
  HyperValue(std::string text) : variant(std::move(text)) {}
  HyperValue(const char* text) : variant(std::string(text)) {}

  const std::variant<double, bool, std::string>& alternatives() const { return *this; }
};

// Values of hyperparameters, by name, in the order in which they were set.
class HyperPoint {
 public:
  using Entry = std::pair<std::string, HyperValue>;

  HyperPoint() = default;
  // HyperPoint{{"learning_rate", 1e-3}, {"nesterov", true}}. Throws Error if a name is given twice.
  HyperPoint(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) set(entry.first, entry.second);
  }

  // Adds a value. Throws Error if there is one of this name.
  void set(const std::string& name, HyperValue value) {
    require(find(name) == nullptr, "HyperPoint: '", name, "' is given twice");
    entries_.emplace_back(name, std::move(value));
  }
  const std::vector<Entry>& entries() const { return entries_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }

  // Return the value of a hyperparameter. Throw Error if there is none of this name, or if it has another type.
  double operator[](const std::string& name) const { return get<double>(name, "a number"); }
  bool flag(const std::string& name) const { return get<bool>(name, "true or false"); }
  const std::string& text(const std::string& name) const { return get<std::string>(name, "a text"); }
  // Returns the value of a hyperparameter, or `fallback` if there is none of this name.
  double number_or(const std::string& name, double fallback) const { return has(name) ? (*this)[name] : fallback; }

  friend bool operator==(const HyperPoint&, const HyperPoint&) = default;

 private:
  const HyperValue* find(const std::string& name) const {
    for (const Entry& entry : entries_)
      if (entry.first == name) return &entry.second;
    return nullptr;
  }
  template <class T>
  const T& get(const std::string& name, const char* expected) const {
    const HyperValue* const value = find(name);
    require(value != nullptr, "HyperPoint: there is no hyperparameter '", name, "'");
    require(std::holds_alternative<T>(*value), "HyperPoint: '", name, "' is not ", expected);
    return *std::get_if<T>(value);
  }

  std::vector<Entry> entries_;
};

}  // namespace algoperf
