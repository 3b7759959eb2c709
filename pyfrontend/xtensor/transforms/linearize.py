"""linearize: the results of a function, and its derivative as a map of tangents that can be called repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import call_with
from ..base.errors import ArgumentError, DTypeError, trimmed
from ..call.arguments import Call, as_leaf, name_of, needs_function
from ..call.dispatch import plain
from ..compiler.executable import native_type
from ..trace.program import result_leaves
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from ..values import options
from . import split
from .derivative import ByFunction, Linearized, conform, joined, same_structure
from .jit import marked
from .jvp import jvp
from .vjp import exact

Push = Callable[..., Any]


@plain
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Push]:
    """Returns `f(*primals)`, and a function `push` from one tangent per primal to the tangent of the result.

    `f` runs once, and `push` keeps what it needs of that run: many directions cost less than as many calls of
    `jvp`. A tangent has the dims of its primal and aligns with it by name, or it is a number. None is zero; integer
    primals take None, and integer results give None.
    """
    needs_function("linearize", f)
    if tracing():
        return _traced(f, primals)
    given, primals = primals, marked(f, primals)
    call = Call(primals, {}, f)
    if call.labelled:
        return f(*given), trimmed(lambda *tangents: jvp(f, given, tangents)[1])
    return _kept(f)(f, call, tree.paths(primals))


def _given(structure: tree.TreeDef, paths: Sequence[str], tangents: tuple[Any, ...], kinds: Sequence[Any]) -> list[Any]:
    """A tangent or None for each array of the primals."""
    if len(tangents) != len(structure.children):
        raise ArgumentError(f"xt.linearize: {len(structure.children)} primals and {len(tangents)} tangents")
    found = same_structure(structure, tangents, "xt.linearize: the tangents")
    for t, path, dtype in zip(found, paths, kinds, strict=True):
        if t is not None and not dtypes.is_inexact(dtype):
            raise DTypeError(f"xt.linearize: primal {path} is {dtype.name}, which has no tangent: give None")
    return found


class _Kept:
    """A function as two compiled ones for each types of its primals: one gives the results and what the derivative
    needs besides, the other takes that and the tangents."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.entries: dict[Any, split.Split] = {}

    def __call__(self, f: Callable[..., Any], call: Call, paths: Sequence[str]) -> tuple[Any, Push]:
        device = call.device()
        key = (options.current(), device, call.key)
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = split.Split(f, call, device, Linearized)
        kept = entry
        inputs = kept.inputs(call)
        outputs = kept.forward.run(inputs)
        residuals = [outputs[i] if i >= 0 else inputs[-1 - i] for i in kept.residuals]
        structure = call.structure.children[0]

        @trimmed
        def push(*tangents: Any) -> Any:
            given = _given(structure, paths, tangents, [s.dtype for s in kept.specs])
            moved = [
                exact(given[i], native_type(kept.specs[i]), kept.device, "xt.linearize: the tangent")
                for i in kept.moving
            ]
            found: list[Any] = [None] * kept.shape.size
            for (i, _), t in zip(kept.cotangents, kept.run_backward(residuals, moved), strict=True):
                found[i] = t
            return kept.shape.unflatten(found)

        return kept.shape.unflatten(outputs[: kept.shape.size]), push


_kept = ByFunction(_Kept)


def _traced(f: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Push]:
    primals = marked(f, primals)
    leaves, structure = tree.flatten(primals)
    paths = tree.paths(primals)
    arrays = [as_leaf(x, (bool, int)) for x in leaves]
    kinds = [x.dtype if isinstance(x, Tracer) else np.dtype("int64") for x in arrays]
    moving = [i for i, kind in enumerate(kinds) if dtypes.is_inexact(kind)]
    shapes: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new = list(arrays)
        for i, tracer in zip(moving, tracers, strict=True):
            new[i] = tracer
        out, shape = result_leaves(call_with("linearize", f, structure.unflatten(new)), name_of(f))
        shapes.append(shape)
        return out

    linear = Linearized(body, [arrays[i] for i in moving])

    @trimmed
    def push(*tangents: Any) -> Any:
        linear.check_alive("linearize.push")
        given = _given(structure, paths, tangents, kinds)
        moved = [conform(0.0 if given[i] is None else given[i], arrays[i], "xt.linearize: the tangent") for i in moving]
        found = linear(moved)
        joined("linearize", found, moved, [arrays[i] for i in moving])
        left = iter(found)
        return shapes[0].unflatten([next(left) if dtypes.is_inexact(y.dtype) else None for y in linear.results])

    return shapes[0].unflatten(linear.results), push
