// Trains a Transformer from German to English, or loads a trained one, and translates. After training with --save, it
// uses the checkpoint with the best validation BLEU; without --save, the model after the last step.
//   translate --data data --steps 3000 --save translator.checkpoint
//   translate --load translator.checkpoint --sentence "Zwei Kinder spielen im Schnee."
//   translate --load translator.checkpoint --file sentences.de
#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/multi30k.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string data = ap::data_root(), load, save, file, sentence = "Zwei Kinder spielen im Schnee.";
  std::uint64_t steps = 3000;
  std::size_t pairs = 29000, beams = 4;
};

Options options_of(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Trains a Transformer that translates from German to English, or loads one, and translates with it.");
  line.option("--data", options.data, "folder with multi30k/").shows_default();
  line.option("--steps", options.steps, "training steps").whole(20, 1'000'000'000).shows_default();
  line.option("--pairs", options.pairs,
              "training pairs; with --load, the number used in training, because subwords are learned from them")
      .whole(1, 29000)
      .shows_default();
  const CommandLine::Option save =
      line.option("--save", options.save, "file to write the model with the best validation BLEU to");
  line.option("--load", options.load, "file to read a model from, instead of training one").excludes(save);
  line.option("--sentence", options.sentence, "sentence to translate").shows_default();
  line.option("--file", options.file, "file of sentences to translate, one per line, instead of --sentence");
  line.option("--beams", options.beams, "hypotheses of the beam search; 1 is greedy").whole(1, 100).shows_default();
  line.parse(argc, argv);
  return options;
}

template <class Predictor>
void train(const Options& options, const ap::Multi30k& task, Predictor& predictor) {
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw({.beta2 = 0.98, .weight_decay = 0.02}),
                        ap::WarmupCosine{.peak = 1e-2, .warmup = options.steps / 20, .total = options.steps},
                        ap::ShuffledEpochs{.batch = task.batch_size()});
  if (options.save.empty()) {
    loop.run(task.train(), ap::UntilStep{options.steps}, ap::ProgressBar{});
    ap::load_values(ap::evaluation_values_dict(loop), predictor);
  } else {
    loop.run(task.train(), ap::Evaluate(task, {.every = std::max<std::uint64_t>(options.steps / 5, 100)}),
             ap::UntilStep{options.steps}, ap::ProgressBar{}, ap::BestCheckpoint{options.save});
  }
}

void run(const Options& options) {
  const ap::Multi30k task{.data = options.data, .pairs = options.pairs};
  const ap::Subwords& subwords = task.subwords();
  ap::Predictor predictor(task.model(), ap::Host<>{}, 64);
  if (options.load.empty()) train(options, task, predictor);
  if (const std::string file = options.load.empty() ? options.save : options.load; !file.empty())
    ap::load_evaluation_values(file, predictor);

  std::vector<std::string> sentences{options.sentence};
  if (!options.file.empty()) {
    std::ifstream file(options.file);
    ap::require(file.is_open(), options.file, ": cannot be opened");
    sentences.clear();
    for (std::string line; std::getline(file, line);) sentences.push_back(line);
  }
  std::vector<std::vector<std::int32_t>> sources;
  for (const std::string& sentence : sentences) sources.push_back(ap::source_tokens(subwords, sentence));
  for (const auto& tokens : ap::beam_search(predictor, sources, {.beams = options.beams}))
    fmt::print("{}\n", subwords.decode(tokens));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  if (!std::filesystem::exists(options.data + "/multi30k")) {
    fmt::print(stderr, "translate: {}/multi30k does not exist: give --data a folder that has it\n", options.data);
    return 77;
  }
  try {
    run(options);
  } catch (const ap::Error& error) {
    fmt::print(stderr, "translate: {}\n", error.what());
    return 1;
  }
}
