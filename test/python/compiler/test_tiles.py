"""Arrays read or written across their rows: squares that vectors transpose, strips of elements that interleave, and
their ends. XTENSOR_DEBUG_MEMORY guards what lies around each array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("vectors of the CPU")

DTYPES = ("f4", "f8", "f2", "bfloat16", "i4", "u1", "i8", "bool")
SIZES = ((64, 32), (33, 18), (17, 47), (3, 100), (100, 3), (2, 65), (4, 130), (5, 37), (200, 150), (1, 40))
# More than a block of squares, and rows that are powers of two apart: read, written, or both.
LARGE = ((300, 130), (513, 70), (40, 1024), (1024, 40), (1024, 64), (512, 1024))


def _array(sizes: tuple[int, ...], dtype: str, dims: str) -> tuple[Any, np.ndarray]:
    numbers = np.random.default_rng(sum(sizes)).integers(0, 100, sizes)
    x = xt.array(numbers, dims=tuple(dims)).astype(dtype)
    return x, np.asarray(x.astype("i8"))


def _check(run: Callable[..., Any], expected: Callable[..., np.ndarray], *arrays: tuple[Any, np.ndarray]) -> None:
    got = np.asarray(xt.jit(run)(*(x for x, _ in arrays)).astype("i8"))
    np.testing.assert_array_equal(got, expected(*(numbers for _, numbers in arrays)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_transposes(dtype: str) -> None:
    for sizes in SIZES + LARGE:
        _check(lambda x: xt.transpose(x, "b", "a"), lambda x: x.T, _array(sizes, dtype, "ab"))
    cube = _array((19, 5, 34), dtype, "abc")
    for order in ("acb", "bac", "bca", "cab", "cba"):
        axes = ["abc".index(d) for d in order]
        _check(lambda x, order=order: xt.transpose(x, *order), lambda x, axes=axes: x.transpose(axes), cube)


@pytest.mark.parametrize("dtype", ("f4", "i8", "u1"))
def test_transposed_operands_beside_others(dtype: str) -> None:
    for sizes in SIZES:
        x, y = _array(sizes, dtype, "ab"), _array(sizes[::-1], dtype, "ba")
        z = _array((sizes[1],), dtype, "b")
        _check(
            lambda x, y, z: xt.transpose((x.astype("i8") - y.astype("i8") * z), "b", "a"),
            lambda x, y, z: x.T - y * z[:, None],
            x,
            y,
            z,
        )


def test_transposes_of_open_sizes() -> None:
    run = xt.jit(lambda x, y: xt.transpose(x, "b", "a") + y, dynamic_dims=("a", "b"))
    for sizes in SIZES[:-1]:
        (x, numbers), (y, others) = _array(sizes, "f4", "ab"), _array(sizes[::-1], "f4", "ba")
        np.testing.assert_array_equal(np.asarray(run(x, y)), numbers.T + others)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_strips(dtype: str) -> None:
    for sizes in ((70, 40), (3, 130), (129,)):
        dims = "abc"[: len(sizes)]
        for axis, dim in enumerate(dims):
            for count in (2, 3, 5):
                x = _array(sizes, dtype, dims)
                _check(
                    lambda x, count=count, dim=dim: xt.repeat(x, count, dim=dim),
                    lambda x, count=count, axis=axis: np.repeat(x, count, axis),
                    x,
                )
                _check(
                    lambda x, count=count, dim=dim: xt.tile(x, {dim: count}),
                    lambda x, count=count, axis=axis: np.concatenate([x] * count, axis),
                    x,
                )


def test_a_repeated_array_is_read_by_others() -> None:
    x, numbers = _array((40, 24), "f4", "ab")
    y, total = xt.jit(lambda x: (r := xt.repeat(x * 2, 2, dim="a"), xt.sum(r, dim="b")))(x)
    np.testing.assert_array_equal(np.asarray(y), np.repeat(2 * numbers, 2, 0))
    np.testing.assert_array_equal(np.asarray(total), np.repeat(2 * numbers, 2, 0).sum(1))


@pytest.mark.parametrize("dtype", ("f4", "f8", "bfloat16", "i4", "u1"))
def test_reductions_of_short_rows(dtype: str) -> None:
    for sizes in ((70, 2), (129, 3), (64, 4), (33, 5), (7, 20, 3), (5, 3, 40)):
        dims = "abc"[: len(sizes)]
        x, numbers = _array(sizes, dtype, dims)
        for axis, dim in enumerate(dims):
            run = xt.jit(lambda x, dim=dim: [f(x, dim=dim) for f in (xt.sum, xt.max, xt.min, xt.argmax, xt.argmin)])
            wanted = [f(numbers, axis) for f in (np.sum, np.max, np.min, np.argmax, np.argmin)]
            for got, want in zip(run(x), wanted, strict=True):
                rounded = xt.array(want, tuple("ij"[: want.ndim])).astype(got.dtype)
                np.testing.assert_array_equal(np.asarray(got.astype("i8")), np.asarray(rounded.astype("i8")))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "reversed last": lambda x: x[:, ::-1],
    "reversed first": lambda x: x[::-1],
    "reversed": lambda x: x[::-1, ::-1],
    "every second row": lambda x: x[::2],
    "every second row, reversed last": lambda x: x[::2, ::-1],
    "without the last column": lambda x: x[:, :-1],
    "every second column": lambda x: x[:, ::2],
    "every second column, reversed": lambda x: x[::-1, ::-2],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"])
def test_views_of_narrow_rows(dtype: str) -> None:
    """With few rows and many, with and without a rest behind whole vectors, at each end of the array."""
    wide = "i8" if dtype in ("u1", "i4", "i8") else "f8"
    for sizes in ((300, 3), (128, 4), (203, 5)):
        x, numbers = _array(sizes, dtype, "ab")
        for view in VIEWS.values():
            y, want = xt.jit(lambda x, v=view: xt.maximum(v(x), v(x) * 0))(x), view(numbers)
            np.testing.assert_array_equal(np.asarray(y.astype("i8")), want)
            sums = xt.jit(lambda x, v=view: [xt.sum(v(x).astype(wide), d) for d in ("a", "b", ("a", "b"))])
            for got, axis in zip(sums(x), (0, 1, None), strict=True):
                np.testing.assert_array_equal(np.asarray(got), want.sum(axis))


@pytest.mark.parametrize("dtype", ("f4", "f8", "bfloat16", "i4", "u1"))
def test_reductions_of_both_dims_of_strips(dtype: str) -> None:
    """Of whole arrays, of each array of a batch, of open sizes, and several at once."""

    def reduced(x: Any) -> list[Any]:
        wide = x.astype("f8")
        both = ("a", "b")
        return [xt.sum(wide, both), xt.max(x, both), xt.min(x, both), xt.sum(wide * wide, both), xt.any(x > 98, both)]

    def wanted(x: np.ndarray) -> list[np.ndarray]:
        return [f(x, axis=(-2, -1)) for f in (np.sum, np.max, np.min)] + [
            (x * x).sum((-2, -1)),
            (x > 98).any((-2, -1)),
        ]

    def check(x: Any, numbers: np.ndarray, view: dict[str, slice], open_dims: tuple[str, ...]) -> None:
        run = xt.jit(lambda x: reduced(x.isel(view)), dynamic_dims=open_dims)
        keys = (slice(None),) * (numbers.ndim - 2) + tuple(view.get(d, slice(None)) for d in ("a", "b"))
        for got, expected in zip(run(x), wanted(numbers[keys]), strict=True):
            np.testing.assert_array_equal(np.asarray(got.astype("i8")), expected)

    for rows, columns in ((2 * n, 2 * k) for n in (1, 7, 16, 31, 64, 100) for k in (2, 3, 4)):
        for dims in ("ab", "cab"):
            x, numbers = _array((3, rows, columns)[-len(dims) :], dtype, dims)
            half = slice(columns // 2 - 1, None, -1)
            check(x, numbers, {"b": half}, ("a",))
            for start, step in ((0, 2), (1, 3), (None, -2)):
                check(x, numbers, {"a": slice(start, None, step), "b": half}, ())


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_few_elements_of_short_rows(dtype: str) -> None:
    for size in (5, 17, 33, 64, 97, 130):
        x = _array((9, size), dtype, "ab")
        for step in (2, 3, 4):
            for start in (0, 1):
                view: Callable[[Any], Any] = lambda x, s=start, step=step: x[:, s::step]  # noqa: E731
                _check(lambda x, v=view: xt.maximum(v(x), v(x)), view, x)


@pytest.mark.parametrize("dtype", ("f4", "f8", "bfloat16", "u1"))
def test_sums_of_every_second_element(dtype: str) -> None:
    for size in (1000, 33, 2):
        x = _array((size,), dtype, "a")
        for step in (2, 3, 4, 7, -1, -2):
            view: Callable[[Any], Any] = lambda x, step=step: x[::step]  # noqa: E731
            _check(lambda x, v=view: xt.sum(v(x).astype("f8")), lambda x, v=view: v(x).sum(), x)
            _check(lambda x, v=view: xt.max(v(x)), lambda x, v=view: v(x).max(), x)


@pytest.mark.parametrize("dtype", ("f4", "f8", "i4", "u1"))
def test_scans_of_strips(dtype: str) -> None:
    for sizes in ((100, 2), (1001, 3), (16, 4), (7, 3), (50, 5)):
        x, numbers = _array(sizes, dtype, "ab")
        for ours, numpys in ((xt.cummax, np.maximum), (xt.cummin, np.minimum)):
            for order in (1, -1):
                expected = numpys.accumulate(numbers[:, ::order], axis=1)[:, ::order]
                got = ours(x, "b", reverse=order < 0)
                np.testing.assert_array_equal(np.asarray(got.astype("i8")), expected)
        sums = xt.cumsum(x, "b", reverse=True)
        np.testing.assert_array_equal(np.asarray(sums.astype("i8")), np.cumsum(numbers[:, ::-1], axis=1)[:, ::-1])
