// The lines that table.py reads, one a measurement:
//
//   table,row,column,seconds,amount
//
// of one call, and what it does or moves (FLOPs, bytes; 0 if nobody asks). Without a device the seconds stay empty.
// Rows and columns have semicolons for commas.
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
