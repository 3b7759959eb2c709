"""What a compilation is asked for; part of the key of the cache on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.errors import ArgumentError

PHASES = (
    "traced",
    "simplified",
    "differentiated",
    "linalg",
    "grouped",
    "scheduled",
    "buffers",
    "cpu",
    "llvm",
    "asm",
)


def check_phase(phase: str) -> str:
    if phase not in PHASES:
        raise ArgumentError(f"there is no phase {phase!r}; phases are, in order: {', '.join(PHASES)}")
    return phase


@dataclass(frozen=True)
class CompileOptions:
    """target: what to generate code for ("cpu")."""

    target: str = "cpu"

    def as_dict(self) -> dict[str, Any]:
        from . import cache

        return {"cache_dir": cache.directory() or "", "cache_limit": cache.limit()}
