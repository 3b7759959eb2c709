"""Coordinates that differ, and labels that compiled code does not know: what must not pass in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from xtensor.call.dispatch import op
from xtensor.ops.types import ArrayLike

T, U = [1, 2, 3, 4], [5, 6, 7, 8]


def along(dim: str, coords: list[int], dtype: str = "f8") -> xr.DataArray:
    return xr.DataArray(np.array([0, 1, 2, 0], dtype), dims=dim, coords={dim: coords})


def field(coords: list[int]) -> xr.DataArray:
    return xr.DataArray(np.arange(12.0).reshape(4, 3), dims=("t", "m"), coords={"t": coords})


def total(carry: Any, elements: tuple[Any, Any]) -> tuple[Any, None]:
    return carry + (elements[0] * elements[1]).sum(), None


SQUARE = xr.DataArray(np.eye(4) + 1, dims=("row", "col"), coords={"row": T})
LOGITS = xr.DataArray(np.ones((4, 3)), dims=("t", "class"), coords={"t": T})
# Of two arrays: the first has coordinates T, the second those that it is given.
JOINED: dict[str, tuple[Callable[[Any, Any], Any], Any, Callable[[list[int]], xr.DataArray]]] = {
    "dot": (xt.dot, field(T), lambda c: along("t", c)),
    "dot over another dim": (lambda a, b: xt.dot(a, b, dim="m"), field(T), field),
    "matmul": (xt.matmul, field(T), field),
    "select": (lambda a, b: xt.select([a > 0], [a], b), field(T), lambda c: along("t", c)),
    "clip": (lambda a, b: xt.clip(a, max=b), field(T), lambda c: along("t", c)),
    "solve": (xt.linalg.solve, SQUARE, lambda c: along("row", c)),
    "lstsq": (xt.linalg.lstsq, SQUARE, lambda c: along("row", c)),
    "triangular_solve": (xt.linalg.triangular_solve, SQUARE, lambda c: along("row", c)),
    "cross_entropy": (lambda a, b: xt.nn.cross_entropy(a, b, dim="class"), LOGITS, lambda c: along("t", c, "i8")),
    "layer_norm": (lambda a, b: xt.nn.layer_norm(a, "m", weight=b), field(T), lambda c: along("t", c)),
    "add to a row": (lambda a, b: xt.as_array(a).at(m=0).add(b), field(T), lambda c: along("t", c)),
    "set all": (lambda a, b: xt.as_array(a).at(t=slice(None)).set(b), along("t", T), lambda c: along("t", c)),
    "set by a mask": (lambda a, b: xt.as_array(a).at(t=b > 0).set(1.0), field(T), lambda c: along("t", c)),
    "set a part": (lambda a, b: xt.as_array(a).at(t=slice(2)).set(b), field(T), lambda c: along("t", c)[:2]),
    "set a list": (lambda a, b: xt.as_array(a).at(t=[2, 0]).set(b), along("t", T), lambda c: along("t", c)[[2, 0]]),
    "add a list to rows": (
        lambda a, b: xt.as_array(a).at(t=[2, 0], m=1).add(b),
        field(T),
        lambda c: along("t", c)[[2, 0]],
    ),
    "set what a mask chooses": (
        lambda a, b: xt.as_array(a).at(t=np.array([True, False, True, False])).set(b),
        along("t", T),
        lambda c: along("t", c)[[0, 2]],
    ),
    "add by index": (lambda a, b: xt.zeros(m=3).at(m=b).add(a), along("t", T), lambda c: along("t", c, "i8")),
    "broadcast": (lambda a, b: xt.broadcast(a, b)[1], along("t", T), lambda c: along("t", c)),
    "broadcast of more dims": (lambda a, b: xt.broadcast(a, b)[0], along("t", T), field),
    "broadcast_like": (xt.broadcast_like, along("t", T), lambda c: along("t", c)),
    "read by index": (lambda a, b: xt.as_array(a).isel(m=b), field(T), lambda c: along("t", c, "i8")),
    "scan": (lambda a, b: xt.scan(total, 0.0, (a, b), dim="t")[0], along("t", T), lambda c: along("t", c)),
    "scan that is traced again": (lambda a, b: xt.scan(total, 0, (a, b), dim="t")[0], field(T), field),
    "map": (lambda a, b: xt.map(lambda e: e["a"] + e["b"], {"a": a, "b": b}, "t"), field(T), lambda c: along("t", c)),
    "vjp": (lambda a, b: xt.vjp(xt.sin, a)[1](b)[0], along("t", T), lambda c: along("t", c)),
    "jvp": (lambda a, b: xt.jvp(xt.sin, (a,), (b,))[1], along("t", T), lambda c: along("t", c)),
    "jvp, the second": (lambda a, b: xt.jvp(xt.multiply, (2.0, a), (1.0, b))[1], field(T), field),
    "linearize": (lambda a, b: xt.linearize(xt.sin, a)[1](b), along("t", T), lambda c: along("t", c)),
    "hvp": (lambda a, b: xt.hvp(lambda x: xt.sum(x**3), (a,), (b,)), along("t", T), lambda c: along("t", c)),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("compiled", [False, True])
def test_coordinates_that_differ_are_an_error(name: str, compiled: bool) -> None:
    f, a, make = JOINED[name]
    call = xt.jit(f) if compiled else f
    with pytest.raises(xt.DimensionError, match=r"the coordinates of dim '(t|row)' differ"):
        call(a, make(U))
    assert xt.as_array(call(a, make(T))) is not None
    bare = make(U)
    call(a, bare.drop_vars(bare.dims[0]))


def test_the_advice_about_parts_of_one_array_works_inside_of_jit() -> None:
    x = along("t", T)

    def shifted(a: Any) -> Any:
        return a.isel(t=slice(1, None)) - a.isel(t=slice(None, -1))

    with pytest.raises(
        xt.DimensionError, match=r"different parts of one array. Write a.drop_vars\('t'\) .*a.diff\('t'\)"
    ):
        xt.jit(shifted)(x)
    with pytest.raises(xt.DimensionError, match=r"by label, .*xarray.align\(a, b.* by position .*a.drop_vars\('t'\)"):
        shifted(xt.as_array(x))
    advised = xt.jit(lambda a: a.isel(t=slice(1, None)) - a.isel(t=slice(None, -1)).drop_vars("t"))
    for v in (x, xt.as_array(x)):
        xr.testing.assert_identical(xt.as_array(advised(v)).to_xarray(), x.diff("t"))
        xr.testing.assert_identical(xt.as_array(xt.jit(lambda a: a.diff("t"))(v)).to_xarray(), x.diff("t"))


@pytest.mark.parametrize("part", [slice(None), slice(None, None, -1), slice(0, 2), slice(3, 1, -1)])
def test_an_update_keeps_the_coordinates_of_what_it_updates(part: slice) -> None:
    x, v = along("t", T), along("t", T).isel(t=part) + 5
    want = x.copy()
    want[part] = v.values
    xr.testing.assert_identical(xt.as_array(x).at(t=part).set(v), want)
    xr.testing.assert_identical(xt.as_array(x).at(t=part).set(v.drop_vars("t")), want)


def test_labels_are_compared_in_the_order_of_the_positions() -> None:
    x = xt.as_array(along("t", T))
    for part in ([1, 0], xt.array([1, 0], "t"), np.array([1, 0])):
        with pytest.raises(xt.DimensionError, match=r"^xt.at.set: the coordinates of dim 't' differ"):
            x.at(t=part).set(x.isel(t=[0, 1]))
        assert (x.at(t=part).set(x.isel(t=[1, 0])) == x).all()
        assert x.at(t=part).set(x.isel(t=[0, 1]).drop_vars("t")).values[1] == x.values[0]
    twice = x.at(t=[0, 0]).add(x.isel(t=[0, 0]))  # of one label
    assert twice.values[0] == 3 * x.values[0]


def test_positions_that_only_the_call_knows_have_no_labels_to_compare() -> None:
    x, at = xt.as_array(along("t", T)), xt.array([0, 1], "t")
    moved = xt.jit(lambda x, v, at: x.at(t=at).set(v))(x, x.isel(t=[1, 2]), at)
    assert moved.values[:2].tolist() == x.values[1:3].tolist()


def test_what_a_function_reads_from_outside_has_coordinates_too() -> None:
    other = along("t", U)
    with pytest.raises(xt.DimensionError, match="the coordinates of dim 't' differ"):
        xt.jit(lambda a: a + other)(along("t", T))
    same = field(T).rename("weight")
    xr.testing.assert_identical(xt.jit(lambda a: a * same)(along("t", T)), along("t", T) * same)


@pytest.mark.parametrize(
    "f", [lambda a, b: a + b, lambda a, b: a == b, lambda a, b: a.where(b > 0), lambda a, b: xr.where(a > 0, b, 0.0)]
)
def test_a_dataarray_left_of_a_labelled_array_compares_coordinates(f: Callable[[Any, Any], Any]) -> None:
    left, same = along("t", T), along("t", T)
    with pytest.raises(ValueError, match="'t'"):
        f(left, xt.as_array(along("t", U)))
    xr.testing.assert_equal(f(left, xt.as_array(same)), f(left, same))
    xr.testing.assert_equal(f(left, xt.as_array(same.drop_vars("t"))), f(left, same))
    assert xt.as_array(left).coords.keys() == {"t"} and xt.ones(t=4).coords.keys() == set()


COARSE = xr.DataArray(
    np.arange(14.0).reshape(7, 2),
    dims=("time", "place"),
    coords={
        "time": np.arange(7).astype("M8[D]").astype("M8[ns]"),
        "hour": ("time", np.arange(7) * 6),
        "place": ["a", "b"],
        "run": 3,
    },
)


@pytest.mark.parametrize("kind", ["mean", "sum", "max"])
@pytest.mark.parametrize(
    ("n", "options"), [(7, {}), (3, {"boundary": "trim"}), (2, {"boundary": "trim", "side": "right"})]
)
def test_blocks_are_labelled_by_the_means_of_their_labels(kind: str, n: int, options: dict[str, str]) -> None:
    want = getattr(COARSE.coarsen(time=n, **options), kind)()
    xr.testing.assert_identical(getattr(xt.coarsen(COARSE, time=n, **options), kind)(), want)
    xr.testing.assert_identical(xt.jit(lambda x: getattr(x.coarsen(time=n, **options), kind)())(COARSE), want)
    assert "place" not in xt.coarsen(COARSE, place=2).mean().coords


@pytest.mark.parametrize("labels", [[0], [0.5], np.array(["2020-01-01"], "M8[ns]")])
def test_blocks_that_none_of_the_labels_fill(labels: Any) -> None:
    """xarray raises for dates, of which it takes no mean of none."""
    x = xr.DataArray([1.0], dims="time", coords={"time": labels})
    found = xt.coarsen(x, time=2, boundary="trim").max()
    assert found.shape == found.coords["time"].shape == (0,)
    assert (found.coords["time"].dtype.kind == "M") == (x.coords["time"].dtype.kind == "M")


def test_an_array_shows_what_came_along() -> None:
    assert repr(xt.as_array(DATA)).endswith("\nwith name 'T'; coordinates of time, space; attributes units")
    assert "with" not in repr(xt.ones(a=2))


# -- idxmax and idxmin ------------------------------------------------------------------------------------------------

DATA = xr.DataArray(
    np.random.default_rng(0).random((4, 3)),
    dims=("time", "space"),
    coords={"time": [10.0, 20.0, 30.0, 40.0], "space": list("abc")},
    name="T",
    attrs={"units": "K"},
)


@pytest.mark.parametrize("dim", ["time", "space"])
@pytest.mark.parametrize("name", ["idxmax", "idxmin"])
def test_labels_of_extremes_are_those_of_xarray(name: str, dim: str) -> None:
    xr.testing.assert_identical(getattr(xt, name)(DATA, dim), getattr(DATA, name)(dim))


def test_labels_of_extremes_by_method() -> None:
    x = xt.as_array(DATA)
    xr.testing.assert_identical(x.idxmax("time").to_xarray(), DATA.idxmax("time"))
    with pytest.raises(xt.DTypeError, match=r"labels of dim 'space' are <U1.*x.to_xarray\(\)"):
        x.idxmin("space")


@pytest.mark.parametrize(
    "f",
    [
        lambda d: xt.idxmax(d, "time"),
        lambda d: d.isel(time=slice(1, 3)).idxmin("time") + 1,
        lambda _: xt.idxmax(DATA, "time"),
    ],
)
def test_compiled_code_gives_no_positions_for_labels(f: Callable[[Any], Any]) -> None:
    with pytest.raises(xt.UnsupportedError, match=r"xt.idxm(ax|in): dim 'time' has coordinates.*xt.argm(ax|in)\(x"):
        xt.jit(f)(DATA)


def test_without_labels_extremes_are_positions() -> None:
    bare = DATA.drop_vars("time")
    assert xt.jit(lambda d: xt.idxmax(d, "time"))(bare).values.tolist() == bare.argmax("time").values.tolist()
    assert xt.jit(lambda d: d.idxmax("time"))(xt.as_array(bare)).values.tolist() == bare.argmax("time").values.tolist()


# -- drop_vars --------------------------------------------------------------------------------------------------------

LABELLED = along("t", T).assign_coords(height=("t", [1.0, 2.0, 3.0, 4.0]), run=7)
DROPS: dict[str, tuple[Callable[[Any], Any], Callable[[xr.DataArray], xr.DataArray]]] = {
    "own": (lambda x: x.drop_vars("t"), lambda x: x.drop_vars("t")),
    "another": (lambda x: x.drop_vars("height"), lambda x: x.drop_vars("height")),
    "both": (lambda x: x.drop_vars(["height", "t"]), lambda x: x.drop_vars(["height", "t"])),
    "none": (lambda x: x.drop_vars("place"), lambda x: x),
    "renamed": (lambda x: x.rename(t="u").drop_vars("u"), lambda x: x.rename(t="u").drop_vars("u")),
    "by the old name": (lambda x: x.rename(t="u").drop_vars("t") + 1.0, lambda x: x.rename(t="u") + 1.0),
    "of a point": (lambda x: x.isel(t=0).drop_vars("t"), lambda x: x.isel(t=0, drop=False).drop_vars("t")),
    "then read": (lambda x: x.drop_vars("t").isel(t=[2, 0]), lambda x: x.drop_vars("t").isel(t=[2, 0])),
}


@pytest.mark.parametrize("name", DROPS)
@pytest.mark.parametrize("compiled", [False, True])
def test_drop_vars_drops_what_xarray_drops(name: str, compiled: bool) -> None:
    ours, theirs = DROPS[name]
    got = xt.jit(ours)(LABELLED) if compiled else ours(xt.as_array(LABELLED)).to_xarray()
    xr.testing.assert_identical(got, theirs(LABELLED))


def test_drop_vars_lets_arrays_with_other_coordinates_meet() -> None:
    other = along("t", U)
    for f in (lambda a, b: a.drop_vars("t") + b, lambda a, b: xt.multiply(a.drop_vars("t"), b)):
        got = xt.jit(f)(along("t", T), other)
        assert got.t.values.tolist() == U
        xr.testing.assert_identical(got, f(xt.as_array(along("t", T)), other))
    assert xt.drop_vars(along("t", T), "t").coords.keys() == set()
    assert xt.drop_vars(2.0, "t").item() == 2.0


def test_a_saved_function_knows_what_it_drops(tmp_path: Path) -> None:
    g = xt.load(xt.export(lambda x: x.drop_vars("t") * 2.0, args=(LABELLED,), path=tmp_path / "f.xtb", c=False))
    xr.testing.assert_identical(g(LABELLED), LABELLED.drop_vars("t") * 2.0)


def _product(x: ArrayLike, y: ArrayLike, /) -> Any:
    return xt.sum(xt.multiply(x, y))


def test_a_public_function_says_itself_whether_coordinates_must_agree() -> None:
    a, b = along("t", T), along("t", U)
    with pytest.raises(xt.DimensionError, match=r"xt.product: the coordinates of dim 't' differ"):
        op(joins=True)(_product)(a, b)
    assert float(op(_product)(a, b)) == 5.0


GRID = xr.DataArray(
    np.arange(6.0).reshape(2, 3),
    dims=("t", "x"),
    coords={
        "t": [1, 2],
        "x": [1, 2, 3],
        "tx": (("t", "x"), np.arange(6.0).reshape(2, 3)),
        "xt": (("x", "t"), np.arange(6.0).reshape(3, 2)),
        "along": ("x", [3, 4, 5]),
        "run": 7,
    },
    name="grid",
    attrs={"units": "K"},
)
# What keeps coordinates over several dims, or those of the array alone, as in xarray.
KEPT: dict[str, Callable[[Any], Any]] = {
    "stack": lambda v: v.stack(z=("t", "x")),
    "stack in the other order": lambda v: v.stack(z=("x", "t")),
    "stack of all but one dim": lambda v: v.expand_dims(k=2).stack(z=("t", "x")),
    "a slice of a stack": lambda v: v.stack(z=("t", "x")).isel(z=slice(1, 4)),
    "positions of a stack": lambda v: v.stack(z=("t", "x")).isel(z=[0, 5, 2]),
    "unstack": lambda v: v.stack(z=("t", "x")).unstack("z"),
    "unstack of a part": lambda v: v.stack(z=("t", "x")).isel(z=[0, 5, 2]).unstack("z"),
    "broadcast_like": lambda v: v.isel(x=0).broadcast_like(v),
    "broadcast_like of a number": lambda v: v.isel(x=0, t=0).broadcast_like(v),
    "broadcast_like of other coordinates": lambda v: v.isel(x=0).drop_vars("tx").broadcast_like(v.isel(t=0)),
    "a sum after broadcast_like": lambda v: v.isel(x=0).broadcast_like(v).sum("t"),
}


@pytest.mark.parametrize("name", KEPT)
def test_coordinates_that_stay(name: str) -> None:
    call = KEPT[name]
    want = call(GRID)
    xr.testing.assert_identical(call(xt.as_array(GRID)).to_xarray(), want)
    xr.testing.assert_identical(xt.jit(call)(GRID), want)


def test_positions_read_point_by_point_have_the_coordinates_there() -> None:
    t, x = [0, 1, 1], [0, 1, 2]
    want = GRID.isel(t=xr.DataArray(t, dims="z"), x=xr.DataArray(x, dims="z"))
    read = lambda v, t, x: v.isel(t=t, x=x)  # noqa: E731
    at = xt.array(t, "z"), xt.array(x, "z")
    xr.testing.assert_identical(read(xt.as_array(GRID), *at).to_xarray(), want)
    xr.testing.assert_identical(xt.jit(lambda v: read(v, *at))(GRID), want)
    xr.testing.assert_identical(xt.jit(read)(GRID, *at), want)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("index", [
    xr.DataArray([0, 1], dims="z", name="places", attrs={"of": "x"}),
    xr.DataArray([0, 1], dims="z", coords={"z": [7, 8], "on": 3}),
])  # fmt: skip
def test_positions_do_not_name_what_is_read(index: xr.DataArray, compiled: bool) -> None:
    read = lambda v, at: v.isel(x=at)  # noqa: E731
    call = xt.jit(read) if compiled else read
    xr.testing.assert_identical(call(GRID if compiled else xt.as_array(GRID), index), GRID.isel(x=index))


def test_excluded_dims_may_have_other_labels() -> None:
    a, b = xt.broadcast(along("t", T), along("t", U), exclude="t")
    assert list(a.coords["t"].values) == T
    assert list(b.coords["t"].values) == U


def test_a_stack_of_many_positions_takes_little_memory() -> None:
    """Its coordinates over both dims are not made of all pairs of positions."""
    n = 300
    grid = xr.DataArray(np.zeros((n, n)), dims=("t", "x"), coords={"tx": (("t", "x"), np.arange(n * n).reshape(n, n))})
    np.testing.assert_array_equal(xt.as_array(grid).stack(z=("t", "x")).coords["tx"], np.arange(n * n))


def test_labels_that_broadcast_like_joins_must_agree() -> None:
    with pytest.raises(xt.DimensionError, match="the coordinates of dim 't' differ"):
        xt.broadcast_like(xt.as_array(along("t", T)), xt.as_array(field(U)))


@pytest.mark.cpu_only("the bundle is for CPUs")
def test_a_bundle_knows_which_coordinates_broadcast_like_keeps(tmp_path: Path) -> None:
    call = KEPT["broadcast_like of other coordinates"]
    bundle = xt.export(call, (xt.spec(t=2, x=3),), path=tmp_path / "like.xtb", c=False)
    xr.testing.assert_identical(xt.load(bundle)(GRID), call(GRID))
    xr.testing.assert_identical(xt.load(tmp_path / "like.xtb")(GRID), call(GRID))


# -- coordinates of a dim that is there twice -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_keeps_both_coordinates(mode: str) -> None:
    x = xr.DataArray(np.arange(6.0).reshape(3, 2), dims=("t", "s"), coords={"t": [10, 20, 30], "s": ["a", "b"]})
    got = xt.jacobian(lambda x: (x * x).sum("s"), mode=mode)(x)
    assert got.dims == ("t", "t'", "s")
    assert got.t.values.tolist() == got["t'"].values.tolist() == [10, 20, 30]
    assert got.s.values.tolist() == ["a", "b"]


def test_a_product_with_itself_under_another_name_has_the_coordinates_of_xarray() -> None:
    x = xr.DataArray(np.arange(3.0), dims="t", coords={"t": [10, 20, 30]})
    xr.testing.assert_identical(xt.jit(lambda x: x * x.rename(t="u"))(x), x * x.rename(t="u"))
