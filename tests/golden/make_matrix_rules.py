"""Writes the golden values of rules that work on whole matrices to matrix_rules.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy scipy
    venv/bin/python tests/golden/make_matrix_rules.py

Ten steps in double precision on three row-major matrices of 4x4, 3x6 and 6x3. One index i runs over all of them.
A row holds the 52 values after the last step. start() and gradient() are those of rules.hpp. The formulas are
implemented here from the authors' papers and code. Muon is also checked against torch below.
"""
from pathlib import Path
from unittest import mock

import numpy as np
import scipy
import torch

STEPS, LR = 10, 0.05
SHAPES = [(4, 4), (3, 6), (6, 3)]
FIRST = np.cumsum([0] + [m * n for m, n in SHAPES])


def start(size):
    return ((np.arange(size) * 37 + 11) % 101) / 101 - 0.5


def gradient(t, p, first):  # first: the index i of p[0]
    i = np.arange(first, first + p.size).reshape(p.shape)
    return ((i * 53 + t * 29 + 7) % 97) / 97 - 0.45 + 0.1 * p


def run(rule):
    """Runs rule(t, p, g) -> new p, where p and g are lists of matrices. Returns the final values."""
    values = start(FIRST[-1])
    p = [values[a:b].reshape(shape) for a, b, shape in zip(FIRST, FIRST[1:], SHAPES)]
    for t in range(1, STEPS + 1):
        p = rule(t, p, [gradient(t, x, a) for x, a in zip(p, FIRST)])
    return np.concatenate([x.ravel() for x in p])


# ---- inverse roots ---------------------------------------------------------------------------------------------------


def eigen_root(a, p, ridge):
    w, v = np.linalg.eigh(a)
    root = (v * (w + ridge * w[-1]) ** (-1 / p)) @ v.T
    exact = scipy.linalg.fractional_matrix_power(a + ridge * w[-1] * np.eye(len(a)), -1 / p)
    assert np.abs(root - exact).max() < 1e-7 * np.abs(exact).max()
    return root


def largest_eigenvalue(a):
    x = np.arange(1, len(a) + 1) * 0.6180339887498949
    v = x - np.floor(x) - 0.5
    size, before = np.linalg.norm(v), 0
    for _ in range(100):
        v = a @ (v / size)
        size = np.linalg.norm(v)
        if abs(size - before) < 1e-6 * size:
            break
        before = size
    return size


def newton_root(a, p, ridge):
    """Shi et al. 2023, algorithm 3, followed by one more update of x."""
    identity = np.eye(len(a))
    m = a + ridge * largest_eigenvalue(a) * identity
    z = (p + 1) / (2 * np.linalg.norm(m))
    x, damped, m = z ** (1 / p) * identity, m, z * m
    while np.linalg.norm(m - identity) > 1e-6:
        step = ((p + 1) * identity - m) / p
        x, m = x @ step, np.linalg.matrix_power(step, p) @ m
    x = x @ ((p + 1) * identity - m) / p
    assert np.abs(np.linalg.matrix_power(x, p) @ damped - identity).max() < 1e-9
    return x


# ---- Shampoo: Shi et al. 2023, algorithm 2 ---------------------------------------------------------------------------


def adagrad(t, g, m, s):
    s["v"] = s.get("v", 0) + g * g
    return m / (np.sqrt(s["v"]) + 1e-8)


def rmsprop(t, g, m, s, beta2=0.999):
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
    return m / (np.sqrt(s["v"]) + 1e-8)


def adam(t, g, m, s):
    rmsprop(t, g, m, s)
    return m / (np.sqrt(s["v"] / (1 - 0.999**t)) + 1e-8)


def rmsprop_normalized(t, g, m, s):  # AlgoPerf's distributed_shampoo.py
    size = np.linalg.norm(g) + 1e-16
    return rmsprop(t, g / size, m / size, s)


