"""sel, reindex, interp, groups and weights against xarray: values, dims, dtype, coordinates, name and attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import xtensor as xt
from xarray.groupers import BinGrouper, SeasonGrouper, UniqueGrouper
from xtensor.testing import check_gradients

pytestmark = pytest.mark.cpu_only("values are compared in float64")

DAYS = pd.date_range("2020-01-01", periods=70)
V = xr.DataArray(
    np.random.default_rng(0).normal(size=(2, 70, 3)),
    dims=("x", "time", "lat"),
    coords={
        "time": DAYS,
        "hour": ("time", np.arange(70.0)),
        "x": [1.0, 2.0],
        "run": 1,
        "lat": [30, 10, 20],
        "kind": ("lat", ["b", "a", "b"]),
    },
    name="heat",
    attrs={"units": "K"},
)
TRACK = {"lat": xr.DataArray([10, 30, 10], dims="p"), "x": xr.DataArray([1.0, 2.0, 2.0], dims="p")}
BETWEEN = {"lat": xr.DataArray([12.0, 15.0], dims="p"), "x": xr.DataArray([1.0, 1.2], dims="p")}
AREA = xr.DataArray([0.1, 0.2, 0.7], dims="lat", coords={"lat": [30, 10, 20]}, name="area", attrs={"units": "m2"})

# One call, on an array and on a DataArray.
CALLS: dict[str, Callable[[Any], Any]] = {
    "sel month": lambda v: v.sel(time="2020-02"),
    "sel day": lambda v: v.sel(time="2020-02-03"),
    "sel list": lambda v: v.sel(lat=[10, 30], x=2.0),
    "sel nearest": lambda v: v.sel(x=1.2, method="nearest"),
    "sel tolerance": lambda v: v.sel(x=[1.1], method="nearest", tolerance=0.5),
    "sel slice": lambda v: v.sel(time=slice("2020-01-05", "2020-01-07"), lat=10, drop=True),
    "sel track": lambda v: v.sel(TRACK),
    "loc": lambda v: v.loc[:, "2020-01", [20, 30]],
    "drop_sel": lambda v: v.drop_sel(lat=[10]),
    "sortby": lambda v: v.sortby("lat"),
    "sortby two": lambda v: v.sortby(["kind", "lat"], ascending=False),
    "reindex": lambda v: v.reindex(lat=[10, 15, 30]),
    "reindex dates": lambda v: v.reindex(time=DAYS[5:8] + pd.Timedelta("1h"), method="ffill"),
    "reindex fill": lambda v: v.reindex(lat=[10, 99], fill_value=0.0),
    "reindex_like": lambda v: v.reindex_like(V.isel(lat=[0, 1])),
    "interp": lambda v: v.interp(lat=[10, 12.5, 30]),
    "interp dates": lambda v: v.interp(time=DAYS[3:5] + pd.Timedelta("7h")),
    "interp two": lambda v: v.interp(lat=12.0, x=1.5),
    "interp beyond": lambda v: v.interp(lat=[12.0, 40.0]),
    "interp nearest": lambda v: v.interp(lat=[12.0, 29.0], method="nearest"),
    "interp track": lambda v: v.interp(BETWEEN),
    "interp_like": lambda v: v.interp_like(V.isel(lat=[1, 2])),
    "stack": lambda v: v.stack(z=("lat", "x")),
    "stack without labels": lambda v: v.drop_vars("x").stack(z=("x", "lat")),
    "stack and read": lambda v: v.stack(z=("x", "lat")).isel(z=[4, 0, 2]),
    "level": lambda v: v.stack(z=("x", "lat")).sel(lat=10),
    "label of levels": lambda v: v.stack(z=("x", "lat")).sel(z=(2.0, 30)),
    "unstack": lambda v: v.stack(z=("x", "lat")).unstack("z"),
    "unstack a part": lambda v: v.stack(z=("x", "lat")).isel(z=[4, 0, 2]).unstack("z"),
    "groups of levels": lambda v: v.stack(z=("x", "lat")).groupby("lat").sum(),
    "assign_coords": lambda v: v.assign_coords(lat=[1, 2, 3], zone=("lat", [7, 8, 9]), other=5),
    "season": lambda v: v.groupby(time=SeasonGrouper(["DJF", "MAM"])).mean(),
    "grouper of bins": lambda v: v.groupby(hour=BinGrouper([0, 50, 90])).mean(),
    "any": lambda v: (v > 1).groupby("kind").any(),
    "all": lambda v: (v > -1).groupby("kind").all(),
    "map keeps": lambda v: v.groupby("time.month").map(lambda part: part - part.mean("time")),
    "map reduces": lambda v: v.groupby("kind").map(lambda part: part.mean("lat")),
    "groups and more dims": lambda v: v.groupby("time.month").mean(("time", "lat")),
    "groups' variance": lambda v: v.groupby("time.month").var(("time", "lat"), ddof=1),
    "anomaly": lambda v: v.drop_vars("run").groupby("time.month") - v.drop_vars("run").groupby("time.month").mean(),
}
CALLS["two and more dims"] = lambda v: v.groupby(["time.month", "time.year"]).median(("time", "lat"))
CALLS["two groupers"] = lambda v: v.groupby(kind=UniqueGrouper(), hour=BinGrouper([0, 50, 90])).sum()
# xarray's quantiles lose coordinates without dims.
CALLS["month quantile"] = lambda v: v.drop_vars("run").groupby("time.month").quantile(0.3, method="hazen")
CALLS["month quantiles"] = lambda v: v.drop_vars("run").groupby("time.month").quantile([0.3, 1.0])
for _kind in ("sum", "mean", "max", "min", "prod", "var", "std", "count", "median"):  # some groups are empty
    CALLS[f"two {_kind}"] = lambda v, k=_kind: getattr(v.groupby(["time.month", "kind"]), k)()
for _kind in ("sum", "mean", "max", "min", "prod", "var", "std", "median", "count", "first", "last"):
    CALLS[f"month {_kind}"] = lambda v, k=_kind: getattr(v.groupby("time.month"), k)()
    CALLS[f"resample {_kind}"] = lambda v, k=_kind: getattr(v.resample(time="7D"), k)()
for _kind in ("sum", "mean", "max", "count"):  # one bin is empty
    CALLS[f"bins {_kind}"] = lambda v, k=_kind: getattr(v.groupby_bins("hour", [0, 10, 200, 300]), k)()
for _kind in ("sum", "mean", "var", "std", "sum_of_weights", "sum_of_squares"):
    CALLS[f"weighted {_kind}"] = lambda v, k=_kind: getattr(v.weighted(AREA), k)("lat")
CALLS["weighted all"] = lambda v: v.weighted(AREA).mean()

METHODS = {name: call for name, call in CALLS.items() if not name.startswith("map")}


def check(got: Any, want: xr.DataArray) -> None:
    got = got if isinstance(got, xr.DataArray) else got.to_xarray()
    xr.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    assert (got.dims, got.dtype, got.name, got.attrs) == (want.dims, want.dtype, want.name, want.attrs)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_xarray_gives(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = CALLS[name](V)
        check(CALLS[name](xt.as_array(V)), want)
        compiled = xt.jit(CALLS[name])
        check(compiled(xt.as_array(V)), want)
        check(compiled(V), want)


def test_functions_take_dataarrays() -> None:
    check(xt.sel(V, lat=10), V.sel(lat=10))
    check(xt.groupby(V, "kind").mean(), V.groupby("kind").mean())
    check(xt.resample(V, time="MS").sum(), V.resample(time="MS").sum())


def test_labels_are_a_part_of_what_is_compiled() -> None:
    pick = xt.jit(lambda v: v.sel(lat=10).sum())
    other = V.assign_coords(lat=[10, 20, 30])
    for v in (V, other, V, xt.as_array(other)):
        labelled = v if isinstance(v, xr.DataArray) else other
        assert pick(v).item() == pytest.approx(labelled.sel(lat=10).sum().item(), rel=1e-12)
    assert len(pick._compiler.entries) == 2  # the second and the fourth call have equal labels


def test_labels_are_known_inside_of_transforms() -> None:
    want = V.interp(lat=12.5).sum(("x", "time")).item()

    def loss(v: Any) -> Any:
        return v.interp(lat=12.5).sum()

    value, gradient = xt.value_and_grad(loss)(V)
    assert value.item() == pytest.approx(want)
    assert gradient.sel(lat=10).values == pytest.approx(0.75) and gradient.sel(lat=30).values == pytest.approx(0.0)
    xr.testing.assert_equal(gradient.lat, V.lat)
    check(xt.vectorize(lambda v: v.sel(lat=10), "x")(V), V.sel(lat=10))
    _, picked = xt.scan(lambda c, v: (c, v.sel(lat=10)), 0.0, V, dim="x")
    np.testing.assert_array_equal(picked.values, V.sel(lat=10).values)
    both = xt.jit(lambda v: xt.cond(v.sum() > 1e9, lambda v: v.sel(lat=10), lambda v: v.sel(lat=20), v))
    np.testing.assert_array_equal(both(V).values, V.sel(lat=20).values)
    month = xt.jit(lambda v: (2.0 * v).isel(time=slice(3, None)).groupby("time.month").sum())
    check(month(V), (2.0 * V).isel(time=slice(3, None)).groupby("time.month").sum())


def test_dynamic_sizes_and_arrays_from_outside() -> None:
    pick = xt.jit(lambda v: v.sel(lat=10).sum("x"), dynamic_dims="time")
    for n in (70, 5, 40):
        part = V.isel(time=slice(n))
        check(pick(part), part.sel(lat=10).sum("x"))
    assert len(pick._compiler.entries) == 1
    with pytest.raises(xt.LabelError, match=r"'time' has no labels here.*Leave 'time' out of dynamic_dims="):
        xt.jit(lambda v: v.groupby("time.month").sum(), dynamic_dims="time")(V)
    a = xt.as_array(V)
    scaled = xt.jit(lambda s: s * a.groupby("kind").mean())
    for _ in range(3):
        check(scaled(2.0), (2.0 * V.groupby("kind").mean()).rename("heat"))
    rule = xt.custom_derivative(lambda v: v.sel(lat=10))
    rule.defpushforward(lambda primals, tangents: (primals[0].sel(lat=10), 3.0 * tangents[0].sel(lat=10)))
    gradient = xt.grad(lambda v: rule(v).sum())(V)
    assert gradient.sel(lat=10).values.min() == 3.0 and gradient.sel(lat=20).values.max() == 0.0


def test_derivatives() -> None:
    x = xt.as_array(V.isel(time=slice(40), x=0))
    calls: list[Callable[[Any], Any]] = [
        lambda v: v.groupby("time.month").var(),
        lambda v: v.interp(lat=[12.0, 20.0]) ** 2,
        lambda v: v.reindex(lat=[10, 15], fill_value=0.0) ** 2,
        lambda v: v.weighted(AREA).std("lat"),
    ]
    for call in calls:
        # Differences are taken of arrays without labels.
        check_gradients(lambda v, c=call: c(v.assign_coords(time=DAYS[:40], lat=[30, 10, 20])), (x,), order=2)


def test_groups_by_codes_inside_of_a_compiled_function() -> None:
    codes = xt.array(DAYS.month.values - 1, dims="time")

    @xt.jit
    def anomaly(v: Any, codes: Any) -> Any:
        g = v.groupby(codes, num_groups=12, into="month")
        return g - g.mean()

    want = V.groupby("time.month") - V.groupby("time.month").mean()
    np.testing.assert_allclose(anomaly(V, codes).values, want.values, atol=1e-14)
    got = xt.as_array(V).groupby(codes, num_groups=3, into="month").max()
    np.testing.assert_array_equal(got.values, V.groupby("time.month").max().values)
    assert {*got.coords} == {"x", "lat", "kind", "run"}


def test_arithmetic_pairs_elements_with_groups_of_several_coordinates() -> None:
    g = xt.as_array(V).groupby(["kind", "time.month"])
    mean = V.groupby(["kind", "time.month"]).mean()
    want = V.transpose("x", "time", "lat") - mean.sel(kind=V.kind, month=V.time.dt.month).transpose("x", "time", "lat")
    np.testing.assert_allclose((g - g.mean()).values, want.values, atol=1e-14)
    other = g.mean().transpose("month", "x", "kind").isel(month=[2, 0, 1])  # paired by label
    np.testing.assert_allclose((g - other).values, want.values, atol=1e-14)


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min", "mean", "count", "any"])
def test_an_empty_group_by_codes_is_the_same_inside_and_outside_of_a_compiled_function(kind: str) -> None:
    codes = xt.array([0, 0, 2], "time")
    x = xt.array([1, 2, 3], "time")

    def reduced(x: Any, codes: Any) -> Any:
        return getattr(x.groupby(codes, num_groups=3, into="month"), kind)()

    outside, inside = reduced(x, codes), xt.jit(reduced)(x, codes)
    assert outside.dtype == inside.dtype
    np.testing.assert_array_equal(outside.values, inside.values)
    if kind == "sum":
        assert outside.values.tolist() == [3, 0, 3]


def test_nan_is_left_out_on_demand() -> None:
    gaps = V.where(V > 0)
    for kind in ("sum", "mean", "max", "var", "median"):
        want = getattr(gaps.groupby("time.month"), kind)(skipna=True)
        check(getattr(xt.as_array(gaps).groupby("time.month"), kind)(skipna=True), want)
    with xt.option(skipna=True):
        for kind in ("sum", "mean", "max", "min", "var", "std", "median", "prod"):
            want = getattr(gaps.groupby("kind"), kind)()
            check(getattr(xt.as_array(gaps).groupby("kind"), kind)(), want)
            check(getattr(xt.as_array(gaps).groupby("kind"), kind)(...), getattr(gaps.groupby("kind"), kind)(...))
        check(xt.as_array(gaps).weighted(AREA).mean("lat"), gaps.weighted(AREA).mean("lat"))


def test_errors_say_what_is_there_and_what_to_write() -> None:
    a = xt.as_array(V)
    with pytest.raises(xt.LabelError, match=r"dim 'lat' has no label 11; near it are"):
        a.sel(lat=11)
    with pytest.raises(KeyError):
        a.sel(lat=11)
    with pytest.raises(xt.DimensionError, match="no dim 'q'"):
        a.sel(q=1)
    with pytest.raises(xt.LabelError, match=r"dim 'lat' has no labels here.*isel"):
        xt.jit(lambda v: xt.fori_loop(0, 2, lambda i, c: c + c.sel(lat=10), v))(a)
    with pytest.raises(xt.ArgumentTypeError, match="labels along 'lat' have no values while they are traced"):
        xt.jit(lambda v, lat: v.sel(lat=lat))(a, 10)
    with pytest.raises(xt.ArgumentError, match="method is one of"):
        a.interp(lat=[1.0], method="cubic")
    with pytest.raises(xt.ArgumentError, match="a coordinate to group by"):
        a.groupby()
    with pytest.raises(xt.LabelError, match=r"no labels here.*num_groups=12"):
        xt.jit(lambda: xt.zeros(time=3).groupby("time").mean())()
    with pytest.raises(xt.UnsupportedError, match="sizes of groups are not known"):
        codes = xt.array([0, 1, 0], dims="lat")
        xt.jit(lambda v, c: v.groupby(c, num_groups=2).map(lambda part: part))(a, codes)
    with pytest.raises(AttributeError, match=r"map\(lambda part: part.cumsum"):
        a.groupby("kind").cumsum()
    with pytest.raises(xt.ArgumentError, match="grouped by twice"):
        a.groupby(["kind", "kind"])
    for wrong in ("text", None, [1.0]):
        with pytest.raises(
            xt.ArgumentTypeError, match=r"groupby.map: the function returned .* for a group .* Return an"
        ):
            a.groupby("kind").map(lambda part, wrong=wrong: wrong)
    numbers = a.groupby("kind").map(lambda part: part.sizes["time"] * 1.0)
    assert numbers.dims == ("kind",) and set(numbers.values) == {float(a.sizes["time"])}
    with pytest.raises(xt.UnsupportedError, match=r"groupby.map: the groups are of several"):
        a.groupby(["kind", "time.month"]).map(lambda part: part)


@pytest.mark.parametrize(
    "read", [lambda x: x.sel(t=[1, 2]), lambda x: x.drop_sel(t=1), lambda x: x.interp(t=1.5)], ids=["sel", "drop", "in"]
)
def test_labels_that_occur_twice(read: Callable[[Any], Any]) -> None:
    x = xr.DataArray([1.0, 2.0, 3.0], dims="t", coords={"t": [1, 1, 2]})
    for f in (read, xt.jit(read)):
        with pytest.raises(xt.LabelError, match=r"occur twice .*'t' has 3 from 1 to 2"):
            f(xt.as_array(x))


def test_a_bin_without_elements_has_no_first_one() -> None:
    x = xr.DataArray([1, 2, 3], dims="t", coords={"t": [1, 5, 12]})

    def ends(x: Any) -> Any:
        groups = x.groupby_bins("t", [0, 6, 10, 20])
        return groups.first() + groups.last()

    for f in (ends, xt.jit(ends)):
        xr.testing.assert_equal(f(xt.as_array(x)).to_xarray(), ends(x))


def test_between_complex_values() -> None:
    x = xr.DataArray([1j, 2, 4 - 1j], dims="t", coords={"t": [0.0, 1.0, 2.0]})
    found = xt.as_array(x).interp(t=[0.5, 1.25])
    xr.testing.assert_allclose(found.to_xarray(), x.interp(t=[0.5, 1.25]))


# -- calls again ------------------------------------------------------------------------------------------------------


def labelled(start: int, **others: Any) -> xr.DataArray:
    return xr.DataArray(np.arange(4.0), dims="t", coords={"t": np.arange(start, start + 4), **others}, name="q")


def test_a_call_with_labels_that_were_met_runs_compiled_code_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pick = xt.jit(lambda x: x.sel(t=3) * 2)
    a, b = (xt.as_array(labelled(start)) for start in (0, 2))
    for _ in range(3):
        assert (pick(a).item(), pick(b).item()) == (6.0, 2.0)
    monkeypatch.setattr(type(pick._compiler), "call", None)  # what a call falls back to
    for _ in range(2):
        assert (pick(a).item(), pick(b).item()) == (6.0, 2.0)
        assert int(pick(b).coords["t"]) == 3
    with pytest.raises(TypeError):
        pick(xt.as_array(labelled(1)))


def test_labels_of_a_dataarray_choose_the_program_at_each_call() -> None:
    pick = xt.jit(lambda x: x.sel(t=3) + 0)
    traced = xt.jit(lambda x: (x + 0).sel(t=3))
    x = labelled(0)
    for f in (pick, traced):
        for _ in range(3):
            for start in (0, 2, 1):
                xr.testing.assert_identical(f(labelled(start)), labelled(start).sel(t=3) + 0)
            xr.testing.assert_identical(f(x), x.sel(t=3) + 0)
    x.coords["t"] = x.t + 1  # the same object
    xr.testing.assert_identical(pick(x), x.sel(t=3) + 0)
    x.attrs["unit"] = "m"
    x.name = "r"
    assert pick(x).name == "r"
    xr.testing.assert_identical(pick(x), x.sel(t=3) + 0)
    x.attrs["unit"] = "cm"
    xr.testing.assert_identical(pick(x), x.sel(t=3) + 0)


def test_results_do_not_share_coordinates_that_can_be_written_to() -> None:
    pick = xt.jit(lambda x: x.isel(u=0).sel(t=[3, 2]))
    x = labelled(0, height=("t", np.arange(4.0) * 10)).expand_dims(u=2)
    first = pick(x)
    first.height.values[:] = -1.0
    for _ in range(3):
        again = pick(x)
        np.testing.assert_array_equal(again.height, [30.0, 20.0])
        again.height.values[:] = -2.0


CITIES = xr.DataArray([1.0, 2.0, 3.0], dims="city", coords={"city": ["paris", "lyon", "nice"]})
CODES = xt.array([0, 1, 0, 2], "t")
SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "number": (
        lambda: xt.as_array(V).sel(lat=11),
        r"'lat' has no label 11; near it are .*sel\(lat=11, method=\"nearest\"\)",
    ),
    "in a list": (lambda: xt.as_array(V).sel(lat=[10, 11]), "'lat' has no label 11; near it"),
    "spelling": (lambda: xt.sel(CITIES, city="Lyon"), "'city' has no label 'Lyon'; near it is 'lyon'"),
    "other text": (lambda: xt.sel(CITIES, city="rome"), "its 3 labels are 'paris', 'lyon', 'nice'"),
    "far": (
        lambda: xt.as_array(V.sortby("lat")).sel(lat=11, method="nearest", tolerance=0.5),
        "no label 11 within 0.5",
    ),
    "date": (lambda: xt.as_array(V).sel(time="2035-01-01"), "'time' has no label '2035-01-01'; near it is "),
    "no order": (lambda: xt.sel(CITIES, city="x", method="nearest"), r"needs labels in order.*x.sortby\(\"city\"\)"),
    "other kind": (lambda: xt.as_array(V).sel(lat="a"), "'lat' has no label 'a'"),
    "method": (lambda: xt.as_array(V).sel(lat=11, method="near"), "method is 'nearest', 'ffill', 'bfill' or None"),
    "drop": (lambda: xt.as_array(V).drop_sel(lat=[11]), "'lat' has no label 11"),
    "compiled": (lambda: xt.jit(lambda v: v.sel(lat=11))(V), "'lat' has no label 11; near it"),
    "codes": (lambda: xt.ones(t=4).groupby(CODES), r"need num_groups=.*groupby\(codes, num_groups=3\)"),
    "codes inside": (lambda: xt.jit(lambda x, c: x.groupby(c).sum())(xt.ones(t=4), CODES), "need num_groups="),
    "a list of codes": (lambda: xt.ones(t=4).groupby([0, 1, 0, 2]), r"xt.array\(codes, dims=\"t\"\), num_groups=3"),
    "floats": (lambda: xt.ones(t=4).groupby(xt.ones(t=4), num_groups=2), "codes are integers"),
    "a number of groups": (lambda: xt.ones(t=4).groupby(t=3), r"t= takes a grouper.*groupby_bins\(\"t\", 3\)"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said_about_labels_and_groups(name: str) -> None:
    call, says = SAID[name]
    with pytest.raises(xt.Error, match=f"(?s){says}"):
        call()


def heat(start: str, lat: list[float]) -> xr.DataArray:
    times = xr.date_range(start, periods=60)
    values = np.arange(60.0)[:, None] + np.array(lat)
    return xr.DataArray(values, dims=("time", "lat"), coords={"time": times, "lat": lat, "run": 3})


READ_BY_LABEL = {
    "sel": (lambda x: x.sel(lat=40), "lat"),
    "reindex": (lambda x: x.reindex(lat=[40, 50], fill_value=0.0), "lat"),
    "interp": (lambda x: x.interp(lat=45), "lat"),
    "groupby": (lambda x: x.groupby("time.month").mean(), "time"),
    "resample": (lambda x: x.resample(time="MS").sum(), "time"),
    "after a slice": (lambda x: x.isel(lat=slice(0, 2)).sel(lat=40), "lat"),
}


@pytest.mark.cpu_only("bundles hold code for CPUs")
@pytest.mark.parametrize("name", READ_BY_LABEL)
def test_a_bundle_reads_by_the_labels_of_its_export_and_no_others(name: str) -> None:
    f, dim = READ_BY_LABEL[name]
    exported, other = heat("2000-01-01", [20, 40, 60]), heat("2001-06-15", [40, 50, 60])
    loaded = xt.load(xt.export(f, args=(exported,), name="one"))
    wanted = xt.jit(f)(exported).values
    same = exported.assign_coords(lat=[20.0, 40.0, 60.0], run=7)  # other numbers of bits, and no label along the dim
    alike = other.assign_coords({dim: exported[dim]})
    for x in (exported, same, xt.as_array(exported), alike.copy(data=exported.values)):
        for run in (loaded, loaded, xt.jit(lambda x: loaded(x))):  # the second call may go another way
            np.testing.assert_array_equal(run(x).values, wanted)
    np.testing.assert_array_equal(loaded(xt.array(exported.values, ("time", "lat"))).values, wanted)
    for x in (other, xt.as_array(other), exported.assign_coords({dim: other[dim]})):
        for run in (loaded, xt.jit(lambda x: loaded(x)), xt.grad(lambda x: loaded(x).sum())):
            with pytest.raises(xt.LabelError, match=f"argument x has other labels along '{dim}'"):
                run(x)


def test_windows_longer_than_a_dim_keep_its_coordinates() -> None:
    for values in ([1.0], [1.0, 2.0]):
        x = xr.DataArray(values, dims="t", coords={"t": np.arange(len(values)) + 5})
        found = xt.as_array(x).rolling(t=3).mean().to_xarray()
        xr.testing.assert_identical(found, x.rolling(t=3).mean())


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("kind", ["first", "last"])
@pytest.mark.parametrize("dims", ["t", "tx", "xt"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_first_and_last_of_groups_with_nan(dims: str, dtype: str, kind: str, skipna: bool) -> None:
    """By labels, dates and codes: of each position along the other dims, as in xarray. The last group is all NaN."""
    rng, shape = np.random.default_rng(0), [{"t": 8, "x": 3}[d] for d in dims]
    days, codes = xr.date_range("2020-01-28", periods=8), [0, 1, 1, 0, 2, 2, 5, 5]
    x = xr.DataArray(rng.integers(0, 9, shape), dims=tuple(dims), coords={"t": days, "k": ("t", codes)}).astype(dtype)
    if dtype != "i8":
        x = x.where(rng.random(shape) > 0.4).where(x.k != 5)
    for group in (lambda v: v.groupby("k"), lambda v: v.resample(t="MS")):
        want = getattr(group(x), kind)(skipna=skipna)
        pick = lambda v: getattr(group(v), kind)(skipna=skipna)  # noqa: B023, E731 (called in this round)
        xr.testing.assert_identical(pick(xt.as_array(x)).to_xarray(), want)
        xr.testing.assert_identical(xt.jit(pick)(x), want)
        with xt.option(skipna=skipna):
            xr.testing.assert_identical(getattr(group(xt.as_array(x)), kind)().to_xarray(), want)
    want = getattr(x.groupby("k"), kind)(skipna=skipna).values
    pick = lambda v, k: getattr(v.groupby(k, num_groups=6, into="k"), kind)(skipna=skipna)  # noqa: E731
    values, k = xt.array(x.values, dims=x.dims), xt.array(codes, dims="t")
    for found in (pick(values, k), xt.jit(pick)(values, k)):
        np.testing.assert_array_equal(found.isel(k=[0, 1, 2, 5]).values, want)


def test_groups_of_other_labels_are_not_paired_by_position() -> None:
    """xarray refuses them, too."""
    x = xr.DataArray([1.0, 2.0, 3.0], dims="t", coords={"t": [1, 2, 3]})
    kind = xr.DataArray([0, 0, 1], dims="t", coords={"t": [2, 3, 4]}, name="kind")
    calls: list[Callable[[Any, Any], Any]] = [
        lambda v, k: xt.groupby(v, k),
        lambda v, k: xt.groupby(v, xt.as_array(k)),
        lambda v, k: xt.groupby_bins(v, k, [-1, 0, 1]),
        lambda v, k: xt.groupby(v, k, num_groups=2),
        lambda v, k: xt.groupby(v, xt.as_array(k), num_groups=2),
    ]
    with pytest.raises(ValueError, match="does not match"):
        x.groupby(kind).sum()
    for call in calls:
        for v in (x, xt.as_array(x)):
            with pytest.raises(xt.DimensionError, match="the labels of dim 't' differ between the array and what"):
                call(v, kind)
            with pytest.raises(xt.SizeError, match="dim 't' has size 3 in the array and 2 in what it is grouped by"):
                call(v, kind.drop_vars("t")[:2])
            for k in (kind.drop_vars("t"), kind.assign_coords(t=x.t)):
                np.testing.assert_array_equal(np.asarray(call(v, k).sum().values), [3.0, 3.0])
    with pytest.raises(xt.DimensionError, match="differ between the array and what"):
        xt.jit(lambda v: v.groupby(kind).sum())(x)
    with pytest.raises(xt.DimensionError, match="differ between the operands"):
        xt.jit(lambda v, k: v.groupby(k, num_groups=2).sum())(x, kind)


REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        k: lambda g, dim, k=k: getattr(g, k)(dim) for k in ("sum", "prod", "max", "min", "mean", "var", "std", "median")
    },
    "quantile": lambda g, dim: g.quantile(0.3, dim),
    "count": lambda g, dim: g.count(dim),
    "any": lambda g, dim: g.any(dim),
    "all": lambda g, dim: g.all(dim),
}


@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("dim", ["lat", "time", ("time", "lat"), ..., None])
def test_the_dims_that_groups_reduce_are_xarrays(kind: str, dim: Any) -> None:
    x = xr.DataArray(
        np.random.default_rng(0).integers(0, 9, (6, 4)) / 2.0,
        dims=("time", "lat"),
        coords={"time": pd.date_range("2020-01-01", periods=6, freq="20D"), "lat": [1.0, 2.0, 3.0, 4.0]},
        name="h",
    )
    want = REDUCTIONS[kind](x.groupby("time.month"), dim).drop_vars("quantile", errors="ignore")
    f = REDUCTIONS[kind]
    a = xt.as_array(x)
    for got in (f(a.groupby("time.month"), dim), xt.jit(lambda a: f(a.groupby("time.month"), dim))(a)):
        xr.testing.assert_allclose(got.to_xarray().drop_vars("quantile", errors="ignore"), want)
    xr.testing.assert_allclose(f(xt.groupby(x, "time.month"), dim).drop_vars("quantile", errors="ignore"), want)


def test_groups_that_keep_their_dim_have_nan_outside_of_all_groups() -> None:
    x = xt.as_array(xr.DataArray(np.arange(6.0).reshape(3, 2), dims=("lat", "k"), coords={"lat": [1.0, 2.0, 9.0]}))
    np.testing.assert_array_equal(x.groupby_bins("lat", [0, 1.5, 4]).sum("k").values, [1.0, 5.0, np.nan])
    codes = xt.array([[0, 1], [1, 0], [2, 2]], ("lat", "k"))
    with pytest.raises(xt.DimensionError, match="lacks 'lat'"):
        x.groupby(codes, num_groups=3).sum("k")


@pytest.mark.parametrize("kind", ["mean", "std", "median", "first", "count"])
@pytest.mark.parametrize("labels", [[1.0, 2.0, 5.0], [3.0, 2.0, 1.0], [1.0, 2.0, 2.0], None])
def test_groups_of_one_element_keep_coordinates(labels: Any, kind: str) -> None:
    coords = {"region": ("lat", list("aab")), "area": (("lat", "k"), np.ones((3, 2))), "run": 2}
    x = xr.DataArray(np.arange(6.0).reshape(3, 2), dims=("lat", "k"), coords=coords, name="h")
    x = x if labels is None else x.assign_coords(lat=labels)
    want = getattr(x.groupby("lat"), kind)()
    a = xt.as_array(x)
    found = [getattr(a.groupby("lat"), kind)()]
    if labels is not None:  # a compiled function needs labels
        found.append(xt.jit(lambda a: getattr(a.groupby("lat"), kind)())(a))
    for got in found:
        xr.testing.assert_allclose(got.to_xarray(), want)
        assert set(got.coords) == set(want.coords)


def test_groups_in_another_order_than_the_dim_lose_its_other_coordinates() -> None:
    # xarray keeps them in the order of the dim, beside groups that they do not belong to.
    x = xr.DataArray([0.0, 1.0, 2.0], dims="lat", coords={"lat": [3, 1, 2], "region": ("lat", list("abc"))})
    got = xt.as_array(x).groupby("lat").mean()
    assert (set(got.coords), got.coords["lat"].values.tolist()) == ({"lat"}, [1, 2, 3])


def test_groups_of_arrays_without_labels_make_no_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    x, codes = xt.array(np.arange(8.0).reshape(4, 2), dims=("a", "b")), xt.array([0, 1, 0, 7], dims="a")

    def refuse(*_: object) -> None:
        raise AssertionError("a stand-in takes some 100 us")

    expected = xt.jit(lambda x, codes: x.groupby(codes, num_groups=2).mean())(x, codes)
    monkeypatch.setattr("xtensor.ops.standin.StandIn.__init__", refuse)
    groups = x.groupby(codes, num_groups=2)
    np.testing.assert_array_equal(groups.mean().values, expected.values)
    np.testing.assert_array_equal((groups - groups.mean()).values, [[-2, -2], [0, 0], [2, 2], [np.nan, np.nan]])
