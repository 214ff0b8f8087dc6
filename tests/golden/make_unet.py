"""Writes the golden values of a small U-Net, AlgoPerf's fastMRI model in miniature, to unet.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_unet.py

golden_models.py describes the values. Pixel i of the inputs is sin(0.1 + 0.37 i), of the targets cos(0.2 + 0.23 i).
Here images and filters have the channels last, and a transposed convolution's weight is {channels in, rows, columns,
channels out}. The loss is the mean absolute error.

The norms are instance norms without parameters. In unet_layer_norm those inside the blocks are layer norms over rows,
columns and channels together, with a scale and a bias per channel. unet_tanh has tanh for every leaky ReLU.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

BATCH, ROWS, COLUMNS, CHANNELS, POOLS = 2, 8, 12, 1, 2


def leaky_relu(x):
    return F.leaky_relu(x, 0.2)


class UNet:
    def __init__(self, layer_norm=False, activation=leaky_relu):
        self.layer_norm, self.activation = layer_norm, activation
        shape, i = (BATCH, ROWS, COLUMNS, 1), torch.arange(BATCH * ROWS * COLUMNS)
        self.images = torch.sin(0.1 + 0.37 * i).reshape(shape).permute(0, 3, 1, 2)
        self.targets = torch.cos(0.2 + 0.23 * i).reshape(shape).permute(0, 3, 1, 2)
        self.shapes, channels = {}, 1
        for level in range(POOLS):
            self.declare_block(f"down.{level}", channels, CHANNELS << level)
            channels = CHANNELS << level
        self.declare_block("bottom", channels, CHANNELS << POOLS)
        for level in reversed(range(POOLS)):
            filters = CHANNELS << level
            self.shapes[f"up.{level}.up.weight"] = (2 * filters, 2, 2, filters)
            self.declare_block(f"up.{level}", 2 * filters, filters)
        self.shapes["output.weight"], self.shapes["output.bias"] = (1, 1, 1, CHANNELS), (1,)
        self.p = golden_models.parameters(self.shapes)

    def declare_block(self, name, channels, filters):
        for k, inputs in (1, channels), (2, filters):
            self.shapes[f"{name}.conv_{k}.weight"] = (filters, 3, 3, inputs)
            if self.layer_norm:
                self.shapes[f"{name}.norm_{k}.scale"] = self.shapes[f"{name}.norm_{k}.bias"] = (filters,)

    def weight(self, name):
        return self.p[f"{name}.weight"].permute(0, 3, 1, 2)

    def norm(self, x, name):
        if self.layer_norm:
            return F.group_norm(x, 1, self.p[f"{name}.scale"], self.p[f"{name}.bias"], 1e-6)
        return F.instance_norm(x, eps=1e-5)

    def block(self, x, name):
        for k in 1, 2:
            x = F.conv2d(x, self.weight(f"{name}.conv_{k}"), padding=1)
            x = self.activation(self.norm(x, f"{name}.norm_{k}"))
        return x

    def outputs(self):
        x, skips = self.images, []
        for level in range(POOLS):
            skips.append(self.block(x, f"down.{level}"))
            x = F.avg_pool2d(skips[-1], 2)
        x = self.block(x, "bottom")
        for level in reversed(range(POOLS)):
            x = F.conv_transpose2d(x, self.weight(f"up.{level}.up"), stride=2)
            x = self.activation(F.instance_norm(x, eps=1e-5))
            x = self.block(torch.cat((x, skips[level]), 1), f"up.{level}")
        return F.conv2d(x, self.weight("output"), self.p["output.bias"])

    def loss(self):
        return F.l1_loss(self.outputs(), self.targets)


def definition(name, net):
    return golden_models.model(name, net.p, net.loss, lambda: net.outputs().permute(0, 2, 3, 1))


if __name__ == "__main__":
    nets = {"unet": UNet(), "unet_layer_norm": UNet(layer_norm=True), "unet_tanh": UNet(activation=torch.tanh)}
    golden_models.write(Path(__file__).with_name("unet.hpp"), "make_unet.py",
                        "\n".join(definition(*each) for each in nets.items()))
