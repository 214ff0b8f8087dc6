#include "algoperf/data/readers/spoken_digits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "files.hpp"
#include "tar_files.hpp"

namespace ap = algoperf;

namespace {

std::string wav(const std::string& samples, char rate = 100, char channels = 1) {
  const std::string format{1, 0, channels, 0, rate, 0, 0, 0, 0, 0, 0, 0, channels, 0, 8, 0};
  const std::string filled = samples + std::string(samples.size() % 2, '\0');
  std::string bytes = "RIFF....WAVEfmt " + std::string("\x10\0\0\0", 4) + format + "data....";
  bytes.replace(4, 4, {static_cast<char>(36 + filled.size()), 0, 0, 0});
  bytes.replace(40, 4, {static_cast<char>(samples.size()), 0, 0, 0});
  return bytes + filled;
}

// Writes a file `f` in a temporary folder and reads it.
struct RecordingsFile {
  RecordingsFile() : f(folder / "f") {}
  ap::SpokenDigits load(const std::string& members) const {
    return ap::load_spoken_digits(folder.write("f", members + tar_end));
  }
  std::string error(const std::string& members) const {
    return sentence([&] { load(members); });
  }
  Folder folder;
  std::string f;
};

}  // namespace

TEST_CASE("file names give digit, speaker and index; indices 0 to 4 are the test set") {
  const RecordingsFile file;
  const ap::SpokenDigits digits =
      file.load(tar_member("r/7_theo_5.wav", wav("\x80\xC0")) + tar_member("README.md", "not a recording") +
                tar_member("r/._7_theo_5.wav", "a shadow") + tar_member("3_a_b_12.wav", wav("\x40")) +
                tar_member("r/7_theo_4.wav", wav("")));
  REQUIRE(digits.train.size() == 2);
  REQUIRE(digits.test.size() == 1);
  CHECK(digits.train[0].name == "3_a_b_12.wav");
  CHECK(digits.train[0].speaker == "a_b");
  CHECK(digits.train[0].index == 12);
  CHECK(digits.train[1].digit == 7);
  CHECK(digits.train[1].speaker == "theo");
  CHECK(digits.train[1].sample_rate == 100);
  CHECK(digits.train[1].samples == std::vector<float>{0, 0.5f});
  CHECK(digits.test[0].name == "r/7_theo_4.wav");
  CHECK(digits.test[0].samples.empty());
}

TEST_CASE("invalid recordings are refused by name") {
  const RecordingsFile file;
  const std::string& f = file.f;
  for (const char* const name : {"7_theo", "theo_7_3", "7__3", "17_theo_3", "7_theo_", "7_theo_x", "7_theo_-3", "7_3",
                                 "", "7_theo_99999999999", "x_theo_3", "7_theo_3x"})
    CHECK(file.error(tar_member("r/" + std::string(name) + ".wav", wav(""))) ==
          f + ": \"r/" + name + ".wav\": expected a name like 7_theo_3.wav: digit, speaker, index");
  CHECK(file.error(tar_member("a", "")) == f + ": has no .wav file");
  CHECK(file.error(tar_member("7_theo_3.wav", "RIFF")) ==
        f + ": \"7_theo_3.wav\": has 4 bytes, expected at least 12 for a RIFF header");
  CHECK(file.error(tar_member("7_theo_3.wav", wav("", 100, 2))) ==
        f + ": \"7_theo_3.wav\": has 2 channels, expected 1");
  CHECK(file.error(tar_member("7_theo_3.wav", wav("")) + tar_member("7_theo_4.wav", wav("", 50))) ==
        f + ": \"7_theo_4.wav\": has the sample rate 50, expected 100 as in the first recording");
  CHECK(file.error(tar_member("a/7_theo_3.wav", wav("")) + tar_member("7_theo_2.wav", wav("")) +
                   tar_member("a/7_theo_3.wav", wav(""))) == f + ": \"a/7_theo_3.wav\" occurs twice");
}

// The expected values come from Python's tarfile and wave on the same archive.
TEST_CASE("the Free Spoken Digit Dataset") {
  const std::string path = data_path("spoken-digits/recordings.tar.gz");
  if (path.empty()) return;
  const ap::SpokenDigits digits = ap::load_spoken_digits(path);
  CHECK(digits.train.size() == 2700);
  CHECK(digits.test.size() == 300);
  std::map<std::string, std::size_t> speakers;
  std::size_t of_digit[10] = {}, frames = 0, other_rates = 0, found = 0;
  for (const auto* part : {&digits.train, &digits.test})
    for (const ap::SpokenDigit& spoken : *part) {
      ++speakers[spoken.speaker];
      ++of_digit[spoken.digit];
      frames += spoken.samples.size();
      other_rates += spoken.sample_rate != 8000;
      if (spoken.name != "recordings/7_theo_3.wav") continue;
      ++found;
      REQUIRE(spoken.samples.size() == 2292);
      const float first[] = {7, 6, -8, 11, -9, 3, -9, 22};
      for (std::size_t i = 0; i < 8; ++i) CHECK(spoken.samples[i] * 32768 == first[i]);
      double sum = 0;
      float least = 0, most = 0;
      for (const float x : spoken.samples) {
        sum += static_cast<double>(x);
        least = std::min(least, x);
        most = std::max(most, x);
      }
      CHECK(sum * 32768 == -447);
      CHECK(least * 32768 == -928);
      CHECK(most * 32768 == 1096);
    }
  CHECK(found == 1);
  CHECK(other_rates == 0);
  CHECK(frames == 10498424);
  for (const std::size_t n : of_digit) CHECK(n == 300);
  CHECK(speakers.size() == 6);
  for (const char* const name : {"george", "jackson", "lucas", "nicolas", "theo", "yweweler"})
    CHECK(speakers[name] == 500);
}
