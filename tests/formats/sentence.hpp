#pragma once

#include <string>

#include "../support/sentence.hpp"

// Returns the message of an Error without the leading file name.
template <class Call>
std::string sentence(const std::string& path, const Call& call) {
  const std::string what = sentence(call);
  return what.rfind(path, 0) == 0 ? what.substr(path.size()) : what;
}
