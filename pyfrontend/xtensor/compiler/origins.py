"""Which ops of the user's program an op of a later phase is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ir.context import written

if TYPE_CHECKING:
    from ..mlir import ir

_DERIVED = re.compile(r'loc\(fused<"(tangent|cotangent|residual)\b')
# Ops that a user does not write as functions: no derivative is said to be theirs.
_NOT_OF_USERS = {
    "apply", "broadcast", "constant", "func.return", "pullback", "pushforward", "transposed", "vectorize", "yield",
}  # fmt: skip


def ops_in(block: ir.Block) -> list[ir.Operation]:
    """The ops of a block, and those inside of them."""
    found = []
    for view in block.operations:
        found.append(view.operation)
        for region in view.operation.regions:
            for inner in region.blocks:
                found += ops_in(inner)
    return found


def main_of(module: ir.Module) -> ir.Block:
    return module.body.operations[0].operation.regions[0].blocks[0]


def derived(where: ir.Location) -> tuple[bool, ir.Location]:
    """Whether an op is a part of a derivative (passes/Autodiff/Linearize.cpp says so), and its place in the program."""
    is_derived = False
    while where.is_a_fused() or where.is_a_name():
        is_derived = is_derived or _DERIVED.match(str(where)) is not None
        where = where.locations[0] if where.is_a_fused() else where.child_loc
    return is_derived, where


def ops_at(module: ir.Module) -> dict[str, list[str]]:
    """The ops at each line and column."""
    found: dict[str, list[str]] = {}
    for op in ops_in(main_of(module)):
        _, where = derived(op.location)
        name = op.name.removeprefix("xtensor.")
        if name not in _NOT_OF_USERS:
            found.setdefault(str(where), []).append(name)
    return found


class Origins:
    """Tells of what the compiler says an op is made of: {"at": [[file, line, column]], "marks": ["cotangent"]}."""

    def __init__(self, module: ir.Module) -> None:
        self.ops = ops_at(module)

    def names(self, origin: Mapping[str, Any]) -> tuple[str, ...]:
        """Functions as a user writes them, in the order of the program's lines."""
        places = sorted(map(tuple, origin["at"]))
        found = {name: None for file, line, column in places for name in self.ops.get(_key(file, line, column), ())}
        return tuple(dict.fromkeys(written(name).removeprefix("xt.") for name in found))

    @staticmethod
    def lines(origin: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
        """(file, line), those of one file together."""
        return tuple(dict.fromkeys((file, line) for file, line, _ in sorted(map(tuple, origin["at"]))))

    @staticmethod
    def is_derivative(origin: Mapping[str, Any]) -> bool:
        return bool({"tangent", "cotangent"} & {*origin["marks"]})


def _key(file: str, line: int, column: int) -> str:
    return f'loc("{file}":{line}:{column})'


def where(lines: Sequence[tuple[str, int]]) -> str:
    """FILE:LINES, of the first file with the name alone."""
    if not lines:
        return ""
    file = lines[0][0]
    numbers = [line for f, line in lines if f == file]
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    text = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"{Path(file).name}:{text}"