class Shampoo:
    def __init__(self, graft=None, root=eigen_root, beta1=0.9, beta2=0.99, beta3=None, decay=0.1, epsilon=1e-3,
                 block=1024, power=None, statistics_frequency=1, root_frequency=1, start_step=1, sides=(0, 1),
                 nesterov=None, staggered=True):
        self.__dict__.update(locals())
        self.blocks, self.factors, self.momentum = [], [], {}
        for tensor, (rows, cols) in enumerate(SHAPES):
            for r in range(0, rows, block):
                for c in range(0, cols, block):
                    where = (slice(r, min(r + block, rows)), slice(c, min(c + block, cols)))
                    sizes = where[0].stop - r, where[1].stop - c
                    b = {"tensor": tensor, "where": where, "m": np.zeros(sizes), "graft": {}, "factors": []}
                    for side in sides:
                        n = sizes[side]
                        b["factors"].append({"side": side, "n": n, "a": np.zeros((n, n)), "root": np.eye(n)})
                    self.blocks.append(b)
                    self.factors += b["factors"]
        self.factors.sort(key=lambda f: f["n"])  # stable

    def __call__(self, t, p, gs):
        updated = (t - 1) % self.statistics_frequency == 0
        for b in self.blocks if updated else []:
            g = gs[b["tensor"]][b["where"]]
            for f in b["factors"]:
                square = g @ g.T if f["side"] == 0 else g.T @ g
                f["a"] = self.beta2 * f["a"] + (1 - self.beta2 if self.beta2 < 1 else 1) * square
        updates = (t - 1) // self.statistics_frequency + 1
        for i, f in enumerate(self.factors):
            turn = t + i if self.staggered else t
            if t == self.start_step or (t > self.start_step and turn % self.root_frequency == 0):
                weight = 1 - self.beta2**updates if self.beta2 < 1 else 1
                f["root"] = self.root(f["a"] / weight, self.power or 2 * len(self.sides), self.epsilon)
        u = [np.empty_like(x) for x in p]
        for b in self.blocks:
            u[b["tensor"]][b["where"]] = self.direction(t, b, gs[b["tensor"]][b["where"]])
        return [x - LR * self.final(i, v + self.decay * x) for i, (x, v) in enumerate(zip(p, u))]

    def direction(self, t, b, g):
        beta1, beta3 = self.beta1, self.beta1 if self.beta3 is None else self.beta3
        m = (beta3 * b["m"] + (1 - beta3) * g) / (1 - beta3 * beta1 ** (t - 1))
        b["m"] = beta1 * b["m"] + (1 - beta1) * g
        graft = self.graft(t, g, m, b["graft"]) if self.graft else m
        if t < self.start_step:
            return graft
        d = m
        for f in b["factors"]:
            d = f["root"] @ d if f["side"] == 0 else d @ f["root"]
        return d * np.linalg.norm(graft) / (np.linalg.norm(d) + 1e-16) if self.graft else d

    def final(self, i, u):  # AlgoPerf applies momentum after the preconditioner and the decay
        if self.nesterov is None:
            return u
        mu = self.nesterov
        self.momentum[i] = mu * self.momentum.get(i, 0) + (1 - mu) * u
        return (1 - mu) * u + mu * self.momentum[i]


# ---- SOAP: the authors' soap.py ------------------------------------------------------------------------------------


