"""Memory that arrays share with NumPy and others: whether it is copied, and whether it is watched for writes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from .. import _native
from ..base.dims import describe_array
from ..base.errors import ArgumentError, user_line
from .options import current

if TYPE_CHECKING:
    from .array import Array


def copies(copy: bool | None) -> bool:
    """Whether memory is to be copied where it could be shared: as the call says, else as the option does."""
    return current().copy if copy is None else copy


class Watch:
    """Arrays with what their memory was when they were made."""

    def __init__(self) -> None:
        self.arrays: list[tuple[Array, bytes, str | None]] = []

    def check(self) -> None:
        """Raises ArgumentError about the first whose memory was written to, unless a call took it over."""
        for array, before, where in self.arrays:
            if array._donation is None and _digest(array) != before:
                made = f", which was made at {where}," if where else ""
                raise ArgumentError(
                    f"the memory of an array, {describe_array(array)}{made} was written to afterwards. Copy it: "
                    f"xt.array(x, .., copy=True), or xt.option(copy=True) for all"
                )


watches: list[Watch] = []


def made_over(array: Array, source: np.ndarray | None) -> Array:
    """`array`, noted where it lies in the memory of `source` (None: in that of somebody)."""
    if not watches or array.device != "cpu":
        return array
    if source is None or np.may_share_memory(_native.as_numpy(array), source):
        digest, where = _digest(array), user_line()
        for watch in tuple(watches):  # a collected check_shared ends its own meanwhile
            watch.arrays.append((array, digest, where))
    return array


def _digest(array: Array) -> bytes:
    values = np.ascontiguousarray(_native.as_numpy(array)).reshape(-1).view(np.uint8)
    return hashlib.blake2b(values.data, digest_size=16).digest()
