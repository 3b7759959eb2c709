"""DLPack: arrays of other libraries, on the CPU, without copies. `torch.from_dlpack(x)` works too."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..core.array import Array
from ..core.dims import as_names
from ..core.errors import ArgumentTypeError


def from_dlpack(x: Any, dims: Any) -> Array:
    """An array over the memory of anything with `__dlpack__`; `dims` names its axes."""
    if not hasattr(x, "__dlpack__"):
        raise ArgumentTypeError(f"from_dlpack needs an object with __dlpack__, got {type(x).__name__}")
    return _native.from_dlpack(x, as_names(dims))
