// Trains a Conformer that recognises strings of spoken digits, or loads a trained one, and transcribes recordings.
// After training with --save, it uses the checkpoint with the lowest word error rate; without --save, the model after
// the last step.
//   transcribe --data data --steps 1500 --save digits.checkpoint
//   transcribe --load digits.checkpoint --recording number.wav
#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/data/readers/wav.hpp>
#include <algoperf/data/token_sequences.hpp>
#include <algoperf/workloads/digit_strings.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string data = ap::data_root(), load, save, recording;
  std::uint64_t steps = 1500;
  std::size_t strings = 3000, examples = 5;
};

Options options_of(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Trains a Conformer that recognises spoken digits, or loads one, and transcribes recordings with it.");
  line.option("--data", options.data, "folder with spoken-digits/").shows_default();
  line.option("--steps", options.steps, "training steps").whole(20, 1'000'000'000).shows_default();
  line.option("--strings", options.strings,
              "training strings; with --load, the number used in training, unless both are at least 500")
      .whole(1, 100'000)
      .shows_default();
  const CommandLine::Option save =
      line.option("--save", options.save, "file to write the model with the least validation error to");
  line.option("--load", options.load, "file to read a model from, instead of training one").excludes(save);
  line.option("--recording", options.recording, "WAV file to transcribe, mono, 8000 samples per second");
  line.option("--examples", options.examples, "test strings to transcribe if there is no --recording")
      .whole(1, 400)
      .shows_default();
  line.parse(argc, argv);
  return options;
}

template <class Predictor>
void train(const Options& options, const ap::DigitStringsConformer& task, Predictor& predictor) {
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw({.weight_decay = 0.02}),
                        ap::WarmupCosine{.peak = 1e-2, .warmup = options.steps / 20, .total = options.steps},
                        ap::ShuffledEpochs{.batch = task.batch_size()});
  const ap::Evaluate evaluate(task, {.every = std::max<std::uint64_t>(options.steps / 10, 50)});
  if (options.save.empty()) {
    loop.run(task.train(), evaluate, ap::UntilStep{options.steps}, ap::ProgressBar{});
    ap::load_values(ap::evaluation_values_dict(loop), predictor);
  } else {
    loop.run(task.train(), evaluate, ap::UntilStep{options.steps}, ap::ProgressBar{}, ap::BestCheckpoint{options.save});
  }
}

// Symbol d + 1 is digit d.
std::string digits_of(std::span<const std::int32_t> symbols) {
  std::string digits;
  for (const std::int32_t symbol : symbols) digits += static_cast<char>('0' + symbol - 1);
  return digits;
}

// Returns what is heard in each utterance.
template <class Predictor>
std::vector<std::string> transcribed(Predictor& predictor, const ap::SpeechFields& utterances) {
  std::vector<std::string> heard;
  for (const auto& symbols :
       ap::ctc_decode(predictor.predict(utterances), utterances, "frames", predictor.output_width()))
    heard.push_back(digits_of(symbols));
  return heard;
}

void run(const Options& options) {
  const ap::DigitStringsConformer task{.data = options.data, .strings = options.strings};
  ap::Predictor predictor(task.model(), ap::Host<>{}, 32);
  if (options.load.empty()) train(options, task, predictor);
  if (const std::string file = options.load.empty() ? options.save : options.load; !file.empty())
    ap::load_evaluation_values(file, predictor);

  if (!options.recording.empty()) {
    const ap::Wav wav = ap::load_wav(options.recording);
    ap::require(wav.channels == 1, options.recording, ": there are ", wav.channels, " channels, expected 1");
    const ap::Utterance said{.samples = wav.samples, .symbols = {}, .sample_rate = wav.sample_rate};
    fmt::print("{}\n", transcribed(predictor, task.fields({&said, 1}))[0]);
    return;
  }
  const std::vector<std::string> heard = transcribed(predictor, task.test());
  const auto said = ap::token_sequences(task.test(), "label");
  for (std::size_t i = 0; i < options.examples; ++i) fmt::print("said {:<5}  heard {}\n", digits_of(said[i]), heard[i]);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  if (!std::filesystem::exists(options.data + "/spoken-digits")) {
    fmt::print(stderr, "transcribe: {}/spoken-digits does not exist: give --data a folder that has it\n", options.data);
    return 77;
  }
  try {
    run(options);
  } catch (const ap::Error& error) {
    fmt::print(stderr, "transcribe: {}\n", error.what());
    return 1;
  }
}
