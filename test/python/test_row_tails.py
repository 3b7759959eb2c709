"""The end of a row, where a vector is not full: no conversion writes a byte beyond its own elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import DTYPES

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


@pytest.mark.parametrize("first", range(1, 71, 10))
def test_all_pairs_of_dtypes(first: int) -> None:
    convert = xt.jit(_convert_and_pad)
    for length in range(first, first + 10):
        _check(convert, length, BEYOND)


def test_all_pairs_of_dtypes_of_an_open_size() -> None:
    convert = xt.jit(_convert, dynamic_dims=("i",))
    for length in range(1, 71):
        _check(convert, length, 0)


def test_rows_of_several_threads() -> None:
    narrow = xt.jit(lambda x: x.astype("i4"))
    highest = xt.jit(lambda x: xt.argmax(x, dim="j").astype("i4"))
    x = np.full((1001, 1001), 7)
    x[:, 5] = 8
    named = xt.array(x, dims=("i", "j"))
    for _ in range(20):
        np.testing.assert_array_equal(np.asarray(narrow(named)), x.astype("i4"))
        np.testing.assert_array_equal(np.asarray(highest(named)), np.full(1001, 5, "i4"))
