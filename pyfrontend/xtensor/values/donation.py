"""Arrays that a call took over: `xt.jit(donate=)`. Their values are gone, and using one is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _native
from ..base.dims import describe
from ..base.errors import ArgumentError


def _raise_donated(dtype: str, dims: Sequence[str], shape: Sequence[int], place: tuple[str, str, int]) -> None:
    function, file, line = place
    raise ArgumentError(
        f"this array, {dtype} {describe(dims, shape)}, was given to {function} at {file}:{line}, which took its memory "
        "(donate=). Use what that call returned, or give it a copy: xt.array(x, copy=True)"
    )


def in_use(array: Any) -> Any:
    """The array, if no call took it over."""
    place = array._donation
    if place is not None:
        _raise_donated(array.dtype.name, array.dims, array.shape, place)
    return array


_native.set_donated_error(_raise_donated)
