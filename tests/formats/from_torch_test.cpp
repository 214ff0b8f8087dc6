// PyTorch's names and orders of axes.
#include <doctest/doctest.h>

#include <algoperf/formats/from_torch.hpp>
#include <algoperf/formats/safetensors.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sentence.hpp"

namespace of_from_torch {

namespace ap = algoperf;

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_CASE("from_torch: convolutions have their channels last, and norms have our names") {
  ap::StateDict theirs;
  theirs.set("0.weight", counted(2 * 3 * 2 * 2), {2, 3, 2, 2});
  theirs.set("0.bias", counted(2), {2});
  theirs.set("1.weight", counted(2), {2});
  theirs.set("1.bias", counted(2), {2});
  theirs.set("1.running_mean", counted(2), {2});
  theirs.set("1.running_var", counted(2), {2});
  theirs.set("1.num_batches_tracked", std::int64_t{7});
  theirs.set("4.weight", std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  const ap::StateDict ours = ap::from_torch(theirs);
  std::vector<std::string> names;
  for (const auto& array : ours.arrays()) names.push_back(array.name);
  CHECK(names ==
        std::vector<std::string>{"0.weight", "0.bias", "1.scale", "1.bias", "1.mean", "1.variance", "4.weight"});
  CHECK(ours.at("0.weight").shape == std::vector<std::size_t>{2, 2, 2, 3});
  // Element (filter, row, column, channel) of ours is (filter, channel, row, column) of theirs.
  CHECK(ours.get<float>("0.weight") ==
        std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23});
  CHECK(ours.get<float>("1.scale") == std::vector<float>{0, 1});
  CHECK(ours.get<double>("4.weight") == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("from_torch: inputs of a flattened image are reordered, and mistakes name the array") {
  ap::StateDict theirs;
  theirs.set("7.weight", counted(12), {1, 12});
  // 12 inputs: 3 channels of 2 x 2.
  const ap::StateDict ours = ap::from_torch(theirs, {{"7.weight", 2, 2, 3}});
  CHECK(ours.at("7.weight").shape == std::vector<std::size_t>{1, 12});
  CHECK(ours.get<float>("7.weight") == std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(sentence([&] {
          ap::from_torch(theirs, {{"7.weight", 2, 2, 2}});
        }) == "from_torch: '7.weight' has shape {1, 12}, expected 8 inputs, those of an image of 2 x 2 x 2");
  CHECK(sentence([&] {
          ap::from_torch(theirs, {{"6.weight", 2, 2, 3}});
        }) == "from_torch: there is no array '6.weight', which was to be reordered");
}

TEST_CASE("from_torch: two arrays of one name") {
  ap::StateDict theirs;
  theirs.set("1.weight", counted(2), {2});
  theirs.set("1.scale", counted(2), {2});
  CHECK(sentence([&] { ap::from_torch(theirs); }) == "from_torch: two arrays become '1.scale'");
}

TEST_CASE("from_torch: empty arrays and names without a layer") {
  ap::StateDict theirs;
  theirs.set("weight", counted(3), {3});
  theirs.set("empty", std::vector<float>{}, {0, 3, 2, 2});
  const ap::StateDict ours = ap::from_torch(theirs);
  CHECK(ours.get<float>("scale") == counted(3));
  CHECK(ours.at("empty").shape == std::vector<std::size_t>{0, 2, 2, 3});
}

}  // namespace of_from_torch
