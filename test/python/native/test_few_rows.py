"""xt_gemm_f32 and xt_gemm_f64 through their C ABI: products of a few rows or columns and a large matrix."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from runtime_abi import product, runtime


@pytest.fixture
def rt() -> Iterator[ctypes.CDLL]:
    library = runtime()
    yield library
    library.xt_set_num_threads(0)


# Around parts of rows (2 to 8 of them), vectors, panels of columns, and blocks of terms (8, 256; 2048 and less).
SIZES = [(m, n, k) for m in (2, 3, 5, 8) for n in (32, 33, 63, 81) for k in (32, 37, 300)]
SIZES += [(m, 300, 259) for m in (9, 11, 16, 17, 24)]
SIZES += [(2, 2065, 40), (8, 1029, 520), (3, 35, 5000), (24, 70, 2049)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order_a", ["C", "F"])
@pytest.mark.parametrize("order_b", ["C", "F"])
@pytest.mark.parametrize("columns", [False, True])
def test_all_sizes(rt: ctypes.CDLL, columns: bool, order_b: str, order_a: str, dtype: str) -> None:
    """Sums err by at most k units, of the sum of magnitudes. With `columns`, the second factor has few of them."""
    rng = np.random.default_rng(0)
    for m, n, k in SIZES:
        if columns:
            m, n = n, m
        a = np.asarray(rng.normal(size=(m, k)).astype(dtype), order=order_a)
        b = np.asarray(rng.normal(size=(k, n)).astype(dtype), order=order_b)
        old = rng.normal(size=(m, n)).astype(dtype)
        for start in (None, old):
            y = product(rt, a, b, start, gap=3)
            wide_a, wide_b = a.astype("f8"), b.astype("f8")
            before = 0 if start is None else start.astype("f8")
            most = abs(wide_a) @ abs(wide_b) + abs(before)
            assert (abs(wide_a @ wide_b + before - y) <= (k + 1) * np.finfo(dtype).eps * most).all(), (m, n, k)


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_bits(rt: ctypes.CDLL, order: str) -> None:
    rng = np.random.default_rng(1)
    for m, n, k in ((2, 20_003, 64), (7, 4001, 300), (24, 1003, 520), (8, 300, 4000)):
        a = rng.normal(size=(m, k)).astype("f4")
        b = np.asarray(rng.normal(size=(k, n)).astype("f4"), order=order)
        for left, right in ((a, b), (np.ascontiguousarray(b.T), np.ascontiguousarray(a.T))):
            found = []
            for threads in (1, 2, 3):
                rt.xt_set_num_threads(threads)
                found.append(product(rt, left, right, None, gap=0))
            if k < 4 * n:  # else a thread has a part of the terms
                np.testing.assert_array_equal(found[0], found[1])
                np.testing.assert_array_equal(found[0], found[2])
            np.testing.assert_allclose(found[0], found[2], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("order", ["C", "F"])
def test_nan_and_infinity_stay_in_their_rows_and_columns(rt: ctypes.CDLL, order: str) -> None:
    a, b = np.ones((5, 41), "f8"), np.ones((41, 35), "f8", order=order)
    a[4, 40], b[40, 34] = np.nan, np.inf
    expected = np.full((5, 35), 41.0)
    expected[:, 34], expected[4] = np.inf, np.nan
    np.testing.assert_array_equal(product(rt, a, b, None, gap=0), expected)


def test_many_terms_are_summed_in_blocks(rt: ctypes.CDLL) -> None:
    """One running sum of float32 would lose most of the ones beside 2^24."""
    k = 1 << 18
    a, b = np.ones((2, k), "f4"), np.ones((k, 32), "f4")
    a[:, 0] = 1 << 24
    y = product(rt, a, b, None, gap=0)
    assert (abs(y / (2**24 + k - 1) - 1) < 1e-4).all()
