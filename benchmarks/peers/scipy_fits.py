"""Compares scipy's fits of Chinchilla's law to 234 runs with the library's, on one thread. The library alternates in
another process; the argument is its program (bench_scaling_fits). Prints ratios of scipy's processor time to the
library's, as rows of the table of scripts/bench.sh. scipy receives analytic gradients, the same starting points, and
tolerances tight enough to reach the same optima."""
import csv
import os
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import scipy
from scipy.optimize import minimize, nnls

with open(os.environ.get("ALGOPERF_DATA", "data") + "/scaling/chinchilla_subset_apache2.csv") as file:
    rows = list(csv.DictReader(file))
LOG_N, LOG_D = (np.log([float(row[name]) for row in rows]) for name in ("N", "D"))
LOSS = np.array([float(row["loss"]) for row in rows])
DELTA = 1e-3


def huber(theta, weights):
    """Returns the sum of Huber losses of log residuals and its gradient, over delta^2 to suit the tolerances."""
    a, b, e, alpha, beta = theta
    terms = np.stack([a - alpha * LOG_N, b - beta * LOG_D, np.full_like(LOG_N, e)])
    most = terms.max(0)
    shares = np.exp(terms - most)
    total = shares.sum(0)
    shares /= total
    r = most + np.log(total) - np.log(LOSS)
    size = np.abs(r)
    value = np.where(size <= DELTA, 0.5 * r * r, DELTA * (size - 0.5 * DELTA))
    slope = weights * np.clip(r, -DELTA, DELTA)
    pulls = slope * shares
    gradient = np.array([*pulls.sum(1), -(pulls[0] * LOG_N).sum(), -(pulls[1] * LOG_D).sum()])
    return (weights * value).sum() / DELTA**2, gradient / DELTA**2


def from_start(theta, weights):
    return minimize(huber, theta, args=(weights,), jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})


def cold():
    best = None
    for floor in (0.6, 0.9):
        for alpha in (0.25, 0.4, 0.7):
            for beta in (0.25, 0.4, 0.7):
                e = floor * LOSS.min()
                half = np.log(0.5 * (LOSS.mean() - e))
                start = [half + alpha * LOG_N.mean(), half + beta * LOG_D.mean(), np.log(e), alpha, beta]
                end = from_start(start, np.ones_like(LOSS))
                best = end if best is None or end.fun < best.fun else best
    return best


def projected(shape):
    """Returns the residual sum of squares of the least squares fit over A, B, E >= 0 for the exponents `shape`."""
    terms = np.stack([np.exp(-shape[0] * (LOG_N - 20)), np.exp(-shape[1] * (LOG_D - 23)), np.ones_like(LOSS)], 1)
    return nnls(terms, LOSS)[1] ** 2


def values():
    tight = {"xatol": 1e-9, "fatol": 1e-15, "maxiter": 2000}
    return minimize(projected, [0.4, 0.4], method="Nelder-Mead", options=tight)


OPTIMUM = cold()
RANDOM = np.random.default_rng(1)


def bootstrap():
    weights = np.bincount(RANDOM.integers(0, len(LOSS), len(LOSS)), minlength=len(LOSS)).astype(float)
    return from_start(OPTIMUM.x, weights)


assert abs(OPTIMUM.fun * DELTA**2 - 8.40093119957e-4) < 1e-12, OPTIMUM
assert abs(values().fun - 0.0463428940879) < 1e-12
process = subprocess.Popen([sys.argv[1], "--turns"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def library(what, repetitions):
    process.stdin.write(f"{what} {repetitions}\n")
    process.stdin.flush()
    return float(process.stdout.readline()) / repetitions


for what, label, ours, peer, theirs in (("values", "least squares by projection", 20, values, 1),
                                        ("huber", "sum of Huber losses, cold", 2, cold, 1),
                                        ("bootstrap", "one bootstrap fit", 100, bootstrap, 10)):
    ratios = []
    for _ in range(9):
        start = time.process_time()
        for _ in range(theirs):
            peer()
        ratios.append((time.process_time() - start) / theirs / library(what, ours))
    lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    name = f"scipy {scipy.__version__} / ours: {label}"
    print(f"| {name:<66} | {'':<22} | {f'{median:.1f} [{lower:.1f}, {upper:.1f}]':<22} | {'':<4} |")
    sys.stdout.flush()
