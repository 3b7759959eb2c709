"""NumPy: arrays in and out without copies. `numpy.asarray(x)` works too."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array, from_values


def from_numpy(values: np.ndarray[Any, Any], dims: Any) -> Array:
    """The array over a NumPy array's memory; `dims` names its axes."""
    return from_values(values, dims)


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """A read-only NumPy array over the memory of `x`."""
    return x.values
