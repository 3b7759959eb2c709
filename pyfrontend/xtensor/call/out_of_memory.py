"""What the memory that a call did not get would have been for: which result or temporaries, of which ops and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..base.dims import describe
from ..base.errors import Error, MemoryError_
from ..compiler.cost import bytes_of, fixed, sizes_of
from ..compiler.memory import Plan, plan_of
from ..compiler.origins import Source, function_of, is_public, main_of, source_of
from ..ir import context as c
from ..ir import location

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target

# What the native extension says (raiseMemoryError).
_ASKED = re.compile(r"no memory for (?P<array>an array of )?(?P<bytes>\d+) bytes(?: of temporaries)?(?: on [\w:]+)?")
_MOST = 3  # temporaries that are told


def tell(
    error: MemoryError_, name: str, trace: Callable[[], tuple[Program, Target, Sequence[Sequence[int | None]]]]
) -> None:
    """Names the function and what the memory is for, in an error of one of its calls. trace: traces it again, and
    returns the shapes of the arguments, too."""
    text, where = error.parts
    asked = _ASKED.match(text)
    about = ""
    if asked is not None:
        try:
            with location.naming():
                program, target, shapes = trace()
            if asked["array"]:
                about = _result(fixed(program, sizes_of(program, shapes, "memory")), int(asked["bytes"]))
            else:
                about = _temporaries(plan_of(program, target, shapes))
        except Error:
            about = ""  # the sizes alone are told, as where the arguments are gone
    error.say(f"xt.jit({name}): {text}{about}", where)


def _at(where: str) -> str:
    return f" at {where}" if where else ""


def _result(program: Program, count: int) -> str:
    """The result that takes so many bytes, and the op that gives it."""
    for i, (s, value) in enumerate(zip(program.outputs, main_of(program.module).operations[-1].operands, strict=True)):
        if bytes_of(s) != count:
            continue
        text = f"\n  for result {i}, {s.dtype.name} {describe(s.dims, s.shape)}"
        op = value.owner
        if isinstance(op, c.mlir().Block):
            return text
        source: Source = source_of(op)
        of = source.function if source.function and not source.is_derived else function_of(op)
        of = f"the derivative of {source.function or 'an op'}" if source.is_derived else of
        return f"{text}{f', of {of}' if is_public(of) else ''}{_at(c.file_line(op.location))}"
    return ""


def _temporaries(plan: Plan) -> str:
    """The largest temporaries."""
    found = sorted(plan.temporaries, key=lambda t: -t.bytes)
    told = []
    for t in found[:_MOST]:
        file, line = t.lines[0] if t.lines else ("", 0)
        of = f" of {', '.join(op if op.startswith('x.') else f'xt.{op}' for op in t.ops)}" if t.ops else ""
        told.append(
            f"{t.bytes} bytes of temporaries for {t.dtype}{list(t.shape)}{of}{_at(f'{file}:{line}' if file else '')}"
        )
    more = len(found) - len(told)
    return "".join(f"\n  {line}" for line in [*told, *([f"and {more} more"] if more > 0 else [])])
