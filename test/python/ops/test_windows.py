"""Windows: rolling and coarsen against xarray, convolutions and pooling against PyTorch and SciPy, all with gradients.

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


# ---- convolution -----------------------------------------------------------------------------------------------------

CONV = [
    {},
    {"stride": 2},
    {"padding": 1},
    {"padding": 2, "stride": (1, 2), "dilation": (2, 1)},
    {"stride": 3, "padding": (0, 1)},
]


def by_dim(options: dict[str, Any]) -> dict[str, Any]:
    return {k: dict(zip("hw", v, strict=True)) if isinstance(v, tuple) else v for k, v in options.items()}


@pytest.mark.parametrize("options", CONV)
def test_conv_is_pytorchs(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 9, 11)), rng.normal(size=(4, 3, 3, 2))
    leaves = [torch.from_numpy(v.copy()).requires_grad_() for v in (x, w)]
    want = torch.nn.functional.conv2d(*leaves, **options)

    def conv(x: Any, w: Any) -> Any:
        return xt.nn.conv(x, w, dims={"h": "kh", "w": "kw"}, dim="i", **by_dim(options))

    y, back = xt.vjp(conv, xt.array(x, ("n", "i", "h", "w")), xt.array(w, ("o", "i", "kh", "kw")))
    assert y.dims == ("n", "h", "w", "o")
    y = xt.transpose(y, "n", "o", "h", "w")
    np.testing.assert_allclose(y.values, want.detach().numpy(), rtol=1e-10, atol=1e-12)
    weights = rng.normal(size=tuple(want.shape))
    for ours_, theirs in zip(
        back(xt.array(weights, ("n", "o", "h", "w"))),
        torch.autograd.grad(want, leaves, torch.from_numpy(weights)),
        strict=True,
    ):
        np.testing.assert_allclose(ours_.values, theirs.numpy(), rtol=1e-9, atol=1e-11)


LAYOUTS = {
    "channels first": ("nchw", "ocyx", "nohw"),
    "channels last": ("nhwc", "yxco", "nhwo"),
    "channels last, kernel of PyTorch": ("nhwc", "ocyx", "nhwo"),
    "channels become last": ("nchw", "ocyx", "nhwo"),
    "channels become first": ("nhwc", "yxco", "nohw"),
    "rows in the middle": ("hncw", "yocx", "onwh"),
}


def conv_by_taps(x: np.ndarray, w: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    """(n, c, h, w), (o, c, y, x) -> (n, o, h, w), one product for each place of the kernel."""
    high, wide = ((n - (k - 1) * dilation - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    y = np.zeros((len(x), len(w), high, wide))
    for i, j in np.ndindex(*w.shape[2:]):
        rows = slice(i * dilation, i * dilation + (high - 1) * stride + 1, stride)
        columns = slice(j * dilation, j * dilation + (wide - 1) * stride + 1, stride)
        y += np.einsum("nchw,oc->nohw", x[:, :, rows, columns].astype("f8"), w[:, :, i, j].astype("f8"))
    return y


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("sizes", "stride", "dilation"),
    [
        ((2, 3, 7, 19, 33, 3, 2), 1, 1),  # n, c, h, w, o, kernel
        ((1, 16, 9, 40, 16, 3, 3), 1, 1),
        ((2, 5, 12, 29, 20, 2, 5), 1, 2),
        ((3, 2, 11, 23, 5, 3, 3), 2, 1),
        ((1, 1, 6, 130, 2, 1, 4), 1, 1),
        ((1, 40, 14, 18, 100, 3, 5), 1, 1),
        ((2, 4, 16, 34, 70, 2, 2), 3, 2),
    ],
)
def test_conv_in_every_layout(layout: str, sizes: tuple[int, ...], stride: int, dilation: int, dtype: str) -> None:
    """Values, and gradients: as the products with random numbers that the transposes of the map have."""
    n, c, h, w, o, *kernel = sizes
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=(n, c, h, w)).astype(dtype), rng.normal(size=(o, c, *kernel)).astype(dtype)
    names = {"x": "nchw", "k": "ocyx", "y": "nohw"}

    def array(values: np.ndarray, order: str, of: str) -> Any:
        stored = np.ascontiguousarray(values.transpose([names[of].index(d) for d in order]))
        return xt.array(stored, tuple(order))

    orders = LAYOUTS[layout]
    conv = xt.jit(
        lambda x, k: xt.transpose(
            xt.nn.conv(x, k, dims={"h": "y", "w": "x"}, dim="c", stride=stride, dilation=dilation), *orders[2]
        )
    )
    want = conv_by_taps(x, k, stride, dilation)
    tolerance = 1e-5 if dtype == "f4" else 1e-12
    scale = np.abs(want).max()
    X, K = array(x, orders[0], "x"), array(k, orders[1], "k")  # noqa: N806
    np.testing.assert_allclose(xt.transpose(conv(X, K), *"nohw").values, want, rtol=0, atol=tolerance * scale)
    g = rng.normal(size=want.shape).astype(dtype)
    back = xt.jit(lambda x, k, g: xt.vjp(lambda x, k: conv(x, k), x, k)[1](g))(X, K, array(g, orders[2], "y"))
    for _ in range(3):
        dx, dk = rng.normal(size=x.shape).astype(dtype), rng.normal(size=k.shape).astype(dtype)
        for cotangent, direction, moved, order in (
            (back[0], dx, conv_by_taps(dx, k, stride, dilation), "nchw"),
            (back[1], dk, conv_by_taps(x, dk, stride, dilation), "ocyx"),
        ):
            got = np.vdot(xt.transpose(cotangent, *order).values.astype("f8"), direction)
            np.testing.assert_allclose(got, np.vdot(g, moved), rtol=0, atol=tolerance * np.linalg.norm(moved) * 30)


# Sizes of the image, the kernel, the stride, the padding and the dilation along each dim.
STRIDED = [
    ((17,), (5,), (3,), (2,), (1,)),
    ((16,), (4,), (4,), (0,), (1,)),
    ((16,), (2,), (4,), (0,), (1,)),
    ((19,), (3,), (4,), (1,), (2,)),
    ((16, 16), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((13, 15), (3, 4), (2, 3), (1, 0), (1, 1)),
    ((14, 9), (1, 3), (2, 1), (0, 1), (1, 2)),
    ((20, 22), (7, 7), (2, 2), (3, 3), (1, 1)),
    ((9, 8, 7), (3, 2, 1), (2, 3, 2), (1, 0, 0), (1, 2, 1)),
]


@pytest.mark.parametrize("last", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("case", STRIDED, ids=str)
def test_gradients_by_strided_images_are_pytorchs(case: tuple[Any, ...], groups: int, last: bool) -> None:
    """Values, and where an infinity of the cotangent arrives: only at elements that its window has."""
    torch = pytest.importorskip("torch")
    sizes, kernel, stride, padding, dilation = case
    rank, rng = len(sizes), np.random.default_rng(0)
    x, k = rng.normal(size=(2, groups * 4, *sizes)), rng.normal(size=(groups * 17, 4, *kernel))
    leaf = torch.from_numpy(x).requires_grad_()
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    y = getattr(torch.nn.functional, f"conv{rank}d")(leaf, torch.from_numpy(k), groups=groups, **options)
    space, taps = tuple("dhw"[:rank]), tuple("xyz"[:rank])
    image = ("n", *space, "g", "c") if last else ("n", "g", "c", *space)
    result = tuple("o" if d == "c" else d for d in image)

    def array(values: np.ndarray, names: tuple[str, ...], order: tuple[str, ...]) -> Any:
        shape = (len(values), groups, -1, *values.shape[2:]) if names[0] == "n" else (groups, -1, *values.shape[1:])
        values = values.reshape(shape)
        return xt.array(np.ascontiguousarray(values.transpose([names.index(d) for d in order])), order)

    def conv(x: Any, k: Any) -> Any:
        ways = {name: dict(zip(space, way, strict=True)) for name, way in options.items()}
        y = xt.nn.conv(x, k, dims=dict(zip(space, taps, strict=True)), dim="c", **ways)
        return xt.transpose(y, *result)

    names = ("n", "g", "c", *space)
    X, K = array(x, names, image), array(k, ("g", "o", "c", *taps), ("g", "o", "c", *taps))  # noqa: N806
    back = xt.jit(lambda x, k, ct: xt.vjp(lambda x: conv(x, k), x)[1](ct)[0], dynamic_dims=("n",))
    cotangent = rng.normal(size=tuple(y.shape))
    for _ in range(2):
        ours_ = back(X, K, array(cotangent, ("n", "g", "o", *space), result))
        ours_ = xt.transpose(ours_, *names).values.reshape(x.shape)
        (want,) = torch.autograd.grad(y, leaf, torch.from_numpy(cotangent), retain_graph=True)
        finite = np.isfinite(want.numpy())
        np.testing.assert_array_equal(np.isfinite(ours_), finite)
        assert not np.isnan(ours_).any()
        np.testing.assert_allclose(ours_[finite], want.numpy()[finite], rtol=1e-9, atol=1e-11)
        cotangent[(0, 0, *(n // 2 for n in y.shape[2:]))] = np.inf


def test_conv_shares_what_both_have() -> None:
    """A group is a name that both operands have; one per channel is a depthwise convolution."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 10)), rng.normal(size=(3, 4))
    want = torch.nn.functional.conv1d(torch.from_numpy(x), torch.from_numpy(w[:, None]), groups=3)
    y = xt.nn.conv(xt.array(x, ("n", "c", "t")), xt.array(w, ("c", "k")), dims={"t": "k"})
    np.testing.assert_allclose(y.values, want.numpy(), rtol=1e-10)


