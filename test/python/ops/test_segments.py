"""Reductions by codes, against pandas and xarray; derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

KINDS = ("sum", "prod", "mean", "max", "min")
CODES = np.array([2, 0, -1, 2, 5, 0, 9])  # not sorted, 1, 3 and 4 empty; -1 and 9 in no group
EMPTY = {"sum": 0.0, "prod": 1.0, "mean": np.nan, "max": -np.inf, "min": np.inf}


def segment(kind: str, *args: Any, **keywords: Any) -> Any:
    return getattr(xt, f"segment_{kind}")(*args, **keywords)


def expected(kind: str, x: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    """By pandas, along axis 0."""
    kept = (codes >= 0) & (codes < count)
    found = getattr(pd.DataFrame(x[kept]).groupby(codes[kept]), kind)()
    fill = EMPTY[kind] if x.dtype.kind == "f" else np.nan
    return np.asarray(found.reindex(range(count)).fillna(fill))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_sorted", [False, True])
def test_groups_are_those_of_pandas(kind: str, is_sorted: bool) -> None:
    x = np.random.default_rng(1).normal(size=(7, 3)).astype("f4")
    codes = np.sort(CODES) if is_sorted else CODES
    a, c = xt.array(x, dims=("t", "b")), xt.array(codes, dims="t")
    got = segment(kind, a, c, 6)
    assert got.dims == ("group", "b") and got.dtype == x.dtype
    np.testing.assert_allclose(got.values, expected(kind, x, codes, 6), rtol=1e-6)
    compiled = xt.jit(lambda a, c: segment(kind, a, c, 6))(a, c)
    np.testing.assert_array_equal(compiled.values, got.values)


@pytest.mark.parametrize("kind", KINDS)
def test_nan_is_left_out_as_pandas_leaves_it_out(kind: str) -> None:
    x = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, 3.0], [np.nan, 5.0]])
    codes = np.array([0, 0, 1, 1])
    got = segment(kind, xt.array(x, dims=("t", "b")), xt.array(codes, dims="t"), 2, skipna=True)
    np.testing.assert_array_equal(got.values, np.asarray(getattr(pd.DataFrame(x).groupby(codes), kind)()))


@pytest.mark.cpu_only("differences are taken in float64")
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind: str) -> None:
    x = xt.array(np.random.default_rng(2).normal(size=(2, 7)), dims=("b", "t"))
    codes = xt.array(CODES, dims="t")
    check_gradients(lambda x: segment(kind, x, codes, 6).isel(group=[0, 2, 5]), (x,), order=2)


@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "hazen", "inverted_cdf", "averaged_inverted_cdf"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_quantiles_are_those_of_numpy(method: str, dtype: str) -> None:
    x = (np.random.default_rng(4).normal(size=(7, 3)) * 5).astype(dtype)
    if dtype != "i4":
        x[3, 1] = np.nan
    a, c = xt.array(x, dims=("t", "b")), xt.array(CODES, dims="t")
    got = xt.segment_quantile(a, c, 6, [0.0, 0.3, 1.0], method=method)
    there = xt.segment_quantile(a, c, 6, 0.3, method=method, skipna=True)
    assert got.dims == ("group", "b", "quantile")
    for i in range(6):
        part = x[i == CODES].astype("f8")
        want = np.quantile(part, [0.0, 0.3, 1.0], axis=0, method=method) if len(part) else np.full((3, 3), np.nan)
        np.testing.assert_allclose(got.values[i], want.T, rtol=1e-6)
        want = np.nanquantile(part, 0.3, axis=0, method=method) if len(part) else np.full(3, np.nan)
        np.testing.assert_allclose(there.values[i], want, rtol=1e-6)


@pytest.mark.cpu_only("differences are taken in float64")
def test_medians_of_codes_over_several_dims() -> None:
    rng = np.random.default_rng(5)
    x, codes = rng.normal(size=(2, 9)), rng.integers(-1, 3, size=(2, 9))
    a, c = xt.array(x, dims=("b", "t")), xt.array(codes, dims=("b", "t"))
    want = [np.median(x[codes == i]) for i in range(3)]
    np.testing.assert_allclose(xt.segment_median(a, c, 3).values, want)
    apart = [[np.median(x[b, codes[b] == i]) for i in range(3)] for b in range(2)]
    np.testing.assert_allclose(xt.segment_median(a, c, 3, dim="t").values, apart)
    batched = xt.vectorize(lambda a, c: xt.segment_median(a, c, 3), "b")(a, c)
    np.testing.assert_allclose(batched.values, apart)
    opened = xt.jit(lambda a, c: xt.segment_median(a, c, 3, dim="t"), dynamic_dims="t")
    np.testing.assert_allclose(opened(a, c).values, apart)
    check_gradients(lambda a: xt.segment_quantile(a, c, 3, 0.4), (a,), order=2)


def test_codes_over_several_dims() -> None:
    x = np.arange(12.0).reshape(3, 4)
    codes = np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1]])
    a, c = xt.array(x, dims=("t", "b")), xt.array(codes, dims=("t", "b"))
    np.testing.assert_array_equal(xt.segment_sum(a, c, 2).values, np.bincount(codes.ravel(), x.ravel()))
    apart = xt.segment_sum(a, c, 2, dim="t", into="t")
    assert apart.dims == ("t", "b")
    columns = [np.bincount(codes[:, i], x[:, i], minlength=2) for i in range(4)]
    np.testing.assert_array_equal(apart.values, np.stack(columns, 1))


def test_other_transforms_and_open_sizes() -> None:
    x = xt.array(np.random.default_rng(3).normal(size=(7, 2)), dims=("t", "b"))
    codes = xt.array(CODES % 3, dims="t")
    want = xt.segment_mean(x, codes, 3)
    batched = xt.vectorize(lambda x: xt.segment_mean(x, codes, 3), "b")(x)
    np.testing.assert_allclose(batched.transpose(*want.dims).values, want.values, rtol=1e-12)
    opened = xt.jit(lambda x, c: xt.segment_mean(x, c, 3), dynamic_dims="t")
    np.testing.assert_allclose(opened(x, codes).values, want.values, rtol=1e-12)
    few = opened(x.isel(t=slice(4)), codes.isel(t=slice(4)))
    np.testing.assert_allclose(few.values, xt.segment_mean(x.isel(t=slice(4)), codes.isel(t=slice(4)), 3).values)
    _, ys = xt.scan(lambda c, x: (c, xt.segment_mean(x, codes, 3)), 0.0, x, dim="b")
    np.testing.assert_allclose(ys.transpose(*want.dims).values, want.values, rtol=1e-12)


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_the_mean_of_an_empty_group_has_the_derivative_zero(dtype: str, skipna: bool) -> None:
    """In both modes: the NaN depends on no element."""
    x, codes = xt.array(np.array([1, 2, 4], dtype), "t"), xt.array([0, 0, 2], "t")

    def mean(x: Any) -> Any:
        return xt.segment_mean(x, codes, 4, skipna=skipna)

    value, slope = xt.jvp(mean, (x,), (xt.ones_like(x),))
    np.testing.assert_array_equal(value.values, np.array([1.5, np.nan, 4, np.nan], dtype))
    np.testing.assert_array_equal(slope.values, [1, 0, 1, 0])
    (back,) = xt.vjp(mean, x)[1](xt.ones_like(value))
    np.testing.assert_array_equal(back.values, [0.5, 0.5, 1])
    rows = [[0.5, 0.5, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    for mode in ("forward", "reverse") if dtype != "c16" else ():
        np.testing.assert_array_equal(xt.jacobian(mean, mode=mode)(x).values, rows)


def test_dtypes() -> None:
    codes = xt.array([0, 1, 0], dims="t", dtype="u1")
    small = xt.array([100, 7, 100], dims="t", dtype="i1")
    assert xt.segment_sum(small, codes, 2).values.tolist() == [200, 7]
    assert xt.segment_max(small, codes, 3).values.tolist() == [100, 7, -128]
    flags = xt.array([False, True, True], dims="t")
    assert xt.segment_min(flags, codes, 3).values.tolist() == [False, True, True]
    assert xt.segment_mean(small, codes, 2).values.tolist() == [100.0, 7.0]


def test_errors_say_what_to_write() -> None:
    x = xt.ones(t=3, b=2)
    codes = xt.array([0, 1, 0], dims="t")
    with pytest.raises(xt.DTypeError, match=r"codes are integers, not float(64|32).*astype"):
        xt.segment_sum(x, codes * 0.5, 2)
    with pytest.raises(xt.DimensionError, match="codes have dim 'q', which the array lacks"):
        xt.segment_sum(x, codes.rename(t="q"), 2)
    with pytest.raises(xt.SizeError, match="dim 't' has size 3 in the array and 2 in the codes"):
        xt.segment_sum(x, codes.isel(t=slice(2)), 2)
    with pytest.raises(xt.DimensionError, match=r"has dim 'b' already.*into="):
        xt.segment_sum(x, codes, 2, into="b")
    with pytest.raises(xt.ArgumentTypeError, match="num_groups is an int that is known while tracing"):
        xt.jit(lambda x, n: xt.segment_sum(x, codes, n))(x, 2)


# Methods of groups by codes, of which 5 and -1 count no group and group 2 is empty: by pandas, then with that group.
BY_CODES: dict[str, tuple[list[float], float]] = {
    "sum": ([5.0, 8.0], 0.0),
    "prod": ([4.0, 8.0], 1.0),
    "mean": ([2.5, 8.0], np.nan),
    "var": ([2.25, 0.0], np.nan),
    "std": ([1.5, 0.0], np.nan),
    "count": ([2, 1], 0),
    "first": ([1.0, 8.0], np.nan),
    "last": ([4.0, 8.0], np.nan),
}


@pytest.mark.parametrize("dtype", ["f8", "i4"])
@pytest.mark.parametrize("method", BY_CODES)
def test_groups_by_codes_are_the_same_inside_of_a_function(method: str, dtype: str) -> None:
    codes = xt.array([0, 5, 0, -1, 1], dims="t")
    x = xt.array(np.array([1, 2, 4, 16, 8], dtype), dims="t")
    known, empty = BY_CODES[method]
    if dtype == "i4" and method in ("first", "last"):
        empty = 0

    def reduced(x: Any, codes: Any) -> Any:
        return getattr(x.groupby(codes, num_groups=3), method)()

    got, compiled = reduced(x, codes), xt.jit(reduced)(x, codes)
    np.testing.assert_array_equal(got.values, [*known, empty])
    np.testing.assert_array_equal(compiled.values, got.values)
    assert compiled.dtype == got.dtype


def test_elements_of_no_group_have_no_anomaly() -> None:
    codes, x = xt.array([0, 5, 0, -1], dims="t"), xt.array([1.0, 2.0, 4.0, 16.0], dims="t")

    def anomaly(x: Any, codes: Any) -> Any:
        g = x.groupby(codes, num_groups=2)
        return g - g.mean()

    for f in (anomaly, xt.jit(anomaly)):
        np.testing.assert_array_equal(f(x, codes).values, [-1.5, np.nan, 1.5, np.nan])


@pytest.mark.float64
def test_complex_elements() -> None:
    z, codes = np.array([1j, 2, 3 - 1j]), np.array([0, 0, 1])
    x, c = xt.array(z, dims="t"), xt.array(codes, dims="t")
    expected = [np.var(z[codes == i]) for i in (0, 1)]
    np.testing.assert_allclose(x.groupby(c, num_groups=2).var().values, expected)
    for call in (lambda: xt.segment_max(x, c, 2), lambda: x.groupby(c, num_groups=2).min()):
        with pytest.raises(xt.DTypeError, match="complex numbers have no order"):
            call()


def test_merged_dims_of_different_dynamic_sizes() -> None:
    """Their names come from the dims: one name would have one size in a program."""
    x = xt.array(np.random.default_rng(6).normal(size=(3, 4, 5)), dims=("i", "j", "k"))
    along_i, along_k = xt.array([0, 1, 1], "i"), xt.array([0, 1, 1, 0, 1], "k")

    def several(x: Any, a: Any, b: Any) -> Any:
        sums = [xt.segment_sum(x, codes, 2) for codes in (a, b)]
        medians = [xt.segment_median(x, codes, 2) for codes in (a, b)]
        places = [xt.unique(y, size=60)[:20] for y in (x, x.isel(k=0))]
        return [*sums, *medians, *places, xt.median(x, ("i", "j")), xt.median(x, ("j", "k"))]

    want = several(x, along_i, along_k)
    for got, known in zip(xt.jit(several, dynamic_dims=("i", "j", "k"))(x, along_i, along_k), want, strict=True):
        np.testing.assert_allclose(got.values, known.values, rtol=1e-12)


def test_codes_of_a_known_size_do_not_fit_an_open_dim() -> None:
    codes = xt.array([0, 1, 0], "t")
    f = xt.jit(lambda x: xt.segment_sum(x, codes, 2), dynamic_dims=("t",))
    with pytest.raises(xt.SizeError, match="dim 't' has an open size"):
        f(xt.array([1.0, 2.0, 3.0], "t"))


def test_variances_of_groups_far_from_zero_keep_their_digits() -> None:
    x = (np.random.default_rng(0).normal(size=100_000) + 1e5).astype("f4")
    codes = np.arange(100_000) % 3
    got = xt.array(x, "t").groupby(xt.array(codes, "t"), num_groups=3)
    want = [np.var(x[codes == i].astype("f8") - 1e5) for i in range(3)]
    np.testing.assert_allclose(got.var().values, want, rtol=1e-4)  # of 33,000 squares that are added up in turn
    np.testing.assert_allclose(got.std().values, np.sqrt(want), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["f2", "bfloat16"])
def test_variances_of_groups_of_16_bits_are_rounded_once(dtype: str) -> None:
    x = xt.array(np.random.default_rng(0).normal(size=200_000) * 300, "t").astype(dtype)
    groups = x.groupby(xt.array(np.arange(200_000) % 2, "t"), num_groups=2)  # of more elements than float16 counts
    exact = x.astype("f8").values.reshape(-1, 2)
    assert groups.std().dtype == x.dtype
    rtol = 2**-10 if dtype == "f2" else 2**-7
    np.testing.assert_allclose(groups.std().astype("f8").values, exact.std(0), rtol=rtol)
    small = (x / 30).groupby(xt.array(np.arange(200_000) % 2, "t"), num_groups=2)
    np.testing.assert_allclose(small.var().astype("f8").values, (exact / 30).var(0), rtol=4 * rtol)


def test_the_derivative_of_a_variance_by_what_is_in_no_group_is_0() -> None:
    x, codes = xt.array([1.0, 2.0, 3.0, 5.0, 7.0, 9.0], "t"), xt.array([0, -1, 1, 0, 1, 5], "t")
    gradient = xt.grad(lambda x: xt.sum(x.groupby(codes, num_groups=2).var()))(x)
    np.testing.assert_allclose(gradient.values, [-2.0, 0.0, -2.0, 2.0, 2.0, 0.0])
