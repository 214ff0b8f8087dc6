"""Writes the golden values of a small residual network, SmallResNet, to resnet.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_resnet.py

golden_models.py describes the values; there are also the running averages of the batch norms. Pixel i is sin(0.1 + 0.37
i). Here images and filters have the channels last. Batch norms take GHOST examples at a time: their statistics are
those of each ghost batch, and a step adds the mean of the ghost batches' updates to the running averages. resnet_silu
and resnet_gelu have other activations than ReLUs.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

SIZE, CLASSES, FILTERS, BATCH, GHOST, MOMENTUM = 6, 3, 2, 4, 2, 0.1
images = torch.sin(0.1 + 0.37 * torch.arange(BATCH * SIZE * SIZE * 3)).reshape(BATCH, SIZE, SIZE, 3).permute(0, 3, 1, 2)
labels = torch.arange(BATCH) % CLASSES


class ResNet:
    def __init__(self, activation):
        self.activation, self.shapes, self.averages = activation, {"conv.weight": (FILTERS, 3, 3, 3)}, {}
        self.declare_norm("norm", FILTERS)
        channels = FILTERS
        for stage in range(3):
            name, filters = f"stage.{stage}.0", FILTERS << stage
            self.shapes[f"{name}.conv_1.weight"] = (filters, 3, 3, channels)
            self.declare_norm(f"{name}.norm_1", filters)
            self.shapes[f"{name}.conv_2.weight"] = (filters, 3, 3, filters)
            self.declare_norm(f"{name}.norm_2", filters)
            if filters != channels:
                self.shapes[f"{name}.shortcut.conv.weight"] = (filters, 1, 1, channels)
                self.declare_norm(f"{name}.shortcut.norm", filters)
            channels = filters
        self.shapes["logits.weight"], self.shapes["logits.bias"] = (CLASSES, channels), (CLASSES,)
        self.p = golden_models.parameters(self.shapes)

    def declare_norm(self, name, channels):
        self.shapes[f"{name}.scale"] = self.shapes[f"{name}.bias"] = (channels,)
        self.averages[f"{name}.mean"], self.averages[f"{name}.variance"] = torch.zeros(channels), torch.ones(channels)

    def conv(self, x, name, stride=1):
        weight = self.p[f"{name}.weight"].permute(0, 3, 1, 2)
        return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(self, x, name, training):
        mean, variance = self.averages[f"{name}.mean"], self.averages[f"{name}.variance"]
        scale, bias = self.p[f"{name}.scale"], self.p[f"{name}.bias"]
        if not training:
            return F.batch_norm(x, mean, variance, scale, bias, False)
        parts, means, variances = [], [], []
        for part in x.split(GHOST):
            of_part = mean.clone(), variance.clone()
            parts.append(F.batch_norm(part, *of_part, scale, bias, True, MOMENTUM))
            means.append(of_part[0])
            variances.append(of_part[1])
        mean.copy_(torch.stack(means).mean(0))
        variance.copy_(torch.stack(variances).mean(0))
        return torch.cat(parts)

    def logits(self, training):
        x = self.activation(self.norm(self.conv(images, "conv"), "norm", training))
        for stage in range(3):
            name, stride = f"stage.{stage}.0", 2 if stage else 1
            y = self.activation(self.norm(self.conv(x, f"{name}.conv_1", stride), f"{name}.norm_1", training))
            y = self.norm(self.conv(y, f"{name}.conv_2"), f"{name}.norm_2", training)
            if stage:
                x = self.norm(self.conv(x, f"{name}.shortcut.conv", stride), f"{name}.shortcut.norm", training)
            x = self.activation(y + x)
        return F.linear(x.mean((2, 3)), self.p["logits.weight"], self.p["logits.bias"])

    def definition(self, name):
        return golden_models.model(name, self.p, lambda: F.cross_entropy(self.logits(True), labels, label_smoothing=0.1),
                                   lambda: self.logits(False), self.averages)


networks = {"resnet": ResNet(F.relu), "resnet_silu": ResNet(F.silu),
            "resnet_gelu": ResNet(lambda x: F.gelu(x, approximate="tanh"))}
golden_models.write(Path(__file__).with_name("resnet.hpp"), "make_resnet.py",
                    "\n".join(net.definition(name) for name, net in networks.items()))
