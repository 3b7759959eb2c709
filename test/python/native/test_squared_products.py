"""xt_gemm_f32 and xt_gemm_f64 through their C ABI: a matrix times its own transpose, which is computed by halves."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from runtime_abi import runtime


@pytest.fixture
def rt() -> Iterator[ctypes.CDLL]:
    library = runtime()
    yield library
    library.xt_set_num_threads(0)


def squared(rt: ctypes.CDLL, a: np.ndarray, start: np.ndarray | None = None, gap: int = 0) -> np.ndarray:
    """A A^T of an array that is C or Fortran contiguous. Between rows of the result, `gap` elements are kept."""
    n, k = a.shape
    y = np.full((n, n + gap), 77, a.dtype)
    if start is not None:
        y[:, :n] = start
    call = rt.xt_gemm_f32 if a.dtype == np.float32 else rt.xt_gemm_f64
    turned = not a.flags.c_contiguous
    leading, data = n if turned else k, a.ctypes.data
    call(turned, not turned, n, n, k, data, leading, data, leading, y.ctypes.data, n + gap, start is not None)
    assert (y[:, n:] == 77).all()
    return y[:, :n].copy()


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_sizes(rt: ctypes.CDLL, order: str, dtype: str, threads: int) -> None:
    """Sums err by at most k units, of the sum of magnitudes. Where a half is computed, both triangles have the same
    bits."""
    rt.xt_set_num_threads(threads)
    rng = np.random.default_rng(0)
    for n, k in ((63, 64), (64, 63), (64, 64), (64, 5000), (131, 70), (200, 300), (301, 1)):
        a = np.asarray(rng.normal(size=(n, k)).astype(dtype), order=order)
        wide = a.astype("longdouble")
        start = rng.normal(size=(n, n)).astype(dtype)
        for old in (None, start):
            y = squared(rt, a, old, gap=3)
            exact = wide @ wide.T + (0 if old is None else old)
            most = abs(wide) @ abs(wide.T) + (0 if old is None else abs(old))
            assert (abs(exact - y) <= (k + 1) * np.finfo(dtype).eps * most).all(), (n, k)
            if old is None and min(n, k) >= 64:  # kLeastSquared of runtime/Gemm.cpp
                np.testing.assert_array_equal(y, y.T)


@pytest.mark.parametrize("threads", [1, 2])
def test_nan_and_infinity_stay_in_their_rows_and_columns(rt: ctypes.CDLL, threads: int) -> None:
    rt.xt_set_num_threads(threads)
    a = np.ones((200, 90))
    a[3, 2], a[150, 7] = np.nan, np.inf
    expected = np.full((200, 200), 90.0)
    expected[150, :] = expected[:, 150] = np.inf
    expected[3, :] = expected[:, 3] = np.nan
    np.testing.assert_array_equal(squared(rt, a), expected)
