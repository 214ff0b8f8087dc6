"""Writes the golden values of a small decoder-only Transformer to gpt.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_gpt.py

The reference is torch in double precision: the loss, every gradient, and the losses and parameters of three steps of
AdamW. Element i of tensor k (in the order below, counted from 0) starts as 0.4 sin(1 + 0.7 k + 1.3 i), and 1 more if it is
a norm's scale.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS, HIDDEN, BATCH = 11, 6, 8, 2, 2, 12, 3
torch.set_default_dtype(torch.float64)

shapes = {"embedding.weight": (VOCABULARY, WIDTH), "positions.weight": (CONTEXT, WIDTH)}
for b in range(LAYERS):
    for name, shape in {"norm_1.scale": (WIDTH,), "norm_1.bias": (WIDTH,), "qkv.weight": (3 * WIDTH, WIDTH),
                        "qkv.bias": (3 * WIDTH,), "out.weight": (WIDTH, WIDTH), "out.bias": (WIDTH,),
                        "norm_2.scale": (WIDTH,), "norm_2.bias": (WIDTH,), "up.weight": (HIDDEN, WIDTH),
                        "up.bias": (HIDDEN,), "down.weight": (WIDTH, HIDDEN), "down.bias": (WIDTH,)}.items():
        shapes[f"block.{b}.{name}"] = shape
shapes["norm.scale"] = shapes["norm.bias"] = (WIDTH,)


def start(k, name, shape):
    count = torch.Size(shape).numel()
    values = 0.4 * torch.sin(1 + 0.7 * k + 1.3 * torch.arange(count))
    return (values + name.endswith("scale")).reshape(shape).requires_grad_()


p = {name: start(k, name, shape) for k, (name, shape) in enumerate(shapes.items())}
tokens = (torch.arange(BATCH * CONTEXT) * 7 + 3) % VOCABULARY
labels = (torch.arange(BATCH * CONTEXT) * 5 + 1) % VOCABULARY
tokens, labels = tokens.reshape(BATCH, CONTEXT), labels.reshape(BATCH, CONTEXT)


def block(x, name):
    def dense(x, part):
        return F.linear(x, p[f"{name}.{part}.weight"], p[f"{name}.{part}.bias"])

    def norm(x, part):
        return F.layer_norm(x, (WIDTH,), p[f"{name}.{part}.scale"], p[f"{name}.{part}.bias"])

    heads = [t.view(BATCH, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2)
             for t in dense(norm(x, "norm_1"), "qkv").split(WIDTH, -1)]
    mixed = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(BATCH, CONTEXT, WIDTH)
    x = x + dense(mixed, "out")
    return x + dense(F.gelu(dense(norm(x, "norm_2"), "up"), approximate="tanh"), "down")


def loss():
    x = F.embedding(tokens, p["embedding.weight"]) + p["positions.weight"]
    for b in range(LAYERS):
        x = block(x, f"block.{b}")
    x = F.layer_norm(x, (WIDTH,), p["norm.scale"], p["norm.bias"])
    return F.cross_entropy((x @ p["embedding.weight"].T).view(-1, VOCABULARY), labels.view(-1))


optimizer = torch.optim.AdamW(list(p.values()), lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
losses, gradients = [], {}
for step in range(4):
    optimizer.zero_grad()
    value = loss()
    value.backward()
    losses.append(value.item())
    if step == 0:
        gradients = {name: tensor.grad.clone() for name, tensor in p.items()}
    if step < 3:
        optimizer.step()


def numbers(values):
    return "{" + ", ".join(f"{x:.17g}" for x in values) + "}"


rows = ",\n".join(f'    {{"{name}", {numbers(gradients[name].flatten().tolist())}, '
                  f'{numbers(tensor.detach().flatten().tolist())}}}' for name, tensor in p.items())
Path(__file__).with_name("gpt.hpp").write_text(f"""// Written by make_gpt.py with torch {torch.__version__.split("+")[0]}.
#pragma once

#include <vector>

namespace golden {{

// The losses of steps 1 to 4.
inline const std::vector<double> gpt_losses{numbers(losses)};

// The first gradient, and the values after three steps.
struct GptTensor {{
  const char* name;
  std::vector<double> gradient, values;
}};
inline const std::vector<GptTensor> gpt_tensors{{
{rows}}};

}}  // namespace golden
""")
