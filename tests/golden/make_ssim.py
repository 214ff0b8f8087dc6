"""Writes golden values of the structural similarity of images to ssim.hpp in this folder.

    python -m venv venv && venv/bin/pip install scikit-image numpy
    venv/bin/python tests/golden/make_ssim.py

The reference is skimage.metrics.structural_similarity in double precision: the mean over all 7x7 windows inside the
image, with sample covariances. ssim.hpp has the formulas of the pixels.
"""
from pathlib import Path

import numpy as np
import skimage
from skimage.metrics import structural_similarity

# mean, amplitude, offset, slope, cosine, sine
NEAR = (0.5, 0.5, 0, 1, 0.3, 0)  # prediction = target + 0.3 cos(0.7 i)
EQUAL = (0.5, 0.5, 0, 1, 0, 0)
NEGATIVE = (0.5, 0.5, 1, -1, 0, 0)  # prediction = 1 - target
CONSTANT = (0.25, 0, 0, 1, 0, 0.1)  # the target is 0.25, the prediction 0.25 + 0.1 sin(i)
CASES = [
    (7, 7, 1, NEAR), (7, 7, 2.5, NEAR), (8, 11, 1, NEAR), (8, 11, 2.5, NEAR), (16, 16, 1, NEAR), (16, 16, 2.5, NEAR),
    (32, 32, 1, NEAR), (32, 32, 2.5, NEAR), (8, 11, 1, EQUAL), (7, 7, 1, NEGATIVE), (8, 11, 2.5, NEGATIVE),
    (16, 16, 1, CONSTANT), (8, 11, 2.5, CONSTANT),
]


def images(rows, columns, mean, amplitude, offset, slope, cosine, sine):
    i = np.arange(rows * columns, dtype=np.float64)
    target = mean + amplitude * np.sin(0.1 + 0.37 * i)
    prediction = offset + slope * target + cosine * np.cos(0.7 * i) + sine * np.sin(i)
    return target.reshape(rows, columns), prediction.reshape(rows, columns)


def row(rows, columns, data_range, pair):
    value = structural_similarity(*images(rows, columns, *pair), win_size=7, data_range=data_range, K1=0.01, K2=0.03,
                                  gaussian_weights=False, use_sample_covariance=True)
    return "{" + ", ".join(map(repr, (rows, columns, data_range, *pair, float(value)))) + "}"


if __name__ == "__main__":
    Path(__file__).with_name("ssim.hpp").write_text(f"""\
// Written by make_ssim.py with scikit-image {skimage.__version__}.
#pragma once

#include <cstddef>

namespace golden {{

// Pixel i of the target is mean + amplitude sin(0.1 + 0.37 i), of the prediction
// offset + slope target + cosine cos(0.7 i) + sine sin(i).
struct SsimCase {{
  std::size_t rows, columns;
  double range, mean, amplitude, offset, slope, cosine, sine, value;
}};

inline const SsimCase ssim[] = {{{", ".join(row(*case) for case in CASES)}}};

}}  // namespace golden
""")
