"""Arguments of loaded functions: the same ones are taken, and the same ones refused, outside of a trace and inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

_S = xt.spec(i=3)


def loaded(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return xt.load(xt.export(f, args=args, kwargs=kwargs, c=False, name="m"))


def add(x: Any, n: Any) -> Any:
    return x + n


def ways(g: Any, x: Any, n: Any) -> list[Callable[[], Any]]:
    """A call with a number, by all ways that lead to it."""
    batch = xt.concat([x, x], "b")
    return [
        lambda: g(x, n),
        lambda: g(x, n=n),
        lambda: xt.jit(lambda x: g(x, n))(x),
        lambda: xt.vectorize(lambda x: g(x, n), "b")(batch),
        lambda: xt.load(xt.export(lambda x: g(x, n), args=(x,), c=False))(x),
    ]


@pytest.mark.parametrize("value", [300, -129, 2.7, float("nan"), 2**70, None, [1, 2]])
@pytest.mark.parametrize("exported", [2, xt.spec(dtype="i1")])
def test_numbers_that_do_not_fit(exported: Any, value: Any) -> None:
    x = xt.ones(i=3, dtype="i1")
    for call in ways(loaded(add, xt.spec(i=3, dtype="i1"), exported), x, value):
        with pytest.raises(xt.Error, match=r"argument n|does not fit|\bn\b"):
            call()


def test_numbers_that_fit() -> None:
    x = xt.ones(i=3, dtype="i1")
    for exported in (2, xt.spec(dtype="i1")):
        for call in ways(loaded(add, xt.spec(i=3, dtype="i1"), exported), x, 126):
            assert (call().values == 127).all()
            assert call().dtype == "int8"


@pytest.mark.parametrize(
    ("dtype", "value", "kind"),
    [
        ("i1", 300, xt.ArgumentError),
        ("u8", -1, xt.ArgumentError),
        ("bool", 0.5, xt.DTypeError),
        ("bool", 2, xt.DTypeError),
        ("i4", 2.5, xt.DTypeError),
        ("f4", 2**2000, xt.ArgumentError),
    ],
)
def test_numbers_of_another_dtype(dtype: str, value: Any, kind: type[xt.Error]) -> None:
    g = loaded(lambda n: n, xt.spec(dtype=dtype))
    with pytest.raises(kind, match=r"argument n|fit"):
        g(value)
    with pytest.raises(kind, match=r"argument n|fit"):
        xt.jit(lambda: g(value))()


def test_numbers_of_an_outer_function_are_checked_at_its_calls() -> None:
    x = xt.ones(i=3, dtype="i1")
    g = loaded(add, xt.spec(i=3, dtype="i1"), 2)
    again = loaded(lambda x, n: g(x, n), xt.spec(i=3, dtype="i1"), 2)
    for f in (xt.jit(g), again):
        np.testing.assert_array_equal(f(x, 5).values, 6)
        with pytest.raises(xt.ArgumentError, match="300 does not fit int8"):
            f(x, 300)
    with pytest.raises(xt.DTypeError, match="argument n has dtype float64"):
        xt.jit(g)(x, xt.array(2.7))
    with pytest.raises(xt.ArgumentTypeError, match="argument n is an array"):
        xt.jit(g)(x, xt.array(2))
    with pytest.raises(xt.ArgumentError, match="300 does not fit int8"):
        g(x, xt.array(300))


def test_a_number_of_another_kind_is_told_by_its_name() -> None:
    g = loaded(add, _S, 2.0)
    with pytest.raises(xt.ArgumentTypeError, match=r"argument n is 2; float is needed.*Write float\(\.\.\)"):
        g(xt.ones(i=3), 2)
    for value, text in ((None, "None"), ([1, 2.0], "a list")):
        with pytest.raises(xt.ArgumentTypeError, match=f"argument n is {text}.*an array is needed"):
            g(xt.ones(i=3), value)


def test_arguments_are_as_many_as_exported() -> None:
    def several(*xs: Any) -> Any:
        return sum(xs[1:], xs[0])

    def named(x: Any, **more: Any) -> Any:
        return x + sum(more.values())

    x = xt.ones(i=3)
    g = loaded(several, _S, _S)
    np.testing.assert_array_equal(g(x, x).values, 2)
    with pytest.raises(xt.UnsupportedError, match=r"several: xs\[2\] was not an argument"):
        g(x, x, x)
    with pytest.raises(xt.ArgumentTypeError, match=r"several: argument xs\[1\] is missing"):
        g(x)
    with pytest.raises(xt.UnsupportedError, match=r"xs\[2\] was not an argument"):
        xt.grad(lambda t: xt.sum(g(x, x, t)))(x)
    h = loaded(named, _S, k=_S)
    np.testing.assert_array_equal(h(x, k=x).values, 2)
    with pytest.raises(xt.UnsupportedError, match="named: q was not an argument"):
        h(x, k=x, q=x)
    with pytest.raises(xt.ArgumentTypeError, match="named: argument k is missing"):
        h(x)
    with pytest.raises(xt.UnsupportedError, match="named: q was not an argument"):
        loaded(named, _S)(x, q=x)


def test_keys_of_dicts_come_in_any_order() -> None:
    g = loaded(lambda x, p: x * p["a"] + p["b"]["c"], _S, {"a": 1.0, "b": {"c": 2.0, "d": 3.0}})
    x = xt.ones(i=3)
    np.testing.assert_array_equal(g(x, {"b": {"d": 0.0, "c": 7.0}, "a": 5.0}).values, 12)
    np.testing.assert_array_equal(xt.jit(lambda x: g(x, {"b": {"d": 0.0, "c": 7.0}, "a": 5.0}))(x).values, 12)
    with pytest.raises(xt.ArgumentTypeError, match="argument p is"):
        g(x, {"a": 1.0})


def test_a_parameter_called_self() -> None:
    x = xt.ones(i=3)
    np.testing.assert_array_equal(loaded(lambda self, y: self + y, _S, _S)(self=x, y=x).values, 2)


def test_nothing_comes_back_as_nothing() -> None:
    x = xt.ones(i=3)
    g = loaded(lambda x: None, _S)
    assert g(x) is None
    assert xt.jit(g)(x) is None


def test_a_default_that_is_not_in_the_bundle() -> None:
    def scaled(x: Any, w: Any = xt.ones(i=3)) -> Any:  # noqa: B008
        return x * w

    with pytest.raises(xt.ArgumentTypeError, match=r"scaled: argument w is missing\. Its default <Array>"):
        loaded(scaled, _S, _S)(xt.ones(i=3))


def test_export_in_a_function_that_is_traced() -> None:
    made: list[xt.Bundle] = []

    def f(x: Any) -> Any:
        made.append(xt.export(lambda y: y * 2, args=(_S,), c=False))
        return x * 3

    x = xt.ones(i=3)
    np.testing.assert_array_equal(xt.jit(f)(x).values, 3)
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(f(x)))(x).values, 3)
    np.testing.assert_array_equal(xt.load(made[0])(x).values, 2)

    def leaks(x: Any) -> Any:
        xt.export(lambda y: y * x, args=(_S,), c=False)
        return x

    with pytest.raises(xt.TracerError):
        xt.jit(leaks)(x)
    np.testing.assert_array_equal(xt.jit(f)(x).values, 3)
