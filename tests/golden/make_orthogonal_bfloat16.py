"""Writes orthogonal_bfloat16.hpp: the Newton-Schulz iteration of torch.optim.Muon on three matrices, in bfloat16. It
divides by a norm in double, which torch rounds to bfloat16.

    python make_orthogonal_bfloat16.py > orthogonal_bfloat16.hpp
"""
import sys

import torch
from torch.optim._muon import _zeropower_via_newtonschulz as by_torch

A, B, C = 3.4445, -4.7750, 2.0315


def orthogonalize(gradient):
    x = (gradient.double() / gradient.double().norm()).bfloat16()
    wide = x.T if x.shape[0] > x.shape[1] else x
    for _ in range(5):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=B, alpha=C), wide, beta=A)
    return wide.T if x.shape[0] > x.shape[1] else wide


def text(matrix):
    return "{" + ", ".join(f"{x:.9g}" for x in matrix.flatten().tolist()) + "}"


torch.manual_seed(1)
print(f"""// The output of make_orthogonal_bfloat16.py, with torch {torch.__version__.split("+")[0]}.
#pragma once

#include <cstddef>

namespace golden {{

struct OrthogonalMatrix {{
  std::size_t rows, cols;
  double gradient[48], orthogonal[48];
}};
inline constexpr OrthogonalMatrix orthogonal_bfloat16[] = {{""")
for rows, cols in ((4, 12), (12, 4), (3, 16)):
    gradient = (64 * torch.randn(rows, cols)).round() / 64
    result = orthogonalize(gradient).double()
    print(f"    {{{rows}, {cols}, {text(gradient)}, {text(result)}}},")
    distance = (by_torch(gradient, (A, B, C), 5, 1e-7).double() - result).norm() / result.norm()
    print(f"{rows} x {cols}: distance from torch.optim.Muon {distance:.4f}", file=sys.stderr)
print("""};

}  // namespace golden""")
