"""Stops compiled code for Python's debugger, with the values that the user's names have there."""

from __future__ import annotations

import ast
import bdb
import inspect
import sys
import sysconfig
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

    class Quit(bdb.BdbQuit, SystemExit):
        """Ends the call, and a program that does not catch it, as `q` does elsewhere. No traceback is printed."""

    Quit.__module__ = "bdb"
    Quit.__name__ = Quit.__qualname__ = "BdbQuit"

    class Debugger(pdb.Pdb):
        def trace_dispatch(self, frame: FrameType, event: str, arg: Any) -> Any:
            try:
                return super().trace_dispatch(frame, event, arg)
            except bdb.BdbQuit:
                self.set_quit()  # nothing is traced any more
                sys.settrace(None)
                raise Quit from None

        def stop_here(self, frame: FrameType) -> bool:
            return bool(super().stop_here(frame)) and not _serves_us(frame)

        def user_return(self, frame: FrameType, value: Any) -> None:
            if not _is_stop(frame):
                super().user_return(frame, value)

        def do_next(self, arg: str) -> Any:
            return self._leave() if self._is_compiled() else super().do_next(arg)

        def do_step(self, arg: str) -> Any:
            return self._leave() if self._is_compiled() else super().do_step(arg)

        def do_return(self, arg: str) -> Any:
            return self._leave() if self._is_compiled() else super().do_return(arg)

        def do_until(self, arg: str) -> Any:
            return self._leave() if self._is_compiled() else super().do_until(arg)

        do_n, do_s, do_r, do_unt = do_next, do_step, do_return, do_until

        def _is_compiled(self) -> bool:
            """Whether it stands in compiled code, which has no lines to go on to."""
            return bool(self.stack) and _is_stop(self.stack[-1][0])

        def _leave(self) -> int:
            """Goes on to the next breakpoint, or to the line after the call."""
            self.message("(compiled code runs on to its next breakpoint, or to the line after the call)")
            outer = self.stack[-1][0].f_back
            while outer is not None and is_ours(outer):
                outer = outer.f_back
            if outer is None:
                self.set_continue()
            else:
                self.set_next(outer)
            return 1

        def get_stack(self, *args: Any) -> tuple[list[Any], int]:
            stack, at = super().get_stack(*args)
            kept = [i for i, (frame, _) in enumerate(stack) if i == at or not is_ours(frame)]
            return [stack[i] for i in kept], kept.index(at) if at in kept else len(kept)

    return Debugger(skip=[package, f"{package}.*"])


def _serves_us(frame: FrameType) -> bool:
    """Whether a frame is of a library that this package calls, and not of the user's own code."""
    paths = sysconfig.get_paths()
    libraries = "<frozen ", paths["stdlib"], paths["purelib"], paths["platlib"]
    at: FrameType | None = frame
    while at is not None and not is_ours(at):
        if not at.f_code.co_filename.startswith(libraries):
            return False
        at = at.f_back
    return at is not None


def _is_stop(frame: FrameType) -> bool:
    """Whether a frame stands for one of compiled code (`_Stop`)."""
    return _STOP in frame.f_globals


_STOP = "__stop__"


def _code_at(code: CodeType, line: int) -> CodeType:
    """Code that calls the global `__stop__`, and is then at a line of a function: pdb takes it for the function."""
    made = ast.parse(f"def stop():\n {_STOP}()\n pass")
    function: Any = made.body[0]
    function.name, function.lineno = code.co_name, min(code.co_firstlineno, line)
    # pdb stops at the line of the call from CPython 3.13 on, and at the next new line before.
    first = line if sys.version_info >= (3, 13) else line + 1
    for statement, number in zip(function.body, (first, line), strict=True):
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
        exec(self.code, {**self.globals, _STOP: _debugger().set_trace}, names)
        return ()
