"""Student's t distribution, central and shifted: what few videos need in place of the normal one.

Own code, since scipy is no dependency: T = (Z + shift) / S with Z standard normal and S = sqrt(chi²
/ dof), so that P(T <= x) is the mean of Phi(x·S - shift) over S: one smooth integral, by Gauss and
Legendre's rule.
"""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

_NODES = 256
_REACH = 9.0  # chi's standard deviation is at most 0.71: what lies further from its mean weighs under 1e-30


def cdf(x: float, dof: int, *, shift: float = 0.0) -> float:
    """Return P(T <= x) of Student's t with `dof` degrees of freedom, noncentral by `shift`; to some 1e-9."""
    s, weights = _chi(dof)
    inner = np.array([math.erfc((shift - x * at) / math.sqrt(2)) for at in s])
    return float(weights @ inner / 2)


@lru_cache(maxsize=1024)
def quantile(share: float, dof: int) -> float:
    """Return the central t below which `share` lies; ValueError unless that is strictly between 0 and 1."""
    if not 0 < share < 1:
        raise ValueError(f"share: {share} is not between 0 and 1")
    high = 1.0
    while cdf(high, dof) < max(share, 1 - share):
        high *= 2
    low = -high
    while high - low > 1e-11 * max(1.0, abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle, dof) < share else (low, middle)
    return (low + high) / 2


@lru_cache(maxsize=64)
def _chi(dof: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places of S and their probabilities, which sum to 1."""
    low, high = max(0.0, math.sqrt(dof) - _REACH), math.sqrt(dof) + _REACH
    nodes, node_weights = _rule()
    chi = low + (high - low) * (nodes + 1) / 2
    logs = (dof - 1) * np.log(chi) - chi**2 / 2
    weights = node_weights * np.exp(logs - logs.max())
    return chi / math.sqrt(dof), weights / weights.sum()


@cache
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places in -1 to 1 and their weights: the roots of Legendre's polynomial, by Newton's method.

    As `numpy.polynomial.legendre.leggauss` gives them, in a hundredth of the time that eigenvalues
    take.
    """
    n = _NODES
    x = -np.cos(np.pi * (np.arange(1, n + 1) - 0.25) / (n + 0.5))
    slope = np.ones(n)
    for _ in range(4):  # from within 1e-5 each step squares the error
        before, value = np.ones(n), x
        for degree in range(2, n + 1):
            before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
        slope = n * (x * value - before) / (x**2 - 1)
        x = x - value / slope
    return x, 2 / ((1 - x**2) * slope**2)
