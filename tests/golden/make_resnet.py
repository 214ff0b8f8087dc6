"""Writes the golden values of a small residual network, SmallResNet, to resnet.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_resnet.py

golden_models.py describes the values; there are also the running averages of the batch norms and the logits in evaluation,
after the steps. Pixel i is sin(0.1 + 0.37 i). Here images and filters have the channels last. Batch norms take GHOST examples at a time: their statistics are those
of each ghost batch, and a step adds the mean of the ghost batches' updates to the running averages.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

SIZE, CLASSES, FILTERS, BATCH, GHOST, MOMENTUM = 6, 3, 2, 4, 2, 0.1

shapes = {}


def declare_norm(name, channels):
    shapes[f"{name}.scale"] = shapes[f"{name}.bias"] = (channels,)


shapes["conv.weight"] = (FILTERS, 3, 3, 3)
declare_norm("norm", FILTERS)
channels = FILTERS
for stage in range(3):
    name, filters = f"stage.{stage}.0", FILTERS << stage
    shapes[f"{name}.conv_1.weight"] = (filters, 3, 3, channels)
    declare_norm(f"{name}.norm_1", filters)
    shapes[f"{name}.conv_2.weight"] = (filters, 3, 3, filters)
    declare_norm(f"{name}.norm_2", filters)
    if filters != channels:
        shapes[f"{name}.shortcut.conv.weight"] = (filters, 1, 1, channels)
        declare_norm(f"{name}.shortcut.norm", filters)
    channels = filters
shapes["logits.weight"], shapes["logits.bias"] = (CLASSES, channels), (CLASSES,)


p = golden_models.parameters(shapes)
averages = {}
for name, shape in shapes.items():
    if name.endswith("scale"):
        averages[name[:-5] + "mean"], averages[name[:-5] + "variance"] = torch.zeros(shape), torch.ones(shape)
images = torch.sin(0.1 + 0.37 * torch.arange(BATCH * SIZE * SIZE * 3)).reshape(BATCH, SIZE, SIZE, 3).permute(0, 3, 1, 2)
labels = torch.arange(BATCH) % CLASSES


def conv(x, name, stride=1):
    weight = p[f"{name}.weight"].permute(0, 3, 1, 2)
    return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)


def norm(x, name, training):
    mean, variance = averages[f"{name}.mean"], averages[f"{name}.variance"]
    if not training:
        return F.batch_norm(x, mean, variance, p[f"{name}.scale"], p[f"{name}.bias"], False)
    parts, means, variances = [], [], []
    for part in x.split(GHOST):
        of_part = mean.clone(), variance.clone()
        parts.append(F.batch_norm(part, *of_part, p[f"{name}.scale"], p[f"{name}.bias"], True, MOMENTUM))
        means.append(of_part[0])
        variances.append(of_part[1])
    mean.copy_(torch.stack(means).mean(0))
    variance.copy_(torch.stack(variances).mean(0))
    return torch.cat(parts)


def logits(training):
    x = F.relu(norm(conv(images, "conv"), "norm", training))
    for stage in range(3):
        name, stride = f"stage.{stage}.0", 2 if stage else 1
        y = F.relu(norm(conv(x, f"{name}.conv_1", stride), f"{name}.norm_1", training))
        y = norm(conv(y, f"{name}.conv_2"), f"{name}.norm_2", training)
        if stage:
            x = norm(conv(x, f"{name}.shortcut.conv", stride), f"{name}.shortcut.norm", training)
        x = F.relu(y + x)
    return F.linear(x.mean((2, 3)), p["logits.weight"], p["logits.bias"])


definitions = golden_models.model(
    "resnet", p, lambda: F.cross_entropy(logits(True), labels, label_smoothing=0.1), averages)
definitions += f"\ninline const std::vector<double> resnet_logits{golden_models.text(logits(False))};\n"
golden_models.write(Path(__file__).with_name("resnet.hpp"), "make_resnet.py", definitions)
