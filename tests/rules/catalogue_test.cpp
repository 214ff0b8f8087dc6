// Checks docs/rules.md against the headers. Every recipe has a row, whose bytes, passes and state equal those of its
// compiled passes. Every row of golden::rules, golden::adafactor_rows and golden::three_matrices has a row in the
// table of errors.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../golden/adafactor.hpp"
#include "../golden/matrix_rules.hpp"
#include "../golden/rules.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/rules/recipes/shampoo.hpp"
#include "algoperf/rules/recipes/soap.hpp"
#include "recipes.hpp"

namespace ap = algoperf;

namespace {

// Returns the cells of each table row whose first cell is a name in backticks, keyed by that name.
std::map<std::string, std::vector<std::string>> rows_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::map<std::string, std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
      cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    rows[cells[0].substr(1, cells[0].size() - 2)] = cells;
  }
  return rows;
}

struct Catalogue {
  std::map<std::string, std::vector<std::string>> rows = rows_of(ALGOPERF_SOURCE_DIR "/docs/rules.md");
  std::size_t checked = 0;

  template <class... Stages>
  void operator()(const std::string& name, const ap::Chain<Stages...>& chain) {
    INFO("recipe: ", name);
    constexpr ap::PassList<Stages...> list{};
    REQUIRE(rows.count(name) == 1);
    const auto& row = rows[name];
    CHECK(row[3] == std::to_string(ap::bytes_per_parameter(chain)));
    CHECK(row[4] == std::to_string(list.pass_count));
    CHECK(row[5] == std::to_string(list.first_slot[sizeof...(Stages)]));
    ++checked;
  }
};

}  // namespace

TEST_CASE("docs/rules.md states the cost of each recipe") {
  Catalogue check;
  ap::testing::for_each_recipe([&](const auto& recipe) { check(recipe.name, recipe.rule); });
  check("lamb", ap::lamb());
  check("lars", ap::lars());
  check("mlperf_lars", ap::mlperf_lars());
  check("dgrad", ap::dgrad());
  check("adagrad_norm", ap::adagrad_norm());
  check("relative_clipped_sgd", ap::relative_clipped_sgd());
  check("adafactor", ap::adafactor());
  check("adafactor_torch", ap::adafactor_torch());
  check("adafactor_algoperf", ap::adafactor_algoperf());
  check("muon", ap::muon());
  check("shampoo", ap::shampoo());
  check("soap", ap::soap());
  std::size_t recipes = 0;
  for (const auto& [name, row] : check.rows) recipes += row.size() > 6 && name.find('(') == std::string::npos;
  CHECK(recipes == check.checked);
}

TEST_CASE("docs/rules.md states the error and the reference of every golden row") {
  auto rows = rows_of(ALGOPERF_SOURCE_DIR "/docs/rules.md");
  const auto check = [&](const auto& row, const std::string& reference) {
    INFO("row: ", std::string(row.rule));
    const std::string key = std::string("golden: ") + row.rule;
    REQUIRE(rows.count(key) == 1);
    CHECK(rows[key][1] == reference);
    CHECK(std::strtod(rows[key][2].c_str(), nullptr) <= 1e-12);
    CHECK(std::strtod(rows[key][3].c_str(), nullptr) <= 1e-5);
  };
  for (const golden::Row& row : golden::rules) check(row, row.reference);
  for (const golden::Row& row : golden::adafactor_rows) check(row, row.reference);
  for (const golden::ThreeMatrices& row : golden::three_matrices) check(row, std::string("numpy, ") + row.says);
}
