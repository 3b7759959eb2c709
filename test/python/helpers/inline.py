"""A function as text, whose ops become ops of another function: for cases of derivatives, and for test/reference."""

from __future__ import annotations

from collections.abc import Sequence

from xtensor.mlir import ir


def inlined(text: str, values: Sequence[ir.Value], context: ir.Context) -> list[ir.Value]:
    """Move the ops of the only function of the module `text` to the insertion point. `values` replace its parameters.
    Returns what it returned."""
    module = ir.Module.parse(text, context)
    (block,) = module.body.operations[0].regions[0].blocks
    for parameter, value in zip(block.arguments, values, strict=True):
        parameter.replace_all_uses_with(value)
    *ops, end = block.operations
    for op in ops:
        op.operation.detach_from_parent()
        ir.InsertionPoint.current.insert(op)
    return list(end.operands)
