// A network trained here, read elsewhere: its parameters as safetensors, some inputs and its outputs as .npz. And back.
// tests/golden/check_formats.py reads them with PyTorch, JAX and NumPy and comes to the same outputs.
#include <algoperf/algoperf.hpp>
#include <algoperf/formats/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>
#include <filesystem>
namespace ap = algoperf;

int main(int count, char** words) {
  const std::string folder = count > 1 ? words[1] : std::filesystem::temp_directory_path().string();
  const ap::GlyphDigits task;
  const auto make = [&](std::uint64_t seed) {
    return ap::TrainingLoop(task.model(), task.loss(), ap::adamw(), ap::Constant{1e-3},
                            ap::ShuffledEpochs{.batch = 128}, ap::Seed{seed});
  };
  auto trained = make(1), other = make(2);
  trained.run(task.train(), ap::UntilStep{100});

  // [readme
  ap::save_safetensors(folder + "/values.safetensors", ap::values_dict(trained));  // and into another loop:
  ap::load_values(ap::load_safetensors(folder + "/values.safetensors"), other);
  std::printf("largest row of the first matrix: %.4f\n", ap::as_eigen(other, "0.weight").rowwise().norm().maxCoeff());
  // readme]

  std::vector<float> inputs(16 * 784);
  std::vector<std::uint32_t> indices(16);
  std::vector<std::int32_t> labels(16);
  for (std::uint32_t i = 0; i < 16; ++i) indices[i] = i;
  task.validation().gather(indices.data(), 16, inputs.data(), labels.data());
  ap::StateDict examples;
  examples.set("inputs", inputs, {16, 784});
  examples.set("outputs", other.predict(inputs), {16, 10});
  ap::save_npz(folder + "/examples.npz", examples);
  const bool same = ap::load_npz(folder + "/examples.npz").arrays() == examples.arrays() &&
                    other.predict(inputs) == trained.predict(inputs);
  std::printf("written to %s, read back %s\n", folder.c_str(), same ? "the same" : "DIFFERENT");
  return same ? 0 : 1;
}
