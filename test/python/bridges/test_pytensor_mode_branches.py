"""PyTensor's `ifelse` in the mode "XTENSOR": of two branches, the program computes the one it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.ifelse import ifelse  # noqa: E402
from pytensor.raise_op import Assert  # noqa: E402
from pytensor_graphs import scanned  # noqa: E402

MODE = xt.pytensor_mode()
X = np.linspace(0.1, 1.2, 12).reshape(3, 4)
x, c, d = pt.dmatrix("x"), pt.dscalar("c"), pt.dscalar("d")


@pytest.fixture(autouse=True)
def _interpreter() -> Iterator[None]:
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        yield


def compiled(*results: Any) -> Any:
    return pytensor.function([x, c, d], list(results), mode="XTENSOR", on_unused_input="ignore")


def check(*results: Any) -> None:
    """The numbers of PyTensor's interpreter, for each choice of branches."""
    ours = compiled(*results)
    wanted = pytensor.function([x, c, d], list(results), mode="FAST_COMPILE", on_unused_input="ignore")
    for values in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (2.0, -3.0)]:
        for f, w in zip(ours(X, *values), wanted(X, *values), strict=True):
            assert (f.shape, f.dtype) == (w.shape, w.dtype)
            np.testing.assert_allclose(f, w, rtol=1e-12, atol=1e-14)


def positive(y: Any, message: str) -> Any:
    return Assert(message)(y, (y > 0).all())


def test_an_error_is_that_of_the_branch_it_takes() -> None:
    y = ifelse(c > 0, pt.log(positive(x - 1, "first")), pt.sqrt(positive(positive(x, "second") - 2, "third")))
    f = compiled(y.sum())
    with pytest.raises(AssertionError, match="first"):
        f(X, 1.0, 0.0)
    with pytest.raises(AssertionError, match="third"):
        f(X, 0.0, 0.0)
    with pytest.raises(AssertionError, match="second"):
        f(-X, 0.0, 0.0)
    assert f(X + 1, 1.0, 0.0)[0] == pytest.approx(np.log(X).sum())
    assert f(X + 2, 0.0, 0.0)[0] == pytest.approx(np.sqrt(X).sum())


def test_an_error_of_what_both_branches_need() -> None:
    checked = positive(x, "both")
    f = compiled(ifelse(c > 0, pt.sin(checked), pt.cos(checked)))
    for value in (0.0, 1.0):
        with pytest.raises(AssertionError, match="both"):
            f(-X, value, 0.0)


def test_a_branch_in_a_branch() -> None:
    inside = ifelse(d > 0, pt.log(positive(x - 1, "inside")), pt.exp(x) @ x.T @ x)
    f = compiled(ifelse(c > 0, pt.tanh(inside), pt.sin(x)))
    f(X, 0.0, 1.0)
    f(X, 1.0, 0.0)
    with pytest.raises(AssertionError, match="inside"):
        f(X, 1.0, 1.0)
    check(ifelse(c > 0, pt.tanh(ifelse(d > 0, pt.exp(x), x @ x.T @ x)), pt.sin(x)))


def test_gradients_and_results_that_share() -> None:
    shared = pt.exp(-x)
    y, n = ifelse(c > 0, [shared @ x.T, shared.sum()], [pt.sin(x) @ shared.T, x.prod()])
    loss = pt.tanh(y).sum() * n
    check(y, n, shared, loss, pytensor.grad(loss, x))
    z = ifelse(d > 0, pt.sqr(y), y) + n
    check(z, pytensor.grad(z.sum(), x))


def test_a_loop_in_a_branch_and_a_branch_in_a_loop() -> None:
    total = scanned(lambda r, s: pt.tanh(s + r), sequences=x, outputs_info=pt.zeros(4))[-1]
    y = ifelse(c > 0, total, x[0] * 2)
    check(y, pytensor.grad(y.sum(), x))
    steps = scanned(lambda r, s: ifelse(r.sum() > d, pt.exp(-s), pt.sin(s) + r), sequences=x, outputs_info=x[0])
    check(steps, pytensor.grad(steps.sum(), x))


def test_constants_integers_and_a_condition_that_sizes_tell() -> None:
    check(ifelse(c > 0, pt.constant(np.ones((3, 4))), x @ x.T @ x))
    check(ifelse(c > 0, pt.argmax(x, axis=0), pt.arange(4) * 2), ifelse(c, x.sum() > 1, x.prod() > 1))
    f = compiled(ifelse(pt.gt(x.shape[0], 2), pt.sin(x).sum(), positive(-x, "never").sum()))
    assert f(X, 0.0, 0.0)[0] == pytest.approx(np.sin(X).sum())
