"""DLPack: arrays of other libraries, on the CPU, without copies. `torch.from_dlpack(x)` works too."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..base.calls import in_words
from ..base.dims import as_names
from ..base.errors import ArgumentTypeError, DimensionError, DTypeError, UnsupportedError
from .array import Array
from .shared import copies, made_over
from .targets import placed


def from_dlpack(x: Any, dims: Any) -> Array:
    """Returns an array over the memory of an object with `__dlpack__`; `dims` names its axes.

    The array has the sizes and the dtype of `x`.

    Raises:
        DimensionError: the number of names is not that of the axes.
        ArgumentTypeError: `x` does not have `__dlpack__`.

    Example:
    >>> xt.from_dlpack(np.array([1.0, 2.0]), dims="time")
    <xtensor.Array (time: 2) float64>
    [1. 2.]
    """
    if not hasattr(x, "__dlpack__"):
        raise ArgumentTypeError(f"from_dlpack needs an object with __dlpack__, got {in_words(x)}")
    names = as_names(dims)
    try:
        made: Array = _native.from_dlpack(x, names)
        if copies(None):
            made = _native.from_buffer(_native.as_numpy(made), made.dims, copy=True)
            return placed(made, None)
        return made_over(placed(made, None), None)
    except TypeError as error:
        hint = "; give the real and the imaginary part apart" if "code 5" in str(error) else ""
        raise DTypeError(f"xt.from_dlpack: {error}{hint}") from None
    except ValueError as error:
        raise DimensionError(f"xt.from_dlpack: {error}. Give one name per axis") from None
    except (BufferError, RuntimeError) as error:
        raise UnsupportedError(f"xt.from_dlpack: {error}") from None
