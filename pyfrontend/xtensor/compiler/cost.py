"""What one call of a program costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base.errors import CompileError, UnsupportedError
from ..ir.context import compiler, diagnosed
from ..values.spec import Spec
from . import supports

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target


def needs_sizes(program: Program, what: str) -> None:
    """UnsupportedError if the program has dynamic dims; `what`: the method that was called."""
    specs = (*program.all_inputs, *program.outputs)
    dims = dict.fromkeys(d for s in specs for d, n in s.sizes.items() if n is None)
    if dims:
        raise UnsupportedError(
            f"the {what} of {program.name} depends on the sizes of its dynamic dims ({', '.join(dims)}). Ask a "
            f"function without dynamic_dims=: xt.jit(f).{what}(..)"
        )


def bytes_of(spec: Spec) -> int:
    """Of an array without dynamic dims."""
    return math.prod(n or 0 for n in spec.shape) * spec.dtype.itemsize


def cost(program: Program, target: Target) -> dict[str, Any]:
    """Returns what one call costs.

    flops: arithmetic ops of the fused program, times the elements and steps of their loops. A while loop counts as one
    step, a branch as all of its sides. An extremum is one flop; comparisons, choices, logic, conversions and positions
    are not counted.
    bytes: of arguments and results. arena: bytes of temporaries. reused, of a function with donated arguments: bytes
    of results that lie in their memory. For a device also launches (of kernels) and
    on_host: the routines that run on the CPU in the middle of the program, and how often. UnsupportedError if sizes are
    dynamic.
    """
    needs_sizes(program, "cost")
    supports.check(target, program)
    moved = sum(bytes_of(s) for s in (*program.all_inputs, *program.outputs))
    with diagnosed(CompileError):
        flops, arena, reused, launches, routines = compiler().cost(program.module, target.profile)
    found = {"flops": flops, "bytes": moved, "arena": arena}
    if program.donated:
        found["reused"] = reused
    if target.backend == "cpu":
        return found
    return {**found, "launches": launches, "on_host": {name.removeprefix("xt_"): n for name, n in routines.items()}}
