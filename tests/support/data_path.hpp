#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

// Where a real data set lies: in the folder that ALGOPERF_DATA names, or one beside the repository. Empty, with a
// message, where there is none.
inline std::string data_path(const std::string& name) {
  const char* const named = std::getenv("ALGOPERF_DATA");
  const std::string path = (named != nullptr ? named : ALGOPERF_SOURCE_DIR "/../shared/data") + ("/" + name);
  if (std::filesystem::exists(path)) return path;
  MESSAGE("skipped: there is no " << path);
  return {};
}
