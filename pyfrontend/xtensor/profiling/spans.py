"""Spans of time, as the runtime records them, with what they are of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _native
from ..compiler.origins import where
from ..compiler.profiled import Kernel, Profiled, kernel_of, place_of
from ..explorer.memory import called

# xt_span of runtime/runtime.h, and its kinds.
_SPAN = np.dtype([("kernel", "i8"), ("begin", "i8"), ("end", "i8"), ("kind", "i4"), ("thread", "i4")])
KERNEL, SHARE = 0, 1
_MORE_KERNELS, _MORE_SHARES, _SIZE = 5, 6, 7
TRANSFERS = {2: "copy to a device", 3: "copy from a device", 4: "copy on a device"}


@dataclass(frozen=True)
class Spans:
    """Arrays of one length: kernel (or bytes), begin and end in nanoseconds, kind, thread. dropped: spans that found
    no room. sums: those of kernels and shares together, where begin is their number, and end their nanoseconds. sizes:
    the open sizes (end) of each run of a program, in the order of the arguments' dims."""

    values: np.ndarray[tuple[int], np.dtype[np.void]]
    dropped: int = 0
    sums: np.ndarray[tuple[int], np.dtype[np.void]] = field(default_factory=lambda: np.zeros(0, _SPAN))
    sizes: np.ndarray[tuple[int], np.dtype[np.void]] = field(default_factory=lambda: np.zeros(0, _SPAN))

    def __add__(self, other: Spans) -> Spans:
        both = ((self.values, other.values), (self.sums, other.sums), (self.sizes, other.sizes))
        values, sums, sizes = (np.concatenate(pair) for pair in both)
        return Spans(values, self.dropped + other.dropped, sums, sizes)

    def dropped_of(self, kernel: int, kind: int) -> tuple[int, float]:
        """How many of a kernel's found no room, and their seconds."""
        mine = self.sums[(self.sums["kernel"] == kernel) & (self.sums["kind"] == kind)]
        return int(mine["begin"].sum()), float(mine["end"].sum()) / 1e9


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
    found = np.frombuffer(b"".join(reversed(parts)), _SPAN)  # the runtime gives the latest first
    is_sum = np.isin(found["kind"], (_MORE_KERNELS, _MORE_SHARES))
    sums, sizes, values = found[is_sum], found[found["kind"] == _SIZE], found[found["kind"] < _MORE_KERNELS]
    sums["kind"] -= _MORE_KERNELS - KERNEL
    # The compiler shares the threads: its work is of no kernel.
    values = values[(values["kind"] != SHARE) | (values["kernel"] >= 0)]
    values, sizes = (some[np.argsort(some["begin"], kind="stable")] for some in (values, sizes))
    return Spans(values, dropped, sums, sizes)


@dataclass(frozen=True)
class Named:
    """A kernel with the texts that stand for it."""

    program: Profiled
    kernel: Kernel
    name: str
    where: str
    place: int  # among the kernels of the program

    def work(self, sizes: tuple[int, ...]) -> tuple[float | None, float | None]:
        """Its flops and bytes in a run of these open sizes."""
        found = self.program.work(sizes)
        return found[self.place] if found else (None, None)


def named(number: int) -> Named | None:
    found = kernel_of(number)
    if found is None:
        return None
    program, kernel = found
    name = called(kernel.ops) or ("loops" if kernel.flops else "copy")
    if kernel.is_derivative:
        name = f"derivative of {name}"
    if kernel.kind.startswith("xt_") and kernel.kind != f"xt_{name}":
        name = f"{name} ({kernel.kind.removeprefix('xt_')})"
    elif kernel.kind == "product":
        name = f"{name} ({_native.blas_name().partition(' ')[0]})"
    if kernel.kind == "program":
        name = program.name
    return Named(program, kernel, name, where(kernel.lines), place_of(number))