class Soap:
    def __init__(self, beta1=0.95, beta2=0.95, shampoo_beta=None, frequency=2, staggered=False, decay=0.0,
                 largest_side=4):
        self.__dict__.update(locals())
        self.factors = []
        for tensor, shape in enumerate(SHAPES):
            for side in (0, 1):
                if shape[side] <= largest_side:
                    self.factors.append({"tensor": tensor, "side": side, "n": shape[side], "a": 0})
        self.sorted = sorted(self.factors, key=lambda f: f["n"])
        self.m = [np.zeros(s) for s in SHAPES]
        self.v = [np.zeros(s) for s in SHAPES]

    def turn(self, x, tensor, back=False, basis="q"):
        for f in self.factors:
            if f["tensor"] == tensor:
                q = f[basis].T if back else f[basis]
                x = q.T @ x if f["side"] == 0 else x @ q
        return x

    def __call__(self, t, p, gs):
        steps = t - 1
        result = [x - LR * self.decay * x for x in p]
        if steps > 0:
            for i, g in enumerate(gs):
                n = self.turn(g, i)
                self.m[i] = self.beta1 * self.m[i] + (1 - self.beta1) * n
                self.v[i] = self.beta2 * self.v[i] + (1 - self.beta2) * n * n
                rate = LR * np.sqrt(1 - self.beta2**steps) / (1 - self.beta1**steps)
                result[i] = result[i] - rate * self.turn(self.m[i] / (np.sqrt(self.v[i]) + 1e-8), i, back=True)
        keep = self.beta2 if self.shampoo_beta is None else self.shampoo_beta
        for f in self.factors:
            g = gs[f["tensor"]]
            f["a"] = keep * f["a"] + (1 - keep) * (g @ g.T if f["side"] == 0 else g.T @ g)
            f["old"] = f.get("q")
            if steps == 0:
                w, q = np.linalg.eigh(f["a"])
                assert w[0] > 1e-6 * w[-1], "no full rank: the basis would depend on eigh"
                f["q"] = q[:, ::-1]
        if steps > 0:
            for i, f in enumerate(self.sorted):
                if (steps + i if self.staggered else steps) % self.frequency == 0:
                    order = np.argsort(-np.diag(f["q"].T @ f["a"] @ f["q"]))
                    self.v[f["tensor"]] = np.take(self.v[f["tensor"]], order, axis=f["side"])
                    f["q"] = np.linalg.qr(f["a"] @ f["q"][:, order])[0]
            self.m = [self.turn(self.turn(m, i, back=True, basis="old"), i) for i, m in enumerate(self.m)]
        return result


# ---- Muon with lists of coefficients ---------------------------------------------------------------------------------

QUINTIC = [(4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037), (2.8769, -3.1427, 1.2046),
           (2.8366, -3.0525, 1.2012)]
POLAR_EXPRESS = [(8.2051, -22.9019, 16.4607), (4.0664, -2.8612, 0.5184), (3.9096, -2.8234, 0.5250),
                 (3.2856, -2.4153, 0.4853), (2.2779, -1.6198, 0.3985), (1.8726, -1.2307, 0.3585),
                 (1.8564, -1.2132, 0.3568), (1.875, -1.25, 0.375)]
CANS = [(8.4703, -25.1081, 18.6293), (4.1828, -3.1087, 0.5806), (3.9619, -2.9541, 0.5630), (3.2866, -2.4647, 0.5074),
        (2.2737, -1.6447, 0.4162)]
SIMPLE = [(3.4445, -4.7750, 2.0315)] * 5


class Muon:
    def __init__(self, steps, scale=lambda rows, cols: max(1, rows / cols) ** 0.5):
        self.steps, self.scale, self.m = steps, scale, [np.zeros(s) for s in SHAPES]

    def orthogonal(self, u):
        x = u.T if u.shape[0] > u.shape[1] else u
        x = x / max(np.linalg.norm(x), 1e-7)
        for a, b, c in self.steps:
            gram = x @ x.T
            x = a * x + (b * gram + c * gram @ gram) @ x
        return x.T if u.shape[0] > u.shape[1] else x

    def __call__(self, t, p, gs):
        mu = 0.95
        self.m = [mu * m + (1 - mu) * g for m, g in zip(self.m, gs)]
        u = [self.orthogonal((1 - mu) * g + mu * m) * self.scale(*g.shape) for m, g in zip(self.m, gs)]
        return [x - LR * (v + 0.1 * x) for x, v in zip(p, u)]


def match_rms(rows, cols):
    return 0.2 * max(rows, cols) ** 0.5


def torch_muon(adjust):
    """Runs torch.optim.Muon in double, without its rounding to bfloat16."""
    p = [torch.from_numpy(start(FIRST[-1])[a:b].reshape(s).copy()) for a, b, s in zip(FIRST, FIRST[1:], SHAPES)]
    optimizer = torch.optim.Muon(p, LR, 0.1, adjust_lr_fn=adjust)
    with mock.patch.object(torch, "bfloat16", torch.float64):
        for t in range(1, STEPS + 1):
            for x, a in zip(p, FIRST):
                x.grad = torch.from_numpy(gradient(t, x.numpy(), a))
            optimizer.step()
    return np.concatenate([x.numpy().ravel() for x in p])


