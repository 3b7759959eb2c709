"""Functional updates: values against NumPy's ufunc.at at the positions that xarray reads, ties and duplicates by the
numbers of docs/updates.md, errors, and gradients beside JAX and PyTorch where their rules are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, finished, ours, same
from hypothesis import given
from hypothesis import strategies as st
from places import DEVICE, ROOT
from test_indexing import cases, example
from thread_count import threads

UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}
KINDS = ("set", *UFUNCS)


def expected(x: xr.DataArray, indexers: dict, kind: str, v: xr.DataArray) -> xr.DataArray:
    """Where xarray reads, NumPy updates: in the order of the names of the indices' dims."""
    flat = xr.DataArray(np.arange(x.size).reshape(x.shape), dims=x.dims).isel(indexers)
    own = [d for d in x.dims if d not in indexers or isinstance(indexers[d], slice)]
    order = [*sorted(d for d in flat.dims if d not in own), *(d for d in flat.dims if d in own)]
    flat = flat.transpose(*order)
    values = v.broadcast_like(flat).transpose(*order).values.astype(x.dtype)
    out = x.values.copy().reshape(-1)
    if kind == "set":
        for at, value in zip(flat.values.reshape(-1), values.reshape(-1), strict=True):
            out[at] = value
    else:
        UFUNCS[kind].at(out, flat.values, values)
    return xr.DataArray(out.reshape(x.shape), dims=x.dims)


def updated(x: Any, indexers: dict, kind: str, v: Any, **mode: Any) -> tuple[Any, Any]:
    """At once, and in a compiled function that knows the positions."""
    mine = {d: ours(i) if isinstance(i, xr.DataArray) else i for d, i in indexers.items()}
    run = lambda x, v: getattr(x.at(mine), kind)(v, **mode)  # noqa: E731
    return run(x, v), xt.jit(run)(x, v)


@st.composite
def updates(draw: Any) -> tuple[dict, str, xr.DataArray]:
    indexers = draw(cases())
    view = example().isel(indexers)
    dims = [d for d in view.dims if draw(st.booleans())]
    shape = tuple(view.sizes[d] for d in dims)
    v = xr.DataArray(np.random.default_rng(3).uniform(0.5, 2, shape), dims=dims)
    return indexers, draw(st.sampled_from(KINDS)), v.transpose(*draw(st.permutations(dims)))


@examples(150)
@given(updates())
def test_as_numpy_where_xarray_reads(case: tuple[dict, str, xr.DataArray]) -> None:
    indexers, kind, v = case
    want = expected(example(), indexers, kind, v)
    for got in updated(ours(example()), indexers, kind, ours(v)):
        same(got, want, rtol=1e-12)


def test_bracketed_positions() -> None:
    x = xt.zeros(a=2, b=3)
    assert x.at[1, ..., 0].set(5).values.tolist() == [[0, 0, 0], [5, 0, 0]]
    assert x.at[{"b": slice(1, None)}].add(2).values.tolist() == [[0, 2, 2]] * 2
    assert x.at[...].add(xt.array([1.0, 2], "a")).values.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert x.at().set(7).values.tolist() == [[7] * 3] * 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u1", "i8", "u4"])
def test_dtypes(kind: str, dtype: str) -> None:
    x = xr.DataArray(np.array([3, 5, 7, 2]).astype(dtype), dims="a")
    indexers = {"a": xr.DataArray([1, 3, 1], dims="p")}
    v = xr.DataArray(np.array([2, 3, 4]).astype(dtype), dims="p")
    if kind == "divide" and np.dtype(dtype).kind in "iu":
        with pytest.raises(xt.Error, match=r"at\.divide: the quotient of .* is not .*astype"):
            updated(ours(x), indexers, kind, ours(v))
        return
    for got in updated(ours(x), indexers, kind, ours(v)):
        same(got, expected(x, indexers, kind, v), rtol=2e-3 if dtype == "f2" else 1e-6)


