"""Derivatives of roots and fixed points: against closed forms, SciPy's solutions, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import xtensor as xt
from xtensor.testing import check_gradients

pytestmark = pytest.mark.cpu_only("differences are taken in float64")


def heron(a: Any) -> Any:
    """The square root, by a loop without a bound."""
    return xt.while_loop(lambda y: abs(y * y - a) > 1e-14 * a, lambda y: 0.5 * (y + a / y), a)


ROOT = xt.implicit(lambda y, a: y * y - a, heron)


def test_a_number_to_the_fourth_order() -> None:
    want = {0: 4.0**0.5, 1: 0.5 * 4.0**-0.5, 2: -0.25 * 4.0**-1.5, 3: 0.375 * 4.0**-2.5, 4: -0.9375 * 4.0**-3.5}
    f: Any = ROOT
    for order in range(5):
        assert f(4.0).item() == pytest.approx(want[order], rel=1e-9)
        f = xt.grad(f)
    assert xt.jvp(ROOT, (4.0,), (1.0,))[1].item() == pytest.approx(0.25)
    check_gradients(ROOT, (3.0,), order=3)


def coupled(y: Any, p: Any) -> Any:
    return {"u": xt.tanh(p["m"].rename(row="r", col="row") @ y["u"]).rename(r="row") * 0.5 + y["v"] * p["b"] - y["u"],
            "v": xt.cos(y["v"]) * 0.5 + 0.1 * y["u"].sum() - y["v"]}  # fmt: skip


def by_iteration(p: Any) -> Any:
    start = {"u": xt.zeros_like(p["b"]), "v": p["b"].sum() * 0.0}

    def keep_on(c: Any) -> Any:
        return xt.tree.reduce(xt.maximum, xt.tree.map(lambda x: abs(x).max(), coupled(c, p))) > 1e-13

    return xt.while_loop(keep_on, lambda c: xt.tree.map(lambda x, r: x + r, c, coupled(c, p)), start)


def parameters() -> dict[str, Any]:
    random = np.random.default_rng(0)
    m = xt.array(random.normal(size=(3, 3)) * 0.4, dims=("row", "col"))
    return {"m": m, "b": xt.array([0.1, 0.3, -0.2], dims="row")}


def test_a_coupled_pytree() -> None:
    p = parameters()
    found = xt.implicit(coupled, by_iteration)
    y = xt.jit(found)(p)

    def numbers(v: np.ndarray) -> np.ndarray:
        m, b = p["m"].values, p["b"].values
        u = 0.5 * np.tanh(m @ v[:3]) + v[3] * b - v[:3]
        return np.array([*u, 0.5 * np.cos(v[3]) + 0.1 * v[:3].sum() - v[3]])

    want = scipy.optimize.root(numbers, np.zeros(4), tol=1e-13).x
    np.testing.assert_allclose([*y["u"].values, y["v"].item()], want, rtol=1e-9)
    check_gradients(
        lambda p: xt.tree.reduce(lambda a, b: a + b, xt.tree.map(lambda x: (x * x).sum(), found(p))), (p,), 2
    )


def test_batches_loops_and_other_arguments() -> None:
    many = xt.array([1.0, 4.0, 9.0], dims="i")
    batched = xt.vectorize(xt.grad(ROOT), "i")(many)
    np.testing.assert_allclose(batched.values, 0.5 / np.sqrt(many.values), rtol=1e-9)
    _, ys = xt.scan(lambda c, a: (c, xt.grad(ROOT)(a)), 0.0, many, dim="i")
    np.testing.assert_allclose(ys.values, batched.values, rtol=1e-12)
    power = xt.implicit(lambda y, a, n: y**n - a, lambda a, n: xt.exp(xt.log(a) / n))
    assert xt.grad(power)(8.0, 3).item() == pytest.approx(1 / 12)


def test_an_optimum_by_what_it_depends_on() -> None:
    def loss(w: Any, data: Any) -> Any:
        return ((w - data) ** 2).sum() + 0.1 * (w**4).sum()

    def best(data: Any) -> Any:
        return xt.optim.lbfgs(lambda w: loss(w, data), xt.zeros_like(data), tolerance=1e-12).parameters

    found = xt.implicit(xt.grad(loss), best)
    data = xt.array([0.5, -1.0], dims="i")
    check_gradients(found, (data,), order=1)


def test_errors_say_what_is_wrong() -> None:
    a = xt.array([1.0, 4.0], dims="i")
    with pytest.raises(xt.DimensionError, match=r"the residual has the dims \(\), the solution \('i',\)"):
        xt.grad(lambda a: xt.implicit(lambda y, a: (y * y - a).sum(), xt.sqrt)(a).sum())(a)
    with pytest.raises(xt.DTypeError, match=r"returned at \[1\] int64"):
        xt.implicit(lambda y, a: y, lambda a: (a, xt.array(3)))(a)
    with pytest.raises(xt.ArgumentTypeError, match="residual is a function"):
        xt.implicit(3.0, heron)  # type: ignore[arg-type]
