"""sort, argsort, top_k, rank, median, quantile and searchsorted against NumPy, xarray and SciPy; derivatives go to the
elements that the stable order puts in place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DTYPES, examples, named, ours, same, several, values
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from xtensor.ops.quantiles import METHODS

FLOATS = ("f4", "f8")


def within(f: Any, *xs: Any) -> tuple[Any, Any]:
    """What `f` gives at once, and in a compiled function."""
    return f(*xs), xt.jit(f)(*xs)


def with_nan(x: xr.DataArray, every: int = 4) -> xr.DataArray:
    flat = x.values.copy().reshape(-1)
    flat[::every] = np.nan
    return x.copy(data=flat.reshape(x.shape))


def backwards(x: np.ndarray, axis: int) -> np.ndarray:
    """Positions in descending order, stable, NaN last."""
    x = np.moveaxis(x, axis, -1)
    keys = x if x.dtype.kind in "iub" else np.where(np.isnan(x), -np.inf, x)
    nan = np.zeros(x.shape, bool) if x.dtype.kind in "iub" else np.isnan(x)
    order = np.empty(x.shape, "i8")
    for at in np.ndindex(x.shape[:-1]):
        row = [int(v) if x.dtype.kind in "iub" else float(v) for v in keys[at]]
        order[at] = sorted(range(x.shape[-1]), key=lambda i: (nan[at][i], -row[i]))
    return np.moveaxis(order, -1, axis)


@examples(80)
@given(named(DTYPES, least=1), st.booleans(), st.data())
def test_sort_and_argsort(x: xr.DataArray, descending: bool, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    axis = x.get_axis_num(dim)
    order = backwards(x.values, axis) if descending else np.argsort(x.values, axis, kind="stable")
    for got in within(lambda t: xt.argsort(t, dim, descending=descending), ours(x)):
        same(got, xr.DataArray(order, dims=x.dims))
    for got in within(lambda t: xt.sort(t, dim, descending=descending), ours(x)):
        same(got, xr.DataArray(np.take_along_axis(x.values, order, axis), dims=x.dims))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "bfloat16"])
@pytest.mark.parametrize("n", [9, 3000])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_last_and_zeros_equal(dtype: str, n: int, descending: bool) -> None:
    x = np.random.default_rng(n).integers(-3, 4, n).astype("f4") / 2
    x[::7], x[1::7], x[2::7], x[3::11] = np.nan, -0.0, 0.0, np.inf
    x[5] = -np.inf
    t = xt.array(x, "t").astype(dtype)
    want = backwards(x, 0) if descending else np.argsort(x, kind="stable")
    for got in within(lambda t: xt.argsort(t, descending=descending), t):
        np.testing.assert_array_equal(got.values, want)
    negative = np.copysign(np.full(3, np.nan, "f4"), -1)
    both = xt.array(np.concatenate([negative, x]), "t")
    np.testing.assert_array_equal(np.isnan(xt.sort(both, descending=descending).values[-3:]), True)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("n", [5, 2000])
def test_extreme_integers(dtype: str, n: int) -> None:
    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    x[0], x[3] = info.max, info.min
    np.testing.assert_array_equal(xt.sort(xt.array(x, "t")).values, np.sort(x))
    np.testing.assert_array_equal(xt.sort(xt.array(x, "t"), descending=True).values, np.sort(x)[::-1])


def _rows(dtype: str, n: int) -> list[np.ndarray]:
    """Rows with ties, zeros of both signs, NaN, keys that differ in their last bits alone, or in their first ones."""
    rng = np.random.default_rng(n)
    kind = np.dtype(dtype).kind
    if kind in "iu":
        info = np.iinfo(dtype)
        near = int(info.max) - rng.integers(0, min(1000, info.max), n).astype(object)
        wide = rng.integers(info.min, info.max, n, dtype, True)
        return [wide, rng.integers(0, 5, n).astype(dtype), near.astype(dtype)]
    mixed = rng.integers(-2, 3, n).astype(dtype)
    mixed[::5], mixed[1::5], mixed[2::7] = -0.0, 0.0, np.nan
    near = np.full(n, 1.0, dtype)
    near[::3] += np.finfo(dtype).eps * rng.integers(0, 7, len(near[::3])).astype(dtype)
    return [rng.normal(size=n).astype(dtype), mixed, near, np.full(n, -0.0, dtype), np.sort(mixed)[::-1].copy()]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 255, 257, 1023, 1025, 5000])
def test_values_and_positions_of_the_stable_order(dtype: str, n: int) -> None:
    """Values alone, where nobody asks for positions, to the bit as NumPy's stable sort has them."""
    values, positions = xt.jit(lambda t: xt.sort(t, "t")), xt.jit(lambda t: xt.argsort(t, "t"))
    for row in _rows(dtype, n):
        for x in (row, np.stack([row, row[::-1], np.roll(row, 1)], 1)):
            t = xt.array(x, ("t", "b")[: x.ndim])
            order = np.argsort(x, 0, kind="stable")
            np.testing.assert_array_equal(positions(t).values, order)
            bits = f"u{x.dtype.itemsize}"
            np.testing.assert_array_equal(values(t).values.view(bits), np.take_along_axis(x, order, 0).view(bits))
            back = xt.jit(lambda t: xt.sort(t, "t", descending=True))(t)
            np.testing.assert_array_equal(back.values, np.take_along_axis(x, backwards(x, 0), 0))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u8"])