def test_bools() -> None:
    x = xt.array([True, False, False], "a")
    assert x.at(a=1).set(True).values.tolist() == [True, True, False]
    for i in (slice(0, 2), xt.array([0, 1], "i")):
        v = xt.array([False, True], "a" if isinstance(i, slice) else "i")
        assert x.at(a=i).max(v).values.tolist() == [True, True, False]
        assert x.at(a=i).min(v).values.tolist() == [False, False, False]
        assert xt.jit(lambda x, i=i, v=v: x.at(a=i).min(v))(x).values.tolist() == [False, False, False]
        with pytest.raises(xt.Error, match="not defined for bool"):
            x.at(a=i).add(v)


def test_a_single_quotient_is_rounded_once() -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(500,)).astype("f4"), rng.normal(size=(500,)).astype("f4")
    i = rng.permutation(500)
    got = xt.array(x, "a").at(a=xt.array(i, "p")).divide(xt.array(v, "p"))
    want = x.copy()
    want[i] /= v
    np.testing.assert_array_equal(got.values, want)


def test_half_precision_accumulates_in_single() -> None:
    x = xt.array(np.ones(1, "f2"), "a").at(a=xt.array(np.zeros(4096, "i8"), "p")).add(np.float16(0.25))
    assert x.dtype == np.float16
    assert x.item() == 1025  # 0.25 is lost beside 512 in half precision


# ---- order, duplicates, ties ----------------------------------------------------


def test_set_keeps_the_last_and_gives_it_the_gradient() -> None:
    i, weights = xt.array([1, 1], "p"), xt.array([1.0, 2, 3, 4], "a")
    y = xt.zeros(a=4).at(a=i).set(xt.array([5.0, 6], "p"))
    assert y.values.tolist() == [0, 6, 0, 0]
    loss = lambda u: xt.sum(xt.zeros(a=4).at(a=i).set(u) * weights)  # noqa: E731
    assert xt.grad(loss)(xt.array([5.0, 6], "p")).values.tolist() == [0, 2]


@pytest.mark.parametrize("kind", ["max", "min"])
def test_target_and_updates_share_a_tie(kind: str) -> None:
    i, weights = xt.array([1, 1], "p"), xt.array([1.0, 2, 3], "a")
    loss = lambda z, u: xt.sum(getattr(z.at(a=i), kind)(u) * weights)  # noqa: E731
    dz, du = xt.grad(loss, wrt=(0, 1))(xt.zeros(a=3), xt.zeros(p=2))
    assert dz.values.tolist() == [1, 2 / 3, 3]
    assert du.values.tolist() == [2 / 3, 2 / 3]


def test_products_with_zeros_are_exact_to_second_order() -> None:
    i = xt.array([1, 1, 1], "p")

    def f(u):
        return xt.sum(xt.full({"a": 2}, 5.0).at(a=i).multiply(u))

    for u, first, second in (
        ([0.0, 2, 3], [30, 0, 0], [[0, 15, 10], [15, 0, 0], [10, 0, 0]]),
        ([0.0, 0, 3], [0, 0, 0], [[0, 15, 0], [15, 0, 0], [0, 0, 0]]),
        ([0.0, 0, 0], [0, 0, 0], [[0, 0, 0]] * 3),
    ):
        x = xt.array(u, "p")
        assert xt.grad(f)(x).values.tolist() == first
        for k, row in enumerate(second):
            direction = xt.zeros(p=3).at(p=k).set(1.0)
            assert xt.jvp(xt.grad(f), (x,), (direction,))[1].values.tolist() == row
            assert xt.grad(lambda u, k=k: xt.grad(f)(u).isel(p=k))(x).values.tolist() == row


