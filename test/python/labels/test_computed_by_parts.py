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
        "one by one": xt.as_array(f(a)).to_xarray(),
        "compiled": xt.as_array(xt.jit(f)(a)).to_xarray(),
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


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", ["one", "a number", "places", "places with labels", "days"])
def test_a_gradient_keeps_labels(spacing: str, edge_order: int) -> None:
    x = series()
    places: dict[str, Any] = {
        "one": 1.0,
        "a number": 0.5,
        "places": xt.arange(40.0, dim="time"),
        "places with labels": x.day.astype("f8"),
        "days": x.day.astype("f8").drop_vars(["time", "day"]),
    }
    want = x.differentiate("day", edge_order) / (0.5 if spacing == "a number" else 1.0)
    for how, got in results(lambda a: xt.gradient(a, "time", places[spacing], edge_order=edge_order), x).items():
        xr.testing.assert_allclose(got, want)
        assert set(got.coords) == set(want.coords), how
        assert got.name == want.name, how


def test_a_gradient_has_the_dims_of_places_too() -> None:
    x = series()
    places = xr.DataArray(np.arange(40.0)[:, None] * [1.0, 2.0], dims=("time", "run"), coords={"run": ["a", "b"]})
    got = xt.gradient(x, "time", places)
    assert set(got.coords) == {*x.coords, "run"}
    assert got.run.values.tolist() == ["a", "b"]
    with pytest.raises(xt.DimensionError, match="coordinates"):
        xt.gradient(x, "time", x.day.assign_coords(time=x.time + np.timedelta64(1, "D")).astype("f8"))
