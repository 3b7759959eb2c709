"""Advice in errors is right: what a message says to write instead runs, and gives what was meant."""

from __future__ import annotations

import math
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
P = xt.array([2.0, 1.0], "p")
RNG = np.random.default_rng(0)


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


# -- words and habits of NumPy, JAX, PyTorch and xarray ---------------------------------------------------------------

HABITS: dict[str, tuple[Callable[[], Any], str]] = {
    "a device called gpu": (lambda: X.to("gpu"), r"'gpu'; .*GPUs are named by what drives them: 'vulkan', 'cuda'"),
    "axes of transpose": (lambda: X.transpose(1, 0), r"Write x.transpose\('space', 'time'\)"),  # type: ignore[arg-type]
    "an axis that is not there": (lambda: X.transpose(2, 0), "There are no axis numbers"),  # type: ignore[arg-type]
    "shifts of NumPy": (lambda: X.roll(shifts=1), r"no dim 'shifts'.*write x.roll\(time=1\)"),
    "periods of pandas": (lambda: X.shift(periods=1), r"no dim 'periods'.*write x.shift\(time=1\)"),
    "widths of NumPy": (lambda: X.pad(pad_width=1), r"no dim 'pad_width'.*write x.pad\(time=1\)"),
    "gradients of PyTorch": (lambda: xt.zeros(a=3, requires_grad=True), r"[Ww]rite xt.grad\(f\)\(x\)"),
    "gradients of a tensor": (
        lambda: xt.array([1.0], "a", requires_grad=True),  # type: ignore[call-arg]
        r"[Ww]rite xt.grad\(f\)\(x\)",
    ),
    "decay of adam": (lambda: xt.optim.adam(0.1, weight_decay=0.1), r"xt.optim.adamw\(.., weight_decay"),  # type: ignore[call-arg]
    "parameters of adam": (lambda: xt.optim.adam([X]), r"xt.optim.adam\(0.1\).init\(parameters\)"),  # type: ignore[arg-type]
    "sizes by position": (lambda: xt.zeros((3, 4)), r"sizes have names, .*xt.zeros\(row=3, col=4\)"),  # type: ignore[arg-type]
    "sizes and names by position": (lambda: xt.zeros((3, 4), dims=("a", "b")), r"Write xt.zeros\(a=3, b=4\)"),  # type: ignore[arg-type]
    "one size and its name": (lambda: xt.ones(3, dims="a"), r"Write xt.ones\(a=3\)"),  # type: ignore[arg-type]
    "a keyword by position": (lambda: X.std("time", 1), r"parameters are \(dim=None, \*, skipna=None, ddof=0\)"),  # type: ignore[misc]
    "strings": (lambda: xt.array(["a", "b"], "t"), r"Strings can be labels: x.assign_coords\(site=names\)"),
    "None among numbers": (lambda: xt.array([1.0, None], "t"), r"Write float\('nan'\) for None"),
    "objects": (lambda: xt.array(np.array([1.0], object), "t"), r'write np.asarray\(x, "f8"\)'),
    "too few names": (lambda: xt.array(np.ones((2, 3)), "t"), r"one name per axis, as in dims=\('t', 'dim1'\)"),
    "too many names": (lambda: xt.array(np.ones(2), ("t", "u")), r"one name per axis, as in dims=\('t',\)"),
    "sizes of other products": (lambda: X.unstack(time={"a": 2, "b": 99}), r"cut or pad the dim first: x.isel\(time="),
    "signs as bools": (lambda: (X > 0) - (X < 0), r'Write x \^ y, or x.astype\("i8"\) - y for numbers'),
    "a format of a traced value": (lambda: xt.jit(lambda x: f"{x:.3f}")(X), r'Write xt.debug.print\("\{:.3f\}", x\)'),
    "an order that lacks a dim": (lambda: X.transpose("time"), r"the order \('time',\) lacks 'space'"),
    "a size of a draw": (
        lambda: xt.random.choice(xt.random.key(0), X, dim="time", size=3),
        r'as in xt.random.choice\(key, x, sample=3\); a dim called \'size\' is written \{"size": 3\}',
    ),
    "an array for an int": (
        lambda: xt.top_k(X, xt.array(2), "time"),
        r"xt.top_k: k is an int, not an array, int64 \(\). Of an array k, write int\(k\)",
    ),
    "an array for a count": (lambda: xt.repeat(X, xt.array(2), "time"), r"repeats is an int, not .*write int\(k\)"),
    "a traced int": (
        lambda: xt.jit(lambda x, k: xt.top_k(x, k, "time"))(X, xt.array(2)),
        r"k is an int that is known while tracing, not <traced int64 \(\)>. Make .*xt.jit\(f, static=...\)",
    ),
    "an array for a power": (
        lambda: xt.linalg.matrix_power(xt.eye(2), xt.array(2)), r"the power is an int, not .*write int\(k\)"
    ),
    "an array for an order": (
        lambda: xt.linalg.norm(X, xt.array(2), "time"), r"'nuc' or None, not an array, int64 \(\). .*write float\(k\)"
    ),
    "numbers without a bin": (
        lambda: xt.bincount(xt.array([0, 5], "a"), length=3),
        r"for size 3 of dim 'bin' \(operands: int64 \(a: 2\)\). Numbers are counted from 0",
    ),
    "a choice of letters": (
        lambda: xt.random.choice(xt.random.key(0), "abc", draw=2), r"an int, not 'abc'. Choose from an array along dim="
    ),
    "skipna as a word": (lambda: X.mean("time", skipna="no"), "skipna is True, False or None, not the string 'no'"),  # type: ignore[arg-type]
    "skipna of weights": (
        lambda: X.weighted(X).mean("time", skipna="no"),  # type: ignore[arg-type]
        "skipna is True, False or None, not the string 'no'",
    ),
    "an assert of a traced value": (
        lambda: xt.jit(lambda x: exec("assert x.sum() > 0", {"x": x}))(X),
        r"if, while, assert, .* xt.debug.callback\(check, x\) for assert",
    ),
    "del": (lambda: X.__delitem__(0), r"arrays do not change. Write x.isel\(time=\[0, 2\]\)"),
    "arithmetic of windows": (lambda: X.rolling(time=3) + 1, r"not an array yet. Write x.rolling\(..\).mean\(\)"),  # type: ignore[operator]
    "windows as an array": (lambda: X + X.coarsen(time=2), r"not an array yet. Write x.coarsen\(..\).mean\(\)"),  # type: ignore[operator]
    "a position in windows": (lambda: X.rolling(time=3)[0], r"Write x.rolling\(..\).mean\(\)"),  # type: ignore[index]
    "a position in a place": (lambda: X.at(time=0)[1], r"Write all of them in one call, x.at\(time=0, space=1\)"),
    "weights that wait": (lambda: abs(X.weighted(X)), r'not an array yet. Write x.weighted\(..\).mean\("time"\)'),  # type: ignore[arg-type]
    "weights in a list": (lambda: X.weighted([1, 2]), r"Write xt.array\(\[1, 2\], dims=..\)"),  # type: ignore[arg-type]
    "labels of xt.array": (lambda: xt.array([1.0], "t", coords={}), r"x.assign_coords\(time=labels\)"),  # type: ignore[call-arg]
    "a step without a pair": (lambda: xt.scan(lambda c, e: c, 0.0, X, dim="time"), "Write return carry, None"),
    "len of a number": (lambda: len(X.sum()), r"Write x.ndim or x.size, or x.item\(\)"),
    "a loop over a number": (lambda: list(X.sum()), r"Write x.item\(\) for its number"),
    "a dense layer": (lambda: xt.nn.dense(X, X), r"write xt.dot\(x, w, dim"),
    "svd of a vector": (lambda: xt.linalg.svd(xt.ones(t=3)), "takes a matrix, which has two dims.*Write xt.dot, x"),
    "a slice of labels": (lambda: X["a":"b"], "Labels of an array that has coordinates are for x.sel"),  # type: ignore[misc]
    "a label": (lambda: X.isel(time="noon"), "Labels of an array that has coordinates are for x.sel"),
    "concat of arguments": (lambda: xt.concat(X, X, dim="time"), r"one list: xt.concat\(\[x, y\], dim"),  # type: ignore[misc]
    "a method where of three": (lambda: X.where(B, X, 0), r"Write xt.where\(condition, x, y\)"),  # type: ignore[call-arg]
    "clip by a_min": (lambda: X.clip(a_min=0), "Write min= and max="),  # type: ignore[call-arg]
    "rename by position": (lambda: X.rename("time", "t"), r'Write x.rename\(time="t"\)'),  # type: ignore[call-arg, arg-type]
    "roll by position": (lambda: xt.roll(X, 1, "time"), r"xt.roll\(x, time=1\)"),  # type: ignore[call-arg, arg-type]
    "scan without a dim": (lambda: xt.scan(lambda c, e: (c, e), 0.0, X), 'Write dim="time"'),  # type: ignore[call-arg]
    "vectorize by axes": (lambda: xt.vectorize(abs, in_axes=0), r'xt.vectorize\(f, "batch"\)'),  # type: ignore[call-arg]
    "maximum of three": (lambda: xt.maximum(X, X, X), r"xt.maximum\(xt.maximum\(x, y\), z\)"),  # type: ignore[call-arg]
    "out": (lambda: xt.sin(X, out=X), r"Arrays do not change: write x = xt.sin\(..\)"),  # type: ignore[call-arg]
    "sum where": (lambda: X.sum(where=B), r"xt.sum\(x.where\(mask\), skipna=True\)"),  # type: ignore[call-arg]
    "sum dtype": (lambda: X.sum(dtype="f8"), "Cast before or after"),  # type: ignore[call-arg]
    "percents": (lambda: X.quantile(50, "time"), "Of percents write q / 100"),
    "and before comparisons": (lambda: X > 0 & X < 1, r"Python reads & before comparisons: write \(x > 0\) & \(y"),
    "math": (lambda: math.sqrt(X), "Write xt.sqrt for math.sqrt and its like"),
    "where of bools": (lambda: B.where(B), r"x.where\(condition, False\)"),
    "shift of bools": (lambda: B.shift(time=1), r"x.shift\(time=1, fill_value=False\)"),
    "while_loop in another order": (lambda: xt.while_loop(0.0, abs, abs), r"got 0.0. Write xt.while_loop\("),  # type: ignore[arg-type]
    "rolling.argmax": (lambda: X.rolling(time=2).argmax(), r"write x.rolling\(..\).reduce\(xt.argmax\)"),
    "rolling.apply": (lambda: X.rolling(time=2).apply(np.mean), r"write x.rolling\(..\).reduce\(f\)"),
    "defvjp": (lambda: xt.custom_derivative(abs).defvjp(abs, abs), r"write f.defpullback\(fwd, bwd\)"),
    "a dim as an attribute": (lambda: X.time, r"it is a dim: its size is x.sizes\['time'\], its labels"),  # type: ignore[attr-defined]
    "encoding": (lambda: X.encoding, r"x.to_xarray\(\) has what the DataArray had"),  # type: ignore[attr-defined]
    "float": (lambda: X.float(), r'write x.astype\("f4"\)'),  # type: ignore[attr-defined]
    "plot": (lambda: X.plot(), r"x.to_xarray\(\).plot"),  # type: ignore[attr-defined]
    "DataArray": (lambda: xt.DataArray([1]), "write xr.DataArray"),  # type: ignore[attr-defined]
    "topk": (lambda: xt.topk(X, 2), r"write xt.top_k\(x, 3, dim"),  # type: ignore[attr-defined]
    "expand_dims of a dim": (lambda: X.expand_dims("time"), r'Give the new .*x.rename\(time="time_1"\)'),
    "unstack to a dim": (lambda: X.unstack(time={"space": 2, "z": 2}), r'x.rename\(space="space_1"\)'),
    "stack to a dim": (lambda: X.expand_dims("z").stack(z=("time", "space")), r'x.rename\(z="z_1"\)'),
    "polyval along another dim": (lambda: xt.polyval(X, P), r"no dim 'degree'.*degree_dim='p'\n"),
    "polyval of one dim": (lambda: xt.polyval(P, P), r"coeffs.rename\({'p': 'degree'}\)"),
    "polyval of a number": (lambda: xt.polyval(X, 2.0), r"xt.array\(\[2.0, 1.0\], dims='degree'\)"),
    "numpy.polyval": (lambda: xt.polyval(P.rename(p="degree"), X), r"xt.polyval\(x, coefficients\)"),
    "a generator of NumPy": (lambda: xt.random.normal(RNG, i=3), r"not Generator\(PCG64\)\. Write key ="),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("name", HABITS)
def test_habits(name: str) -> None:
    call, wanted = HABITS[name]
    with pytest.raises((xt.Error, AttributeError), match=f"(?s){wanted}"):
        call()


def test_what_habits_are_told_to_write_runs() -> None:
    masked = X.where(B)
    np.testing.assert_allclose(xt.sum(masked, skipna=True).item(), X.values[B.values].sum())
    holed = X.to_xarray().where(X.to_xarray() != 3)
    places = xt.as_array(holed).rolling(time=2).reduce(xt.argmax)
    np.testing.assert_array_equal(places.values, holed.rolling(time=2).reduce(np.argmax).values)
    np.testing.assert_array_equal(xt.top_k(X, 3, dim="time")[0].values[0], X.values.max(0))
    v = xt.array([1.0, math.nan, 3.0], "time")
    np.testing.assert_array_equal(v.isel(time=~xt.isnan(v)).values, v.to_xarray().dropna("time").values)
    assert X.rename(time="time_1").expand_dims("time").dims == ("time", "time_1", "space")
    for line in (xt.polyval(X, P, degree_dim="p"), xt.polyval(X, P.rename({"p": "degree"}))):
        np.testing.assert_array_equal(line.values, 2 * X.values + 1)


# -- lists where an array is meant ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_numbers_in_place_of_an_array(kind: type) -> None:
    numbers = kind([1.0, 2.0, 3.0])
    for call in (
        lambda: xt.grad(lambda v: v.sum())(numbers),
        lambda: xt.vjp(lambda v: v.sum(), numbers),
        lambda: xt.jit(lambda m: m["w"].sum())({"w": numbers}),
    ):
        text = message(call, AttributeError)
        assert f"a {kind.__name__} has no attribute 'sum'" in text
        assert 'pass an array: xt.array([1.0, 2.0], dims="i")' in text
        assert text.rpartition("at ")[2].startswith(__file__)
    assert "in place of a list of numbers" in message(lambda: xt.grad(lambda v: xt.sum(v))(numbers))
    found = xt.grad(lambda v: v.sum())(xt.array([1.0, 2.0], dims="i"))
    np.testing.assert_array_equal(found.values, [1.0, 1.0])


def test_a_list_of_arrays_in_place_of_an_array() -> None:
    text = message(lambda: xt.jit(lambda v: v.sum())([X, X]), xt.AttributeError)
    assert "a list of 2" in text
    assert '[y.sum(..) for y in x], or make one array of them: xt.concat(x, "new")' in text
    assert xt.concat([X, X], "new").sum().item() == 2 * X.sum().item()


def test_what_a_list_lacks_by_itself_is_an_error_of_python() -> None:
    for call in (lambda: xt.jit(lambda v: v.foo())([X]), lambda: xt.jit(lambda v: [v].sum())(X)):  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="'list' object") as caught:
            call()
        assert not isinstance(caught.value, xt.Error)


