"""Names, order and number of dims, and elements moved along them, against xarray and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DIMS, DTYPES, NUMBERS, examples, named, ours, same, several
from hypothesis import given
from hypothesis import strategies as st
from xtensor.testing import check_gradients


def example() -> xr.DataArray:
    return xr.DataArray(np.arange(24, dtype="f4").reshape(2, 3, 4), dims=("a", "b", "c"))


def test_differences_of_more_than_there_is_are_empty() -> None:
    x = xt.array([1.0, 4.0, 9.0], dims="a")
    for n in (3, 4, 2**62):  # one step per n would never end
        assert x.diff("a", n=n).shape == (0,)


def test_transpose() -> None:
    peer = example()
    x = ours(peer)
    for order in ((), ("c", "a", "b"), ("b", ...), (..., "a"), ("c", ..., "a")):
        same(x.transpose(*order), peer.transpose(*order))
        same(xt.transpose(x, *order), peer.transpose(*order))
    same(x.T, peer.T)
    same(x.transpose("z", "b", ..., missing_dims="ignore"), peer.transpose("z", "b", ..., missing_dims="ignore"))
    with pytest.warns(UserWarning, match="z"):
        x.transpose("z", ..., missing_dims="warn")
    for wrong in (("a",), ("a", "b", "z"), ("a", "a", "b", "c"), (..., ...)):
        with pytest.raises(ValueError):
            x.transpose(*wrong)


def test_rename_and_swap() -> None:
    peer = example()
    x = ours(peer)
    same(x.rename({"a": "b", "b": "a"}), peer.rename({"a": "b", "b": "a"}))
    same(x.rename(a="z"), peer.rename(a="z"))
    same(xt.rename(x, {}), peer)
    same(x.swap_dims({"a": "z"}), peer.swap_dims({"a": "z"}))
    same(x.as_dims("p", "q", "r"), peer.rename(a="p", b="q", c="r"))
    same(x.as_dims("c", "b", "a"), peer.rename(a="c", c="a"))
    for wrong in ({"z": "y"}, {"a": "b"}, {"a": ""}, {"a": "z", "b": "z"}):
        with pytest.raises(ValueError):
            x.rename(wrong)
    with pytest.raises(TypeError):
        x.rename({"a": 1})
    with pytest.raises(ValueError, match="2 names for 3 dims"):
        x.as_dims("p", "q")


def test_expand_dims() -> None:
    peer = example()
    x = ours(peer)
    for new in ("z", ["z", "y"], {"z": 2}, {"z": 0, "y": 3}):
        same(x.expand_dims(new), peer.expand_dims(new))
    same(x.expand_dims(z=2), peer.expand_dims(z=2))
    same(xt.expand_dims(x, {}), peer)
    for axis in (0, 1, 3, -1, -2):
        same(x.expand_dims("z", axis=axis), peer.expand_dims("z", axis=axis))
    same(x.expand_dims(["z", "y"], axis=[0, 2]), peer.expand_dims(["z", "y"], axis=[0, 2]))
    with pytest.raises(ValueError, match=r"has dim .* already"):
        x.expand_dims("a")
    with pytest.raises(ValueError, match="axis"):
        x.expand_dims("z", axis=7)


def test_squeeze() -> None:
    peer = xr.DataArray(np.ones((1, 3, 1)), dims=("a", "b", "c"))
    x = ours(peer)
    for dim in (None, "a", ["a", "c"]):
        same(x.squeeze(dim), peer.squeeze(dim))
    same(xt.squeeze(x, "a"), peer.squeeze("a"))
    with pytest.raises(ValueError, match="size 3, not 1"):
        x.squeeze("b")
    with pytest.raises(ValueError, match="no dim 'z'"):
        x.squeeze("z")


def test_stack_and_unstack() -> None:
    peer = example()
    x = ours(peer)

    def stacked(**dims):
        found = peer.stack(**dims)
        return found.drop_vars(list(found.coords))

    same(x.stack(z=("a", "b")), stacked(z=("a", "b")))
    same(x.stack(z=("c", "a")), stacked(z=("c", "a")))
    same(x.stack(z=("a",), w=("b", "c")), stacked(z=("a",), w=("b", "c")))
    same(xt.stack(x, {"z": ("b", "a", "c")}), stacked(z=("b", "a", "c")))
    same(x.stack(z=["b", ...]), stacked(z=["b", ...]))
    same(x.stack(z=...), stacked(z=[...]))
    same(x.stack(z=("a", "b")).unstack(z={"a": 2, "b": 3}), peer.transpose("c", "a", "b"))
    same(xt.unstack(x, c={"d": 2, "e": -1}), xr.DataArray(peer.values.reshape(2, 3, 2, 2), dims=("a", "b", "d", "e")))
    same(xt.unstack(x, c={"c": 2, "e": 2}), xr.DataArray(peer.values.reshape(2, 3, 2, 2), dims=("a", "b", "c", "e")))
    with pytest.raises(ValueError, match="multiply to 4"):
        x.unstack(c={"d": 3, "e": 2})
    with pytest.raises(ValueError, match="no dim"):
        x.stack(q=("z",))
    with pytest.raises(ValueError, match=r"has dim .* already"):
        x.stack(c=("a", "b"))
    with pytest.raises(TypeError, match="sizes"):
        x.unstack(c=("d", "e"))


def test_what_is_stacked_or_unstacked_is_read_by_many() -> None:
    v = np.random.default_rng(3).standard_normal(6)
    a, m = xt.array(v, "a"), xt.array(v.reshape(2, 3), ("e", "f"))

    def unstacked(v):
        return xt.logaddexp(v * v, v).unstack(a={"p": 2, "q": 3})

    want = np.logaddexp(v * v, v).reshape(2, 3)
    np.testing.assert_allclose(xt.jit(unstacked)(a).values, want, rtol=1e-14)
    check_gradients(lambda v: xt.sum(xt.hypot(v * v, v).coarsen(a=2).sum() ** 2), (a,), order=2)

    def f(m):
        z = m.stack(d=("e", "f"))
        return xt.sum(xt.tanh(z * z))

    # d^2 tanh(z^2) = 2 s (1 - 4 z^2 tanh(z^2)) with s = 1 - tanh(z^2)^2
    t = np.tanh(v * v)
    want = (2 * (1 - t * t) * (1 - 4 * v * v * t) * v).reshape(2, 3)
    np.testing.assert_allclose(xt.hvp(f, (m,), (m,)).values, want, rtol=1e-12, atol=1e-14)


@examples(20)
@given(several(3, DTYPES), st.lists(st.sampled_from(DIMS), unique=True, max_size=2))
def test_broadcast(xs: tuple[xr.DataArray, ...], exclude: list[str]) -> None:
    for got, want in zip(
        xt.broadcast(*map(ours, xs), exclude=exclude), xr.broadcast(*xs, exclude=exclude), strict=True
    ):
        same(got, want)
    x, y, _ = xs
    # xarray keeps several excluded dims in the order of a set.
    one = exclude[:1]
    same(ours(x).broadcast_like(ours(y), exclude=one), x.broadcast_like(y, exclude=one))


@examples(25)
@given(several(3, NUMBERS), st.sampled_from(["a", "b", "new"]))
def test_concat(xs: tuple[xr.DataArray, ...], dim: str) -> None:
    want = xr.concat(xs, dim=dim)
    same(xt.concat(list(map(ours, xs)), dim=dim), want.astype(np.result_type(*xs)))


def test_concat_of_different_sizes() -> None:
    x, y = xt.array([[1, 2]], dims=("a", "b")), xt.array([[3, 4], [5, 6]], dims=("b", "a"))
    assert xt.concat([x, y], dim="a").values.tolist() == [[1, 2], [3, 5], [4, 6]]
    with pytest.raises(ValueError, match="'b'"):
        xt.concat([x, xt.ones(a=1, b=3)], dim="a")
    with pytest.raises(ValueError, match="no arrays"):
        xt.concat([], dim="a")


PADDED = [{"a": 1}, {"a": (0, 2)}, {"a": (1, 2), "b": (2, 0)}, {}]


@pytest.mark.parametrize("widths", PADDED)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_pad(mode: str, widths: dict) -> None:
    peer = example()
    kw = {"constant_values": 0} if mode == "constant" else {}
    want = peer.pad(widths, mode=mode, **kw).astype("f4")
    same(xt.pad(ours(peer), widths, mode=mode), want)
    same(ours(peer).pad(mode=mode, **widths), want)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_pad_further_than_the_array(mode: str) -> None:
    for v in (np.arange(3.0), np.arange(1.0)):
        same(
            xt.pad(xt.array(v, dims="t"), {"t": (7, 5)}, mode=mode),
            xr.DataArray(np.pad(v, (7, 5), mode=mode), dims="t"),
        )


LONG_MOVES = {
    "roll": lambda x: xt.roll(x, t=-3),
    "fftshift": lambda x: xt.fft.fftshift(x),
    **{mode: lambda x, mode=mode: xt.pad(x, t=(3, 5), mode=mode) for mode in ("edge", "wrap", "symmetric", "reflect")},
}


@pytest.mark.parametrize("name", LONG_MOVES)
def test_the_program_of_a_move_does_not_grow_with_the_dim(name: str) -> None:
    x = xt.spec(t=2**31, dtype="int8")  # a list of its positions takes 16 GB
    text = xt.jit(LONG_MOVES[name]).lower(x).as_text("traced")
    assert "xtensor.slice" in text and "xtensor.gather" not in text
    assert len(text) < 2500


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("mode", ["edge", "wrap", "symmetric", "reflect"])
def test_pad_a_short_dim_far(mode: str, size: int) -> None:
    v, widths = np.arange(2.0 * size).reshape(size, 2), (1000, 1500)
    pad = xt.jit(lambda x: xt.pad(x, {"t": widths}, mode=mode))
    x = xt.array(v, dims=("t", "b"))
    np.testing.assert_array_equal(pad(x).values, np.pad(v, (widths, (0, 0)), mode=mode))
    assert len(pad.lower(x).as_text("traced")) < 2500


def test_positions_that_are_read_as_slices() -> None:
    x = np.arange(100.0)
    for places, runs in {
        (0, 1, 2, 3): 1, (3, 2, 1, 0): 1, (5, 5, 5): 1, (0, 2, 4, 90, 91, 92): 2, (0, 50, 51, 52): 2, (7,): 1, (): 1,
        tuple(range(40, 100)) + tuple(range(40)): 2, tuple(range(0, 100, 3)) + (1, 2) * 3: 4,
    }.items():  # fmt: skip
        read = xt.jit(lambda x, places=places: x.isel(t=np.array(places, int)))
        np.testing.assert_array_equal(read(xt.array(x, "t")).values, x[list(places)])
        text = read.lower(xt.array(x, "t")).as_text("traced")
        assert text.count("xtensor.slice") == runs, places
    drawn = np.random.default_rng(0).integers(0, 100, 60)
    read = xt.jit(lambda x: x.isel(t=drawn))
    np.testing.assert_array_equal(read(xt.array(x, "t")).values, x[drawn])
    assert "xtensor.gather" in read.lower(xt.array(x, "t")).as_text("traced")


def test_pad_values() -> None:
    peer = example()
    for values in (7, (1, 2), {"a": 5, "b": (3, 4)}, np.nan):
        want = peer.pad({"a": 1, "b": (1, 2)}, constant_values=values)
        same(xt.pad(ours(peer), {"a": 1, "b": (1, 2)}, constant_values=values), want.astype("f4"))
    same(xt.pad(xt.array([1, 2], dims="t"), t=(1, 0)), xr.DataArray([0, 1, 2], dims="t"))
    with pytest.raises(ValueError, match="mode"):
        xt.pad(ours(peer), {"a": 1}, mode="bounce")
    with pytest.raises(ValueError, match="negative"):
        xt.pad(ours(peer), {"a": -1})
    with pytest.raises(TypeError, match="float"):
        xt.pad(xt.array([1, 2], dims="t"), {"t": 1}, constant_values=0.5)
    with pytest.raises(ValueError, match="empty"):
        xt.pad(xt.zeros(t=0), {"t": 1}, mode="edge")


@examples(20)
@given(named(DTYPES, least=1), st.integers(-7, 7))
def test_roll_and_shift(x: xr.DataArray, n: int) -> None:
    dim = x.dims[0]
    same(xt.roll(ours(x), {dim: n}), x.roll({dim: n}))
    same(ours(x).roll(**{dim: n}), x.roll({dim: n}))
    if x.dtype != bool:
        same(ours(x).shift({dim: n}), x.shift({dim: n}))
        same(ours(x).shift({dim: n}, fill_value=1), x.shift({dim: n}, fill_value=1))


def test_roll_several() -> None:
    peer = example()
    same(ours(peer).roll(a=1, b=-2), peer.roll(a=1, b=-2))
    same(ours(peer).shift(a=1, c=-2, fill_value=9), peer.shift(a=1, c=-2, fill_value=9))
    with pytest.raises(ValueError, match="no dim 'z'"):
        xt.roll(ours(peer), z=1)
    with pytest.raises(TypeError, match="int"):
        xt.roll(ours(peer), a=1.5)


@examples(15)
@given(named(DTYPES, least=1))
def test_flip_tile_repeat(x: xr.DataArray) -> None:
    dim = x.dims[-1]
    axis = x.ndim - 1
    same(xt.flip(ours(x), dim=dim), x.isel({dim: slice(None, None, -1)}))
    same(xt.flip(ours(x)), x.copy(data=np.flip(x.values)))
    times = [1] * axis + [3]
    same(xt.tile(ours(x), {dim: 3}), xr.DataArray(np.tile(x.values, times), dims=x.dims))
    same(xt.repeat(ours(x), 2, dim=dim), xr.DataArray(np.repeat(x.values, 2, axis), dims=x.dims))
    counts = list(range(x.sizes[dim]))
    same(xt.repeat(ours(x), counts, dim=dim), xr.DataArray(np.repeat(x.values, counts, axis), dims=x.dims))


def test_repeat_by_a_number_of_numpy() -> None:
    for count in (np.int64(2), np.array(2), np.array(3)):
        got = xt.repeat(xt.array([1, 2], "t"), count, "t")
        assert got.values.tolist() == np.repeat([1, 2], int(count)).tolist()


def test_repeat_by_many_counts_is_one_program(capfd: pytest.CaptureFixture[str]) -> None:
    """A program of these counts alone would hold their positions, and be compiled again for others."""
    n = 70_000
    x, counts = xt.arange(n, dim="t"), np.ones(n, int)
    with xt.option(log="compile"):
        for given in (counts, counts.tolist(), np.roll(np.resize([0, 2], n), 1)):
            np.testing.assert_array_equal(xt.repeat(x, given, "t").values, np.repeat(x.values, given))
    assert capfd.readouterr().err.count(": repeat on ") == 1
    with pytest.raises(xt.ArgumentTypeError, match="repeat is an int"):
        xt.repeat(x, [1.5] * n, "t")
    with pytest.raises(xt.SizeError, match="one count per element"):
        xt.repeat(x, counts[1:], "t")
    with pytest.raises(xt.SizeError, match="one count per element"):
        xt.repeat(x, -counts, "t")


def test_flip_several_and_tile_none() -> None:
    peer = example()
    same(xt.flip(ours(peer), ("a", "c")), peer[::-1, :, ::-1])
    assert xt.tile(ours(peer), a=0).shape == (0, 3, 4)
    with pytest.raises(ValueError, match="count"):
        xt.tile(ours(peer), a=-1)
    with pytest.raises(ValueError, match="one count per element"):
        xt.repeat(ours(peer), [1], dim="a")


def test_split() -> None:
    v = np.arange(12.0).reshape(2, 6)
    x = xt.array(v, dims=("a", "b"))
    for parts in (3, 1, 6, [1, 4], [0, 2, 2], [4, 1], [-1], [9]):
        for got, want in zip(xt.split(x, parts, dim="b"), np.split(v, parts, axis=1), strict=True):
            same(got, xr.DataArray(want, dims=("a", "b")))
    with pytest.raises(ValueError, match="not a multiple of 4"):
        xt.split(x, 4, dim="b")


@examples(20)
@given(named(NUMBERS, least=1), st.integers(0, 4))
def test_diff(x: xr.DataArray, n: int) -> None:
    dim = x.dims[0]
    want = xr.DataArray(np.diff(x.values, n, axis=0), dims=x.dims)
    same(ours(x).diff(dim, n=n), want)
    same(xt.diff(ours(x), dim, n=n), want)


def test_diff_of_bools_is_where_they_differ() -> None:
    assert xt.diff(xt.array([True, True, False], dims="a"), "a").values.tolist() == [False, True]


def test_any_name_works_as_a_keyword() -> None:
    v = xt.array(np.arange(4.0).reshape(2, 2), dims=("x", "names"))
    assert v.rename(x="dim").dims == ("dim", "names")
    assert v.roll(x=1).dims == v.dims
    assert v.stack(shifts=("x", "names")).dims == ("shifts",)
    assert v.expand_dims(widths=2).dims == ("widths", "x", "names")
    assert v.pad(x=1).shape == (4, 2)


@pytest.mark.parametrize("dynamic", [(), ("b",)])
def test_concat_of_very_many(dynamic: tuple[str, ...]) -> None:
    """More than are written in place: in either order of dims, computed and given, one of them empty."""
    rng = np.random.default_rng(3)
    parts = [rng.standard_normal((k % 3, 5)) if k % 2 else rng.standard_normal((5, k % 3)) for k in range(40)]
    arrays = [xt.array(p, ("a", "b") if k % 2 else ("b", "a")) for k, p in enumerate(parts)]
    run = xt.jit(
        lambda *xs: xt.concat([x * 2 if k % 5 else x for k, x in enumerate(xs)], dim="a"), dynamic_dims=dynamic
    )
    want = xr.concat([(a * 2 if k % 5 else a).to_xarray() for k, a in enumerate(arrays)], dim="a")
    same(run(*arrays), want)
    found = xt.grad(lambda *xs: (xt.concat(xs, dim="a") ** 2).sum(), wrt=tuple(range(40)))(*arrays)
    for gradient, array in zip(found, arrays, strict=True):
        same(gradient, (array * 2).to_xarray())
