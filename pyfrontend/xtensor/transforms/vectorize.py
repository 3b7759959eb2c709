"""vectorize: a function of one instance, applied to all instances along named dims.

dim=None, the loss of grad and the like mean inside of it what they mean for one instance. The compiler adds the
names afterwards (its pass batch).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..base import tree
from ..base.calls import call_with
from ..base.dims import as_names, batched, describe, suggestion
from ..base.errors import ArgumentError, DimensionError, SizeError
from ..call.arguments import as_leaf, is_choice, name_of, needs_function
from ..ir import context as c
from ..ir import location
from ..trace.program import result_leaves
from ..trace.regions import Regions, discarding
from ..trace.scope import tracing
from ..trace.tracer import Tracer, spec
from ..values.spec import Spec
from . import stepwise
from .jit import Jitted, marked_call, transformed

Body = Callable[[list[Tracer]], list[Tracer]]


def vectorize(f: Callable[..., Any], dims: str | Sequence[str]) -> Jitted[..., Any]:
    """Returns a function that applies `f` to all instances along `dims`, one name or several.

    `f` sees the arrays of one instance, which do not have these dims. An argument without any of them is shared by
    all instances; arguments may have different ones. Every result has all of `dims` first, in the order given here.
    Arguments and results are pytrees of arrays, numbers and DataArrays, as for `jit`. Arrays that `f` reads from
    outside are shared, and fixed at the first call with arguments of these types.

    For x(a: 2) and y(b: 3), `vectorize(lambda x, y: x * y, ("a", "b"))(x, y)` has dims (a: 2, b: 3).

    Raises:
        DimensionError: no argument has one of `dims`, or `f` itself has it.
        ArgumentTypeError: `dims` are not names.

    Example:
    >>> x = xt.array([[1.0, 5.0], [7.0, 2.0]], ("run", "time"))
    >>> xt.vectorize(lambda x: x - xt.max(x), "run")(x)
    <xtensor.Array (run: 2, time: 2) float64>
    [[-4.  0.]
     [ 0. -5.]]
    """
    needs_function("vectorize", f)
    names = as_names(dims)
    if not names:
        raise ArgumentError("xt.vectorize: no dim was named; write xt.vectorize(f, ('batch',))")

    @functools.wraps(f)
    def batched(*args: Any, **kwargs: Any) -> Any:
        return traced(f, names, args, kwargs)

    batched.__name__ = f"vectorize({name_of(f)})"
    return transformed(batched, f, vectorize, names, by_tracing=False)


def traced(f: Callable[..., Any], names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    leaves, structure = tree.flatten(marked_call(f, args, kwargs))
    if not tracing():
        return _one_by_one(f, names, leaves, structure)
    arrays = [as_leaf(x) for x in leaves]
    moving = [i for i, x in enumerate(arrays) if isinstance(x, Tracer) and not set(names).isdisjoint(x.dims)]
    _check(names, [x for x in arrays if isinstance(x, Tracer)], f)
    results: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new = list(arrays)
        for i, tracer in zip(moving, tracers, strict=True):
            new[i] = tracer
        instance_args, instance_kwargs = structure.unflatten(new)
        out, shape = result_leaves(call_with("vectorize", f, instance_args, instance_kwargs), name_of(f))
        results.append(shape)
        return out

    values = vectorized(body, names, [arrays[i] for i in moving])
    return results[0].unflatten(values)


def _one_by_one(f: Callable[..., Any], names: tuple[str, ...], leaves: list[Any], structure: tree.TreeDef) -> Any:
    """Under `xt.option(jit=False)`."""
    leaves = [x if is_choice(x) else stepwise.lift(x) for x in leaves]
    arrays = [x for x in leaves if not is_choice(x)]
    _check(names, arrays, f)
    sizes = {d: next(x.sizes[d] for x in arrays if d in x.dims) for d in names}
    found = stepwise.vectorize(f, sizes, leaves, structure, lambda result: _checked(result, names))
    if found is None:
        return stepwise.UNKNOWN
    values, shape = found
    return shape.unflatten(values)


@discarding
def vectorized(body: Body, names: Sequence[str], arrays: Sequence[Tracer]) -> list[Tracer]:
    """Adds `xtensor.vectorize` over `names`, which `arrays` have, with `body` traced into its region."""
    sizes = {d: n for x in arrays for d, n in x.spec.sizes.items() if d in names}
    regions = Regions(1, always=True)
    before, batched.names = batched.names, (*batched.names, *names)
    try:
        found = regions.trace(0, [_without(x.spec, names) for x in arrays], body, arrays)
    finally:
        batched.names = before
    results = [_checked(r, names) for r in found]
    shape = tuple(sizes[d] for d in names)
    specs = [Spec._of((*names, *r.dims), (*shape, *r.spec.shape), r.dtype) for r in results]
    types = [c.array_type(s) for s in specs]
    attributes = {"names": c.names_attribute(tuple(names))}
    values = regions.finish("vectorize", types, arrays, attributes, [results])
    return [Tracer(v, spec=s) for v, s in zip(values, specs, strict=True)]


def _without(spec: Spec, names: Sequence[str]) -> Spec:
    kept = {d: n for d, n in spec.sizes.items() if d not in names}
    return Spec._of(tuple(kept), tuple(kept.values()), spec.dtype)


def _checked(result: Any, names: Sequence[str]) -> Any:
    for d in result.dims:
        if d in names:
            raise DimensionError(
                f"xt.vectorize: dim {d!r} is batched, but the result {describe(result.dims, result.shape)} of one "
                "instance has it, too. Rename one of the two; what comes from outside goes in as an argument",
                location.of_value(result.value) if isinstance(result, Tracer) else None,
            )
    return result


def _check(names: tuple[str, ...], arrays: Sequence[Any], f: Callable[..., Any]) -> None:
    """Each name is a dim of some argument, and has one size."""
    for d in names:
        have = [x for x in arrays if d in x.dims]
        if not have:
            listed = ", ".join(describe(x.dims, x.shape) for x in arrays) or "none"
            hint = suggestion(d, [dim for x in arrays for dim in x.dims]) or "."
            raise DimensionError(
                f"xt.vectorize: no argument of {name_of(f)} has dim {d!r}; the arguments are {listed}{hint} An array "
                f"that {name_of(f)} reads from outside is shared by all instances: give it as an argument"
            )
        first = have[0]
        for x in have[1:]:
            if spec(x).sizes[d] != spec(first).sizes[d]:
                raise SizeError(
                    f"xt.vectorize: dim {d!r} has sizes {first.sizes[d]} and {x.sizes[d]} in the arguments "
                    f"{describe(first.dims, first.shape)} and {describe(x.dims, x.shape)} of {name_of(f)}"
                )
