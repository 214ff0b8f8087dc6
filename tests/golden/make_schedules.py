"""Writes the golden values of the schedules to schedules.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch optax "jax[cpu]" transformers
    venv/bin/python tests/golden/make_schedules.py

The values are in double. Steps count from 0: 0..15 or more, 1000 (far past the end), and 2^40 if the reference has a
closed form. A row stops at the schedule's end if the reference and this library differ past it: the cosines of torch
and Hugging Face rise again, and torch's one-cycle schedule throws.
"""
import math
import textwrap
import warnings
from pathlib import Path

import jax
import optax
import torch
import transformers
from optax.contrib import reduce_on_plateau
from torch.optim import lr_scheduler as lr
from transformers import optimization as hf

jax.config.update("jax_enable_x64", True)
warnings.filterwarnings("ignore", category=UserWarning, module="torch")  # SequentialLR uses deprecated calls

STEPS = [*range(16), 1000, 2**40]
LONG = [*range(28), 1000]


def by_optax(schedule, steps=STEPS):
    values = [jax.numpy.asarray(schedule(step)) for step in steps]
    assert all(value.dtype == "float64" for value in values)
    return [(step, float(value)) for step, value in zip(steps, values)]


def sgd():
    return torch.optim.SGD([torch.zeros(1)], lr=1.0, momentum=0.9)


def by_torch(make, last=1000, steps=STEPS, key="lr"):
    """Returns the rate (initially 1.0) that the optimizer uses in each of `steps`, counted from 0."""
    optimizer = sgd()
    schedule, rates = make(optimizer), []
    for i in range(last + 1):
        rates.append(optimizer.param_groups[0][key])
        optimizer.step()
        if i < last:
            schedule.step()
    return [(step, rates[step]) for step in steps if step <= last]


def by_hf(make, last=2**63, steps=STEPS):
    """As by_torch. Hugging Face's schedules are functions of the step, so steps may be arbitrarily large."""
    rate = make(sgd()).lr_lambdas[0]
    return [(step, float(rate(step))) for step in steps if step <= last]


def by_formula(formula, steps=STEPS):
    return [(step, float(formula(step))) for step in steps]


def llm_c(name, step, warmup, total, floor):
    """The schedules of llm.c's schedulers.h with a peak of 1."""
    if step < warmup:
        return (step + 1) / warmup
    if name == "cosine":
        return floor + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) * (1 - floor)
    begin = int(0.8 * total)
    return 1 if step < begin else floor + (1 - math.sqrt((step - begin) / (total - begin))) * (1 - floor)


def linear_lr(optimizer):
    return lr.LinearLR(optimizer, start_factor=0.1, total_iters=4)


def torch_cosine(optimizer):
    return lr.CosineAnnealingLR(optimizer, T_max=8)


