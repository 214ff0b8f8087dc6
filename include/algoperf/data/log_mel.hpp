// LogMel: log-mel spectrograms of recordings. Includes Eigen's FFT (unsupported/Eigen/FFT).
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

// The logarithms of the energies of sound in short frames and in bands that are equally wide on the mel scale,
// m(f) = 1127 ln(1 + f / 700 Hz). Of each frame of `window` samples, `hop` samples after the one before:
//   1. pre-emphasis: y_0 = (1 - p) x_0, y_t = x_t - p x_(t-1), p = preemphasis;
//   2. times the periodic Hann window, (1 - cos(2 pi t / window)) / 2;
//   3. the power spectrum |F_k|^2 of `fft` points, after padding with zeros; F_k has the frequency k rate / fft;
//   4. for each band, the sum of the powers times a triangle over m, whose corners are the centres of the bands beside
//      it: `bands` + 2 points from m(f_min) to m(f_max) at equal distances;
//   5. the natural logarithm of the energy, or of `floor` if that is larger.
// Samples are in [-1, 1). The defaults are for 8 kHz; LogMel{.rate = 16000, .window = 400, .hop = 160, .fft = 512,
// .bands = 80, .f_max = 7600} is AlgoPerf's for LibriSpeech, except that its frames end one sample later, so that the
// last may be missing there.
// Throws Error unless rate, window, hop and bands are at least 1, fft >= window, 0 <= f_min < f_max <= rate / 2,
// 0 <= preemphasis < 1 and floor > 0; and if no frequency of the spectrum falls into some band: use fewer bands or a
// larger fft.
// As the Hugging Face transformers' spectrogram(power=2, log_mel="log"), with filters that are triangles on the mel
// scale ("kaldi"). Source: Davis & Mermelstein 1980; Young et al., "The HTK book", section 5.4.
struct LogMel {
  double rate = 8000;  // samples per second
  std::size_t window = 200, hop = 80, fft = 256, bands = 40;
  double f_min = 125, f_max = 3800;  // Hz
  double preemphasis = 0.97;
  double floor = 1e-5;

  // Returns the number of frames of a recording of so many samples; frames do not reach beyond its end.
  std::size_t frames(std::size_t samples) const {
    check();
    return samples < window ? 0 : (samples - window) / hop + 1;
  }
  // Returns frames x bands values, row by row.
  std::vector<float> operator()(std::span<const float> samples) const {
    const std::size_t count = frames(samples.size());
    const std::vector<Triangle> filters = triangles();
    std::vector<double> hann(window);
    for (std::size_t t = 0; t < window; ++t)
      hann[t] = (1 - std::cos(2 * pi * static_cast<double>(t) / static_cast<double>(window))) / 2;
    Eigen::FFT<double> transform;
    std::vector<double> frame(fft), powers(fft / 2 + 1);
    std::vector<std::complex<double>> spectrum(fft);
    std::vector<float> values;
    values.reserve(count * bands);
    for (std::size_t f = 0; f < count; ++f) {
      const float* const x = samples.data() + f * hop;
      for (std::size_t t = 0; t < window; ++t) {
        const double before = static_cast<double>(x[t > 0 ? t - 1 : 0]);
        frame[t] = (static_cast<double>(x[t]) - preemphasis * before) * hann[t];
      }
      transform.fwd(spectrum, frame);
      for (std::size_t k = 0; k < powers.size(); ++k) powers[k] = std::norm(spectrum[k]);
      for (const Triangle& triangle : filters) {
        double energy = 0;
        for (std::size_t k = 0; k < triangle.factors.size(); ++k)
          energy += triangle.factors[k] * powers[triangle.first + k];
        values.push_back(static_cast<float>(std::log(std::max(energy, floor))));
      }
    }
    return values;
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
  // The factors of the frequencies of a band.
  struct Triangle {
    std::size_t first = 0;
    std::vector<double> factors = {};
  };
  static double mel(double frequency) { return 1127 * std::log1p(frequency / 700); }

  void check() const {
    require(rate >= 1 && window > 0 && hop > 0 && bands > 0, "LogMel: rate is ", rate, ", window ", window, ", hop ",
            hop, " and bands ", bands, ", expected all at least 1");
    require(fft >= window, "LogMel: fft is ", fft, ", expected at least the window, ", window);
    require(f_min >= 0 && f_min < f_max && f_max <= rate / 2, "LogMel: f_min is ", f_min, " and f_max ", f_max,
            ", expected 0 <= f_min < f_max <= ", rate / 2, ", half of the rate");
    require(preemphasis >= 0 && preemphasis < 1, "LogMel: preemphasis is ", preemphasis, ", expected [0, 1)");
    require(floor > 0, "LogMel: floor is ", floor, ", expected more than 0");
  }
  std::vector<Triangle> triangles() const {
    const double first = mel(f_min), distance = (mel(f_max) - first) / static_cast<double>(bands + 1);
    std::vector<double> mels;  // of the frequencies
    for (std::size_t k = 0; k < fft / 2 + 1; ++k)
      mels.push_back(mel(static_cast<double>(k) * rate / static_cast<double>(fft)));
    std::vector<Triangle> all(bands);
    for (std::size_t b = 0; b < bands; ++b) {
      const double centre = first + distance * static_cast<double>(b + 1);
      for (std::size_t k = 0; k < mels.size(); ++k) {
        const double factor = 1 - std::abs(mels[k] - centre) / distance;
        if (factor <= 0) continue;
        if (all[b].factors.empty()) all[b].first = k;
        all[b].factors.push_back(factor);
      }
      require(!all[b].factors.empty(), "LogMel: no frequency of a spectrum of ", fft, " points falls into band ", b,
              ": bands is ", bands);
    }
    return all;
  }
};

}  // namespace algoperf