def test_conv_with_a_dynamic_batch() -> None:
    rng = np.random.default_rng(0)
    w = xt.array(rng.normal(size=(4, 3, 3)), ("o", "i", "k"))

    def loss(x: Any) -> Any:
        return xt.sum(xt.square(xt.nn.max_pool(xt.nn.conv(x, w, dims={"t": "k"}, dim="i", padding="same"), {"t": 2})))

    run = xt.jit(xt.grad(loss), dynamic_dims=("n",))
    for n in (1, 5, 0):
        x = xt.array(rng.normal(size=(n, 3, 8)), ("n", "i", "t"))
        np.testing.assert_allclose(run(x).values, xt.grad(loss)(x).values, rtol=1e-10, atol=1e-12)


def test_same_padding_keeps_sizes() -> None:
    for k in (1, 2, 3, 4):
        y = xt.nn.conv(xt.ones(t=7), xt.ones(k=k), dims={"t": "k"}, padding="same")
        want = np.convolve(np.ones(7), np.ones(k))[(k - 1) - (k - 1) // 2 :][:7]
        np.testing.assert_array_equal(y.values, want)


@pytest.mark.parametrize(("sizes", "stride"), [((2, 2), None), ((3, 2), 1), ((2, 3), (2, 1)), ((3, 3), 2)])
@pytest.mark.parametrize("padding", [0, 1])
def test_pools_are_pytorchs(sizes: tuple[int, int], stride: Any, padding: int) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 10))
    named_ = xt.array(x, ("n", "c", "h", "w"))
    for name in ("max_pool", "avg_pool"):
        leaf = torch.from_numpy(x.copy()).requires_grad_()
        want = getattr(torch.nn.functional, f"{name}2d")(leaf, sizes, stride, padding)
        steps = dict(zip("hw", stride, strict=True)) if isinstance(stride, tuple) else stride
        y, back = xt.vjp(
            lambda x, name=name, steps=steps: getattr(xt.nn, name)(
                x, dict(zip("hw", sizes, strict=True)), steps, padding=padding
            ),
            named_,
        )
        np.testing.assert_allclose(y.values, want.detach().numpy(), rtol=1e-12, atol=1e-12)
        weights = np.random.default_rng(1).normal(size=y.shape)
        (gradient,) = torch.autograd.grad(want, leaf, torch.from_numpy(weights))
        np.testing.assert_allclose(back(xt.array(weights, y.dims))[0].values, gradient.numpy(), rtol=1e-10, atol=1e-12)


