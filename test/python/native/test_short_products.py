"""xt_gemm_f32 and xt_gemm_f64 through their C ABI: products of few terms or rows, which our own loops compute."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
import xtensor as xt
from runtime_abi import product, runtime


@pytest.fixture
def rt() -> Iterator[ctypes.CDLL]:
    library = runtime()
    yield library
    library.xt_set_num_threads(0)


# Around a tile (12 rows; 32 or 16 columns), a vector, and what lies in the second cache.
COLUMNS = (2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 65)
SIZES = [(m, n, k) for m in (4, 5, 12, 13, 29) for n in COLUMNS for k in (1, 5, 32)]
SIZES += [(64, 100, 64), (64, 101, 33), (300, 64, 64), (5, 5003, 32), (1000, 40, 7), (2, 40, 8), (3, 40, 8)]
# Sums that are cut into parts of 128 terms.
SIZES += [(64, 64, 4096), (13, 100, 127), (128, 17, 129), (4, 128, 300), (128, 128, 257)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_sizes(rt: ctypes.CDLL, order: str, dtype: str) -> None:
    """Sums err by at most k units, of the sum of magnitudes."""
    rng = np.random.default_rng(0)
    for m, n, k in SIZES:
        a = np.asarray(rng.normal(size=(m, k)).astype(dtype), order=order)
        b, start = (rng.normal(size=s).astype(dtype) for s in ((k, n), (m, n)))
        for old in (None, start):
            y = product(rt, a, b, old, gap=3)
            wide = (x.astype("longdouble") for x in (a, b, start if old is not None else np.zeros((m, n))))
            exact, terms, at_start = next(wide), next(wide), next(wide)
            most = abs(exact) @ abs(terms) + abs(at_start)
            assert (abs(exact @ terms + at_start - y) <= (k + 1) * np.finfo(dtype).eps * most).all(), (m, n, k)


@pytest.mark.skipif(
    not xt._native.has_processor("x86-64-v4"), reason="without AVX-512, OpenBLAS computes them, and tiles change bits"
)
def test_threads_do_not_change_bits(rt: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    for m, n, k in ((500, 1003, 32), (64, 40_001, 64), (4000, 70, 17)):
        a, b = rng.normal(size=(m, k)).astype("f4"), rng.normal(size=(k, n)).astype("f4")
        found = []
        for threads in (1, 2, 3):
            rt.xt_set_num_threads(threads)
            found.append(product(rt, a, b, None, gap=0))
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])


def test_nan_and_infinity_stay_in_their_rows_and_columns(rt: ctypes.CDLL) -> None:
    a, b = np.ones((14, 9), "f8"), np.ones((9, 35), "f8")
    a[13, 2], b[8, 34] = np.nan, np.inf
    y = product(rt, a, b, None, gap=0)
    expected = np.full((14, 35), 9.0)
    expected[:, 34], expected[13] = np.inf, np.nan
    np.testing.assert_array_equal(y, expected)
