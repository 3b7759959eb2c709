"""The library of the runtime that this process has loaded, for calls through its C ABI."""

from __future__ import annotations

import ctypes
import re
from ctypes import c_int64, c_void_p
from pathlib import Path


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
