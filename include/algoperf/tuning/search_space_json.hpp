// Search spaces and points as JSON, in AlgoPerf's form. Requires nlohmann-json.
//
//   {"learning_rate": {"min": 1e-4, "max": 1e-2, "scaling": "log"},    a range: "linear", "log" or "reverse_log"
//    "layers":        {"min": 1, "max": 4, "scaling": "linear", "type": "integer"},
//    "beta2":         {"feasible_points": [0.99, 0.999]}}               numbers, texts, true and false
//   [{"learning_rate": 1e-3, "beta2": 0.99}, ...]                       a list of points
//
// "reverse_log" and "type" are not in AlgoPerf's form. {"beta2": 0.999} is short for a list of one feasible point.
#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search_space.hpp"

namespace algoperf {

namespace detail {

using Json = nlohmann::ordered_json;

inline HyperValue value_of(const Json& json, const std::string& where) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number()) return json.get<double>();
  require(json.is_string(), where, ": is ", json.dump(-1, ' ', false, Json::error_handler_t::replace),
          ", expected a number, a text, true or false");
  return json.get<std::string>();
}

inline Hyperparameter hyperparameter_of(const std::string& name, const Json& json, const std::string& where) {
  Hyperparameter found{.name = name};
  if (!json.is_object()) {
    found.feasible.push_back(value_of(json, where));
    return found;
  }
  if (json.contains("feasible_points")) {
    const Json& points = json["feasible_points"];
    require(json.size() == 1, where, ": has other fields beside feasible_points");
    require(points.is_array() && !points.empty(), where, ": feasible_points is not a list of at least one value");
    for (const Json& point : points) found.feasible.push_back(value_of(point, where + ": feasible_points"));
    return found;
  }
  for (const auto& [field, value] : json.items()) {
    const std::string place = where + ": " + field;
    if (field == "min" || field == "max") {
      require(value.is_number(), place, " is not a number");
      (field == "min" ? found.min : found.max) = value.get<double>();
    } else if (field == "scaling") {
      const bool known = value == "linear" || value == "log" || value == "reverse_log";
      require(known, place, " is ", value.dump(-1, ' ', false, Json::error_handler_t::replace),
              ", expected \"linear\", \"log\" or \"reverse_log\"");
      found.scaling = value == "linear" ? Scaling::linear : value == "log" ? Scaling::log : Scaling::reverse_log;
    } else if (field == "type") {
      require(value == "integer" || value == "real", place, " is ",
              value.dump(-1, ' ', false, Json::error_handler_t::replace), ", expected \"integer\" or \"real\"");
      found.integer = value == "integer";
    } else {
      fail(place, " is unknown, expected min, max, scaling, type or feasible_points");
    }
  }
  for (const char* const field : {"min", "max", "scaling"})
    require(json.contains(field), where, ": there is no ", field);
  return found;
}

// Prefixes what a function throws with the place.
template <class F>
auto within(const std::string& where, const F& function) {
  try {
    return function();
  } catch (const Error& error) {
    fail(where, ": ", error.what());
  }
}

inline HyperPoint point_of(const Json& json, const std::string& where) {
  require(json.is_object(), where, ": is not an object");
  HyperPoint point;
  for (const auto& [name, value] : json.items()) point.set(name, value_of(value, where + ": " + name));
  return point;
}

// Refuses what the parser would accept silently: a name that occurs twice in an object.
inline Json parse_json(const std::string& text, const std::string& where) {
  std::vector<std::vector<std::string>> names;
  const auto note = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string name = parsed.get<std::string>();
      for (const std::string& other : names.back()) require(other != name, where, ": '", name, "' is listed twice");
      names.back().push_back(name);
    }
    return true;
  };
  try {
    return Json::parse(text, note);
  } catch (const Json::exception& error) {
    fail(where, ": is not JSON: ", error.what());
  }
}

}  // namespace detail

// Parses a search space. `where` names the text in errors, which also name the hyperparameter and the field.
inline SearchSpace parse_search_space(const std::string& text, const std::string& where = "search space") {
  const detail::Json json = detail::parse_json(text, where);
  if (json.is_array()) {
    std::vector<HyperPoint> points;
    for (std::size_t i = 0; i < json.size(); ++i)
      points.push_back(detail::point_of(json[i], where + ": point " + std::to_string(i + 1)));
    return detail::within(where, [&] { return SearchSpace(points); });
  }
  require(json.is_object(), where, ": is neither an object of hyperparameters nor a list of points");
  std::vector<Hyperparameter> hyperparameters;
  for (const auto& [name, value] : json.items())
    hyperparameters.push_back(detail::hyperparameter_of(name, value, where + ": '" + name + "'"));
  return detail::within(where, [&] { return SearchSpace(hyperparameters); });
}

// Reads a search space from a file. Throws Error, naming the file, if it cannot be read.
inline SearchSpace read_search_space(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(static_cast<bool>(file), path, ": cannot be opened");
  return parse_search_space({std::istreambuf_iterator<char>(file), {}}, path);
}

// Returns a point as a JSON object.
inline nlohmann::ordered_json to_json(const HyperPoint& point) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : point.entries())
    std::visit([&, &key = name](const auto& each) { json[key] = each; }, value.alternatives());
  return json;
}
// Returns a search space in the form that parse_search_space reads.
inline nlohmann::ordered_json to_json(const SearchSpace& space) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!space.listed().empty()) {
    json = nlohmann::ordered_json::array();
    for (const HyperPoint& point : space.listed()) json.push_back(to_json(point));
  }
  constexpr const char* scalings[] = {"linear", "log", "reverse_log"};
  for (const Hyperparameter& each : space.hyperparameters()) {
    nlohmann::ordered_json& to = json[each.name];
    if (each.feasible.empty())
      to = {{"min", each.min}, {"max", each.max}, {"scaling", scalings[static_cast<std::size_t>(each.scaling)]}};
    if (each.integer) to["type"] = "integer";
    for (const HyperValue& value : each.feasible)
      std::visit([&](const auto& one) { to["feasible_points"].push_back(one); }, value.alternatives());
  }
  return json;
}
// Returns the point of a JSON object. `where` names it in errors.
inline HyperPoint parse_point(const std::string& text, const std::string& where = "point") {
  return detail::point_of(detail::parse_json(text, where), where);
}

}  // namespace algoperf
