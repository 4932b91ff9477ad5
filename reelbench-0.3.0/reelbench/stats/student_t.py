"""Student's t distribution, central and noncentral: few videos need it in place of the normal one.

This is our own code because scipy is no dependency. The central distribution is a regularized
incomplete beta function, computed by its continued fraction (DLMF 8.17.22). For the noncentral one
T = (Z + shift) / S, where Z is standard normal and S = sqrt(chi² / dof). So P(T <= x) is the mean
of Phi(x·S - shift) over S: one smooth integral, computed with a Gauss-Legendre rule.
"""

import math
from functools import cache, lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = float | Array

_NODES = 256
# Chi's standard deviation is at most 0.71: what lies further from its mean weighs under 1e-30.
_REACH = 9.0
_LARGEST = 1e150
"""Larger values count as this one, whose square is a float."""
_MANY = 100.0
"""From here on the series of `_log_beta` is exact to 1e-16."""


class _Quadrature(NamedTuple):
    """The points at which a function is evaluated, and their weights in the sum."""

    points: Array
    weights: Array


def cdf(x: float, dof: int, *, shift: float = 0.0) -> float:
    """Return P(T <= x) of Student's t, central to 1e-12 and noncentral to 1e-9.

    Args:
        x: The value.
        dof: Degrees of freedom.
        shift: The noncentrality: 0 is the usual, central distribution.
    """
    if not shift:
        tail = _upper_tail(abs(x), dof)
        return tail if x < 0 else 1 - tail
    chi = _scaled_chi_quadrature(dof)
    tails = np.array([math.erfc((shift - x * point) / math.sqrt(2)) for point in chi.points])
    return float(chi.weights @ tails / 2)


def two_sided_p(t: Array, dof: int) -> Array:
    """Return P(|T| >= |t|) of the central distribution for each value.

    Args:
        t: Any values, of any shape.
        dof: Degrees of freedom.
    """
    size = np.minimum(np.abs(t), _LARGEST)
    squares = size * size
    is_far = squares > _convergence_switch(dof)
    p = np.empty_like(squares)
    p[is_far] = _far_p(squares[is_far], dof)
    p[~is_far] = 1 - _near_share(squares[~is_far], dof)
    return p


def _upper_tail(t: float, dof: int) -> float:
    """Return P(T >= t) of the central distribution for a t from 0 up."""
    square = min(t, _LARGEST) ** 2
    if square > _convergence_switch(dof):
        return float(_far_p(square, dof)) / 2
    return (1 - float(_near_share(square, dof))) / 2


def _convergence_switch(dof: int) -> float:
    """Return the t² above which the fraction of `_far_p` converges faster."""
    return 3 * dof / (dof + 2)


def _far_p(square: Numbers, dof: int) -> Numbers:
    """Return P(T² >= square), a beta function in dof / (dof + square)."""
    total = dof + square
    return _regularized_beta(dof / total, square / total, dof / 2, 0.5)


def _near_share(square: Numbers, dof: int) -> Numbers:
    """Return P(T² <= square), a beta function in square / (dof + square)."""
    total = dof + square
    return _regularized_beta(square / total, dof / total, 0.5, dof / 2)


def _regularized_beta(x: Numbers, complement: Numbers, a: float, b: float) -> Numbers:
    """Return the regularized incomplete beta function I(a, b) at x.

    One of the two parameters is 1 / 2.

    Args:
        x: In 0 to 1, below (a + 1) / (a + b + 2), or the fraction converges slowly.
        complement: 1 - x, without the rounding of that subtraction.
        a: The first parameter.
        b: The second parameter.
    """
    # The fraction needs some square root of its parameters in terms. It is worked out from the
    # last one to the first, two a round: each divides all that follows.
    terms = 30 + int(4 * math.sqrt(max(a, b)))
    fraction: Numbers = 1.0
    for term in range(terms, 0, -1):
        even = term * (b - term) / ((a + 2 * term - 1) * (a + 2 * term))
        fraction = 1 + even * x / fraction
        before = term - 1
        odd = (a + before) * (a + b + before) / ((a + 2 * before) * (a + 2 * before + 1))
        fraction = 1 - odd * x / fraction
    power = x**a * complement**b
    return power / (a * fraction) * math.exp(-_log_beta(max(a, b)))


