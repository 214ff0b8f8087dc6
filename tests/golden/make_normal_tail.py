"""Prints the coefficients of core/normal_tail.hpp and their largest relative error.

    python -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python tests/golden/make_normal_tail.py
"""
import numpy as np
from numpy.polynomial import chebyshev, polynomial
from scipy.special import erfcx

BEND = 0.3


def tail(a):
    """P(X > a) exp(a^2 / 2) of a standard normal X."""
    return 0.5 * erfcx(a / np.sqrt(2))


def tail_of_u(u):
    t = (u + 1) / 2
    return np.where(t <= 0, 0, tail((1 / np.maximum(t, 1e-300) - 1) / BEND))


def main():
    a = np.linspace(0, 38, 100_001)
    for degree in (12, 24):
        coefficients = chebyshev.cheb2poly(chebyshev.chebinterpolate(tail_of_u, degree))
        error = np.abs(polynomial.polyval(2 / (1 + BEND * a) - 1, coefficients) / tail(a) - 1).max()
        print(f"degree {degree}, error {error:.1e}:", ", ".join(f"{c:.17g}" for c in coefficients))


if __name__ == "__main__":
    main()