@pytest.mark.parametrize("kind", KINDS)
def test_stored_order_never_changes_a_result(kind: str) -> None:
    rng = np.random.default_rng(1)
    x = xr.DataArray(rng.normal(size=(4, 3)), dims=("a", "b"))
    i = xr.DataArray(rng.integers(0, 4, (5, 6)), dims=("p", "q"))
    v = xr.DataArray(rng.uniform(0.5, 2, (5, 6, 3)), dims=("p", "q", "b"))
    want = ours(x).at(a=ours(i)).set(ours(v)) if kind == "set" else getattr(ours(x).at(a=ours(i)), kind)(ours(v))
    for x_dims in (("a", "b"), ("b", "a")):
        for i_dims in (("p", "q"), ("q", "p")):
            for v_dims in (("p", "q", "b"), ("b", "q", "p")):
                args = [ours(t.transpose(*d)) for t, d in ((x, x_dims), (i, i_dims), (v, v_dims))]
                got = getattr(args[0].at(a=args[1]), kind)(args[2])
                np.testing.assert_array_equal(got.transpose("a", "b").values, want.values)


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_on_several_threads(kind: str) -> None:
    rng = np.random.default_rng(2)
    x, v = rng.uniform(1, 2, (4001, 33)).astype("f4"), rng.uniform(0.9, 1.1, (6000, 33)).astype("f4")
    i = rng.integers(-4001, 4001, 6000)
    f = xt.jit(lambda x, i, v: getattr(x.at(r=i), kind)(v))
    g = xt.jit(lambda x, i, v: getattr((x * 1.5).at(r=i), kind)(v))  # a temporary is updated where it is
    args = xt.array(x, ("r", "c")), xt.array(i, "p"), xt.array(v, ("p", "c"))
    for run, start in ((f, x), (g, x * np.float32(1.5))):
        want = start.copy()
        if kind == "set":
            want[i] = v
        else:
            UFUNCS[kind].at(want, i, v)
        # In any order, as devices take them, sums are off by a part of their terms.
        got = run(*args)
        np.testing.assert_allclose(got.values, want, rtol=1e-5, atol=0 if got.device == "cpu" else 1e-5)
        with xt.option(deterministic=True):
            got = run(*args).values
            np.testing.assert_allclose(got, want, rtol=1e-5)
            for _ in range(3):
                np.testing.assert_array_equal(run(*args).values, got)
    assert args[0].values is not None
    np.testing.assert_array_equal(args[0].values, x)  # the argument stays


@pytest.mark.cpu_only("threads of the CPU")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("rows", [5, 997, 1024])
def test_threads_take_neighbouring_blocks_of_rows_as_one(count: int, rows: int) -> None:
    """Many updates per row and few, of a strided target, where some are dropped, and of a row with NaN."""
    rng = np.random.default_rng(rows)
    v = rng.integers(-9, 9, (20_011, 33)).astype("f4")
    x = rng.integers(-9, 9, (33, 2 * rows)).astype("f4")[:, ::2].T
    v[7] = np.nan
    i = rng.integers(-rows - 3, rows + 3, 20_011)
    inside = (i >= -rows) & (i < rows)
    args = xt.array(x, ("r", "c")), xt.array(i, "p"), xt.array(v, ("p", "c"))
    with threads(count):
        for kind in ("add", "max", "set"):
            want = x.copy()
            if kind == "set":
                want[i[inside]] = v[inside]
            else:
                UFUNCS[kind].at(want, i[inside], v[inside])
            run = xt.jit(lambda x, i, v, kind=kind: getattr(x.at(r=i), kind)(v, mode="drop"))
            np.testing.assert_array_equal(run(*args).values, want)


def test_few_updates_of_a_large_target() -> None:
    x = np.random.default_rng(0).normal(size=(700, 401))
    t = xt.array(x, ("r", "c"))
    row, column, pair = x.copy(), x.copy(), x.copy()
    row[5], column[:, -1] = 7, 8
    pair[[699, 0, 699], [1, 2, 3]] += [1, 2, 3]
    np.testing.assert_array_equal(t.at(r=5).set(7.0).values, row)
    np.testing.assert_array_equal(t.at(c=xt.array(-1)).set(8.0).values, column)
    got = t.at(r=xt.array([-1, 0, 699], "p"), c=xt.array([1, 2, 3], "p")).add(xt.array([1.0, 2, 3], "p"))
    np.testing.assert_array_equal(got.values, pair)


