"""Reads by position, several lanes at once: test/passes/CPU/gathers.mlir says how each processor loads them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import xtensor as xt
from levels import at_level

pytestmark = pytest.mark.cpu_only("vectors of the CPU")

DTYPES = ("f4", "f2", "i1", "u1", "i2", "u2", "?", ml_dtypes.bfloat16)
SIZES = ((3, 5, 40), (7, 1, 33), (5, 33, 100), (1, 1000, 1000), (9, 17, 16), (4, 7, 1))
"""Rows and columns of a table, and how many columns are read."""


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64", "x86-64-v3", "x86-64-v4")])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_columns_of_tables_that_begin_anywhere(dtype: Any, level: str) -> None:
    """The first element may lie at any place of its word, and so may the last one."""
    rng = np.random.default_rng(0)
    specs = (xt.spec(a=None, b=None, dtype=dtype), xt.spec(k=None, dtype="i4"))
    take = xt.load(xt.export(lambda x, i: xt.take(x, i, dim="b"), specs, c=False, targets=f"cpu:{level}"))
    for rows, columns, count in SIZES:
        memory = rng.integers(0, 200, rows * columns + 3).astype("u1").astype(dtype)
        at = rng.integers(0, columns, count).astype("i4")
        for first in range(4):
            table = memory[first : first + rows * columns].reshape(rows, columns)
            got = take(xt.array(table, dims=("a", "b")), xt.array(at, dims="k")).values
            np.testing.assert_array_equal(got, table[:, at], err_msg=f"{rows} x {columns}, {count}, from {first}")


SHORT_ROWS = ((50, 16, 16), (9, 5, 16), (33, 7, 40), (4, 8, 8), (6, 3, 35), (3, 17, 33), (5, 2, 7))
"""Rows and columns of a table, of which some are not longer than a vector, and how many columns are read."""


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64-v3", "x86-64-v4")])
@pytest.mark.parametrize("dtype", (*DTYPES, "f8", "i8"), ids=lambda dtype: np.dtype(dtype).name)
def test_columns_of_short_rows(dtype: Any, level: str) -> None:
    rng = np.random.default_rng(1)
    for rows, columns, count in SHORT_ROWS:
        table = rng.integers(0, 200, (rows, columns)).astype("u1").astype(dtype)
        if table.dtype.kind in "fV":
            table.flat[::7], table.flat[3::11] = np.nan, -np.inf
        specs = (xt.spec(a=rows, b=columns, dtype=dtype), xt.spec(k=count, dtype="i4"))
        program = xt.export(lambda x, i: xt.take(x, i, dim="b"), specs, c=False, targets=f"cpu:{level}")
        take, x = xt.load(program), xt.array(table, dims=("a", "b"))
        at = rng.integers(-columns, columns, count).astype("i4")
        got = take(x, xt.array(at, dims="k")).values
        assert got.dtype == table.dtype
        assert got.tobytes() == table[:, at].tobytes(), f"{rows} x {columns}, {count}"
        at[-1] = columns
        with pytest.raises(IndexError):
            take(x, xt.array(at, dims="k"))


@pytest.mark.skipif(not xt._native.has_processor("x86-64-v4"), reason="the processor cannot permute all elements")
@pytest.mark.parametrize("dtype", ["f4", ml_dtypes.bfloat16, "i8"], ids=["f4", "bfloat16", "i8"])
def test_short_rows_are_permuted(dtype: Any) -> None:
    x, at = np.ones((40, 8), dtype), np.arange(32, dtype="i4")
    take = xt.jit(lambda x, i: xt.take(x, i, dim="b"))
    text = take.as_text("llvm", xt.array(x, dims=("a", "b")), xt.array(at, dims="k"))
    assert "x86.avx512.permvar" in text and "gather" not in text.replace("gathers", "")
