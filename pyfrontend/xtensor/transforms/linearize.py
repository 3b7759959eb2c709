"""linearize: the results of a function, and its derivative as a map of tangents that can be called repeatedly."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import call_with, counted
from ..base.errors import ArgumentError, DTypeError
from ..call.arguments import Call, as_leaf, name_of, needs_function
from ..call.dispatch import plain
from ..compiler.executable import native_type
from ..trace.program import result_leaves
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from . import split
from .derivative import ByFunction, Linearized, conform, joined, same_structure
from .jit import marked
from .jvp import jvp
from .pickling import InProcess
from .vjp import exact, needs_whole

Push = Callable[..., Any]
_in_process = functools.partial(InProcess, op="linearize", instead="y, push = xt.linearize(f, x)")


@plain
def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Push]:
    """Returns `f(*primals)`, and a function `push` from one tangent per primal to the tangent of the result.

    `f` runs once, and `push` keeps what it needs of that run: many directions cost less than as many calls of `jvp`. A
    tangent has the dims of its primal and aligns with it by name, or it is a number. None is zero; integer primals take
    None, and integer results give None.

    Raises:
        DimensionError: a tangent has a dim that its primal lacks.

    Example:
    >>> y, push = xt.linearize(lambda x: x * x, xt.array([1.0, 2.0], "i"))
    >>> push(xt.array([1.0, 0.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 0.]
    """
    needs_function("linearize", f)
    if tracing():
        return _traced(f, primals)
    given, primals = primals, marked(f, primals)
    call = Call(primals, {}, f)
    if needs_whole(f, call):
        return f(*given), _by_jvp(f, given)
    return _kept(f, call, tree.paths(primals))


def _given(structure: tree.TreeDef, paths: Sequence[str], tangents: tuple[Any, ...], kinds: Sequence[Any]) -> list[Any]:
    """A tangent or None for each array of the primals."""
    if len(tangents) != len(structure.children):
        primals = counted(len(structure.children), "primal")
        raise ArgumentError(f"xt.linearize: {primals} and {counted(len(tangents), 'tangent')}")
    found = same_structure(structure, tangents, "xt.linearize: the tangents")
    for t, path, dtype in zip(found, paths, kinds, strict=True):
        if t is not None and not dtypes.is_inexact(dtype):
            raise DTypeError(f"xt.linearize: primal {path} is {dtype.name}, which has no tangent: give None")
    return found


def _by_jvp(f: Callable[..., Any], given: tuple[Any, ...]) -> Push:
    @_in_process
    def push(*tangents: Any) -> Any:
        return jvp(f, given, tangents)[1]

    return push


def _kept(f: Callable[..., Any], call: Call, paths: Sequence[str]) -> tuple[Any, Push]:
    """By two compiled functions: one gives the results and what the derivative needs besides, the other takes that and
    the tangents."""
    entry: split.Split = _splits(f)(f, call)
    inputs = entry.inputs(call.arrays)
    outputs = entry.forward.run(inputs)
    residuals = [outputs[i] if i >= 0 else inputs[-1 - i] for i in entry.residuals]
    structure = call.structure.children[0]

    @_in_process
    def push(*tangents: Any) -> Any:
        given = _given(structure, paths, tangents, [s.dtype for s in entry.specs])
        moved = [
            exact(given[i], native_type(entry.specs[i]), entry.device, "xt.linearize: the tangent")
            for i in entry.moving
        ]
        found: list[Any] = [None] * entry.shape.size
        for (i, _), t in zip(entry.cotangents, entry.run_backward(residuals, moved), strict=True):
            found[i] = t
        return entry.shape.unflatten(found)

    return entry.shape.unflatten(outputs[: entry.shape.size]), push


_splits = ByFunction(lambda f: split.Splits(Linearized))


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

    @_in_process
    def push(*tangents: Any) -> Any:
        linear.check_alive("linearize.push")
        given = _given(structure, paths, tangents, kinds)
        moved = [conform(0.0 if given[i] is None else given[i], arrays[i], "xt.linearize: the tangent") for i in moving]
        found = linear(moved)
        joined("linearize", found, moved, [arrays[i] for i in moving])
        left = iter(found)
        return shapes[0].unflatten([next(left) if dtypes.is_inexact(y.dtype) else None for y in linear.results])

    return shapes[0].unflatten(linear.results), push
