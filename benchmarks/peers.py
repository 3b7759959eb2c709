"""The libraries that benchmarks compare with, where they are installed."""

from __future__ import annotations

import importlib.util
import sys

INSTALL = "XTENSOR_PEERS=1 scripts/setup.sh installs the libraries to compare with"


def available(names: list[str]) -> list[str]:
    """Those that are installed. Prints which are not."""
    found = [name for name in names if importlib.util.find_spec({"ours": "xtensor"}.get(name, name))]
    if lacking := [name for name in names if name not in found]:
        print(f"left out: {', '.join(lacking)}. {INSTALL}", file=sys.stderr)
    return found
