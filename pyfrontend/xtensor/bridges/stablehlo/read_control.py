"""Loops and branches of StableHLO as ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from ...trace import build, control
from ...trace.tracer import Tracer
from .parts import blocks_of, direction, shape_of
from .values import Reader, dtype_of


def _known_int(value: Any) -> int | None:
    """An integer that is known now."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "stablehlo.constant" or shape_of(value):
        return None
    found = np.array(ir.DenseElementsAttr(value.owner.attributes["value"]))
    return int(found) if found.dtype.kind in "iu" else None


def _counted(op: Any, outside: Any) -> tuple[int, int, int] | None:
    """(carry, first, end) of a loop that counts one of its carries up by 1 to a number, and does nothing else in its
    condition: what lax.scan and lax.fori_loop become."""
    condition, body = blocks_of(op)
    last = list(condition.operations)[-1].operation.operands[0]
    test = last.owner
    if isinstance(test, ir.Block) or test.name != "stablehlo.compare" or direction(test) != "LT":
        return None
    places = [i for i, v in enumerate(condition.arguments) if v == test.operands[0]]
    end = _known_int(test.operands[1])
    if len(places) != 1 or end is None:
        return None
    carry = places[0]
    first = _known_int(op.operands[carry])
    step = list(body.operations)[-1].operation.operands[carry].owner
    if first is None or isinstance(step, ir.Block) or step.name != "stablehlo.add":
        return None
    if step.operands[0] != body.arguments[carry] or _known_int(step.operands[1]) != 1:
        return None
    return carry, first, end


def _while(reader: Reader, op: Any, known: Any, *start: Tracer) -> list[Tracer]:
    condition, body = blocks_of(op)
    yields = list(list(body.operations)[-1].operation.operands)
    # What a step hands on as it is, a step reads from outside.
    fixed = {i for i, v in enumerate(yields) if v == body.arguments[i]}
    counted = _counted(op, known)
    if counted is not None:
        fixed.discard(counted[0])
    moving = [i for i in range(len(start)) if i not in fixed and (counted is None or i != counted[0])]

    def every(carry: Sequence[Tracer], at: Tracer | None = None) -> list[Tracer]:
        found = list(start)
        for i, x in zip(moving, carry, strict=True):
            found[i] = x
        if counted is not None and at is not None:
            found[counted[0]] = at
        return found

    def step(carry: Sequence[Tracer], at: Tracer | None = None) -> list[Tracer]:
        found = reader.run(body, every(carry, at), known)
        return [found[i] for i in moving]

    init = [start[i] for i in moving]
    if counted is None:
        found = control.while_loop(lambda carry: reader.run(condition, every(carry), known)[0], step, init, None)
        return every(found)
    number, first, end = counted
    dtype = dtype_of(op.operands[number])
    found = control.fori_loop(first, max(first, end), lambda i, carry: step(carry, build.cast(i, dtype)), init)
    return every(found, build.constant(np.asarray(max(first, end), dtype)))


def _case(reader: Reader, op: Any, known: Any, index: Tracer) -> Any:
    """An index out of range runs the last branch."""
    blocks = blocks_of(op)
    at = build.cast(index, np.dtype("int64"))
    last = build.constant(np.int64(len(blocks) - 1))
    at = build.select(build.compare("lt", at, build.constant(np.int64(0))), last, at)
    return control.switch(at, [_branch(reader, b, known) for b in blocks], ())


def _if(reader: Reader, op: Any, known: Any, condition: Tracer) -> Any:
    yes, no = (_branch(reader, b, known) for b in blocks_of(op))
    return control.cond(condition, yes, no, ())


def _branch(reader: Reader, block: Any, known: Any) -> Callable[[], list[Tracer]]:
    def branch() -> list[Tracer]:
        return reader.run(block, (), known)

    return branch


RULES: dict[str, Callable[..., Any]] = {"case": _case, "if": _if, "while": _while}
