"""Golden numbers for the schedules: writes schedules.hpp beside this file.

    python -m venv venv && venv/bin/pip install torch optax "jax[cpu]"
    venv/bin/python tests/golden/make_schedules.py

Values, in double, at steps counted from 0: 0..15 and far past the end (1000).
torch's cosine rises again after T_max, so its rows stop there.
"""
import warnings
from pathlib import Path

import jax
import optax
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

jax.config.update("jax_enable_x64", True)
warnings.filterwarnings("ignore", category=UserWarning, module="torch")  # SequentialLR steps its parts the old way

STEPS = [*range(16), 1000]


def by_optax(schedule):
    values = [jax.numpy.asarray(schedule(step)) for step in STEPS]
    assert all(value.dtype == "float64" for value in values)
    return [(step, float(value)) for step, value in zip(STEPS, values)]


def by_torch(make, last=1000):
    """The rate, from 1.0, that the optimizer step number `step` (from 0) uses."""
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    schedule, rates = make(optimizer), []
    for _ in range(last + 1):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return [(step, rates[step]) for step in STEPS if step <= last]


def torch_linear(optimizer):
    return LinearLR(optimizer, start_factor=0.1, total_iters=4)


def torch_cosine(optimizer):
    return CosineAnnealingLR(optimizer, T_max=8)


def torch_sequential(optimizer):
    return SequentialLR(optimizer, [torch_linear(optimizer), torch_cosine(optimizer)], milestones=[4])


def tables():
    joined = optax.join_schedules([optax.linear_schedule(0.0, 1.0, 4), optax.cosine_decay_schedule(1.0, 8)], [4])
    return [
        ("linear", "optax.linear_schedule(0.1, 0.01, 10)", by_optax(optax.linear_schedule(0.1, 0.01, 10))),
        ("linear_begin", "optax.linear_schedule(0.1, 0.01, 10, transition_begin=3)",
         by_optax(optax.linear_schedule(0.1, 0.01, 10, transition_begin=3))),
        ("cosine", "optax.cosine_decay_schedule(1.0, 10, alpha=0.1)",
         by_optax(optax.cosine_decay_schedule(1.0, 10, alpha=0.1))),
        ("warmup_cosine", "optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=4, decay_steps=12, end_value=0.1)",
         by_optax(optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=4, decay_steps=12, end_value=0.1))),
        ("join", "optax.join_schedules([linear_schedule(0.0, 1.0, 4), cosine_decay_schedule(1.0, 8)], [4])",
         by_optax(joined)),
        ("polynomial", "optax.polynomial_schedule(1.0, 0.1, power=2, transition_steps=10, transition_begin=2)",
         by_optax(optax.polynomial_schedule(1.0, 0.1, power=2, transition_steps=10, transition_begin=2))),
        ("torch_linear", "torch LinearLR(start_factor=0.1, total_iters=4), lr 1.0", by_torch(torch_linear)),
        ("torch_cosine", "torch CosineAnnealingLR(T_max=8), lr 1.0", by_torch(torch_cosine, last=8)),
        ("torch_sequential", "torch SequentialLR([LinearLR(0.1, total_iters=4), CosineAnnealingLR(8)], [4]), lr 1.0",
         by_torch(torch_sequential, last=12)),
    ]


def cpp(table):
    name, reference, points = table
    steps = ", ".join(str(step) for step, _ in points)
    values = [f"{value:.17g}" for _, value in points]
    lines = ",\n      ".join(", ".join(values[i : i + 5]) for i in range(0, len(values), 5))
    return f'    {{"{name}", "{reference}",\n     {len(points)}, {{{steps}}},\n     {{{lines}}}}},\n'


HEADER = """\
// Made by make_schedules.py with torch {torch}, optax {optax}, jax {jax}. Do not edit.
// Run again: python tests/golden/make_schedules.py (pip install torch optax "jax[cpu]").
//
// Steps count from 0. Only the first `count` entries of a table are its own: torch's cosine rises again past T_max.
// torch computes its rates by recurrence, so its last few bits are not those of a closed form.
#pragma once

// clang-format off
namespace golden {{

struct Table {{ const char* name; const char* reference; int count; long steps[17]; double values[17]; }};
inline constexpr Table schedules[] = {{
{tables}}};

}}  // namespace golden
"""

if __name__ == "__main__":
    versions = {m.__name__: str(m.__version__) for m in (torch, optax, jax)}
    text = HEADER.format(tables="".join(map(cpp, tables())), **versions)
    Path(__file__).with_name("schedules.hpp").write_text(text)
