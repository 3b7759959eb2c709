"""Windows: rolling and coarsen against xarray, with gradients.

Finite differences in both modes and to second order run over the cases of derivative_cases.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, named, ours, same
from hypothesis import given
from hypothesis import strategies as st
from xtensor.testing import check_gradients

KINDS = ("sum", "mean", "max", "min", "prod", "var", "std")


def array(*sizes: int, dims: str, seed: int = 0, dtype: str = "f8") -> xr.DataArray:
    values = np.random.default_rng(seed).normal(size=sizes).astype(dtype)
    return xr.DataArray(values, dims=tuple(dims))


# ---- rolling ---------------------------------------------------------------------------------------------------------


@examples(120)
@given(x=named(("f4", "f8"), least=1, sizes=(1, 2, 3, 5, 9)), data=st.data())
def test_rolling_is_xarrays(x: xr.DataArray, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    size = data.draw(st.integers(1, x.sizes[dim]))
    center, kind = data.draw(st.booleans()), data.draw(st.sampled_from(KINDS))
    want = getattr(x.rolling({dim: size}, center=center), kind)()
    got = getattr(ours(x).rolling({dim: size}, center=center), kind)()
    narrow = x.dtype == np.float32
    # xarray keeps running sums, with an error of its own.
    same(got, want.astype(x.dtype), rtol=2e-3 if narrow else 1e-7, atol=5e-3 if narrow else 1e-6)


@examples(60)
@given(x=named(("f8",), least=1, sizes=(1, 3, 5, 9)), data=st.data())
def test_rolling_needs_as_many_as_asked_for(x: xr.DataArray, data: Any) -> None:
    x = x.where(np.random.default_rng(0).random(x.shape) > 0.2)
    dim = data.draw(st.sampled_from(x.dims))
    size = data.draw(st.integers(1, x.sizes[dim]))
    least, kind = data.draw(st.integers(1, size)), data.draw(st.sampled_from(KINDS))
    want = getattr(x.rolling({dim: size}, min_periods=least), kind)()
    same(getattr(ours(x).rolling({dim: size}, min_periods=least), kind)(), want, rtol=1e-7, atol=1e-6)


def test_rolling_over_two_dims() -> None:
    x = array(6, 7, 2, dims="abc")
    for kind in KINDS:
        want = getattr(x.rolling(a=3, b=2, center={"a": True, "b": False}), kind)()
        got = getattr(ours(x).rolling(a=3, b=2, center={"a": True, "b": False}), kind)()
        same(got, want, rtol=1e-9)


def test_all_spellings() -> None:
    x = ours(array(6, dims="t"))
    want = x.rolling(t=3).mean().values
    for r in (x.rolling("t", 3), x.rolling({"t": 3}), x.rolling(dim="t", window=3), xt.rolling(x, t=3)):
        np.testing.assert_array_equal(r.mean().values, want)
    assert "t=3" in repr(x.rolling(t=3))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("center", [False, True])
def test_construct_is_xarrays(stride: int, center: bool) -> None:
    x = array(3, 8, dims="at")
    want = x.rolling(t=3, center=center).construct("w", stride=stride)
    same(ours(x).rolling(t=3, center=center).construct("w", stride=stride), want)
    want = x.rolling(t=3, a=2, center=center).construct(t="w", a="v", fill_value=0.0)
    same(ours(x).rolling(t=3, a=2, center=center).construct(t="w", a="v", fill_value=0.0), want)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("least", [None, 1, 2, 3])
def test_windows_without_enough_elements_are_nan(least: int | None, center: bool) -> None:
    """In every method, by DataArrays and compiled functions, with a dynamic dim: as in xarray."""
    x = xr.DataArray([np.nan, 1.0, 2.0, np.nan, 5.0, 7.0, 9.0], dims="t", coords={"t": np.arange(7)}, name="x")
    how: Any = {"t": 3, "min_periods": least, "center": center}
    methods: dict[str, tuple[Any, Any]] = {
        "median": (lambda r: r.median(), lambda r: r.median()),
        "count": (lambda r: r.count(), lambda r: r.count()),
        "reduce": (lambda r: r.reduce(xt.norm), lambda r: r.reduce(np.linalg.norm)),
        "reduce with skipna": (
            lambda r: r.reduce(lambda w, d: xt.sum(w, d, skipna=True)),
            lambda r: r.reduce(np.nansum),
        ),
    }
    for mine, theirs in methods.values():
        want = theirs(x.rolling(**how))
        call = lambda x: mine(x.rolling(**how))  # noqa: B023, E731 (called in this round)
        xr.testing.assert_allclose(call(xt.as_array(x)).to_xarray(), want, rtol=1e-12)
        for compiled in (xt.jit(call), xt.jit(call, dynamic_dims="t")):
            xr.testing.assert_identical(compiled(x).round(9), want.round(9))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "?"])
def test_counts_and_medians_of_windows_and_blocks(dtype: str) -> None:
    x = xr.DataArray(np.random.default_rng(3).integers(0, 3, (4, 6)), dims=("t", "x")).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x = x.where(x != 2)
    mine = ours(x)
    np.testing.assert_array_equal(mine.rolling(t=3, x=2).count().values, x.rolling(t=3, x=2).count().values)
    for kind in ("count", "any", "all"):
        got, want = getattr(mine.coarsen(t=2, x=3), kind)(), getattr(x.coarsen(t=2, x=3), kind)()
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.values, want.values)
    if dtype != "?":
        got = mine.rolling(t=3, x=2, min_periods=2).median()
        np.testing.assert_array_equal(got.values, x.rolling(t=3, x=2, min_periods=2).median().values)
        got = mine.coarsen(t=2, x=3).median(skipna=True)
        np.testing.assert_array_equal(got.values, x.coarsen(t=2, x=3).median().values)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "median"])
def test_as_many_as_the_window_has_is_the_default(kind: str, center: bool) -> None:
    """The program is the shorter one, which reads the array where it is."""
    x = array(7, 5, dims="ta", dtype="f4").pipe(lambda x: x.where(x < 1.2))
    how: Any = {"center": center}
    for sizes, least in (({"t": 3}, 3), ({"t": 2, "a": 2}, 4)):
        asked = xt.jit(lambda x, s=sizes, n=least: getattr(x.rolling(s, min_periods=n, **how), kind)())
        plain = xt.jit(lambda x, s=sizes: getattr(x.rolling(s, **how), kind)())
        assert asked.lower(ours(x)).as_text("traced") == plain.lower(ours(x)).as_text("traced")
        want = getattr(x.rolling(sizes, min_periods=least, **how), kind)()
        same(asked(ours(x)), want.astype("f4"), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "bfloat16", "i4"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 17, 32, 33])
def test_medians_of_short_and_long_windows(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    x = xt.array(rng.integers(-9, 9, (2, 400)), ("a", "t")).astype(dtype)
    if dtype != "i4":
        x = xt.where(xt.array(rng.random((2, 400)) > 0.01, x.dims), x, xt.array(np.nan).astype(x.dtype))
        x = xt.where(xt.array(rng.random((2, 400)) > 0.02, x.dims), x, xt.array(-np.inf).astype(x.dtype))
    values = np.asarray(x.astype("f8"))
    windows = np.lib.stride_tricks.sliding_window_view(values, size, 1)
    want = np.full(values.shape, np.nan)
    want[:, size - 1 :] = np.median(windows, -1)
    for call in (lambda x: x.rolling(t=size).median(), xt.jit(lambda x: x.rolling(t=size).median())):
        got = np.asarray(call(x).astype("f8"))
        np.testing.assert_array_equal(got, want)


def test_reduce_does_not_take_infinities_for_missing() -> None:
    x = xr.DataArray([np.inf, -np.inf, 1.0], dims="t")
    same(ours(x).rolling(t=2).reduce(xt.max), x.rolling(t=2).reduce(np.max))


def test_blocks_that_a_function_reduces_keep_labels() -> None:
    x = xr.DataArray(
        np.arange(7.0), dims="t", coords={"t": np.arange(7), "c": ("t", np.arange(7.0) ** 2), "run": 3}, attrs={"a": 1}
    )
    want = x.coarsen(t=3, boundary="trim", side="right").reduce(np.max)
    blocks = lambda x: x.coarsen(t=3, boundary="trim", side="right").reduce(xt.max)  # noqa: E731
    xr.testing.assert_identical(blocks(xt.as_array(x)).to_xarray(), want)
    xr.testing.assert_identical(xt.jit(blocks)(x), want)


def test_reduce_takes_any_function() -> None:
    x = array(3, 8, dims="at")
    want = x.rolling(t=3).reduce(np.ptp)
    got = ours(x).rolling(t=3).reduce(lambda w, dim: xt.max(w, dim) - xt.min(w, dim))
    same(got, want)
    same(ours(x).rolling(t=3).reduce(xt.logsumexp), np.log(np.exp(x).rolling(t=3).sum()), rtol=1e-9)


def test_integers_become_floats() -> None:
    x = xr.DataArray(np.arange(5), dims="t")
    same(ours(x).rolling(t=2).sum(), x.rolling(t=2).sum())


def test_a_window_longer_than_the_dim_is_nowhere_whole() -> None:
    x = ours(array(2, 3, dims="at"))
    assert np.isnan(x.rolling(t=4).sum().values).all()


def test_coordinates_stay_where_places_do() -> None:
    x = array(6, 2, dims="ta").assign_coords(t=np.arange(6) * 10, a=[1, 2])
    for center in (False, True):
        got = xt.rolling(x, t=3, center=center).mean()
        assert isinstance(got, xr.DataArray)
        xr.testing.assert_allclose(got, x.rolling(t=3, center=center).mean())
    xr.testing.assert_allclose(xt.coarsen(x, t=2).mean(), x.coarsen(t=2).mean())


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod", "var"])
@pytest.mark.parametrize("dim", ["a", "t"])
def test_rolling_gradients_are_pytorchs(kind: str, dim: str) -> None:
    torch = pytest.importorskip("torch")
    x, size = array(7, 40, dims="at"), 4
    axis = x.dims.index(dim)
    leaf = torch.from_numpy(x.values.copy()).requires_grad_()
    windows = leaf.unfold(axis, size, 1)
    reduced = {
        "max": lambda w: w.amax(-1),
        "min": lambda w: w.amin(-1),
        "var": lambda w: w.var(-1, correction=0),
    }.get(kind, lambda w: getattr(torch, kind)(w, -1))(windows)
    weights = np.random.default_rng(1).normal(size=tuple(reduced.shape))
    (gradient,) = torch.autograd.grad(reduced, leaf, torch.from_numpy(weights))

    def loss(v: Any) -> Any:
        y = getattr(v.rolling({dim: size}), kind)().isel({dim: slice(size - 1, None)})
        return xt.sum(y * xt.array(weights, x.dims))

    np.testing.assert_allclose(xt.grad(loss)(ours(x)).values, gradient.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dims", ["at", "ta"])
def test_extrema_of_windows_share_among_their_owners(kind: str, size: int, stride: int, dims: str) -> None:
    """Ties, infinities and NaN among them; and of windows that overlap each gives its own share."""
    rng = np.random.default_rng(size)
    x = rng.integers(0, 4, (3, 40)).astype("f8")
    x[0, 7] = x[2, 39] = np.nan
    x[1, 3:9] = np.inf
    x[1, 20:28] = -np.inf
    y = getattr(np, kind)(np.lib.stride_tricks.sliding_window_view(x, size, 1)[:, ::stride], -1)
    weights = rng.integers(1, 9, y.shape).astype("f8")
    want = np.zeros_like(x)
    for a, t in np.ndindex(y.shape):
        part = x[a, t * stride : t * stride + size]
        owns = (part == y[a, t]) | np.isnan(part)
        want[a, t * stride : t * stride + size] += weights[a, t] * owns / owns.sum()

    def loss(v: Any) -> Any:
        w = v.rolling(t=size).construct("w").isel(t=slice(size - 1, None, stride))
        return xt.sum(getattr(xt, kind)(w, dim="w") * xt.array(weights, ("a", "t")))

    got = xt.grad(loss)(xt.array(x, ("a", "t")).transpose(*dims))
    np.testing.assert_allclose(got.transpose("a", "t").values, want, rtol=1e-15)


def test_shares_of_windows_are_stored_nowhere() -> None:
    x = xt.array(np.zeros((8, 64), "f4"), ("a", "t"))
    gradient = xt.jit(xt.grad(lambda x: xt.sum(xt.square(x.rolling(t=5).max().isel(t=slice(4, None))))))
    assert "overlap_add" not in gradient.lower(x).as_text("differentiated")
    assert "x5xf32>" not in gradient.lower(x).as_text("buffers")


@pytest.mark.parametrize(
    "part", [slice(9, None), slice(0, 5), slice(3, 30, 4), slice(-6, None), slice(None, None, 3), slice(8, 9)]
)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("dims", ["a", "ab", "ba"])
def test_a_part_of_windows_is_windows_of_a_part(dims: str, center: bool, stride: int, part: slice) -> None:
    rng = np.random.default_rng(1)
    x = xt.array(rng.normal(size=[{"a": 37, "b": 5}[d] for d in dims]), tuple(dims))
    windows = lambda x: x.rolling(a=10, center=center).construct("w", stride=stride, fill_value=0.5)  # noqa: E731
    first, last = lambda x: windows(x).isel(a=part).mean("w"), lambda x: windows(x).mean("w").isel(a=part)
    np.testing.assert_allclose(xt.jit(first)(x).values, last(x).values, rtol=1e-13)
    one, other = (xt.jit(xt.grad(lambda x, f=f: xt.sum(xt.sin(f(x)))))(x).values for f in (first, last))
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)


@pytest.mark.cpu_only("as_text of the CPU")
def test_the_gradient_of_a_part_of_windows_stores_no_windows() -> None:
    f = lambda x: xt.sum(xt.sin(x.rolling(a=10).construct("w").isel(a=slice(9, None)).mean("w")))  # noqa: E731
    text = xt.jit(xt.grad(f)).as_text("linalg", xt.zeros(a=4096))
    assert "4087x10x" not in text and "4096x10x" not in text


@pytest.mark.cpu_only("differences are taken in float64")
def test_products_of_windows_and_their_residuals_share_a_padded_array() -> None:
    """A fused loop read the padded array at plain positions, took its size for its own, and wrote behind a residual."""
    x = xt.array([0.6, -0.6, 0.74, -1.69, 0.66, 0.2, -1.1], dims="i")

    def f(x: Any, p: Any) -> Any:
        def products(x: Any) -> Any:
            a = x.rolling(i=3, center=True, min_periods=1).prod()
            return x + xt.sum(a * a.rename(i="j"))

        return xt.cond(p, lambda x: x, products, x)

    no = xt.array(False, dims=())
    check_gradients(lambda x: f(x, no), (x,), order=2)


def test_std_of_equal_values_has_no_slope() -> None:
    gradient = xt.grad(lambda x: xt.sum(x.rolling(t=2).std().isel(t=slice(1, None))))(xt.ones(t=4))
    np.testing.assert_array_equal(gradient.values, np.zeros(4))


# ---- coarsen ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_coarsen_is_xarrays(kind: str) -> None:
    x = array(6, 4, 7, dims="abc")
    same(getattr(ours(x).coarsen(a=2, b=4), kind)(), getattr(x.coarsen(a=2, b=4), kind)(), rtol=1e-9)
    for side in ("left", "right"):
        want = getattr(x.coarsen(c=3, boundary="trim", side=side), kind)()
        same(getattr(ours(x).coarsen(c=3, boundary="trim", side=side), kind)(), want, rtol=1e-9)
    whole = xr.DataArray(np.arange(6), dims="a")
    want = getattr(whole.coarsen(a=3), kind)()
    same(getattr(ours(whole).coarsen(a=3), kind)(), want, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_with_nan(kind: str) -> None:
    gaps = array(6, 4, dims="ab").pipe(lambda x: x.where(x > -0.5))
    same(getattr(ours(gaps).coarsen(a=2), kind)(skipna=True), getattr(gaps.coarsen(a=2), kind)(), rtol=1e-9)
    with xt.option(skipna=True):
        want = gaps.coarsen(a=2).reduce(getattr(np, kind))
        same(getattr(ours(gaps).coarsen(a=2), kind)(skipna=False), want, rtol=1e-9)
    for size in (8, 10, 12):  # one program for all sizes
        more = array(size, 3, dims="ab").pipe(lambda x: x.where(x > -0.5))
        same(getattr(ours(more).coarsen(a=2), kind)(skipna=True), getattr(more.coarsen(a=2), kind)(), rtol=1e-9)


def test_coarsen_gradient() -> None:
    gradient = xt.grad(lambda x: xt.sum(x.coarsen(a=2).max() * xt.array([1.0, 10], "a")))(xt.array([1.0, 2, 5, 5], "a"))
    assert gradient.values.tolist() == [0, 1, 5, 5]


@pytest.mark.parametrize("dtype", ["f2", "bfloat16"])
@pytest.mark.parametrize("least", [None, 2])
def test_moments_of_windows_of_16_bits_are_rounded_once(dtype: str, least: int | None) -> None:
    x = xt.array(np.random.default_rng(0).normal(size=200) * 8 + 1000, "t").astype(dtype)
    exact = np.lib.stride_tricks.sliding_window_view(x.astype("f8").values, 90)  # their sums are beyond float16
    for kind in ("mean", "var", "std"):
        want = xt.array(getattr(exact, kind)(-1), "t").astype(dtype).values.astype("f8")
        for call in (lambda f: f, xt.jit):
            got = call(lambda x, kind=kind: getattr(x.rolling(t=90, min_periods=least), kind)())(x)
            assert got.dtype == x.dtype
            np.testing.assert_allclose(got.astype("f8").values[89:], want, rtol=2**-10 if dtype == "f2" else 2**-7)
        blocks = getattr(x.coarsen(t=100), kind)()
        want = getattr(x.astype("f8").values.reshape(2, 100), kind)(-1)
        np.testing.assert_allclose(blocks.astype("f8").values, want, rtol=2**-10 if dtype == "f2" else 2**-7)


def test_variances_of_complex_windows_are_real() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=20) + 1j * rng.normal(size=20)
    for kind in ("var", "std"):
        want = getattr(np.lib.stride_tricks.sliding_window_view(z, 5), kind)(-1)
        for call in (lambda f: f, xt.jit):
            got = call(lambda x, kind=kind: getattr(x.rolling(t=5), kind)())(xt.array(z, "t"))
            assert got.dtype == np.float64
            np.testing.assert_allclose(got.values[4:], want)
        assert np.isnan(getattr(xt.array(z, "t").rolling(t=50), kind)().values).all()
        np.testing.assert_allclose(getattr(xt.array(z, "t").coarsen(t=5), kind)().values, want[::5])


@pytest.mark.parametrize("kind", ["sum", "mean", "var", "std"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("size", [3, 5, 30])
def test_complex_windows_of_what_is_there(size: int, center: bool, kind: str) -> None:
    """At an end and between NaN, in either part."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=21) + 1j * rng.normal(size=21)
    z[[4, 5]], z[11] = np.nan, complex(1, np.nan)
    before = size // 2 if center else size - 1
    want = np.full(21, np.nan, z.dtype if kind in ("sum", "mean") else float)
    for k in range(21):
        there = z[max(k - before, 0) : max(k - before + size, 0)]
        there = there[~np.isnan(there)]
        if there.size >= 2:
            want[k] = getattr(np, kind)(there)
    got = getattr(xt.array(z, "t").rolling(t=size, center=center, min_periods=2), kind)().values
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got[~np.isnan(got)], want[~np.isnan(want)], rtol=1e-12)


