"""The end of a row, where a vector is not full: no conversion writes a byte beyond its own elements. Guards around each
result prove it (XTENSOR_DEBUG_MEMORY), and what another loop has written behind a row."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import DTYPES
from levels import at_level

pytestmark = pytest.mark.cpu_only("vectors of the CPU")

DTYPES_OF_ROWS = (*DTYPES, "u2", "bfloat16")
BEYOND = 8
"""Elements that another loop has written behind each row, before the row is written."""


def _convert_and_pad(*rows: Any) -> tuple[Any, ...]:
    return tuple(
        xt.pad(row.astype(dtype), i=(0, BEYOND), constant_values=1) for row in rows for dtype in DTYPES_OF_ROWS
    )


def _convert(*rows: Any) -> tuple[Any, ...]:
    return tuple(row.astype(dtype) for row in rows for dtype in DTYPES_OF_ROWS)


def _check(convert: Any, length: int, beyond: int) -> None:
    numbers = np.random.default_rng(length).integers(0, 100, length)
    results = iter(convert(*(xt.array(numbers, dims="i").astype(dtype) for dtype in DTYPES_OF_ROWS)))
    for source in DTYPES_OF_ROWS:
        row = numbers.astype(bool) if source == "?" else numbers
        for dtype in DTYPES_OF_ROWS:
            expected = np.append(row.astype(bool) if dtype == "?" else row, np.ones(beyond))
            np.testing.assert_array_equal(
                np.asarray(next(results)).astype("f8"), expected, err_msg=f"{source} to {dtype}"
            )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(1, 71, 10))
def test_all_pairs_of_dtypes(first: int) -> None:
    convert = xt.jit(_convert_and_pad)
    for length in range(first, first + 10):
        _check(convert, length, BEYOND)


def test_all_pairs_of_dtypes_of_an_open_size() -> None:
    convert = xt.jit(_convert, dynamic_dims=("i",))
    for length in range(1, 71):
        _check(convert, length, 0)


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")])
def test_rows_of_open_sizes_for_each_width_of_vectors(level: str) -> None:
    """Rows of rows: the end of each but the last is followed by the next one, the last by guards."""
    specs = tuple(xt.spec(i=None, j=None, dtype=dtype) for dtype in DTYPES_OF_ROWS)
    convert = xt.load(xt.export(_convert, specs, c=False, targets=f"cpu:{level}"))
    for rows, length in itertools.product((1, 3), (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65)):
        numbers = np.random.default_rng(length).integers(0, 100, (rows, length))
        x = xt.array(numbers, dims=("i", "j"))
        results = iter(convert(*(x.astype(dtype) for dtype in DTYPES_OF_ROWS)))
        for source, dtype in itertools.product(DTYPES_OF_ROWS, DTYPES_OF_ROWS):
            want = numbers.astype(bool) if "?" in (source, dtype) else numbers
            got = np.asarray(next(results)).astype("f8")
            np.testing.assert_array_equal(got, want, err_msg=f"{source} to {dtype}, {rows} x {length}")


def _combine(x: Any, row: Any) -> tuple[Any, ...]:
    powers = xt.exp((x - row).astype("f8"))
    return x + row, xt.sum(x, dim="j"), xt.max(x, dim="j"), xt.argmax(x, dim="j"), xt.sum(powers, dim="j")


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64-v3", "x86-64-v4")])
def test_sums_and_searches_of_rows_that_end_before_vectors(level: str) -> None:
    """What is left of a row is shorter vectors, masked ones, or the last lanes of one that others have read."""
    for dtype, length in itertools.product(("f4", "f8", "i1", "i2", "u1"), (2, 3, 4, 5, 7, 9, 13, 15, 31, 39, 59, 67)):
        rng = np.random.default_rng(length)
        x, row = (rng.integers(0, 3, shape).astype(dtype) for shape in ((5, length), length))
        named = xt.array(x, dims=("i", "j")), xt.array(row, dims="j")
        specs = (xt.spec(i=5, j=length, dtype=dtype), xt.spec(j=length, dtype=dtype))
        results = xt.load(xt.export(_combine, specs, c=False, targets=f"cpu:{level}"))(*named)
        want = x + row, x.sum(1), x.max(1), x.argmax(1), np.exp((x - row).astype("f8")).sum(1)
        for got, expected in zip(results, want, strict=True):
            np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, err_msg=f"{dtype}, {length}")


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64-v3", "x86-64-v4")])
def test_long_searches_find_the_first_of_equal_elements(level: str) -> None:
    for dtype in ("f4", "u1"):
        specs = (xt.spec(i=4, j=5003, dtype=dtype),)
        both = xt.export(lambda x: (xt.argmax(x, "j"), xt.argmin(x, "j")), specs, c=False, targets=f"cpu:{level}")
        find = xt.load(both)
        for x in (np.random.default_rng(0).integers(0, 200, (4, 5003)), np.arange(4 * 5003).reshape(4, 5003) // 80):
            x = x.astype(dtype)
            most_at, least_at = find(xt.array(x, dims=("i", "j")))
            np.testing.assert_array_equal(most_at.values, x.argmax(1))
            np.testing.assert_array_equal(least_at.values, x.argmin(1))


@pytest.mark.parametrize("level", [at_level(n) for n in ("x86-64-v3", "x86-64-v4")])
@pytest.mark.parametrize(("rows", "columns"), [(9, 4500), (35, 601), (70, 9001)])
def test_sums_of_columns_that_are_read_along_rows(level: str, rows: int, columns: int) -> None:
    def combine(x: Any, y: Any) -> tuple[Any, ...]:
        return xt.sum(x, dim="i"), xt.max(x, dim="i"), xt.sum(x * y, dim="i"), xt.logsumexp(x - 1, dim="i")

    for dtype in ("f4", "f8", "i4"):
        x = np.random.default_rng(rows).integers(-9, 9, (rows, columns)).astype(dtype)
        y = np.arange(rows).astype(dtype)
        specs = (xt.spec(i=rows, j=columns, dtype=dtype), xt.spec(i=rows, dtype=dtype))
        compiled = xt.load(xt.export(combine, specs, c=False, targets=f"cpu:{level}"))
        results = compiled(xt.array(x, dims=("i", "j")), xt.array(y, dims="i"))
        want = x.sum(0), x.max(0), (x * y[:, None]).sum(0), np.log(np.exp(x.astype("f8") - 1).sum(0))
        for got, expected in zip(results, want, strict=True):
            np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-5, atol=1e-5, err_msg=dtype)


def test_guards_are_there() -> None:
    assert os.environ["XTENSOR_DEBUG_MEMORY"] == "1"


def test_rows_of_several_threads() -> None:
    narrow = xt.jit(lambda x: x.astype("i4"))
    highest = xt.jit(lambda x: xt.argmax(x, dim="j").astype("i4"))
    x = np.full((1001, 1001), 7)
    x[:, 5] = 8
    named = xt.array(x, dims=("i", "j"))
    for _ in range(20):
        np.testing.assert_array_equal(np.asarray(narrow(named)), x.astype("i4"))
        np.testing.assert_array_equal(np.asarray(highest(named)), np.full(1001, 5, "i4"))
