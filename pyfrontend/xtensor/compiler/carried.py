"""Compiled code in pickles: a process that reads one does not compile what the sender had compiled.

The code is found by what the program and the processor are. So the receiver traces the function again, and a processor
of another kind compiles it for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.latest import Latest
from ..ir.context import compiler
from . import cache

# Programs of one function that its pickle carries, and their bytes together. A program has some 3 to 100 kB.
MOST_CARRIED, _MOST_BYTES = 64, 8 << 20


class Carried:
    """What a pickle has beside a function: a name, by which a process that gets it again knows it, and the keys of its
    compiled programs. Their code is in the pickle. is_received: this came in a pickle."""

    __slots__ = ("is_received", "keys", "token")

    def __init__(self, token: str, keys: Sequence[str], is_received: bool = False) -> None:
        self.token = token
        self.keys = tuple(dict.fromkeys(keys))[-MOST_CARRIED:]
        self.is_received = is_received

    def __reduce__(self) -> Any:
        objects, size = {}, 0
        for key in reversed(self.keys):  # the latest first
            found = compiler().object_of(key, cache.directory() or "")
            size += len(found)
            if size > _MOST_BYTES:
                break
            if found:
                objects[key] = found
        return _taken, (self.token, objects)

    def __deepcopy__(self, memo: object) -> Carried:
        return self


def _taken(token: str, objects: dict[str, bytes]) -> Carried:
    for key, found in objects.items():
        compiler().take_object(key, found)
        _received(key, lambda: True)
    return Carried(token, [*reversed(objects)], is_received=True)


_received = Latest(4096)  # keys of what came in pickles


def is_received(key: str) -> bool:
    """Whether the code of a program came in a pickle."""
    return key in _received.known
