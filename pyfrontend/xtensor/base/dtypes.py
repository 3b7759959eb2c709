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
COMPLEX: tuple[DType, ...] = (np.dtype("complex64"), np.dtype("complex128"))
BOOL: DType = np.dtype("bool")
ALL: tuple[DType, ...] = (BOOL, *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX)
BY_NAME: dict[str, DType] = {d.name: d for d in ALL}

_KNOWN = frozenset(ALL)
_ALIASES: dict[Any, DType] = {
    "bfloat16": bfloat16, "bf16": bfloat16, "f16": np.dtype("float16"), "f32": np.dtype("float32"),
    "f64": np.dtype("float64"), bool: BOOL, int: np.dtype("int64"), float: np.dtype("float64"),
    complex: np.dtype("complex128"),
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
        wide = {"f": "f8", "c": "c16"}.get(found.kind)
        instead = f'. Write "{wide}", or values.astype("{wide}")' if wide else ""
        raise DTypeError(f"arrays of {found} are not supported; {_list()}{instead}")
    return found


def _list() -> str:
    return "dtypes are " + ", ".join(d.name for d in ALL)


def to_mlir(dtype: DType) -> str:
    """How the IR spells `dtype`, which is not complex: "f32", "i1", "ui8"."""
    return _MLIR[dtype.name]


def from_mlir(text: str) -> DType:
    return _FROM_MLIR[text]


def is_float(dtype: DType) -> bool:
    """Whether it is a real float."""
    return dtype in FLOATS


def is_complex(dtype: DType) -> bool:
    return dtype.kind == "c"


def is_inexact(dtype: DType) -> bool:
    """Whether it is a float or complex: what has a derivative, and may be NaN."""
    return dtype.kind == "c" or dtype in FLOATS


def real_of(dtype: DType) -> DType:
    """The dtype of the real part; other dtypes than complex ones as they are."""
    return FLOATS[2 if dtype.itemsize == 8 else 3] if dtype.kind == "c" else dtype


def complex_of(dtype: DType) -> DType:
    """The complex dtype that holds `dtype`: complex64 for floats of up to 32 bits and integers of up to 16."""
    if dtype.kind == "c":
        return dtype
    return COMPLEX[int(dtype.itemsize > (4 if is_float(dtype) else 2))]


def is_integer(dtype: DType) -> bool:
    return dtype.kind in "iu"


def is_bool(dtype: DType) -> bool:
    return dtype.kind == "b"


def finfo(dtype: DType) -> Any:
    """NumPy's finfo, for bfloat16 too."""
    return ml_dtypes.finfo(dtype)


def iinfo(dtype: DType) -> Any:
    return np.iinfo(dtype)
