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
    if shift:
        return _noncentral_cdf(x, dof, shift)
    both_tails = two_sided_p(np.array([x]), dof)
    tail = float(both_tails[0]) / 2
    if x < 0:
        return tail
    return 1 - tail


def _noncentral_cdf(x: float, dof: int, shift: float) -> float:
    """Return P(T <= x) of the noncentral distribution."""
    scaled_chi = _scaled_chi_quadrature(dof)
    arguments = (shift - x * scaled_chi.points) / math.sqrt(2)
    # The normal distribution is half the complementary error function.
    twice_phi = np.array([math.erfc(argument) for argument in arguments])
    mean_of_twice_phi = scaled_chi.weights @ twice_phi
    return float(mean_of_twice_phi / 2)


def two_sided_p(t: Array, dof: int) -> Array:
    """Return P(|T| >= |t|) of the central distribution for each value.

    Args:
        t: Any values, of any shape.
        dof: Degrees of freedom.
    """
    size = np.minimum(np.abs(t), _LARGEST)
    squares = size * size
    # Above this square the fraction of the far tail converges faster, below it the other.
    switch = 3 * dof / (dof + 2)
    is_far = squares > switch
    p = np.empty_like(squares)
    p[is_far] = _far_p(squares[is_far], dof)
    p[~is_far] = 1 - _near_share(squares[~is_far], dof)
    return p


def _far_p(squares: Array, dof: int) -> Array:
    """Return P(T² >= square), a beta function in dof / (dof + square)."""
    total = dof + squares
    return _regularized_beta(
        x=dof / total,
        complement=squares / total,
        a=dof / 2,
        b=0.5,
    )


def _near_share(squares: Array, dof: int) -> Array:
    """Return P(T² <= square), a beta function in square / (dof + square)."""
    total = dof + squares
    return _regularized_beta(
        x=squares / total,
        complement=dof / total,
        a=0.5,
        b=dof / 2,
    )


def _regularized_beta(*, x: Array, complement: Array, a: float, b: float) -> Array:
    """Return the regularized incomplete beta function I(a, b) at x.

    One of the two parameters is 1 / 2.

    Args:
        x: In 0 to 1, below (a + 1) / (a + b + 2), or the fraction converges slowly.
        complement: 1 - x, without the rounding of that subtraction.
        a: The first parameter.
        b: The second parameter.
    """
    larger = max(a, b)
    # The fraction needs some square root of its parameters in terms. It is worked out from the
    # last one to the first, two a round: each divides all that follows.
    terms = 30 + int(4 * math.sqrt(larger))
    fraction = np.ones_like(x)
    for m in range(terms, 0, -1):
        even_term = _even_term(m, a, b)
        fraction = 1 + even_term * x / fraction
        odd_term = _odd_term(m - 1, a, b)
        fraction = 1 - odd_term * x / fraction
    power = x**a * complement**b
    one_over_beta = math.exp(-_log_beta(larger))
    return power / (a * fraction) * one_over_beta


def _even_term(m: int, a: float, b: float) -> float:
    """Return term 2 m of the fraction, without x."""
    numerator = m * (b - m)
    divisor = (a + 2 * m - 1) * (a + 2 * m)
    return numerator / divisor


def _odd_term(m: int, a: float, b: float) -> float:
    """Return term 2 m + 1 of the fraction, without x and its sign."""
    numerator = (a + m) * (a + b + m)
    divisor = (a + 2 * m) * (a + 2 * m + 1)
    return numerator / divisor


def _log_beta(a: float) -> float:
    """Return log B(a, 1 / 2)."""
    log_gamma_half = math.lgamma(0.5)
    if a < _MANY:
        return math.lgamma(a) + log_gamma_half - math.lgamma(a + 0.5)
    # The difference of two large logarithms would round: its series in 1 / a (DLMF 5.11.13).
    first = 1 / (8 * a)
    second = 1 / (192 * a**3)
    third = 1 / (640 * a**5)
    series = first - second + third
    return log_gamma_half - math.log(a) / 2 + series


