"""Incomplete gamma and beta functions, and their derivatives by the parameters, against mpmath and SciPy."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import xtensor as xt
from special_functions import SPECIAL, exactly
from test_accuracy import check

INF, NAN = float("inf"), float("nan")
EDGES = np.array([0.0, -0.0, 0.5, 1.0, 3.0, 20.0, -1.0, 1e-30, 1e20, 1e30, INF, -INF, NAN])


def arrays(*operands: Any) -> list[xt.Array]:
    return [xt.array(x, dims="i") for x in operands]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", SPECIAL)
def test_functions_in_ulp(name: str, dtype: str) -> None:
    operands, exact = exactly(name, dtype)
    got = getattr(xt, name)(*arrays(*operands)).values
    check(name, got, exact, SPECIAL[name].cpu[dtype == "f8"], *operands)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_gamma_functions_at_edges(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        edges = EDGES.astype(dtype)
        want = getattr(scipy.special, name)(*np.meshgrid(*[edges.astype("f8")] * 2, indexing="ij"))
    got = getattr(xt, name)(xt.array(edges, dims="a"), xt.array(edges, dims="x"))
    tolerance = {"f2": 1e-3, "f4": 3e-6, "f8": 1e-13}[dtype]  # SciPy is 300 units off
    np.testing.assert_allclose(got.values.astype("f8"), want, rtol=tolerance, atol=np.finfo(dtype).tiny)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", SPECIAL)
def test_a_value_does_not_depend_on_its_place(name: str, dtype: str) -> None:
    """Neighbours in a vector take more terms."""
    rng = np.random.default_rng(0)
    operands = [x[:21].astype(dtype) for x in SPECIAL[name].arguments(rng, 30)]
    f = getattr(xt, name)
    together = f(*arrays(*operands)).values
    alone = [f(*(xt.array(v) for v in each)).values for each in zip(*operands, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_large_orders() -> None:
    """Where the normal distribution is near: between the regions of every method."""
    a = np.repeat(10.0 ** np.arange(2, 13), 9)
    x = a + np.sqrt(a) * np.tile(np.linspace(-4, 4, 9), 11)
    for dtype, tolerance in (("f4", 3e-6), ("f8", 1e-11)):  # SciPy's own error
        p, q = a.astype(dtype), x.astype(dtype)
        want = scipy.special.gammainc(p.astype("f8"), q.astype("f8"))
        np.testing.assert_allclose(xt.gammainc(*arrays(p, q)).values, want, rtol=tolerance)


def by_order(a: float, x: float, order: int) -> float:
    def p(t: mpmath.mpf) -> mpmath.mpf:
        return mpmath.gammainc(t, 0, x, regularized=True)

    with mpmath.workdps(60):
        return float(mpmath.diff(p, mpmath.mpf(a), order, h=mpmath.mpf(10) ** -12))


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 3e-5), ("f8", 1e-11)])
def test_derivatives_by_the_order(dtype: str, tolerance: float) -> None:
    """In every region; neither JAX nor PyTorch has all of them."""
    a = np.array([1e-3, 0.2, 0.9, 0.5, 2, 7, 7, 7, 12, 20, 20, 20, 60, 90, 300], dtype)
    x = np.array([0.01, 1.0, 0.3, 6.0, 1.7, 0.5, 7.5, 19, 13, 3, 21, 70, 61, 60, 310], dtype)

    def total(a: xt.Array, x: xt.Array) -> xt.Array:
        return xt.gammainc(a, x).sum()

    first = xt.grad(total)
    second = xt.grad(lambda a, x: first(a, x).sum())
    mixed = xt.grad(lambda a, x: first(a, x).sum(), wrt=1)
    wide = [(float(u), float(v)) for u, v in zip(a, x, strict=True)]
    np.testing.assert_allclose(first(*arrays(a, x)).values, [by_order(*w, 1) for w in wide], rtol=tolerance)
    np.testing.assert_allclose(second(*arrays(a, x)).values, [by_order(*w, 2) for w in wide], rtol=tolerance * 10)
    complement = xt.grad(lambda a, x: xt.gammaincc(a, x).sum())(*arrays(a, x)).values
    np.testing.assert_array_equal(complement, -first(*arrays(a, x)).values)
    with mpmath.workdps(40):
        density = [
            float(mpmath.diff(lambda t, v=v: mpmath.exp((t - 1) * mpmath.log(v) - v - mpmath.loggamma(t)), u))
            for u, v in wide
        ]
    np.testing.assert_allclose(mixed(*arrays(a, x)).values, density, rtol=tolerance * 10)


def test_gammainc_has_slopes_at_zero() -> None:
    a, x = arrays(np.array([0.5, 1.0, 2.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    by_a, by_x = xt.grad(lambda a, x: xt.gammainc(a, x).sum(), wrt=(0, 1))(a, x)
    np.testing.assert_allclose(by_a.values, [0, 0, 0, -scipy.special.exp1(1.0)])
    np.testing.assert_array_equal(by_x.values, [INF, 1, 0, 0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_betainc_at_edges(dtype: str) -> None:
    order, x = (
        np.array([0.0, 0.5, 1.0, 3.0, 20.0, -1.0, INF, NAN]),
        np.array([0.0, -0.0, 0.3, 0.9, 1.0, -0.1, 1.1, NAN]),
    )
    order, x = order.astype(dtype), x.astype(dtype)
    want = scipy.special.betainc(*np.meshgrid(*(v.astype("f8") for v in (order, order, x)), indexing="ij"))
    got = xt.betainc(xt.array(order, dims="a"), xt.array(order, dims="b"), xt.array(x, dims="x"))
    assert got.dims == ("a", "b", "x")
    tolerance = {"f2": 1e-3, "f4": 3e-6, "f8": 1e-13}[dtype]
    np.testing.assert_allclose(got.values.astype("f8"), want, rtol=tolerance, atol=np.finfo(dtype).tiny)


def test_betainc_of_large_parameters() -> None:
    """Where the continued fraction takes hundreds of terms."""
    a, b = (v.ravel() for v in np.meshgrid([3e3, 1e5, 1e6], [2e3, 3e5, 1e6]))
    x = a / (a + b) + np.sqrt(a * b / (a + b) ** 3) * 0.7
    got = xt.betainc(*arrays(a, b, x)).values
    np.testing.assert_allclose(got, scipy.special.betainc(a, b, x), rtol=1e-10)  # SciPy's own error


def beta_by_order(a: float, b: float, x: float, orders: tuple[int, int, int]) -> float:
    def p(a: mpmath.mpf, b: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.betainc(a, b, 0, x, regularized=True)

    with mpmath.workdps(50):
        at = tuple(mpmath.mpf(float(v)) for v in (a, b, x))
        return float(mpmath.diff(p, at, orders, h=min(at) * mpmath.mpf(10) ** -12))


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 2e-5), ("f8", 1e-11)])
def test_derivatives_by_the_parameters_of_betainc(dtype: str, tolerance: float) -> None:
    a = np.array([0.2, 2.0, 7.0, 40.0], dtype)
    b = np.array([3.0, 0.4, 5.0, 1.5], dtype)
    x = np.array([0.9, 0.3, 0.6, 0.97], dtype)

    def total(a: xt.Array, b: xt.Array, x: xt.Array) -> xt.Array:
        return xt.betainc(a, b, x).sum()

    operands = arrays(a, b, x)
    for i in range(3):
        first = xt.grad(total, wrt=i)
        orders = [1 if k == i else 0 for k in range(3)]
        want = [beta_by_order(*each, tuple(orders)) for each in zip(a, b, x, strict=True)]
        np.testing.assert_allclose(first(*operands).values, want, rtol=tolerance)
        for j in range(i, 3):
            second = xt.grad(lambda a, b, x, first=first: first(a, b, x).sum(), wrt=j)
            both = [n + (k == j) for k, n in enumerate(orders)]
            want = [beta_by_order(*each, tuple(both)) for each in zip(a, b, x, strict=True)]
            np.testing.assert_allclose(second(*operands).values, want, rtol=10 * tolerance, atol=tolerance)
