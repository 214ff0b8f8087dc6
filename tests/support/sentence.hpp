#pragma once

#include <string>

#include "algoperf/core/error.hpp"

// Returns the message of the Error that a call throws; empty if it throws nothing.
template <class Call>
std::string sentence(const Call& call) {
  try {
    call();
  } catch (const algoperf::Error& error) {
    return error.what();
  }
  return {};
}
