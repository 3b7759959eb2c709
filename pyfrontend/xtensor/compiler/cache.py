"""The cache of compiled objects on disk.

Its folder is $XTENSOR_CACHE_DIR, else a folder in the user's cache; if the variable is empty, nothing is kept. It
holds up to $XTENSOR_CACHE_MB (256) megabytes and removes the least recently used files first.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..base.errors import ArgumentError


def directory() -> str | None:
    """Where compiled objects are kept between processes; None: nowhere."""
    given = os.environ.get("XTENSOR_CACHE_DIR")
    if given is not None:
        return given or None
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "xtensor")


def limit() -> int:
    """How many bytes of compiled objects are kept."""
    given = os.environ.get("XTENSOR_CACHE_MB", "256")
    try:
        found = int(float(given) * 2**20)
    except (ValueError, OverflowError):
        found = -1
    if found >= 0:
        return found
    raise ArgumentError(f"XTENSOR_CACHE_MB is a number of megabytes, not {given!r}")


def clear() -> int:
    """Removes the cached objects; returns how many there were."""
    found = directory()
    count = 0
    for pattern in ("*.o", "pipelines/*.bin"):
        for path in Path(found).glob(pattern) if found else ():
            path.unlink(missing_ok=True)
            count += 1
    if found:
        (Path(found) / "grown").unlink(missing_ok=True)  # ObjectCache.cpp
    return count