def test_many_short_rows_with_equal_elements(dtype: str) -> None:
    """Rows that are sorted side by side, in blocks of 16."""
    for n in (2, 3, 4, 7, 8, 13, 16):
        x = np.stack([np.roll(_rows(dtype, n)[i % 2], i) for i in range(37)])
        t, order = xt.array(x, ("b", "t")), np.argsort(x, 1, kind="stable")
        for by_columns in (False, True):
            found = xt.jit(lambda t, back=by_columns: xt.argsort(xt.transpose(t) if back else t, "t"))(t)
            np.testing.assert_array_equal(xt.transpose(found, "b", "t").values, order)
            found = xt.jit(lambda t, back=by_columns: xt.sort(xt.transpose(t) if back else t, "t"))(t)
            np.testing.assert_array_equal(xt.transpose(found, "b", "t").values, np.take_along_axis(x, order, 1))
        least, places = xt.top_k(t, 2, "t")
        back = backwards(x, 1)[:, :2]
        np.testing.assert_array_equal(places.values, back)
        np.testing.assert_array_equal(least.values, np.take_along_axis(x, back, 1))


@pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "f4", "f8", "i8"])
def test_values_of_rows_side_by_side(dtype: str) -> None:
    """Squares of 16 columns, whole and not, merged; blocks of 16 rows, whole and not, of any stride."""
    for n in (5, 17, 31, 33, 48, 97, 130, 256, 300, 513, 1000):
        for rows in (7, 8, 23):
            x = np.stack([np.roll(_rows(dtype, n)[i % 2], i) for i in range(rows)])
            order = np.argsort(x, 1, kind="stable")
            want, bits = np.take_along_axis(x, order, 1), f"u{x.dtype.itemsize}"
            down = np.take_along_axis(x, backwards(x, 1), 1)
            for dims in (("b", "t"), ("t", "b")):
                t = xt.array(x, ("b", "t")).transpose(*dims)
                found = xt.sort(t, "t").transpose("b", "t").values
                np.testing.assert_array_equal(found.view(bits), want.view(bits))
                found = xt.sort(t, "t", descending=True).transpose("b", "t").values
                np.testing.assert_array_equal(found, down)


def test_rows_of_any_stride_on_several_threads() -> None:
    x = np.random.default_rng(0).normal(size=(40, 300, 7)).astype("f4")
    t = xt.array(x, ("a", "b", "c"))
    for dim, axis in (("a", 0), ("b", 1), ("c", 2)):
        np.testing.assert_array_equal(xt.sort(t, dim).values, np.sort(x, axis))
        turned = xt.jit(lambda t, dim=dim: xt.argsort(t.transpose(), dim))(t)
        np.testing.assert_array_equal(turned.transpose().values, np.argsort(x, axis, kind="stable"))


