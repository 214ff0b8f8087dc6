"""Writes the golden values of two small masked language models, Bert and ScaleInvariantTransformer, to masked_lm.hpp here.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_masked_lm.py

golden_models.py describes the values.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

VOCABULARY, CONTEXT, CHOSEN, WIDTH, LAYERS, HEADS, HIDDEN, BATCH = 11, 6, 2, 8, 2, 2, 12, 3
SIZE = WIDTH // HEADS
tokens = ((torch.arange(BATCH * CONTEXT) * 7 + 3) % VOCABULARY).reshape(BATCH, CONTEXT)
positions = torch.tensor([[0, 3], [2, 5], [1, 2]])
labels = (torch.arange(BATCH * CHOSEN) * 5 + 1) % VOCABULARY


class Model:
    def __init__(self, layers):
        """`layers` are the shapes of a block's tensors and of those before and after the blocks."""
        first, block, last = layers
        shapes = {"embedding.weight": (VOCABULARY, WIDTH), "positions.weight": (CONTEXT, WIDTH)} | first
        for b in range(LAYERS):
            shapes |= {f"block.{b}.{name}": shape for name, shape in block.items()}
        self.p = golden_models.parameters(shapes | last)

    def dense(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p.get(f"{name}.bias"))

    def heads(self, x, name):
        return (t.view(BATCH, CONTEXT, HEADS, SIZE).transpose(1, 2) for t in self.dense(x, name).split(WIDTH, -1))

    def embedded(self):
        return F.embedding(tokens, self.p["embedding.weight"]) + self.p["positions.weight"]

    def chosen(self, x):
        return x.gather(1, positions[:, :, None].expand(-1, -1, WIDTH)).reshape(-1, WIDTH)

    def definition(self, name):
        return golden_models.model(name, self.p, lambda: F.cross_entropy(self.logits(), labels), self.logits)


def linear(name, outputs, inputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm(name):
    return {f"{name}.scale": (WIDTH,), f"{name}.bias": (WIDTH,)}


class Bert(Model):
    def __init__(self):
        block = linear("qkv", 3 * WIDTH, WIDTH) | linear("out", WIDTH, WIDTH) | norm("norm_1") | linear("up", HIDDEN, WIDTH)
        super().__init__((norm("norm"), block | linear("down", WIDTH, HIDDEN) | norm("norm_2"),
                          linear("transform", WIDTH, WIDTH) | norm("transform_norm") | {"logits.bias": (VOCABULARY,)}))

    def norm(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.p[f"{name}.scale"], self.p[f"{name}.bias"], 1e-12)

    def logits(self):
        x = self.norm(self.embedded(), "norm")
        for b in range(LAYERS):
            q, k, v = self.heads(x, f"block.{b}.qkv")
            mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = self.norm(x + self.dense(mixed, f"block.{b}.out"), f"block.{b}.norm_1")
            hidden = F.gelu(self.dense(x, f"block.{b}.up"))
            x = self.norm(x + self.dense(hidden, f"block.{b}.down"), f"block.{b}.norm_2")
        x = self.norm(F.gelu(self.dense(self.chosen(x), "transform")), "transform_norm")
        return x @ self.p["embedding.weight"].T + self.p["logits.bias"]


class ScaleInvariant(Model):
    def __init__(self):
        block = {"qkv.weight": (3 * WIDTH, WIDTH), "out.weight": (WIDTH, WIDTH), "up.weight": (HIDDEN, WIDTH),
                 "down.weight": (WIDTH, HIDDEN)}
        super().__init__(({"in.weight": (WIDTH, WIDTH)}, block, {"transform.weight": (WIDTH, WIDTH)}))

    @staticmethod
    def norm(x):
        return F.layer_norm(x, x.shape[-1:], eps=1e-30)

    def logits(self):
        x = self.dense(self.embedded(), "in")
        for b in range(LAYERS):
            q, k, v = self.heads(self.norm(x), f"block.{b}.qkv")
            scores = F.relu(q @ k.transpose(-1, -2))
            totals = scores.sum(-1, keepdim=True)
            mixed = scores / torch.where(totals > 0, totals, 1) @ v
            x = x + self.dense(mixed.transpose(1, 2).reshape(x.shape), f"block.{b}.out")
            x = x + self.dense(F.relu(self.dense(self.norm(x), f"block.{b}.up")), f"block.{b}.down")
        x = self.norm(F.relu(self.dense(self.norm(self.chosen(x)), "transform")))
        return 2 * self.norm(x @ self.p["embedding.weight"].T)


golden_models.write(Path(__file__).with_name("masked_lm.hpp"), "make_masked_lm.py",
                    Bert().definition("bert") + "\n" + ScaleInvariant().definition("scale_invariant"))
