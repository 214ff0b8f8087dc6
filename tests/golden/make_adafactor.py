"""Writes the golden values of Adafactor to adafactor.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch optax numpy "jax[cpu]"
    venv/bin/python tests/golden/make_adafactor.py

Steps, tensors, initial values and gradients are those of make_rules.py: ten steps in double precision on w (5x3) and
b (7). There are two further tensors: a wide w (3x40), whose means over rows and columns differ, and a stack (6x2x2).
"""
from pathlib import Path
from unittest import mock

import jax
import numpy as np
import optax
import torch

from make_rules import LR, STEPS, W, by_numpy, by_torch, cpp, gradient, norm, start, tensors


def by_optax(rule, shape=(5, 3), size=22):
    """Runs optax's code in double. Unpatched, optax computes beta_t in float32."""
    n = int(np.prod(shape))
    p = {"w": start(size)[:n].reshape(shape), "b": start(size)[n:]}
    p = jax.tree.map(jax.numpy.asarray, p)
    with mock.patch.object(jax.numpy, "float32", jax.numpy.float64):
        state = rule.init(p)
        for t in range(1, STEPS + 1):
            g = {"w": gradient(t, np.asarray(p["w"])), "b": gradient(t, np.asarray(p["b"]), n)}
            u, state = rule.update(jax.tree.map(jax.numpy.asarray, g), state, p)
            p = optax.apply_updates(p, u)
    assert p["w"].dtype == p["b"].dtype == np.float64
    return np.concatenate([np.asarray(p["w"]).ravel(), np.asarray(p["b"])])


def adafactor(**options):
    return by_optax(optax.adafactor(LR, min_dim_size_to_factor=2, dtype_momentum=np.float64, **options))


def by_torch_adafactor(rate=LR, **options):
    return by_torch(lambda p: torch.optim.Adafactor(p, rate, **options))


def algoperf(beta1=0.9, decay=0.99, weight_decay=0.0):
    """algorithmic-efficiency, reference_algorithms/paper_baselines/adafactor; the PyTorch and JAX versions agree."""
    def step(t, p, g, s):
        beta = decay * (1 - decay ** (t - 1)) / (1 - decay**t)

        def scaled(p, g, name):
            if name == "w":
                g = g.reshape(5, 3)
            q = g * g + 1e-30
            if name == "w":
                r = s["r"] = beta * s.get("r", 0) + (1 - beta) * q.mean(-1)
                c = s["c"] = beta * s.get("c", 0) + (1 - beta) * q.mean(-2)
                u = g / np.sqrt((r / r.mean())[:, None] * c[None, :])
            else:
                v = s["vb"] = beta * s.get("vb", 0) + (1 - beta) * q
                u = g / np.sqrt(v)
            return (u / max(1, np.sqrt(np.mean(u * u)))).ravel() * LR

        s["m"] = beta1 * s["m"] + (1 - beta1) * tensors(scaled)(p, g)
        return p - weight_decay * LR * p - s["m"]
    return by_numpy(step)


def rules():
    wide = lambda rule: by_optax(rule, (3, 40), 127)[:120]
    stack = by_torch(lambda p: torch.optim.Adafactor(p, LR), lambda p: torch.optim.SGD(p, LR), (6, 4), 31)[:24]
    small = [
        ("adafactor", "optax.adafactor(min_dim_size_to_factor=2)", adafactor()),
        ("adafactor_unfactored", "optax.adafactor(), nothing factored", by_optax(optax.adafactor(LR))),
        ("adafactor_decayed", "optax.adafactor(min_dim_size_to_factor=2, weight_decay_rate=0.01)",
         adafactor(weight_decay_rate=0.01)),
        ("adafactor_masked", "optax.adafactor(min_dim_size_to_factor=2, weight_decay_rate=0.01, mask: w only)",
         adafactor(weight_decay_rate=0.01, weight_decay_mask={"w": True, "b": False})),
        ("adafactor_momentum", "optax.adafactor(min_dim_size_to_factor=2, momentum=0.9, weight_decay_rate=0.01)",
         adafactor(momentum=0.9, weight_decay_rate=0.01)),
        ("adafactor_absolute", "optax.adafactor(min_dim_size_to_factor=2, multiply_by_parameter_scale=False)",
         adafactor(multiply_by_parameter_scale=False)),
        ("adafactor_unclipped",
         "optax.adafactor(min_dim_size_to_factor=2, clipping_threshold=None, multiply_by_parameter_scale=False)",
         adafactor(clipping_threshold=None, multiply_by_parameter_scale=False)),
        ("adafactor_options",
         "optax.adafactor(min_dim_size_to_factor=3, decay_rate=0.5, clipping_threshold=0.7, eps=1e-3)",
         by_optax(optax.adafactor(LR, min_dim_size_to_factor=3, decay_rate=0.5, clipping_threshold=0.7, eps=1e-3))),
        ("adafactor_torch", "torch.optim.Adafactor", by_torch_adafactor()),
        ("adafactor_torch_decayed", "torch.optim.Adafactor(lr=0.5, weight_decay=0.1): 1 / sqrt(t) is less than lr",
         by_torch_adafactor(0.5, weight_decay=0.1)),
        ("adafactor_torch_options", "torch.optim.Adafactor(beta2_decay=-0.5, eps=(0.3, 0.2), d=1.1)",
         by_torch_adafactor(beta2_decay=-0.5, eps=(0.3, 0.2), d=1.1)),
        ("adafactor_algoperf", "numpy, AlgoPerf's formula", algoperf()),
        ("adafactor_algoperf_decayed", "numpy, AlgoPerf's formula, beta1=0.5, decay_adam=0.8, weight_decay=0.1",
         algoperf(0.5, 0.8, 0.1)),
    ]
    return small, wide(optax.adafactor(LR, min_dim_size_to_factor=2)), stack


HEADER = """\
// Made by make_adafactor.py with torch {torch}, optax {optax}, jax {jax}, numpy {numpy}. Do not edit.
// Run again: python tests/golden/make_adafactor.py (pip install torch optax numpy "jax[cpu]").
//
// The values after ten steps, in double, of w (5x3, row-major) and then b (7), as in rules.hpp. Learning rate 0.05
// unless a row says otherwise.
#pragma once

#include "rules.hpp"

// clang-format off
namespace golden {{

inline constexpr Row adafactor_rows[] = {{
{rules}}};

// optax.adafactor(min_dim_size_to_factor=2), w of 3x40.
inline constexpr double adafactor_wide[] = {{{wide}}};
// torch.optim.Adafactor, w of 6x4: as our 6x2x2.
inline constexpr double adafactor_stack[] = {{{stack}}};

}}  // namespace golden
"""


def numbers(values):
    words, lines, line = [f"{v:.17g}" for v in values], [], ""
    for word in words:
        if len(line) + len(word) > 110:
            lines.append(line.rstrip())
            line = ""
        line += word + ", "
    return "\n    " + "\n    ".join(lines + [line.rstrip(", ")])


if __name__ == "__main__":
    versions = {m.__name__: str(m.__version__) for m in (torch, optax, jax, np)}
    small, wide, stack = rules()
    text = HEADER.format(rules="".join(map(cpp, small)), wide=numbers(wide), stack=numbers(stack), **versions)
    Path(__file__).with_name("adafactor.hpp").write_text(text)
