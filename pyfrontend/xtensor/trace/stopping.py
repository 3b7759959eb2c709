"""Stops compiled code for Python's debugger, with the values that the user's names have there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from ..base import tree
from ..base.errors import Error, user_frame
from ..values.array import Array
from ..values.spec import Spec
from . import callbacks
from .lift import as_tracer
from .scope import is_alive, tracing
from .tracer import DynamicSize, Tracer


def stop() -> None:
    """Opens pdb at the user's line: now, or each time that the program being traced gets here."""
    frame = user_frame()
    if frame is None or (tracing() and callbacks.exporting()):
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
    import pdb

    return pdb.Pdb()


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
        self.file, self.line, self.globals = frame.f_code.co_filename, frame.f_lineno, frame.f_globals
        self.structure, self.leaves, self.places = structure, leaves, places

    def __call__(self, where: Mapping[str, int], arrays: Sequence[Array], _: Sequence[Spec]) -> Sequence[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.places, arrays, strict=True):
            leaves[i] = x
        names = {**self.others, **self.structure.unflatten(leaves)}
        if where:
            names["instance"] = dict(where)
        # A frame at the user's line, in which these are the variables.
        line = "\n" * (self.line - 1) + "__stop__()"
        names["__stop__"] = _debugger().set_trace
        exec(compile(line, self.file, "exec"), dict(self.globals), names)
        return ()
