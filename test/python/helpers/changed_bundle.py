"""Bundles whose members are others, with right hashes: what somebody could make who wants to deceive a reader."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from places import ROOT
from xtensor import _native

MUTATE = ROOT / "test" / "aot" / "mutate.py"


def changed(data: bytes, change: Callable[[Any], Any] | None = None, **members: bytes) -> bytes:
    """The bundle with other members and a manifest that has their hashes."""
    parts = {name: data[a:b] for name, (a, b) in _native.read_zip(data).items()}
    table = json.loads(parts["manifest.json"])
    for name, new in members.items():
        parts[name] = new
        table["members"][name] = {"bytes": len(new), "sha256": hashlib.sha256(new).hexdigest()}
    if change:
        change(table)
    parts["manifest.json"] = json.dumps(table).encode()
    return _native.write_zip(list(parts.items()))


def mutated(path: Path, seed: int, changes: int, *what: str) -> subprocess.CompletedProcess[str]:
    """Tries a bundle with random changes in a process of its own, which a crash would end."""
    command = [sys.executable, MUTATE, path, str(seed), str(changes), *what]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent, timeout=300, check=False)
