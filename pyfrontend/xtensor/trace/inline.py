"""Inlines a traced program into another trace: its ops again, on other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir import context as c
from ..ir import location
from .scope import NONEMPTY, current
from .tracer import Tracer

if TYPE_CHECKING:
    from ..mlir import ir
    from .program import Program


def inline(program: Program, inputs: Sequence[Tracer]) -> list[Tracer]:
    """The results of `program` at `inputs`, which have the types of its arguments."""
    mlir, scope = c.mlir(), current()
    scope.root.called |= program.called
    scope.root.functions |= program.functions
    scope.root.operands |= program.operands
    # The copy stands in the function for a moment, so that its ops can move from there into the open block.
    holder = mlir.Operation.create("builtin.module", regions=1, loc=location.of_user(), ip=scope.ip)
    mlir.Block.create_at_start(holder.regions[0], [])
    copy = program.main.clone(ip=mlir.InsertionPoint(holder.regions[0].blocks[0])).operation
    block = copy.regions[0].blocks[0]
    for argument, x in zip(block.arguments, inputs, strict=True):
        argument.replace_all_uses_with(x.value)
    _needs_elements(copy)
    *ops, last = (view.operation for view in block.operations)
    results = [Tracer(v, s.weak, spec=s) for v, s in zip(last.operands, program.outputs, strict=True)]
    last.erase()
    for op in ops:
        op.move_before(holder)
    holder.erase()
    return results


def _needs_elements(function: ir.Operation) -> None:
    """Calls of what is being traced see to the dims that `function` must not have empty."""
    scope = current()
    if NONEMPTY in function.attributes and scope.always:  # else a condition may see to it
        for entry in function.attributes[NONEMPTY]:
            scope.root.needs_elements(entry["dim"].value, entry["message"].value, entry["where"].value or None)
