#include "algoperf/backend/host/random_words.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "algoperf/backend/serial_team.hpp"

namespace ap = algoperf;

namespace {

TEST_CASE("random words: vectors of Philox blocks have the words of single blocks") {
  const std::uint64_t ones = ~std::uint64_t{0};
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{0xa4093822299f31d0}, ones})
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{0x13198a2e03707344}, ones})
      // Also counters whose lower half, or all of it, wraps to zero within one call.
      for (const std::uint64_t counter : {std::uint64_t{0}, std::uint64_t{0xFFFFFFFE}, ones - 1}) {
        std::uint32_t words[4 * ap::detail::random_blocks];
        ap::detail::random_words(key, counter, stream, words);
        for (std::size_t i = 0; i < 4 * ap::detail::random_blocks; ++i) {
          CAPTURE(i);
          REQUIRE(words[i] == ap::philox(key, counter + i / 4, stream).words[i % 4]);
        }
      }
}

TEST_CASE("random words: a team draws a word for each element") {
  for (std::size_t n = 0; n < 150; ++n) {
    std::vector<std::uint32_t> drawn;
    ap::SerialTeam{}.each_random(ap::RandomKey{3}, 5, n,
                                 [&](std::size_t begin, auto count, const std::uint32_t* words) {
                                   REQUIRE(begin == drawn.size());
                                   drawn.insert(drawn.end(), words, words + count);
                                 });
    REQUIRE(drawn.size() == n);
    for (std::size_t i = 0; i < n; ++i) REQUIRE(drawn[i] == ap::philox(3, i / 4, 5).words[i % 4]);
  }
}

}  // namespace