def optax_tables():
    joined = optax.join_schedules([optax.linear_schedule(0.0, 1.0, 4), optax.cosine_decay_schedule(1.0, 8)], [4])
    cycles = [(1.0, 3), (0.55, 6), (0.325, 12)]
    sgdr = optax.sgdr_schedule([
        {"init_value": peak, "peak_value": peak, "warmup_steps": 0, "decay_steps": steps, "end_value": 0.1}
        for peak, steps in cycles])
    trapezoid = optax.join_schedules(
        [optax.linear_schedule(0.0, 1.0, 4), optax.constant_schedule(1.0), optax.linear_schedule(1.0, 0.1, 5)], [4, 9])

    def exponential(*args, **kwargs):
        return by_optax(optax.exponential_decay(*args, **kwargs))

    return [
        ("linear", "optax.linear_schedule(0.1, 0.01, 10)", by_optax(optax.linear_schedule(0.1, 0.01, 10))),
        ("linear_begin", "optax.linear_schedule(0.1, 0.01, 10, transition_begin=3)",
         by_optax(optax.linear_schedule(0.1, 0.01, 10, transition_begin=3))),
        ("cosine", "optax.cosine_decay_schedule(1.0, 10, alpha=0.1)",
         by_optax(optax.cosine_decay_schedule(1.0, 10, alpha=0.1))),
        ("warmup_cosine", "optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=4, decay_steps=12, end_value=0.1)",
         by_optax(optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=4, decay_steps=12, end_value=0.1))),
        ("warmup_cosine_no_warmup",
         "optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=0, decay_steps=12, end_value=0.1)",
         by_optax(optax.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=0, decay_steps=12, end_value=0.1))),
        ("join", "optax.join_schedules([linear_schedule(0.0, 1.0, 4), cosine_decay_schedule(1.0, 8)], [4])",
         by_optax(joined)),
        ("polynomial", "optax.polynomial_schedule(1.0, 0.1, power=2, transition_steps=10, transition_begin=2)",
         by_optax(optax.polynomial_schedule(1.0, 0.1, power=2, transition_steps=10, transition_begin=2))),
        ("polynomial_half", "optax.polynomial_schedule(0.1, 1.0, power=0.5, transition_steps=7)",
         by_optax(optax.polynomial_schedule(0.1, 1.0, power=0.5, transition_steps=7))),
        ("polynomial_one_step", "optax.polynomial_schedule(1.0, 0.1, power=3, transition_steps=1, transition_begin=4)",
         by_optax(optax.polynomial_schedule(1.0, 0.1, power=3, transition_steps=1, transition_begin=4))),
        ("sgdr", "optax.sgdr_schedule of cycles of 3, 6, 12 steps, peaks 1.0, 0.55, 0.325, end_value=0.1",
         by_optax(sgdr, LONG)),
        ("piecewise", "optax.piecewise_constant_schedule(1.0, {3: 0.1, 6: 0.5})",
         by_optax(optax.piecewise_constant_schedule(1.0, {3: 0.1, 6: 0.5}))),
        ("piecewise_at_0", "optax.piecewise_constant_schedule(1.0, {0: 0.5, 6: 0.1})",
         by_optax(optax.piecewise_constant_schedule(1.0, {0: 0.5, 6: 0.1}))),
        ("exponential", "optax.exponential_decay(1.0, 4, 0.5)", exponential(1.0, 4, 0.5)),
        ("exponential_staircase", "optax.exponential_decay(1.0, 4, 0.5, transition_begin=2, staircase=True)",
         exponential(1.0, 4, 0.5, transition_begin=2, staircase=True)),
        ("exponential_floor", "optax.exponential_decay(1.0, 4, 0.5, transition_begin=2, end_value=0.2)",
         exponential(1.0, 4, 0.5, transition_begin=2, end_value=0.2)),
        ("exponential_ceiling", "optax.exponential_decay(0.01, 2, 3.0, end_value=0.5)",
         exponential(0.01, 2, 3.0, end_value=0.5)),
        ("trapezoid", "optax.join_schedules([linear 0-1 in 4, constant 1, linear 1-0.1 in 5], [4, 9])",
         by_optax(trapezoid)),
    ]