@pytest.mark.cpu_only("devices widen the whole target")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("kind", ["add", "multiply"])
@pytest.mark.parametrize("rows", [701, 9001])
def test_few_updates_in_half_precision_round_once(kind: str, dtype: str, rows: int) -> None:
    """Where several meet: of rows, columns and elements, beside all of the target in float32; a part is dropped."""
    rng = np.random.default_rng(8)
    x = xt.array(rng.uniform(1, 2, (rows, 80)).astype("f4"), ("a", "b")).astype(dtype)
    row, column = rng.integers(-rows - 99, rows + 99, 7), rng.integers(-85, 85, 5)
    row[3:6], column[2] = row[1], column[0]
    pairs = rng.integers(0, rows, 40), rng.integers(0, 80, 40)
    for at in pairs:
        at[10:30] = at[5]
    for dims, at in (
        (("p", "b"), {"a": xt.array(row, "p")}),
        (("a", "p"), {"b": xt.array(column, "p")}),
        (("p",), {"a": xt.array(pairs[0], "p"), "b": xt.array(pairs[1], "p")}),
        (("a", "p"), {"b": xt.array(rng.integers(0, 80, (rows, 1)), ("a", "p"))}),
    ):
        sizes = {"a": rows, "b": 80} | {"p": next(iter(at.values())).sizes["p"]}
        v = xt.array(rng.uniform(0.9, 1.1, [sizes[d] for d in dims]).astype("f4"), dims).astype(dtype)
        for target in (x, x.transpose("b", "a")):
            got = getattr(target.at(at), kind)(v, mode="drop")
            want = getattr(target.astype("f4").at(at), kind)(v.astype("f4"), mode="drop").astype(dtype)
            np.testing.assert_array_equal(got.astype("f4").values, want.astype("f4").values)


