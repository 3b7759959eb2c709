"""Where in the user's program an op comes from; every op keeps it through every phase."""

from __future__ import annotations

import linecache
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..base.errors import user_frame
from .context import context, file_line, mlir

if TYPE_CHECKING:
    from ..mlir import ir

_RULE = "derivative of "
# By code object and instruction: finding the column is slow, and a traced loop comes by often. Code of the same text is
# equal in whatever file it is, hence the file's name.
_known: dict[tuple[str, CodeType, int], ir.Location] = {}

# The texts of a file when code of it was traced, the latest last: when the file was written, and its lines.
_texts: dict[str, list[tuple[int, list[str]]]] = {}
_MOST_TEXTS = 4
_started = time.time_ns()


def _written_at(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0  # a cell of a notebook, or gone


def _remember(path: str) -> list[tuple[int, list[str]]]:
    """Keeps the text of a file as it is now."""
    known, at = _texts.setdefault(path, []), _written_at(path)
    if not known or known[-1][0] != at:
        linecache.checkcache(path)
        lines = [line.rstrip("\r\n") for line in linecache.getlines(path)]
        if lines or not known:  # a file that is gone has its texts, and what never was one is not looked for again
            known[:] = [*known[-_MOST_TEXTS + 1 :], (at, lines)]
    return known


def _codes_in(text: str, path: str) -> set[CodeType]:
    try:
        found = [compile(text, path, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return set()
    for code in found:
        found += [x for x in code.co_consts if isinstance(x, CodeType)]
    return set(found)


def text_of(path: str, code: CodeType | None = None) -> tuple[list[str], str]:
    """The lines of a file that was traced, and what to know about them. `code`: of a function in the file; by default
    of one that was traced. A file may have been edited after Python read it: then its text when it was traced counts,
    if that is of the code."""
    texts = _remember(path)
    if not texts[-1][1]:  # perhaps it is known by now, as a cell of a notebook
        texts.clear()
        _remember(path)
    code = code or next((c for p, c, _ in reversed(_known) if absolute(p) == path), None)
    is_edited = texts[-1][0] > _started
    for at, lines in reversed(texts) if code is not None and is_edited else ():
        if code in _codes_in("\n".join(lines) + "\n", path):
            return lines, "" if at == texts[-1][0] else "as it was when it was traced; the file has changed"
    note = "the file has changed since it was loaded, so lines may be wrong" if is_edited and code else ""
    return texts[-1][1], note


def unknown() -> ir.Location:
    return mlir().Location.unknown(context())


# Of the latest code objects, by their ids; each is kept with its positions, so that no other one has the id.
_positions: dict[int, tuple[CodeType, list[Any]]] = {}
_MOST_POSITIONS = 64


def _positions_of(code: CodeType) -> list[Any]:
    """(first line, last line, first column, last column) of each instruction."""
    found = _positions.get(id(code))
    if found is None:
        if len(_positions) >= _MOST_POSITIONS:
            _positions.clear()
        found = _positions[id(code)] = code, list(code.co_positions())
    return found[1]


def of_user() -> ir.Location:
    """FILE:LINE:COLUMN of the innermost frame outside of this package."""
    frame = user_frame()
    if frame is None:
        return unknown()
    code, last = frame.f_code, frame.f_lasti
    key = code.co_filename, code, last
    found = _known.get(key)
    if found is None:
        first, _, col, _ = _positions_of(code)[last // 2]
        line, column = first or frame.f_lineno, col + 1 if col is not None else 0
        name = absolute(code.co_filename)
        _remember(name)
        name = name.encode("utf-8", "replace").decode()  # of a file it may be any bytes
        found = mlir().Location.file(name, line, column, context())
        _known[key] = found
    return found


def absolute(file: str) -> str:
    """With its folder: IR may be read from another one. What is no file, as <stdin>, keeps its name."""
    return os.path.abspath(file) if os.path.isfile(file) else file


class _Naming(threading.local):
    now = False


_naming = _Naming()


@contextmanager
def naming() -> Iterator[None]:
    """What is traced meanwhile has the names of the functions that its ops are parts of."""
    before, _naming.now = _naming.now, True
    try:
        yield
    finally:
        _naming.now = before


def is_naming() -> bool:
    return _naming.now


def named_by(name: str, where: ir.Location) -> ir.Location:
    """A location under a name, where that is asked for."""
    return mlir().Location.name(name, childLoc=where, context=context()) if _naming.now and name else where


def of_function(where: ir.Location, name: str, is_rule: bool) -> ir.Location:
    """`where`, under the name of a public function where that is asked for. is_rule: a derivative of it."""
    return named_by(f"{_RULE}{name}" if is_rule and name else name, where)


def function_in(name: str) -> tuple[str, bool]:
    """The function in a name that `of_function` or `of_failing` gave, and whether it is about its derivative."""
    return name.removeprefix(_RULE).partition("#")[0], name.startswith(_RULE)


def of_failing(where: ir.Location, told: str) -> ir.Location:
    """`where`, under a name that no other op of the function has, OP#NUMBER: what fails is told by it."""
    return mlir().Location.name(told, childLoc=where, context=context())


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
