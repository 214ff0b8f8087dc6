"""Writes the golden values of layers and losses to layers.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_layers.py

The reference is torch in double precision. Arrays have channels last, so that the rows of the header list values in the
order of memory in this library.
"""
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

POINTS = [-6, -2.5, -0.7, -0.1, 0, 0.01, 0.3, 1.2, 4, 9]


def tensor(shape, seed, scale=1.0):
    """Returns pseudo-random values with at most three decimals. The sequence has period 1009."""
    i = np.arange(int(np.prod(shape)))
    return torch.tensor(np.round(((i * 367 + seed * 131 + 17) % 1009 / 1009 - 0.5) * 2 * scale, 3).reshape(shape))


def leaf(x):
    return x.clone().requires_grad_()


def channels_first(x):
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


def layer(name, reference, x, tensors, forward, d_y=None):
    """Returns a row: the outputs of `forward` for x and the tensors, and the gradients of the backward pass."""
    x, tensors = leaf(x), {key: leaf(value) for key, value in tensors.items()}
    y = forward(x, **tensors)
    d_y = tensor(y.shape, 1) if d_y is None else d_y
    y.backward(d_y)
    return {"name": name, "reference": reference, "batch": len(x), "input": x, "d_outputs": d_y, "outputs": y,
            "d_input": x.grad, "tensors": [(key, value, value.grad) for key, value in tensors.items()]}


def activation(name, reference, f):
    x = torch.tensor([POINTS], dtype=torch.float64)
    return layer(name, reference, x, {}, f, torch.ones_like(x))


def scale_and_bias(channels):
    return {"scale": tensor((channels,), 2, 1.5), "bias": tensor((channels,), 3)}


def batch_norm():
    x, given = tensor((3, 2, 1, 4), 0, 3), scale_and_bias(4)
    before = {"mean": tensor((4,), 4), "variance": tensor((4,), 5).abs() + 0.5}
    after = {key: value.clone() for key, value in before.items()}

    def forward(x, scale, bias, training=True):
        return channels_last(F.batch_norm(channels_first(x), after["mean"], after["variance"], scale, bias, training))

    row = layer("batch_norm", "torch.nn.BatchNorm2d", x, given, forward)
    # In C++ a step subtracts the gradient, so a running average's gradient is its old value minus its new value.
    row["tensors"] += [(key, before[key], before[key] - after[key]) for key in before]
    after = before
    evaluated = layer("batch_norm_evaluated", "torch.nn.BatchNorm2d, eval()", x, given,
                      lambda x, scale, bias: forward(x, scale, bias, False))
    evaluated["tensors"] += [(key, before[key], torch.empty(0)) for key in before]
    return [row, evaluated]


def layers():
    image = tensor((2, 5, 4, 2), 0, 2)
    return [
        layer("dense", "torch.nn.Linear", tensor((3, 5), 0), {"weight": tensor((4, 5), 2), "bias": tensor((4,), 3)},
              lambda x, weight, bias: F.linear(x, weight, bias)),
        layer("conv2d", "torch.nn.Conv2d(2, 3, 3, stride=2, padding=1)", image,
              {"weight": tensor((3, 3, 3, 2), 2), "bias": tensor((3,), 3)},
              lambda x, weight, bias: channels_last(
                  F.conv2d(channels_first(x), channels_first(weight), bias, stride=2, padding=1))),
        layer("depthwise_conv2d", "torch.nn.Conv2d(2, 2, 3, stride=2, padding=1, groups=2)", image,
              {"weight": tensor((3, 3, 2), 2), "bias": tensor((2,), 3)},
              lambda x, weight, bias: channels_last(
                  F.conv2d(channels_first(x), weight.permute(2, 0, 1)[:, None], bias, stride=2, padding=1, groups=2))),
        layer("max_pool", "torch.nn.MaxPool2d(3, 2)", image, {},
              lambda x: channels_last(F.max_pool2d(channels_first(x), 3, 2))),
        layer("average_pool", "torch.nn.AvgPool2d(3, 2)", image, {},
              lambda x: channels_last(F.avg_pool2d(channels_first(x), 3, 2))),
        layer("layer_norm", "torch.nn.LayerNorm(5)", tensor((3, 2, 5), 0, 3), scale_and_bias(5),
              lambda x, scale, bias: F.layer_norm(x, (5,), scale, bias)),
        layer("rms_norm", "torch.nn.RMSNorm(5, eps=1e-6)", tensor((3, 2, 5), 0, 3), {"scale": tensor((5,), 2, 1.5)},
              lambda x, scale: F.rms_norm(x, (5,), scale, 1e-6)),
        layer("group_norm", "torch.nn.GroupNorm(2, 4)", tensor((2, 3, 2, 4), 0, 3), scale_and_bias(4),
              lambda x, scale, bias: channels_last(F.group_norm(channels_first(x), 2, scale, bias))),
        *batch_norm(),
        layer("glu", "torch.nn.GLU", tensor((3, 2, 10), 0, 3), {}, F.glu),
        activation("relu", "torch.relu", torch.relu),
        activation("leaky_relu", "torch.nn.LeakyReLU(0.2)", lambda x: F.leaky_relu(x, 0.2)),
        activation("tanh", "torch.tanh", torch.tanh),
        activation("silu", "torch.nn.SiLU", F.silu),
        activation("gelu", "torch.nn.GELU", F.gelu),
        activation("gelu_tanh", "torch.nn.GELU(approximate='tanh')", lambda x: F.gelu(x, approximate="tanh")),
    ]


