// The families of networks whose learning curves are measured: a data set, and networks of any width for it.
#pragma once

#include <algoperf/scaling/all.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct Trial {
  double error = 1, flops = 0;  // the best on the validation data, and of the training run
};

struct Family {
  std::string error = "validation error";
  std::size_t examples = 0;  // for training
  std::size_t smallest = 64, largest = 32768;
  std::vector<std::size_t> widths = {8, 16, 32, 64, 128, 256, 512};
  std::uint64_t batch = 64;
  // Returns how much a network's error may exceed the lowest one, so that its size is still large enough.
  std::function<double(double error)> tolerance;
  std::function<Trial(std::size_t shard, std::size_t width, std::uint64_t seed)> train;
  std::function<double(std::size_t width)> parameters;
  std::function<algoperf::Requirements(const std::vector<std::size_t>& widths)> requirements;
  // Returns the mean cost of 200 steps on all examples.
  std::function<algoperf::MeanStepCost(std::size_t width)> step_cost;
};

struct FamilyOptions {
  std::size_t largest = 65536;  // examples to draw, where data are drawn
  double label_noise = 0.05;
  std::uint64_t seed = 1;
};

// Names: glyphs, mnist, lm, translation, speech, images.
const std::vector<std::string>& family_names();
Family family_of(const std::string& name, const FamilyOptions& options);
