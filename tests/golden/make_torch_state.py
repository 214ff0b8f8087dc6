"""Writes torch_state.hpp: the state of PyTorch's optimizers after ten steps, and the parameters after ten and twenty.

    python tests/golden/make_torch_state.py        (in the environment of make_rules.py)

The problem is that of make_rules.py: w (5x3) and b (7), with one index over both, in double precision.
"""
from pathlib import Path

import numpy as np
import torch

from make_rules import LR, W, gradient, start

torch.set_default_dtype(torch.float64)  # NAdam stores mu_product in the default type


def run(make):
    w, b = torch.from_numpy(start()[:W].reshape(5, 3)), torch.from_numpy(start()[W:])
    optimizer = make([w, b])
    values, state = [], None
    for t in range(1, 21):
        w.grad, b.grad = torch.from_numpy(gradient(t, w.numpy())), torch.from_numpy(gradient(t, b.numpy(), W))
        optimizer.step()
        if t in (10, 20):
            values.append(np.concatenate([w.numpy().ravel(), b.numpy()]))
        if t == 10:
            entries = optimizer.state_dict()["state"]
            state = {name: [np.atleast_1d(np.array(entries[i][name], copy=True)).ravel() for i in (0, 1)]
                     for name in entries[0] if name != "step" and entries[0][name] is not None}
    return values, state


def numbers(values):
    return "{" + ", ".join(f"{v:.17g}" for v in values) + "}"


OPTIMIZERS = {
    "momentum": lambda p: torch.optim.SGD(p, LR, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, LR, weight_decay=0.1),
    "amsgrad": lambda p: torch.optim.Adam(p, LR, amsgrad=True),
    "nadam": lambda p: torch.optim.NAdam(p, LR),
    "radam": lambda p: torch.optim.RAdam(p, LR),
    "rmsprop": lambda p: torch.optim.RMSprop(p, LR),
    "adagrad": lambda p: torch.optim.Adagrad(p, LR),
}

if __name__ == "__main__":
    lines = [f"""// Made by make_torch_state.py with torch {torch.__version__}. Do not edit.
// States of PyTorch's optimizers after ten steps of make_rules.py's problem, and the parameters after ten and twenty.
#pragma once

#include <vector>

// clang-format off
namespace golden {{

struct TorchArray {{ const char* name; std::vector<double> w, b; }};
struct TorchState {{ const char* rule; std::vector<double> after_ten, after_twenty; std::vector<TorchArray> state; }};
inline const TorchState torch_states[] = {{"""]
    for rule, make in OPTIMIZERS.items():
        (ten, twenty), state = run(make)
        lines.append(f'    {{"{rule}",\n     {numbers(ten)},\n     {numbers(twenty)},\n     {{')
        for name, (w, b) in state.items():
            lines.append(f'         {{"{name}", {numbers(w)}, {numbers(b)}}},')
        lines.append("     }},")
    lines.append("};\n\n}  // namespace golden")
    Path(__file__).with_name("torch_state.hpp").write_text("\n".join(lines) + "\n")
