"""Writes the golden values of the stochastic line search to armijo.hpp in this folder.

    python -m venv venv && venv/bin/pip install numpy
    venv/bin/python tests/golden/make_armijo.py

A reimplementation of SGD with exponential step sizes and the conservative search of github.com/R3za/expsls (sls.py,
exp_step_sgd.py with is_sls). The loss is the logistic loss with the regulariser of its objectives.py; batches have one
example; the arithmetic is double. The generated header defines example() and label() for the C++ tests.
"""
from pathlib import Path

import numpy as np

EXAMPLES, WIDTH, STEPS, PRECISION = 12, 4, 60, 0.01
D = np.array([[(((i * 37 + j * 53 + 11) % 101) / 101 - 0.5) * (i + 1) for j in range(WIDTH)] for i in range(EXAMPLES)])
Y = np.array([1.0 if (i * 7) % 12 < 5 else -1.0 for i in range(EXAMPLES)])


def loss_and_gradient(x, d, y):
    e = np.exp(-y * (d @ x))
    return np.log(1 + e) + PRECISION / 2 * np.sum(x**2), -y * e / (1 + e) * d + PRECISION * x


def search(x, g, d, y, gamma):
    """Returns gamma for the next step, and the number of values tried."""
    first, tries = gamma, 0
    f = loss_and_gradient(x, d, y)[0]
    while tries < 100:
        if gamma <= (f - loss_and_gradient(x - gamma * g, d, y)[0]) / (0.5 * np.linalg.norm(g) ** 2 + 1e-12):
            return gamma, tries + 1
        tries += 1
        gamma = 0.7 * gamma
    return 0.7 * first, tries


def run():
    x, gamma, alpha, gammas, tries = np.zeros(WIDTH), 2.0, (1 / STEPS) ** (1 / STEPS), [], []
    for t in range(STEPS):
        d, y = D[5 * t % EXAMPLES], Y[5 * t % EXAMPLES]
        g = loss_and_gradient(x, d, y)[1]
        found, n = search(x, g, d, y, gamma)
        x = x - gamma * alpha**t * g
        gamma = found
        gammas.append(gamma)
        tries.append(n)
    return x, gammas, tries


def numbers(values):
    words = [f"{v:.17g}" for v in values]
    return ",\n    ".join(", ".join(words[i : i + 5]) for i in range(0, len(words), 5))


HEADER = """\
// Made by make_armijo.py with numpy {numpy}. Do not edit. Run again: python tests/golden/make_armijo.py.
//
// SGD with exponential steps and the conservative line search of github.com/R3za/expsls: logistic loss + {precision} / 2
// |x|^2, step t (from 0) on example 5 t mod {examples}, from x = 0, gamma = 2.
#pragma once

// clang-format off
namespace golden::armijo {{

inline constexpr int examples = {examples}, width = {width}, steps = {steps};
inline constexpr double precision = {precision};
constexpr double example(int i, int j) {{ return ((i * 37 + j * 53 + 11) % 101 / 101.0 - 0.5) * (i + 1); }}
constexpr double label(int i) {{ return i * 7 % 12 < 5 ? 1 : -1; }}

// x after the last step; gamma after each; how many were tried in each.
inline constexpr double x[] = {{
    {x}}};
inline constexpr double gammas[] = {{
    {gammas}}};
inline constexpr int tries[] = {{
    {tries}}};

}}  // namespace golden::armijo
"""

if __name__ == "__main__":
    x, gammas, tries = run()
    text = HEADER.format(examples=EXAMPLES, width=WIDTH, steps=STEPS, precision=PRECISION, x=numbers(x),
                         gammas=numbers(gammas), tries=numbers(tries), numpy=np.__version__)
    Path(__file__).with_name("armijo.hpp").write_text(text)
