"""Reading by position against xarray: values, order of dims and errors."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, finished, ours, same
from hypothesis import given
from hypothesis import strategies as st


def example() -> xr.DataArray:
    return xr.DataArray(np.arange(60.0).reshape(3, 4, 5), dims=("a", "b", "c"))


def within(f, *xs):
    """What `f` gives at once, and in a compiled function."""
    return f(*xs), xt.jit(f)(*xs)


def at_once(x, indexers: dict):
    """x.isel with DataArray indexers as ours, at once and in a compiled function that knows the positions."""
    mine = {d: ours(i) if isinstance(i, xr.DataArray) else i for d, i in indexers.items()}
    return x.isel(mine), xt.jit(lambda x: x.isel(mine))(x)


@st.composite
def cases(draw):
    """Indexers of all kinds for the example: int, slice, list, own-named, shared and new names, of rank 0 to 2."""
    shared = draw(st.integers(1, 3))
    sizes = {"p": shared, "q": draw(st.integers(1, 3))}
    found = {}
    for dim, size in (("a", 3), ("b", 4), ("c", 5)):
        position = st.integers(-size, size - 1)
        kind = draw(st.sampled_from(["none", "int", "slice", "list", "new", "new2", "scalar", "mask"]))
        if kind == "int":
            found[dim] = draw(position)
        elif kind == "slice":
            bound = st.none() | st.integers(-size - 2, size + 2)
            found[dim] = slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2, 3, -3])))
        elif kind == "list":
            found[dim] = draw(st.lists(position, min_size=0, max_size=4))
        elif kind == "new":
            found[dim] = xr.DataArray(draw(st.lists(position, min_size=shared, max_size=shared)), dims="p")
        elif kind == "new2":
            rows = draw(st.lists(position, min_size=shared * sizes["q"], max_size=shared * sizes["q"]))
            found[dim] = xr.DataArray(np.reshape(rows, (sizes["q"], shared)), dims=("q", "p"))
        elif kind == "scalar":
            found[dim] = xr.DataArray(draw(position))
        elif kind == "mask":
            found[dim] = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return found


@examples(120)
@given(cases())
def test_isel_as_in_xarray(indexers: dict) -> None:
    peer = example()
    for got in at_once(ours(peer), indexers):
        same(got, peer.isel(indexers))


@examples(40)
@given(cases())
def test_isel_with_traced_positions(indexers: dict) -> None:
    peer = example()
    arrays = {d: ours(i) for d, i in indexers.items() if isinstance(i, xr.DataArray)}
    rest = {d: i for d, i in indexers.items() if d not in arrays}
    got = xt.jit(lambda x, arrays: x.isel({**rest, **arrays}))(ours(peer), arrays)
    same(got, peer.isel(indexers))


def test_pointwise_with_a_dim_that_stays() -> None:
    peer = example()
    row = xr.DataArray([0, 1, 2, 1], dims="b")
    for got in at_once(ours(peer), {"a": row}):
        same(got, peer.isel(a=row))
    both = {"a": xr.DataArray([2, 0], dims="b"), "b": slice(1, 3)}
    for got in at_once(ours(peer), both):
        same(got, peer.isel(both))
    own = {"a": xr.DataArray([2, 0], dims="a"), "c": xr.DataArray([4, 1], dims="a")}
    for got in at_once(ours(peer), own):
        same(got, peer.isel(own))


def test_brackets() -> None:
    peer = example()
    x = ours(peer)
    for key in ({"a": 1}, {"b": slice(1, 3), "c": [0, 2]}, (), ..., 1, -1, (1, 2), (..., 2), (0, ..., 1), (1, 2, 3),
                (slice(None), 1), slice(0, 2), ([0, 2], slice(None), [1, 1])):  # fmt: skip
        same(x[key], peer[key])
    for wrong in ((0, 0, 0, 0), (..., ...), (None,)):
        with pytest.raises(IndexError):
            x[wrong]
    for wrong in ("a", True, 1.5):
        with pytest.raises(TypeError):
            x[wrong]


def test_masks() -> None:
    peer = example()
    mask = peer.isel(a=0, b=0) > 2
    same(ours(peer).isel(c=ours(mask)), peer.isel(c=mask))
    same(ours(peer).isel(c=mask.values), peer.isel(c=mask.values))
    same(ours(peer).isel(c=[False] * 5), peer.isel(c=[False] * 5))
    with pytest.raises(ValueError, match="cannot index dim 'b'"):
        ours(peer).isel(b=ours(mask))
    with pytest.raises(ValueError, match="size 5"):
        ours(peer).isel(b=mask.values)
    with pytest.raises(ValueError):
        ours(peer)[ours(peer) > 2]
    with pytest.raises(NotImplementedError, match=r"xt\.where"):
        xt.jit(lambda x, m: x.isel(c=m))(ours(peer), ours(mask))


def test_missing_dims() -> None:
    peer = example()
    x = ours(peer)
    same(x.isel({"a": 0, "z": 1}, missing_dims="ignore"), peer.isel(a=0))
    with pytest.warns(UserWarning, match="z"):
        x.isel(z=0, missing_dims="warn")
    with pytest.raises(ValueError, match="'z'"):
        x.isel(z=0)
    same(x.isel({}), peer)


@pytest.mark.parametrize("index", [3, -4, [0, 3], [-4], np.array([7])])
def test_out_of_range_names_dim_index_and_size(index) -> None:
    x = ours(example())
    for f in (lambda x: x.isel(a=index), lambda x: x[{"a": index}]):
        with pytest.raises(IndexError, match=r"-?\d.*'a'.*3"):
            f(x)
        with pytest.raises(IndexError, match=r"-?\d.*'a'.*3"):
            xt.jit(f)(x)


def test_out_of_range_when_it_runs() -> None:
    x = ours(example())
    f = xt.jit(lambda x, i: x.isel(a=i))
    assert f(x, xt.array([0, -3], dims="p")).shape == (2, 4, 5)
    for wrong in ([0, 3], [-4, 0]):
        with pytest.raises(IndexError, match=r"'a'"):
            f(x, xt.array(wrong, dims="p"))
    with pytest.raises(IndexError):
        x.isel(a=xt.array([5], dims="p"))


def test_reading_from_nothing() -> None:
    x = xt.zeros(a=0, b=2)
    assert x.isel(a=[]).shape == (0, 2)
    assert x.isel(a=slice(3)).shape == (0, 2)
    with pytest.raises(IndexError):
        x.isel(a=0)
    assert x.at(a=[0, 1]).get(mode="fill", fill_value=3.0).values.tolist() == [[3, 3], [3, 3]]


def test_index_arrays_that_disagree() -> None:
    x = ours(example())
    for sizes in ((2, 3), (1, 2)):
        i, j = (xt.array([0] * n, dims="p") for n in sizes)
        with pytest.raises(ValueError, match="'p'"):
            x.isel(a=i, b=j)
    with pytest.raises(ValueError, match="'b'"):
        x.isel(a=xt.array([0, 1], dims="b"))


def test_indices_that_are_none() -> None:
    x = ours(example())
    with pytest.raises(TypeError, match="integers"):
        x.isel(a=[0.5])
    with pytest.raises(TypeError):
        x.isel(a=0.5)
    with pytest.raises(TypeError):
        x.isel(a=True)
    with pytest.raises(ValueError, match=r"xt\.array"):
        x.isel(a=np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="step"):
        x.isel(a=slice(None, None, 0))


def test_unsigned_and_small_positions() -> None:
    x = ours(example())
    for dtype in ("u1", "i1", "i4", "u8"):
        for f in within(lambda x, i: x.isel(a=i), x, xt.array(np.array([2, 0], dtype), dims="a")):
            same(f, example().isel(a=[2, 0]))


def test_many_static_positions() -> None:
    peer = xr.DataArray(np.arange(200.0), dims="t")
    order = np.random.default_rng(0).permutation(200)
    for got in within(lambda x: x.isel(t=order), ours(peer)):
        same(got, peer.isel(t=order))


# ---- at(..).get --------------------------------------------------------------


def test_get_modes() -> None:
    x = xt.array([10.0, 20.0, 30.0], dims="a")
    i = [0, 5, -1, -9]
    for f in (lambda x: x.at(a=i).get(mode="clip"), lambda x: x.at[{"a": i}].get(mode="clip")):
        for got in within(f, x):
            assert got.values.tolist() == [10, 30, 30, 10]
    for got in within(lambda x: x.at(a=i).get(mode="fill", fill_value=0), x):
        assert got.values.tolist() == [10, 0, 30, 0]
    for got in within(lambda x: x.at(a=i).get(mode="fill"), x):
        np.testing.assert_array_equal(got.values, [10, np.nan, 30, np.nan])
    assert x.at(a=7).get(mode="clip").item() == 30
    assert np.isnan(x.at(a=-7).get(mode="fill").item())
    assert x.at[1].get().item() == 20
    with pytest.raises(IndexError, match="'a'"):
        x.at(a=i).get(mode="raise")
    with pytest.raises(ValueError, match="mode"):
        x.at(a=i).get(mode="wrap")
    with pytest.raises(ValueError, match="fill_value"):
        x.at(a=i).get(fill_value=3)


def test_get_fills_several_dims() -> None:
    peer = example()
    i, j = xt.array([0, 9, 1], dims="p"), xt.array([0, 1, 8], dims="p")
    for got in within(lambda x, i, j: x.at(a=i, c=j).get(mode="fill", fill_value=-1), ours(peer), i, j):
        assert got.dims == ("p", "b")
        np.testing.assert_array_equal(got.values, [peer.values[0, :, 0], [-1] * 4, [-1] * 4])


def test_clip_as_an_option() -> None:
    x = xt.array([10.0, 20.0, 30.0], dims="a")
    i = xt.array([0, 7], dims="p")
    with xt.option(index="clip"):
        for got in within(lambda x, i: x.isel(a=i), x, i):
            assert got.values.tolist() == [10, 30]
    with pytest.raises(IndexError):
        x.isel(a=i)


# ---- shorthands --------------------------------------------------------------


@pytest.mark.parametrize("name", ["head", "tail", "thin"])
def test_ends(name: str) -> None:
    peer = example()
    x = ours(peer)
    for n in (1, 2, 7):
        same(getattr(x, name)(a=n), getattr(peer, name)(a=n))
        same(getattr(xt, name)(x, {"b": n}), getattr(peer, name)({"b": n}))
        same(getattr(x, name)(n), getattr(peer, name)(n))
    if name != "thin":
        same(getattr(x, name)(a=0), getattr(peer, name)(a=0))
        same(getattr(x, name)(), getattr(peer, name)())
    with pytest.raises(ValueError):
        getattr(x, name)(a=-1)
    with pytest.raises(TypeError):
        getattr(x, name)(a=1.5)


def test_take() -> None:
    peer = example()
    same(xt.take(ours(peer), [2, 0, -1], dim="b"), peer.isel(b=[2, 0, -1]))
    i = xr.DataArray([[0, 1], [2, 2]], dims=("p", "q"))
    same(xt.take(ours(peer), ours(i), dim="b"), peer.isel(b=i))
    with pytest.raises(ValueError, match="no dim 'z'"):
        xt.take(ours(peer), [0], dim="z")


def test_take_along() -> None:
    peer = example()
    order = np.argsort(-(peer.values % 7), axis=1)
    index = xr.DataArray(order, dims=peer.dims)
    for dims in (("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")):
        got = xt.take_along(ours(peer), ours(index.transpose(*dims)), dim="b")
        same(got, xr.DataArray(np.take_along_axis(peer.values, order, 1), dims=peer.dims))


def test_one_hot() -> None:
    i = xt.array([[0, 2], [1, 5]], dims=("a", "b"))
    got = xt.one_hot(i, 3, dim="class")
    assert got.dims == ("a", "b", "class")
    assert got.dtype == np.dtype("f8")  # as xt.zeros has it
    assert got.values.tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0]]]
    assert xt.one_hot(i, 3, dtype=bool).dtype == bool
    with pytest.raises(ValueError, match=r"has dim .* already"):
        xt.one_hot(i, 3, dim="a")
    with pytest.raises(TypeError, match="integers"):
        xt.one_hot(xt.array([1.0], dims="a"), 3)


def test_any_name_works_as_a_keyword() -> None:
    x = xt.array(np.arange(4.0).reshape(2, 2), dims=("x", "indexers"))
    assert x.isel(x=1).dims == ("indexers",)
    assert x.isel(x=1, indexers=0).item() == 2
    assert x.head(x=1).shape == (1, 2)
    assert x.at(x=1).get().dims == ("indexers",)


def test_an_index_out_of_range_that_nobody_reads() -> None:
    x, i = xt.ones(a=4, b=3), xt.array([0, 7], "i")

    def refused(f) -> None:
        with pytest.raises(xt.IndexError, match="index 7 is out of range for size 4 of dim 'a'"):
            xt.jit(lambda x, i: (f(x, i), x * 2.0)[1])(x, i)

    refused(lambda x, i: x.isel(a=i))
    refused(lambda x, i: (x.isel(a=i) * 3.0).sum())
    refused(lambda x, i: x.at(a=i).add(1.0))
    refused(lambda x, i: x.at(a=i).multiply(2.0))
    refused(lambda x, i: xt.grad(lambda x: x.isel(a=i).sum())(x))
    refused(lambda x, i: xt.grad(lambda x: x.at(a=i).add(1.0).sum())(x))
    refused(lambda x, i: xt.vjp(lambda x: x.isel(a=i), x)[0])
    refused(lambda x, i: xt.vectorize(lambda v: v.isel(a=i), "b")(x))
    refused(lambda x, i: xt.checkpoint(lambda x: x.isel(a=i))(x))
    refused(lambda x, i: xt.cond(x.sum() > 0, lambda: x.isel(a=i), lambda: x.isel(a=i * 0)))
    refused(lambda x, i: xt.map(lambda e: x.isel(a=i).sum() + e, x, dim="b"))
    refused(lambda x, i: xt.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, x.isel(a=i).sum()), (0, 0.0)))
    # What is not run does not fail, and clipped reads do not either.
    safe = xt.jit(lambda x, i: (xt.cond(x.sum() < 0, lambda: x.isel(a=i), lambda: x.isel(a=i * 0)), x)[1])
    assert safe(x, i).sizes == x.sizes
    assert xt.jit(lambda x, i: (x.at(a=i).get(mode="clip"), x)[1])(x, i).sizes == x.sizes
    assert xt.jit(lambda x, i: (xt.map(lambda e: e.isel(b=i), x.isel(a=slice(0, 0)), dim="a"), x)[1])(x, i) is not None


def test_a_carry_that_only_a_check_needs_is_kept() -> None:
    def walk(x):
        xt.scan(lambda c, e: ((c[0] + 1, x.isel(a=c[0] + 2).sum()), e), (0, 0.0), x, dim="b")
        return x.sum()

    with pytest.raises(xt.IndexError, match="index 4 is out of range for size 4 of dim 'a'"):
        xt.jit(walk)(xt.ones(a=4, b=3))
    assert xt.jit(walk)(xt.ones(a=5, b=3)).item() == 15.0


def test_which_of_two_reads_in_one_line() -> None:
    x, i, j = xt.ones(a=4, b=3), xt.array([0, 7], "i"), xt.array([0, 9], "j")
    run = xt.jit(lambda x, i, j: x.isel(a=i).sum() + x.isel(b=j).sum())
    with pytest.raises(xt.IndexError, match=r"index 7 .*dim 'a' \(operands: float64 \(a: 4, b: 3\), int64 \(i: 2\)\)"):
        run(x, i, j * 0)
    with pytest.raises(xt.IndexError, match=r"index 9 .*dim 'b' \(operands: float64 \(a: 4, b: 3\), int64 \(j: 2\)\)"):
        run(x, i * 0, j)
    with pytest.raises(xt.IndexError, match=r"xt\.at\.set: index 9 .*dim 'b' \(operands: float64 \(i: 2, b: 3\)"):
        xt.jit(lambda x, i, j: x.isel(a=i).at(b=j).set(0.0))(x, i * 0, j)
    with pytest.raises(xt.IndexError, match=r"xt\.take_along: index 9 .*dim 'b'"):
        xt.jit(lambda x, i, j: xt.take(x, i, dim="a").sum() + xt.take_along(x, j, dim="b").sum())(x, i * 0, j)


@pytest.mark.parametrize("index", [2**63, 2**63 + 5, 2**64 - 1])
def test_positions_without_sign_are_reported_as_they_are(index: int) -> None:
    x = xt.ones(a=4)
    for i in (xt.array(np.array([1, index], "u8"), "i"), xt.array(np.array(index, "u8"))):
        with pytest.raises(xt.IndexError, match=f"index {index} is out of range"):
            x.isel(a=i)
        with pytest.raises(xt.IndexError, match=f"index {index} is out of range"):
            xt.jit(lambda x, i: x.at(a=i).set(0.0))(x, i)


@pytest.mark.parametrize("given", ["array", "numpy", "open"])
def test_positions_without_sign_are_outside_beyond_int64(given: str) -> None:
    x, numbers = xt.arange(3, dim="a"), np.array([2**64 - 1, 1, 2**63], "u8")
    positions = numbers if given == "numpy" else xt.array(numbers, "q")
    for f, want in (
        (lambda x, at: x.at(a=at).get(mode="clip"), [2, 1, 2]),
        (lambda x, at: x.at(a=at).get(mode="fill", fill_value=-5), [-5, 1, -5]),
        (lambda x, at: x.at(a=at).add(1, mode="clip"), [0, 2, 4]),
        (lambda x, at: x.at(a=at).add(1, mode="drop"), [0, 2, 2]),
    ):
        run = xt.jit(f, dynamic_dims=("a", "q")) if given == "open" else f
        assert run(x, positions).values.tolist() == want


@pytest.mark.parametrize("index", [2**63, 2**64 - 1, 2**70, -(2**70)])
def test_numbers_of_more_than_64_bits_are_outside(index: int) -> None:
    x, at = xt.arange(3, dim="a"), 2 if index > 0 else 0
    for run in (lambda f: f(x), lambda f: xt.jit(f)(x)):
        assert run(lambda x: x.at(a=index).get(mode="clip")).item() == at
        assert run(lambda x: x.at(a=index).get(mode="fill", fill_value=-5)).item() == -5
        assert run(lambda x: x.at(a=index).add(7, mode="clip")).values[at] == at + 7
        assert run(lambda x: x.at(a=index).add(7, mode="drop")).values.tolist() == [0, 1, 2]
        for f in (lambda x: x.isel(a=index), lambda x: x.at(a=index).add(1), lambda x: xt.take(x, index, dim="a")):
            with pytest.raises(xt.IndexError, match=f"index {index} is out of range"):
                run(f)


def test_the_line_of_a_bad_index_is_the_one_that_read() -> None:
    """Both lines run one compiled program; where results are read later, the line is kept."""
    x, good, bad = xt.ones(a=5, b=7), xt.array([0, 1], "k"), xt.array([0, 9], "k")
    first = x.isel(a=good).values
    with pytest.raises(xt.IndexError) as told:
        (x.isel(a=bad) + 1).to_numpy()  # this line
    assert first.shape == (2, 7)
    file, _, number = str(told.value).split("\n")[1].rpartition(":")
    with open(__file__) as text:
        line = text.readlines()[int(number) - 1]
    assert file.endswith("test_indexing.py")
    assert "# this line" in line


def test_positions_along_an_open_dim_in_a_dim_of_size_0() -> None:
    x, k = xt.array(np.zeros((3, 0)), ("i", "d")), xt.array(np.zeros((3, 0), "i8"), ("i", "p"))
    for f in (
        lambda x, k: x.isel(d=k),
        lambda x, k: xt.take_along(x, k.rename(p="d"), "d").rename(d="p"),
        lambda x, k: x.at(d=k).add(1.0).rename(d="p"),
    ):
        assert xt.jit(f, dynamic_dims="i")(x, k).sizes == {"i": 3, "p": 0}
    with pytest.raises(IndexError, match="'d' of size 0"):
        xt.jit(lambda x, k: x.isel(d=k), dynamic_dims="i")(x, xt.zeros(p=2, dtype="i8"))


@pytest.mark.parametrize("dynamic_dims", [(), ("p",), ("p", "q"), ("d", "p")])
def test_no_positions_in_a_dim_of_size_0(dynamic_dims: tuple[str, ...]) -> None:
    x = xt.array(np.zeros((0, 3), "f4"), ("d", "e"))
    for f in (
        lambda x, k: x.isel(d=k),
        lambda x, k: x.at(d=k).add(1.0),
        lambda x, k: x.at(d=k).set(k.astype("f4")),
        lambda x, k: x.at(d=k).max(2.0),
    ):
        compiled = xt.jit(f, dynamic_dims=dynamic_dims)
        assert finished(compiled(x, xt.zeros(p=0, q=2, dtype="i8"))).size == 0
        with pytest.raises(IndexError, match="size 0"):
            finished(compiled(x, xt.zeros(p=1, q=2, dtype="i8")))