@pytest.mark.parametrize("kind", KINDS)
def test_along_a_shared_dim_on_several_threads(kind: str) -> None:
    rng = np.random.default_rng(4)
    x, v = rng.uniform(1, 2, (700, 50)), rng.uniform(0.9, 1.1, (700, 120))
    i = rng.integers(0, 50, (700, 120))
    got = xt.jit(lambda x, i, v: getattr(x.at(c=i), kind)(v))(
        xt.array(x, ("r", "c")), xt.array(i, ("r", "p")), xt.array(v, ("r", "p"))
    )
    want, at = x.copy(), (np.arange(700)[:, None], i)
    if kind == "set":
        want[at] = v
    else:
        UFUNCS[kind].at(want, at, v)
    np.testing.assert_allclose(got.values, want, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_dynamic_sizes(kind: str) -> None:
    f = xt.jit(lambda x, i, v: getattr(x.at(t=i), kind)(v, mode="drop"), dynamic_dims=("t", "p"))
    g = xt.jit(lambda x, i, v: xt.grad(lambda v: xt.sum(f(x, i, v) * x))(v), dynamic_dims=("t", "p"))
    for t, n in ((4, 3), (1, 5), (0, 2), (3, 0)):
        rng = np.random.default_rng(t)
        x, v, i = rng.uniform(1, 2, (t, 2)), rng.uniform(1, 2, n), rng.integers(-t - 1, t + 2, n)
        kept = (i >= -t) & (i < t)
        want = x.copy()
        if kind == "set":
            want[i[kept]] = v[kept, None]
        else:
            UFUNCS[kind].at(want, i[kept], v[kept, None])
        args = xt.array(x, ("t", "c")), xt.array(i, "p"), xt.array(v, "p")
        np.testing.assert_allclose(f(*args).values, want, rtol=1e-12)
        assert g(*args).shape == (n,)
        assert np.all(g(*args).values[~kept] == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_per_instance(kind: str) -> None:
    rng = np.random.default_rng(6)
    x, v, i = rng.uniform(1, 2, (5, 3)), rng.uniform(1, 2, (5, 4)), rng.integers(0, 3, (5, 4))

    def gradients(x, v, i):
        return xt.grad(lambda x, v: xt.sum(xt.sin(getattr(x.at(a=i), kind)(v))), wrt=(0, 1))(x, v)

    each = [gradients(xt.array(x[k], "a"), xt.array(v[k], "p"), xt.array(i[k], "p")) for k in range(5)]
    args = xt.array(x, ("n", "a")), xt.array(v, ("n", "p")), xt.array(i, ("n", "p"))
    got = xt.vectorize(gradients, "n")(*args)
    for mine, rows in zip(got, zip(*each, strict=True), strict=True):
        np.testing.assert_allclose(mine.values, [row.values for row in rows], rtol=1e-12)
    shared = xt.vectorize(lambda v: getattr(xt.array(x[0], "a").at(a=xt.array(i[0], "p")), kind)(v), "n")(args[1])
    alone = getattr(xt.array(x[0], "a").at(a=xt.array(i[0], "p")), kind)(xt.array(v[2], "p"))
    np.testing.assert_allclose(shared.isel(n=2).values, alone.values, rtol=1e-12)


# ---- out of range -------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_modes(kind: str) -> None:
    x = xr.DataArray(np.array([[1.0, 2], [3, 4], [5, 6]]), dims=("a", "b"))
    v = xr.DataArray(np.array([2.0, 3, 4, 5]), dims="p")
    i = np.array([7, -1, 0, -9])
    inside = np.array([False, True, True, False])
    for got in updated(ours(x), {"a": xr.DataArray(i, dims="p")}, kind, ours(v), mode="drop"):
        same(got, expected(x, {"a": xr.DataArray(i[inside], dims="p")}, kind, v[inside]))
    for got in updated(ours(x), {"a": xr.DataArray(i, dims="p")}, kind, ours(v), mode="clip"):
        same(got, expected(x, {"a": xr.DataArray([2, 2, 0, 0], dims="p")}, kind, v))
    for outside, nearest in ((7, 2), (-9, 0)):
        for got in updated(ours(x), {"a": outside}, kind, 2.0, mode="drop"):
            same(got, x)
        for got in updated(ours(x), {"a": outside}, kind, 2.0, mode="clip"):
            same(got, expected(x, {"a": nearest}, kind, xr.DataArray(2.0)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_position_outside_is_an_error(kind: str) -> None:
    x = xt.zeros(row=3, col=2)
    run = xt.jit(lambda x, i: getattr(x.at(row=i), kind)(1.0))
    for call in (
        lambda i: getattr(x.at(row=i), kind)(1.0),
        lambda i: xt.jit(lambda x: getattr(x.at(row=i), kind)(1.0))(x),
        lambda i: run(x, xt.array([0, i], "p")),
        lambda i: xt.value_and_grad(lambda x: xt.sum(run(x, xt.array([0, i], "p"))))(x),
    ):
        for outside in (3, -4):
            with pytest.raises(xt.IndexError, match=rf"{outside}.*'row'|'row'.*{outside}") as error:
                finished(call(outside))
            assert "3" in str(error.value)


OUTSIDE = xt.array([0, 3], "p")
ONES = xt.ones(p=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda b: xt.ones(i=3).isel(i=b),
        lambda b: xt.zeros(i=3).at(i=b).add(0.0),
        lambda b: xt.grad(lambda x: x.isel(i=b).sum())(xt.ones(i=3)),
        lambda b: xt.grad(lambda x, u: x.at(i=b).add(u).sum(), wrt=(0, 1))(xt.ones(i=3), ONES),
        lambda b: xt.grad(lambda x, u: x.at(i=b).subtract(u).sum(), wrt=(0, 1))(xt.ones(i=3), ONES),
        lambda b: xt.grad(lambda x, u: x.at(i=b).set(u).sum(), wrt=(0, 1))(xt.ones(i=3), ONES),
        lambda b: xt.grad(lambda x: x.at(i=b).add(1.0).sum())(xt.ones(i=3)),
        lambda b: xt.grad(lambda x: x.at(i=b).set(1.0).sum())(xt.ones(i=3)),
        lambda b: xt.vectorize(xt.grad(lambda x: x.at(i=b).set(1.0).sum()), "v")(xt.ones(v=2, i=3)),
        lambda b: xt.vectorize(xt.grad(lambda x: x.at(i=b).add(1.0).sum()), "v")(xt.ones(v=2, i=3)),
        lambda b: xt.scan(lambda c, _: (c.at(i=b).add(0.0), None), xt.ones(i=3), xt.ones(t=2), dim="t")[0],
        lambda b: xt.scan(lambda c, _: (c.at(i=b).set(1.0), None), xt.ones(i=3), xt.ones(t=2), dim="t")[0],
        lambda b: xt.grad(
            lambda x: xt.scan(lambda c, _: (c.at(i=b).add(1.0), None), x, xt.ones(t=2), dim="t")[0].sum()
        )(xt.ones(i=3)),
        lambda b: xt.jvp(lambda x: x.at(i=b).add(1.0), (xt.ones(i=3),), (xt.ones(i=3),))[1],
    ],
)
def test_a_position_outside_is_reported_on_every_path(call: Callable[[Any], Any]) -> None:
    """Also where all that is read or written is the same number, and where only a derivative is asked for."""
    for run in (call, xt.jit(call)):
        with pytest.raises(xt.IndexError, match=r"'i'.*3|3.*'i'"):
            run(OUTSIDE)


def test_an_empty_dim() -> None:
    x = xt.zeros(a=0)
    assert x.at(a=[]).add(1.0).shape == (0,)
    assert x.at(a=xt.array([4], "p")).add(1.0, mode="drop").shape == (0,)
    for mode in ("raise", "clip"):
        with pytest.raises(xt.IndexError, match="size 0"):
            finished(x.at(a=xt.array([4], "p")).add(1.0, mode=mode))


@pytest.mark.parametrize("dynamic", [(), ("col",)])
@pytest.mark.parametrize("kind", KINDS)
def test_out_of_range_where_another_dim_is_empty(kind: str, dynamic: tuple[str, ...]) -> None:
    x, v = xt.zeros(row=3, col=0), xt.zeros(p=2, col=0)
    update = lambda x, v, i: getattr(x.at(row=i), kind)(v)  # noqa: E731
    runs: dict[str, Callable[..., Any]] = {
        "value": update,
        "forward": lambda x, v, i: xt.jvp(lambda x, v: update(x, v, i), (x, v), (x, v))[1],
        "by the target": lambda x, v, i: xt.grad(lambda x: xt.sum(update(x, v, i)))(x),
        "by the updates": lambda x, v, i: xt.grad(lambda v: xt.sum(update(x, v, i)))(v),
        "to second order": lambda x, v, i: xt.jvp(
            xt.grad(lambda v: xt.sum(update(x, v, i) ** 2)), (v,), (v,)
        )[1],
    }  # fmt: skip
    for run in runs.values():
        for compiled in (run, xt.jit(run, dynamic_dims=dynamic)):
            assert compiled(x, v, xt.array([0, -3], "p")).size == 0
            with pytest.raises(xt.IndexError, match=r"7.*size 3.*'row'|'row'.*7.*3"):
                compiled(x, v, xt.array([0, 7], "p"))


def test_option_clip() -> None:
    with xt.option(index="clip"):
        assert xt.zeros(a=2).at(a=[9]).add(1.0).values.tolist() == [0, 1]


# ---- masks ------------------------------------------------------------------------


def test_a_mask_while_tracing() -> None:
    x = np.arange(6.0).reshape(3, 2)
    mask = np.array([True, False, True])
    f = xt.jit(lambda x, m, v: x.at(a=m).multiply(v))
    got = f(xt.array(x, ("a", "b")), xt.array(mask, "a"), xt.array([2.0, 3], "b"))
    assert got.values.tolist() == [[0, 3], [2, 3], [8, 15]]
    with pytest.raises(xt.UnsupportedError, match="unknown while tracing"):
        f(xt.array(x, ("a", "b")), xt.array(mask, "a"), xt.array([2.0, 3], "a"))


def test_a_mask_counts_through_the_value() -> None:
    x, v = xt.zeros(a=4, b=2), xt.array([[1.0, 2], [3, 4]], ("a", "b"))
    for mask in ([True, False, False, True], xt.array([True, False, False, True], "a")):
        assert x.at(a=mask).set(v).values.tolist() == [[1, 2], [0, 0], [0, 0], [3, 4]]


def test_masks_of_other_rank_or_name_are_errors() -> None:
    x = xt.zeros(a=2, b=2)
    for mask in (xt.array([True, False], "z"), xt.array([[True, False]] * 2, ("a", "b"))):
        with pytest.raises(xt.DimensionError, match=r"mask over .* cannot index dim 'a'"):
            x.at(a=mask).set(0.0)
        with pytest.raises(xt.DimensionError, match=r"mask over .* cannot index dim 'a'"):
            xt.jit(lambda x, m: x.at(a=m).set(0.0))(x, mask)
    with pytest.raises(xt.SizeError, match="the mask has size 3"):
        x.at(a=[True, False, True]).set(0.0)


# ---- errors -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        (0, "x = x.at(row=0).set(value)"),
        ((slice(1, 3), 0), "x = x.at(row=slice(1, 3), col=0).set(value)"),
        ((..., slice(None, None, 2)), "x = x.at(col=slice(None, None, 2)).set(value)"),
        ({"col": [0, 1]}, "x = x.at(col=[0, 1]).set(value)"),
        (..., "x = x.at[...].set(value)"),
        (np.ones((4, 2), bool), "x = xt.where(mask, value, x)"),
        (np.arange(3), "x = x.at(row=index).set(value)"),
    ],
)
def test_assignment_shows_the_functional_form(key: Any, instead: str) -> None:
    x = xt.zeros(row=4, col=2)

    def assign(x):
        x[key] = 1.0

    for call in (assign, xt.jit(assign)):
        with pytest.raises(xt.Error) as error:
            call(x)
        assert instead in str(error.value)
        assert isinstance(error.value, TypeError)


def test_assignment_where_a_dim_is_no_identifier() -> None:
    x = xt.array(np.zeros(2), ("my dim",))
    with pytest.raises(xt.Error, match=r"x = x\.at\[\{'my dim': 0\}\]\.set\(value\)"):
        x[0] = 1.0


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (lambda x: x.at(c=0).set(1.0), r"at\.set.*'c'"),
        (lambda x: x.at(a=0).set(xt.zeros(a=2)), r"v has dim 'a', which the selected elements lack; .*\('b',\)"),
        (lambda x: x.at(a=[0, 1]).add(xt.zeros(a=3)), r"v has 'a' of size 3, the selected elements 2"),
        (lambda x: x.at(a=[0]).add(xt.zeros(a=2)), r"v has 'a' of size 2, the selected elements 1"),
        (lambda x: x.at(a=0).add(1.0, mode="fill"), r"mode is one of \('raise', 'clip', 'drop'\), not 'fill'"),
        (lambda x: x.at(a=0).get(mode="drop"), r"mode is one of \('raise', 'clip', 'fill'\), not 'drop'"),
        (lambda x: x.astype("i4").at(a=0).add(0.5), r"a float does not fit into int32.*astype"),
        (lambda x: x.astype("i4").at(a=0).add(xt.zeros(b=2)), r"float64 does not fit into int32.*astype"),
        (lambda x: x.at(a=0).add(np.ones(2)), r"no named dims"),
    ],
)
def test_errors(update: Callable[[Any], Any], message: str) -> None:
    for call in (update, xt.jit(update)):
        with pytest.raises(xt.Error, match=message):
            call(xt.zeros(a=2, b=2))


