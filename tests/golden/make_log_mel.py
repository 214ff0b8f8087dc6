"""Writes golden log-mel spectrograms, those of the Hugging Face transformers, to log_mel.hpp in this folder.

    python -m venv venv && venv/bin/pip install transformers
    venv/bin/python tests/golden/make_log_mel.py

Sample t is 0.3 sin(0.2 t) + 0.2 sin(0.0004 t^2) + 0.05 sin(1.3 t). transformers rounds spectra to single precision.
"""
from importlib.metadata import version
from pathlib import Path

import numpy as np
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

CASES = [(8000, 200, 80, 256, 40, 125, 3800, 700), (16000, 400, 160, 512, 80, 125, 7600, 800),
         (8000, 150, 100, 200, 12, 0, 4000, 430)]


def values(rate, window, hop, fft, bands, low, high, samples):
    t = np.arange(samples)
    x = (0.3 * np.sin(0.2 * t) + 0.2 * np.sin(0.0004 * t**2) + 0.05 * np.sin(1.3 * t)).astype(np.float32)
    filters = mel_filter_bank(fft // 2 + 1, bands, low, high, rate, mel_scale="kaldi", triangularize_in_mel_space=True)
    found = spectrogram(x, window_function(window, "hann"), window, hop, fft, power=2.0, center=False, preemphasis=0.97,
                        mel_filters=filters, mel_floor=1e-5, log_mel="log", dtype=np.float64)
    return found.T.flatten()


rows = [f"{{{', '.join(str(x) for x in case)}, {{{', '.join(f'{x:.9g}' for x in values(*case))}}}}}" for case in CASES]
Path(__file__).with_name("log_mel.hpp").write_text(f"""// Written by make_log_mel.py with transformers {version("transformers")}.
#pragma once

#include <cstddef>
#include <vector>

namespace golden {{

// make_log_mel.py has the formula of the samples.
struct LogMelCase {{
  double rate;
  std::size_t window, hop, fft, bands;
  double low, high;
  std::size_t samples;
  std::vector<double> values;  // frames x bands
}};
inline const LogMelCase log_mel[] = {{{", ".join(rows)}}};

}}  // namespace golden
""")
