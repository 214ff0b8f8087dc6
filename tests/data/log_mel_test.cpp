#include "algoperf/data/log_mel.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "../golden/log_mel.hpp"

using namespace algoperf;

namespace {

std::vector<float> sound(std::size_t samples) {
  std::vector<float> x;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i);
    x.push_back(
        static_cast<float>(0.3 * std::sin(0.2 * t) + 0.2 * std::sin(0.0004 * t * t) + 0.05 * std::sin(1.3 * t)));
  }
  return x;
}

}  // namespace

TEST_CASE("log-mel: agrees with transformers") {
  for (const golden::LogMelCase& of : golden::log_mel) {
    INFO("rate ", of.rate, " window ", of.window);
    const LogMel log_mel{.rate = of.rate,
                         .window = of.window,
                         .hop = of.hop,
                         .fft = of.fft,
                         .bands = of.bands,
                         .f_min = of.low,
                         .f_max = of.high};
    const std::vector<float> found = log_mel(sound(of.samples));
    REQUIRE(found.size() == of.values.size());
    CHECK(found.size() == log_mel.frames(of.samples) * of.bands);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(static_cast<double>(found[i]) - of.values[i]) < 1e-4);
  }
}

TEST_CASE("log-mel: frames, silence, and errors") {
  CHECK(LogMel{}.frames(199) == 0);
  CHECK_THROWS_AS((void)LogMel{.hop = 0}.frames(300), Error);
  CHECK(LogMel{}.frames(200) == 1);
  CHECK(LogMel{}.frames(280) == 2);
  CHECK(LogMel{}(sound(150)).empty());
  for (const float x : LogMel{}(std::vector<float>(400))) CHECK(x == static_cast<float>(std::log(1e-5)));
  const auto with = [](LogMel log_mel) { return [log_mel] { (void)log_mel(sound(300)); }; };
  CHECK_THROWS_WITH(with({.hop = 0})(),
                    "LogMel: rate is 8000, window 200, hop 0 and bands 40, expected all at least 1");
  CHECK_THROWS_WITH(with({.fft = 128})(), "LogMel: fft is 128, expected at least the window, 200");
  CHECK_THROWS_WITH(with({.f_max = 5000})(),
                    "LogMel: f_min is 125 and f_max 5000, expected 0 <= f_min < f_max <= 4000, half of the rate");
  CHECK_THROWS_WITH(with({.preemphasis = 1})(), "LogMel: preemphasis is 1, expected [0, 1)");
  CHECK_THROWS_WITH(with({.floor = 0})(), "LogMel: floor is 0, expected more than 0");
  CHECK_THROWS_WITH(with({.bands = 200})(),
                    "LogMel: no frequency of a spectrum of 256 points falls into band 1: bands is 200");
}