def loss(name, reference, smoothing, outputs, labels, weights, f):
    z = leaf(outputs)
    losses = f(z)
    (losses * weights).mean().backward()
    return {"name": name, "reference": reference, "smoothing": smoothing, "outputs": z, "labels": labels,
            "weights": weights, "losses": losses, "d_outputs": z.grad}


def losses():
    z, labels, weights = tensor((4, 3), 0, 4), torch.tensor([1, 0, 2, 1]), torch.tensor([1, 2, 0, 0.5])
    z[3, 0] = -30  # makes one exponential nearly zero
    one, yes = tensor((4, 1), 6, 3), torch.tensor([1, 0, 0, 1])
    targets = tensor((4, 3), 7, 2)
    several = torch.tensor([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0.25, 1, 0.5]], dtype=torch.double)

    def sigmoid(z, q):
        return F.binary_cross_entropy_with_logits(z, q, reduction="none").sum(1)

    return [
        loss("softmax", "torch.nn.CrossEntropyLoss", 0, z, labels, weights,
             lambda z: F.cross_entropy(z, labels, reduction="none")),
        loss("softmax_smoothed", "torch.nn.CrossEntropyLoss(label_smoothing=0.1)", 0.1, z, labels, weights,
             lambda z: F.cross_entropy(z, labels, reduction="none", label_smoothing=0.1)),
        loss("sigmoid_smoothed", "torch.nn.BCEWithLogitsLoss, targets 0.9 [c = label] + 0.05", 0.1, z, labels, weights,
             lambda z: sigmoid(z, 0.9 * F.one_hot(labels, 3) + 0.05)),
        loss("sigmoid_of_one", "torch.nn.BCEWithLogitsLoss", 0, one, yes, weights,
             lambda z: sigmoid(z, yes.double().unsqueeze(1))),
        loss("binary", "torch.nn.BCEWithLogitsLoss, several classes an example, and shares", 0, z, several, weights,
             lambda z: sigmoid(z, several)),
        loss("mean_squared_error", "torch.nn.MSELoss", 0, z, targets, weights,
             lambda z: F.mse_loss(z, targets, reduction="none").mean(1)),
    ]


def numbers(values):
    words = [repr(v).removesuffix(".0") for v in values.detach().double().reshape(-1).tolist()]
    return "{" + ",\n      ".join(", ".join(words[i : i + 8]) for i in range(0, len(words), 8)) + "}"


def cpp_layer(row):
    tensors = "".join(f'\n      {{"{name}", {numbers(value)}, {numbers(gradient)}}},'
                      for name, value, gradient in row["tensors"])
    fields = ",\n     ".join(numbers(row[key]) for key in ("input", "d_outputs", "outputs", "d_input"))
    return f'    {{"{row["name"]}", "{row["reference"]}", {row["batch"]},\n     {fields},\n     {{{tensors}}}}},\n'


def cpp_loss(row):
    fields = ",\n     ".join(numbers(row[key]) for key in ("outputs", "labels", "weights", "losses", "d_outputs"))
    return f'    {{"{row["name"]}", "{row["reference"]}", {row["smoothing"]:g},\n     {fields}}},\n'


HEADER = """\
// Made by make_layers.py with torch {torch}. Do not edit. Run again: python tests/golden/make_layers.py.
//
// Layers and losses in double, channels last. Gradients of tensors are sums over the batch; d_outputs of a loss are
// those of the mean over examples of weight times loss; what batch norm's averages have for a gradient is what a step
// takes off them.
#pragma once

#include <cstddef>
#include <vector>

// clang-format off
namespace golden {{

using Numbers = std::vector<double>;

struct Tensor {{ const char* name; Numbers values, gradient; }};
struct Layer {{
  const char* name; const char* reference; std::size_t batch;
  Numbers input, d_outputs, outputs, d_input;
  std::vector<Tensor> tensors;
}};
inline const Layer layers[] = {{
{layers}}};

struct Loss {{
  const char* name; const char* reference; double smoothing;
  Numbers outputs, labels, weights, losses, d_outputs;
}};
inline const Loss losses[] = {{
{losses}}};

}}  // namespace golden
"""

if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    text = HEADER.format(torch=torch.__version__, layers="".join(map(cpp_layer, layers())),
                         losses="".join(map(cpp_loss, losses())))
    Path(__file__).with_name("layers.hpp").write_text(text)
