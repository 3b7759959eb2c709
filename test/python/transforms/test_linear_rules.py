"""Rules of custom_derivative that are linear in their tangents, however that is written, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

A = xt.array([3.1, 2.9, 3.6, 4.2], "i")
V = xt.array([0.5, -1.5, 2.0, 0.7], "i")
W = xt.array([1.0, -2.0, 0.5, 3.0], "i")

# Linear in d, all of the dims of a.
LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "division by a number": lambda d, a: d / 2.0,
    "division by a primal": lambda d, a: d / (1.0 + a),
    "mean": lambda d, a: xt.mean(d) * a,
    "mean without NaNs": lambda d, a: xt.mean(d, skipna=True) * a,
    "sum without NaNs": lambda d, a: xt.sum(d, skipna=True) * a,
    "rolling mean": lambda d, a: d.rolling(i=2, min_periods=1).mean(),
    "rolling sum, filled": lambda d, a: d.rolling(i=2).sum().fillna(0.0),
    "coarsen": lambda d, a: d.coarsen(i=2).mean().sum() * a,
    "set into zeros": lambda d, a: xt.zeros(i=4).at(i=1).set(d.isel(i=0)),
    "divide at": lambda d, a: d.at(i=1).divide(2.0),
    "beside zeros": lambda d, a: xt.concat([xt.zeros(i=2) * a.isel(i=slice(0, 2)), d.isel(i=slice(0, 2))], "i"),
    "scan from zeros": lambda d, a: xt.scan(lambda c, e: (c / 2.0 + e, c), xt.zeros_like(d).isel(i=0), d, dim="i")[1],
    "loop": lambda d, a: xt.fori_loop(0, 3, lambda i, c: c / a + d, d),
    "loop that ends early": lambda d, a: xt.while_loop(
        lambda s: s[1] < 3, lambda s: (s[0] / a, s[1] + 1), (d, 0), max_steps=5
    )[0],
    "loop that is counted": lambda d, a: xt.while_loop(
        lambda s: s[1] < a.sum() / 2.0, lambda s: (s[0] / a, s[1] + 1.0), (d, 0.0)
    )[0],
    "branches": lambda d, a: xt.cond(a.sum() > 0, lambda: d / a, lambda: xt.zeros_like(d)),
}


def matrix(linear: Callable[[Any, Any], Any]) -> np.ndarray:
    """Row k: what `linear` makes of the unit vector k."""
    return np.stack([linear(xt.array(row, "i"), A).values for row in np.eye(4)])


@pytest.mark.parametrize("name", LINEAR)
def test_a_pushforward_rule_goes_backwards(name: str) -> None:
    linear = LINEAR[name]
    f = xt.custom_derivative(lambda a: a * 1.0)
    f.defpushforward(lambda p, t: (p[0] * 1.0, linear(t[0], p[0])))
    want = matrix(linear)
    np.testing.assert_allclose(xt.jvp(f, (A,), (V,))[1].values, V.values @ want, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(xt.vjp(f, A)[1](W)[0].values, want @ W.values, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", LINEAR)
def test_a_pullback_rule_goes_forwards(name: str) -> None:
    linear = LINEAR[name]
    f = xt.custom_derivative(lambda a: a * 1.0)
    f.defpullback(lambda a: (a * 1.0, a), lambda a, ct: (linear(ct, a),))
    want = matrix(linear)
    np.testing.assert_allclose(xt.vjp(f, A)[1](W)[0].values, W.values @ want, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(xt.jvp(f, (A,), (V,))[1].values, want @ V.values, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda d, a: a / d, "xt.divide depends on a tangent through operand 1"),
        (lambda d, a: d / d, "xt.divide depends on a tangent through operand 1"),
        (lambda d, a: d + a, "xt.add puts a value that is neither a tangent nor zero beside a tangent"),
        (lambda d, a: xt.where(d > 0, d, 0.0), "a comparison depends on a tangent, but is not linear"),
        (lambda d, a: xt.floor(d), "xt.floor depends on a tangent, but is not linear"),
        (lambda d, a: xt.stop_gradient(d), "xt.stop_gradient depends on a tangent, but is not linear"),
        (lambda d, a: a, "the function yields a value that no tangent reaches"),
    ],
    ids=["under", "under itself", "sum", "where", "floor", "stop_gradient", "constant"],
)
def test_what_is_not_linear_is_refused_in_the_users_words(rule: Any, message: str) -> None:
    f = xt.custom_derivative(lambda a: a * 1.0)
    f.defpushforward(lambda p, t: (p[0] * 1.0, rule(t[0], p[0])))
    with pytest.raises(xt.GradientError, match=message):
        xt.grad(lambda a: xt.sum(f(a)))(A)


def test_instances_that_do_not_take_a_branch_keep_a_rule_linear() -> None:
    def f(x: Any) -> Any:
        return xt.cond(xt.sum(x) > 0, lambda: xt.sort(x), lambda: x * x)

    g = xt.custom_derivative(f)
    g.defpushforward(lambda p, t: xt.jvp(f, p, t))
    x = xt.array([[0.3, 2.0, -0.5], [-1.0, 0.2, 0.4]], ("b", "i"))
    v = xt.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], ("b", "i"))

    def loss(f: Any) -> Any:
        return lambda x: xt.sum(xt.vectorize(lambda x: xt.sum(f(x) * xt.arange(3.0, dim="i")), "b")(x))

    want = np.array([[1.0, 2.0, 0.0], [0.0, 0.4, 1.6]])  # positions after sorting; i * 2 x
    np.testing.assert_allclose(xt.grad(loss(g))(x).values, want, rtol=1e-14)
    np.testing.assert_allclose(float(xt.jvp(loss(g), (x,), (v,))[1]), np.sum(want * v.values), rtol=1e-14)


def test_a_pullback_rule_of_an_argument_that_does_not_matter() -> None:
    def f(x: Any, y: Any) -> Any:
        return y * 2.0

    g = xt.custom_derivative(f)
    g.defpullback(lambda x, y: (f(x, y), (x, y)), lambda kept, ct: xt.vjp(f, *kept)[1](ct))
    x = xt.array([1.0, -3.0], "b")

    def loss(x: Any) -> Any:
        return xt.sum(xt.vectorize(lambda x: xt.sum(g(xt.zeros_like(x), x)), "b")(x))

    assert float(xt.jvp(loss, (x,), (x,))[1]) == -4.0