# ---- no copies -------------------------------------------------------------------------------------------------------


def test_windows_are_read_where_they_lie() -> None:
    x = xt.ones(a=64, t=1024, dtype="f4")
    text = xt.jit(lambda x: xt.sum(x.rolling(t=9).sum().isel(t=slice(8, None)))).lower(x).as_text("linalg")
    assert "tensor<64x1016x9xf32>" not in text
    text = (
        xt.jit(lambda x, k: xt.signal.convolve(x, k, dims=("t", "k"), mode="valid"))
        .lower(x, xt.ones(k=9, dtype="f4"))
        .as_text("linalg")
    )
    assert "tensor<64x1016x9xf32>" not in text


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.rolling(z=2), "'z'"),
        (lambda x: x.rolling(t=0), "1 or more, not 0"),
        (lambda x: x.rolling(), "no dim"),
        (lambda x: x.rolling("t"), "length of the window"),
        (lambda x: x.rolling(t=2).construct("a"), "two dims would be named 'a'"),
        (lambda x: x.coarsen(t=3).sum(), "do not divide dim 't'"),
        (lambda x: x.coarsen(t=2, boundary="wrap"), "boundary"),
        (lambda x: xt.nn.conv(x, xt.ones(k=2), dims={"z": "k"}), "'z'"),
        (lambda x: xt.nn.conv(x, xt.ones(k=2), dims={"t": "q"}), "'q'"),
        (lambda x: xt.nn.conv(x, xt.ones(a=2), dims={"t": "a"}), "one of x, too"),
        (lambda x: xt.nn.conv(x, xt.ones(k=9), dims={"t": "k"}), "9 elements does not fit"),
        (lambda x: xt.nn.conv(x, xt.ones(k=2), dims={"t": "k"}, stride={"a": 2}), "windows lie along"),
        (lambda x: xt.nn.max_pool(x, {"t": 9}), "does not fit"),
        (lambda x: xt.nn.max_pool(x, 2), "dict"),
        (lambda x: xt.signal.convolve(x, xt.ones(k=2), dims=("t", "k"), mode="half"), "mode"),
        (lambda x: xt.signal.convolve(x, xt.ones(k=2), dims=("t", "a")), "'a'"),
        (lambda x: xt.signal.convolve(x, xt.ones(k=2), dims=("t", "k"), method="fast"), "method is one of"),
        (
            lambda x: xt.signal.convolve(
                xt.arange(4, dim="t"), xt.ones(k=2, dtype="i4"), dims=("t", "k"), method="fft"
            ),
            'method="direct"',
        ),
    ],
)
def test_errors_say_what_is_wrong(call: Any, message: str) -> None:
    with pytest.raises(xt.Error, match=message):
        call(xt.ones(a=2, t=8))


def test_a_dynamic_dim_has_no_blocks() -> None:
    with pytest.raises(xt.DimensionError, match="dynamic"):
        xt.jit(lambda x: x.coarsen(t=2).sum(), dynamic_dims=("t",))(xt.ones(t=4))
