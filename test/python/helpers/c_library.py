"""libNAME.so of a bundle, called by ctypes as a program in C calls it."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import xtensor as xt

_NAMES = ("OK", "NULL", "SIZE", "ALIGNMENT", "OVERLAP", "COUNT", "DTYPE", "DIM", "RANGE")
CODES = {name: i for i, name in enumerate(_NAMES)} | {"NO_MEMORY": 16, "INDEX": 17}


class Context(ctypes.Structure):
    ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, BODY, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    _fields_ = (
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_size_t),
        ("allocate", ALLOCATE),
        ("release", RELEASE),
        ("parallel_for", LOOP),
        ("state", ctypes.c_void_p),
        ("message", ctypes.c_char * 256),
    )


class Any_(ctypes.Structure):  # noqa: N801 (xt_any)
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.POINTER(ctypes.c_char_p)),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
    )


def typed(data: np.ndarray | int | None, *sizes: int) -> Any:
    """A structure of the header: data, then sizes."""
    address = data.ctypes.data if isinstance(data, np.ndarray) else (data or 0)
    words = (ctypes.c_int64 * (1 + len(sizes)))(address, *sizes)
    words.kept = data
    return words


class Library:
    """libNAME.so of a bundle, by ctypes."""

    def __init__(self, bundle: xt.Bundle, folder: Path) -> None:
        m = bundle.manifest
        bundle.extract(folder)
        self.library = ctypes.CDLL(str(folder / str(m.targets[0].shared)))
        self.function = getattr(self.library, str(m.functions[0].symbol))
        self.any = getattr(self.library, f"{m.functions[0].symbol}_any")
        self.workspace = getattr(self.library, f"{m.functions[0].symbol}_workspace")
        self.workspace.restype = ctypes.c_int64
        self.say = getattr(self.library, f"{Path(str(m.header)).stem}_message")
        self.say.restype = ctypes.c_char_p
        self.context = Context()

    def __call__(self, *arrays: Any) -> tuple[int, str]:
        code = self.function(*(ctypes.byref(a) if a is not None else None for a in arrays), ctypes.byref(self.context))
        return code, self.say(ctypes.byref(self.context), code).decode()

    def call_any(self, *arrays: tuple[np.ndarray, int, list[str]]) -> tuple[int, str]:
        kept = []
        list_ = (Any_ * len(arrays))()
        for a, (data, dtype, dims) in zip(list_, arrays, strict=True):
            names = (ctypes.c_char_p * max(len(dims), 1))(*(d.encode() for d in dims))
            sizes = (ctypes.c_int64 * max(data.ndim, 1))(*data.shape)
            kept += [names, sizes]
            a.data, a.dtype, a.rank, a.dims, a.sizes = data.ctypes.data, dtype, len(dims), names, sizes
        code = self.any(list_, ctypes.c_int64(len(arrays)), ctypes.byref(self.context))
        return code, self.say(ctypes.byref(self.context), code).decode()
