"""Maxima and minima as updates: NaN, zeros of both signs, ties, and the ways that many updates take."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from places import DEVICE
from test_updates import UFUNCS, updated


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_extrema_of_zeros_of_both_signs_infinities_and_nan(kind: str, dtype: str) -> None:
    """All pairs, in both orders: NaN wins. On the CPU, -0.0 is below 0.0. Devices may return either zero."""
    numbers = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.copysign(np.nan, -1)], dtype)
    old, new = (x.reshape(-1) for x in np.meshgrid(numbers, numbers))
    t, v = xt.array(old, "t"), xt.array(new, "k")
    want, zeros = UFUNCS[kind](old, new), (old == 0) & (new == 0)
    for found in updated(t, {"t": xr.DataArray(np.arange(64), dims="k")}, kind, v):
        np.testing.assert_array_equal(found.values, want)
        signs = np.signbit(old) | np.signbit(new) if kind == "min" else np.signbit(old) & np.signbit(new)
        if DEVICE == "cpu":
            np.testing.assert_array_equal(np.signbit(found.values[zeros]), signs[zeros])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "bfloat16"])
@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("count", [2999, 3001, 50_001])
@np.errstate(invalid="ignore")
def test_extrema_of_many_updates_of_few_elements(kind: str, dtype: str, count: int) -> None:
    """More than a thousand updates per element, most of which change nothing, beside few: ties, zeros, NaN."""
    rng = np.random.default_rng(count)
    x, v = np.zeros(3), np.round(rng.normal(size=count), 1)
    i = rng.integers(-3, 3, count)
    for signed in (v, np.where(i % 3 == 1, -np.abs(v), np.abs(v)), np.where(i % 3 == 2, np.nan, v)):
        new = np.nan_to_num(signed * 10) if dtype == "i4" else signed
        start, updates = xt.array(x, "t").astype(dtype), xt.array(new, "p").astype(dtype)
        want = start.astype("f8").values.copy()
        UFUNCS[kind].at(want, i, updates.astype("f8").values)
        for got in updated(start, {"t": xr.DataArray(i, dims="p")}, kind, updates):
            np.testing.assert_array_equal(got.astype("f8").values, want)
        outside = xt.array(np.where(i == 1, 7, i), "p")
        got = getattr(start.at(t=outside), kind)(updates, mode="drop").astype("f8").values
        want = start.astype("f8").values.copy()
        UFUNCS[kind].at(want, i[i != 1], updates.astype("f8").values[i != 1])
        np.testing.assert_array_equal(got, want)


@np.errstate(invalid="ignore")
@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("rows, count", [(1, 900), (37, 900), (300, 33), (300, 5)])
def test_extrema_of_bfloat16_columns(kind: str, rows: int, count: int) -> None:
    """Few columns of a row and many, whose places meet, stored either way: ties, NaN and what is dropped."""
    rng = np.random.default_rng(count)
    x = xt.array(np.round(rng.normal(size=(rows, 35)), 1), ("a", "b")).astype("bfloat16")
    v = xt.array(np.round(rng.normal(size=(rows, count)), 1), ("a", "p")).astype("bfloat16")
    v = xt.where(v == 0.5, np.nan, v)
    i = rng.integers(-38, 38, count)
    inside = (i >= -35) & (i < 35)
    want = x.astype("f8").values.copy()
    UFUNCS[kind].at(want, (slice(None), i[inside]), v.astype("f8").values[:, inside])
    for target in (x, x.transpose("b", "a")):
        got = getattr(target.at(b=xt.array(i, "p")), kind)(v, mode="drop")
        np.testing.assert_array_equal(got.astype("f8").transpose("a", "b").values, want)


@pytest.mark.parametrize("kind", ["max", "min"])
def test_extrema_of_many_updates_keep_the_sign_of_zero(kind: str) -> None:
    v = np.zeros(4000, "f4")
    v[-1] = np.copysign(0, 1 if kind == "max" else -1)
    v[:-1] = -np.copysign(0, v[-1])
    got = getattr(xt.array(v[:2], "t").at(t=xt.array(np.arange(4000) % 2, "p")), kind)(xt.array(v, "p"))
    if DEVICE == "cpu":
        np.testing.assert_array_equal(np.signbit(got.values), [np.signbit(v[0]), np.signbit(v[-1])])
