#include "algoperf/state/state_dict.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ap = algoperf;

namespace {

// A state of one number with the given name.
struct State {
  float x = 1;
  void visit(auto& archive) { archive.array("w/x", &x, 1); }
};

ap::StateDict dict_of(std::size_t arrays) {
  ap::StateDict dict;
  for (std::size_t i = 0; i < arrays; ++i) dict.set(std::to_string(i), static_cast<float>(i));
  return dict;
}

}  // namespace

TEST_CASE("arrays keep the order in which they were first set, and many are found by name") {
  ap::StateDict dict = dict_of(1000);
  dict.set("3", std::vector<double>{1, 2});
  REQUIRE(dict.arrays().size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) CHECK(&dict.at(std::to_string(i)) == &dict.arrays()[i]);
  CHECK(dict.at("3").size == 2);
  CHECK(!dict.contains("1000"));
  CHECK(!dict.contains(""));
  CHECK_THROWS_WITH_AS((void)dict.at("1000"), "state_dict: there is no array '1000'", ap::Error);

  ap::StateDict copy = dict;
  copy.set("1000", 7.0f);
  CHECK(copy.get<float>("1000").front() == 7);
  CHECK(!dict.contains("1000"));
  const ap::StateDict moved = std::move(copy);
  CHECK(moved.get<float>("999").front() == 999);
}

TEST_CASE("the arrays of a temporary dict outlive it") {
  State state;
  float sum = 0;
  for (const auto& array : ap::state_dict(state).arrays()) sum += static_cast<float>(array.size);
  CHECK(sum == 1);
  static_assert(!std::is_reference_v<decltype(ap::state_dict(state).arrays())>);
  static_assert(!std::is_reference_v<decltype(ap::state_dict(state).at("w/x"))>);
  static_assert(!std::is_reference_v<decltype(ap::state_dict(state).at<float>("w/x"))>);
  ap::StateDict dict = ap::state_dict(state);
  CHECK(std::move(dict).arrays().size() == 1);
  CHECK(!dict.contains("w/x"));
}

TEST_CASE("array names match tensors by whole parts only") {
  std::vector<std::string> parts;
  ap::detail::for_each_part("a/bc/d", [&](const std::string& part) { parts.push_back(part); });
  CHECK(parts == std::vector<std::string>{"a", "a/bc", "a/bc/d", "bc", "bc/d", "d"});
  ap::Layout layout(1);
  layout.add({"w", ap::Kind::weight, {1, 1}});
  State state;
  CHECK(ap::state_dict(state, layout).at("w/x").shape == std::vector<std::size_t>{1, 1});
  ap::Layout other(1);
  other.add({"w/", ap::Kind::weight, {1, 1}});
  other.add({"/x", ap::Kind::weight, {1, 1, 1}});
  CHECK(ap::state_dict(state, other).at("w/x").shape == std::vector<std::size_t>{1});
}

TEST_CASE("an array whose bytes do not match its type is refused") {
  ap::StateDict dict;
  dict.set_bytes("x", "float32", 8, {2}, std::vector<unsigned char>(16));
  CHECK_THROWS_WITH_AS((void)dict.get<float>("x"), "state_dict: 'x' has 16 bytes for 2 elements of float32", ap::Error);
}
