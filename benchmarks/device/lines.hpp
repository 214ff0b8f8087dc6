// The input lines of table.py, one per measurement:
//
//   table,row,column,seconds,amount
//
// `seconds` is the time of one call and stays empty without a device. `amount` is the FLOPs or bytes of one call, the
// number of parameters (table "parameters"), or 0 if unused. In rows and columns commas are replaced by semicolons.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
}

inline std::string without_commas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

inline void line(const std::string& table, const std::string& row, const std::string& column, double seconds,
                 double amount = 0) {
  std::printf("%s,%s,%s,%.9g,%.9g\n", table.c_str(), without_commas(row).c_str(), without_commas(column).c_str(),
              seconds, amount);
  std::fflush(stdout);
}
inline void not_measured(const std::string& table, const std::string& row, const std::string& column,
                         double amount = 0) {
  std::printf("%s,%s,%s,,%.9g\n", table.c_str(), without_commas(row).c_str(), without_commas(column).c_str(), amount);
}

}  // namespace bench