for adjust, muon in (("original", Muon(SIMPLE)), ("match_rms_adamw", Muon(SIMPLE, match_rms))):
    assert np.abs(run(muon) - torch_muon(adjust)).max() < 1e-13

# ---- the rows ------------------------------------------------------------------------------------------------------

ROWS = [
    ("shampoo_sgd", "grafted on SGD", Shampoo(lambda t, g, m, s: m)),
    ("shampoo_none", "no graft, epsilon=0.1", Shampoo(epsilon=0.1)),
    ("shampoo_adagrad", "grafted on Adagrad, beta2=1, beta1=0", Shampoo(adagrad, beta1=0, beta2=1)),
    ("shampoo_rmsprop", "grafted on RMSProp, beta3=0.5", Shampoo(rmsprop, beta3=0.5)),
    ("shampoo_adam", "grafted on Adam, root_frequency=3, start_step=3, staggered",
     Shampoo(adam, root_frequency=3, start_step=3)),
    ("shampoo_at_once", "grafted on Adam, root_frequency=3, start_step=2",
     Shampoo(adam, root_frequency=3, start_step=2, staggered=False)),
    ("shampoo_newton", "grafted on Adam, Newton roots, block=2, statistics_frequency=2, root_frequency=4, staggered",
     Shampoo(adam, newton_root, block=2, statistics_frequency=2, root_frequency=4)),
    ("shampoo_algoperf", "grafted on normalised RMSProp, Newton roots, beta1=0, then Nesterov momentum 0.9",
     Shampoo(rmsprop_normalized, newton_root, beta1=0, nesterov=0.9)),
    ("shampoo_left", "left side only, root=3, grafted on SGD", Shampoo(lambda t, g, m, s: m, power=3, sides=(0,))),
    ("shampoo_right", "right side only, grafted on Adam, beta2=0.9", Shampoo(adam, beta2=0.9, sides=(1,))),
    ("soap", "soap.py: frequency=2, largest_side=4, no decay", Soap()),
    ("soap_staggered", "frequency=3, shampoo_beta=0.8, beta2=0.99, decay with the update, staggered",
     Soap(beta1=0.9, beta2=0.99, shampoo_beta=0.8, frequency=3, staggered=True, decay=0.1)),
    ("muon_simple", "as torch.optim.Muon in double, match_rms_adamw", Muon(SIMPLE, match_rms)),
    ("muon_quintic", "unit_rms", Muon(QUINTIC, lambda rows, cols: (rows / cols) ** 0.5)),
    ("muon_polar_express", "ten steps, the last repeated", Muon(POLAR_EXPRESS + POLAR_EXPRESS[-1:] * 2)),
    ("muon_cans", "match_rms", Muon(CANS, match_rms)),
]

HEADER = """\
// Made by make_matrix_rules.py with torch {torch}, numpy {numpy}, scipy {scipy}. Do not edit.
// Run again: python tests/golden/make_matrix_rules.py (pip install torch numpy scipy).
//
// The values after ten steps, in double, of three matrices of 4x4, 3x6 and 6x3, row-major. One index i runs over all of
// them; start(i), gradient(t, i, p), steps and the learning rate are those of rules.hpp. Unless a row says otherwise:
// decay 0.1; shampoo: beta1 0.9, beta2 0.99, epsilon 1e-3, eigenvalue roots at every step, grafts with beta2 0.999 and
// eps 1e-8; soap: beta1 0.95, beta2 0.95, eps 1e-8; muon: momentum 0.95 with Nesterov, scale original.
#pragma once

// clang-format off
namespace golden {{

struct ThreeMatrices {{ const char* rule; const char* says; double values[52]; }};
inline constexpr ThreeMatrices three_matrices[] = {{
{rows}}};

}}  // namespace golden
"""


def cpp(row):
    name, says, rule = row
    numbers = [f"{value:.17g}" for value in run(rule)]
    lines = [", ".join(numbers[i : i + 5]) for i in range(0, len(numbers), 5)]
    return f'    {{"{name}", "{says}",\n     {{' + ",\n      ".join(lines) + "}},\n"


versions = {"torch": torch.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
text = HEADER.format(rows="".join(map(cpp, ROWS)), **versions)
Path(__file__).with_name("matrix_rules.hpp").write_text(text)
