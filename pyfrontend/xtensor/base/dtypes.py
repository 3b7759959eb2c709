"""The element types, and their spellings for users, NumPy and the IR."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .errors import DTypeError

DType: TypeAlias = "np.dtype[Any]"
DTypeLike: TypeAlias = "np.dtype[Any] | type | str | None"

bfloat16: DType = np.dtype(ml_dtypes.bfloat16)

FLOATS: tuple[DType, ...] = (
    np.dtype("float16"), bfloat16, np.dtype("float32"), np.dtype("float64"),
)  # fmt: skip
SIGNED: tuple[DType, ...] = tuple(np.dtype(f"int{n}") for n in (8, 16, 32, 64))
UNSIGNED: tuple[DType, ...] = tuple(np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
BOOL: DType = np.dtype("bool")
ALL: tuple[DType, ...] = (BOOL, *SIGNED, *UNSIGNED, *FLOATS)
BY_NAME: dict[str, DType] = {d.name: d for d in ALL}

_KNOWN = frozenset(ALL)
_ALIASES: dict[Any, DType] = {
    "bfloat16": bfloat16, "bf16": bfloat16, "f16": np.dtype("float16"), "f32": np.dtype("float32"),
    "f64": np.dtype("float64"), bool: BOOL, int: np.dtype("int64"), float: np.dtype("float64"),
}  # fmt: skip
_MLIR = {"bool": "i1", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_MLIR |= {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}
_MLIR |= {f"uint{n}": f"ui{n}" for n in (8, 16, 32, 64)}
_FROM_MLIR = {text: np.dtype(name) if name != "bfloat16" else bfloat16 for name, text in _MLIR.items()}


def as_dtype(dtype: Any) -> DType:
    """The dtype meant by a NumPy dtype or type, a Python type, or a name such as "f4" or "bfloat16"."""
    try:
        found = _ALIASES.get(dtype)
        if found is None:
            found = np.dtype(dtype)
    except TypeError:
        raise DTypeError(f"{dtype!r} is not a dtype; {_list()}") from None
    if found not in _KNOWN:
        native = found.newbyteorder("=")
        if native in _KNOWN:
            return native
        raise DTypeError(f"arrays of {found} are not supported; {_list()}")
    return found


def _list() -> str:
    return "dtypes are " + ", ".join(d.name for d in ALL)


def to_mlir(dtype: DType) -> str:
    """How the IR spells `dtype`: "f32", "i1", "ui8"."""
    return _MLIR[dtype.name]


def from_mlir(text: str) -> DType:
    return _FROM_MLIR[text]


def is_float(dtype: DType) -> bool:
    return dtype in FLOATS


def is_integer(dtype: DType) -> bool:
    return dtype.kind in "iu"


def is_bool(dtype: DType) -> bool:
    return dtype.kind == "b"


canonical = as_dtype


def finfo(dtype: DType) -> Any:
    """NumPy's finfo, for bfloat16 too."""
    return ml_dtypes.finfo(dtype)


def iinfo(dtype: DType) -> Any:
    return np.iinfo(dtype)
