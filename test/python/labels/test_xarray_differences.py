"""Every function that xarray has by the same name, against xarray: values, dims, coordinates, name and attributes.

What differs is listed here, with the reason, and docs/xarray.md has that list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import xtensor as xt
from places import ROOT

V = xr.DataArray(
    np.array([[0.5, -1.5, np.nan], [2.0, 0.25, -3.0], [1.0, 7.0, 0.125], [-2.5, 3.0, 4.0]]),
    dims=("time", "x"),
    coords={"time": [1, 2, 4, 8], "hour": ("time", [6, 7, 8, 9]), "x": [10.0, 20.0, 30.0], "run": 3},
    name="speed",
    attrs={"units": "m/s"},
)
W = V.fillna(1.5)
DAYS = pd.date_range("2020-01-01", periods=4)
WEIGHTS = xr.DataArray([0.5, 0.25, 0.25], dims="x")
N = W.astype("i8")

# Of methods: one call, on an array and on the DataArray.
METHODS: dict[str, Callable[[Any], Any]] = {
    "T": lambda v: v.T,
    "all": lambda v: (v > 0).all("time"),
    "any": lambda v: (v > 0).any("time"),
    "argmax": lambda v: v.argmax("time"),
    "argmin": lambda v: v.argmin("time"),
    "argsort": lambda v: v.isel(x=0).argsort(),
    "assign_coords": lambda v: v.assign_coords(x=[1, 2, 3]),
    "astype": lambda v: v.astype("f4"),
    "broadcast_like": lambda v: v.isel(x=0).broadcast_like(v),
    "clip": lambda v: v.clip(0.0, 2.0),
    "coarsen": lambda v: v.coarsen(time=2).mean(),
    "conj": lambda v: v.conj(),
    "cumprod": lambda v: v.cumprod("time"),
    "cumsum": lambda v: v.cumsum("time"),
    "diff": lambda v: v.diff("time"),
    "dot": lambda v: v.dot(v.isel(time=0), dim="x"),
    "drop_sel": lambda v: v.drop_sel(time=4),
    "drop_vars": lambda v: v.drop_vars("time"),
    "expand_dims": lambda v: v.expand_dims(k=2),
    "fillna": lambda v: v.fillna(0.0),
    "groupby": lambda v: v.groupby("hour").sum(),
    "groupby_bins": lambda v: v.groupby_bins("hour", [5, 7, 9]).sum(),
    "head": lambda v: v.head(time=2),
    "idxmax": lambda v: v.idxmax("time"),
    "idxmin": lambda v: v.idxmin("time"),
    "imag": lambda v: v.imag,
    "interp": lambda v: v.interp(time=[1, 3]),
    "interp_like": lambda v: v.interp_like(xr.DataArray([0, 0], dims="time", coords={"time": [1, 3]})),
    "isel": lambda v: v.isel(time=[2, 0], x=-1),
    "isnull": lambda v: v.isnull(),
    "loc": lambda v: v.loc[2:4, 10],
    "max": lambda v: v.max("time"),
    "mean": lambda v: v.mean("time"),
    "median": lambda v: v.median("time"),
    "min": lambda v: v.min("time"),
    "notnull": lambda v: v.notnull(),
    "pad": lambda v: v.pad(x=(1, 2)),
    "prod": lambda v: v.prod("time"),
    "quantile": lambda v: v.quantile(0.3, "time"),
    "rank": lambda v: v.rank("time"),
    "real": lambda v: v.real,
    "reindex": lambda v: v.reindex(time=[2, 3]),
    "reindex_like": lambda v: v.reindex_like(xr.DataArray([0, 0], dims="time", coords={"time": [2, 3]})),
    "rename": lambda v: v.rename(time="t"),
    "resample": lambda v: v.assign_coords(time=DAYS).resample(time="2D").max(),
    "roll": lambda v: v.roll(time=1),
    "rolling": lambda v: v.rolling(time=2).mean(),
    "round": lambda v: v.round(),
    "sel": lambda v: v.sel(time=[8, 1], x=20.0),
    "shift": lambda v: v.shift(time=1),
    "sortby": lambda v: v.sortby("hour", ascending=False),
    "squeeze": lambda v: v.isel(time=[1]).squeeze(),
    "stack": lambda v: v.stack(k=("time", "x")),
    "std": lambda v: v.std("time"),
    "sum": lambda v: v.sum("time"),
    "swap_dims": lambda v: v.swap_dims(time="hour"),
    "tail": lambda v: v.tail(time=2),
    "thin": lambda v: v.thin(time=2),
    "transpose": lambda v: v.transpose("x", "time"),
    "unstack": lambda v: v.stack(k=("time", "x")).unstack("k"),
    "var": lambda v: v.var("time"),
    "weighted": lambda v: v.weighted(WEIGHTS).mean("x"),
    "where": lambda v: v.where(v > 0),
}
# Attributes that both have, and no functions.
ATTRIBUTES = {
    "attrs", "coords", "data", "dims", "dtype", "indexes", "item", "name", "nbytes", "ndim", "shape", "size", "sizes",
    "to_numpy", "values", "variable",
}  # fmt: skip
# Of functions of the package: ours and xarray's.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "xt.broadcast": (lambda v: xt.broadcast(v.isel(x=0), v)[0], lambda v: xr.broadcast(v.isel(x=0), v)[0]),
    "xt.corr": (lambda v: xt.corr(v, v.isel(x=0), "time"), lambda v: xr.corr(v, v.isel(x=0), "time")),
    "xt.cov": (lambda v: xt.cov(v, v.isel(x=0), "time"), lambda v: xr.cov(v, v.isel(x=0), "time")),
    "xt.polyval": (lambda v: xt.polyval(v, _powers(v)), lambda v: xr.polyval(v, _powers(v))),
    "xt.concat": (lambda v: xt.concat([v, v + 1.0], dim="time"), lambda v: xr.concat([v, v + 1.0], dim="time")),
    "xt.cross": (lambda v: xt.cross(v, v.isel(time=0), dim="x"), lambda v: xr.cross(v, v.isel(time=0), dim="x")),
    "xt.dot": (lambda v: xt.dot(v, v, dim="x"), lambda v: xr.dot(v, v, dim="x")),
    "xt.full_like": (lambda v: xt.full_like(v, 2.0), lambda v: xr.full_like(v, 2.0)),
    "xt.ones_like": (xt.ones_like, xr.ones_like),
    "xt.where": (lambda v: xt.where(v > 0, v, 0.0), lambda v: xr.where(v > 0, v, 0.0)),
    "xt.zeros_like": (xt.zeros_like, xr.zeros_like),
}
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")


def _ufunc(name: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """An element by element function of one array, or of it and its absolute value; of bits, of ints."""
    ours, theirs = getattr(xt, name), getattr(xr.ufuncs, name)
    is_binary = getattr(getattr(np, name), "nin", 1) == 2

    def call(f: Callable[..., Any], v: Any) -> Any:
        x = v.fillna(1.0).astype("i8") if name in (*_BITS, "bitwise_invert", "invert") else v
        return f(x, abs(x)) if is_binary else f(x)

    return lambda v: call(ours, v), lambda v: call(theirs, v)


def _powers(v: Any) -> Any:
    """Coefficients, an array or a DataArray."""
    c = xr.DataArray([1.0, 0.5, -2.0], dims="degree", coords={"degree": [0, 1, 2]})
    return c if isinstance(v, xr.DataArray) else xt.as_array(c)


FUNCTIONS |= {f"xt.{n}": _ufunc(n) for n in sorted(xt.__all__) if hasattr(xr.ufuncs, n)}

_NAN = "keeps NaN"  # the page explains it above the table
_LABELS = "the result keeps the dtype of the labels; xarray returns floats, because a result may be NaN"
# What differs, and why.
DIFFERENCES: dict[str, tuple[str, str]] = {
    "argmax": ("value", _NAN),
    "argmin": ("value", _NAN),
    "argsort": ("coords", "the results are positions, without labels along the sorted dim"),
    "coarsen": ("value", _NAN),
    "cumprod": ("value", _NAN),
    "cumsum": ("value", _NAN),
    "groupby": ("value", _NAN),
    "groupby_bins": ("value", _NAN),
    "idxmax": ("dtype, value", f"{_NAN}; {_LABELS}"),
    "idxmin": ("dtype, value", f"{_NAN}; {_LABELS}"),
    "max": ("value", _NAN),
    "mean": ("value", _NAN),
    "median": ("value", _NAN),
    "min": ("value", _NAN),
    "pad": (
        "value, dtype",
        "fills with 0, as NumPy does, and keeps the dtype; `constant_values=np.nan` fills with NaN",
    ),
    "prod": ("value", _NAN),
    "quantile": ("value, coords", f"{_NAN}; xarray adds the level as a coordinate"),
    "resample": ("value", _NAN),
    "std": ("value", _NAN),
    "sum": ("value", _NAN),
    "var": ("value", _NAN),
    "weighted": ("value", _NAN),
    "xt.corr": ("value", _NAN),
    "xt.cov": ("value", _NAN),
    "xt.reciprocal": ("value", "an integer divided by 0 is 0"),
}


def _labelled(x: Any) -> xr.DataArray:
    if isinstance(x, xr.DataArray):
        return x
    return x.to_xarray() if isinstance(x, xt.Array) else xr.DataArray(x)


def difference(ours: Callable[[Any], Any], theirs: Callable[[Any], Any], v: xr.DataArray) -> str:
    """What differs between two calls, in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = theirs(v)
        try:
            got = _labelled(ours(xt.as_array(v)))
        except xt.Error as error:
            return f"error: {error}"
    found = []
    if got.dims != want.dims:
        found.append("dims")
    if got.dtype != want.dtype:
        found.append("dtype")
    if set(got.dims) != set(want.dims) or not np.allclose(
        got.transpose(*want.dims).values, want.values, rtol=1e-12, equal_nan=True
    ):
        found.append("value")
    coords, others = got.coords, want.coords
    if coords.keys() != others.keys() or not all(coords[k].variable.equals(others[k].variable) for k in others):
        found.append("coords")
    found += [n for n in ("name", "attrs") if getattr(got, n) != getattr(want, n)]
    return ", ".join(found)


