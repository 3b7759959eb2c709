"""Where in the user's program an op comes from; every op keeps it through every phase."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING

from ..base.errors import user_frame
from .context import context, file_line, mlir

if TYPE_CHECKING:
    from ..mlir import ir

# By code object and instruction: finding the column is slow, and a traced loop comes by often. Code of the same text is
# equal in whatever file it is, hence the file's name.
_known: dict[tuple[str, CodeType, int], ir.Location] = {}


def unknown() -> ir.Location:
    return mlir().Location.unknown(context())


def of_user() -> ir.Location:
    """FILE:LINE:COLUMN of the innermost frame outside of this package."""
    frame = user_frame()
    if frame is None:
        return unknown()
    code, last = frame.f_code, frame.f_lasti
    key = code.co_filename, code, last
    found = _known.get(key)
    if found is None:
        line, column = frame.f_lineno, 0
        positions = getattr(code, "co_positions", None)
        if positions is not None:
            for i, (first, _, col, _) in enumerate(positions()):
                if i == last // 2:
                    line, column = first or line, col + 1 if col is not None else 0
                    break
        name = code.co_filename.encode("utf-8", "replace").decode()  # of a file it may be any bytes
        found = mlir().Location.file(name, line, column, context())
        _known[key] = found
    return found


def of_failing(op: str, number: int) -> ir.Location:
    """The user's line, under a name that no other op of the function has: what fails is told by it."""
    return mlir().Location.name(f"{op}#{number}", childLoc=of_user(), context=context())


def named(op: ir.Operation) -> str:
    """The name that `of_failing` gave; empty if there is none."""
    where = op.location
    return where.name_str if where.is_a_name() and "#" in where.name_str else ""


def of_value(value: ir.Value) -> str | None:
    """FILE:LINE of the op that gives `value`, None for arguments."""
    owner = value.owner  # an op, or the block that it is an argument of
    return None if isinstance(owner, mlir().Block) else file_line(owner.location) or None


def of_argument(name: str) -> ir.Location:
    """Location of a parameter, which has a name and no line."""
    return mlir().Location.name(name, context=context())
