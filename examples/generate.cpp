// Trains a language model of Shakespeare's plays, or loads one, and writes text with it. With --save, the saved model
// writes the text, the one with the best validation perplexity; without, the model after the last step does.
//   generate --data data --steps 3000 --save lm.checkpoint
//   generate --load lm.checkpoint --prompt "ROMEO:" --temperature 0.7 --characters 500
#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string data = ap::data_root(), load, save, prompt = "ROMEO:";
  std::uint64_t steps = 3000, seed = 1;
  std::size_t characters = 400;
  double temperature = 0.7;
};

Options options_of(int argc, char** argv) {
  Options options;
  CommandLine line("Trains a language model of Shakespeare's plays, or loads one, and writes text with it.");
  line.option("--data", options.data, "folder with shakespeare/input.txt").shows_default();
  line.option("--steps", options.steps, "training steps").whole(20, 1'000'000'000).shows_default();
  line.option("--save", options.save, "file to write the model with the best validation perplexity to");
  line.option("--load", options.load, "file to read a model from, instead of training one");
  line.option("--prompt", options.prompt, "the beginning of the text").shows_default();
  line.option("--characters", options.characters, "characters to write").whole(0, 1'000'000).shows_default();
  line.option("--temperature", options.temperature, "divides the logits; 0 takes the most probable character")
      .real(0, 1000)
      .shows_default();
  line.option("--seed", options.seed, "of the drawn characters").whole(0, UINT64_MAX).shows_default();
  line.parse(argc, argv);
  return options;
}

void run(const Options& options) {
  const ap::ShakespeareLm task{.data = options.data};
  const ap::Text text = task.train().whole().text();
  const std::vector<std::int32_t> prompt = text.encode(options.prompt);
  ap::require(!prompt.empty(), "--prompt is empty, expected at least one character");
  ap::Predictor predictor(task.model(), ap::Host<>{}, 1);
  if (options.load.empty()) {
    ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw({.beta2 = 0.95, .weight_decay = 0.1}),
                          ap::WarmupCosine{.peak = 1e-2, .warmup = options.steps / 20, .total = options.steps},
                          ap::ShuffledEpochs{.batch = task.batch_size()});
    const ap::Evaluate evaluate(task, {.every = std::max<std::uint64_t>(options.steps / 10, 100)});
    if (options.save.empty())
      loop.run(task.train(), evaluate, ap::UntilStep{options.steps}, ap::ProgressBar{});
    else
      loop.run(task.train(), evaluate, ap::UntilStep{options.steps}, ap::ProgressBar{},
               ap::BestCheckpoint{options.save});
    if (options.save.empty()) ap::load_values(ap::evaluation_values_dict(loop), predictor);
  }
  if (const std::string file = options.load.empty() ? options.save : options.load; !file.empty())
    ap::load_evaluation_values(file, predictor);
  const auto tokens = ap::generate(
      predictor, prompt, {.count = options.characters, .temperature = options.temperature, .seed = options.seed});
  fmt::print("{}{}\n", options.prompt, text.decode(tokens));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  if (!std::filesystem::exists(options.data + "/shakespeare/input.txt")) {
    fmt::print(stderr, "generate: {}/shakespeare/input.txt does not exist: give --data a folder that has it\n",
               options.data);
    return 77;
  }
  try {
    run(options);
  } catch (const ap::Error& error) {
    fmt::print(stderr, "generate: {}\n", error.what());
    return 1;
  }
}
