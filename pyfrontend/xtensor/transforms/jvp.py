"""jvp: a function and its derivative along tangents, forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import dtypes, tree
from ..base.calls import call_with, counted
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError
from ..call.arguments import as_leaf, name_of, needs_function
from ..trace.lift import as_tracer
from ..trace.program import result_leaves
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from .derivative import ByFunction, conform, held_by, joined, pushforward, same_structure
from .jit import Jitted, marked, options_of


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Returns `f(*primals)` and its derivative along `tangents`, with one tangent per primal.

    A tangent has the dims of its primal and aligns with it by name, or it is a number. None is zero; integer primals
    take None, and integer results give None.

    Raises:
        DimensionError: a tangent has a dim that its primal lacks.
        ArgumentError: there is not one tangent per primal.

    Example:
    >>> y, dy = xt.jvp(lambda x: x * x, (xt.array([1.0, 2.0], "i"),), (xt.array([1.0, 0.0], "i"),))
    >>> y.values, dy.values
    (array([1., 4.]), array([2., 0.]))
    """
    needs_function("jvp", f)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentTypeError(
            "primals and tangents are tuples, with an entry for each argument of f: write (x,), (t,)"
        )
    if len(primals) != len(tangents):
        raise ArgumentError(f"{counted(len(primals), 'primal')} and {counted(len(tangents), 'tangent')}")
    if tracing():
        return _jvp(f, tuple(primals), tuple(tangents))
    result: tuple[Any, Any] = _compiled(f)(marked(f, primals), tuple(tangents))
    return result


def _make(f: Callable[..., Any]) -> Jitted[..., Any]:
    held = held_by(f)

    def run(primals: Any, tangents: Any) -> Any:
        return _jvp(held(), primals, tangents)

    run.__name__ = f"jvp({name_of(f)})"
    return Jitted(run, **options_of(f, static=False), by_tracing=True)


_compiled = ByFunction(_make)


def _jvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    primals = marked(f, primals)
    leaves, structure = tree.flatten(primals)
    given = same_structure(structure, tangents, "xt.jvp: the tangents")
    arrays = [as_leaf(x) if t is None else as_tracer(x) for x, t in zip(leaves, given, strict=True)]
    paths = tree.paths(primals)
    moving = [i for i, t in enumerate(given) if t is not None]
    for i in moving:
        if not dtypes.is_inexact(arrays[i].dtype):
            raise DTypeError(
                f"xt.jvp: primal {paths[i]} of {name_of(f)} is {arrays[i].dtype.name}, which has no tangent: give None"
            )
    results: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new = list(arrays)
        for i, tracer in zip(moving, tracers, strict=True):
            new[i] = tracer
        out, shape = result_leaves(call_with("jvp", f, structure.unflatten(new)), name_of(f))
        results.append(shape)
        return out

    along = [conform(given[i], arrays[i], f"xt.jvp: tangent {paths[i]}") for i in moving]
    values, derivatives = pushforward(body, [arrays[i] for i in moving], along)
    joined("jvp", values, along, [arrays[i] for i in moving])
    left = iter(derivatives)
    out = [next(left) if dtypes.is_inexact(v.dtype) else None for v in values]
    return results[0].unflatten(values), results[0].unflatten(out)
