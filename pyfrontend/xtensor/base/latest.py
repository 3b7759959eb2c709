"""A table of bounded size, which keeps what was asked for last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class Latest:
    """`latest(key, make)`: what `make()` gave for this key. The key that was asked for least recently goes first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: OrderedDict[Any, Any] = OrderedDict()
        self.adding = threading.RLock()  # keys that are compared may call functions

    def __len__(self) -> int:
        return len(self.known)

    def __call__(self, key: Any, make: Callable[[], Any]) -> Any:
        with self.adding:
            if key in self.known:
                self.known.move_to_end(key)
                return self.known[key]
        new = make()  # outside of the lock: it may take long, and ask for other keys
        with self.adding:
            found = self.known.setdefault(key, new)
            self.known.move_to_end(key)
            while len(self.known) > self.most:
                self.known.popitem(last=False)
        return found
