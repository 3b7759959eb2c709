"""Static arguments under transforms: what `xt.jit(f, static=)` says holds for what is made of the function, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([1.0, 2.0, 3.0], "i")


def powers(x: Any, n: Any) -> Any:
    """n times the sum of the squares, as only a Python int can be counted to."""
    return sum((xt.sum(x * x) for _ in range(n)), start=0.0)


STATIC: Any = xt.jit(powers, static="n")

CASES: dict[str, tuple[Callable[[Any, int], Any], Callable[[int], Any]]] = {
    "grad": (lambda x, n: xt.grad(STATIC)(x, n), lambda n: 2 * n * X.values),
    "grad by name": (lambda x, n: xt.grad(STATIC)(x, n=n), lambda n: 2 * n * X.values),
    "value_and_grad": (lambda x, n: xt.value_and_grad(STATIC)(x, n)[1], lambda n: 2 * n * X.values),
    "hessian": (lambda x, n: xt.hessian(STATIC)(x, n), lambda n: 2 * n * np.eye(3)),
    "jacobian": (lambda x, n: xt.jacobian(STATIC, mode="forward")(x, n), lambda n: 2 * n * X.values),
    "jvp": (lambda x, n: xt.jvp(STATIC, (x, n), (x, None))[1], lambda n: 28 * n),
    "hvp": (lambda x, n: xt.hvp(STATIC, (x, n), (x, None))[0], lambda n: 2 * n * X.values),
    "vjp": (lambda x, n: xt.vjp(STATIC, x, n)[1](1.0)[0], lambda n: 2 * n * X.values),
    "linearize": (lambda x, n: xt.linearize(STATIC, x, n)[1](x, None), lambda n: 28 * n),
    "vectorize": (lambda x, n: xt.vectorize(STATIC, "i")(x, n), lambda n: n * X.values**2),
    "vectorize of grad": (lambda x, n: xt.vectorize(xt.grad(STATIC), "i")(x, n), lambda n: 2 * n * X.values),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("given", [lambda x: x, lambda x: x.to_xarray()], ids=["array", "dataarray"])
def test_transforms_keep_static_arguments(name: str, given: Callable[[Any], Any]) -> None:
    call, expected = CASES[name]
    for n in (3, 2, 3):  # another value is another program, also where a call is found without Python
        np.testing.assert_allclose(call(given(X), n).values, expected(n))


@pytest.mark.parametrize("name", CASES)
def test_transforms_keep_static_arguments_inside_of_a_trace(name: str) -> None:
    call, expected = CASES[name]
    np.testing.assert_allclose(xt.jit(call, static="n")(X, 3).values, expected(3))


def test_functions_as_static_arguments() -> None:
    total = xt.jit(lambda x, f: xt.sum(f(x)), static="f")
    np.testing.assert_allclose(xt.grad(total)(X, xt.sin).values, np.cos(X.values))
    np.testing.assert_allclose(xt.vectorize(total, "i")(X, xt.sin).values, np.sin(X.values))
    assert xt.vjp(total, X, xt.sin)[1](1.0)[1] is None


def test_numbers_are_what_a_static_argument_of_the_outer_jit_says() -> None:
    np.testing.assert_allclose(xt.jit(xt.vectorize(powers, "i"), static="n")(X, 3).values, 3 * X.values**2)
    assert xt.jit(lambda x, n: xt.vjp(powers, x, n)[1](1.0), static="n")(X, 3)[1] is None


def test_a_traced_int_says_how_it_becomes_static() -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r'xt\.grad\(xt\.jit\(f, static="n"\)\)'):
        xt.grad(powers)(X, 3)


class Model:
    scale = 2.0

    @xt.jit(static=("self", "n"))
    def loss(self, x: Any, n: int) -> Any:
        return self.scale * powers(x, n)

    @xt.jit(static=(0, 2, 3))
    def positional(self, x: Any, /, *ns: int) -> Any:
        return self.scale * powers(x, sum(ns))


def test_methods_and_partials_keep_static_arguments() -> None:
    model = Model()
    np.testing.assert_allclose(xt.grad(model.loss)(X, 3).values, 12 * X.values)
    np.testing.assert_allclose(xt.vectorize(model.loss, "i")(X, 3).values, 6 * X.values**2)
    np.testing.assert_allclose(xt.vjp(model.loss, X, 2)[1](1.0)[0].values, 8 * X.values)
    np.testing.assert_allclose(xt.grad(model.positional)(X, 1, 2).values, 12 * X.values)
    np.testing.assert_allclose(xt.grad(functools.partial(STATIC, n=3))(X).values, 6 * X.values)
    np.testing.assert_allclose(xt.grad(functools.partial(STATIC))(X, n=2).values, 4 * X.values)