@examples(40)
@given(named(FLOATS, least=1, sizes=(1, 2, 3, 5)), st.data())
def test_top_k(x: xr.DataArray, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    k = data.draw(st.integers(0, x.sizes[dim]))
    axis = x.get_axis_num(dim)
    order = np.take(backwards(x.values, axis), np.arange(k), axis)
    for largest, indices in within(lambda t: xt.top_k(t, k, dim), ours(x)):
        same(indices, xr.DataArray(order, dims=x.dims))
        same(largest, xr.DataArray(np.take_along_axis(x.values, order, axis), dims=x.dims))


@pytest.mark.sampled(20)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i8"])
@pytest.mark.parametrize("k", [1, 7, 100, 125, 999, 1000])
@pytest.mark.parametrize("size", [1000, 3000])
def test_top_k_of_long_rows(size: int, k: int, dtype: str) -> None:
    """A few are chosen on the way, more are set apart, and ties stay in order all the same."""
    rng = np.random.default_rng(k)
    rows = [rng.integers(0, 50, size), np.arange(size) % 128, -np.arange(size) % 128, np.full(size, 3)]
    x = np.stack(rows).astype(dtype)
    if x.dtype.kind == "f":
        x[0, ::7] = np.nan
        x[1, 3::5] = -0.0
        x[1, 4::5] = 0.0
        x[2, 10], x[2, 20] = np.inf, -np.inf
    order = backwards(x, 1)[:, :k]
    for t in (xt.array(x, ("r", "t")), xt.array(x.T.copy(), ("t", "r"))):
        for run in (lambda t: xt.top_k(t, k, "t"), xt.jit(lambda t: xt.top_k(t, k, "t"))):
            largest, places = run(t)
            np.testing.assert_array_equal(places.transpose("r", "t").values, order)
            np.testing.assert_array_equal(largest.transpose("r", "t").values, np.take_along_axis(x, order, 1))
    if k < size:  # of one order, both a part and the whole
        part, whole = xt.jit(lambda t: (xt.top_k(t, k, "t")[1], xt.argsort(t, "t", descending=True)))(t)
        np.testing.assert_array_equal(whole.isel(t=slice(0, k)).values, part.values)


def test_top_k_of_too_many() -> None:
    with pytest.raises(xt.SizeError, match=r"k is 4, but dim 't' has size 3"):
        xt.top_k(xt.zeros(t=3), 4)


@examples(40)
@given(named((*FLOATS, "i4"), least=1), st.booleans(), st.booleans(), st.data())
def test_rank(x: xr.DataArray, nan: bool, pct: bool, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    if nan and x.dtype.kind == "f":
        x = with_nan(x)
    policy = {"axis": x.get_axis_num(dim), "nan_policy": "omit"}
    want = stats.rankdata(x.values, **policy) if x.size else np.zeros(x.shape)
    if x.dtype.kind == "f":
        want = np.where(np.isnan(x.values), np.nan, want)
    if pct:
        want = want / np.sum(~np.isnan(x.values), axis=policy["axis"], keepdims=True)
    for got in within(lambda t: xt.rank(t, dim, pct=pct), ours(x)):
        same(got, xr.DataArray(want.astype("f8"), dims=x.dims))


@examples(60)
@given(named(("f4", "f8", "i4", "?"), least=1, sizes=(1, 2, 3, 5)), st.booleans(), st.booleans(), st.data())
def test_median(x: xr.DataArray, nan: bool, skipna: bool, data: Any) -> None:
    dims = data.draw(st.lists(st.sampled_from(x.dims), min_size=1, unique=True))
    if nan and x.dtype.kind == "f":
        x = with_nan(x)
    axes = tuple(x.get_axis_num(d) for d in dims)
    with np.errstate(all="ignore"):
        want = (np.nanmedian if skipna else np.median)(x.values.astype(x.dtype if x.dtype.kind == "f" else "f8"), axes)
    for got in within(lambda t: xt.median(t, dims, skipna=skipna), ours(x)):
        same(got, xr.DataArray(want, dims=[d for d in x.dims if d not in dims]), rtol=1e-6)


@examples(60)
@given(named(FLOATS, least=1, sizes=(1, 2, 3, 5)), st.booleans(), st.booleans(), st.data())
def test_quantile(x: xr.DataArray, nan: bool, skipna: bool, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    q = data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0, [0.25], [0.1, 0.5, 0.9]]))
    if nan:
        x = with_nan(x)
    want = x.quantile(q, dim, skipna=skipna).drop_vars("quantile").astype(x.dtype)
    for got in within(lambda t: xt.quantile(t, q, dim, skipna=skipna), ours(x)):
        same(got, want, rtol=1e-5)


