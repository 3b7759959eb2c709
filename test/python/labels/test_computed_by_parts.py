"""Coordinates of results that are computed by parts, or from neighbours: those that xarray's functions give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt


def series(n: int = 40) -> xr.DataArray:
    return xr.DataArray(
        np.random.default_rng(0).normal(size=(n, 2)),
        dims=("time", "lat"),
        coords={
            "time": xr.date_range("2020-01-01", periods=n),
            "day": ("time", np.arange(n)),
            "lat": [1.0, 2.0],
            "height": (("time", "lat"), np.arange(2.0 * n).reshape(n, 2)),
        },
        name="heat",
        attrs={"units": "K"},
    )


def results(f: Any, x: xr.DataArray) -> dict[str, xr.DataArray]:
    """What a function gives in each way that labels take."""
    a = xt.as_array(x)
    return {
        "one by one": f(a).to_xarray(),
        "compiled": xt.jit(f)(a).to_xarray(),
        "compiled, of a DataArray": xt.jit(f)(x),
    }


@pytest.mark.parametrize("kind", ["var", "std", "mean", "max"])
@pytest.mark.parametrize("least", [None, 3])
@pytest.mark.parametrize("size", [3, 13, 16, 20, 21])  # the variances of 13 to 20 of 40 are merged from parts
def test_long_windows_keep_labels(kind: str, least: int | None, size: int) -> None:
    x = series()
    want = getattr(x.rolling(time=size, min_periods=least), kind)()
    for how, got in results(lambda a: getattr(a.rolling(time=size, min_periods=least), kind)(), x).items():
        xr.testing.assert_allclose(got, want)
        assert set(got.coords) == set(want.coords), how
        assert (got.name, got.attrs) == (want.name, want.attrs), how


def test_vectorized_windows_keep_labels() -> None:
    x = series()
    got = xt.vectorize(lambda a: a.rolling(time=16).std(), "lat")(xt.as_array(x))
    xr.testing.assert_allclose(got.to_xarray().transpose(*x.dims), x.rolling(time=16).std())
