"""Writes the golden values of torch.nn.ConvTranspose2d to conv_transpose.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_conv_transpose.py

The reference is torch in double precision. Images have the channels last, and the weight is {channels, size, size,
filters}. Element i of x is sin(0.1 + 0.37 i), of the weight 0.4 sin(1 + 1.3 i), of the bias 0.4 sin(1.7 + 1.3 i), and
of the gradient of y cos(0.3 + 0.29 i). There are EXAMPLES examples; gradients of weight and bias are sums over them.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

EXAMPLES = 2
# rows, columns, channels, filters, size, stride, padding, bias
CASES = [(3, 4, 2, 3, 2, 2, 0, True), (4, 3, 2, 2, 3, 2, 1, False), (3, 3, 1, 2, 3, 1, 0, True)]


def count(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def text(values):
    return "{" + ", ".join(f"{x:.17g}" for x in values.flatten().tolist()) + "}"


def row(rows, columns, channels, filters, size, stride, padding, has_bias):
    x = torch.sin(0.1 + 0.37 * count(EXAMPLES, rows, columns, channels)).requires_grad_()
    weight = (0.4 * torch.sin(1 + 1.3 * count(channels, size, size, filters))).requires_grad_()
    bias = (0.4 * torch.sin(1.7 + 1.3 * count(filters))).requires_grad_() if has_bias else None
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2), weight.permute(0, 3, 1, 2), bias, stride, padding).permute(0, 2, 3, 1)
    y.backward(torch.cos(0.3 + 0.29 * count(*y.shape)))
    given = (rows, columns, channels, filters, size, stride, padding, str(has_bias).lower())
    d_bias = bias.grad if has_bias else torch.empty(0)
    return "{" + ", ".join([*map(str, given), *map(text, (y, x.grad, weight.grad, d_bias))]) + "}"


torch.set_default_dtype(torch.float64)
Path(__file__).with_name("conv_transpose.hpp").write_text(f"""\
// Written by make_conv_transpose.py with torch {torch.__version__.split("+")[0]}.
#pragma once

#include <cstddef>
#include <vector>

namespace golden {{

// There are {EXAMPLES} examples. make_conv_transpose.py has the formulas of x, weight, bias and the gradient of y.
// d_bias is empty if there is no bias.
struct ConvTransposeCase {{
  std::size_t rows, columns, channels, filters, size, stride, padding;
  bool bias;
  std::vector<double> y, dx, d_weight, d_bias;
}};

inline const ConvTransposeCase conv_transpose[] = {{{", ".join(row(*case) for case in CASES)}}};

}}  // namespace golden
""")