def test_order_statistics_of_everything() -> None:
    x = xt.array([[3.0, 1], [2, 10]], ("a", "b"))
    assert x.median().item() == 2.5
    assert x.quantile(0.25).item() == np.quantile(x.values, 0.25)
    assert xt.median(xt.array(4.0)).item() == 4
    assert xt.median(xt.array([np.inf, np.inf, -np.inf, np.inf], "a")).item() == np.inf
    with pytest.raises(xt.SizeError, match="no elements"):
        xt.median(xt.zeros(a=0))
    with pytest.raises(xt.ArgumentError, match="from 0 to 1"):
        xt.quantile(x, 1.5)


MEDIANS = {
    "median": xt.median,
    "skipna": lambda x, dim: xt.median(x, dim, skipna=True),
    "segments": lambda x, dim: xt.segment_median(x, 0 * xt.arange(x.sizes[dim], dim=dim), 1),
    "rolling": lambda x, dim: x.rolling({dim: x.sizes[dim]}).median().isel({dim: -1}),
    "coarsen": lambda x, dim: x.coarsen({dim: x.sizes[dim]}).median(),
}


@pytest.mark.parametrize(("dtype", "exponent"), [("f8", 1023), ("f4", 127), ("bfloat16", 127), ("f2", 15)])
@pytest.mark.parametrize("name", MEDIANS)
def test_median_of_large_and_infinite_neighbours(name: str, dtype: str, exponent: int) -> None:
    most, inf = 1.5 * 2.0**exponent, np.inf
    rows = {
        (1, inf): inf, (-inf, 1): -inf, (inf, inf): inf, (-inf, inf): np.nan, (1, 2, inf, inf): inf,
        (-most, most): 0, (most, most): most, (-most, -most): -most, (-most, 0, most): 0,
    }  # fmt: skip
    for row, want in rows.items():
        got = MEDIANS[name](xt.array(row, "a", dtype=dtype), "a")
        np.testing.assert_array_equal(np.ravel(got.astype("f8").values), [want], str(row))


def test_median_rounds_as_numpy() -> None:
    small, drawn = np.array([[5e-324, 5e-324], [5e-324, 1.5e-323]]), values((40, 6), "f8", 4)
    for x in (small, drawn * 1e-310, drawn * 1e300, drawn):
        for got in within(lambda t: xt.median(t, "b"), xt.array(x, ("a", "b"))):
            np.testing.assert_array_equal(got.values, np.median(x, 1))


@pytest.mark.parametrize("method", METHODS)
def test_quantile_between_large_and_infinite_neighbours(method: str) -> None:
    inf = np.inf
    rows = [[1, inf], [-inf, 1], [inf, inf], [-inf, -inf, 1, 2], [-1.7e308, 1.7e308], [-3e38, 0, 3e38]]
    for row, q, skipna in itertools.product(rows, (0.0, 0.25, 0.5, 0.75, 1.0), (False, True)):
        with np.errstate(all="ignore"):
            want = np.quantile(np.array(row, "f8"), q, method=method)
        got = xt.quantile(xt.array(row, "a", dtype="f8"), q, method=method, skipna=skipna).item()
        assert not np.isnan(got), (row, q)
        # Where NumPy's is finite, or an infinite neighbour counts and not 0 * inf.
        if np.isfinite(want) or (np.isinf(want) and np.isinf(row).any()):
            np.testing.assert_allclose(got, want, rtol=1e-15, err_msg=str((row, q)))


def test_gradient_of_a_median_of_large_neighbours() -> None:
    for row in ([-1.7e308, 1.7e308], [1.7e308, 1.7e308], [1.0, np.inf], [1.0, 2.0]):
        for f in (xt.median, lambda x: xt.quantile(x, 0.5), lambda x: xt.median(x, skipna=True)):
            x = xt.array(row, "a")
            assert xt.grad(f)(x).values.tolist() == [0.5, 0.5]
            assert xt.jvp(f, (x,), (xt.array([2.0, 4.0], "a"),))[1].item() == 3


