"""Statistics, and functions of samples along a dim, against NumPy: one table for all."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, finished, named, ours, same
from composites import Composites, Row, ascending, spread
from hypothesis import given
from hypothesis import strategies as st
from xtensor.testing import check_gradients

X = spread(c=3, t=8)
Y = spread(t=8, seed=1)
W = spread(t=8, seed=2, low=0.2, high=2.0)
T = ascending("t", 8)
K, F = ascending("k", 6), spread(k=6, seed=3)
COUNTED = xt.array(np.array([[3, 0, 3, 1], [5, 1, 1, 3]]), ("a", "b"))
WEIGHTS = spread(b=4, low=0.5, high=3.0)
COEFFS = spread(degree=4, c=2)
PLACES = spread(t=9, low=-1.0, high=9.0)


def stacked_fits(x: Any, y: Any, deg: int, w: Any = None) -> Any:
    return np.polyfit(x, y.T, deg, w=w)


def averaged(x: Any, w: Any, axis: int | None) -> Any:
    return np.average(x, axis, np.broadcast_to(w, x.shape))


TABLE: dict[str, Row] = {
    "average": Row(lambda x: xt.average(x, "t"), lambda x: x.mean(1), (X,), ("c",), open=("t", "c")),
    "average weighted": Row(lambda x, w: xt.average(x, "t", w), lambda x, w: averaged(x, w, 1), (X, W), open=("t",)),
    "average of all": Row(lambda x, w: xt.average(x, None, w), lambda x, w: averaged(x, w, None), (X, W), open=("c",)),
    "cov": Row(lambda x, y: xt.cov(x, y), lambda x, y: np.cov(x, y)[0, 1], (Y, W), (), open=("t",)),
    "cov of pairs": Row(lambda x: xt.cov(x, x.rename(c="d"), "t"), np.cov, (X,), ("c", "d"), open=("t",)),
    "cov ddof": Row(
        lambda x, y: xt.cov(x, y, "t", ddof=0), lambda x, y: np.array([np.cov(r, y, ddof=0)[0, 1] for r in x]), (X, Y)
    ),
    "cov weighted": Row(
        lambda x, y, w: xt.cov(x, y, "t", weights=w) * (7 / 8),
        lambda x, y, w: np.cov(x, y, aweights=w, ddof=0)[0, 1],
        (Y, xt.array(W.values + Y.values * 0.5, "t"), W),
    ),
    "corr": Row(lambda x: xt.corr(x, x.rename(c="d"), "t"), np.corrcoef, (X,), ("c", "d"), open=("t",), smooth=False),
    "corr of two": Row(lambda x, y: xt.corr(x, y), lambda x, y: np.corrcoef(x, y)[0, 1], (Y, W)),
    "histogram": Row(lambda x: xt.histogram(x, 4), lambda x: np.histogram(x, 4), (X,), ("bin",), smooth=False),
    "histogram range": Row(
        lambda x: xt.histogram(x, 5, range=(-1, 1.5), density=True)[0],
        lambda x: np.histogram(x, 5, (-1, 1.5), density=True)[0],
        (X,),
        smooth=False,
        open=("c", "t"),
    ),
    "histogram edges": Row(
        lambda x, e, w: xt.histogram(x, xt.cumsum(e, "edge"), weights=w, dim="t")[0],
        lambda x, e, w: np.array([np.histogram(r, np.cumsum(e), weights=w)[0] for r in x]),
        (X, xt.array([-2.0, 1.0, 1.5, 0.7], "edge"), W),
        ("c", "bin"),
        smooth=False,
        alone=False,
    ),
    "histogram's weights": Row(
        lambda w: xt.histogram(Y, 3, weights=w)[0] * w.sum(),
        lambda w: np.histogram(Y.values, 3, weights=w)[0] * w.sum(),
        (W,),
    ),
    "bincount": Row(
        lambda i: xt.bincount(i, length=7),
        lambda i: np.bincount(i.ravel(), minlength=7),
        (COUNTED,),
        ("bin",),
        open=("a",),
    ),
    "bincount weighted": Row(
        lambda i, w: xt.bincount(i, w, length=6, dim="b") * w.sum(),
        lambda i, w: np.array([np.bincount(r, w, 6) for r in i]) * w.sum(),
        (COUNTED, WEIGHTS),
        ("a", "bin"),
        open=("b",),
    ),
    "interp": Row(lambda x, k, f: xt.interp(x, k, f), np.interp, (PLACES, K, F), ("t",), open=("t", "k")),
    "interp outside": Row(
        lambda x, k, f: xt.interp(x, k, f, -1.0, 9.0), lambda x, k, f: np.interp(x, k, f, -1.0, 9.0), (PLACES, K, F)
    ),
    "interp period": Row(
        lambda x, k, f: xt.interp(x, k, f, period=2.5),
        lambda x, k, f: np.interp(x, k, f, period=2.5),
        (PLACES, K, F),
        open=("t", "k"),
    ),
    "interp of rows": Row(
        lambda x, k, f: xt.interp(x, k, f, dim="k"),
        lambda x, k, f: np.array([np.interp(x, k, row) for row in f]).T,
        (PLACES, K, spread(c=2, k=6)),
        ("t", "c"),
    ),
    "trapezoid": Row(
        lambda x: xt.trapezoid(x, dx=0.5, dim="t"), lambda x: np.trapezoid(x, dx=0.5), (X,), ("c",), open=("t", "c")
    ),
    "trapezoid at": Row(lambda x, t: xt.trapezoid(x, t, dim="t"), np.trapezoid, (X, T), ("c",), open=("t",)),
    "gradient": Row(lambda x: xt.gradient(x, "t"), lambda x: np.gradient(x, axis=1), (X,), ("c", "t"), open=("t",)),
    "gradient 2": Row(
        lambda x: xt.gradient(x, "t", 0.5, edge_order=2),
        lambda x: np.gradient(x, 0.5, axis=1, edge_order=2),
        (X,),
        open=("t",),
    ),
    "gradient at": Row(
        lambda x, t: xt.gradient(x, "t", t), lambda x, t: np.gradient(x, t, axis=1), (X, T), ("c", "t"), open=("t",)
    ),
    "gradient at 2": Row(
        lambda x, t: xt.gradient(x, "t", t, edge_order=2), lambda x, t: np.gradient(x, t, axis=1, edge_order=2), (X, T)
    ),
    "gradient of all": Row(lambda x: xt.gradient(x), np.gradient, (X,), open=("t",)),
    "polyfit": Row(
        lambda t, x: xt.polyfit(t, x, 2), lambda t, x: stacked_fits(t, x, 2), (T, X), ("degree", "c"), open=("t",)
    ),
    "polyfit weighted": Row(
        lambda t, x, w: xt.polyfit(t, x, 1, "t", w), lambda t, x, w: stacked_fits(t, x, 1, w), (T, X, W), order=1
    ),
    "polyval": Row(
        lambda x, c: xt.polyval(x, c),
        lambda x, c: np.stack([np.polyval(row, x) for row in c.T], 1),
        (Y, COEFFS),
        ("t", "c"),
        open=("t",),
    ),
    "unique": Row(
        lambda i: xt.unique(i, size=4, return_index=True, return_inverse=True, return_counts=True),
        lambda i: np.unique(i, return_index=True, return_inverse=True, return_counts=True),
        (COUNTED,),
        ("unique",),
    ),
    "unique values": Row(
        lambda x: xt.sin(xt.unique(x, size=8)),
        lambda x: np.sin(np.unique(x)),
        (Y,),
        ("unique",),
        open=("t",),
        alone=False,
    ),
    "nonzero": Row(lambda i: xt.nonzero(i, size=7), np.nonzero, (COUNTED,), ("nonzero",), open=("b",)),
    "argpartition": Row(
        lambda x: xt.sin(x.isel(t=xt.argpartition(x, 2).isel(t=2))), lambda x: np.sin(np.partition(x, 2)[2]), (Y,), ()
    ),
    "meshgrid": Row(
        lambda x, k: xt.meshgrid(x, k), lambda x, k: np.meshgrid(x, k, indexing="ij"), (Y, K), ("t", "k"), open=("t",)
    ),
}


class TestComposites(Composites):
    table = TABLE


# -- quantiles --------------------------------------------------------------------------------------------------------

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


@pytest.mark.float64
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 5, 10])
@pytest.mark.sampled(14)
def test_quantile_by_all_methods(n: int, method: str) -> None:
    """Places between elements, at elements, and at the ends; with NaN left out, n is known only when it runs."""
    levels = [0, 0.1, 0.3, 0.5, 0.7, 2 / 3, 0.9, 1]
    x = spread(n=n).values
    want = np.quantile(x, levels, method=method)
    got = xt.quantile(xt.array(x, "n"), levels, method=method)
    np.testing.assert_allclose(got.values, want, rtol=1e-12, atol=1e-12)
    gaps = np.stack([x, np.full(n, np.nan)], 1).reshape(-1)
    got = xt.array(gaps, "n").quantile(levels, method=method, skipna=True)
    np.testing.assert_allclose(got.values, want, rtol=1e-12, atol=1e-12)


# -- edges of the arguments -------------------------------------------------------------------------------------------


@examples(20)
@given(named(("f4", "f8", "i4"), least=1), st.sampled_from([1, 3, 10]))
def test_histogram_of_any_numbers(x: Any, bins: int) -> None:
    """Ties and numbers on edges; float32 is counted in its own edges."""
    counts, edges = xt.histogram(ours(x), bins)
    want, places = np.histogram(x.values, bins)
    np.testing.assert_allclose(edges.values, places, rtol=1e-6, atol=1e-6)
    if x.dtype != "f4":
        np.testing.assert_array_equal(counts.values, want)
    assert counts.values.sum() == x.size


def test_nan_and_skipping() -> None:
    x, y = X.values.copy(), Y.values.copy()
    x[0, 2] = x[1, 5] = y[3] = np.nan
    a, b = xt.array(x, ("c", "t")), xt.array(y, "t")
    assert np.isnan(xt.cov(a, b, "t").values).all()
    want = []
    for row in x:
        there = ~np.isnan(row) & ~np.isnan(y)
        want.append((np.cov(row[there], y[there])[0, 1], np.corrcoef(row[there], y[there])[0, 1]))
    got = [f(a, b, "t", skipna=True).values for f in (xt.cov, xt.corr)]
    np.testing.assert_allclose(got, np.transpose(want), rtol=1e-12)
    w = W.values
    want_mean = [np.average(row[~np.isnan(row)], weights=w[~np.isnan(row)]) for row in x]
    np.testing.assert_allclose(xt.average(a, "t", W, skipna=True).values, want_mean, rtol=1e-12)
    with xt.option(skipna=True):
        np.testing.assert_allclose(xt.cov(a, b, "t").values, got[0])
    counts, _ = xt.histogram(a, 3, range=(-3, 3))
    assert counts.values.sum() == np.isfinite(x).sum()
    assert np.isnan(xt.interp(b, K, F).values).sum() == 1
    values = xt.unique(xt.array([np.nan, 1.0, np.nan], "i"))
    np.testing.assert_array_equal(values.values, [1.0, np.nan])


@pytest.mark.parametrize("places", ([0.0, 1, 2], [0.0, 0, 2], [0.0, 1, 1], [1.0, 1, 1]))
def test_interp_of_values_that_are_not_finite(places: list[float]) -> None:
    at = np.array([-1, 0, 0.25, 1, 1.5, 2, 3])
    for f in itertools.product([0.5, -2.0, np.nan, np.inf, -np.inf], repeat=3):
        parts = np.array([f, f[::-1]]).T.copy()
        for values in (parts[:, 0], parts.view("complex128")[:, 0]):
            got = xt.interp(xt.array(at, dims="at"), xt.array(places, dims="t"), xt.array(values, dims="t"))
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(got.values, np.interp(at, places, values))


@pytest.mark.parametrize("open", ((), ("t",)))
def test_trapezoid_of_one_sample(open: tuple[str, ...]) -> None:
    f = xt.jit(lambda x: xt.trapezoid(x, dim="t"), dynamic_dims=open)
    assert f(xt.array([np.nan], dims="t")).item() == 0
    assert f(xt.array([1.0, 2.0, 4.0], dims="t")).item() == 4.5


def test_sizes_from_values() -> None:
    """Outside of a traced function the values say how many there are."""
    assert xt.bincount(COUNTED).sizes == {"bin": 6}
    assert xt.unique(COUNTED).sizes == {"unique": 4}
    found = xt.nonzero(COUNTED, dim="event")
    assert found["a"].sizes == {"event": 7}
    np.testing.assert_array_equal(COUNTED.isel(found).values, COUNTED.values[COUNTED.values != 0])
    padded = xt.unique(COUNTED, size=6, fill_value=-1)
    np.testing.assert_array_equal(padded.values, [0, 1, 3, 5, -1, -1])
    np.testing.assert_array_equal(xt.unique(COUNTED, size=6).values, [0, 1, 3, 5, 0, 0])
    np.testing.assert_array_equal(xt.unique(COUNTED, size=2, mode="drop").values, [0, 1])
    np.testing.assert_array_equal(xt.nonzero(COUNTED, size=8, fill_value=-1)["b"].values[-1], -1)
    np.testing.assert_array_equal(xt.bincount(COUNTED, length=2, mode="drop").values, [1, 3])
    np.testing.assert_array_equal(xt.bincount(COUNTED - 2, length=3, mode="clip").values, [4, 3, 1])
    empty = xt.array(np.zeros(0, "i8"), "n")
    assert [xt.bincount(empty).size, xt.unique(empty).size, xt.nonzero(empty)["n"].size] == [0, 0, 0]


@pytest.mark.parametrize(("number", "compiled"), [(-1, False), (-7, True), (3, False)])
def test_a_number_without_a_bin_is_told(number: int, compiled: bool) -> None:
    count = lambda x: xt.bincount(x, length=3)  # noqa: E731
    x = xt.array([0, number], "n")
    with pytest.raises(
        xt.IndexError, match=f"xt.bincount: index {number} is out of range for size 3 of dim 'bin'.*0 to"
    ):
        finished((xt.jit(count) if compiled else count)(x))


@pytest.mark.parametrize("compiled", [False, True])
def test_what_has_no_bin_is_told_with_the_arrays_that_are_counted(compiled: bool) -> None:
    """And not with those that the function made of them."""

    def count(x: xt.Array, w: xt.Array) -> xt.Array:
        return xt.bincount(x, w, length=3)

    x, w = xt.array([0, 7], "n", dtype="u1"), xt.ones(n=2, dtype="f4")
    with pytest.raises(xt.IndexError, match=r"operands: uint8 \(n: 2\), float32 \(n: 2\)\)"):
        finished((xt.jit(count) if compiled else count)(x, w))


def test_labels_of_coefficients() -> None:
    """As in xarray, they are powers; without labels the highest power comes first."""

    x = xr.DataArray(Y.values, dims="t", coords={"t": np.arange(8) * 0.5})
    c = xr.DataArray([1.0, -2.0, 0.5], dims="degree", coords={"degree": [0, 1, 2]})
    xr.testing.assert_allclose(xt.polyval(x, c), xr.polyval(x, c))
    np.testing.assert_allclose(xt.polyval(Y, xt.as_array(c[::-1])).values, xr.polyval(x, c).values)
    fitted = x.polyfit("t", 2).polyfit_coefficients
    np.testing.assert_allclose(xt.polyfit(x.t, x, 2).values, fitted.values)


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "bincount": (
        lambda: xt.jit(lambda i: xt.bincount(i))(COUNTED),
        xt.ArgumentTypeError,
        r"xt.bincount: length= is needed",
    ),
    "bincount out of range": (
        lambda: finished(xt.bincount(COUNTED, length=5)),
        xt.IndexError,
        r"index 5 .*size 5 .*'bin'",
    ),
    "bincount of negative": (lambda: finished(xt.bincount(COUNTED - 1, length=9)), xt.IndexError, r"'bin'"),
    "bincount of floats": (lambda: xt.bincount(X), xt.DTypeError, "counts integers, not float64"),
    "unique": (lambda: xt.jit(lambda i: xt.unique(i))(COUNTED), xt.ArgumentTypeError, "xt.unique: size= is needed"),
    "too many values": (
        lambda: finished(xt.unique(COUNTED, size=3)),
        xt.IndexError,
        "index 3 .*size 3 of dim 'unique'",
    ),
    "too many places": (
        lambda: finished(xt.nonzero(COUNTED, size=6)),
        xt.IndexError,
        "index 6 .*size 6 of dim 'nonzero'",
    ),
    "histogram of none": (lambda: xt.histogram(X, 0), xt.ArgumentError, "bins is 1 or more"),
    "histogram's range": (lambda: xt.histogram(X, range=(2, 1)), xt.ArgumentError, "range is"),
    "one edge": (lambda: xt.histogram(X, [1.0]), xt.ArgumentError, "two edges"),
    "a new dim": (
        lambda: xt.bincount(COUNTED, dim="a", bin="b", length=6),
        xt.DimensionError,
        "'b' is a dim of the array",
    ),
    "no points": (lambda: xt.interp(Y, K.isel(k=slice(0)), F.isel(k=slice(0))), xt.SizeError, "no points"),
    "sides of a cycle": (
        lambda: xt.interp(Y, K, F, 0.0, period=1.0),
        xt.ArgumentError,
        "left= and right= do not go with period=",
    ),
    "gradient of one": (
        lambda: xt.gradient(Y.isel(t=slice(1)), "t"),
        xt.SizeError,
        "size 1; at least 2 elements are needed",
    ),
    "edge_order": (lambda: xt.gradient(Y, "t", edge_order=3), xt.ArgumentError, "edge_order is 1 or 2"),
    "spacing of one": (lambda: xt.gradient(X, spacing={"c": 1.0}), xt.ArgumentError, "no spacing for 't'"),
    "arguments of NumPy": (lambda: xt.polyval(COEFFS, Y), xt.DimensionError, "no dim 'degree'|dims"),
    "meshgrid": (lambda: xt.meshgrid(Y, X), xt.DimensionError, "one dim each"),
    "argpartition": (lambda: xt.argpartition(Y, 9), xt.SizeError, "kth is 9"),
    "a method": (lambda: xt.quantile(Y, 0.5, method="type7"), xt.ArgumentError, "no method 'type7'.*hazen"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_arguments(name: str) -> None:
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        call()


def test_results_of_dataarrays_keep_their_labels() -> None:

    x = xr.DataArray(X.values, dims=("c", "t"), coords={"c": list("abc"), "t": T.values})
    got = xt.cov(x, x.rename(c="d"), "t")
    assert list(got.c.values) == list(got.d.values) == list("abc")
    assert list(xt.gradient(x, "t", x.t).t.values) == list(T.values)
    assert list(xt.trapezoid(x, x.t, dim="t").c.values) == list("abc")
    assert list(xt.bincount(x.astype("i8") + 2, length=5, dim="t").c.values) == list("abc")
    assert "bin" not in xt.histogram(x, 3)[0].coords
    same(xt.average(x, "t").drop_vars("c"), x.mean("t").drop_vars("c"))


@pytest.mark.float64
def test_statistics_of_complex_numbers() -> None:
    rng = np.random.default_rng(0)
    z, w = rng.normal(size=(2, 9)) + 1j * rng.normal(size=(2, 9))
    x, y = xt.array(z, dims="t"), xt.array(w, dims="t")
    np.testing.assert_allclose(xt.cov(x, y).item(), np.cov(z, w)[0, 1])
    np.testing.assert_allclose(xt.corr(x, y).item(), np.corrcoef(z, w)[0, 1])
    at, places = np.array([0.5, -1.0, 3.25]), np.arange(9.0)
    got = xt.interp(xt.array(at, dims="at"), xt.array(places, dims="t"), x)
    np.testing.assert_allclose(got.values, np.interp(at, places, z))
    with pytest.raises(xt.DTypeError, match=r"xt\.histogram: complex numbers have no order"):
        xt.histogram(x, 3)
    with pytest.raises(xt.DTypeError, match=r"xt\.interp: complex numbers have no order"):
        xt.interp(x, xt.array(places, dims="t"), x)


def test_counts_of_the_largest_integers() -> None:
    x = xt.array(np.array([2**64 - 1, 1, 2], "u8"), dims="t")
    for f in (xt.bincount, xt.jit(xt.bincount, static=("length", "mode"))):
        assert f(x, length=3, mode="drop").values.tolist() == [0, 1, 1]
        assert f(x, length=3, mode="clip").values.tolist() == [0, 1, 2]


def test_bins_lie_between_finite_elements_and_ascend() -> None:
    x = xt.array([np.nan, 1.0, 2.0, np.inf, -np.inf], dims="t")
    for f in (xt.histogram, xt.jit(xt.histogram, static="bins")):
        counts, edges = f(x, bins=2)
        assert counts.values.tolist() == [1, 1] and edges.values.tolist() == [1.0, 1.5, 2.0]
    assert xt.histogram(xt.array([np.nan], dims="t"), 2)[0].values.tolist() == [0, 0]
    for edges in ([3.0, 1.0, 2.0], xt.array([3.0, 1.0], dims="e")):
        with pytest.raises(xt.ArgumentError, match="the edges do not ascend"):
            xt.histogram(x, edges)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "samples", [[1, 2, 4, np.nan, 7, 8, 9], [1, 2, 4, 5, 7, np.inf, 9], [np.inf, 1, 4], [3, np.nan, 1]]
)
def test_gradients_of_samples_that_are_missing(samples: list[float], order: int) -> None:
    """Between two neighbours the sample itself has no part, and at the ends infinities keep their sign."""
    x = xt.array(samples, "t", dtype="f8")
    with np.errstate(invalid="ignore"):
        expected = np.gradient(np.array(samples, "f8"), 0.5, edge_order=order)
    np.testing.assert_array_equal(xt.gradient(x, "t", 0.5, edge_order=order).values, expected)
    run = xt.jit(lambda x: xt.gradient(x, "t", 0.5, edge_order=order), dynamic_dims=("t",))
    np.testing.assert_array_equal(run(x).values, expected)


@pytest.mark.parametrize("open", [(), ("t",)])
def test_gradient_of_two_samples_at_places(open: tuple[str, ...]) -> None:
    x, places = np.array([1.0, 3.0]), np.array([0.5, 4.5])
    f = xt.jit(lambda x, p: xt.gradient(x, "t", spacing=p), dynamic_dims=open)
    np.testing.assert_allclose(f(xt.array(x, "t"), xt.array(places, "t")).values, np.gradient(x, places))
    slope = xt.jit(xt.grad(lambda x, p: xt.gradient(x, "t", spacing=p).isel(t=0)), dynamic_dims=open)
    np.testing.assert_allclose(slope(xt.array(x, "t"), xt.array(places, "t")).values, [-0.25, 0.25])


def test_a_fit_leaves_out_nan_as_xarray_does() -> None:
    t = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 6.0])
    y = np.random.default_rng(0).normal(size=(6, 4))
    y[1, 0] = y[2, 1] = y[5, 1] = np.nan
    y[3:, 2], y[:, 3] = np.nan, np.nan  # as many samples as coefficients, and none
    x = xr.DataArray(y, dims=("t", "c"), coords={"t": t})
    w = xt.array(np.linspace(0.5, 2.0, 6), "t")
    want = x.polyfit("t", 2).polyfit_coefficients.values
    np.testing.assert_allclose(xt.polyfit(x.t, x, 2, skipna=True).values, want, rtol=1e-9, atol=1e-12)
    got = xt.polyfit(x.t, x, 2, w=w, skipna=True).values
    kept = [i for i in range(6) if i != 1]
    np.testing.assert_allclose(got[:, 0], np.polyfit(t[kept], y[kept, 0], 2, w=w.values[kept]), rtol=1e-9)
    with xt.option(skipna=True):
        np.testing.assert_array_equal(xt.polyfit(x.t, x, 2).values, xt.polyfit(x.t, x, 2, skipna=True).values)
        assert np.isnan(xt.polyfit(x.t, x, 2, skipna=False).values[:, 0]).all()
    assert np.isnan(xt.polyfit(x.t, x, 2).values).all()
    places = xt.array(t, "t")
    check_gradients(lambda y: xt.polyfit(places, y, 1, skipna=True), (xt.array(y[:, 1], "t"),), order=1)


@pytest.mark.parametrize("weights", [None, ("t",), ("t", "b")])
def test_series_without_nan_share_one_matrix(weights: tuple[str, ...] | None) -> None:
    """Also where NaN would be left out: the program has a matrix for all series, and one for each."""
    rng = np.random.default_rng(0)
    t, y = xt.array(rng.random(6), "t"), xt.array(rng.normal(size=(6, 3)), ("t", "c"))
    w = None if weights is None else xt.array(rng.random((6, 2)[: len(weights)]) + 0.5, weights)
    f = xt.jit(lambda t, y: xt.polyfit(t, y, 1, w=w, skipna=True))
    matrices = re.findall(r"xtensor.pinv .*<(.*)>", f.lower(t, y).as_text("traced"))
    assert sorted("c: 3" in matrix for matrix in matrices) == [False, True]
    want = xt.polyfit(t, y, 1, w=w)
    holes = xt.where(xt.array(np.eye(6, 3), ("t", "c")) > 0, np.nan, y)
    assert f(t, y).dims == f(t, holes).dims
    np.testing.assert_allclose(f(t, y).transpose(*want.dims).values, want.values, rtol=1e-12)
    check_gradients(f, (t, y), order=1)
    with_one = xt.concat([y.isel(c=[0, 1]), y.isel(c=[2]) + xt.array([0.0, np.nan, 0, 0, 0, 0], "t")], "c")
    kept = f(t, with_one).transpose(*want.dims).isel(c=[0, 1])
    np.testing.assert_allclose(kept.values, want.isel(c=[0, 1]).values, rtol=1e-9, atol=1e-12)


def test_options_forbid_weights_and_means_of_other_dims() -> None:
    t, key = xt.arange(4.0, dim="time"), xt.random.key(0)
    with xt.option(outer="forbid"):
        with pytest.raises(xt.DimensionError, match=r"xt\.polyfit: an outer product over .* and \['tim'\]"):
            xt.polyfit(t, t * 2.0, 1, w=xt.ones(tim=4))
        with pytest.raises(xt.DimensionError, match=r"multivariate_normal: an outer product over \['feature'\]"):
            xt.random.multivariate_normal(key, xt.ones(feature=3), xt.eye(row=3, col=3))
        with pytest.raises(xt.DimensionError, match=r"layer_norm: an outer product"):
            xt.nn.layer_norm(xt.ones(sample=2, feature=3), "feature", xt.ones(feat=3))
        assert xt.polyfit(t, xt.ones(time=4, c=2), 1, w=t).dims == ("degree", "c")
        assert xt.random.multivariate_normal(key, xt.ones(row=3, batch=2), xt.eye(row=3, col=3)).dims == (
            "batch",
            "row",
        )
