"""What is array-like is said in one place, values/kinds.py: a new class is one registration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.values import kinds


class Toy:
    """An array of another library."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, "f4")


def of_toy(x: Toy) -> xt.Array:
    return xt.array(x.values, dims="t")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    kinds.register(lambda x: isinstance(x, Toy), kinds.Kind(of_toy, of_toy))
    yield
    kinds._registered.pop()


TOY, TWICE = Toy([1, 2, 3]), [2.0, 4.0, 6.0]


def double(x: Any) -> Any:
    return xt.add(x, x)


def test_public_functions_take_it() -> None:
    assert xt.add(TOY, TOY).values.tolist() == TWICE
    assert xt.concat([TOY, TOY], "t").sizes == {"t": 6}


def test_jitted_functions_and_derivatives_take_it() -> None:
    f = xt.jit(double)
    for _ in range(2):
        assert f(TOY).values.tolist() == TWICE
    assert xt.grad(lambda x: xt.sum(x * x))(TOY).values.tolist() == TWICE


def test_traced_functions_read_it_from_outside() -> None:
    assert xt.jit(lambda x: x + xt.as_array(TOY))(xt.as_array(TOY)).values.tolist() == TWICE
    assert xt.jit(lambda x: xt.add(x, TOY))(TOY).values.tolist() == TWICE


def test_as_array_makes_an_array_of_it() -> None:
    assert xt.as_array(TOY).sizes == {"t": 3}


def test_compiled_functions_take_it() -> None:
    compiled = xt.jit(double).lower(xt.as_array(TOY)).compile()
    assert compiled(TOY).values.tolist() == TWICE


@pytest.mark.cpu_only("the bundle is for the CPU")
def test_loaded_functions_take_it() -> None:
    loaded = xt.load(xt.export(double, (xt.spec(t=3, dtype="f4"),)))
    assert loaded(TOY).values.tolist() == TWICE
    assert xt.jit(loaded)(TOY).values.tolist() == TWICE


def test_without_a_registration_it_is_refused() -> None:
    removed = kinds._registered.pop()
    try:
        with pytest.raises(xt.ArgumentTypeError, match="expected an array, a DataArray or a number"):
            xt.add(TOY, TOY)
    finally:
        kinds._registered.append(removed)