@examples(60)
@given(several(2, ("f4", "f8", "i4"), sizes=(0, 1, 2, 5)), st.sampled_from(["left", "right"]), st.booleans())
def test_searchsorted(xs: tuple[xr.DataArray, ...], side: str, nan: bool) -> None:
    known, v = xs
    known = xr.DataArray(np.sort(known.values.reshape(-1)), dims="t")
    if nan and v.dtype.kind == "f" and known.dtype.kind == "f":
        v, known = with_nan(v), known.copy(data=np.sort(with_nan(known, 3).values))
    want = np.searchsorted(known.values, v.values, side)
    for got in within(lambda t, v: xt.searchsorted(t, v, side), ours(known), ours(v)):
        same(got, xr.DataArray(np.asarray(want, "i8"), dims=v.dims))


def test_searchsorted_row_by_row() -> None:
    rows = np.sort(np.random.default_rng(0).normal(size=(3, 20)), 1)
    v = np.random.default_rng(1).normal(size=(3, 4))
    got = xt.searchsorted(xt.array(rows, ("r", "t")), xt.array(v, ("r", "q")), dim="t")
    np.testing.assert_array_equal(got.values, [np.searchsorted(row, w) for row, w in zip(rows, v, strict=True)])
    with pytest.raises(xt.Error, match="dim is needed"):
        xt.searchsorted(xt.array(rows, ("r", "t")), 0.0)


def test_searchsorted_of_signed_among_unsigned_is_exact() -> None:
    known = np.array([0, 5, 2**53, 2**53 + 1, 2**64 - 1], "u8")
    v = np.array([-1, 5, 2**53 + 1], "i8")
    for side, want in (("left", [0, 1, 3]), ("right", [0, 2, 4])):
        assert xt.searchsorted(xt.array(known, "t"), xt.array(v, "q"), side).values.tolist() == want
    mirrored = xt.searchsorted(xt.array(v, "q"), xt.array(known, "t"), "left")
    assert mirrored.values.tolist() == [1, 1, 2, 2, 3]


def test_dynamic_sizes() -> None:
    f = xt.jit(lambda x, v: (xt.sort(x, "t"), xt.median(x, "t"), xt.searchsorted(x.isel(r=0), v)), dynamic_dims="t")
    for n in (1, 4, 9):
        x = np.sort(np.random.default_rng(n).normal(size=(2, n)), 1)[:, ::-1]
        ordered, middle, found = f(xt.array(x, ("r", "t")), xt.array(0.0))
        np.testing.assert_array_equal(ordered.values, np.sort(x, 1))
        np.testing.assert_allclose(middle.values, np.median(x, 1), rtol=1e-12)
        assert 0 <= found.item() <= n


def test_coordinates_along_the_sorted_dim_are_dropped() -> None:
    x = xr.DataArray([[3.0, 1]], dims=("a", "b"), coords={"a": [5], "b": [1, 2]})
    assert set(xt.sort(x, "b").coords) == {"a"}
    assert set(xt.argsort(x, "b").coords) == {"a"}


# ---- derivatives ------------------------------------------------------------------


def test_ties_go_by_the_stable_order() -> None:
    x, w = xt.array([2.0, 1, 2, 1], "t"), xt.array([1.0, 10, 100, 1000], "t")
    sort = lambda **how: xt.grad(lambda x: xt.sum(xt.sort(x, "t", **how) * w))(x).values.tolist()  # noqa: E731
    assert sort() == [100, 1, 1000, 10]
    assert sort(descending=True) == [1, 100, 10, 1000]
    top = xt.grad(lambda x: xt.sum(xt.top_k(x, 3, "t")[0] * w.isel(t=slice(0, 3))))(x)
    assert top.values.tolist() == [1, 100, 10, 0]
    assert xt.grad(lambda x: xt.median(x))(xt.array([1.0, 1, 1], "t")).values.tolist() == [0, 1, 0]
    assert xt.grad(lambda x: xt.median(x))(xt.array([2.0, 5, 1, 2], "t")).values.tolist() == [0.5, 0, 0, 0.5]


