"""What one call of a program costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..base.errors import CompileError, UnsupportedError
from ..ir.context import compiler, diagnosed, spec_of
from ..values.spec import Spec
from . import supports
from .origins import copy_of, main_of

if TYPE_CHECKING:
    from ..mlir import ir
    from ..trace.program import Program
    from ..values.targets import Target


def sizes_of(program: Program, shapes: Sequence[Sequence[int | None]], what: str) -> dict[str, int]:
    """The sizes of the program's dynamic dims, by name. UnsupportedError if one of them is not known.

    shapes: of the arguments that were given, whose arrays have sizes. what: the method that was called.
    """
    specs = (*program.all_inputs, *program.outputs)
    dims = dict.fromkeys(d for s in specs for d, n in s.sizes.items() if n is None)
    if not dims:
        return {}
    found: dict[str, int] = {}
    for spec, shape in zip(program.inputs, shapes, strict=False):
        for dim, size, known in zip(spec.dims, spec.shape, shape, strict=True):
            if size is None and known is not None:
                found[dim] = known
    open_dims = [d for s in program.all_inputs for d, n in s.sizes.items() if n is None and d not in found]
    if open_dims:
        raise UnsupportedError(
            f"the {what} of {program.name} depends on the sizes of its dynamic dims ({', '.join(dims)}), and the size "
            f"of {open_dims[0]!r} is not given. Give arrays, or sizes: f.{what}(xt.spec({open_dims[0]}=1000, ..))"
        )
    return found


def fixed(program: Program, sizes: dict[str, int]) -> Program:
    """A copy whose dynamic dims have these sizes."""
    if not sizes:
        return program
    copy, inputs, outputs = fixed_module(program.module, sizes)
    return replace(program, module=copy, inputs=inputs[: len(program.inputs)], outputs=outputs)


def fixed_module(module: ir.Module, sizes: dict[str, int]) -> tuple[ir.Module, tuple[Spec, ...], tuple[Spec, ...]]:
    """A copy of a traced module with these sizes, and what its arguments and results are."""
    copy = copy_of(module)
    with diagnosed(CompileError):
        compiler().fix_sizes(copy, sizes)
        main = main_of(copy)
        inputs = tuple(spec_of(v.type) for v in main.arguments)
        return copy, inputs, tuple(spec_of(v.type) for v in [*main.operations][-1].operation.operands)


def bytes_of(spec: Spec) -> int:
    """Of an array without dynamic dims."""
    return math.prod(n or 0 for n in spec.shape) * spec.dtype.itemsize


def cost(program: Program, target: Target, shapes: Sequence[Sequence[int | None]] = ()) -> dict[str, Any]:
    """Returns what one call costs.

    flops: arithmetic ops of the fused program, times the elements and steps of their loops. A while loop counts as one
    step, a branch as all of its sides. An extremum is one flop; comparisons, choices, logic, conversions and positions
    are not counted.
    bytes: of arguments and results. arena: bytes of temporaries. reused, of a function with donated arguments: bytes
    of results that lie in their memory. For a device also launches (of kernels) and
    on_host: the routines that run on the CPU in the middle of the program, and how often. Of a program with dynamic
    dims, it is the cost of a call with arguments of these shapes. UnsupportedError if they do not tell all sizes.
    """
    sizes = sizes_of(program, shapes, "cost")
    supports.check(target, program)
    of_call = fixed(program, sizes)
    moved = sum(bytes_of(s) for s in (*of_call.all_inputs, *of_call.outputs))
    with diagnosed(CompileError):
        flops, arena, reused, launches, routines = compiler().cost(program.module, target.profile, sizes)
    found = {"flops": flops, "bytes": moved, "arena": arena}
    if program.donated:
        found["reused"] = reused
    if target.backend == "cpu":
        return found
    return {**found, "launches": launches, "on_host": {name.removeprefix("xt_"): n for name, n in routines.items()}}
