#pragma once

#include <string>

#include "algoperf/core/error.hpp"

// What an Error says; empty if nothing is thrown.
template <class Call>
std::string sentence(const Call& call) {
  try {
    call();
  } catch (const algoperf::Error& error) {
    return error.what();
  }
  return {};
}
