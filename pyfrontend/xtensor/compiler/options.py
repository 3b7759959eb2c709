"""The options of a compilation, which are part of the key of the cache on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base.errors import ArgumentError
from . import cache

# What every target goes through, and what comes after it.
_SHARED = ("traced", "simplified", "differentiated", "distributed", "linalg", "grouped", "scheduled", "buffers")
_PHASES = {
    "cpu": (*_SHARED, "cpu", "llvm", "asm"),
    "vulkan": (*_SHARED, "gpu", "spirv", "llvm", "asm"),
    "metal": (*_SHARED, "gpu", "spirv", "msl", "llvm", "asm"),
    "cuda": (*_SHARED, "gpu", "nvvm", "ptx", "llvm", "asm"),
}
PHASES = _PHASES["cpu"]
# The target of the text of a phase, by default.
_FOR = {"gpu": "vulkan", "spirv": "vulkan", "msl": "metal", "nvvm": "cuda", "ptx": "cuda"}


def phases_of(backend: str) -> tuple[str, ...]:
    """The phases on the way to code for "cpu" or a kind of device, in order."""
    return _PHASES[backend]


def check_phase(phase: str, backend: str = "cpu") -> str:
    """Refuses a phase that is not on the way to `backend`. Returns the kind of device whose phase it is."""
    if phase in _PHASES[backend]:
        return backend
    if backend == "cpu" and phase in _FOR:
        return _FOR[phase]
    known = ", ".join(_PHASES[backend])
    others = "" if backend != "cpu" else f"; of devices also {', '.join(_FOR)}"
    raise ArgumentError(f"there is no phase {phase!r} for {backend!r}; phases are, in order: {known}{others}")


@dataclass(frozen=True)
class CompileOptions:
    """target: what to generate code for: "cpu", or what the compiler is told about a device. profile: the number of a
    program that is profiled (profiled.py), which the cache does not keep; 0: it is not."""

    target: str = "cpu"
    profile: int = 0

    def as_dict(self) -> dict[str, Any]:
        where = cache.directory() or ""
        return {"cache_dir": where, "cache_limit": cache.limit(), "target": self.target, "profile": self.profile}
