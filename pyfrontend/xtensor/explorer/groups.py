"""The graph of fused groups on the page of `f.explore(x, profile=p)`: kernels as measured, and what flows between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..compiler.profiled import Kernel
from .memory import in_flops, in_units

if TYPE_CHECKING:
    from ..trace.program import Program


class Measured(Protocol):
    """A row of a profile."""

    name: str
    where: str
    calls: int
    seconds: float
    bytes: float | None
    flops: float | None
    share: float | None
    help: str


def _node(kernel: Kernel, row: Measured, calls: int, total: float) -> dict[str, Any]:
    """calls, total: of the program. Numbers are of one call of the program."""
    moved, flops = (None if n is None else n / calls for n in (row.bytes, row.flops))
    seconds = row.seconds / calls
    return {
        "name": row.name,
        "kind": kernel.kind,
        "where": row.where,
        "at": kernel.lines,
        "is_derivative": kernel.is_derivative,
        "runs": row.calls / calls,
        "seconds": seconds,
        "bytes": moved,
        "flops": flops,
        "share": row.share,
        "help": row.help,
        "cells": [
            f"{1e6 * seconds:.1f} us",
            f"{100 * row.seconds / total:.0f} %" if total else "",
            "?" if moved is None else in_units(moved),
            "?" if flops is None else in_flops(flops),
            "?" if row.share is None else f"{100 * row.share:.0f} %",
        ],
    }


def _edges(kernels: Sequence[Kernel], runs: Sequence[float]) -> list[list[int]]:
    """[from, to]: a kernel that reads what another one wrote last. from >= to: in the step of a loop before.

    runs: of each kernel in a call. Those of loops run more often than once.
    """
    found: dict[tuple[int, int], None] = {}
    for i, kernel in enumerate(kernels):
        for memory in kernel.reads:
            writers = [j for j, other in enumerate(kernels) if memory in other.writes]
            before, after = [j for j in writers if j < i], [j for j in writers if j >= i and runs[j] > 1]
            if before:
                found[before[-1], i] = None
            if after and runs[i] > 1 and not (before and runs[before[-1]] > 1):
                found[after[-1], i] = None
    return [[*edge] for edge in found]


def groups_of(program: Program, measured: Sequence[tuple[Kernel, Measured]]) -> dict[str, Any]:
    """What the page shows of a profile, whose first kernel is the program.

    "nodes": the kernels in the order of the program, each with name, kind, where, at (file, line), and what one call of
    the program takes: runs, seconds, bytes, flops, share of the limit, and "cells", their texts. "edges": [from, to].
    "ends": for each node the arguments that it reads, and the results that it writes.
    """
    (_, whole), *rest = measured
    kernels = [kernel for kernel, _ in rest]
    arguments, results = program.all_inputs, program.outputs

    def ends(kernel: Kernel) -> dict[str, list[str]]:
        read = [-1 - m for m in kernel.reads if m < 0]
        written = [-1 - m - len(arguments) for m in kernel.writes if m < 0]
        return {
            "reads": [repr(arguments[i]) for i in read if i < len(arguments)],
            "writes": [repr(results[i]) for i in written if 0 <= i < len(results)],
        }

    return {
        "calls": whole.calls,
        "seconds": whole.seconds / whole.calls,
        "nodes": [_node(kernel, row, whole.calls, whole.seconds) for kernel, row in rest],
        "edges": _edges(kernels, [row.calls / whole.calls for _, row in rest]),
        "ends": [ends(kernel) for kernel in kernels],
    }
