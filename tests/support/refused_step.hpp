#pragma once

#include <doctest/doctest.h>

#include <string>

#include "sentence.hpp"
#include "values_of.hpp"

namespace algoperf::testing {

// Returns the message of the Error that a step throws; empty if it throws nothing. Checks that a step that throws
// changes neither parameters nor the number of steps.
template <class Loop, class Data>
std::string refused_step(Loop& loop, const Data& data) {
  const auto before = values_of(loop);
  const auto steps = loop.steps();
  const std::string message = sentence([&] { loop.step(data); });
  if (!message.empty()) {
    CHECK(values_of(loop) == before);
    CHECK(loop.steps() == steps);
  }
  return message;
}

}  // namespace algoperf::testing
