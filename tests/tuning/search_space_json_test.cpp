#include "algoperf/tuning/search_space_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "algoperf/data/readers/csv.hpp"

namespace ap = algoperf;

namespace {

std::string json_error(const std::string& text) {
  return sentence([&] { ap::parse_search_space(text, "f.json"); });
}

}  // namespace

TEST_CASE("search spaces of ranges, feasible points and constants") {
  const ap::SearchSpace space = ap::parse_search_space(R"({
    "rate": {"min": 1e-4, "max": 0.01, "scaling": "log"},
    "layers": {"min": 1, "max": 4, "scaling": "linear", "type": "integer"},
    "momentum": {"min": 0.5, "max": 0.99, "scaling": "reverse_log", "type": "real"},
    "schedule": {"feasible_points": ["cosine", false, 3]},
    "beta2": 0.999})");
  REQUIRE(space.dimensions() == 5);
  CHECK(space.hyperparameters()[0].name == "rate");
  CHECK(space.hyperparameters()[0].min == 1e-4);
  CHECK(space.hyperparameters()[0].max == 0.01);
  CHECK(space.hyperparameters()[0].scaling == ap::Scaling::log);
  CHECK(space.hyperparameters()[1].integer);
  CHECK_FALSE(space.hyperparameters()[2].integer);
  CHECK(space.hyperparameters()[2].scaling == ap::Scaling::reverse_log);
  CHECK(space.hyperparameters()[3].feasible == std::vector<ap::HyperValue>{std::string("cosine"), false, 3.0});
  CHECK(space.at({0, 0, 0, 0.5, 0.7})["beta2"] == 0.999);
  const std::string text = ap::to_json(space).dump();
  CHECK(ap::to_json(ap::parse_search_space(text)).dump() == text);
  CHECK(text.find(R"("layers":{"min":1.0,"max":4.0,"scaling":"linear","type":"integer"})") != std::string::npos);
  CHECK(text.find(R"("momentum":{"min":0.5,"max":0.99,"scaling":"reverse_log"})") != std::string::npos);
  CHECK(text.find(R"("schedule":{"feasible_points":["cosine",false,3.0]})") != std::string::npos);
}

TEST_CASE("search spaces of points, and points as JSON") {
  const ap::SearchSpace space = ap::parse_search_space(R"([{"rate": 0.1, "name": "a"}, {"rate": 0.25, "on": true}])");
  REQUIRE(space.listed().size() == 2);
  CHECK(space.listed()[1]["rate"] == 0.25);
  CHECK(ap::to_json(space.listed()[1]).dump() == R"({"rate":0.25,"on":true})");
  CHECK(ap::to_json(space).dump() == R"([{"rate":0.1,"name":"a"},{"rate":0.25,"on":true}])");
  for (const ap::HyperPoint& point : space.listed()) CHECK(ap::parse_point(ap::to_json(point).dump()) == point);
}

TEST_CASE("malformed search spaces are refused, naming the file, the hyperparameter and the field") {
  CHECK(json_error("{").starts_with("f.json: is not JSON: "));
  CHECK(json_error("3") == "f.json: is neither an object of hyperparameters nor a list of points");
  CHECK(json_error("{}") == "f.json: search space: there is no hyperparameter");
  CHECK(json_error("[]") == "f.json: search space: there is no point");
  CHECK(json_error("[3]") == "f.json: point 1: is not an object");
  CHECK(json_error(R"([{"a": null}])") == "f.json: point 1: a: is null, expected a number, a text, true or false");
  CHECK(json_error(R"({"a": 1, "a": 2})") == "f.json: 'a' is listed twice");
  CHECK(json_error(R"({"a": {"min": 1, "min": 2}})") == "f.json: 'min' is listed twice");
  CHECK(json_error(R"({"a": {"min": 1, "max": 2}})") == "f.json: 'a': there is no scaling");
  CHECK(json_error(R"({"a": {"min": 1, "scaling": "log"}})") == "f.json: 'a': there is no max");
  CHECK(json_error(R"({"a": {"min": "1", "max": 2, "scaling": "log"}})") == "f.json: 'a': min is not a number");
  CHECK(json_error(R"({"a": {"min": 3, "max": 2, "scaling": "log"}})") ==
        "f.json: search space: 'a' has min 3 and max 2, expected min <= max");
  CHECK(json_error(R"({"a": {"min": 0, "max": 2, "scaling": "log"}})") ==
        "f.json: search space: 'a' has min 0, expected more than 0, as its scaling is logarithmic");
  CHECK(json_error(R"({"a": {"min": 1, "max": 2, "scaling": "ln"}})") ==
        "f.json: 'a': scaling is \"ln\", expected \"linear\", \"log\" or \"reverse_log\"");
  CHECK(json_error(R"({"a": {"min": 1, "max": 2, "scaling": "log", "type": "int"}})") ==
        "f.json: 'a': type is \"int\", expected \"integer\" or \"real\"");
  CHECK(json_error(R"({"a": {"min": 1, "max": 2, "scaling": "log", "step": 1}})") ==
        "f.json: 'a': step is unknown, expected min, max, scaling, type or feasible_points");
  CHECK(json_error(R"({"a": {"feasible_points": []}})") ==
        "f.json: 'a': feasible_points is not a list of at least one value");
  CHECK(json_error(R"({"a": {"feasible_points": [1], "min": 2}})") ==
        "f.json: 'a': has other fields beside feasible_points");
  CHECK(json_error(R"({"a": {"feasible_points": [[1]]}})") ==
        "f.json: 'a': feasible_points: is [1], expected a number, a text, true or false");
  const Folder folder;
  CHECK(sentence([&] { ap::read_search_space(folder / "none"); }) == folder / "none: cannot be opened");
}

TEST_CASE("AlgoPerf's search of 20 points for NadamW, to the last bit") {
  const std::string folder = data_path("algoperf-v05");
  if (folder.empty()) return;
  const ap::SearchSpace space = ap::read_search_space(folder + "/halton_search_space_nadamw.json");
  std::vector<ap::HyperPoint> points = ap::search_points(space, 20, 0, ap::Search::official);
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a["learning_rate"] < b["learning_rate"]; });
  const ap::Table table = ap::load_csv(folder + "/halton_search_nadamw.csv");
  REQUIRE(table.rows() == 20);
  for (std::size_t row = 0; row < 20; ++row)
    for (std::size_t c = 0; c < table.columns().size(); ++c)
      CHECK(points[row][table.columns()[c].name] == table.value(row, c));
}
