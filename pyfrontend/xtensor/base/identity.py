"""Decides when two Python values give the same program: they and their parts are equal and have equal types.

`==` is not enough for what is compiled once per value: 1, 1.0 and True are equal, and so are 0.0 and -0.0, and
tuples and dataclasses that hold them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

_PLAIN = frozenset({str, int, bool, bytes, type(None)})


def identity(x: Any) -> Hashable:
    """A key that is equal for values of one meaning only. TypeError where `x` cannot be hashed."""
    cls = type(x)
    if cls in _PLAIN:
        return cls, x
    if isinstance(x, float):
        return cls, float.hex(x)
    if isinstance(x, complex):
        return cls, float.hex(x.real), float.hex(x.imag)
    if isinstance(x, np.generic):
        return cls, x.dtype.str, x.tobytes()
    if isinstance(x, tuple):
        return cls, tuple([identity(v) for v in x])
    if isinstance(x, frozenset):
        return cls, frozenset([identity(v) for v in x])
    if isinstance(x, slice):
        return cls, identity((x.start, x.stop, x.step))
    hash(x)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        compared = [getattr(x, f.name) for f in dataclasses.fields(x) if f.compare]
        return cls, x, tuple([identity(v) for v in compared if _hashable(v)])
    return cls, x


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True
