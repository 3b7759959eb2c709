"""The library of the runtime that this process has loaded, for calls through its C ABI."""

from __future__ import annotations

import ctypes
import re
from ctypes import c_int64, c_void_p
from pathlib import Path

import numpy as np


def path_of_runtime() -> str:
    from xtensor import _native  # noqa: F401  (loads it)

    match = re.search(r"\S*/libxtensor_runtime\S*\.so", Path("/proc/self/maps").read_text())
    assert match, "_native does not load libxtensor_runtime.so"
    return match[0]


def runtime() -> ctypes.CDLL:
    """With the types of xt_gemm_f32 and xt_gemm_f64. Each call gives an object of its own, for further types."""
    library = ctypes.CDLL(path_of_runtime())
    for name in ("xt_gemm_f32", "xt_gemm_f64"):
        f = getattr(library, name)
        f.argtypes, f.restype = [*[c_int64] * 5, *[c_void_p, c_int64] * 3, c_int64], None
    return library


def product(rt: ctypes.CDLL, a: np.ndarray, b: np.ndarray, start: np.ndarray | None, gap: int) -> np.ndarray:
    """By xt_gemm. Each factor is C or Fortran contiguous. Between rows of the result, `gap` elements are kept."""
    (m, k), n = a.shape, b.shape[1]
    y = np.full((m, n + gap), 77, a.dtype)
    if start is not None:
        y[:, :n] = start
    call = rt.xt_gemm_f32 if a.dtype == np.float32 else rt.xt_gemm_f64
    trans_a, trans_b = not a.flags.c_contiguous, not b.flags.c_contiguous
    lda, ldb = (m if trans_a else k), (k if trans_b else n)
    call(trans_a, trans_b, m, n, k, a.ctypes.data, lda, b.ctypes.data, ldb, y.ctypes.data, n + gap, start is not None)
    assert (y[:, n:] == 77).all()
    return y[:, :n].copy()
