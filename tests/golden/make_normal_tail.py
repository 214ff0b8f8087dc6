"""Prints the coefficients of core/normal_tail.hpp and their largest relative error.

    python -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python tests/golden/make_normal_tail.py
"""
import numpy as np
from numpy.polynomial import chebyshev, polynomial
from scipy.special import erfcx


def tail(a):
    """P(X > a) exp(a^2 / 2) of a standard normal X."""
    return 0.5 * erfcx(a / np.sqrt(2))


def tail_of_u(u, bend):
    t = (u + 1) / 2
    return np.where(t <= 0, 0, tail((1 / np.maximum(t, 1e-300) - 1) / bend))


def main():
    for degree, bend, most in ((10, 0.2, 14), (24, 0.3, 38)):  # beyond `most`, the density is no normal number
        a = np.linspace(0, most, 100_001)
        coefficients = chebyshev.cheb2poly(chebyshev.chebinterpolate(tail_of_u, degree, args=(bend,)))
        error = np.abs(polynomial.polyval(2 / (1 + bend * a) - 1, coefficients) / tail(a) - 1).max()
        print(f"degree {degree}, bend {bend}, error {error:.1e}:", ", ".join(f"{c:.17g}" for c in coefficients))


if __name__ == "__main__":
    main()
