#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

// Returns the path of a real data set, in the folder ALGOPERF_DATA or in one beside the repository. Returns an empty
// string, with a message, if the data set does not exist.
inline std::string data_path(const std::string& name) {
  const char* const named = std::getenv("ALGOPERF_DATA");
  const std::string path = (named != nullptr ? named : ALGOPERF_SOURCE_DIR "/../shared/data") + ("/" + name);
  if (std::filesystem::exists(path)) return path;
  MESSAGE("skipped: there is no " << path);
  return {};
}
