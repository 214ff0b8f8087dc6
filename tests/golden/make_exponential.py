"""Prints the coefficients of exp for vectors of floats (backend/host/vector.hpp) and their largest relative error.

    python -m venv venv && venv/bin/pip install numpy
    venv/bin/python tests/golden/make_exponential.py
"""
import numpy as np

DEGREE = 6


def main():
    # exp(r) = 1 + r + r^2 q(r) for |r| <= log(2) / 2. The coefficients of q have the smallest largest relative error:
    # Lawson's iteration gives the points with large errors more weight.
    r = np.log(2) / 2 * np.cos(np.pi * (np.arange(400) + 0.5) / 400)
    terms = r[:, None] ** np.arange(2, DEGREE + 1) / np.exp(r)[:, None]
    wanted = (np.expm1(r) - r) / np.exp(r)
    weights = np.ones_like(r)
    for _ in range(300):
        by = np.sqrt(weights)
        q = np.linalg.lstsq(terms * by[:, None], wanted * by, rcond=None)[0]
        error = np.abs(terms @ q - wanted)
        weights *= error / error.max() + 1e-3
        weights /= weights.sum()
    print(f"degree {DEGREE}, error {error.max():.1e}: 1, 1,", ", ".join(f"{c:.9g}" for c in q))


if __name__ == "__main__":
    main()
