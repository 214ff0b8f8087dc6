// Strings of spoken digits: their spectrograms as fields, and the workload.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/digit_strings.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../support/data_path.hpp"

namespace algoperf::testing::of_digit_strings {

// Recordings whose samples tell which they are.
std::vector<SpokenDigit> made_up_recordings() {
  std::vector<SpokenDigit> recordings;
  for (const char* const speaker : {"ada", "bob"})
    for (std::int32_t digit = 0; digit < 10; ++digit) {
      const float first = static_cast<float>(digit) / 16 + (speaker[0] == 'a' ? 0.0f : 0.5f);
      recordings.push_back(
          {.name = "", .digit = digit, .speaker = speaker, .sample_rate = 8000, .samples = {first, first, first}});
    }
  return recordings;
}

TEST_CASE("strings of digits: one speaker each, reproducible, of all lengths") {
  const auto strings = strings_of_digits(made_up_recordings(), 200, 4, RandomKey{1});
  REQUIRE(strings.size() == 200);
  std::set<std::size_t> lengths;
  for (const Utterance& string : strings) {
    lengths.insert(string.symbols.size());
    REQUIRE(string.samples.size() == 3 * string.symbols.size());
    for (std::size_t i = 0; i < string.symbols.size(); ++i) {
      const float offset = string.samples[3 * i] - static_cast<float>(string.symbols[i] - 1) / 16;
      CHECK((offset == 0.0f || offset == 0.5f));
      if (i > 0) CHECK(offset == string.samples[0] - static_cast<float>(string.symbols[0] - 1) / 16);
    }
  }
  CHECK(lengths == std::set<std::size_t>{1, 2, 3, 4});
  const auto again = strings_of_digits(made_up_recordings(), 3, 4, RandomKey{1});
  CHECK(again[2].samples == strings[2].samples);
  CHECK_THROWS_WITH(strings_of_digits({}, 1, 1, RandomKey{1}), "strings_of_digits: there are no recordings");
  CHECK_THROWS_WITH(strings_of_digits(made_up_recordings(), 1, 0, RandomKey{1}),
                    "strings_of_digits: `most` is 0, expected 1 to 2^20");
}

std::vector<float> noise(std::size_t samples, std::uint64_t seed) {
  RandomStream random(RandomKey{seed});
  std::vector<float> x(samples);
  for (float& each : x) each = random.uniform() - 0.5f;
  return x;
}

// Gathers the fields of one example.
struct Gathered {
  std::vector<float> input, length = std::vector<float>(1);
  std::vector<std::int32_t> label;
  template <FieldName name>
  auto* at() const {
    if constexpr (std::string_view(name) == "label")
      return const_cast<std::int32_t*>(label.data());
    else
      return const_cast<float*>(std::string_view(name) == "input" ? input.data() : length.data());
  }
};

TEST_CASE("speech fields: standardised windows of seven frames, four frames apart") {
  const LogMel log_mel{.bands = 12};
  const std::vector<Utterance> utterances{{noise(2500, 1), {3, 1}}, {noise(1100, 2), {2}}};
  const BandStatistics statistics = band_statistics(utterances, log_mel);
  const SpeechFields data = speech_fields(utterances, log_mel, statistics);
  REQUIRE(data.size() == 2);
  CHECK(data.shape("input") == Shape{7, 12, 1});
  std::vector<double> sums(12), squares(12);
  std::size_t frames = 0;
  for (std::uint32_t u = 0; u < 2; ++u) {
    const std::vector<float> values = log_mel(utterances[u].samples);
    const std::size_t all = values.size() / 12, windows = (all - 7) / 4 + 1;
    REQUIRE(data.rows("frames", u) == windows);
    REQUIRE(data.rows("symbols", u) == utterances[u].symbols.size());
    Gathered example;
    example.input.resize(windows * 84);
    example.label.resize(utterances[u].symbols.size());
    data.gather(&u, 1, example);
    CHECK(example.label == utterances[u].symbols);
    CHECK(example.length[0] == static_cast<float>(utterances[u].symbols.size()));
    for (std::size_t w = 0; w < windows; ++w)
      for (std::size_t i = 0; i < 84; ++i) {
        const double expected =
            (static_cast<double>(values[(4 * w) * 12 + i]) - statistics.mean[i % 12]) / statistics.deviation[i % 12];
        CHECK(std::abs(static_cast<double>(example.input[w * 84 + i]) - expected) < 1e-5);
      }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = (static_cast<double>(values[i]) - statistics.mean[i % 12]) / statistics.deviation[i % 12];
      sums[i % 12] += x;
      squares[i % 12] += x * x;
    }
    frames += all;
  }
  for (std::size_t b = 0; b < 12; ++b) {
    CHECK(std::abs(sums[b] / static_cast<double>(frames)) < 1e-9);
    CHECK(std::abs(squares[b] / static_cast<double>(frames) - 1) < 1e-9);
  }
}

