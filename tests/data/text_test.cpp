#include "algoperf/data/readers/text.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../support/folder.hpp"

namespace ap = algoperf;

static_assert(ap::Dataset<ap::Text>);
static_assert(ap::Dataset<ap::Slice<ap::Text>>);

TEST_CASE("Text predicts the character after its context") {
  const auto text = ap::Text::from_string("hello world", {.context = 4});
  CHECK(text.vocabulary() == " dehlorw");
  CHECK(text.size() == 7);
  CHECK(text.classes() == 8);
  CHECK(text.shape() == ap::Shape(4));
  const std::uint32_t indices[] = {6, 0};
  std::int32_t x[8], y[2];
  text.gather(indices, 2, x, y);
  CHECK(text.decode(x, 4) == "worl");
  CHECK(text.decode(&y[0], 1) == "d");
  CHECK(text.decode(x + 4, 4) == "hell");
  CHECK(text.decode(&y[1], 1) == "o");
}

TEST_CASE("encode and decode are inverses, for every byte") {
  std::string all;
  for (int i = 255; i >= 0; --i) all.push_back(static_cast<char>(i));
  const auto text = ap::Text::from_string(all);
  CHECK(text.classes() == 256);
  CHECK(text.decode(text.encode(all)) == all);
  CHECK(text.encode(std::string(1, '\xff'))[0] == 255);
}

TEST_CASE("slices of a text share its vocabulary") {
  const auto text = ap::Text::from_string("aaaaaaaabbbbbbbb", {.context = 2});
  const auto train = text.subset(0, 4), validation = text.subset(8, 14);
  CHECK(train.classes() == 2);
  CHECK(validation.classes() == 2);
  const std::uint32_t index = 0;
  std::int32_t x[2], y;
  validation.gather(&index, 1, x, &y);
  CHECK(text.decode(x, 2) == "bb");
}

TEST_CASE("Text names invalid input") {
  CHECK_THROWS_WITH_AS(ap::Text::from_string(""), "Text: is empty, expected more than 16 characters", ap::Error);
  CHECK_THROWS_WITH_AS(ap::Text::from_string("four", {.context = 4}),
                       "Text: has 4 characters, expected more than the context of 4", ap::Error);
  CHECK_THROWS_WITH_AS(ap::Text::from_string("four", {.context = 0}), "Text: context is 0, expected at least 1",
                       ap::Error);
  const auto text = ap::Text::from_string("abc", {.context = 1});
  CHECK_THROWS_WITH_AS(text.encode("az"),
                       "Text: byte 1 to encode is 122, expected one of the 3 bytes of the vocabulary", ap::Error);
  CHECK_THROWS_WITH_AS(text.decode({0, 3}), "Text: token 1 to decode is 3, expected [0, 3)", ap::Error);
  CHECK_THROWS_WITH_AS(ap::Text::load("no/such/text"), "no/such/text: cannot be opened: No such file or directory",
                       ap::Error);
  CHECK_THROWS_WITH_AS(ap::Text::load("/tmp"), "/tmp: cannot be read: Is a directory", ap::Error);
}

TEST_CASE("Text reads a file") {
  const Folder folder;
  std::string lines;
  for (int i = 0; i < 10000; ++i) lines += "abc\n";
  const auto text = ap::Text::load(folder.write("text", lines), {.context = 3});
  CHECK(text.tokens().size() == 40000);
  CHECK(text.vocabulary() == "\nabc");
}
