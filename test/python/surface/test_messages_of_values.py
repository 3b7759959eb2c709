"""What messages say of values that are not arrays, and of orders and keywords that mean something else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from messages import Wrong, check_message

V = xt.ones(ch=3)
KEY = xt.random.key(0)
DATED = xt.as_array(xr.DataArray(np.arange(6.0), dims="time", coords={"time": xr.date_range("2020-01-01", periods=6)}))
PAIRED = xt.ones(fill_value=3, constant_values=2)


class Scaled:
    def __init__(self) -> None:
        self.by = 2.0

    @xt.jit
    def wrong(self, x: Any) -> Any:
        return x * self.by

    @xt.jit(static="self")
    def right(self, x: Any) -> Any:
        return x * self.by


MESSAGES: dict[str, Wrong] = {
    "a Variable": (
        lambda: xt.exp(xr.Variable("ch", [1.0, 2.0])),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        r"^xt.exp: a Variable of xarray is not an array here. Write xr.DataArray\(v\), or xt.array\(v, dims=v.dims\)",
    ),
    "a generator": (lambda: xt.array((i for i in range(3)), "t"), xt.ArgumentTypeError, r"Write xt.array\(list\(..\)"),
    "a set of numbers": (
        lambda: xt.array({1, 2}, "t"), xt.ArgumentTypeError, r"^xt.array: a set .* Write xt.array\(list\(..\)",
    ),
    "values of a dict": (lambda: xt.array({"a": 1}.values(), "t"), xt.ArgumentTypeError, r"Write xt.array\(list\(..\)"),
    "one name of letters": (lambda: xt.array(np.ones((2, 2)), "ij"), xt.DimensionError, r"dims=\('i', 'j'\)"),
    "plus None": (lambda: V + None, xt.ArgumentTypeError, r"^xt.add: .*got None. A function.*operands: .*ch: 3"),  # type: ignore[operator]
    "None minus": (lambda: None - V, xt.ArgumentTypeError, "^xt.subtract: .*got None"),  # type: ignore[operator]
    "less than None": (lambda: V < None, xt.ArgumentTypeError, "^xt.less: .*got None"),  # type: ignore[operator]
    "a Fraction": (lambda: V * Fraction(1, 2), xt.ArgumentTypeError, r"got a fractions.Fraction. Write float\(x\)"),  # type: ignore[operator]
    "plus a text": (lambda: V + "2", xt.ArgumentTypeError, r"the string '2'. Write float\(text\)"),  # type: ignore[operator]
    "a longdouble": (lambda: V + np.longdouble(1), xt.DTypeError, r'^xt.add: .*Write "f8", or values.astype\("f8"\)'),
    "a masked array": (
        lambda: V + np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
        xt.DimensionError,
        r'xt.array\(x.filled\(value\), dims=\("row",\)\)',
    ),
    "p in place of a size": (
        lambda: xt.random.choice(KEY, V, dim="ch", p=3),
        xt.DimensionError,
        r"^xt.random.choice: p has a probability per .* along 'ch'.*called p is written \{\"p\": 3\}",
    ),
    "another order of interp": (
        lambda: xt.interp(V, V, 0.5),
        xt.DimensionError,
        r"fp has a value for each point of xp along 'ch'.*The order is xt.interp\(x, xp, fp\)",
    ),
    "a dim called fill_value": (
        lambda: PAIRED.shift(fill_value=1),
        xt.ArgumentError,
        r'^xt.shift: fill_value= is a parameter.*Write xt.shift\(x, \{"fill_value": 1\}\)',
    ),
    "a dim called constant_values": (
        lambda: PAIRED.pad(constant_values=1),
        xt.ArgumentError,
        r'^xt.pad: constant_values= is a parameter.*Write xt.pad\(x, \{"constant_values": 1\}\)',
    ),
    "jit of a method": (lambda: Scaled().wrong(V), xt.ArgumentTypeError, r'static: @xt.jit\(static="self"\)'),
    "jit of an object": (
        lambda: xt.jit(lambda how, x: x)(Scaled(), V),
        xt.ArgumentTypeError,
        r"Scaled. If it does not change, declare it static: xt.jit\(f, static='how'\)\n",
    ),
    "labels of a traced array": (
        lambda: xt.jit(lambda x: x.coords["time"])(DATED),
        xt.AttributeError,
        r"f\(x, xt.as_array\(x.coords\['time'\]\)\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    check_message(MESSAGES[name])


def test_what_these_messages_say_to_write() -> None:
    v = xr.Variable("ch", [1.0, 2.0, 4.0])
    for found in (xt.as_array(xr.DataArray(v)), xt.array(v, dims=v.dims)):  # type: ignore[arg-type]
        np.testing.assert_array_equal(found.values, v.values)
    assert xt.random.choice(KEY, V, {"p": 3}, dim="ch").sizes == {"p": 3}
    assert PAIRED.shift({"fill_value": 1}, fill_value=0.0).sum().item() == 4
    assert PAIRED.pad({"constant_values": 1}, constant_values=2.0).sizes == {"fill_value": 3, "constant_values": 4}
    assert Scaled().right(V).values.tolist() == [2, 2, 2]
    assert (V == None) is False and (V != None) is True  # noqa: E711
    times = xt.as_array(xr.DataArray([1.0, 2.0], dims="time", coords={"time": [0.0, 0.5]}))
    assert xt.jit(lambda x, t: x * t)(times, xt.as_array(times.coords["time"])).values.tolist() == [0, 1]


@pytest.mark.parametrize("call", [
    lambda: xt.full(object(), time=3),
    lambda: xt.idxmax(object(), "lat"),
    lambda: xt.idxmin(2.0),
    lambda: xt.interp_like(object(), xr.DataArray([0.0], dims="lat", coords={"lat": [12]})),
    lambda: xt.reindex_like("text", xr.DataArray([0.0], dims="lat", coords={"lat": [12]})),
])  # fmt: skip
def test_what_is_no_array_is_refused(call: Any) -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"expected an array|the value is a number"):
        call()
