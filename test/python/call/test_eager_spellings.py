"""Calls of public functions with static arguments: from the second one on, C++ finds the program, and nothing else
changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from xtensor.call import dispatch
from xtensor.ops import indexing, updates

Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "a dim": lambda x: xt.sum(x, "a"),
    "a dim by name": lambda x: xt.mean(x, dim="b"),
    "several dims": lambda x: xt.max(x, ("a", "b")),
    "a list of arrays": lambda x: xt.concat([x, x], "a"),
    "an int by name": lambda x: xt.std(x, "a", ddof=1),
    "a number": lambda x: xt.clip(x, 0.25, 0.5),
    "a dtype": lambda x: xt.cumsum(x.astype("f8"), "b"),
    "a class": lambda x: x.astype(float),
    "a dict": lambda x: xt.rename(x, {"a": "c"}),
    "keywords": lambda x: xt.pad(x, a=(1, 2), constant_values=2.5),
    "a slice": lambda x: xt.isel(xt.as_array(x), a=slice(1, None, 2), b=xt.array([0, 2, 1], dims="k")),
    "in a room": lambda x: xt.nn.softmax(x, "b"),
    "a method": lambda x: x.sum("b"),
    "an ellipsis": lambda x: xt.transpose(x, "b", ...),
    "a level": lambda x: xt.quantile(x, 0.25, "a"),
    "levels": lambda x: xt.quantile(x, [0.25, 0.5], dim="a"),
    "an array of positions": lambda x: xt.take(x, K, dim="a"),
    "a list of positions": lambda x: x.isel(a=[2, 0, 2]),
    "a tuple of positions": lambda x: x.isel(b=(1, -1, 3)),
    "positions of NumPy": lambda x: x.isel(a=np.array([3, 1, 0])[::2], b=2),
    "no positions": lambda x: x.isel(a=[]),
    "positions in brackets": lambda x: x[K],
    "a mode": lambda x: x.at(a=[1, 9]).get(mode="clip"),
    "a number at a position": lambda x: x.at(a=1).set(1),
    "a number at positions": lambda x: x.at(a=[1, 2], b=K[:2]).add(0.5),
    "an array at a part": lambda x: x.at(a=slice(1, 3)).multiply(x[0]),
    "a number at a mask": lambda x: x.at(a=MASK).max(0.75),
}
K = xt.array([0, 2, 1], dims="k")
MASK = xt.array([True, False, True, True], dims="a")


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).random(shape)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_found_by_its_static_arguments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, x = CALLS[name], xt.array(numbers(4, 5), dims=("a", "b"))
    first = call(x)
    call(x)

    def slow(*args: Any) -> Any:
        raise AssertionError("it took the slow path")

    monkeypatch.setattr(dispatch._Eager, "eager", slow)
    for room in (indexing, updates):
        monkeypatch.setattr(room, "read_index", slow)
    again = call(x)
    assert again.dims == first.dims
    np.testing.assert_array_equal(again.values, first.values)


def test_static_arguments_are_told_apart() -> None:
    x = xt.array(numbers(3, 3), dims=("a", "b"))
    for _ in range(3):
        for value in (0.0, -0.0, 1, np.nan):
            corner = xt.pad(x, a=1, constant_values=value).values[0, 0]
            np.testing.assert_array_equal([corner, np.signbit(corner)], [value, np.signbit(value)])
        for dims in ("a", "b", ("a", "b"), ("b", "a"), ["b"], None):
            axes = None if dims is None else tuple("ab".index(d) for d in dims)
            np.testing.assert_allclose(xt.sum(x, dims).values, x.values.sum(axes), rtol=1e-14)
        for ddof in (0, 1, 2):
            np.testing.assert_allclose(xt.var(x, "a", ddof=ddof).values, x.values.var(0, ddof=ddof), rtol=1e-13)
        for keep in (1, slice(1, 2), slice(None, None, -1), slice(2, 0, -1)):
            np.testing.assert_array_equal(xt.isel(x, b=keep).values, x.values[:, keep])


def test_positions_are_those_of_each_call() -> None:
    rng = np.random.default_rng(0)
    values = numbers(4, 5)
    x = xt.array(values, dims=("a", "b"))
    for _ in range(60):
        i = rng.integers(-4, 4, 3)
        for index in (i.tolist(), tuple(i.tolist()), i, i.astype("i2"), i[::-1][::-1], range(*sorted(i.tolist())[:2])):
            np.testing.assert_array_equal(x.isel(a=index).values, values[np.asarray(index, "i8")])
            np.testing.assert_array_equal(xt.take(x, index, dim="a").values, values[np.asarray(index, "i8")])
        one, number = int(rng.integers(4)), int(rng.integers(3))
        want = values.copy()
        want[one] = number
        np.testing.assert_array_equal(x.at(a=one).set(number).values, want)
        mask = (rng.random(4) < 0.5).tolist()
        np.testing.assert_array_equal(x.isel(a=mask).values, values[mask])


def test_ints_that_are_no_positions() -> None:
    x = xt.array(numbers(4, 5), dims=("a", "b"))
    for _ in range(3):
        assert x.isel(a=[1, 0]).sizes == {"a": 2, "b": 5}
        assert x.at(a=1).set(0.0).values[1].sum() == 0
        for wrong in ([1, 4], [1, -5], (0, 2**63), [1, 2**70], np.array([4]), [1.0], [None], ["a"], [[0, 1]]):
            for call in (lambda i: x.isel(a=i), lambda i: xt.take(x, i, "a"), lambda i: x.at(a=i).add(1.0)):
                with pytest.raises(xt.Error, match=r"xt\.(isel|take|at\.add): "):
                    call(wrong)
        for wrong in (True, 4, -5, 2**70, 1.0, None):
            with pytest.raises(xt.Error, match=r"xt\.at\.set: "):
                x.at(a=wrong).set(0.0)
    with xt.option(index="clip"):
        np.testing.assert_array_equal(x.isel(a=[1, 9]).values, x.values[[1, 3]])


def test_one_program_serves_lists_of_positions() -> None:
    x = xt.array(numbers(4, 5), dims=("a", "b"))
    x.isel(a=[0, 0, 0])
    before = indexing._read.size
    index = np.array([3, 2, 1])
    held = sys.getrefcount(index)
    for i in range(64):
        x.isel(a=[i // 16, i // 4 % 4, i % 4])
        x.isel(a=index)
    assert indexing._read.size <= before + 3  # of a tuple, a list and an array
    assert sys.getrefcount(index) == held


SIZED: dict[str, Call] = {
    "a list": lambda n: xt.ones(a=4, b=5).isel(a=[1] * n),
    "an array along the dim": lambda n: xt.ones(a=n, b=5).isel(a=xt.array([0, 1, 1][: n // 2], dims="a")),
    "two dims": lambda n: xt.ones(a=4, b=n).isel(a=list(range(n % 5)), b=[n - 1, 0, -1]),
    "an update by a list": lambda n: xt.ones(a=n, b=5).at(a=[1, 0] * n).add(0.5),
    "an update by an array": lambda n: xt.ones(a=5).at(a=xt.array([2] * n, dims="a")).set(xt.arange(n, dim="a")),
}


@pytest.mark.parametrize("name", SIZED)
def test_positions_along_a_dim_that_varies_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = SIZED[name]
    want = {n: call(n).values.copy() for n in range(6, 15)}

    def slow(*args: Any) -> Any:
        raise AssertionError("it took the slow path")

    monkeypatch.setattr(dispatch._Eager, "eager", slow)
    for n in range(14, 8, -1):
        np.testing.assert_array_equal(call(n).values, want[n])


def test_a_dim_that_is_read_is_told_from_others() -> None:
    rng = np.random.default_rng(0)
    for n in range(3, 30):
        for dims in (("a", "b"), ("b", "a"), ("a", "c"), ("a",)):
            values = rng.random((n, 4, 3)[: len(dims)])
            x, axis = xt.array(values, dims=dims), dims.index("a")
            index = rng.integers(-values.shape[axis], values.shape[axis], n // 2)
            for i in (index.tolist(), index, xt.array(index, dims="a")):
                got = x.isel(a=i)
                assert got.dims == dims
                np.testing.assert_array_equal(got.values, values.take(index, axis))
                want = values.copy()
                np.add.at(want, (slice(None),) * axis + (index,), 1.0)
                np.testing.assert_allclose(x.at(a=i).add(1.0).values, want, rtol=1e-15)
            for wrong in ([0, values.shape[axis]], [-values.shape[axis] - 1] * 5):
                for bad in (wrong, np.array(wrong), xt.array(wrong, dims="a")):
                    with pytest.raises(xt.IndexError, match="'a'"):
                        x.isel(a=bad)
                    with pytest.raises(xt.IndexError, match="'a'"):
                        x.at(a=bad).set(0.0)
        with pytest.raises(xt.DimensionError, match="'a'"):
            xt.ones(b=n).isel(a=[0, 1])


def test_labels_follow_positions() -> None:
    for start in range(4):
        data = xr.DataArray(numbers(4, 2), dims=("a", "b"), coords={"a": [10 + start, 11, 12, 13]})
        for index in ([0, start], (start, 1), np.array([start, 3]), [start, start]):
            got = xt.as_array(data).isel(a=index).to_xarray()
            xr.testing.assert_identical(got, data.isel(a=list(index)))


def test_a_bool_is_no_int() -> None:
    x = xt.array(numbers(3), dims="a")
    for _ in range(3):
        xt.round(x, 1)
        with pytest.raises(xt.Error, match=r"xt\.round: "):
            xt.round(x, True)


def test_sizes_and_numbers_that_vary() -> None:
    for n in range(2, 9):
        x = xt.array(numbers(n, 4), dims=("a", "b"))
        for shift in range(-3, 4):
            np.testing.assert_array_equal(xt.roll(x, a=shift).values, np.roll(x.values, shift, 0))
            np.testing.assert_array_equal(xt.diff(x, "a").values, np.diff(x.values, axis=0))


def test_numbers_that_are_no_amounts() -> None:
    """One program serves all positive powers, and C++ may not call it for others."""
    x = np.array([[1.0, 2.0], [0.5, 3.0]])
    for power in (2, 3, 4, -1, 0, 5, -2, 1):
        got = xt.linalg.matrix_power(xt.array(x, dims=("row", "col")), power)
        np.testing.assert_allclose(got.values, np.linalg.matrix_power(x, power), rtol=1e-12)
    key = xt.random.key(0)
    for count in (3, 4, 5, 2**33, 6):
        assert xt.random.choice(key, count, k=1000).max().item() > count / 2


AMOUNTS: dict[str, Callable[[xt.Array, int], Any]] = {
    "ints": lambda x, n: xt.shift(x, a=n),
    "levels": lambda x, n: xt.quantile(x, n / 16, "a"),
    "powers": lambda x, n: xt.linalg.matrix_power(x, n + 1, dims=("a", "b")),
    "bounds of slices": lambda x, n: x.at(b=slice(n % 4 - 2, None), a=slice(None, 4 - n, -2)).add(1.0),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_a_call_is_found_with_other_amounts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, x = AMOUNTS[name], xt.array(numbers(4, 4), dims=("a", "b"))
    expected = [call(x, n) for n in range(10)]

    def slow(*args: Any) -> Any:
        raise AssertionError("it took the slow path")

    monkeypatch.setattr(dispatch._Eager, "eager", slow)
    for n, first in enumerate(expected):
        np.testing.assert_array_equal(call(x, n).values, first.values)


def test_numbers_beside_amounts_are_refused_as_before() -> None:
    x = xt.array(numbers(7), dims="a")
    for level in (0.1, 0.3, 0.5, 0.7, 0.0, -0.0, 1.0, 1):
        assert xt.quantile(x, level, "a").item() == pytest.approx(np.quantile(x.values, level), rel=1e-14)
        for wrong in (1.0000001, -1e-300, np.inf, np.nan):
            with pytest.raises(xt.ArgumentError, match="q must be from 0 to 1"):
                xt.quantile(x, wrong, "a")
    for amount in (1, 2, -3, 2**62, 2**62 + 1, -(2**63), 2**63 - 1, 4):
        moved = xt.shift(x, a=amount).values
        kept = x.values[: max(7 - amount, 0)] if amount > 0 else x.values[min(-amount, 7) :]
        np.testing.assert_array_equal(moved[~np.isnan(moved)], kept)


def test_errors_of_later_calls_are_those_of_the_first() -> None:
    x = xt.array(numbers(4, 5), dims=("a", "b"))
    good, bad = (xt.array(i, dims="k") for i in ([0, 3], [0, 4]))
    with pytest.raises(xt.IndexError) as first:
        xt.take(x, bad, dim="a")
    for _ in range(3):
        xt.take(x, good, dim="a")
        with pytest.raises(xt.IndexError) as later:
            xt.take(x, bad, dim="a")
        assert str(later.value).partition("\n")[0] == str(first.value).partition("\n")[0]


def test_options_hold_for_calls_that_are_known() -> None:
    x = xt.array([1.0, np.nan, 2.0], dims="a")
    for _ in range(3):
        assert np.isnan(xt.sum(x, "a").values)
        with xt.option(skipna=True):
            assert xt.sum(x, "a").values == 3
        y = xt.array([1e308, 1e308], dims="a")
        assert np.isinf(xt.sum(y, "a").values)
        with xt.option(nan="raise"), pytest.raises(xt.Error, match="inf"):
            xt.sum(y, "a")
        assert xt.zeros(a=2).dtype == "f8"
        with xt.option(default_float="f4"):
            assert xt.zeros(a=2).dtype == "f4"


def test_labels_are_those_of_each_call() -> None:
    for start in range(4):
        data = xr.DataArray(
            numbers(3, 4), dims=("a", "b"), coords={"a": [10 + start, 11, 12], "b": [*"wxyz"]}, name=f"n{start}"
        )
        for x in (data, xt.as_array(data)):
            for dim in ("a", "b"):
                mean = xt.mean(x, dim)
                mean = mean if isinstance(mean, xr.DataArray) else mean.to_xarray()
                xr.testing.assert_allclose(mean, data.mean(dim))
                assert list(mean.coords) == list(data.mean(dim).coords)
            one = xt.isel(x, a=start % 3, b=slice(start % 2, None))
            one = one if isinstance(one, xr.DataArray) else one.to_xarray()
            xr.testing.assert_identical(one, data.isel(a=start % 3, b=slice(start % 2, None)))


DTYPES = ("f8", "f4", "f2", "i1", "u2", "i8", "?", "c8", "c16", ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_reads_by_ints_and_slices_are_numpys(dtype: Any) -> None:
    rng = np.random.default_rng(0)

    def bound(size: int) -> int | None:
        return None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3))

    for _ in range(300):
        shape = tuple(rng.integers(0, 5, rng.integers(1, 5)))
        dims = "abcd"[: len(shape)]
        values = rng.integers(0, 100, shape).astype(dtype)
        indexers: dict[str, int | slice] = {}
        for dim, size in zip(dims, shape, strict=True):
            kind = rng.integers(3)
            if kind == 0 and size:
                indexers[dim] = int(rng.integers(-size, size))
            elif kind == 1:
                step = (None, 1, 2, 3, -1, -2)[rng.integers(6)]
                indexers[dim] = slice(bound(size), bound(size), step)
        want = values[tuple(indexers.get(d, slice(None)) for d in dims)]
        x = xt.array(values, dims=tuple(dims))
        got = xt.isel(x, {d: indexers[d] for d in reversed(dims) if d in indexers})
        assert got.dims == tuple(d for d in dims if not isinstance(indexers.get(d), int))
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got.values, want)


@pytest.mark.parametrize("text", [str, np.str_, type("Text", (str,), {})])
def test_names_of_dims_are_texts_of_any_class(text: Any) -> None:
    values = numbers(3, 4)
    x = xt.array(values, dims=("a", "b"))
    np.testing.assert_array_equal(xt.isel(x, {text("b"): 1}).values, values[:, 1])
    np.testing.assert_array_equal(x[{text("a"): slice(1, None)}].values, values[1:])
    np.testing.assert_array_equal(xt.head(x, {text("a"): 2}).values, values[:2])


@pytest.mark.parametrize("step", [2**63 - 1, -(2**63), 5, -5])
def test_steps_beyond_the_end(step: int) -> None:
    x = xt.array(numbers(5, 2), dims=("a", "b"))
    read = lambda x: x.isel(a=slice(None, None, step))  # noqa: E731
    write = lambda x: x.at(a=slice(None, None, step)).set(-1.0)  # noqa: E731
    written = x.values.copy()
    written[::step] = -1
    for compiled in (lambda f: f, xt.jit):
        np.testing.assert_array_equal(compiled(read)(x).values, x.values[::step])
        np.testing.assert_array_equal(compiled(write)(x).values, written)


def test_what_is_read_outlives_the_array() -> None:
    part = xt.isel(xt.array(numbers(1000, 50), dims=("a", "b")), a=slice(3, 5))
    others = [xt.array(np.zeros((1000, 50)), dims=("a", "b")) for _ in range(20)]
    np.testing.assert_array_equal(part.values, numbers(1000, 50)[3:5])
    assert len(others) == 20


def test_an_array_that_was_given_away_is_not_read() -> None:
    x = xt.array(numbers(8), dims="a", copy=True)
    xt.jit(lambda x: x + 1, donate="x")(x)
    with pytest.raises(xt.ArgumentError, match="took its memory"):
        x.isel(a=0)


@pytest.mark.parametrize("index", [5, -6, 2**70, slice(0, 2**70), slice(None, None, 0), True, "x", 1.0, None])
def test_wrong_positions_are_refused_with_the_name_of_the_function(index: Any) -> None:
    x = xt.array(numbers(5), dims="a")
    for _ in range(2):
        with pytest.raises(xt.Error, match=r"xt\.isel: "):
            x.isel(a=index)
    with pytest.raises(xt.DimensionError, match="'z'"):
        x.isel(z=0)
