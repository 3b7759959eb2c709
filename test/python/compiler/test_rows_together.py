"""Reductions of several rows at once (passes/CPU/ReductionLoops.cpp): products of matrices and vectors, and rows of
each of several matrices."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("loops of the CPU")

SIZES = ((1, 600), (3, 512), (4, 513), (67, 1000), (300, 1024), (1027, 700), (64, 4099))


@pytest.mark.parametrize("dtype", ("f4", "f8", "i4", "bfloat16"))
def test_against_numpy(dtype: str) -> None:
    for rows, length in SIZES:
        numbers = np.random.default_rng(rows).integers(0, 3, (rows, length))
        vector = np.random.default_rng(length).integers(0, 2, length)
        a, v = xt.array(numbers, ("i", "j")).astype(dtype), xt.array(vector, "j").astype(dtype)
        if dtype != "bfloat16":  # the result would be rounded
            np.testing.assert_array_equal(xt.jit(lambda a, v: a @ v)(a, v).values, numbers @ vector)
        scaled = xt.jit(lambda a, v: xt.sum(a.astype("f8") * v.astype("f8") + 1.0, "j"))(a, v)
        np.testing.assert_array_equal(scaled.values, numbers @ vector + length)


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_a_row_has_one_sum_wherever_it_is(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for rows, length in ((67, 1000), (258, 1025)):
        row, v = (xt.array(rng.standard_normal(length).astype(dtype), "j") for _ in range(2))
        a = xt.array(np.tile(row.values, (rows, 1)), ("i", "j"))
        for f in (xt.jit(lambda a, v: a @ v), xt.jit(lambda a, v: a @ v, dynamic_dims=("i",))):
            assert len(set(f(a, v).values.tolist())) == 1


def test_open_sizes() -> None:
    f = xt.jit(lambda a, v: a @ v, dynamic_dims=("i", "j"))
    for rows, length in SIZES:
        a = np.random.default_rng(rows).integers(0, 9, (rows, length)).astype("f8")
        v = np.arange(length) % 5.0
        np.testing.assert_array_equal(f(xt.array(a, ("i", "j")), xt.array(v, "j")).values, a @ v)
    assert len(f.compilations) == 1


@pytest.mark.parametrize("dtype", ("f4", "f8", "u1", "i4", "bfloat16"))
def test_rows_of_several_matrices(dtype: str) -> None:
    for sizes in ((20, 1024, 16), (5, 1003, 7), (64, 1100, 33), (3, 2000, 100), (2, 4096, 600), (2, 5, 16)):
        numbers = np.random.default_rng(sum(sizes)).integers(0, 3, sizes)
        x = xt.array(numbers, ("a", "b", "c")).astype(dtype)
        whole = xt.jit(lambda x: xt.sum(x.astype("f4"), ("a", "c")))(x)
        np.testing.assert_array_equal(whole.values, numbers.sum((0, 2)))
        largest = xt.jit(lambda x: xt.max(x, ("a", "c")))(x)
        np.testing.assert_array_equal(np.asarray(largest.astype("i8")), numbers.max((0, 2)))
    x = np.full((7, 1027, 16), 0.1)
    x[3, 500, 2] = np.nan
    sums, largest = xt.jit(lambda x: (xt.sum(x, ("a", "c")), xt.max(x, ("a", "c"))))(xt.array(x, ("a", "b", "c")))
    assert np.isnan(sums.values[500]) and np.isnan(largest.values[500])
    assert len(set(np.delete(sums.values, 500).tolist())) == 1
