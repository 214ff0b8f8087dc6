// from_torch(dict): converts the names and the order of axes of PyTorch's modules to those of this library's layers.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../state/state_dict.hpp"

namespace algoperf {

// The weight of a Dense that reads a flattened image. Torch flattens in the order channels, rows, columns.
struct FlattenedImage {
  std::string weight;  // its name, e.g. "9.weight"
  std::size_t rows = 1, columns = 1, channels = 1;
};

namespace detail {

// Returns an array with its axes in another order: axis i of the result is axis order[i] of `from`.
inline StateDict::Array with_axes(const StateDict::Array& from, const std::array<std::size_t, 4>& sides,
                                  const std::array<std::size_t, 4>& order) {
  StateDict::Array to = from;
  std::array<std::size_t, 4> steps{}, extents{};  // of the result's axes: strides in `from`, and sizes
  for (std::size_t i = 0; i < 4; ++i) {
    extents[i] = sides[order[i]];
    steps[i] = 1;
    for (std::size_t axis = order[i] + 1; axis < 4; ++axis) steps[i] *= sides[axis];
  }
  const std::size_t width = from.size == 0 ? 0 : from.bytes.size() / from.size;
  unsigned char* next = to.bytes.data();
  for (std::size_t a = 0; a < extents[0]; ++a)
    for (std::size_t b = 0; b < extents[1]; ++b)
      for (std::size_t c = 0; c < extents[2]; ++c)
        for (std::size_t d = 0; d < extents[3]; ++d, next += width)
          std::memcpy(next, from.bytes.data() + width * (a * steps[0] + b * steps[1] + c * steps[2] + d * steps[3]),
                      width);
  return to;
}

}  // namespace detail

// Returns the arrays of a torch state_dict of convolutions, linear layers, embeddings and norms, as load_values()
// expects them:
//   - permutes the axes of 4-D arrays, the weights of Conv2d, to filters, rows, columns, channels;
//   - renames 1-D weights, which only norms have, to "scale", running_mean to "mean" and running_var to "variance";
//   - drops num_batches_tracked;
//   - permutes the inputs of the weights in `flattened` to the order rows, columns, channels.
// Other arrays stay as they are. So torch's nn.Sequential and a Model of the same layers have the same names.
//   load_values(from_torch(load_safetensors("torch.safetensors"), {{"7.weight", 7, 7, 16}}), loop);
// Throws Error, naming the array, if an array of `flattened` is missing or does not have rows x columns x channels
// inputs, or if two arrays get the same name.
// A weight that reads a flattened image and is not in `flattened` keeps torch's order, which no shape reveals. Norms
// over several axes, and 4-D arrays that are no weights of Conv2d, need other changes.
inline StateDict from_torch(const StateDict& dict, const std::vector<FlattenedImage>& flattened = {}) {
  constexpr std::array<std::size_t, 4> channels_last{0, 2, 3, 1};
  StateDict to;
  for (const StateDict::Array& array : dict.arrays()) {
    const std::size_t dot = array.name.rfind('.') + 1;  // 0 if there is none
    const std::string part = array.name.substr(dot);
    if (part == "num_batches_tracked") continue;
    StateDict::Array converted = array;
    if (array.shape.size() == 4) {
      const std::vector<std::size_t>& n = array.shape;
      converted = detail::with_axes(array, {n[0], n[1], n[2], n[3]}, channels_last);
      converted.shape = {n[0], n[2], n[3], n[1]};
    }
    for (const FlattenedImage& image : flattened)
      if (image.weight == array.name) {
        const std::size_t inputs = image.rows * image.columns * image.channels;
        require(array.shape.size() == 2 && array.shape[1] == inputs, "from_torch: '", array.name, "' has shape ",
                detail::describe(array.shape), ", expected ", inputs, " inputs, those of an image of ", image.rows,
                " x ", image.columns, " x ", image.channels);
        converted =
            detail::with_axes(array, {array.shape[0], image.channels, image.rows, image.columns}, channels_last);
      }
    const bool of_norm = part == "weight" && array.shape.size() == 1;
    const std::string name = of_norm                  ? "scale"
                             : part == "running_mean" ? "mean"
                             : part == "running_var"  ? "variance"
                                                      : part;
    const std::size_t width = converted.size == 0 ? 1 : converted.bytes.size() / converted.size;
    require(!to.contains(array.name.substr(0, dot) + name), "from_torch: two arrays become '",
            array.name.substr(0, dot), name, "'");
    to.set_bytes(array.name.substr(0, dot) + name, array.type, width, converted.shape, std::move(converted.bytes));
  }
  for (const FlattenedImage& image : flattened)
    require(dict.contains(image.weight), "from_torch: there is no array '", image.weight,
            "', which was to be reordered");
  return to;
}

}  // namespace algoperf
