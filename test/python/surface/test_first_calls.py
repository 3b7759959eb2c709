"""What people write on their first day with named arrays, and what the error says to write instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

DAYS = xr.date_range("2020-01-01", periods=7)
RECORD = xr.DataArray(
    np.arange(14.0).reshape(7, 2), dims=("time", "lev"), coords={"time": DAYS, "lev": [1, 2]}, name="heat"
)
X: Any = xt.as_array(RECORD)
A: Any = xt.ones(time=3, x=4)
LINALG: Any = xt.linalg


def labelled(values: list[float], at: list[int]) -> Any:
    return xt.as_array(xr.DataArray(values, dims="x", coords={"x": at}))


FOUR, THREE = labelled([1.0, 2.0, 3.0, 4.0], [10, 20, 30, 40]), labelled([1.0, 2.0, 3.0], [20, 30, 40])


def message(call: Callable[[], Any], kind: type[Exception] = xt.Error) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value).partition("\n  at ")[0]


# -- the repr of a number ---------------------------------------------------------------------------------------------


def test_an_array_without_dims_is_shown_on_one_line() -> None:
    assert repr(xt.array(1.1)) == "<xtensor.Array () float64 1.1>"
    assert repr(xt.as_array(2)) == "<xtensor.Array () weak int64 2>"
    assert repr(xt.array(1.5, dtype="bfloat16")) == "<xtensor.Array () bfloat16 1.5>"
    assert repr(xt.array(True)) == "<xtensor.Array () bool True>"
    loss = {"train": xt.array(0.5), "test": (xt.array(1 + 2j),)}
    assert repr(loss) == (
        "{'train': <xtensor.Array () float64 0.5>, 'test': (<xtensor.Array () complex128 1.+2.j>,)}"
    )  # fmt: skip
    named = xt.as_array(xr.DataArray(1.5, coords={"lev": 3}, name="q", attrs={"unit": "K"}))
    assert repr(named) == "<xtensor.Array () float64 1.5 with name 'q'; coordinates of lev; attributes unit>"
    assert f"{A.sum()} {A.sum():.2f}" == "12.0 12.00"
    assert repr(xt.ones(t=1)) == "<xtensor.Array (t: 1) float64>\n[1.]"


# -- names that are not there -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", [xr.DataArray, np.ndarray])
def test_every_method_of_other_arrays_is_here_or_says_what_to_write(owner: type) -> None:
    names = [n for n in dir(owner) if not n.startswith("_") and not hasattr(X, n)]
    assert len(names) > 15
    silent = [n for n in names if f"has no attribute {n!r}: " not in message(lambda n=n: getattr(X, n))]
    assert silent == []
    traced = message(lambda: xt.jit(lambda x: x.polyfit)(X))
    assert "xt.polyfit(t, x, 1)" in traced


def test_methods_that_take_a_coordinate_say_what_to_write() -> None:
    assert message(lambda: X.polyfit("time", 1)).endswith('write xt.polyfit(x.coords["time"], x, 1)')
    assert message(lambda: X.differentiate("time")).endswith('write xt.gradient(x, "time", x.coords["time"])')
    assert message(lambda: X.integrate("time")).endswith('write xt.trapezoid(x, x.coords["time"], dim="time")')
    assert message(lambda: X.count("time")).endswith('write x.notnull().sum("time")')
    assert message(lambda: xt.count).endswith('write x.notnull().sum("time")')  # type: ignore[attr-defined]
    fitted: Any = RECORD.polyfit("time", 1)
    np.testing.assert_allclose(xt.polyfit(X.coords["time"], X, 1), fitted.polyfit_coefficients, rtol=1e-6)
    slopes: Any = RECORD.differentiate("time")
    np.testing.assert_allclose(xt.gradient(X, "time", X.coords["time"]), slopes, rtol=1e-12)
    area: Any = RECORD.integrate("time")
    np.testing.assert_allclose(xt.trapezoid(X, X.coords["time"], dim="time"), area, rtol=1e-12)
    holes = X.where(X > 3)
    np.testing.assert_array_equal(holes.notnull().sum("time"), RECORD.where(RECORD > 3).count("time"))


def test_methods_of_groups_and_weights_say_what_to_write() -> None:
    months, spans = X.groupby("time.month"), X.resample(time="D")
    assert "write x.groupby(..).map(f)" in message(lambda: months.apply)
    assert 'write x.reindex(time=dates, method="ffill")' in message(lambda: spans.ffill)
    assert "x.interp(time=dates)" in message(lambda: spans.interpolate)
    assert "x.to_xarray().weighted(weights.to_xarray()).quantile(..)" in message(lambda: X.weighted(X).quantile)
    assert "it has mean, std, sum" in message(lambda: X.weighted(X).meen)
    twice = DAYS.repeat(2)[::2]
    np.testing.assert_array_equal(X.reindex(time=twice, method="ffill"), RECORD.reindex(time=twice, method="ffill"))


@pytest.mark.parametrize(
    "get, near",
    [
        (lambda: A.summ, "sum"),
        (lambda: xt.summ, "sum"),  # type: ignore[attr-defined]
        (lambda: xt.linalg.nrom, "norm"),  # type: ignore[attr-defined]
        (lambda: xt.random.splt, "split"),  # type: ignore[attr-defined]
        (lambda: xt.jit(lambda x: x.meen())(A), "mean"),
        (lambda: X.groupby("time.month").meen, "mean"),
        (lambda: X.rolling(time=3).meen, "mean"),
        (lambda: A.at(x=0).ad(1), "add"),
    ],
)
def test_a_misspelt_name_gets_a_suggestion(get: Callable[[], Any], near: str) -> None:
    assert message(get, AttributeError).endswith(f"; did you mean {near!r}?")


def test_a_name_in_capitals_is_found() -> None:
    assert message(lambda: xt.optim.Adam, AttributeError).endswith(": write xt.optim.adam")  # type: ignore[attr-defined]
    assert message(lambda: xt.nn.ReLU, AttributeError).endswith(": write xt.relu")  # type: ignore[attr-defined]


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    assert message(lambda: A.qqqqqq, AttributeError) == "'Array' object has no attribute 'qqqqqq'"


# -- labels that differ -----------------------------------------------------------------------------------------------

ALIGN = 'a, b = xarray.align(a, b, join="inner"), of DataArrays (x.to_xarray())'


@pytest.mark.parametrize(
    "call",
    [
        lambda: FOUR + THREE,
        lambda: xt.maximum(FOUR.to_xarray(), THREE.to_xarray()),
        lambda: xt.where(FOUR > 2, FOUR, THREE),
        lambda: xt.dot(FOUR, THREE, dim="x"),
        lambda: xt.jit(lambda a, b: a * b)(FOUR, THREE),
        lambda: xt.jit(lambda a: a + THREE)(FOUR),
        lambda: FOUR.at(x=slice(None)).set(THREE),
        lambda: xt.jit(lambda a, b: a.at(x=slice(None)).set(b))(FOUR, THREE),
    ],
)
def test_sizes_that_differ_where_both_have_labels_are_aligned_by_label(call: Callable[[], Any]) -> None:
    said = message(call, xt.SizeError)
    assert ALIGN in said and "Slice the larger one" not in said


def test_sizes_that_differ_without_labels_are_sliced() -> None:
    for call in (lambda: FOUR + xt.ones(x=3), lambda: xt.jit(lambda a: a + xt.ones(x=3))(FOUR)):
        assert "Slice the larger one, .isel(x=slice(3))" in message(call, xt.SizeError)


def test_the_advice_about_labels_works() -> None:
    a, b = xr.align(FOUR.to_xarray(), THREE.to_xarray(), join="inner")
    assert xt.add(a, b).values.tolist() == [3.0, 5.0, 7.0]


# -- calls ------------------------------------------------------------------------------------------------------------


def no_rule(x: Any) -> Any:
    return xt.callback(lambda v: v, x, result=x).sum()


def endless() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["again"] = made
    return made


STEP: Any = xt.optim.adam(0.1)
W = {"w": xt.ones(t=3)}

CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "isel(drop=)": (lambda: X.isel(lev=0, drop=True), xt.DimensionError, 'write x.isel(..).drop_vars("lev")'),
    "squeeze(drop=)": (lambda: X.squeeze(drop=True), xt.ArgumentTypeError, 'x.squeeze("lev").drop_vars("lev")'),
    "roll_coords": (lambda: X.roll(time=5, roll_coords=True), xt.DimensionError, "the labels stay where they are"),
    "keep_attrs": (lambda: X.mean("time", keep_attrs=True), xt.ArgumentTypeError, "xr.set_options(keep_attrs=True)"),
    "min_count": (lambda: X.sum("time", min_count=2), xt.ArgumentTypeError, 'y.where(x.notnull().sum("time") >= 2)'),
    "expand_dims to labels": (
        lambda: X.expand_dims(n=[5, 6]), xt.ArgumentTypeError, "x.expand_dims(n=2).assign_coords(n=[5, 6])",
    ),
    "rename of the array": (lambda: X.rename("q"), xt.ArgumentTypeError, "xt.as_array(x.to_xarray().rename('q'))"),
    "conv, dims swapped": (
        lambda: xt.nn.conv(xt.ones(h=5), xt.ones(kh=3), {"kh": "h"}), xt.DimensionError, "write {'h': 'kh'}",
    ),
    "conv, arrays swapped": (
        lambda: xt.nn.conv(xt.ones(kh=3), xt.ones(h=5), {"h": "kh"}), xt.DimensionError,
        "The array comes first, then the kernel",
    ),
    "convolve, dims swapped": (
        lambda: xt.signal.convolve(xt.ones(time=5), xt.ones(tap=2), ("tap", "time")), xt.DimensionError,
        "write ('time', 'tap')",
    ),
    "conv along a dynamic dim": (
        lambda: xt.jit(
            lambda x: xt.nn.conv(x, xt.ones(tap=3), {"time": "tap"}, padding="same"), dynamic_dims=["time"]
        )(A),
        xt.DimensionError, "Leave 'time' out of dynamic_dims=",
    ),
    "pool along a dynamic dim": (
        lambda: xt.jit(lambda x: xt.nn.max_pool(x, {"time": 2}, padding=1), dynamic_dims=["time"])(A),
        xt.DimensionError, "Leave 'time' out of dynamic_dims=",
    ),
    "names before data": (
        lambda: xt.array(("time", "x"), np.ones((2, 2))), xt.ArgumentTypeError,
        "xt.array: the data comes first. Write xt.array(data, dims=('time', 'x'))",
    ),
    "a gradient of another size": (
        lambda: STEP.update(W, {"w": xt.ones(t=2)}, STEP.init(W)), xt.SizeError,
        "xt.optim.Optimizer.update: the gradient of parameters['w'] has 't' of size 2, the parameter 3",
    ),
    "lr": (lambda: xt.optim.adam(lr=0.1), xt.ArgumentTypeError, "Write rate= for lr="),  # type: ignore[call-arg]
    "betas": (lambda: xt.optim.adam(betas=(0.9, 0.99)), xt.ArgumentTypeError, "Write b1= and b2="),  # type: ignore[call-arg]
    "maxiter": (
        lambda: xt.optim.lbfgs(lambda x: x, 1.0, maxiter=3), xt.ArgumentTypeError, "Write max_steps= for maxiter=",  # type: ignore[call-arg]
    ),
    "num": (lambda: xt.linspace(0, 1, num=5), xt.ArgumentTypeError, "Give n by position: xt.linspace(0, 1, 5)"),  # type: ignore[call-arg]
    "one value to pad with": (
        lambda: xt.pad(xt.ones(t=3), {"t": (1, 2)}, constant_values=[1]), xt.ArgumentError,
        "xt.pad: constant_values has 1 value for dim 't'. Write (before, after)",
    ),
    "levels in levels": (
        lambda: xt.quantile(xt.ones(t=3), [0.1, [0.2]], "t"), xt.ArgumentTypeError,
        "xt.quantile: q is a number or numbers from 0 to 1, not [0.1, [0.2]]",
    ),
    "a float for a number of positions": (
        lambda: xt.random.choice(xt.random.key(0), np.float32(3), n=1), xt.ArgumentTypeError,
        "xt.random.choice: a number of positions is an int, not",
    ),
    "lbfgs of a loss with dims": (
        lambda: xt.optim.lbfgs(lambda x: x * x, xt.zeros(i=2)), xt.DimensionError,
        "xt.optim.lbfgs needs a loss without dims; <lambda> returned float64 (i: 2)",
    ),
    "lbfgs in another order": (
        lambda: xt.optim.lbfgs(W, lambda x: x), xt.ArgumentTypeError,  # type: ignore[arg-type]
        "a function comes first, not {'w': float64 (t: 3)}. Write xt.optim.lbfgs(f, parameters)",
    ),
    "lbfgs of an int": (lambda: xt.optim.lbfgs(lambda x: x, 1), xt.ArgumentTypeError, "not int64. Write 1.0"),
    "lbfgs of a function of two": (
        lambda: xt.optim.lbfgs(lambda x, y: x, 1.0), xt.ArgumentTypeError,  # type: ignore[arg-type, misc]
        "xt.optim.lbfgs: <lambda> gets 1 argument, (parameters), and takes (x, y)",
    ),
    "trapezoid(y, dx)": (lambda: xt.trapezoid(X, 0.1, dim="time"), xt.ArgumentTypeError, "Write dx= for the distance"),
    "cross_entropy, swapped": (
        lambda: xt.nn.cross_entropy(xt.array([0, 1], "b"), xt.ones(b=2, c=3), "c"), xt.DimensionError,
        "the first argument is the logits, and has no dim 'c'",
    ),
    "solve, swapped": (
        lambda: xt.linalg.solve(xt.ones(i=3), xt.ones(i=3, j=3)), xt.DimensionError,
        "the first argument is the matrix",
    ),
    "a part of dates, misspelt": (
        lambda: X.groupby("time.mnth"), xt.ArgumentTypeError, "Did you mean time.month?",
    ),
    "a part of labels": (lambda: X.groupby("lev.month"), xt.ArgumentTypeError, "labels along 'lev' are not dates"),
    "shape=": (
        lambda: xt.zeros(shape=(3, 4)), xt.ArgumentTypeError,  # type: ignore[arg-type]
        "Sizes have names: write xt.zeros(row=3, col=4)",
    ),
    "export without args": (lambda: xt.export(lambda x: x), xt.ArgumentTypeError, "args=(xt.spec(time=4),)"),
    "an unknown keyword": (
        lambda: xt.jit(lambda a, b: a)(A, bb=1), xt.ArgumentTypeError,
        "There is no parameter 'bb'; did you mean 'b'?",
    ),
    "a static list": (
        lambda: xt.jit(lambda a, s: a, static="s")(A, [1, 2]), xt.ArgumentTypeError, "got a list. Pass a tuple",
    ),
    "a dict that contains itself": (
        lambda: xt.jit(lambda d: 1)(endless()), xt.ArgumentError, "contains itself, or is nested too deeply: a dict",
    ),
    "a callback without a rule, back": (
        lambda: xt.grad(no_rule)(A), xt.GradientError, "needed by a derivative in reverse mode, as of xt.grad",
    ),
    "a callback without a rule, forward": (
        lambda: xt.jvp(no_rule, (A,), (A,)), xt.GradientError, "needed by a derivative in forward mode, as of xt.jvp",
    ),
    "at() + 1": (lambda: A.at(x=0) + 1, xt.ArgumentTypeError, "Write x.at(x=..).add(v)"),
    "2 * at()": (lambda: 2 * A.at(x=0), xt.ArgumentTypeError, "Write x.at(x=..).multiply(v)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_first_calls(name: str) -> None:
    call, kind, says = CALLS[name]
    said = message(call, kind)
    assert says in said
    assert "\n" not in said


@pytest.mark.parametrize("name", ["solve", "inv", "cholesky", "eigh", "det", "matrix_power", "cho_solve"])
def test_a_matrix_is_told_to_be_square_before_its_dims_are_asked_for(name: str) -> None:
    more: tuple[Any, ...] = {"solve": (A,), "cho_solve": (A,), "matrix_power": (2,)}.get(name, ())
    said = message(lambda: getattr(LINALG, name)(A, *more), xt.SizeError)
    assert f"xt.linalg.{name}: the matrix must be square: dims ('time', 'x') have sizes 3 and 4" in said


def test_a_right_hand_side_is_not_blamed_for_a_matrix_that_is_not_square() -> None:
    said = message(lambda: xt.linalg.solve(A, xt.ones(x=4), dims=("time", "x")), xt.SizeError)
    assert "the matrix must be square" in said and "rename" not in said


@pytest.mark.parametrize("call", [xt.as_array, xt.exp, xt.jit(lambda x: x), lambda x: xt.ones(b=2) + x])
def test_a_dataarray_with_a_dim_twice_is_told(call: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # xarray warns as well
        twice = xr.DataArray(np.ones((2, 2)), dims=("a", "a"))
    said = message(lambda: call(twice), xt.DimensionError)
    assert "the DataArray has dim 'a' twice, in ('a', 'a')" in said and "xr.DataArray(x.values, dims=" in said
