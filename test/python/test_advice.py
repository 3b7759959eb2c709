"""Advice in errors is right: what a message says to write instead runs, and gives what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

X = xt.arange(12, dim="i", dtype="f4").unstack(i={"time": 4, "space": 3})
U = xt.array([1, 200], "i", dtype="u1")
B = X > 4


def message(call: Callable[[], Any], kind: type[Exception] = xt.Error) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


# -- ints that do not fit ---------------------------------------------------------------------------------------------

OF_INTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "uint8 - 300": (lambda u: u - 300, "int16"),
    "300 - uint8": (lambda u: 300 - u, "int16"),
    "uint8 + 40000": (lambda u: u + 40_000, "int32"),
    "uint8 + -5": (lambda u: u + -5, "int16"),
    "int8 - 300": (lambda u: u.astype("i1") - 300, "int16"),
    "uint32 - 2**40": (lambda u: u.astype("u4") - 2**40, "int64"),
}


@pytest.mark.parametrize("name", OF_INTS)
def test_the_dtype_for_an_int_that_does_not_fit_holds_the_result(name: str) -> None:
    f, wanted = OF_INTS[name]
    for call in (f, xt.jit(f)):
        text = message(lambda call=call: call(U), xt.ArgumentError)  # type: ignore[misc]
        assert f"Cast the array first: x.astype('{wanted}')" in text
    if " - " in name and name.startswith("uint8"):
        np.testing.assert_array_equal(f(U.astype(wanted)).values, f(U.values.astype(wanted)))


def test_no_signed_integers_hold_both() -> None:
    u = U.astype("u8")
    assert "x.astype('int64'), where its values are below 2**63" in message(lambda: u - -1)
    assert "x.astype('float64') (" in message(lambda: u + 2**64)


# -- reductions of two arrays -----------------------------------------------------------------------------------------

OF_TWO = {
    "max": "xt.maximum(x, y)", "min": "xt.minimum(x, y)", "sum": "x + y", "prod": "x * y", "mean": "(x + y) / 2",
    "logsumexp": "xt.logaddexp(x, y)", "all": "x & y", "any": "x | y",
}  # fmt: skip


@pytest.mark.parametrize("name", OF_TWO)
def test_a_reduction_of_two_arrays_names_what_goes_element_by_element(name: str) -> None:
    x = B if name in ("all", "any") else X
    function = getattr(xt, name)
    for second in (x, x.values, 0.5):
        for call in (function, getattr(type(x), name, function)):
            text = message(lambda call=call, y=second: call(x, y), xt.ArgumentTypeError)  # type: ignore[misc]
            assert f"write {OF_TWO[name]}\n" in text
    assert eval(OF_TWO[name], {"xt": xt}, {"x": x, "y": x}).dims == x.dims


@pytest.mark.parametrize("name", ["argmax", "std", "median", "cumsum", "count_nonzero"])
def test_a_reduction_without_a_function_of_two_lists_the_dims(name: str) -> None:
    text = message(lambda: getattr(xt, name)(X, X), xt.ArgumentTypeError)
    assert re.search(r"dim is .*, not float32 \(time: 4, space: 3\)\. The dims are \('time', 'space'\)", text)


# -- windows of bools -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "std"])
def test_windows_of_bools_say_to_cast(kind: str) -> None:
    assert 'x.astype("f4").rolling(..)' in message(lambda: getattr(B.rolling(time=2), kind)(), xt.DTypeError)
    cast = B.astype("f4").rolling(time=2)
    wanted = B.astype("f4").to_xarray().rolling(time=2)
    np.testing.assert_allclose(getattr(cast, kind)().values, getattr(wanted, kind)().values)


def test_windows_of_bools_with_a_bool_around_them() -> None:
    b = B.to_xarray()
    found = B.rolling(time=2).construct("w", fill_value=False)
    xr.testing.assert_equal(found.to_xarray(), b.rolling(time=2).construct("w", fill_value=False))


@pytest.mark.parametrize("kind", ["max", "min"])
def test_extrema_of_blocks_of_bools(kind: str) -> None:
    found = getattr(B.coarsen(time=2), kind)()
    wanted = getattr(B.to_xarray().coarsen(time=2), kind)()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(found.values, wanted.values)
    assert found.dtype == np.bool_


def test_pooled_bools_say_to_cast() -> None:
    assert message(lambda: xt.nn.max_pool(B, {"time": 2}), xt.DTypeError).startswith("xt.nn.max_pool: ")


# -- positions that are known when the program runs -------------------------------------------------------------------


def sliced(x: Any, i: Any) -> Any:
    return x.isel(time=slice(i, i + 3))


def test_a_slice_with_a_traced_start_names_positions() -> None:
    for f in (sliced, lambda x, i: x[i : i + 3]):
        text = message(lambda f=f: xt.jit(f)(X, 1), xt.ArgumentTypeError)  # type: ignore[misc]
        assert "write x.isel(time=xt.arange(3, dim='time') + i); or make" in text
    assert "x.at(time=xt.arange(3, dim='time') + i)" in message(
        lambda: xt.jit(lambda x, i: x.at(time=slice(i, i + 3)).set(0.0))(X, 1)
    )
    found = xt.jit(lambda x, i: x.isel(time=xt.arange(3, dim="time") + i))(X, 1)
    np.testing.assert_array_equal(found.values, X.values[1:4])


@pytest.mark.parametrize(("f", "sign"), [(lambda x, i: x[:i], "<"), (lambda x, i: x[i:], ">=")])
def test_a_slice_of_a_size_that_depends_on_a_value_names_a_mask(f: Any, sign: str) -> None:
    advice = f"xt.where(xt.arange(4, dim='time') {sign} i, x, 0.0)"
    assert advice in message(lambda: xt.jit(f)(X, 2), xt.ArgumentTypeError)
    masked = xt.jit(lambda x, i: eval(advice, {"xt": xt}, {"x": x, "i": i}).sum())
    np.testing.assert_allclose(masked(X, 2).item(), f(X.values, 2).sum())


def test_moving_by_a_traced_amount_names_positions() -> None:
    at = "xt.arange(x.sizes['time'], dim='time') - i"
    text = message(lambda: xt.jit(lambda x, i: x.roll(time=i))(X, 1), xt.ArgumentTypeError)
    advice = f"x.isel(time=({at}) % x.sizes['time'])"
    assert f"Write {advice}; or make" in text
    found = xt.jit(lambda x, i: eval(advice, {"xt": xt}, {"x": x, "i": i}))(X, 3)
    np.testing.assert_array_equal(found.values, X.roll(time=3).values)

    text = message(lambda: xt.jit(lambda x, i: x.shift(time=i))(X, 1), xt.ArgumentTypeError)
    advice = "xt.where(at >= 0, x.at(time=at).get(mode='clip'), float('nan'))"
    assert f"With at = {at} write {advice}, of an i from 0 on" in text

    def shifted(x: Any, i: Any) -> Any:
        return eval(advice, {"xt": xt, "at": eval(at, {"xt": xt}, {"x": x, "i": i})}, {"x": x})

    np.testing.assert_array_equal(xt.jit(shifted)(X, 3).values, X.shift(time=3).values)


# -- loops ------------------------------------------------------------------------------------------------------------


def test_a_loop_without_a_bound_names_what_serves_reverse_mode() -> None:
    def root(a: Any) -> Any:
        return xt.while_loop(lambda s: abs(s * s - a) > 1e-3, lambda s: 0.5 * (s + a / s), a)

    text = message(lambda: xt.grad(root)(2.0), xt.UnsupportedError)
    for word in ("max_steps=", "xt.custom_derivative", "xt.jvp"):
        assert word in text
