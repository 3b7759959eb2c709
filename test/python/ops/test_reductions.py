"""Reductions over named dims against xarray, NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DIMS, DTYPES, FLOATS, examples, named, ours, same
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SLACK = {"f2": 4e-3, "f4": 4e-6, "f8": 1e-12}


@st.composite
def reduced(draw, dtypes=DTYPES, sizes=(0, 1, 2, 3, 5)):
    """An array and a dim argument for it."""
    x = draw(named(dtypes, sizes=sizes))
    some = draw(st.lists(st.sampled_from(x.dims), unique=True)) if x.dims else []
    forms = [None, ..., some, tuple(some)] + ([some[0]] if some else [])
    return x, draw(st.sampled_from(forms))


def close(got, want):
    same(got, want, rtol=SLACK.get(np.dtype(want.dtype).str[1:], 0))


@quiet
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_moments(name: str) -> None:
    @examples(40)
    @given(reduced())
    def check(case) -> None:
        x, dim = case
        if name in ("var", "std") and x.dtype == "f2":
            x = x.astype("f4")
        if x.dtype.kind != "f":
            # xarray gives the array itself, unwidened, for no dims.
            wide = {"u": "u8"}.get(x.dtype.kind, "i8") if name in ("sum", "prod") else "f8"
            x = x.astype(wide) if dim is not None and dim is not ... and not len(dim) else x
        want = getattr(x, name)(dim, skipna=False)
        close(getattr(ours(x), name)(dim), want)
        close(getattr(xt, name)(ours(x), dim), want)

    check()


@quiet
@pytest.mark.parametrize("name", ["min", "max", "any", "all"])
def test_extrema_and_logic(name: str) -> None:
    @examples(25)
    @given(reduced(sizes=(1, 2, 3, 5)))
    def check(case) -> None:
        x, dim = case
        close(getattr(ours(x), name)(dim), getattr(x, name)(dim))

    check()


def test_logic_over_nothing() -> None:
    x = xt.zeros(a=0)
    assert x.any().item() is False
    assert x.all().item() is True


@quiet
@pytest.mark.parametrize("ddof", [1, 2])
@pytest.mark.parametrize("name", ["var", "std"])
def test_ddof(name: str, ddof: int) -> None:
    x = xr.DataArray(np.array([[1.0, 5, 2], [0, 1, 3]]), dims=("a", "b"))
    for dim in ("a", "b", None):
        close(getattr(xt, name)(ours(x), dim, ddof=ddof), getattr(x, name)(dim, ddof=ddof, skipna=False))


@quiet
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "min", "max"])
def test_skipna(name: str) -> None:
    v = np.array([[1.0, np.nan, 2], [np.nan, np.nan, np.nan], [3, 4, 4]])
    x = xr.DataArray(v, dims=("a", "b"))
    for dim in ("a", "b", None):
        close(getattr(xt, name)(ours(x), dim, skipna=True), getattr(x, name)(dim, skipna=True))
        close(getattr(xt, name)(ours(x), dim), getattr(x, name)(dim, skipna=False))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: xt.mean(x, "b", skipna=True),
        lambda x: xt.var(x, "b", skipna=True),
        lambda x: xt.std(x, "b", ddof=1, skipna=True),
        lambda x: xt.average(x, "b", xt.array([1.0, 2, 3], "b").astype(x.dtype), skipna=True),
        lambda x: xt.average(x, "b", xt.array([[1.0, 3, 2], [2, 2, 1]], ("c", "b")).astype(x.dtype), skipna=True),
        lambda x: x.coarsen(b=3).std(skipna=True),
        lambda x: x.groupby(xt.array([0, 0, 0], "b"), num_groups=1).var("b", skipna=True),
        lambda x: x.groupby(xt.array([0, 0, 0], "b"), num_groups=1).std("b", skipna=True),
    ],
)
def test_where_all_is_skipped_both_modes_give_the_derivative_zero(f: Any, dtype: str) -> None:
    x = xt.array(np.array([[np.nan] * 3, [1, 5, np.nan]], dtype), ("a", "b"))
    v = xt.array(np.array([[1, 2, 3], [0.5, -1, 2]], dtype), ("a", "b"))
    y, forward = xt.jvp(f, (x,), (v,))
    assert np.isnan(y.isel(a=0).values).all() and not np.isnan(y.isel(a=1).values).any()
    np.testing.assert_array_equal(forward.isel(a=0).values, 0)
    back = xt.grad(lambda x: xt.sum(f(x)))(x).values
    np.testing.assert_array_equal(back[0], 0)
    np.testing.assert_allclose((back * v.values).sum(), forward.values.sum(), rtol=1e-5)


def test_nan_is_not_hidden() -> None:
    x = xt.array([1.0, np.nan, 3.0], dims="a")
    for f in (xt.sum, xt.mean, xt.max, xt.min, xt.std):
        assert np.isnan(f(x).item())
    assert x.argmax().item() == 1
    assert xt.argmax(x, "a", skipna=True).item() == 2


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "bfloat16"])
def test_nan_anywhere_in_a_row(dtype: str) -> None:
    """Rows of whole vectors, of parts of them, and of both: one NaN in each second row, of either sign."""
    kind = xt.zeros(dtype=dtype).dtype
    rng = np.random.default_rng(0)
    for length in (1, 2, 5, 16, 31, 32, 48, 64, 100, 128, 200, 600):
        v = rng.standard_normal((2 * length, length)).astype(kind)
        at = np.arange(length)
        v[2 * at, at] = np.copysign(np.nan, at % 2 - 0.5)
        v[1] = -np.inf
        v[-1] = np.inf
        for name in ("max", "min"):
            got = xt.astype(getattr(xt, name)(xt.array(v, ("row", "column")), dim="column"), "f8").values
            np.testing.assert_array_equal(got, getattr(np, name)(v.astype("f8"), axis=1), err_msg=f"{name} {length}")


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str) -> None:
    @examples(25)
    @given(reduced(sizes=(1, 2, 3, 5)))
    def check(case) -> None:
        x, dim = case
        if not x.dims:
            return
        got = getattr(xt, name)(ours(x), dim)
        if dim is None:
            same(got, xr.DataArray(getattr(x.values, name)()))
        elif isinstance(dim, str):
            same(got, getattr(x, name)(dim))
        elif dim is ... or len(dim):
            want = getattr(x, name)(dim)
            assert list(got) == list(want)
            for d in want:
                same(got[d], want[d])

    check()


@pytest.mark.parametrize("dtype", ["f4", "f8", "bfloat16", "i4", "i1", "u1", "bool"])
@pytest.mark.parametrize(
    "sizes", [(131_089,), (70_001, 3), (3, 70_001), (20_003, 37), (30_000, 1), (2, 70_001, 5), (9, 2053)]
)
def test_positions_in_long_searches(sizes: tuple[int, ...], dtype: str) -> None:
    """Of equal elements the first, and NaN before all: where few elements are better, and where each is."""
    rng = np.random.default_rng(0)
    kind = xt.zeros(dtype=dtype).dtype
    ascending = np.arange(np.prod(sizes)).reshape(sizes) % 2_000_003
    steps = np.cumsum(rng.random(np.prod(sizes)) < 0.01).reshape(sizes)  # better elements, now near, now far
    cases = [rng.integers(0, 100, sizes), rng.integers(0, 2, sizes), np.zeros(sizes), ascending, -ascending, steps]
    if kind.kind not in "iub":
        cases += [rng.standard_normal(sizes), np.full(sizes, np.nan)]
        cases.append(np.where(rng.random(sizes) < 1e-4, np.nan, cases[0]))
    for case in cases:
        x = case.astype(kind)
        wide = x.astype("f8")
        array = xt.array(x, tuple("abc"[: len(sizes)]))
        for name in ("argmax", "argmin"):
            for axis, dim in enumerate(array.dims):
                got = getattr(xt, name)(array, dim=dim).values
                np.testing.assert_array_equal(got, getattr(np, name)(wide, axis), err_msg=f"{name} {dim}")


def test_positions_serve_isel() -> None:
    x = xt.array(np.array([[1, 9, 3], [7, 5, 4]]), dims=("a", "b"))
    assert x.isel(x.argmax(...)).item() == 9
    assert x.isel(b=x.argmax("b")).values.tolist() == [9, 7]
    assert xt.idxmin(x, "a").values.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="dim is needed"):
        x.idxmax()


def test_labels_of_a_dataarray() -> None:
    x = xr.DataArray([[1.0, 9, 3], [7, 5, 4]], dims=("a", "b"), coords={"b": [10, 20, 30]})
    xr.testing.assert_equal(xt.idxmax(x, "b"), x.idxmax("b").astype("i8"))


@examples(20)
@given(reduced())
def test_count_nonzero(case) -> None:
    x, dim = case
    same(xt.count_nonzero(ours(x), dim), (x != 0).astype("i8").sum(dim))


@pytest.mark.parametrize("ord", [2, 1, 3, 1.5, np.inf, -np.inf, 0, -1])
@pytest.mark.parametrize("dtype", [*FLOATS, "i4"])
@quiet
def test_norm(ord: float, dtype: str) -> None:
    v = np.array([[1, -2, 3], [0, 0, 0], [4, 0, -1]], dtype)
    x = xt.array(v, dims=("a", "b"))
    want = np.linalg.norm(v, ord, axis=1)
    same(xt.norm(x, "b", ord=ord), xr.DataArray(want.astype("f8" if dtype == "i4" else dtype), dims="a"), rtol=1e-6)


@pytest.mark.parametrize("ord", [-1, -2, -0.5, 0.5, 1, 2, 3, np.inf, -np.inf, 0])
def test_the_derivative_of_a_norm_at_zeros_is_finite(ord: float) -> None:
    x = xt.array([[0.0, 2.0, -3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0]], dims=("a", "b"))
    g = xt.grad(lambda x: xt.norm(x, "b", ord=ord).sum())(x).values
    if ord in (-1, -2, -0.5, 2, 3):
        np.testing.assert_array_equal(g[1], 0)
    if ord < 0 and np.isfinite(ord):
        np.testing.assert_array_equal(g[0], 0)
    assert np.isfinite(g[1:]).all() or 0 < ord < 1
    h = 1e-6
    for j in range(3):
        step = h * np.eye(3)[j]
        up, down = (np.linalg.norm(x.values[2] + s, ord) for s in (step, -step))
        assert g[2, j] == pytest.approx((up - down) / (2 * h), abs=1e-8)


def test_norm_over_several_dims() -> None:
    v = np.arange(6.0).reshape(2, 3)
    assert xt.norm(xt.array(v, dims=("a", "b"))).item() == pytest.approx(np.linalg.norm(v))


@quiet
@examples(25)
@given(reduced(dtypes=(*FLOATS, "i4")))
def test_logsumexp(case) -> None:
    x, dim = case
    dims = x.dims if dim is None or dim is ... else (dim,) if isinstance(dim, str) else tuple(dim)
    if 0 in [x.sizes[d] for d in dims] and x.size == 0:
        assert (xt.logsumexp(ours(x), dim).values == -np.inf).all()
        return
    axes = tuple(x.dims.index(d) for d in dims)
    want = special.logsumexp(x.values, axis=axes) if axes else x.values.astype(np.result_type(x.dtype, "f4"))
    rest = [d for d in x.dims if d not in dims]
    close(xt.logsumexp(ours(x), dim), xr.DataArray(want, dims=rest))


def test_logsumexp_at_infinities() -> None:
    inf = np.inf
    v = np.array([[-inf, -inf], [-inf, 0], [inf, 0], [inf, inf], [inf, -inf], [np.nan, 0], [1000, 1000]])
    same(xt.logsumexp(xt.array(v, dims=("a", "b")), "b"), xr.DataArray(special.logsumexp(v, axis=1), dims="a"))


def test_sixteen_bit_floats_add_up_wide() -> None:
    x = xt.array(np.full(5000, 0.1, "f2"), dims="a")
    assert x.sum().item() == pytest.approx(500, rel=2e-3)
    assert x.mean().dtype == np.dtype("f2")
    assert x.mean().item() == pytest.approx(0.1, rel=1e-3)


def test_sum_over_no_dims_only_widens() -> None:
    x = xt.array(np.array([1, 2], "i1"), dims="a")
    same(xt.sum(x, dim=()), xr.DataArray(np.array([1, 2], "i8"), dims="a"))


@pytest.mark.parametrize("name", ["sum", "mean", "std", "max", "any", "norm", "logsumexp", "argmax", "count_nonzero"])
def test_unknown_and_repeated_dims_are_errors(name: str) -> None:
    x = xt.ones(a=2, b=3)
    f = getattr(xt, name)
    with pytest.raises(ValueError, match=r"'time'.*'a', 'b'"):
        f(x, "time")
    with pytest.raises(ValueError, match="twice"):
        f(x, ["a", "a"])
    with pytest.raises(TypeError, match="write dim='b'"):
        f(x, 1)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extrema_of_nothing_are_errors(name: str) -> None:
    with pytest.raises(ValueError, match="size 0"):
        getattr(xt, name)(xt.zeros(a=0, b=2), "a")
    assert getattr(xt, name)(xt.zeros(a=0, b=2), "b").shape == (0,)


def test_order_of_dims_does_not_matter() -> None:
    x = xr.DataArray(np.random.default_rng(0).normal(size=(2, 3, 4)), dims=DIMS)
    for order in (("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")):
        got = ours(x.transpose(*order)).mean(["a", "c"])
        np.testing.assert_allclose(got.values, x.mean(["a", "c"]).values, rtol=1e-14)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
@pytest.mark.parametrize("name", ["sum", "mean", "std", "max", "min", "any", "all", "argmax", "prod"])
def test_larger_arrays_over_every_dim(name: str, dtype: str) -> None:
    random = np.random.default_rng(2)
    v = random.normal(size=(19, 37, 70)) * 2 if name != "prod" else 1 + random.normal(size=(19, 37, 70)) / 50
    x = xr.DataArray(v.astype(dtype), dims=DIMS)
    for dim in ("a", "b", "c") + (() if name == "argmax" else (["a", "c"], ["c", "b"], None)):
        want = getattr(x, name)(dim) if name in ("any", "all") else getattr(x, name)(dim, skipna=False)
        same(getattr(xt, name)(ours(x), dim), want, rtol=2e-5 if dtype == "f4" else 1e-11)


@pytest.mark.parametrize("dtype", ["f4", "f8", "bfloat16", "i4", "u1"])
@pytest.mark.parametrize("sizes", [(70_001, 3), (65_536, 4), (40_003, 1), (20_000, 32), (20_017, 33), (150_000, 2)])
def test_many_short_rows(sizes: tuple[int, int], dtype: str) -> None:
    """Neighbouring rows are added side by side; what is left of them, and NaN, reach their columns."""
    kind = xt.zeros(dtype=dtype).dtype
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, sizes).astype(kind)
    wide = x.astype("f8")
    array = xt.array(x, ("row", "column"))
    for name in ("sum", "max", "min"):
        got = xt.astype(getattr(xt, name)(array, dim="row"), "f8").values
        want = getattr(np, name)(wide, 0)
        np.testing.assert_allclose(got, want, rtol=4e-3 if kind.itemsize == 2 else 0, err_msg=name)
    if kind.kind not in "iu":
        x[-1, 0] = np.nan
        for name in ("sum", "max"):
            got = xt.astype(getattr(xt, name)(xt.array(x, ("row", "column")), dim="row"), "f8").values
            assert np.isnan(got[0]) and not np.isnan(got[1:]).any()


@pytest.mark.parametrize("kind", ["var", "std", "sum", "mean", "prod", "max"])
@pytest.mark.parametrize(
    "values", [[1, np.inf, 2, -np.inf, 3, 4], [1, np.nan, 2, np.inf, 3, 4], [np.nan, 7, 2, 5, 3, 1]]
)
@quiet
def test_skipna_leaves_out_what_is_nan_and_not_what_infinities_make_nan(kind: str, values: list[float]) -> None:
    data = np.stack([values, np.arange(6.0)])
    x, there = xt.array(data, ("b", "a")), xr.DataArray(data, dims=("b", "a"))
    codes = np.array([0, 0, 0, 0, 1, 1])
    groups, theirs = (
        x.groupby(xt.array(codes, "a"), num_groups=2),
        there.groupby(xr.DataArray(codes, dims="a", name="g")),
    )
    found = [getattr(xt, kind)(x, "a", skipna=True), getattr(groups, kind)(("a", "b"), skipna=True)]
    want = [getattr(there, kind)("a", skipna=True), getattr(theirs, kind)(("a", "b"), skipna=True)]
    if kind != "prod":
        found.append(getattr(x.coarsen(a=3), kind)(skipna=True))
        want.append(getattr(there.coarsen(a=3), kind)())  # leaves NaN out
    for x, reference in zip(found, want, strict=True):
        np.testing.assert_allclose(np.asarray(x), reference, rtol=1e-12)


@quiet
@pytest.mark.parametrize("values", [[1, np.inf, 2, -np.inf], [1, np.nan, 2, np.inf], [np.nan, 7, 2, 5]])
def test_weighted_moments_leave_out_what_is_nan(values: list[float]) -> None:
    x, weights = np.array(values), np.array([1.0, 2, 3, 1])
    v, w = x[~np.isnan(x)], weights[~np.isnan(x)]
    mean = np.average(v, weights=w)
    var = np.average((v - mean) ** 2, weights=w)
    weighted = xt.array(x, "a").weighted(xt.array(weights, "a"))
    for kind, want in {"sum": (v * w).sum(), "mean": mean, "var": var, "std": np.sqrt(var)}.items():
        np.testing.assert_allclose(getattr(weighted, kind)("a", skipna=True).item(), want, rtol=1e-12)
    turned = xt.array(x.astype("c16"), "a").weighted(xt.array(weights, "a"))
    np.testing.assert_allclose(turned.var("a", skipna=True).item(), var, rtol=1e-12)


def test_means_of_16_bit_floats_are_finite_where_their_sums_are_not() -> None:
    x = xt.array(np.linspace(1000, 3000, 400).astype("f2"), "a")
    weights = xt.full(200.0, a=400, dtype="f2")
    codes = xt.array(np.zeros(400, "i4"), "a")
    found = {
        "mean": xt.mean(x),
        "average": xt.average(x, "a", weights=weights),
        "weighted": x.weighted(weights).mean(),
        "avg_pool": xt.nn.avg_pool(x, {"a": 400}).isel(a=0),
        "coarsen": x.coarsen(a=400).mean().isel(a=0),
        "rolling": x.rolling(a=400).mean().isel(a=399),
        "segment_mean": xt.segment_mean(x, codes, 1).sum(),
    }
    for name, y in found.items():
        assert y.dtype == np.float16 and abs(float(y.item()) - 2000) < 2, name
    spread = x.weighted(weights)
    assert abs(float(spread.std().item()) - np.std(np.linspace(1000, 3000, 400))) < 1
    small = xt.nn.avg_pool(xt.full(20.0, h=65, w=64, dtype="f2"), {"h": 64, "w": 64}, {"h": 1, "w": 1})
    assert (small.values == 20).all()


def test_weighted_moments_of_integers_do_not_wrap() -> None:
    x, weights = np.array([255, 255, 0, 9], "u1"), np.array([200, 100, 3, 7], "u1")
    weighted = xt.array(x, "a").weighted(xt.array(weights, "a"))
    mean = np.average(x.astype("f8"), weights=weights)
    var = np.average((x - mean) ** 2, weights=weights)
    want = {"sum": (x * weights.astype("i8")).sum(), "mean": mean, "var": var, "std": np.sqrt(var)}
    for kind, value in want.items():
        np.testing.assert_allclose(getattr(weighted, kind)("a").item(), value, rtol=1e-12)
    turned = xt.array(x * (1 + 0j), "a").weighted(xt.array(weights, "a"))
    assert turned.mean().dtype == np.complex128 and turned.std().dtype == turned.sum_of_squares().dtype == np.float64
    np.testing.assert_allclose([turned.mean().item(), turned.var().item()], [mean, var], rtol=1e-12)


@quiet
def test_a_variance_without_degrees_of_freedom() -> None:
    x = xt.array([1.0, np.nan, 2.0], "a")
    assert np.isnan(xt.var(x, ddof=2, skipna=True).item())  # as np.nanvar
    assert np.isnan(xt.std(x, ddof=3, skipna=True).item())
    assert xt.var(x.isel(a=[0, 2]), ddof=2).item() == np.inf  # as np.var
    for f in (xt.var, xt.std):
        value, slope = xt.jvp(lambda x, f=f: f(x, ddof=2, skipna=True), (x,), (xt.ones_like(x),))
        assert np.isnan(value.item()) and slope.item() == 0
        assert (xt.grad(lambda x, f=f: f(x, ddof=2, skipna=True))(x).values == 0).all()
