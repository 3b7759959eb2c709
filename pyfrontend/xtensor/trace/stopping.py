"""Stops compiled code for Python's debugger, with the values that the user's names have there."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

from ..base import tree
from ..base.errors import Error, is_ours, user_frame
from ..values.array import Array
from ..values.spec import Spec
from . import callbacks
from .lift import as_tracer
from .scope import is_alive, tracing
from .tracer import DynamicSize, Tracer


def stop() -> None:
    """Opens pdb at the user's line: now, or each time that the program being traced gets here."""
    frame = user_frame()
    if frame is None or (tracing() and callbacks.left_out("debug.breakpoint")):
        return
    if not tracing():
        _debugger().set_trace(frame)
        return
    others, computed = _names(frame)
    leaves, structure = tree.flatten(computed)
    places = [i for i, x in enumerate(leaves) if _has_value(x)]
    arrays = [as_tracer(leaves[i]) for i in places]
    function = _Stop(frame, others, structure, leaves, places)
    callbacks.call("breakpoint", function, object(), arrays, ordered=True)


def _debugger() -> Any:
    """pdb, which shows the frames of the user and goes from one of them to the next."""
    import pdb

    package = __name__.partition(".")[0]

    class Debugger(pdb.Pdb):
        def get_stack(self, *args: Any) -> tuple[list[Any], int]:
            stack, at = super().get_stack(*args)
            kept = [i for i, (frame, _) in enumerate(stack) if i == at or not is_ours(frame)]
            return [stack[i] for i in kept], kept.index(at) if at in kept else len(kept)

    return Debugger(skip=[package, f"{package}.*"])


def _code_at(code: CodeType, line: int) -> CodeType:
    """Code that calls the global `__stop__`, and is then at a line of a function: pdb takes it for the function."""
    made = ast.parse("def stop():\n __stop__()\n pass")
    function: Any = made.body[0]
    function.name, function.lineno = code.co_name, min(code.co_firstlineno, line)
    for statement, number in zip(function.body, (line + 1, line), strict=True):  # a new line is what pdb stops at
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = number  # type: ignore[attr-defined]
    function.end_lineno = line + 1
    compiled = compile(made, code.co_filename, "exec")
    body = next(x for x in compiled.co_consts if isinstance(x, CodeType))
    # With variables by name, which `exec` takes.
    return body.replace(co_flags=body.co_flags & ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS))


def _names(frame: FrameType) -> tuple[dict[str, Any], dict[str, Any]]:
    """Names of a frame: those that hold what they are, and those that hold what the program computes."""
    others: dict[str, Any] = {}
    computed: dict[str, Any] = {}
    for name, x in frame.f_locals.items():
        try:
            is_computed = any(map(_has_value, tree.leaves(x)))
        except Error:  # what contains itself
            is_computed = False
        (computed if is_computed else others)[name] = x
    return others, computed


def _has_value(x: Any) -> bool:
    """Whether the program computes it here."""
    tracer = x.tracer if isinstance(x, DynamicSize) else x
    return isinstance(tracer, Tracer) and is_alive(tracer.scope)


class _Stop:
    """The names of a frame. A call gets the leaves at `places`."""

    def __init__(
        self,
        frame: FrameType,
        others: Mapping[str, Any],
        structure: tree.TreeDef,
        leaves: Sequence[Any],
        places: Sequence[int],
    ) -> None:
        self.others = dict(others)
        self.code, self.globals = _code_at(frame.f_code, frame.f_lineno), frame.f_globals
        self.structure, self.leaves, self.places = structure, leaves, places

    def __call__(self, where: Mapping[str, int], arrays: Sequence[Array], _: Sequence[Spec]) -> Sequence[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.places, arrays, strict=True):
            leaves[i] = x
        names = {**self.others, **self.structure.unflatten(leaves)}
        if where:
            names["instance"] = dict(where)
        # A frame at the user's line, in which these are the variables.
        exec(self.code, {**self.globals, "__stop__": _debugger().set_trace}, names)
        return ()