def _log_beta(a: float) -> float:
    """Return log B(a, 1 / 2)."""
    if a < _MANY:
        return math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    # The difference of two large logarithms would round: its series in 1 / a (DLMF 5.11.13).
    series = 1 / (8 * a) - 1 / (192 * a**3) + 1 / (640 * a**5)
    return math.lgamma(0.5) - math.log(a) / 2 + series


@lru_cache(maxsize=1024)
def quantile(share: float, dof: int) -> float:
    """Return the central t below which `share` of the distribution lies.

    Raises:
        ValueError: `share` is not strictly between 0 and 1.
    """
    return float(quantiles(np.array([share]), dof)[0])


def quantiles(shares: Array, dof: int) -> Array:
    """Return `quantile` of each share.

    Newton's method on the logarithms of the tail and of t: there the tail is concave, so it
    converges from every start.

    Raises:
        ValueError: A share is not strictly between 0 and 1.
    """
    outside = shares[~((shares > 0) & (shares < 1))]
    if outside.size:
        raise ValueError(f"share: {outside[0]} is not between 0 and 1")
    tail_shares = np.minimum(shares, 1 - shares)
    is_middle = tail_shares == 0.5  # noqa: PLR2004 - there t is 0
    tails = np.where(is_middle, 0.25, tail_shares)
    normal = NormalDist()
    log_t = np.log([-normal.inv_cdf(tail) for tail in tails.tolist()])
    is_exact = np.zeros(log_t.shape, dtype=bool)
    for _ in range(100):
        t = np.exp(log_t)
        tail = two_sided_p(t, dof) / 2
        slope = -_central_density(t, dof) * t / tail
        step = (np.log(tails) - np.log(tail)) / slope
        # What is exact already stays, so that no value depends on those beside it. A step's square
        # is what is left after it.
        log_t = np.where(is_exact, log_t, log_t + step)
        is_exact |= np.abs(step) < 1e-9  # noqa: PLR2004
        if is_exact.all():
            break
    t = np.where(is_middle, 0.0, np.exp(log_t))
    return np.where(shares > tail_shares, t, -t)


def _central_density(t: Array, dof: int) -> Array:
    """Return the central distribution's density at t."""
    power = -(dof + 1) / 2 * np.log1p(t * t / dof)
    return np.exp(power - _log_beta(dof / 2)) / math.sqrt(dof)


@lru_cache(maxsize=64)
def _scaled_chi_quadrature(dof: int) -> _Quadrature:
    """Return values of S and their probabilities, which sum to 1."""
    low = max(0.0, math.sqrt(dof) - _REACH)
    high = math.sqrt(dof) + _REACH
    rule = _legendre_rule()
    chi = low + (high - low) * (rule.points + 1) / 2
    log_density = (dof - 1) * np.log(chi) - chi**2 / 2
    weights = rule.weights * np.exp(log_density - log_density.max())
    return _Quadrature(chi / math.sqrt(dof), weights / weights.sum())


@cache
def _legendre_rule() -> _Quadrature:
    """Return the points in -1 to 1 and the weights of the Gauss-Legendre rule.

    The points are the roots of Legendre's polynomial, found by Newton's method. The result is that
    of `numpy.polynomial.legendre.leggauss`, in a hundredth of the time that eigenvalues take.
    """
    n = _NODES
    x = -np.cos(np.pi * (np.arange(1, n + 1) - 0.25) / (n + 0.5))
    slope = np.ones(n)
    for _ in range(4):  # each step squares the error, from within 1e-5
        before_last = np.ones(n)
        last = x
        for degree in range(2, n + 1):
            value = ((2 * degree - 1) * x * last - (degree - 1) * before_last) / degree
            before_last = last
            last = value
        slope = n * (x * last - before_last) / (x**2 - 1)
        x = x - last / slope
    return _Quadrature(x, 2 / ((1 - x**2) * slope**2))
