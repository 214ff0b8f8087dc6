// Exchanges a network with other libraries: parameters as safetensors, inputs and outputs as .npz, in both directions.
//
//   10_formats [folder]            writes files to the folder; tests/golden/check_formats.py reads them with PyTorch,
//                                  JAX and NumPy, checks the outputs, continues the training, and writes its own files
//   10_formats folder back         reads the files of that script: continues PyTorch's training, and predicts with a
//                                  network created by PyTorch
#include <algoperf/algoperf.hpp>
#include <algoperf/formats/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
namespace ap = algoperf;

const ap::GlyphDigits task;

auto mlp_loop(std::uint64_t seed) {
  return ap::TrainingLoop(task.model(), task.loss(), ap::adamw(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 128},
                          ap::Seed{seed});
}

auto cnn_loop() {
  const ap::Model model(ap::Shape{28, 28, 1}, ap::Conv2d{.filters = 6, .padding = 1}, ap::BatchNorm{}, ap::Relu{},
                        ap::MaxPool{}, ap::Conv2d{.filters = 8, .size = 5, .padding = 2}, ap::BatchNorm{}, ap::Relu{},
                        ap::MaxPool{}, ap::Flatten{}, ap::Dense{.units = 10, .output_layer = true});
  return ap::TrainingLoop(model, task.loss(), ap::adamw(), ap::Constant{1e-2}, ap::ShuffledEpochs{.batch = 64});
}

// The batch that every step uses.
auto batch() { return task.validation().subset(0, 128); }

template <class Data>
ap::StateDict as_dict(const Data& data) {
  std::vector<std::uint32_t> indices(data.size());
  for (std::uint32_t i = 0; i < data.size(); ++i) indices[i] = i;
  std::vector<float> inputs(data.size() * 784);
  std::vector<std::int32_t> labels(data.size());
  data.gather(indices.data(), data.size(), inputs.data(), labels.data());
  ap::StateDict dict;
  dict.set("inputs", inputs, {data.size(), 784});
  dict.set("labels", labels);
  return dict;
}

// Returns the largest absolute difference divided by the largest absolute value of `right`.
double difference(const std::vector<float>& left, const std::vector<float>& right) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    most = std::fmax(most, std::fabs(left.at(i) - right[i]));
    largest = std::fmax(largest, std::fabs(right[i]));
  }
  return most / largest;
}

bool write(const std::string& folder) {
  auto trained = mlp_loop(1), other = mlp_loop(2);
  trained.run(task.train(), ap::UntilStep{100});

  ap::save_safetensors(folder + "/values.safetensors", ap::values_dict(trained));  // into another loop:
  ap::load_values(ap::load_safetensors(folder + "/values.safetensors"), other);
  std::printf("largest row of the first matrix: %.4f\n", ap::as_eigen(other, "0.weight").rowwise().norm().maxCoeff());

  auto cnn = cnn_loop();
  cnn.run(task.train().subset(0, 256), ap::UntilStep{20});
  ap::save_safetensors(folder + "/cnn.safetensors", ap::values_dict(cnn));
  ap::StateDict examples = as_dict(batch());
  examples.set("outputs", other.predict(batch()), {128, 10});
  examples.set("cnn_outputs", cnn.predict(batch()), {128, 10});
  ap::save_npz(folder + "/examples.npz", examples);

  // The complete state: parameters, the rule's state, the step, the selector. Another loop continues from it and gets
  // bit-identical parameters.
  auto before = mlp_loop(3), after = mlp_loop(4);
  before.run(batch(), ap::UntilStep{20});
  ap::save_safetensors(folder + "/state.safetensors", ap::state_dict(before, before.layout()));
  ap::load_state_dict(ap::load_safetensors(folder + "/state.safetensors"), after, after.layout());
  before.run(batch(), ap::UntilStep{30});
  after.run(batch(), ap::UntilStep{30});
  ap::save_safetensors(folder + "/ten_steps_later.safetensors", ap::values_dict(after));

  const bool same = ap::load_npz(folder + "/examples.npz").arrays() == examples.arrays() &&
                    other.predict(batch()) == trained.predict(batch()) &&
                    ap::values_dict(after).arrays() == ap::values_dict(before).arrays();
  std::printf("written to %s; reading back gave %s\n", folder.c_str(), same ? "the same values" : "DIFFERENT values");
  return same;
}

bool read_back(const std::string& folder) {
  auto here = mlp_loop(3), theirs = mlp_loop(4);
  here.run(batch(), ap::UntilStep{40});
  ap::load_state_dict(ap::load_safetensors(folder + "/torch_state.safetensors"), theirs, theirs.layout());
  const std::uint64_t steps = theirs.steps();
  theirs.run(batch(), ap::UntilStep{40});
  const double trained = difference(theirs.predict(batch()), here.predict(batch()));
  std::printf("ten steps of PyTorch, then steps %llu to 40 here: outputs differ by %.1e of the largest\n",
              static_cast<unsigned long long>(steps + 1), trained);

  auto cnn = cnn_loop();
  ap::load_values(ap::load_safetensors(folder + "/torch_cnn.safetensors"), cnn);
  const auto outputs = ap::load_npz(folder + "/torch_cnn_outputs.npz").get<float>("outputs");
  const double predicted = difference(cnn.predict(batch()), outputs);
  std::printf("PyTorch's CNN with batch norm: outputs differ by %.1e of the largest\n", predicted);
  return steps == 30 && trained < 1e-4 && predicted < 1e-5;
}

int main(int count, char** words) {
  const std::string folder = count > 1 ? words[1] : std::filesystem::temp_directory_path().string();
  return (count > 2 ? read_back(folder) : write(folder)) ? 0 : 1;
}