def torch_tables():
    def one_cycle(name, total, last=None, **kwargs):
        text = ", ".join(f"{k}={v}" for k, v in kwargs.items())
        make = lambda o: lr.OneCycleLR(o, max_lr=1.0, total_steps=total, **kwargs)
        last = total - 1 if last is None else last
        text = f"torch OneCycleLR(1.0, {total}" + (f", {text})" if text else ")")
        return [(f"one_cycle{name}", text, by_torch(make, last, range(total))),
                (f"one_cycle_momentum{name}", text, by_torch(make, last, range(total), key="momentum"))]

    return [
        ("torch_linear", "torch LinearLR(start_factor=0.1, total_iters=4), lr 1.0", by_torch(linear_lr)),
        ("torch_cosine", "torch CosineAnnealingLR(T_max=8), lr 1.0", by_torch(torch_cosine, last=8)),
        ("torch_sequential", "torch SequentialLR([LinearLR(0.1, total_iters=4), CosineAnnealingLR(8)], [4]), lr 1.0",
         by_torch(lambda o: lr.SequentialLR(o, [linear_lr(o), torch_cosine(o)], milestones=[4]), last=12)),
        ("torch_polynomial", "torch PolynomialLR(total_iters=4, power=2), lr 1.0",
         by_torch(lambda o: lr.PolynomialLR(o, total_iters=4, power=2))),
        ("torch_restarts", "torch CosineAnnealingWarmRestarts(T_0=3, T_mult=2, eta_min=0.1), lr 1.0",
         by_torch(lambda o: lr.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.1), steps=LONG)),
        ("torch_restarts_equal", "torch CosineAnnealingWarmRestarts(T_0=4), lr 1.0",
         by_torch(lambda o: lr.CosineAnnealingWarmRestarts(o, 4), steps=LONG)),
        ("torch_restarts_one", "torch CosineAnnealingWarmRestarts(T_0=1, T_mult=3), lr 1.0",
         by_torch(lambda o: lr.CosineAnnealingWarmRestarts(o, 1, T_mult=3), steps=LONG)),
        ("torch_step", "torch StepLR(step_size=3, gamma=0.1), lr 1.0",
         by_torch(lambda o: lr.StepLR(o, 3, gamma=0.1))),
        ("torch_step_one", "torch StepLR(step_size=1, gamma=0.9), lr 1.0",
         by_torch(lambda o: lr.StepLR(o, 1, gamma=0.9))),
        ("torch_multi_step", "torch MultiStepLR([2, 5]), lr 1.0", by_torch(lambda o: lr.MultiStepLR(o, [2, 5]))),
        ("torch_multi_step_twice", "torch MultiStepLR([5, 2, 2], gamma=0.5), lr 1.0",
         by_torch(lambda o: lr.MultiStepLR(o, [5, 2, 2], gamma=0.5))),
        ("torch_multi_step_at_0", "torch MultiStepLR([0, 5], gamma=0.5), lr 1.0",
         by_torch(lambda o: lr.MultiStepLR(o, [0, 5], gamma=0.5))),
        ("torch_exponential", "torch ExponentialLR(gamma=0.9), lr 1.0",
         by_torch(lambda o: lr.ExponentialLR(o, gamma=0.9))),
        ("noise_adaptive", "torch ExponentialLR(gamma=(2/20)^(1/20)), lr 1.0, up to its end",
         by_torch(lambda o: lr.ExponentialLR(o, gamma=(2 / 20) ** (1 / 20)), last=20, steps=LONG)),
        *one_cycle("", 10),
        *one_cycle("_linear", 13, pct_start=0.25, anneal_strategy="linear", div_factor=10, final_div_factor=100),
        *one_cycle("_three", 20, three_phase=True),
        *one_cycle("_three_linear", 17, pct_start=0.4, anneal_strategy="linear", three_phase=True),
        *one_cycle("_no_rise", 8, pct_start=0.0),
        *one_cycle("_all_rise", 8, pct_start=1.0),
        *one_cycle("_one_step", 1),
        *one_cycle("_two_steps", 2),
    ]


