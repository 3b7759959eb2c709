"""Where the temporaries of a program lie in its arena, and when."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.errors import CompileError
from ..ir.context import compiler, diagnosed
from .cost import bytes_of, cost, fixed, sizes_of
from .origins import Origins

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target


@dataclass(frozen=True)
class Temporary:
    """Memory of a value that is neither an argument nor a result.

    It takes `bytes` bytes from `offset` on, from step `begin` to step `end`. dtype and shape: of the memory, without
    the names of dims. ops: the functions that the value is made by, and lines their (file, line).
    """

    bytes: int
    offset: int
    begin: int
    end: int
    dtype: str
    shape: tuple[int, ...]
    ops: tuple[str, ...]
    lines: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Step:
    """What the program does at one time: the functions that it is of, and their lines."""

    ops: tuple[str, ...]
    lines: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Plan:
    """arguments, results, reused: bytes; the last are of results that lie in the memory of arguments. arena: bytes of
    the memory that a call takes for its temporaries, and inner: of those that parallel loops take besides."""

    name: str
    arguments: int
    results: int
    reused: int
    arena: int
    inner: int
    temporaries: tuple[Temporary, ...]
    steps: tuple[Step, ...]


def plan_of(program: Program, target: Target, shapes: Sequence[Sequence[int | None]] = ()) -> Plan:
    """The plan of one call: of a program with dynamic dims, with arguments of these shapes. UnsupportedError if they
    do not tell all sizes."""
    sizes = sizes_of(program, shapes, "memory")
    of_call = fixed(program, sizes)
    arguments, results = (sum(map(bytes_of, specs)) for specs in (of_call.all_inputs, of_call.outputs))
    known = cost(program, target, shapes)
    with diagnosed(CompileError):
        told = json.loads(compiler().memory(program.module, target.profile, sizes))
    origins = Origins(program)
    # What stands in one line of the program, one after another, is one step.
    steps: list[Step] = []
    begins: list[int] = []
    for step in told["steps"]:
        new = Step(origins.names(step["loc"]), origins.lines(step["loc"]))
        if new.lines and (not steps or steps[-1] != new):
            steps.append(new)
            begins.append(step["at"])

    def temporary(t: dict[str, object]) -> Temporary:
        where = t["loc"]
        assert isinstance(where, dict)
        assert isinstance(t["shape"], list)
        size, offset, begin, end = (int(str(t[key])) for key in ("bytes", "offset", "begin", "end"))
        first = max(bisect_right(begins, begin) - 1, 0)
        last = max(bisect_left(begins, end + 1) - 1, first)
        names, lines = origins.names(where), origins.lines(where)
        return Temporary(size, offset, first, last, str(t["type"]), tuple(t["shape"]), names, lines)

    temporaries = tuple(temporary(t) for t in told["temporaries"])
    arena = told["bytes"]
    inner = known["arena"] - arena
    return Plan(program.name, arguments, results, known.get("reused", 0), arena, inner, temporaries, tuple(steps))
