"""Writes the golden values of a small speech recogniser, Conformer, and of its variants to conformer.hpp here.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_conformer.py

golden_speech.py describes the values. The variants are AlgoPerf's: conformer_temperature multiplies attention's output
by 1.6, conformer_layernorm has no norm at the end of a block, and conformer_gelu has GELU by tanh instead of swish.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models
import golden_speech
from golden_speech import FRAMES, SYMBOLS, WIDTH

HEADS, HIDDEN, KERNEL = 2, 6, 3


def sine_positions(rows):
    omega = 10000.0 ** -(torch.arange(WIDTH // 2) / (WIDTH // 2 - 1))
    angles = torch.arange(rows)[:, None] * omega
    return torch.cat((angles.sin(), angles.cos()), 1)


class Conformer(golden_speech.Recogniser):
    def __init__(self, temperature=1, block_norm=True, activation=F.silu):
        super().__init__()
        self.temperature, self.block_norm, self.activation = temperature, block_norm, activation
        self.declare_feed_forward("block.0.feed_forward_1")
        name = "block.0.attention"
        self.declare_norm(f"{name}.norm")
        self.declare(f"{name}.query", WIDTH, WIDTH)
        self.shapes[f"{name}.query_scale.s"] = (WIDTH // HEADS,)
        self.declare(f"{name}.kv", WIDTH, 2 * WIDTH)
        self.declare(f"{name}.out", WIDTH, WIDTH)
        name = "block.0.convolution"
        self.declare_norm(f"{name}.norm")
        self.declare(f"{name}.gated", WIDTH, 2 * WIDTH)
        self.shapes[f"{name}.depthwise.weight"] = (KERNEL, WIDTH)
        self.declare_norm(f"{name}.batch_norm")
        self.declare(f"{name}.out", WIDTH, WIDTH)
        self.declare_feed_forward("block.0.feed_forward_2")
        if block_norm:
            self.declare_norm("block.0.norm")
        self.declare_norm("norm")
        self.declare("logits", WIDTH, SYMBOLS)
        self.start(["block.0.convolution.batch_norm"])

    def declare_feed_forward(self, name):
        self.declare_norm(f"{name}.norm")
        self.declare(f"{name}.up", WIDTH, HIDDEN)
        self.declare(f"{name}.down", HIDDEN, WIDTH)

    def norm(self, name, x):
        return self.layer_norm(name, x, 1e-6)

    def feed_forward(self, name, x):
        return self.dense(f"{name}.down", self.activation(self.dense(f"{name}.up", self.norm(f"{name}.norm", x))))

    def attention(self, name, x):
        x = self.norm(f"{name}.norm", x)
        heads = lambda y: y.reshape(-1, HEADS, WIDTH // HEADS).transpose(0, 1)
        query = heads(self.dense(f"{name}.query", x))
        query = query * F.softplus(self.p[f"{name}.query_scale.s"]) / F.softplus(torch.zeros(()))
        key, value = (heads(part) for part in self.dense(f"{name}.kv", x).chunk(2, 1))
        y = [F.scaled_dot_product_attention(*each) for each in zip(*(z.split(FRAMES, 1) for z in (query, key, value)))]
        y = torch.cat(y, 1).transpose(0, 1).reshape(-1, WIDTH)
        return self.dense(f"{name}.out", self.temperature * y)

    def convolution(self, name, x, training):
        x = F.glu(self.dense(f"{name}.gated", self.norm(f"{name}.norm", x)))
        weight = self.p[f"{name}.depthwise.weight"].T[:, None]
        x = torch.cat([F.conv1d(part.T, weight, padding="same", groups=WIDTH).T for part in x.split(FRAMES)])
        return self.dense(f"{name}.out", self.activation(self.batch_norm(f"{name}.batch_norm", x, training)))

    def logits(self, training):
        x = self.subsampled() + torch.cat([sine_positions(rows) for rows in FRAMES])
        x = x + 0.5 * self.feed_forward("block.0.feed_forward_1", x)
        x = x + self.attention("block.0.attention", x)
        x = x + self.convolution("block.0.convolution", x, training)
        x = x + 0.5 * self.feed_forward("block.0.feed_forward_2", x)
        if self.block_norm:
            x = self.norm("block.0.norm", x)
        return self.dense("logits", self.norm("norm", x))


recognisers = {"conformer": Conformer(), "conformer_temperature": Conformer(temperature=1.6),
               "conformer_layernorm": Conformer(block_norm=False),
               "conformer_gelu": Conformer(activation=lambda x: F.gelu(x, approximate="tanh"))}
golden_models.write(Path(__file__).with_name("conformer.hpp"), "make_conformer.py",
                    golden_speech.definitions(recognisers))