TEST_CASE("speech fields: errors name the utterance") {
  const LogMel log_mel{.bands = 12};
  const std::vector<Utterance> good{{noise(2500, 1), {3, 1}}};
  const BandStatistics statistics = band_statistics(good, log_mel);
  const std::vector<Utterance> cut_off{good[0], {noise(760, 3), {3, 3}}};  // 8 frames, which are one window
  CHECK_THROWS_WITH((void)speech_fields(cut_off, log_mel, statistics),
                    "speech_fields: utterance 1 has 1 windows of 7 frames, expected at least 3 for its 2 symbols");
  CHECK_THROWS_WITH((void)speech_fields(good, LogMel{}, statistics),
                    "speech_fields: there are statistics of 12 bands, the spectrograms have 40");
  CHECK_THROWS_WITH((void)band_statistics({}, log_mel),
                    "band_statistics: no utterance is as long as a frame of 200 samples");
  const std::vector<Utterance> fast{{noise(2500, 1), {1}, 16000}};
  CHECK_THROWS_WITH((void)speech_fields(fast, log_mel, statistics),
                    "utterance 0 has the sample rate 16000, LogMel expects 8000");
  const std::vector<Utterance> silent{{std::vector<float>(2000), {1}}};
  CHECK_THROWS_WITH((void)band_statistics(silent, log_mel), "band_statistics: band 0 is constant");
}

template <class Task>
void check_variants(const Task& task, const std::set<std::string>& expected) {
  std::set<std::string> names;
  task.each_variant([&](const auto& variant) {
    CHECK(variant.base == task.name);
    CHECK(variant.strings == task.strings);
    names.insert(variant.name.substr(task.name.size() + 1));
  });
  CHECK(names == expected);
}

TEST_CASE("digit strings: the workloads and their variants on the recordings") {
  static_assert(Workload<DigitStrings> && Workload<DigitStringsConformer>);
  CHECK(DigitStrings{}.strings == 3000);
  const std::string path = data_path("spoken-digits");
  if (path.empty()) return;
  const std::string data = path.substr(0, path.rfind('/'));
  const DigitStrings task{.data = data, .strings = 200};
  CHECK(task.name == "digit_strings_deep_speech");
  check_variants(task, {"tanh", "no_resnet", "norm_and_spec_aug"});
  check_variants(DigitStringsConformer{.data = data}, {"attention_temperature", "layernorm", "gelu"});
  CHECK(task.train().size() == 200);
  CHECK(task.validation().size() == 400);
  CHECK(task.test().size() == 400);
  const auto few = task.validation().subset(0, 20);
  const auto learns = [&](const auto& workload, std::uint64_t steps) {
    TrainingLoop loop(workload.model(), workload.loss(), adamw(), Constant{5e-3}, ShuffledEpochs{.batch = 8});
    const double before = loop.evaluate(few, workload.metric()).loss;
    loop.run(task.train(), UntilStep{steps});
    CHECK(loop.evaluate(few, workload.metric()).loss < 0.8 * before);
  };
  learns(task, 30);
  learns(DigitStringsConformer{}, 15);
}

}  // namespace algoperf::testing::of_digit_strings