# -- parameters without a name ----------------------------------------------------------------------------------------

BY_NAME: dict[str, tuple[Callable[[xt.Array], Any], str]] = {
    "diff": (lambda x: xt.diff(x, dim="time"), "xt.diff(x, 'time')"),
    "diff without a dim": (lambda x: xt.diff(x), "xt.diff(x, 'time')"),
    "a method": (lambda x: x.quantile(q=0.5), "x.quantile(0.5)"),
    "where": (lambda x: x.where(x > 4, other=0), "x.where(cond, 0)"),
    "num": (lambda x: xt.linspace(0, 1, num=5), "xt.linspace(0, 1, 5)"),
    "one_hot": (lambda x: xt.one_hot(x.astype("i8"), num_classes=4), "xt.one_hot(i, 4)"),
    "full_like": (lambda x: xt.full_like(x, fill_value=2), "xt.full_like(x, 2)"),
    "the first ones": (lambda x: xt.where(cond=x > 4, x=x, y=x), "xt.where(condition, x, y)"),
    "in a room": (lambda x: xt.linalg.solve(x, b=x), "xt.linalg.solve(a, b)"),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_what_has_no_name_is_given_by_position(name: str) -> None:
    call, written = BY_NAME[name]
    assert written in message(lambda: call(X), xt.ArgumentTypeError)
    values = {"x": X, "cond": X > 4, "condition": X > 4, "y": X, "i": X.astype("i8"), "a": SQUARE, "b": SQUARE[:, 0]}
    assert isinstance(eval(written, {"xt": xt, **values}), xt.Array)


SQUARE = xt.array(np.eye(3) + 1, ("row", "col"))


def test_an_object_with_arrays_is_a_dataclass() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = xt.ones(time=4)

    assert "Make its class a dataclass" in message(lambda: xt.jit(lambda m, x: m.w * x)(Model(), X))
    assert "dataclass" not in message(lambda: xt.jit(lambda what, x: x)(object(), X))
