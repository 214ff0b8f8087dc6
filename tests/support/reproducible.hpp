// Checks that training gives the same bits in every way in which it should.
#pragma once

#include <doctest/doctest.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/data/prefetched.hpp>
#include <algoperf/loop/observers/until.hpp>
#include <algoperf/loop/training_loop.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../memory_archive.hpp"
#include "values_of.hpp"

namespace algoperf::testing {

// `learner(tail...)` returns a new TrainingLoop; the tail holds its backend, combiner or workers.

// Checks that threads, prefetching and resumption change no bit.
template <class Learner, class Data>
void check_reproducible(const Learner& learner, const Data& data, std::uint64_t steps) {
  const auto run = [&](const auto& from, const auto&... tail) {
    auto loop = learner(tail...);
    loop.run(from, UntilStep{steps});
    return values_of(loop);
  };
  const auto one = run(data);
  CHECK(run(data, Host<>{.threads = 2}) == one);
  CHECK(run(data, Host<>{.threads = 3}) == one);
  CHECK(run(prefetched(data)) == one);

  auto saved = learner(), resumed = learner();
  saved.run(data, UntilStep{steps / 3});
  MemoryWriter writer;
  saved.visit(writer);
  MemoryReader reader{writer.saved};
  resumed.visit(reader);
  resumed.run(prefetched(data), UntilStep{steps});
  CHECK(values_of(resumed) == one);
}

// Checks that four workers compute the values of one, apart from rounding.
template <class Learner, class Data>
void check_workers(const Learner& learner, const Data& data, std::uint64_t steps) {
  auto alone = learner();
  auto four = learner(Mean{}, InProcess{4});
  alone.run(data, UntilStep{steps});
  four.run(data, UntilStep{steps});
  const auto expected = values_of(alone), found = values_of(four);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) < 1e-3);
}

}  // namespace algoperf::testing
