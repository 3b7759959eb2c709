"""Arrays joined along a short last dim: one op reads each of them once, and vectors interleave their elements.
XTENSOR_DEBUG_MEMORY guards what lies around each array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt

DTYPES = ("f4", "f8", "f2", "bfloat16", "i4", "u1", "bool")
PARTS = ((1, 1), (1, 1, 1), (1, 1, 1, 1), (2, 1), (1, 2), (2, 2), (1, 0, 3), (3, 1))
LENGTHS = (35, 64, 131)


def _array(sizes: tuple[int, ...], dtype: str, dims: str, seed: int) -> tuple[Any, np.ndarray]:
    """The array, and its elements as float64."""
    numbers = np.random.default_rng(seed).integers(0, 100, sizes).astype("f8")
    if dtype in ("f4", "f8", "f2", "bfloat16"):
        numbers.flat[::7] = np.nan
        numbers.flat[3::11] = -np.inf
        numbers.flat[5::13] = -0.0
    x = xt.array(numbers, dims=tuple(dims)).astype(dtype)
    return x, np.asarray(x.astype("f8"))


def _same(got: Any, want: np.ndarray) -> None:
    values = np.asarray(got.astype("f8"))
    np.testing.assert_array_equal(values, want)
    np.testing.assert_array_equal(np.signbit(values), np.signbit(want))


def _stacked(*arrays: Any) -> Any:
    return xt.transpose(xt.concat(arrays, dim="s"), ..., "s")


def _joined(*arrays: Any) -> Any:
    return xt.concat(arrays, dim="s")


def _is_one_op(run: Any, *arrays: Any) -> bool:
    program = run.lower(*arrays).as_text("linalg")
    return program.count("linalg.generic") == 1 and "tensor.insert_slice" not in program


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_along_a_last_dim(dtype: str) -> None:
    run = xt.jit(_stacked)
    for count in (2, 3, 4, 5):
        for sizes in (*((n,) for n in LENGTHS), (9, 33), (70, 3)):
            pairs = [_array(sizes, dtype, "ab"[: len(sizes)], seed) for seed in range(count)]
            arrays = [x for x, _ in pairs]
            _same(run(*arrays), np.stack([numbers for _, numbers in pairs], -1))
            assert _is_one_op(run, *arrays) == (count < 5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_joins_of_narrow_rows(dtype: str) -> None:
    run = xt.jit(_joined)
    for parts in PARTS:
        for length in LENGTHS:
            pairs = [_array((length, size), dtype, "as", seed) for seed, size in enumerate(parts)]
            arrays = [x for x, _ in pairs]
            _same(run(*arrays), np.concatenate([numbers for _, numbers in pairs], -1))
            assert _is_one_op(run, *arrays)


def test_stacks_of_views() -> None:
    x, numbers = _array((70, 34), "f4", "ab", 0)
    y, others = _array((34,), "f4", "b", 1)
    run = xt.jit(lambda x, y: _stacked(xt.flip(x, "a"), xt.broadcast_like(y, x), x * 2))
    _same(run(x, y), np.stack([numbers[::-1], np.broadcast_to(others, numbers.shape), numbers * 2], -1))
    turned = xt.jit(lambda x: _stacked(x, xt.transpose(x, "b", "a")))
    _same(turned(x), np.stack([numbers, numbers], -1))
    swapped = xt.jit(lambda x: xt.concat([x[:, 1:2], x[:, 0:1]], dim="b"))
    _same(swapped(x), numbers[:, 1::-1])
    within = xt.jit(lambda x: xt.concat([_stacked(x[:, 0], x[:, 1]), x.isel(b=slice(2, 4)).rename(b="s")], dim="s"))
    _same(within(x), numbers[:, :4])


def test_stacks_of_open_sizes() -> None:
    run = xt.jit(_stacked, dynamic_dims=("a", "b"))
    for sizes in ((1, 1), (5, 3), (33, 70), (0, 4), (130, 2)):
        pairs = [_array(sizes, "f4", "ab", seed) for seed in range(3)]
        _same(run(*(x for x, _ in pairs)), np.stack([numbers for _, numbers in pairs], -1))


def test_a_stack_is_read_by_others() -> None:
    (x, numbers), (y, others) = _array((40, 33), "i4", "ab", 0), _array((40, 33), "i4", "ab", 1)
    run = xt.jit(lambda x, y: (s := _stacked(x * 2, y), xt.sum(s, "a"), xt.max(s, "s"), xt.argmax(s, "s")))
    want = np.stack([2 * numbers, others], -1)
    for got, expected in zip(run(x, y), (want, want.sum(0), want.max(-1), want.argmax(-1)), strict=True):
        _same(got, expected)


def test_gradients_of_columns_are_written_once() -> None:
    x, _ = _array((203, 3), "i4", "as", 0)
    weights = [_array((203,), "i4", "a", seed) for seed in (1, 2, 3)]
    run = xt.jit(
        lambda x, *w: xt.grad(lambda x: sum(xt.sum(x.isel(s=i) * w[i]) for i in range(3)))(x),
    )
    arrays = x.astype("f4"), *(w.astype("f4") for w, _ in weights)
    _same(run(*arrays), np.stack([numbers for _, numbers in weights], -1))
    assert _is_one_op(run, *arrays)


@pytest.mark.cpu_only("vectors of the CPU")
@pytest.mark.parametrize("level", ("x86-64", "x86-64-v3", "x86-64-v4"))
def test_stacks_for_each_width_of_vectors(level: str) -> None:
    if not xt._native.has_processor(level):
        pytest.skip(f"the processor is not {level}")
    for dtype in ("f4", "f8", "bfloat16", "u1"):
        for parts in ((1, 1), (1, 1, 1), (2, 2)):
            for length in LENGTHS:
                pairs = [_array((length, size), dtype, "as", seed) for seed, size in enumerate(parts)]
                specs = tuple(xt.spec(a=length, s=size, dtype=dtype) for size in parts)
                run = xt.load(xt.export(_joined, specs, c=False, targets=f"cpu:{level}"))
                _same(run(*(x for x, _ in pairs)), np.concatenate([numbers for _, numbers in pairs], -1))
