"""Second derivatives where a branch not taken is singular: a walk of choices and of what comes after them, each pair of
modes. What a branch not taken gets back is zero, whatever it comes through; first derivatives: test_gradients.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

Function = Callable[[Any], Any]

# Each is singular, in the branch not taken, at the first of the two numbers.
CHOICES: dict[str, tuple[Function, tuple[float, float]]] = {
    "sinc": (lambda x: xt.where(x != 0, xt.sin(x) / x, 1.0), (0.0, 0.5)),
    "overflow": (lambda x: xt.where(x < 400, xt.cosh(x) / xt.cosh(0.5), xt.exp(-x / 1000)), (1000.0, 0.5)),
    "two conditions": (
        lambda x: (
            xt.where(x > 0, xt.log(x), 0.0) + xt.where(x > 0.1, xt.sqrt(x - 0.1) * xt.log(x), 0.0) + xt.sin(x) + x * x
        ),
        (0.0, 0.5),
    ),
    "nested": (
        lambda x: xt.where(x > 0, xt.where(x > 0.2, xt.log(x - 0.2), xt.sqrt(x)), xt.cos(x)),
        (0.0, 0.5),
    ),
}


def conditional(e: Any) -> Any:
    return xt.cond(e > -100, lambda e: e**3, lambda e: xt.log(e), e)


def looped(y: Any) -> Any:
    state = xt.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * y + xt.sin(y)), (0.0, y), max_steps=3)
    return xt.sum(state[1])


AFTER: dict[str, Function] = {
    "sum": lambda y: xt.sum(xt.sin(y)),
    "max": xt.max,
    "prod": xt.prod,
    "cumsum": lambda y: xt.sum(xt.cumsum(y, "t") ** 2),
    "cumprod": lambda y: xt.sum(xt.cumprod(y, "t") ** 2),
    "gather": lambda y: xt.sum(y.isel(t=xt.array([0, 0, 1], "p")) ** 2),
    "slice": lambda y: xt.sum(y.isel(t=slice(0, 2)) ** 2),
    "sort": lambda y: xt.sum(xt.sort(y) ** 2 * xt.arange(1.0, 3.0, dim="t")),
    "roll": lambda y: xt.sum(xt.roll(y, t=1) * y),
    "scan": lambda y: xt.scan(lambda c, e: (xt.tanh(c * e + c), c), 0.3, y, dim="t")[0],
    "while": looped,
    "cond": lambda y: xt.cond(xt.sum(y) > -100, lambda y: xt.sum(y**3), lambda y: xt.sum(y), y),
    "vectorized cond": lambda y: xt.sum(xt.vectorize(conditional, "t")(y)),
    "std": lambda y: xt.std(y) + xt.norm(y),
    "at.multiply": lambda y: xt.sum(xt.ones(p=3).at(p=xt.array([1, 1], "t")).multiply(y) ** 2),
    "dot": lambda y: xt.dot(y, y),
}


def along(f: Function) -> Function:
    """The derivative along ones, forwards."""
    return lambda x: xt.jvp(f, (x,), (xt.ones_like(x),))[1]


def across(f: Function) -> Function:
    """The sum of the gradient's numbers: the same number, backwards."""
    return lambda x: xt.sum(xt.grad(f)(x))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("after", AFTER)
def test_second_derivatives(choice: str, after: str) -> None:
    choose, numbers = CHOICES[choice]
    x = xt.array(np.array(numbers), "t")

    def f(x: Any) -> Any:
        return AFTER[after](choose(x))

    def forward_twice(x: Any) -> list[Any]:
        return [xt.jvp(along(f), (x,), (xt.array(unit, "t"),))[1] for unit in np.eye(2)]

    def all_modes(x: Any) -> tuple[Any, ...]:
        return forward_twice(x), xt.grad(across(f))(x), xt.grad(along(f))(x), along(xt.grad(f))(x)

    forward, *others = xt.jit(all_modes)(x)
    want = [y.item() for y in forward]
    assert np.isfinite(want).all()
    for got, modes in zip(others, ("reverse of reverse", "reverse of forward", "forward of reverse"), strict=True):
        np.testing.assert_allclose(got.values, want, rtol=1e-11, atol=1e-12, err_msg=modes)


@pytest.mark.parametrize("after", ["max", "cumsum", "gather", "scan"])
def test_third_derivative_backwards(after: str) -> None:
    choose, numbers = CHOICES["two conditions"]
    x = xt.array(np.array(numbers), "t")

    def f(x: Any) -> Any:
        return AFTER[after](choose(x))

    got = xt.grad(across(across(f)))(x).values
    np.testing.assert_allclose(got, xt.grad(along(along(f)))(x).values, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    "other",
    [
        lambda x: xt.hypot(x, 1 + x * x),
        lambda x: xt.atan2(x, 1 + x * x),
        lambda x: x * xt.sqrt(-x),
    ],
    ids=["hypot", "atan2", "sqrt"],
)
def test_gradient_around_a_vectorized_gradient_of_a_cond(other: Function) -> None:
    """What an instance does not keep, as it takes the other branch, is zero: singular for that branch's derivative."""

    def f(x: Any) -> Any:
        return xt.cond(x > 0.06, lambda x: x**4, other, x)

    numbers = (0.7, -1.3, 2.0)
    x = xt.array(np.array(numbers), "b")
    inner = f
    for inside in range(1, 3):
        inner = xt.grad(inner)
        each, batched = inner, xt.vectorize(inner, "b")
        for outside in range(1, 4 - inside):
            each, whole = xt.grad(each), batched
            batched = xt.grad(lambda x, whole=whole: xt.sum(whole(x)))
            want = [each(xt.array(v)).item() for v in numbers]
            where = f"{inside} inside, {outside} outside"
            np.testing.assert_allclose(batched(x).values, want, rtol=1e-11, err_msg=where)


def test_spread_and_length_of_nothing() -> None:
    x = xt.array([[1.0, 1.0], [2.0, 3.0]], ("i", "j"))

    def spread(x: Any) -> Any:
        return xt.sum(xt.cumsum(xt.std(x, "j"), "i") ** 2)

    np.testing.assert_allclose(xt.grad(across(spread))(x).values, 0, atol=1e-14)
    got = xt.grad(across(lambda x: xt.max(xt.norm(x, "j"), "i")))(x - x)
    np.testing.assert_array_equal(got.values, np.zeros((2, 2)))


def test_products_of_a_row_that_is_not_taken() -> None:
    """The condition has none of the dims that the transposed contraction sums over."""

    def f(x: Any) -> Any:
        return xt.sum(xt.where(xt.min(x, "t") > 0, xt.dot(1 / x, x * x, dim="t"), xt.sum(x, "t")))

    x = xt.array([[0.0, 1.0], [2.0, 3.0]], ("b", "t"))
    for g in (xt.grad(f), lambda x: xt.jacobian(f, mode="forward")(x)):
        np.testing.assert_array_equal(g(x).transpose("b", "t").values, [[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(xt.grad(f)(x.isel(b=0)).values, [1.0, 1.0])
