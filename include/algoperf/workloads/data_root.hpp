// data_root(): the folder of the real data sets: the environment variable ALGOPERF_DATA if set, otherwise "data".
#pragma once

#include <cstdlib>
#include <string>

#include "../core/config.hpp"

namespace algoperf {

inline std::string data_root() {
  const char* const root = std::getenv("ALGOPERF_DATA");
  return root != nullptr && *root != 0 ? root : "data";
}

}  // namespace algoperf
