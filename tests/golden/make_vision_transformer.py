"""Writes the golden values of a small Vision Transformer and of its variants to vision_transformer.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_vision_transformer.py

golden_models.py describes the values. Pixel i is sin(0.1 + 0.37 i). Images and filters have the channels last.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

ROWS, COLUMNS, PATCH, WIDTH, HEADS, HIDDEN, CLASSES, BATCH = 4, 6, 2, 8, 2, 6, 3, 3
CELLS = (ROWS // PATCH) * (COLUMNS // PATCH)
images = torch.sin(0.1 + 0.37 * torch.arange(BATCH * ROWS * COLUMNS * 3)).reshape(BATCH, ROWS, COLUMNS, 3).permute(0, 3, 1, 2)
labels = torch.arange(BATCH) % CLASSES


def positions():
    rows, columns = ROWS // PATCH, COLUMNS // PATCH
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    omega = 10000.0 ** -(torch.arange(WIDTH // 4) / (WIDTH // 4 - 1))
    x, y = x.flatten()[:, None] * omega, y.flatten()[:, None] * omega
    return torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), 1)


class VisionTransformer:
    def __init__(self, blocks, post_norm=False, glu=False, attention_pooling=False):
        self.blocks, self.post_norm, self.glu, self.pooling, self.shapes = blocks, post_norm, glu, attention_pooling, {}
        self.shapes["patches.weight"], self.shapes["patches.bias"] = (WIDTH, PATCH, PATCH, 3), (WIDTH,)
        for i in range(self.blocks):
            name = f"block.{i}"
            if not post_norm:
                self.declare_norm(f"{name}.norm_1")
            self.declare(f"{name}.qkv", WIDTH, 3 * WIDTH)
            self.declare(f"{name}.out", WIDTH, WIDTH)
            self.declare_norm(f"{name}.norm_1" if post_norm else f"{name}.norm_2")
            self.declare_mlp(name)
            if post_norm:
                self.declare_norm(f"{name}.norm_2")
        if not post_norm:
            self.declare_norm("norm")
        if attention_pooling:
            self.shapes["pool.probe"] = (1, WIDTH)
            self.declare("pool.query", WIDTH, WIDTH)
            self.declare("pool.kv", WIDTH, 2 * WIDTH)
            self.declare("pool.out", WIDTH, WIDTH)
            self.declare_norm("pool.norm")
            self.declare_mlp("pool")
        self.declare("pre_logits", WIDTH, WIDTH)
        self.declare("logits", WIDTH, CLASSES)
        self.p = golden_models.parameters(self.shapes)

    def declare(self, name, inputs, units):
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = (units, inputs), (units,)

    def declare_norm(self, name):
        self.shapes[f"{name}.scale"] = self.shapes[f"{name}.bias"] = (WIDTH,)

    def declare_mlp(self, name):
        self.declare(f"{name}.up", WIDTH, HIDDEN)
        if self.glu:
            self.declare(f"{name}.gate", HIDDEN, HIDDEN)
        self.declare(f"{name}.down", HIDDEN, WIDTH)

    def linear(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[f"{name}.scale"], self.p[f"{name}.bias"], 1e-6)

    def mlp(self, x, name):
        h = F.gelu(self.linear(x, f"{name}.up"), approximate="tanh")
        if self.glu:
            h = h * self.linear(h, f"{name}.gate")
        return self.linear(h, f"{name}.down")

    def attend(self, q, k, v):
        def heads(x):
            return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)

        return F.scaled_dot_product_attention(heads(q), heads(k), heads(v)).transpose(1, 2).flatten(2)

    def block(self, x, name):
        y = x if self.post_norm else self.norm(x, f"{name}.norm_1")
        x = x + self.linear(self.attend(*self.linear(y, f"{name}.qkv").chunk(3, -1)), f"{name}.out")
        if self.post_norm:
            x = self.norm(x, f"{name}.norm_1")
        x = x + self.mlp(x if self.post_norm else self.norm(x, f"{name}.norm_2"), name)
        return self.norm(x, f"{name}.norm_2") if self.post_norm else x

    def logits(self):
        x = F.conv2d(images, self.p["patches.weight"].permute(0, 3, 1, 2), self.p["patches.bias"], stride=PATCH)
        x = x.flatten(2).transpose(1, 2) + positions()
        for i in range(self.blocks):
            x = self.block(x, f"block.{i}")
        if not self.post_norm:
            x = self.norm(x, "norm")
        if self.pooling:
            query = self.linear(self.p["pool.probe"].expand(BATCH, 1, WIDTH), "pool.query")
            y = self.linear(self.attend(query, *self.linear(x, "pool.kv").chunk(2, -1)), "pool.out")
            x = (y + self.mlp(self.norm(y, "pool.norm"), "pool"))[:, 0]
        else:
            x = x.mean(1)
        return self.linear(torch.tanh(self.linear(x, "pre_logits")), "logits")

    def loss(self):
        return F.cross_entropy(self.logits(), labels, label_smoothing=0.1)


definitions = ""
for name, blocks, options in (("vision_transformer", 2, {}), ("vision_transformer_post_ln", 1, {"post_norm": True}),
                              ("vision_transformer_glu", 1, {"glu": True}),
                              ("vision_transformer_map", 1, {"attention_pooling": True})):
    network = VisionTransformer(blocks, **options)
    definitions += golden_models.model(name, network.p, network.loss, network.logits) + "\n"
golden_models.write(Path(__file__).with_name("vision_transformer.hpp"), "make_vision_transformer.py", definitions)