def calls(name: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return FUNCTIONS[name] if name in FUNCTIONS else (METHODS[name], METHODS[name])


ALL = [*METHODS, *FUNCTIONS]
NEEDS_BOTTLENECK = {"rank"}  # in xarray
INPUTS = {"NaN": V, "floats": W, "ints": N}


def differences(name: str) -> str:
    """Of all inputs: what differs in any."""
    found = [difference(*calls(name), v) for v in INPUTS.values()]
    return ", ".join(dict.fromkeys(part for f in found if f for part in f.split(", ")))


def test_every_function_that_both_have_is_compared() -> None:
    methods = {n for n in dir(xt.ones(t=2)) if hasattr(xr.DataArray, n)}
    assert methods - ATTRIBUTES == METHODS.keys()
    functions = {n for n in xt.__all__ if callable(getattr(xr, n, None)) or hasattr(xr.ufuncs, n)}
    assert {f"xt.{n}" for n in functions} == FUNCTIONS.keys()


@pytest.mark.cpu_only("values are compared in float64")
@pytest.mark.parametrize("name", ALL)
def test_a_function_gives_what_xarray_gives_or_is_listed(name: str) -> None:
    if name in NEEDS_BOTTLENECK:
        pytest.importorskip("bottleneck", reason=f"xarray's {name} needs bottleneck")
    assert differences(name) == DIFFERENCES.get(name, ("",))[0]


@pytest.mark.cpu_only("values are compared in float64")
@pytest.mark.parametrize("name", [n for n, (_, why) in DIFFERENCES.items() if _NAN in why])
def test_under_skipna_nan_makes_no_difference(name: str) -> None:
    with xt.option(skipna=True):
        assert difference(*calls(name), V) == difference(*calls(name), W)


def table() -> list[str]:
    """The rows of the page."""
    return [f"| `{name}` | {what} | {why} |" for name, (what, why) in DIFFERENCES.items()]


def test_the_page_lists_the_differences() -> None:
    section = (ROOT / "docs" / "xarray.md").read_text().partition("\n## Differences")[2]
    assert [row for row in section.splitlines() if row.startswith("| `")] == table()


def test_the_other_coordinates_that_the_page_tells_of() -> None:
    t, run = np.arange(4), xr.Variable((), 3)
    x = xr.DataArray(t**2.0, dims="t", coords={"t": t, "run": run})
    v = xt.as_array(x)
    blocks, wanted = (a.coarsen(t=2).construct(t=("a", "b")) for a in (v, x))
    np.testing.assert_array_equal(blocks.values, wanted.values)
    assert [*blocks.coords] == ["run"] and {*wanted.coords} == {"t", "run"}
    low, wanted = (a.diff("t", n=2, label="lower") for a in (v, x))
    np.testing.assert_array_equal(low.values, wanted.values)
    assert low.coords["t"].values.tolist() == [0, 1] and wanted.coords["t"].values.tolist() == [1, 2]
    fit, wanted = xt.polyfit(x.t, v, 2), x.polyfit("t", 2).polyfit_coefficients
    np.testing.assert_allclose(fit.values, wanted.values, atol=1e-9)
    assert [*fit.coords] == ["run"] and [*wanted.coords] == ["degree"] and wanted.degree.values.tolist() == [2, 1, 0]


# With operands of different names: those whose results have no name in xarray, and those that keep the first.
WITHOUT_A_NAME: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x * y": lambda m, x, y: x * y,
    "cov": lambda m, x, y: m.cov(x, y, "x"),
    "corr": lambda m, x, y: m.corr(x, y, "x"),
}
NAME_OF_THE_FIRST: dict[str, Callable[[Any, Any, Any], Any]] = {
    "dot": lambda m, x, y: m.dot(x, y, dim="x"),
    "x @ y": lambda m, x, y: x @ y,
    "where": lambda m, x, y: m.where(x > 0, x, y),
    "fillna": lambda m, x, y: x.fillna(y),
    "clip": lambda m, x, y: x.clip(y),
    "concat": lambda m, x, y: m.concat([x, y], dim="run2"),
}


