// Reads the claims and the loss curves of a contest by steps. Link with zlib.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../significance.hpp"
#include "csv_rows.hpp"

namespace algoperf {

// Reads a CSV file with the columns result, steps, mean_loss and runs. Throws Error, naming file, line and column, if a
// row is malformed or claims a result twice.
inline std::vector<Claim> read_claims(const std::string& path) {
  detail::CsvRows rows(path);
  const std::size_t result = rows.column("result"), steps = rows.column("steps"), mean = rows.column("mean_loss"),
                    runs = rows.column("runs");
  std::vector<Claim> claims;
  while (rows.next()) {
    for (const Claim& other : claims)
      if (other.result == rows.text(result)) rows.refuse(result, "each result once");
    if (!std::isfinite(rows.number(mean))) rows.refuse(mean, "a finite number");
    if (rows.whole(runs) == 0) rows.refuse(runs, "at least 1");
    claims.push_back(
        {rows.name(result), rows.measure(steps), rows.number(mean), static_cast<std::size_t>(rows.whole(runs))});
  }
  require(!claims.empty(), path, ": there are no rows after the header");
  return claims;
}

// Reads a CSV file with the columns result, run, step and validation_loss. Of several losses of a run at one step, as
// in the log of a run that was restarted, the last counts. Throws Error, naming file, line and column, if a row is
// malformed.
inline std::vector<LossCurve> read_loss_curves(const std::string& path) {
  detail::CsvRows rows(path);
  const std::size_t result = rows.column("result"), run = rows.column("run"), step = rows.column("step"),
                    loss = rows.column("validation_loss");
  std::vector<LossCurve> curves;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  while (rows.next()) {
    const auto [place, fresh] = places.emplace(std::pair(rows.name(result), rows.name(run)), curves.size());
    if (fresh) curves.push_back({rows.text(result), rows.text(run)});
    curves[place->second].losses[rows.measure(step)] = rows.number(loss);
  }
  return curves;
}

}  // namespace algoperf
