"""Arrays moved along dims by numbers that are known when a program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import finished
from thread_count import threads

AMOUNTS = (0, 1, -1, 6, 7, -7, 8, -20, 2**40, np.int32(3), np.int64(-2))


def rolled(x: Any, n: Any) -> Any:
    """What xt.roll advises for an amount that is traced."""
    return x.isel(t=(xt.arange(x.sizes["t"], dim="t") - n) % x.sizes["t"])


def shifted(x: Any, n: Any) -> Any:
    """Zeros at both ends, where xt.shift has them by `fill_value`."""
    at = xt.arange(x.sizes["t"], dim="t") - n
    return xt.where((at >= 0) & (at < x.sizes["t"]), x.at(t=at).get(mode="clip"), xt.zeros_like(x.isel(t=0)).sum())


def shift_of(x: np.ndarray, n: int) -> np.ndarray:
    y, n = np.zeros_like(x), max(-len(x), min(int(n), len(x)))
    y[max(n, 0) : len(x) + min(n, 0)] = x[max(-n, 0) : len(x) - max(n, 0)]
    return y


MOVES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[np.ndarray, int], np.ndarray]]] = {
    "roll": (lambda x, n: xt.roll(x, t=n), lambda x, n: np.roll(x, int(n) % len(x), 0)),
    "shift": (lambda x, n: xt.shift(x, t=n, fill_value=0), shift_of),
    "roll, traced": (xt.jit(rolled), lambda x, n: np.roll(x, int(n) % len(x), 0)),
    "shift, traced": (xt.jit(shifted), shift_of),
    "roll, traced, of open sizes": (
        xt.jit(rolled, dynamic_dims=("t", "f")), lambda x, n: np.roll(x, int(n) % len(x), 0),
    ),
}  # fmt: skip


def values(dtype: str, *shape: int) -> np.ndarray:
    found: np.ndarray = (np.arange(np.prod(shape)).reshape(shape) * 7 % 11 - 3).astype(dtype)
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i8", "c8", "f2"])
@pytest.mark.parametrize("move", MOVES)
def test_amounts_of_every_kind(move: str, dtype: str) -> None:
    ours, numpys = MOVES[move]
    x = values(dtype, 7, 5)
    for n in AMOUNTS:
        for y in (xt.array(x, ("t", "f")), xt.array(x.T, ("f", "t"))):
            found = ours(y, n)
            assert found.sizes == y.sizes
            np.testing.assert_array_equal(found.transpose("t", "f").values, numpys(x, n), err_msg=f"{n}")


@pytest.mark.parametrize("move", MOVES)
def test_views_are_moved_as_they_are_seen(move: str) -> None:
    ours, numpys = MOVES[move]
    x = values("f4", 40, 3, 9)
    y = xt.array(x, ("t", "a", "f")).isel(t=slice(3, 38, 2), a=1, f=slice(None, None, -1))
    for n in (2, -5, 19):
        np.testing.assert_array_equal(ours(y, n).transpose("t", "f").values, numpys(x[3:38:2, 1, ::-1], n))


@pytest.mark.parametrize("move", MOVES)
def test_bools_and_what_is_empty(move: str) -> None:
    ours, numpys = MOVES[move]
    if "shift" not in move:
        x = values("i8", 9) % 2 == 0
        for n in (1, 4, -3):
            np.testing.assert_array_equal(ours(xt.array(x, "t"), n).values, numpys(x, n))
    for n in (0, 3, -1):
        assert ours(xt.zeros(t=4, f=0), n).sizes == {"t": 4, "f": 0}
    if "traced" not in move:
        assert [ours(xt.zeros(t=0), n).size for n in (0, 3, -1)] == [0, 0, 0]


@pytest.mark.cpu_only("threads of the CPU")
@pytest.mark.parametrize("count", [1, 2])
def test_large_arrays_are_shared_by_threads(count: int) -> None:
    with threads(count):
        check_large()


def check_large() -> None:
    x = values("f4", 300, 4000)
    for n in (0, 1, 2500, -3):
        for y, axis in ((xt.array(x, ("a", "t")), 1), (xt.array(x, ("t", "a")), 0)):
            np.testing.assert_array_equal(xt.roll(y, t=n).values, np.roll(x, n, axis))
            np.testing.assert_array_equal(MOVES["roll, traced"][0](y, n).values, np.roll(x, n, axis))
            moved = shift_of(x.T, n).T if axis else shift_of(x, n)
            np.testing.assert_array_equal(xt.shift(y, t=n, fill_value=0).values, moved)


@pytest.mark.parametrize(
    ("f", "back"), [(rolled, lambda w, n: np.roll(w, -n)), (shifted, lambda w, n: shift_of(w, -n))]
)
def test_derivatives_of_both_modes(f: Any, back: Any) -> None:
    x, w = values("f4", 7), values("f4", 7) + 0.5
    loss = lambda x, n: (f(x, n) * xt.array(w, "t")).sum()  # noqa: E731
    for n in (0, 2, -3, 6):
        gradient = xt.jit(xt.grad(loss))(xt.array(x, "t"), n)
        np.testing.assert_array_equal(gradient.values, back(w, n))
        forward = xt.jit(lambda x, v, n: xt.jvp(lambda x: f(x, n), (x,), (v,))[1])
        moved = MOVES["roll" if f is rolled else "shift"][1]
        np.testing.assert_array_equal(forward(xt.array(x, "t"), xt.array(w, "t"), n).values, moved(w, n))


@pytest.mark.parametrize("f", [rolled, shifted])
def test_derivatives_beside_another_dim_and_of_second_order(f: Any) -> None:
    x, moved = values("f4", 7, 5), MOVES["roll" if f is rolled else "shift"][1]
    for dims, y in ((("t", "a"), x), (("a", "t"), x.T)):
        a = xt.array(y, dims)
        cubes = lambda x, n: (f(x, n) ** 3).sum()  # noqa: E731
        twice = lambda x, n, cubes=cubes: xt.grad(lambda x: xt.grad(cubes)(x, n).sum())(x)  # noqa: E731
        for n in (2, -3):
            there = moved(moved(np.ones_like(x), n), -n)
            first = xt.jit(xt.grad(cubes))(a, n).transpose("t", "a")
            np.testing.assert_array_equal(first.values, 3 * x**2 * there)
            np.testing.assert_array_equal(xt.jit(twice)(a, n).transpose("t", "a").values, 6 * x * there)


@pytest.mark.parametrize("f", [rolled, shifted])
def test_arrays_and_amounts_in_batches(f: Any) -> None:
    x, n = values("f4", 4, 7), np.array([0, 2, -3, 9])
    moved = MOVES["roll" if f is rolled else "shift"][1]
    every = xt.jit(xt.vectorize(f, "b"))
    np.testing.assert_array_equal(
        every(xt.array(x, ("b", "t")), xt.array(n, "b")).values, [moved(r, k) for r, k in zip(x, n, strict=True)]
    )
    one = xt.jit(lambda x, k: xt.vectorize(lambda r: f(r, k), "b")(x))
    np.testing.assert_array_equal(one(xt.array(x, ("b", "t")), 2).values, [moved(r, 2) for r in x])


def test_moved_arrays_among_other_ops() -> None:
    """What reads a moved array in the same program reads the same elements."""
    x = values("f4", 50)
    got = xt.jit(lambda x, n: (x - rolled(x * 2, n)) + shifted(x + 1, n))(xt.array(x, "t"), 4)
    np.testing.assert_array_equal(got.values, x - np.roll(x * 2, 4) + shift_of(x + 1, 4))
    got = xt.jit(lambda x: xt.fori_loop(0, 4, lambda i, c: rolled(c, i) + shifted(c, i), x))(xt.array(x, "t"))
    for i in range(4):
        x = np.roll(x, i) + shift_of(x, i)
    np.testing.assert_array_equal(got.values, x)


def test_an_array_that_the_call_takes_over() -> None:
    for f, numpys in (MOVES["roll, traced"], MOVES["shift, traced"]):
        x = values("f4", 50)
        got = xt.jit(lambda x, n, f=f: f(x, n), donate=0)(xt.array(x, "t") + 0.0, 3)
        np.testing.assert_array_equal(got.values, numpys(x, 3))


def test_what_is_no_amount_is_refused() -> None:
    x = xt.zeros(t=3)
    for n in (True, 1.5, None):
        for move in (xt.roll, xt.shift):
            for _ in range(4):
                with pytest.raises(xt.Error, match=r"an int, not"):
                    move(x, t=n)  # type: ignore[arg-type]
    with pytest.raises(xt.IndexError, match="index 3 is out of range"):
        finished(xt.jit(lambda x, n: x.isel(t=xt.arange(3, dim="t") - n))(x, -1))