def hf_tables():
    def wsd(name, warmup, decay, total, **kwargs):
        text = ", ".join(f"{k}={v}" for k, v in kwargs.items())
        make = lambda o: hf.get_wsd_schedule(o, warmup, decay, total, **kwargs)
        return (f"hf_wsd_{name}", f"transformers get_wsd_schedule({warmup}, {decay}, {total}, {text}), lr 1.0",
                by_hf(make))

    return [
        ("hf_warmup", "transformers get_constant_schedule_with_warmup(4), lr 1.0",
         by_hf(lambda o: hf.get_constant_schedule_with_warmup(o, 4))),
        ("hf_no_warmup", "transformers get_constant_schedule_with_warmup(0), lr 1.0",
         by_hf(lambda o: hf.get_constant_schedule_with_warmup(o, 0))),
        ("hf_linear", "transformers get_linear_schedule_with_warmup(4, 12), lr 1.0",
         by_hf(lambda o: hf.get_linear_schedule_with_warmup(o, 4, 12))),
        ("hf_linear_all_warmup", "transformers get_linear_schedule_with_warmup(4, 4), lr 1.0",
         by_hf(lambda o: hf.get_linear_schedule_with_warmup(o, 4, 4))),
        ("hf_cosine_cycles", "transformers get_cosine_schedule_with_warmup(4, 12, num_cycles=1.5), lr 1.0",
         by_hf(lambda o: hf.get_cosine_schedule_with_warmup(o, 4, 12, num_cycles=1.5), last=12)),
        ("hf_cosine_floor",
         "transformers get_cosine_with_min_lr_schedule_with_warmup(0, 12, num_cycles=1, min_lr_rate=0.1), lr 1.0",
         by_hf(lambda o: hf.get_cosine_with_min_lr_schedule_with_warmup(o, 0, 12, num_cycles=1, min_lr_rate=0.1),
               last=12)),
        ("hf_hard_restarts",
         "transformers get_cosine_with_hard_restarts_schedule_with_warmup(4, 16, num_cycles=3), lr 1.0",
         by_hf(lambda o: hf.get_cosine_with_hard_restarts_schedule_with_warmup(o, 4, 16, num_cycles=3), steps=LONG)),
        ("hf_polynomial", "transformers get_polynomial_decay_schedule_with_warmup(4, 12, lr_end=0.1, power=2), lr 1.0",
         by_hf(lambda o: hf.get_polynomial_decay_schedule_with_warmup(o, 4, 12, lr_end=0.1, power=2))),
        ("hf_inverse_sqrt", "transformers get_inverse_sqrt_schedule(4), lr 1.0",
         by_hf(lambda o: hf.get_inverse_sqrt_schedule(o, 4))),
        ("hf_inverse_sqrt_timescale", "transformers get_inverse_sqrt_schedule(4, timescale=9), lr 1.0",
         by_hf(lambda o: hf.get_inverse_sqrt_schedule(o, 4, timescale=9))),
        ("hf_inverse_sqrt_no_warmup", "transformers get_inverse_sqrt_schedule(0), lr 1.0",
         by_hf(lambda o: hf.get_inverse_sqrt_schedule(o, 0))),
        wsd("linear", 4, 5, 14, decay_type="linear", min_lr_ratio=0.1),
        wsd("cosine", 4, 5, 14, decay_type="cosine", min_lr_ratio=0.1),
        wsd("1_sqrt", 4, 5, 14, decay_type="1-sqrt", min_lr_ratio=0.1),
        wsd("no_warmup", 0, 6, 14, decay_type="1-sqrt"),
        wsd("no_stable", 4, 6, 10, decay_type="linear"),
        wsd("no_decay", 4, 0, 10, decay_type="linear"),
        wsd("nothing", 0, 0, 0, decay_type="linear", min_lr_ratio=0.1),
    ]


def formula_tables():
    noam = lambda step: 512**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4**-1.5)
    return [
        ("noam", "512^-0.5 min(n^-0.5, n 4^-1.5), n = step + 1 (Vaswani et al. 2017, equation 3)", by_formula(noam)),
        ("llm_c_cosine", "llm.c's schedulers.h: cosine, warm-up 4, 12 steps, floor 0.1",
         by_formula(lambda step: llm_c("cosine", step, 4, 12, 0.1), range(13))),
        ("llm_c_wsd", "llm.c's schedulers.h: wsd, warm-up 4, 15 steps, floor 0.1",
         by_formula(lambda step: llm_c("wsd", step, 4, 15, 0.1), range(16))),
    ]


# Decreases, stays constant, decreases by less than a relative and an absolute threshold, increases, decreases.
METRICS = [1.0, 0.8, 0.7, 0.7, 0.71, 0.69999, 0.65, 0.66, 0.65, 0.649, 0.6489, 0.6488, 0.7, 0.7, *[0.6] * 10,
           0.59, 0.5999, 0.59, 0.59, 0.59, *[0.2] * 11]


