"""Writes the golden values of two small language models, Gpt and RotaryTransformer, to transformers.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_transformers.py

golden_models.py describes the values.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS, HIDDEN, BATCH = 11, 6, 8, 2, 2, 12, 3
SIZE = WIDTH // HEADS
tokens = (torch.arange(BATCH * CONTEXT) * 7 + 3) % VOCABULARY
labels = (torch.arange(BATCH * CONTEXT) * 5 + 1) % VOCABULARY
tokens, labels = tokens.reshape(BATCH, CONTEXT), labels.reshape(BATCH, CONTEXT)


class Model:
    def __init__(self, first, block, last):
        shapes = dict(first)
        for b in range(LAYERS):
            shapes |= {f"block.{b}.{name}": shape for name, shape in block.items()}
        shapes |= last
        self.p = golden_models.parameters(shapes)

    def dense(self, x, name):
        return F.linear(x, self.p[f"{name}.weight"], self.p.get(f"{name}.bias"))

    def heads(self, x, name):
        return (t.view(BATCH, CONTEXT, HEADS, SIZE).transpose(1, 2) for t in self.dense(x, name).split(WIDTH, -1))

    def logits(self):
        x = self.embedded()
        for b in range(LAYERS):
            x = self.block(x, f"block.{b}")
        return self.norm(x, "norm") @ self.p["embedding.weight"].T

    def loss(self):
        return F.cross_entropy(self.logits().view(-1, VOCABULARY), labels.view(-1))


class Gpt(Model):
    def __init__(self):
        block = {"norm_1.scale": (WIDTH,), "norm_1.bias": (WIDTH,), "qkv.weight": (3 * WIDTH, WIDTH),
                 "qkv.bias": (3 * WIDTH,), "out.weight": (WIDTH, WIDTH), "out.bias": (WIDTH,),
                 "norm_2.scale": (WIDTH,), "norm_2.bias": (WIDTH,), "up.weight": (HIDDEN, WIDTH), "up.bias": (HIDDEN,),
                 "down.weight": (WIDTH, HIDDEN), "down.bias": (WIDTH,)}
        super().__init__({"embedding.weight": (VOCABULARY, WIDTH), "positions.weight": (CONTEXT, WIDTH)}, block,
                         {"norm.scale": (WIDTH,), "norm.bias": (WIDTH,)})

    def norm(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.p[f"{name}.scale"], self.p[f"{name}.bias"])

    def embedded(self):
        return F.embedding(tokens, self.p["embedding.weight"]) + self.p["positions.weight"]

    def block(self, x, name):
        q, k, v = self.heads(self.norm(x, f"{name}.norm_1"), f"{name}.qkv")
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dense(mixed.transpose(1, 2).reshape(x.shape), f"{name}.out")
        hidden = F.gelu(self.dense(self.norm(x, f"{name}.norm_2"), f"{name}.up"), approximate="tanh")
        return x + self.dense(hidden, f"{name}.down")


class RotaryTransformer(Model):
    BASE = 500000

    def __init__(self):
        block = {"norm_1.scale": (WIDTH,), "qkv.weight": (3 * WIDTH, WIDTH), "query_key_norm.scale": (1,),
                 "out.weight": (WIDTH, WIDTH), "norm_2.scale": (WIDTH,), "up.weight": (2 * HIDDEN, WIDTH),
                 "down.weight": (WIDTH, HIDDEN)}
        super().__init__({"embedding.weight": (VOCABULARY, WIDTH)}, block, {"norm.scale": (WIDTH,)})
        angles = torch.outer(torch.arange(CONTEXT), self.BASE ** (-torch.arange(0, SIZE, 2) / SIZE))
        self.turns = torch.polar(torch.ones_like(angles), angles)

    def norm(self, x, name):
        return F.rms_norm(x, (WIDTH,), self.p[f"{name}.scale"], eps=1e-6)

    def embedded(self):
        return F.embedding(tokens, self.p["embedding.weight"])

    def rotated(self, x):
        """Multiplies neighbouring elements, as complex numbers, by those of their position."""
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], SIZE // 2, 2))
        return torch.view_as_real(pairs * self.turns).reshape(x.shape)

    def block(self, x, name):
        q, k, v = self.heads(self.norm(x, f"{name}.norm_1"), f"{name}.qkv")
        q, k = (t / (torch.linalg.vector_norm(t, dim=-1, keepdim=True) + 1e-6) for t in map(self.rotated, (q, k)))
        mixed = F.scaled_dot_product_attention(self.p[f"{name}.query_key_norm.scale"] * q, k, v, is_causal=True, scale=1)
        x = x + self.dense(mixed.transpose(1, 2).reshape(x.shape), f"{name}.out")
        return x + self.dense(F.glu(self.dense(self.norm(x, f"{name}.norm_2"), f"{name}.up")), f"{name}.down")


gpt, rotary = Gpt(), RotaryTransformer()
golden_models.write(Path(__file__).with_name("transformers.hpp"), "make_transformers.py",
                    golden_models.model("gpt", gpt.p, gpt.loss, gpt.logits) + "\n" +
                    golden_models.model("rotary_transformer", rotary.p, rotary.loss, rotary.logits))