@lru_cache(maxsize=1024)
def quantile(share: float, dof: int) -> float:
    """Return the central t below which `share` of the distribution lies.

    Raises:
        ValueError: `share` is not strictly between 0 and 1.
    """
    return float(quantiles(np.array([share]), dof)[0])


def quantiles(shares: Array, dof: int) -> Array:
    """Return `quantile` of each share.

    Raises:
        ValueError: A share is not strictly between 0 and 1.
    """
    is_inside = (shares > 0) & (shares < 1)
    outside = shares[~is_inside]
    if outside.size:
        raise ValueError(f"share: {outside[0]} is not between 0 and 1")
    tails = np.minimum(shares, 1 - shares)
    is_middle = tails == 0.5  # noqa: PLR2004 - there t is 0
    t = _t_of_tails(np.where(is_middle, 0.25, tails), dof)
    t = np.where(is_middle, 0.0, t)
    is_upper = shares > tails
    return np.where(is_upper, t, -t)


def _t_of_tails(tails: Array, dof: int) -> Array:
    """Return the t above which each share lies, for shares below 1 / 2.

    Newton's method on the logarithms of the tail and of t: there the tail is concave, so it
    converges from every start.
    """
    normal = NormalDist()
    start = [-normal.inv_cdf(tail) for tail in tails.tolist()]
    log_t = np.log(start)
    log_tails = np.log(tails)
    is_exact = np.zeros(log_t.shape, dtype=bool)
    for _ in range(100):
        t = np.exp(log_t)
        tail = two_sided_p(t, dof) / 2
        slope = -_central_density(t, dof) * t / tail
        step = (log_tails - np.log(tail)) / slope
        # What is exact already stays, so that no value depends on those beside it. A step's square
        # is what is left after it.
        log_t = np.where(is_exact, log_t, log_t + step)
        is_exact |= np.abs(step) < 1e-9  # noqa: PLR2004
        if is_exact.all():
            break
    return np.exp(log_t)


def _central_density(t: Array, dof: int) -> Array:
    """Return the central distribution's density at t."""
    exponent = -(dof + 1) / 2
    log_power = exponent * np.log1p(t * t / dof)
    log_beta = _log_beta(dof / 2)
    density_of_scaled_t = np.exp(log_power - log_beta)
    return density_of_scaled_t / math.sqrt(dof)


@lru_cache(maxsize=64)
def _scaled_chi_quadrature(dof: int) -> _Quadrature:
    """Return values of S and their probabilities, which sum to 1."""
    middle = math.sqrt(dof)
    low = max(0.0, middle - _REACH)
    high = middle + _REACH
    rule = _legendre_rule()
    chi = low + (high - low) * (rule.points + 1) / 2
    log_density = (dof - 1) * np.log(chi) - chi**2 / 2
    density = np.exp(log_density - log_density.max())
    weights = rule.weights * density
    return _Quadrature(
        points=chi / middle,
        weights=weights / weights.sum(),
    )


@cache
def _legendre_rule() -> _Quadrature:
    """Return the points in -1 to 1 and the weights of the Gauss-Legendre rule.

    The points are the roots of Legendre's polynomial, found by Newton's method. The result is that
    of `numpy.polynomial.legendre.leggauss`, in a hundredth of the time that eigenvalues take.
    """
    n = _NODES
    numbers = np.arange(1, n + 1)
    x = -np.cos(np.pi * (numbers - 0.25) / (n + 0.5))
    slope = np.ones(n)
    for _ in range(4):  # each step squares the error, from within 1e-5
        before_last = np.ones(n)
        last = x
        for degree in range(2, n + 1):
            raised = (2 * degree - 1) * x * last
            value = (raised - (degree - 1) * before_last) / degree
            before_last = last
            last = value
        slope = n * (x * last - before_last) / (x**2 - 1)
        x = x - last / slope
    weights = 2 / ((1 - x**2) * slope**2)
    return _Quadrature(x, weights)
