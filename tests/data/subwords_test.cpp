// Subwords against Hugging Face's tokenizers (tests/golden/make_subwords.py).
#include <algoperf/data/subwords.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../golden/subwords.hpp"

namespace algoperf::testing::of_subwords {

TEST_CASE("subwords: names and tokens are those of Hugging Face's tokenizers") {
  const Subwords subwords(golden::subword_sentences, 1000);  // more than there are pairs
  REQUIRE(subwords.size() == golden::subword_names.size());
  for (std::size_t i = 0; i < subwords.size(); ++i)
    CHECK(subwords.name(static_cast<std::int32_t>(i)) == golden::subword_names[i]);
  const std::size_t known = golden::subword_sentences.size();
  REQUIRE(golden::subword_tokens.size() == known + golden::subword_tests.size());
  for (std::size_t i = 0; i < golden::subword_tokens.size(); ++i) {
    const std::string& text = i < known ? golden::subword_sentences[i] : golden::subword_tests[i - known];
    CAPTURE(text);
    CHECK(subwords.encode(text) == golden::subword_tokens[i]);
  }
}

TEST_CASE("subwords: sentences come back with single blanks, whatever the bytes") {
  const Subwords subwords({"to be or not to be", "été"}, 30);
  CHECK(subwords.decode(subwords.encode("  to\tbe \n")) == "to be");
  CHECK(subwords.decode(subwords.encode("eté")) == "eté");
  CHECK(subwords.encode("").empty());
  const std::int32_t mark = subwords.encode("x")[0];
  CHECK(subwords.decode(std::vector<std::int32_t>{mark, mark, subwords.encode("b")[1], mark, mark}) == "b");
  CHECK(subwords.decode({}).empty());
  CHECK(subwords.decode(std::vector<std::int32_t>{Subwords::begin, Subwords::end, Subwords::pad}).empty());
  CHECK(subwords.decode(subwords.encode("bz")) == "b<unknown>");
  const Subwords broken({"a\xC3 \xFF\x80z \xE2\x82"}, 40);  // characters that are cut off, and a byte that begins none
  CHECK(broken.decode(broken.encode("a\xC3 \xE2\x82")) == "a\xC3 \xE2\x82");
}

TEST_CASE("subwords: ends when all words are tokens, and names what is too small") {
  const Subwords all({"ab ab cb"}, 1000);
  CHECK(all.encode("ab cb").size() == 2);
  CHECK(all.size() == 4 + 4 + 4);  // the mark, a, b, c; ab and cb in two merges each
  CHECK_THROWS_WITH(Subwords({"abc"}, 7),
                    "Subwords: size is 7, expected at least 8, for the special tokens and the characters of the "
                    "sentences, and below 2^31");
  CHECK_THROWS_WITH((void)all.name(-1), "Subwords: the token is -1, expected [0, 12)");
}

}  // namespace algoperf::testing::of_subwords