def test_labels_of_the_target_stay() -> None:
    x = xr.DataArray(np.zeros((2, 3)), dims=("a", "b"), coords={"b": [10, 20, 30]})
    y = xt.as_array(x).at(b=[0, 0]).add(1.0).to_xarray()
    assert y.coords["b"].values.tolist() == [10, 20, 30]
    y = xt.as_array(x).at(a=0, b=slice(0, 2)).set(xt.array([1.0, 2], "b")).to_xarray()
    assert y.values.tolist() == [[1, 2, 0], [0, 0, 0]]


def test_the_page_about_updates_runs() -> None:
    page = (ROOT / "docs" / "updates.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) > 4
    exec("".join(blocks), {})


# ---- beside JAX and PyTorch ---------------------------------------------------------


def problem(distinct: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    i = rng.permutation(9)[:6] if distinct else rng.integers(0, 9, 6)
    return rng.uniform(1, 2, (9, 4)), i, rng.uniform(1, 2, (6, 4)), rng.normal(size=(9, 4))


# Where the rules agree: JAX leaves the order of `set` undefined.
@pytest.mark.parametrize(
    ("kind", "distinct"),
    [("set", True), ("add", False), ("multiply", True), ("divide", True), ("max", False), ("min", False)],
)
def test_gradients_as_jax(kind: str, distinct: bool) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
    jax.config.update("jax_enable_x64", True)
    x, i, v, w = problem(distinct)
    unique = {"unique_indices": True} if distinct else {}  # JAX has no gradient of products without
    update = lambda x, v: getattr(jax.numpy.asarray(x).at[i], kind)(v, **unique)  # noqa: E731
    peer = jax.grad(lambda x, v: (update(x, v) * w).sum(), argnums=(0, 1))(x, v)
    at = xt.array(i, "p")
    loss = lambda x, v: xt.sum(getattr(x.at(a=at), kind)(v) * xt.array(w, ("a", "b")))  # noqa: E731
    got = xt.grad(loss, wrt=(0, 1))(xt.array(x, ("a", "b")), xt.array(v, ("p", "b")))
    for mine, theirs in zip(got, peer, strict=True):
        np.testing.assert_allclose(mine.values, theirs, rtol=1e-12)


@pytest.mark.parametrize(("kind", "reduce"), [("add", "sum"), ("max", "amax"), ("min", "amin"), ("multiply", "prod")])
def test_gradients_as_pytorch(kind: str, reduce: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'xtensor-mlir[test-peers]'")
    x, i, v, w = problem(distinct=False)
    a, b = torch.tensor(x, requires_grad=True), torch.tensor(v, requires_grad=True)
    index = torch.tensor(i)[:, None].expand(6, 4)
    (a.scatter_reduce(0, index, b, reduce) * torch.tensor(w)).sum().backward()
    at = xt.array(i, "p")
    loss = lambda x, v: xt.sum(getattr(x.at(a=at), kind)(v) * xt.array(w, ("a", "b")))  # noqa: E731
    dx, dv = xt.grad(loss, wrt=(0, 1))(xt.array(x, ("a", "b")), xt.array(v, ("p", "b")))
    np.testing.assert_allclose(dx.values, a.grad.numpy(), rtol=1e-12)
    np.testing.assert_allclose(dv.values, b.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", ["multiply", "max", "add", "set"])
@pytest.mark.parametrize("columns", [64, 75])
def test_gradients_of_rows_shared_among_threads(kind: str, columns: int) -> None:
    """Blocks of rows or columns, one per thread, give what each column gives alone."""
    rng = np.random.default_rng(5)
    x, v = rng.standard_normal((300, columns)), rng.standard_normal((2000, columns))
    i, w = rng.integers(-300, 300, 2000), rng.standard_normal((300, columns))
    at = xt.array(i, "p")

    def loss(x: Any, v: Any, w: Any) -> Any:
        return xt.sum(getattr(x.at(a=at), kind)(v) * w)

    gradient = xt.jit(xt.grad(loss, wrt=(0, 1)))
    arrays = xt.array(x, ("a", "b")), xt.array(v, ("p", "b")), xt.array(w, ("a", "b"))
    dx, dv = gradient(*arrays)
    for b in (0, 31, 32, columns - 1):
        alone = gradient(*(array.isel(b=slice(b, b + 1)) for array in arrays))
        np.testing.assert_array_equal(dx.values[:, b], alone[0].values[:, 0])
        np.testing.assert_array_equal(dv.values[:, b], alone[1].values[:, 0])


@pytest.mark.parametrize("kind", ["multiply", "max", "add", "set"])
@pytest.mark.parametrize(("rows", "columns", "count"), [(5003, 16, 40), (301, 1000, 300)])
def test_columns_of_many_rows(kind: str, rows: int, columns: int, count: int) -> None:
    """Each thread takes all positions of a block of rows."""
    rng = np.random.default_rng(6)
    x, v = rng.standard_normal((rows, columns)), rng.standard_normal((rows, count))
    i = rng.integers(-columns, columns, count)
    want = x.copy()
    for k, column in enumerate(i):
        old = want[:, column]
        want[:, column] = {"multiply": old * v[:, k], "max": np.maximum(old, v[:, k]), "add": old + v[:, k]}.get(
            kind, v[:, k]
        )
    got = getattr(xt.array(x, ("a", "b")).at(b=xt.array(i, "p")), kind)(xt.array(v, ("a", "p")))
    # On a device, what adds to one column has no order.
    rtol = 1e-12 if DEVICE != "cpu" and kind in ("multiply", "add") else 0
    np.testing.assert_allclose(got.values, want, rtol=rtol, atol=rtol)


def test_assignments_to_at_say_what_to_write() -> None:
    x = xt.zeros(i=3)
    with pytest.raises(xt.ArgumentTypeError, match=r"Write x = x.at\(i=0\).set\(value\)"):
        x.at[0] = 2.0  # type: ignore[index]
    for sign, method in (("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide")):
        with pytest.raises(xt.ArgumentTypeError, match=rf"Write x = x.at\(i=..\).{method}\(value\)"):
            exec(f"x.at[0] {sign}= 1", {"x": x})