@pytest.mark.parametrize("dim", ["a", "b"])
def test_gradients_as_pytorch(dim: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'xtensor-mlir[test-peers]'")
    axis = ("a", "b").index(dim)
    x = values((6, 5), "f8", 2) + np.arange(30).reshape(6, 5) * 1e-3
    w = values((6, 5), "f8", 3)
    for mine, theirs in (
        (lambda t: xt.sort(t, dim), lambda t: torch.sort(t, axis).values),
        (lambda t: xt.sort(t, dim, descending=True), lambda t: torch.sort(t, axis, descending=True).values),
        (lambda t: xt.top_k(t, 5, dim)[0], lambda t: torch.topk(t, 5, axis).values),
        (lambda t: xt.quantile(t, 0.3, dim), lambda t: torch.quantile(t, 0.3, axis)),
    ):
        peer = torch.tensor(x, requires_grad=True)
        result = theirs(peer)
        weights = w[tuple(slice(0, n) for n in result.shape)] if result.ndim == 2 else w.reshape(-1)[: result.shape[0]]
        (result * torch.tensor(weights)).sum().backward()
        dims = ("a", "b") if result.ndim == 2 else tuple(d for d in ("a", "b") if d != dim)
        loss = lambda t: xt.sum(mine(t) * xt.array(weights, dims))  # noqa: B023, E731
        np.testing.assert_allclose(xt.grad(loss)(xt.array(x, ("a", "b"))).values, peer.grad.numpy(), rtol=1e-12)


def test_gradient_of_take_along_as_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
    jax.config.update("jax_enable_x64", True)
    x, w = values((4, 6), "f8", 1), values((4, 3), "f8", 2)
    i = np.random.default_rng(0).integers(0, 6, (4, 3))
    want = jax.grad(lambda x: (jax.numpy.take_along_axis(x, i, 1) * w).sum())(x)
    at, weights = xt.array(i, ("a", "b")), xt.array(w, ("a", "b"))
    got = xt.grad(lambda x: xt.sum(xt.take_along(x, at, dim="b") * weights))(xt.array(x, ("a", "b")))
    np.testing.assert_allclose(got.values, want, rtol=1e-12)


def test_per_instance() -> None:
    x = values((4, 6), "f8", 1)
    f = lambda t: xt.grad(lambda t: xt.sum(xt.sin(xt.sort(t)) * xt.arange(6.0, dim="t")) + xt.median(t))(t)  # noqa: E731
    got = xt.vectorize(f, "n")(xt.array(x, ("n", "t")))
    np.testing.assert_allclose(got.values, [f(xt.array(row, "t")).values for row in x], rtol=1e-12)


def test_searching_and_ranks_have_no_derivative() -> None:
    x = xt.array([3.0, 1, 2], "t")
    g = xt.grad(lambda x: xt.sum(xt.rank(x) * x) + xt.sum(xt.searchsorted(xt.sort(x), x) * 1.0))(x)
    assert g.values.tolist() == [3, 1, 2]


@pytest.mark.parametrize("n", [65, 100, 1000, 1024, 5000])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i8", "u1"])
def test_quantiles_by_selection(n: int, dtype: str) -> None:
    """Of long rows only the places that are read are found: with ties, along either dim, in any order."""
    rng = np.random.default_rng(n)
    rows = [
        rng.normal(size=n) * 20,
        np.sort(rng.normal(size=n)) * 20,
        np.arange(n)[::-1] % 64,
        np.full(n, 7),
        rng.integers(0, 3, n),
    ]
    x = np.stack([r - r.min() if dtype[0] == "u" else r for r in rows]).astype(dtype)
    for array, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        ours_ = xt.array(array, ("a", "b"))
        dim = "ab"[axis]
        wide = array.astype("f8")
        for found, level in zip(
            xt.jit(lambda x, d=dim: xt.quantile(x, [0.0, 0.1, 0.5, 0.9, 1.0], d))(ours_).values,
            [0, 0.1, 0.5, 0.9, 1],
            strict=True,
        ):
            rtol = {"f2": 1e-3, "f4": 1e-6}.get(dtype, 1e-12)
            np.testing.assert_allclose(found.astype("f8"), np.quantile(wide, level, axis=axis), rtol=rtol, atol=rtol)


def test_places_are_those_of_the_stable_order() -> None:
    x = np.random.default_rng(0).integers(0, 50, (3, 3000)).astype("f4")
    x[1, ::7] = np.nan
    x[2, ::5] = -0.0
    places = (700, 1499, 1500, 2990)
    for descending in (False, True):

        def read(x: Any, descending: bool = descending) -> list[Any]:
            order = xt.argsort(x, "t", descending=descending)
            return [order.isel(t=i) for i in places]

        whole = xt.argsort(xt.array(x, ("a", "t")), "t", descending=descending).values
        for found, place in zip(xt.jit(read)(xt.array(x, ("a", "t"))), places, strict=True):
            np.testing.assert_array_equal(found.values, whole[:, place])
