"""vjp: a function's results and the transpose of its derivative, reverse mode, to be called any number of times."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..core import dtypes, tree
from ..core.errors import Error
from ..trace.program import result_leaves
from ..trace.scope import tracing
from ..trace.tracer import Tracer, as_tracer
from .arguments import name_of
from .derivative import ByFunction, Pullback, conform, same_structure
from .jit import Jitted

Back = Callable[[Any], tuple[Any, ...]]


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Back]:
    """`f(*primals)`, and `back`: a cotangent of the result to a tuple of cotangents, one per primal.

    A cotangent aligns with its result by name; integer results have none (give None). Integer primals get None.
    """
    if tracing():
        return _traced(f, primals)
    forward, _ = _compiled(f)
    result = forward(*primals)
    structure = tree.structure(result)

    def back(cotangent: Any) -> tuple[Any, ...]:
        try:
            given = same_structure(structure, cotangent, "the cotangent")
            found: tuple[Any, ...] = _compiled(f)[1](primals, given)
            return found
        except Error as error:
            raise error.with_traceback(None) from None

    return result, back


def _make(f: Callable[..., Any]) -> tuple[Jitted[..., Any], Jitted[..., Any]]:
    # The cache that holds these is keyed by f weakly; holding f here would keep both forever.
    try:
        held: Callable[[], Any] = weakref.ref(f)
    except TypeError:
        held = lambda: f  # noqa: E731

    def forward(*primals: Any) -> Any:
        return held()(*primals)

    def backward(primals: tuple[Any, ...], cotangents: list[Any]) -> Any:
        result, back = _traced(held(), primals)
        structure = tree.structure(result)
        return back(structure.unflatten(cotangents))

    forward.__name__ = name_of(f)
    backward.__name__ = f"vjp({name_of(f)})"
    return Jitted(forward), Jitted(backward)


_compiled = ByFunction(_make)


def _traced(f: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Back]:
    leaves, structure = tree.flatten(primals)
    arrays = [as_tracer(x) for x in leaves]
    moving = [i for i, x in enumerate(arrays) if dtypes.is_float(x.dtype)]
    results: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new = list(arrays)
        for i, tracer in zip(moving, tracers, strict=True):
            new[i] = tracer
        out, shape = result_leaves(f(*structure.unflatten(new)), name_of(f))
        results.append(shape)
        return out

    pullback = Pullback(body, [arrays[i] for i in moving])
    shape = results[0]

    def back(cotangent: Any) -> tuple[Any, ...]:
        given = same_structure(shape, cotangent, "the cotangent")
        floats = [
            conform(0.0 if t is None else t, y, "the cotangent")
            for t, y in zip(given, pullback.results, strict=True)
            if dtypes.is_float(y.dtype)
        ]
        found: list[Any] = [None] * len(arrays)
        for i, g in zip(moving, pullback(floats), strict=True):
            found[i] = g
        restored: tuple[Any, ...] = structure.unflatten(found)
        return restored

    return shape.unflatten(pullback.results), back