def plateau_tables():
    """Tables of the rate after each metric."""
    def by_torch(name, **kwargs):
        optimizer = sgd()
        sign = -1 if kwargs.get("mode") == "max" else 1
        schedule = lr.ReduceLROnPlateau(optimizer, eps=0.0, **kwargs)
        metrics = [1 - metric if sign < 0 else metric for metric in METRICS]
        rates = []
        for metric in metrics:
            schedule.step(metric)
            rates.append(optimizer.param_groups[0]["lr"])
        text = ", ".join(f"{k}={v}" for k, v in kwargs.items())
        return f"torch_{name}", f"torch ReduceLROnPlateau({text}), lr 1.0", metrics, rates

    def by_optax(name, **kwargs):
        params = jax.numpy.ones(())
        rule = reduce_on_plateau(**kwargs)
        state, rates = rule.init(params), []
        for metric in METRICS:
            update, state = rule.update(params, state, value=metric)
            rates.append(float(update))
        text = ", ".join(f"{k}={v}" for k, v in kwargs.items())
        return f"optax_{name}", f"optax.contrib.reduce_on_plateau({text})", METRICS, rates

    return [
        by_torch("relative", factor=0.5, patience=2, threshold=1e-4),
        by_torch("absolute", factor=0.5, patience=2, threshold=0.01, threshold_mode="abs"),
        by_torch("cooldown", factor=0.1, patience=1, threshold=1e-2, cooldown=3, min_lr=2e-3),
        by_torch("impatient", factor=0.9, patience=0, threshold=0.0),
        by_torch("max", mode="max", factor=0.5, patience=1, threshold=1e-3, cooldown=1),
        by_torch("max_absolute", mode="max", factor=0.5, patience=1, threshold=0.02, threshold_mode="abs"),
        by_optax("plateau", factor=0.5, patience=3, rtol=1e-4, cooldown=2),
    ]


def numbers(values):
    return textwrap.fill(", ".join(f"{value:.17g}" for value in values), 110).replace("\n", "\n      ")


def cpp(table):
    name, reference, points = table
    steps = ", ".join(str(step) for step, _ in points)
    values = numbers(value for _, value in points)
    return f'    {{"{name}",\n     "{reference}",\n     {len(points)}, {{{steps}}},\n     {{{values}}}}},\n'


def cpp_plateau(table):
    name, reference, metrics, rates = table
    return f'    {{"{name}",\n     "{reference}",\n     {{{numbers(metrics)}}},\n     {{{numbers(rates)}}}}},\n'


HEADER = """\
// Made by make_schedules.py with torch {torch}, optax {optax}, jax {jax}, transformers {transformers}. Do not edit.
// Run again: python tests/golden/make_schedules.py (pip install torch optax "jax[cpu]" transformers).
//
// Steps count from 0. Only the first `count` entries of a table are its own: some stop where a library does something
// else past its end. torch computes most rates by recurrence, so its last few bits are not those of a closed form.
#pragma once

// clang-format off
namespace golden {{

struct Table {{ const char* name; const char* reference; int count; long steps[29]; double values[29]; }};
inline constexpr Table schedules[] = {{
{tables}}};

// The rate after each of the metrics, told one after the other.
struct PlateauTable {{ const char* name; const char* reference; double metrics[40]; double rates[40]; }};
inline constexpr PlateauTable plateaus[] = {{
{plateaus}}};

}}  // namespace golden
"""

if __name__ == "__main__":
    versions = {m.__name__: str(m.__version__) for m in (torch, optax, jax, transformers)}
    tables = [*optax_tables(), *torch_tables(), *hf_tables(), *formula_tables()]
    assert max(len(points) for _, _, points in tables) <= 29 and len(METRICS) == 40
    text = HEADER.format(tables="".join(map(cpp, tables)), plateaus="".join(map(cpp_plateau, plateau_tables())),
                         **versions)
    Path(__file__).with_name("schedules.hpp").write_text(text)
