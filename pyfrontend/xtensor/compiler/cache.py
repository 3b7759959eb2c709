"""The cache of compiled objects on disk: $XTENSOR_CACHE_DIR, else a folder under the user's cache; empty: none."""

from __future__ import annotations

import os
from pathlib import Path


def directory() -> str | None:
    """Where compiled objects are kept between processes; None: nowhere."""
    given = os.environ.get("XTENSOR_CACHE_DIR")
    if given is not None:
        return given or None
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "xtensor")


def clear() -> int:
    """Removes the cached objects; returns how many there were."""
    found = directory()
    count = 0
    for path in Path(found).glob("*.o") if found else ():
        path.unlink(missing_ok=True)
        count += 1
    return count
