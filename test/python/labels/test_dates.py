"""Dates as the places of samples, against xarray: interp, polyfit, polyval, gradient and trapezoid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import xtensor as xt

pytestmark = pytest.mark.cpu_only("dates are numbers before a device sees them")

UNITS = ("ns", "s")
Functions = dict[str, tuple[Callable[[xr.DataArray], Any], Callable[[xr.DataArray], xr.DataArray]]]


def record(unit: str, start: str = "2020-01-01") -> xr.DataArray:
    """Two places over nine days of different lengths."""
    days = np.datetime64(start, unit) + np.array([0, 1, 2, 4, 5, 6, 8, 9, 12], "m8[D]").astype(f"m8[{unit}]")
    values = np.random.default_rng(3).normal(size=(9, 2))
    return xr.DataArray(values, dims=("time", "lat"), coords={"time": days, "lat": [10, 20]}, name="heat")


def at(x: xr.DataArray) -> xr.DataArray:
    """Places between those of `x`, with dates of their own as labels."""
    days = x.time.values[[0, 2, 5]] + np.timedelta64(36_001, "s")
    return xr.DataArray(days, dims="time", coords={"time": days})


FUNCTIONS: Functions = {
    "interp": (lambda x: xt.interp(at(x), x.time, x), lambda x: x.interp(time=at(x))),
    "polyfit": (
        lambda x: xt.polyfit(x.time, x, 1),
        lambda x: x.polyfit("time", 1).polyfit_coefficients.drop_vars("degree"),
    ),
    "polyval": (
        lambda x: xt.polyval(x.time, x.polyfit("time", 1).polyfit_coefficients),
        lambda x: xr.polyval(x.time, x.polyfit("time", 1).polyfit_coefficients),
    ),
    "gradient": (lambda x: xt.gradient(x, "time", x.time), lambda x: x.differentiate("time")),
    "trapezoid": (lambda x: xt.trapezoid(x, x.time, dim="time"), lambda x: x.integrate("time")),
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dates_are_places(name: str, unit: str) -> None:
    ours, theirs = FUNCTIONS[name]
    x = record(unit)
    assert np.datetime_data(x.time.dtype)[0] == unit
    xr.testing.assert_allclose(ours(x), theirs(x))
    xr.testing.assert_allclose(ours(x), theirs(x))  # another call of the same function


@pytest.mark.parametrize("name", ["polyfit", "polyval", "gradient", "trapezoid"])
def test_durations_are_places(name: str) -> None:
    ours, theirs = FUNCTIONS[name]
    x = record("ns")
    x = x.assign_coords(time=x.time - x.time[0])
    xr.testing.assert_allclose(ours(x), theirs(x))


def test_dates_inside_of_a_compiled_function() -> None:
    x = record("ns")
    bare, days = xt.array(x.values, ("time", "lat")), x.time.drop_vars("time")
    compiled: dict[str, Callable[[Any], Any]] = {
        "interp": lambda v: xt.interp(at(x).drop_vars("time"), days, v),
        "polyfit": lambda v: xt.polyfit(days, v, 1),
        "gradient": lambda v: xt.gradient(v, "time", days),
        "trapezoid": lambda v: xt.trapezoid(v, days, dim="time"),
    }
    for name, f in compiled.items():
        np.testing.assert_allclose(xt.jit(f)(bare).values, FUNCTIONS[name][1](x).values, rtol=1e-9)


def test_dates_of_every_century() -> None:
    for start in ("0800-01-01", "1700-01-01", "2900-01-01"):
        x = record("s", start)
        fine = xr.DataArray(x.time.values.astype("M8[us]") + np.timedelta64(1, "us"), dims="time")
        step = (xt.interp(fine, x.time, x.drop_vars("time")) - x.drop_vars("time")).isel(time=slice(0, 8))
        slope = xt.gradient(x.drop_vars("time"), "time", 1.0)
        assert step.shape == (8, 2) and np.abs(step).max() < 1e-8 * np.abs(slope).max()
        assert np.isfinite(xt.polyfit(x.time, x, 1)).all()
    early, late = np.datetime64("1969-12-31T18:00"), pd.Timestamp("1970-01-01T06:00")
    points = xr.DataArray(np.array(["1969-12-31", "1970-01-02"], "M8[ns]"), dims="time")
    values = xt.array([0.0, 8.0], "time")
    assert [xt.interp(t, points, values).item() for t in (early, late)] == [3.0, 5.0]
    assert np.isnan(xt.interp(np.datetime64("NaT"), points, values).item())


def test_gradients_by_samples_at_dates() -> None:
    x = record("ns")
    xt.testing.check_gradients(lambda v: xt.interp(at(x), x.time, v), (xt.array(x.values, ("time", "lat")),))


@pytest.mark.parametrize("how", [lambda f: f, xt.jit], ids=["eager", "jit"])
def test_what_goes_with_dates(how: Any) -> None:
    x = record("ns")
    values = xt.array(x.values, ("time", "lat"))
    for place in (3.0, "2020-01-03", x.time.values, x.time - x.time[0]):
        with pytest.raises(xt.ArgumentTypeError, match=r"the points are dates, and the places .*np.datetime64\("):
            how(lambda v, p=place: xt.interp(p, x.time, v))(values)
    with pytest.raises(xt.ArgumentTypeError, match="the places are dates, and the points not"):
        how(lambda v: xt.interp(at(x), xt.arange(9, dim="time"), v))(values)
    with pytest.raises(xt.ArgumentTypeError, match="period= goes with numbers"):
        how(lambda v: xt.interp(at(x), x.time, v, period=7.0))(values)
    with pytest.raises(xt.DTypeError, match=r"Numbers of dates are \(x - start\)"):
        xt.as_array(x.time)


def test_new_places_have_labels_of_their_own() -> None:
    x = record("ns").assign_coords(time=np.arange(9.0))
    new = xr.DataArray([1.5, 2.0], dims="time", coords={"time": [1.5, 2.0]})
    want = x.interp(time=[1.5, 2.0])
    for f in (xt.interp, xt.jit(xt.interp)):
        xr.testing.assert_allclose(f(new, x.time, x), want)
        with pytest.raises(xt.DimensionError, match="coordinates of dim 'time' differ"):
            f(new, x.time + 1.0, x.assign_coords(time=x.time + 2.0))
        with pytest.raises(xt.DimensionError, match="coordinates of dim 'lat' differ"):
            f(new * xr.DataArray([1.0, 1.0], dims="lat", coords={"lat": [1, 2]}), x.time, x)
