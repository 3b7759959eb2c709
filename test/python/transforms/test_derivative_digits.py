"""Derivatives of elementary functions keep their digits in float32, of first and second order, where the plain formula
loses them all; and they are what JAX has at the ends of the functions' domains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import xtensor as xt

INF = float("inf")


def first(f: Callable[[xt.Array], xt.Array]) -> Callable[[xt.Array], xt.Array]:
    return xt.grad(lambda x: xt.sum(f(x)))


def second(f: Callable[[xt.Array], xt.Array]) -> Callable[[xt.Array], xt.Array]:
    return first(first(f))


SMALL = (1e-30, 1e-8, -1e-8, 1e-4, -3e-3, 0.1, -0.4, 0.6, 0.9)
NEAR_ONE = (0.99, -0.999, 1 - 2**-12, 1 - 2**-20, 1 - 2**-24)


@pytest.mark.parametrize(
    ("derivative", "points", "exact"),
    [
        (first(xt.expm1), (-80, -30, -17, -5, -1e-3, 0, 1e-3, 3, 30), np.exp),
        (second(xt.expm1), (-80, -30, -17, -5, -1e-3, 0, 1e-3, 3, 30), np.exp),
        (first(xt.asin), SMALL + NEAR_ONE, lambda x: ((1 - x) * (1 + x)) ** -0.5),
        (first(xt.atanh), SMALL + NEAR_ONE, lambda x: 1 / ((1 - x) * (1 + x))),
        (second(xt.asin), SMALL + NEAR_ONE, lambda x: x * ((1 - x) * (1 + x)) ** -1.5),
        (second(xt.acos), SMALL + NEAR_ONE, lambda x: -x * ((1 - x) * (1 + x)) ** -1.5),
        (second(xt.atanh), SMALL + NEAR_ONE, lambda x: 2 * x / ((1 - x) * (1 + x)) ** 2),
        (first(xt.acosh), (1 + 2**-23, 1.001, 2, 1e10, 1e25), lambda x: ((x - 1) * (x + 1)) ** -0.5),
        (second(xt.acosh), (1 + 2**-23, 1.001, 2, 1e10), lambda x: -x * ((x - 1) * (x + 1)) ** -1.5),
        (first(xt.cbrt), (-8, 1e-30, 1e-3, 5, 1e30), lambda x: np.abs(x) ** (-2 / 3) / 3),
        (second(xt.cbrt), (-8, 1e-10, 1e-3, 5, 1e10), lambda x: np.cbrt(x) ** -5 * (-2 / 9)),
    ],
)
def test_digits(
    derivative: Callable[[xt.Array], xt.Array], points: tuple[float, ...], exact: Callable[[np.ndarray], np.ndarray]
) -> None:
    x = np.asarray(points, "f4")
    np.testing.assert_allclose(derivative(xt.array(x, "i")).values, exact(x.astype("f8")), rtol=2e-6, atol=0)


@pytest.mark.parametrize(
    ("derivative", "points", "want"),
    [
        (first(xt.asin), (-1, 1), (INF, INF)),
        (second(xt.asin), (-1, 0, 1), (-INF, 0, INF)),
        (second(xt.acos), (-1, 0, 1), (INF, 0, -INF)),
        (second(xt.acosh), (1,), (-INF,)),
        (first(xt.acosh), (-2, -1, 0, 1, INF), (np.nan, np.nan, np.nan, INF, 0)),
        (first(xt.cbrt), (-INF, 0, INF), (0, INF, 0)),
        (second(xt.cbrt), (-INF, 0, INF), (0, -INF, 0)),
        (first(xt.expm1), (-INF, INF), (0, INF)),
    ],
)
def test_ends(derivative: Callable[[xt.Array], xt.Array], points: tuple[float, ...], want: tuple[float, ...]) -> None:
    np.testing.assert_array_equal(derivative(xt.array(np.asarray(points, "f4"), "i")).values, np.asarray(want, "f4"))
