#include "algoperf/data/readers/sentence_pairs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "algoperf/data/readers/vocabulary.hpp"
#include "files.hpp"

namespace ap = algoperf;
using Strings = std::vector<std::string>;
using Tokens = std::vector<std::int32_t>;

TEST_CASE("line i of one file corresponds to line i of the other") {
  const Folder folder;
  write_gzipped(folder, "de.gz",
                "\xEF\xBB\xBF"
                "ein Hund\r\n\nzwei\n");
  folder.write("en", "a dog\n\ntwo");
  const ap::SentencePairs pairs = ap::load_sentence_pairs(folder / "de", folder / "en");
  CHECK(pairs.size() == 3);
  CHECK(pairs.source == Strings{"ein Hund", "", "zwei"});
  CHECK(pairs.target == Strings{"a dog", "", "two"});
}

TEST_CASE("files with different numbers of lines are refused with both counts") {
  const Folder folder;
  const std::string de = folder.write("de", "a\nb\nc\n"), en = folder.write("en", "a\nb\nc\n\n");
  const auto error = [&] { return sentence([&] { ap::load_sentence_pairs(de, en); }); };
  CHECK(error() == de + " has 3 lines and " + en + " has 4, expected the same number");
  folder.write("de", "");
  folder.write("en", "");
  CHECK(error() == de + ": is empty, expected one sentence per line");
  CHECK(sentence([&] { ap::load_sentence_pairs(de, folder / "fr"); }) ==
        folder / "fr" + ": cannot be opened, nor can " + (folder / "fr") + ".gz (No such file or directory)");
  folder.write("en", "12345");
  CHECK(sentence([&] { ap::load_sentence_pairs(de, en, 4); }) ==
        en + ": decompresses to more than the limit of 4 bytes");
}

TEST_CASE("words are numbered by count, then in byte order, after the four special tokens") {
  const ap::Vocabulary words({"b a  b\tc", "", " a b d\v\xC3\xA4 <pad>\r"});
  CHECK(words.size() == 10);
  Strings names;
  for (std::int32_t token = 0; token < 10; ++token) names.push_back(words.name(token));
  CHECK(names == Strings{"<pad>", "<unknown>", "<begin>", "<end>", "b", "a", "<pad>", "c", "d", "\xC3\xA4"});
  CHECK(words.count(4) == 3);
  CHECK(words.count(5) == 2);
  CHECK(words.count(9) == 1);
  CHECK(words.count(ap::Vocabulary::pad) == 0);
  CHECK(words.token("<pad>") == 6);
  CHECK(words.token("B") == ap::Vocabulary::unknown);
  CHECK(words.encode("a z\nb") == Tokens{2, 5, 1, 4, 3});
  CHECK(words.encode("") == Tokens{2, 3});
  CHECK(words.decode({2, 5, 1, 4, 3, 0, 0}) == "a <unknown> b");
}

TEST_CASE("rare words are unknown") {
  const std::vector<std::string> sentences = {"b a b c", "a b"};
  CHECK(ap::Vocabulary(sentences, {.min_count = 2}).size() == 6);
  CHECK(ap::Vocabulary(sentences, {.min_count = 3}).encode("a b c") == Tokens{2, 1, 4, 1, 3});
  CHECK(ap::Vocabulary({}).size() == 4);
}

TEST_CASE("a Vocabulary refuses unknown tokens") {
  const ap::Vocabulary words({"a"});
  CHECK(sentence([&] { words.name(5); }) == "Vocabulary: the token is 5, expected [0, 5)");
  CHECK(sentence([&] { words.count(-1); }) == "Vocabulary: the token is -1, expected [0, 5)");
  CHECK(sentence([&] { words.decode({-7}); }) == "Vocabulary: the token is -7, expected [0, 5)");
}

// The expected counts come from Python's collections.Counter over the lines, split at white space.
TEST_CASE("the Multi30k data set") {
  const std::string folder = data_path("multi30k");
  if (folder.empty()) return;
  const ap::SentencePairs pairs = ap::load_sentence_pairs(folder + "/train.de", folder + "/train.en");
  CHECK(pairs.size() == 29000);
  CHECK(pairs.source[0] ==
        "Zwei junge wei\xC3\x9F"
        "e M\xC3\xA4nner sind im Freien in der N\xC3\xA4he vieler B\xC3\xBCsche.");
  CHECK(pairs.target[0] == "Two young, White males are outside near many bushes.");
  CHECK(pairs.target[28999].ends_with(" in the background."));
  const ap::Vocabulary german(pairs.source), english(pairs.target);
  CHECK(german.size() == 24906 + 4);
  CHECK(english.size() == 15456 + 4);
  CHECK(ap::Vocabulary(pairs.source, {.min_count = 2}).size() == 9759 + 4);
  CHECK(ap::Vocabulary(pairs.target, {.min_count = 2}).size() == 7960 + 4);
  CHECK(german.name(4) == "Ein");
  CHECK(german.count(4) == 13901);
  CHECK(english.name(6) == "in");
  CHECK(english.count(6) == 14830);
  for (std::size_t i = 0; i < 29000; i += 1000)
    CHECK(english.encode(english.decode(english.encode(pairs.target[i]))) == english.encode(pairs.target[i]));
  CHECK(ap::load_sentence_pairs(folder + "/val.de", folder + "/val.en").size() == 1014);
  CHECK(ap::load_sentence_pairs(folder + "/test_2016_flickr.de", folder + "/test_2016_flickr.en").size() == 1000);
}
