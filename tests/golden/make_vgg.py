"""Writes the golden values of a small VGG network, with and without batch norms, to vgg.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_vgg.py

golden_models.py describes the values; there are also the running averages of the batch norms. Pixel i is sin(0.1 + 0.37
i). Images and filters have the channels last.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

SIZE, CLASSES, FILTERS, HIDDEN, BATCH = 32, 3, 1, 5, 3
CONVOLUTIONS = (1, 1, 2, 1, 1)
images = torch.sin(0.1 + 0.37 * torch.arange(BATCH * SIZE * SIZE * 3)).reshape(BATCH, SIZE, SIZE, 3).permute(0, 3, 1, 2)
labels = torch.arange(BATCH) % CLASSES


class Vgg:
    def __init__(self, batch_norm):
        shapes, self.averages, channels = {}, {}, 3
        for stage, count in enumerate(CONVOLUTIONS):
            filters = FILTERS << min(stage, 3)
            for i in range(count):
                shapes[f"stage.{stage}.conv.{i}.weight"] = (filters, 3, 3, channels)
                if batch_norm:
                    name = f"stage.{stage}.norm.{i}"
                    shapes[f"{name}.scale"] = shapes[f"{name}.bias"] = (filters,)
                    self.averages[f"{name}.mean"] = torch.zeros(filters)
                    self.averages[f"{name}.variance"] = torch.ones(filters)
                else:
                    shapes[f"stage.{stage}.conv.{i}.bias"] = (filters,)
                channels = filters
        for name, outputs, inputs in (("dense_1", HIDDEN, channels), ("dense_2", HIDDEN, HIDDEN), ("logits", CLASSES, HIDDEN)):
            shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (outputs, inputs), (outputs,)
        self.p = golden_models.parameters(shapes)

    def dense(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def logits(self, training):
        x = images
        for stage, count in enumerate(CONVOLUTIONS):
            for i in range(count):
                conv, norm = f"stage.{stage}.conv.{i}", f"stage.{stage}.norm.{i}"
                x = F.conv2d(x, self.p[f"{conv}.weight"].permute(0, 3, 1, 2), self.p.get(f"{conv}.bias"), padding=1)
                if self.averages:
                    x = F.batch_norm(x, self.averages[f"{norm}.mean"], self.averages[f"{norm}.variance"],
                                     self.p[f"{norm}.scale"], self.p[f"{norm}.bias"], training, 0.1)
                x = F.relu(x)
            x = F.max_pool2d(x, 2)
        x = F.relu(self.dense(x.permute(0, 2, 3, 1).flatten(1), "dense_1"))
        return self.dense(F.relu(self.dense(x, "dense_2")), "logits")

    def definition(self, name):
        return golden_models.model(name, self.p, lambda: F.cross_entropy(self.logits(True), labels),
                                   lambda: self.logits(False), self.averages)


golden_models.write(Path(__file__).with_name("vgg.hpp"), "make_vgg.py",
                    Vgg(False).definition("vgg") + "\n" + Vgg(True).definition("vgg_batch_norm"))