def test_max_pool_of_integers() -> None:
    x = xt.array(np.array([3, -1, 4, 1], "i4"), "t")
    assert xt.nn.max_pool(x, {"t": 2}).values.tolist() == [3, 4]
    assert xt.nn.max_pool(x, {"t": 3}, padding={"t": (2, 0)}).values.tolist() == [3, 4]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (6, 4), (3, 5), (4, 7), (40, 9)])
def test_convolve_is_scipys(mode: str, n: int, m: int) -> None:
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=(2, n)), rng.normal(size=m)
    want = np.stack([signal.convolve(row, k, mode) for row in x])
    y = xt.signal.convolve(xt.array(x, ("a", "time")), xt.array(k, "kernel"), dims=("time", "kernel"), mode=mode)
    assert y.dims == ("a", "time")
    np.testing.assert_allclose(y.values, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_convolve_by_transforms_is_scipys(dtype: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (6, 4), (3, 7), (500, 90), (90, 500)):
        x, k = rng.normal(size=(2, n)).astype(dtype), rng.normal(size=(m, 3)).astype(dtype)
        for mode in ("full", "same", "valid"):
            want = [[signal.convolve(row, k[:, j].astype("c16"), mode) for j in range(3)] for row in x.astype("c16")]
            y = xt.signal.convolve(
                xt.array(x, ("a", "time")), xt.array(k, ("lag", "b")), dims=("time", "lag"), mode=mode, method="fft"
            )
            assert y.dims == ("a", "time", "b")
            assert y.dtype == dtype
            np.testing.assert_allclose(
                y.values, np.moveaxis(np.asarray(want), 1, 2), rtol=0,
                atol=30 * np.finfo(dtype).eps * np.sqrt(min(n, m)),
            )  # fmt: skip


def test_convolve_takes_transforms_for_long_kernels() -> None:
    rng = np.random.default_rng(0)

    def takes(n: int, m: int, dtype: str, **more: Any) -> bool:
        f = xt.jit(lambda x, k: xt.signal.convolve(x, k, dims=("t", "k"), **more))
        x, k = xt.spec(t=n, dtype=dtype), xt.spec(k=m, dtype=dtype)
        return "xtensor.fourier" in f.lower(x, k).as_text("traced")

    assert takes(4096, 2048, "f4")
    assert takes(4096, 2048, "c16", mode="same")
    assert not takes(4096, 2048, "i4")
    assert not takes(4096, 3, "f8")
    assert not takes(4096, 2048, "f4", method="direct")
    assert takes(4096, 3, "f2", method="fft")
    x, k = rng.integers(-9, 9, 4000), rng.integers(-9, 9, 2000)
    y = xt.signal.convolve(xt.array(x, "t"), xt.array(k, "k"), dims=("t", "k"))
    np.testing.assert_array_equal(y.values, np.convolve(x, k))
    f = lambda x, k: (xt.signal.convolve(x, k, dims=("t", "k"), mode="same", method="fft") ** 3).sum()  # noqa: E731
    xt.testing.check_gradients(f, [xt.array(rng.normal(size=7), "t"), xt.array(rng.normal(size=4), "k")], order=2)


def test_convolve_gradients_are_correlations() -> None:
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=12), rng.normal(size=4)
    weights = rng.normal(size=15)
    _, back = xt.vjp(lambda x, k: xt.signal.convolve(x, k, dims=("t", "m")), xt.array(x, "t"), xt.array(k, "m"))
    gx, gk = back(xt.array(weights, "t"))
    np.testing.assert_allclose(gx.values, np.correlate(weights, k, "valid"), rtol=1e-10)
    np.testing.assert_allclose(gk.values, np.correlate(weights, x, "valid"), rtol=1e-10)


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
