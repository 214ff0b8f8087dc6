"""Writes the golden values of a small Transformer that translates, and of its variants, to encoder_decoder.hpp here.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_encoder_decoder.py

golden_models.py describes the values. The variants are AlgoPerf's, with an attention temperature of 4. The loss is the
cross-entropy per token with a label smoothing of 0.1.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

VOCABULARY, WIDTH, HEADS, HIDDEN = 7, 4, 2, 3
SOURCES, TARGETS = (3, 1, 4), (2, 3, 1)
sources = (torch.arange(sum(SOURCES)) * 7 + 3) % VOCABULARY
inputs = (torch.arange(sum(TARGETS)) * 5 + 1) % VOCABULARY
labels = (torch.arange(sum(TARGETS)) * 3 + 2) % VOCABULARY


def sine_positions(rows):
    omega = 10000.0 ** -(torch.arange(WIDTH // 2) / (WIDTH // 2 - 1))
    angles = torch.arange(rows)[:, None] * omega
    return torch.cat((angles.sin(), angles.cos()), 1)


class EncoderDecoder:
    def __init__(self, post_norm=False, temperature=1, glu=False, activation=F.relu):
        self.post_norm, self.temperature, self.glu, self.activation = post_norm, temperature, glu, activation
        self.shapes = {"embedding": (VOCABULARY, WIDTH)}
        self.declare("encoder.0.self", {"qkv": 3})
        self.declare_mlp("encoder.0.mlp")
        if not post_norm:
            self.declare_norm("encoder.norm")
        self.declare("decoder.0.self", {"qkv": 3})
        self.declare("decoder.0.cross", {"query": 1, "kv": 2})
        self.declare_mlp("decoder.0.mlp")
        if not post_norm:
            self.declare_norm("decoder.norm")
        self.p = golden_models.parameters(self.shapes)

    def declare_norm(self, name):
        self.shapes |= {f"{name}.scale": (WIDTH,), f"{name}.bias": (WIDTH,)}

    def declare_branch(self, name, tensors):
        if not self.post_norm:
            self.declare_norm(f"{name}.norm")
        self.shapes |= {f"{name}.{tensor}": shape for tensor, shape in tensors.items()}
        if self.post_norm:
            self.declare_norm(f"{name}.norm")

    def declare(self, name, parts):
        weights = {f"{part}.weight": (n * WIDTH, WIDTH) for part, n in parts.items()}
        self.declare_branch(name, weights | {"out.weight": (WIDTH, WIDTH)})

    def declare_mlp(self, name):
        dense = lambda part, outputs, inputs: {f"{part}.weight": (outputs, inputs), f"{part}.bias": (outputs,)}
        gate = dense("gate", HIDDEN, WIDTH) if self.glu else {}
        self.declare_branch(name, dense("up", HIDDEN, WIDTH) | gate | dense("down", WIDTH, HIDDEN))

    def dense(self, name, x):
        return F.linear(x, self.p[f"{name}.weight"], self.p.get(f"{name}.bias"))

    def norm(self, name, x):
        return F.layer_norm(x, (WIDTH,), self.p[f"{name}.scale"], self.p[f"{name}.bias"], 1e-6)

    def joined(self, name, x, branch):
        if self.post_norm:
            return self.norm(f"{name}.norm", x + branch(x))
        return x + branch(self.norm(f"{name}.norm", x))

    def attention(self, query, key, value, rows, columns, causal):
        heads = lambda y, sizes: y.reshape(-1, HEADS, WIDTH // HEADS).transpose(0, 1).split(sizes, 1)
        parts = zip(heads(self.temperature * query, rows), heads(key, columns), heads(value, columns))
        y = torch.cat([F.scaled_dot_product_attention(*each, is_causal=causal) for each in parts], 1)
        return y.transpose(0, 1).reshape(-1, WIDTH)

    def self_attention(self, name, rows, causal):
        def branch(x):
            query, key, value = self.dense(f"{name}.qkv", x).chunk(3, 1)
            return self.dense(f"{name}.out", self.attention(query, key, value, rows, rows, causal))
        return branch

    def cross_attention(self, name, encoded):
        def branch(x):
            key, value = self.dense(f"{name}.kv", encoded).chunk(2, 1)
            query = self.dense(f"{name}.query", x)
            return self.dense(f"{name}.out", self.attention(query, key, value, TARGETS, SOURCES, False))
        return branch

    def mlp(self, name):
        def branch(x):
            h = self.activation(self.dense(f"{name}.up", x))
            h = h * self.dense(f"{name}.gate", x) if self.glu else h
            return self.dense(f"{name}.down", h)
        return branch

    def embedded(self, tokens, rows):
        return F.embedding(tokens, self.p["embedding"]) + torch.cat([sine_positions(n) for n in rows])

    def logits(self):
        x = self.embedded(sources, SOURCES)
        x = self.joined("encoder.0.self", x, self.self_attention("encoder.0.self", SOURCES, False))
        x = self.joined("encoder.0.mlp", x, self.mlp("encoder.0.mlp"))
        x = x if self.post_norm else self.norm("encoder.norm", x)
        y = self.embedded(inputs, TARGETS)
        y = self.joined("decoder.0.self", y, self.self_attention("decoder.0.self", TARGETS, True))
        y = self.joined("decoder.0.cross", y, self.cross_attention("decoder.0.cross", x))
        y = self.joined("decoder.0.mlp", y, self.mlp("decoder.0.mlp"))
        y = y if self.post_norm else self.norm("decoder.norm", y)
        return y @ self.p["embedding"].T / WIDTH**0.5

    def loss(self):
        return F.cross_entropy(self.logits(), labels, label_smoothing=0.1)


models = {"encoder_decoder": EncoderDecoder(), "encoder_decoder_post_ln": EncoderDecoder(post_norm=True),
          "encoder_decoder_attention_temp": EncoderDecoder(temperature=4),
          "encoder_decoder_glu_tanh": EncoderDecoder(glu=True, activation=torch.tanh)}
golden_models.write(Path(__file__).with_name("encoder_decoder.hpp"), "make_encoder_decoder.py",
                    "\n".join(golden_models.model(name, net.p, net.loss, net.logits) for name, net in models.items()))
