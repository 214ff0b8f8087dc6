"""Writes the golden values of small models of digits to digit_models.hpp in this folder: linear_model, mlp and simple_cnn.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_digit_models.py

golden_models.py describes the values. Pixel i is sin(0.1 + 0.37 i). Images and filters have the channels last.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

SIZE, CHANNELS, CLASSES, BATCH = 8, 2, 3, 4
pixels = torch.sin(0.1 + 0.37 * torch.arange(BATCH * SIZE * SIZE * CHANNELS)).reshape(BATCH, SIZE, SIZE, CHANNELS)
labels = torch.arange(BATCH) % CLASSES


def dense(layer, inputs, units):
    return {f"{layer}.weight": (units, inputs), f"{layer}.bias": (units,)}


def conv(layer, channels, filters):
    return {f"{layer}.weight": (filters, 3, 3, channels), f"{layer}.bias": (filters,)}


def apply_dense(p, layer, x):
    return F.linear(x, p[f"{layer}.weight"], p[f"{layer}.bias"])


def apply_conv(p, layer, x):
    x = F.conv2d(x, p[f"{layer}.weight"].permute(0, 3, 1, 2), p[f"{layer}.bias"], padding=1)
    return F.max_pool2d(F.relu(x), 2)


def linear_model(p):
    return apply_dense(p, 0, pixels.flatten(1))


def mlp(p):
    x = F.relu(apply_dense(p, 0, pixels.flatten(1)))
    return apply_dense(p, 4, F.relu(apply_dense(p, 2, x)))


def simple_cnn(p):
    x = apply_conv(p, 3, apply_conv(p, 0, pixels.permute(0, 3, 1, 2)))
    x = x.permute(0, 2, 3, 1).flatten(1)
    return apply_dense(p, 9, F.relu(apply_dense(p, 7, x)))


inputs = SIZE * SIZE * CHANNELS
shapes = {linear_model: dense(0, inputs, CLASSES),
          mlp: dense(0, inputs, 5) | dense(2, 5, 4) | dense(4, 4, CLASSES),
          simple_cnn: conv(0, CHANNELS, 3) | conv(3, 3, 4) | dense(7, 4 * (SIZE // 4) ** 2, 5) | dense(9, 5, CLASSES)}


def definition(logits):
    p = golden_models.parameters(shapes[logits])
    return golden_models.model(logits.__name__, p, lambda: F.cross_entropy(logits(p), labels), lambda: logits(p))


golden_models.write(Path(__file__).with_name("digit_models.hpp"), "make_digit_models.py",
                    "\n".join(map(definition, shapes)))