@pytest.mark.parametrize("name", [*WITHOUT_A_NAME, *NAME_OF_THE_FIRST])
def test_the_names_that_the_page_tells_of(name: str) -> None:
    f = (WITHOUT_A_NAME | NAME_OF_THE_FIRST)[name]
    x, y = W, W.rename("other")
    assert f(xt, xt.as_array(x), xt.as_array(y)).name is None
    assert f(xr, x, y).name == (None if name in WITHOUT_A_NAME else "speed")


# The condition may have any name and attributes: the result has those of what is chosen from.
CHOSEN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x.where(mask)": lambda m, x, mask: x.where(mask),
    "x.where(mask, 0)": lambda m, x, mask: x.where(mask, 0.0),
    "x.where(~mask)": lambda m, x, mask: x.where(~mask),
    "of itself": lambda m, x, mask: x.where(x > 0),
    "x.where(mask, x)": lambda m, x, mask: x.where(mask, -x),
    "complex": lambda m, x, mask: (x * 1j).where(mask),
    "where(mask, 1, 0)": lambda m, x, mask: m.where(mask, 1.0, 0.0),  # the only one with a name
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_condition_does_not_take_part_in_the_name(name: str, compiled: bool) -> None:
    f, x = CHOSEN[name], W.fillna(1.0).assign_attrs(units="m / s")
    mask = (x > 2).rename("fast").assign_attrs(units="1")
    wanted = f(xr, x, mask)
    g = xt.jit(lambda x, mask: f(xt, x, mask)) if compiled else lambda x, mask: f(xt, x, mask)
    found = g(xt.as_array(x), xt.as_array(mask)), g(x, mask)
    assert [a.name for a in found] == [wanted.name] * 2
    if name != "where(mask, 1, 0)":
        assert [a.attrs for a in found] == [wanted.attrs] * 2
    scan = xt.scan(lambda c, m: (c, c.where(m)), xt.as_array(x), xt.as_array(mask).rename(time="t"), dim="t")[1]
    assert scan.name == "speed"
    assert xt.where(xt.as_array(mask), xt.as_array(x), 0.0).name == "speed"  # in xarray "fast", of the first argument


if __name__ == "__main__":
    print("\n".join(table()))
    for n in [n for n in ALL if n not in NEEDS_BOTTLENECK]:
        if differences(n) != DIFFERENCES.get(n, ("",))[0]:
            print(f"{n}: differs in {differences(n) or 'nothing'}")
