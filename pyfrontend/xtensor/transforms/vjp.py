"""vjp: the results of a function, and the transpose of its derivative, which can be called repeatedly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _native
from ..base import dtypes, tree
from ..base.calls import call_with
from ..base.errors import ArgumentTypeError, DeviceError
from ..base.refusals import unnamed
from ..call.arguments import Call, as_leaf, name_of, needs_function, without_static
from ..trace.program import result_leaves
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from ..values import options
from ..values.spec import spec_of_type
from . import split
from .derivative import ByFunction, Pullback, conform, held_by, joined, same_structure
from .jit import Jitted, marked, options_of
from .pickling import InProcess

Back = Callable[[Any], tuple[Any, ...]]
_in_process = functools.partial(InProcess, op="vjp", instead="y, back = xt.vjp(f, x)")


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Back]:
    """Returns `f(*primals)`, and a function `back` from a cotangent of the result to one cotangent per primal.

    `back` returns a tuple. `f` runs once, and `back` keeps what it needs of that run. A cotangent has the dims of its
    result and aligns with it by name, or it is a number. Integer results take None, and integer primals get None.

    Raises:
        DimensionError: a cotangent has a dim that its result lacks.

    Example:
    >>> y, back = xt.vjp(lambda x: x * x, xt.array([1.0, 2.0], "i"))
    >>> y.values, back(xt.array([1.0, 10.0], "i"))
    (array([1., 4.]), (<xtensor.Array (i: 2) float64>
    [ 2. 40.],))
    """
    needs_function("vjp", f)
    if tracing():
        return _traced(f, primals)
    primals = marked(f, primals)
    call = Call(primals, {}, f)
    if needs_whole(f, call):
        return _by_recomputing(f, primals)
    return _kept(f, call)


def needs_whole(f: Callable[..., Any], call: Call) -> bool:
    """Whether a derivative of `f` is one program, and not two with residuals between them: with labels, with a mesh,
    which splits whole programs, and with ``nan="raise"``, which looks at each program by itself."""
    return bool(call.labelled) or "mesh" in options_of(f) or options.current().nan == "raise"


def _kept(f: Callable[..., Any], call: Call) -> tuple[Any, Back]:
    """By two compiled functions: one gives the results and what the derivative needs besides, the other takes that and
    the cotangents."""
    entry: split.Split = _splits(f)(f, call)
    inputs = entry.inputs(call.arrays)
    outputs = entry.forward.run(inputs)
    residuals = [outputs[i] if i >= 0 else inputs[-1 - i] for i in entry.residuals]

    @_in_process
    def back(*cotangent: Any) -> tuple[Any, ...]:
        given = same_structure(entry.shape, only(cotangent), "xt.vjp: the cotangent")
        cts = [exact(given[i], t, entry.device, "xt.vjp: the cotangent") for i, t in entry.cotangents]
        found: list[Any] = [None] * len(call.arrays)
        for i, g in zip(entry.moving, entry.run_backward(residuals, cts), strict=True):
            found[i] = g
        return without_static(call.structure.children[0], found)

    return entry.shape.unflatten(outputs[: entry.shape.size]), back


_splits = ByFunction(lambda f: split.Splits(Pullback))


def only(cotangents: tuple[Any, ...]) -> Any:
    """The one argument of `back`."""
    if len(cotangents) != 1:
        raise ArgumentTypeError(
            f"xt.vjp: back takes one cotangent, of the structure of the result, got {len(cotangents)} arguments"
        )
    return cotangents[0]


def exact(t: Any, type_: Any, device: _native.Device | None, what: str) -> Any:
    """A tangent or cotangent as the compiled code takes it: of just this type, where it runs."""
    if isinstance(t, _native.Array) and t.type is type_ and t._device is device:
        return t
    if t is None:
        t = 0.0
    if isinstance(t, np.ndarray) and t.ndim:
        raise unnamed(t, what)
    if tracing():
        return conform(t, spec_of_type(type_), what)
    if isinstance(t, _native.Array) and t.ndim and t._device is not device:
        here = "cpu" if device is None else device.name
        raise DeviceError(
            f"{what} is on {t.device!r} and the array that it belongs to on {here!r}: move it by x.to({here!r})"
        )
    return _conform(t, _native.empty(type_, device), what)


def _to_conform(t: Any, like: Any, what: str) -> Any:
    return conform(t, like, what)


_conform: Jitted[..., Any] = Jitted(_to_conform, static="what", by_tracing=True)


def _by_recomputing(f: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Back]:
    """`back` runs `f` again, and gives DataArrays where the primals are."""
    forward, _ = _pair(f)
    result = forward(*primals)
    structure = tree.structure(result)

    @_in_process
    def back(*cotangent: Any) -> tuple[Any, ...]:
        given = same_structure(structure, only(cotangent), "xt.vjp: the cotangent")
        found: tuple[Any, ...] = _pair(f)[1](primals, given)
        return found

    return result, back


def _make(f: Callable[..., Any]) -> tuple[Jitted[..., Any], Jitted[..., Any]]:
    held = held_by(f)

    def forward(*primals: Any) -> Any:
        return held()(*primals)

    def backward(primals: tuple[Any, ...], cotangents: list[Any]) -> Any:
        result, back = _traced(held(), primals)
        return back(tree.structure(result).unflatten(cotangents))

    forward.__name__ = name_of(f)
    backward.__name__ = f"vjp({name_of(f)})"
    under = options_of(f, static=False)
    return Jitted(forward, **under), Jitted(backward, **under, by_tracing=True)


_pair = ByFunction(_make)


def _traced(f: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Back]:
    leaves, structure = tree.flatten(marked(f, primals))
    arrays = [as_leaf(x, (bool, int)) for x in leaves]
    moving = [i for i, x in enumerate(arrays) if isinstance(x, Tracer) and dtypes.is_inexact(x.dtype)]
    results: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new = list(arrays)
        for i, tracer in zip(moving, tracers, strict=True):
            new[i] = tracer
        out, shape = result_leaves(call_with("vjp", f, structure.unflatten(new)), name_of(f))
        results.append(shape)
        return out

    pullback = Pullback(body, [arrays[i] for i in moving])
    shape = results[0]

    @_in_process
    def back(*cotangent: Any) -> tuple[Any, ...]:
        pullback.check_alive("vjp.back")
        given = same_structure(shape, only(cotangent), "xt.vjp: the cotangent")
        moved = [(t, y) for t, y in zip(given, pullback.results, strict=True) if dtypes.is_inexact(y.dtype)]
        cts = [conform(0.0 if t is None else t, y, "xt.vjp: the cotangent") for t, y in moved]
        gradients = pullback(cts)
        joined("vjp", gradients, cts, [y for _, y in moved])
        found: list[Any] = [None] * len(arrays)
        for i, g in zip(moving, gradients, strict=True):
            found[i] = g
        return without_static(structure, found)

    return shape.unflatten(pullback.results), back
