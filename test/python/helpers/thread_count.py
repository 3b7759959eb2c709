"""Loops on another number of threads than the run's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from xtensor import _native


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    before = _native.num_threads()
    _native.set_num_threads(count)
    try:
        yield
    finally:
        _native.set_num_threads(before)
