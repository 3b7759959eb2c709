"""Spans of time, as the runtime records them, with what they are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _native
from ..compiler.origins import where
from ..compiler.profiled import Kernel, Profiled, kernel_of
from ..explorer.memory import called

# xt_span of runtime/runtime.h, and its kinds.
_SPAN = np.dtype([("kernel", "i8"), ("begin", "i8"), ("end", "i8"), ("kind", "i4"), ("thread", "i4")])
KERNEL, SHARE = 0, 1
TRANSFERS = {2: "copy to a device", 3: "copy from a device", 4: "copy on a device"}


@dataclass(frozen=True)
class Spans:
    """Arrays of one length: kernel (or bytes), begin and end in nanoseconds, kind, thread. dropped: spans that found
    no room."""

    values: np.ndarray[tuple[int], np.dtype[np.void]]
    dropped: int = 0

    def __add__(self, other: Spans) -> Spans:
        return Spans(np.concatenate([self.values, other.values]), self.dropped + other.dropped)


def covered(values: np.ndarray[tuple[int], np.dtype[np.void]]) -> float:
    """The seconds in which at least one of the spans runs."""
    if not len(values):
        return 0.0
    values = values[np.argsort(values["begin"])]
    ends = np.maximum.accumulate(values["end"])
    begins = np.maximum(values["begin"][1:], ends[:-1])
    new = values["end"][0] - values["begin"][0] + np.maximum(values["end"][1:] - begins, 0).sum()
    return float(new) / 1e9


def none() -> Spans:
    return Spans(np.zeros(0, _SPAN))


def taken() -> Spans:
    """Those that the runtime recorded since they were last taken."""
    parts, dropped = _native.profile_take()
    found = np.frombuffer(b"".join(parts), _SPAN)
    # The compiler shares the threads: its work is of no kernel.
    return Spans(found[(found["kind"] != SHARE) | (found["kernel"] >= 0)], dropped)


@dataclass(frozen=True)
class Named:
    """A kernel with the texts that stand for it."""

    program: Profiled
    kernel: Kernel
    name: str
    where: str


def named(number: int) -> Named | None:
    found = kernel_of(number)
    if found is None:
        return None
    program, kernel = found
    name = called(kernel.ops) or program.name
    if kernel.is_derivative:
        name = f"derivative of {name}"
    if kernel.kind.startswith("xt_"):
        name = f"{name} ({kernel.kind.removeprefix('xt_')})"
    elif kernel.kind == "product":
        name = f"{name} ({_native.blas_name().partition(' ')[0]})"
    if kernel.kind == "program":
        name = program.name
    return Named(program, kernel, name, where(kernel.lines))
