#!/usr/bin/env python3
"""Writes tests/golden/sobol.hpp: points of the Sobol sequence without scrambling. Needs scipy (1.17)."""
import os

from scipy.stats import qmc

DIMENSIONS = 50
INDICES = [1, 6, 21, 1000, 54321]  # of the sequence in its natural order; scipy's order is that of the Gray code

points = qmc.Sobol(DIMENSIONS, scramble=False, bits=32).random(1 << 16)


def gray_position(i):
    position = 0
    while i:
        position ^= i
        i >>= 1
    return position


with open(os.path.join(os.path.dirname(__file__), "sobol.hpp"), "w", encoding="utf-8") as out:
    out.write("// Written by make_sobol.py. Coordinates times 2^32.\n#pragma once\n\n#include <cstdint>\n\n")
    out.write("namespace golden {\n\n// clang-format off\nstruct SobolPoint {\n  std::uint32_t index;\n")
    out.write(f"  std::uint32_t coordinates[{DIMENSIONS}];\n}};\ninline constexpr SobolPoint sobol_points[] = {{\n")
    for i in INDICES:
        words = [int(x * 2**32) for x in points[gray_position(i)]]
        out.write(f"    {{{i}, {{" + ", ".join(f"{w}u" for w in words) + "}},\n")
    out.write("};\n// clang-format on\n\n}  // namespace golden\n")
