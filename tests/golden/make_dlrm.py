"""Writes the golden values of a small recommendation model, Dlrm, and of its variants to dlrm.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_dlrm.py

golden_models.py describes the values. Number i is sin(0.1 + 0.37 i).
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

NUMBERS, CATEGORIES, VOCABULARY, WIDTH, BATCH = 3, 2, 7, 4, 5
numbers_in = torch.sin(0.1 + 0.37 * torch.arange(BATCH * NUMBERS)).reshape(BATCH, NUMBERS)
tokens = ((torch.arange(BATCH * CATEGORIES) * 5 + 2) % VOCABULARY).reshape(BATCH, CATEGORIES)
labels = (torch.arange(BATCH) % 2).double()


class Dlrm:
    def __init__(self, bottom, top, residual=False, layer_norm=False):
        self.bottom, self.top, self.residual, self.layer_norm = bottom, top, residual, layer_norm
        self.shapes = {"table.weight": (VOCABULARY, WIDTH)}
        if layer_norm:
            self.declare_norm("table.norm", WIDTH)
        if not residual:
            self.bottom = bottom = [*bottom, WIDTH]
        self.declare("bottom", NUMBERS, bottom)
        joined = bottom[-1] + CATEGORIES * WIDTH
        if not residual:
            joined = WIDTH + (CATEGORIES + 1) * (CATEGORIES + 2) // 2
        self.declare("top", joined, top)
        self.shapes["logit.weight"], self.shapes["logit.bias"] = (1, top[-1]), (1,)
        self.p = golden_models.parameters(self.shapes)

    def declare(self, name, inputs, widths):
        for i, units in enumerate(widths):
            self.shapes[f"{name}.{i}.weight"], self.shapes[f"{name}.{i}.bias"] = (units, inputs), (units,)
            if self.layer_norm:
                self.declare_norm(f"{name}.norm.{i}", units)
            inputs = units

    def declare_norm(self, name, width):
        self.shapes[f"{name}.scale"] = self.shapes[f"{name}.bias"] = (width,)

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[f"{name}.scale"], self.p[f"{name}.bias"], 1e-6)

    def mlp(self, x, name, widths):
        for i, units in enumerate(widths):
            y = F.relu(F.linear(x, self.p[f"{name}.{i}.weight"], self.p[f"{name}.{i}.bias"]))
            x = x + y if self.residual and x.shape == y.shape else y
            if self.layer_norm:
                x = self.norm(x, f"{name}.norm.{i}")
        return x

    def logits(self):
        e = F.embedding(tokens, self.p["table.weight"])
        if self.layer_norm:
            e = self.norm(e, "table.norm")
        b = self.mlp(numbers_in, "bottom", self.bottom)
        if self.residual:
            x = torch.cat((b, e.flatten(1)), 1)
        else:
            stack = torch.cat((b[:, None], e), 1)
            rows, columns = torch.triu_indices(CATEGORIES + 1, CATEGORIES + 1)
            x = torch.cat((b, (stack @ stack.mT)[:, rows, columns]), 1)
        x = self.mlp(x, "top", self.top)
        return F.linear(x, self.p["logit.weight"], self.p["logit.bias"])

    def loss(self):
        return F.binary_cross_entropy_with_logits(self.logits()[:, 0], labels)


models = {"dlrm": Dlrm([5], [6, 6, 4]), "dlrm_layer_norm": Dlrm([5], [6, 6, 4], layer_norm=True),
          "dlrm_residual": Dlrm([5, 5], [6, 6, 6], residual=True)}
golden_models.write(Path(__file__).with_name("dlrm.hpp"), "make_dlrm.py",
                    "\n".join(golden_models.model(name, each.p, each.loss, each.logits) for name, each in models.items()))
