"""Writes akima.hpp: values of scipy's Akima curves, and the scaling exponents of the optimal model size that these
curves give for the data of Porian et al.

    python -m venv venv && venv/bin/pip install scipy
    ALGOPERF_DATA=... venv/bin/python tests/golden/make_akima.py
"""
import collections
import csv
import os
import pathlib

import numpy as np
import scipy
from scipy.interpolate import Akima1DInterpolator

X = [0, 1, 2.5, 3, 4.5, 5]
Y = [3, 1, 0.2, 0.5, 0.4, 2]
AT = [0, 0.3, 1.7, 2.6, 3.2, 4.4, 4.9]


def least(x, y, places):
    grid = np.linspace(x[0], x[-1], places)
    return grid[np.argmin(Akima1DInterpolator(x, y)(grid))]


def rows(name):
    with open(pathlib.Path(os.environ["ALGOPERF_DATA"]) / "scaling" / name) as file:
        yield from csv.DictReader(file)


def main():
    curve = Akima1DInterpolator(X, Y)
    values = ", ".join(f"{{{x}, {float(curve(x))!r}}}" for x in AT)
    budgets = collections.defaultdict(set)
    for row in rows("porian_optimal.csv"):
        budgets[row["config"]].add(float(row["flops"]))
    runs = collections.defaultdict(list)
    for row in rows("porian_isoflop.csv"):
        if float(row["flops"]) in budgets[row["config"]]:
            runs[row["config"], float(row["flops"])].append((float(row["n"]), float(row["loss"])))
    lines = []
    for config in budgets:
        log_flops, log_size = [], []
        for flops in sorted(budgets[config]):
            n, loss = np.log(sorted(runs[config, flops])).T
            log_flops.append(np.log(flops))
            log_size.append(least(n, loss, 2_000_001))
        lines.append(f'    {{"{config}", {np.polyfit(log_flops, log_size, 1)[0]:.7f}}},')
    pathlib.Path(__file__).with_name("akima.hpp").write_text(f"""\
// Made by make_akima.py with scipy {scipy.__version__}. Do not edit.
#pragma once

// clang-format off
namespace golden::akima {{

struct Value {{
  double x, y;
}};
inline constexpr double x[] = {{{", ".join(map(str, X))}}};
inline constexpr double y[] = {{{", ".join(map(str, Y))}}};
inline constexpr Value values[] = {{{values}}};
inline constexpr double minimum = {least(X, Y, 10_000_001):.6f};  // of ten million places

struct Exponent {{
  const char* config;
  double size;  // of log N against log C
}};
inline constexpr Exponent exponents[] = {{
{chr(10).join(lines)}
}};

}}  // namespace golden::akima
// clang-format on
""")


if __name__ == "__main__":
    main()
