"""Requests for derivatives as ops: pullback, pushforward and apply around the traced body of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core import dtypes, tree
from ..core.dims import describe
from ..core.errors import ArgumentError, DimensionError, DTypeError
from ..trace import build, location
from ..trace import context as c
from ..trace.scope import Scope, current
from ..trace.tracer import Tracer, as_tracer

if TYPE_CHECKING:
    from ..mlir import ir

Body = Callable[[list[Tracer]], list[Tracer]]


def _region(body: Body, primals: Sequence[Tracer]) -> tuple[ir.Block, list[Tracer]]:
    """A block, not in its op yet, with the function traced into it."""
    ir, scope, here = c.mlir(), current(), location.of_user()
    holder = ir.Operation.create("builtin.module", regions=1, loc=here, ip=False)
    types = [p.value.type for p in primals]
    block = ir.Block.create_at_start(holder.regions[0], types, [here] * len(types))
    with Scope(block, scope) as inner:
        arguments = [
            Tracer(v, weak=p.weak, scope=inner, spec=p.spec) for v, p in zip(block.arguments, primals, strict=True)
        ]
        results = body(arguments)
        ir.Operation.create("xtensor.yield", operands=[r.value for r in results], loc=here, ip=inner.ip)
    return block, results


def _create(name: str, block: ir.Block, operands: Sequence[Any], attributes: Any, results: Any) -> Any:
    op = c.mlir().Operation.create(
        "xtensor." + name,
        results=results,
        operands=[x.value for x in operands],
        attributes=attributes,
        regions=1,
        loc=location.of_user(),
        ip=current().ip,
    )
    block.append_to(op.regions[0])
    return op


class Pullback:
    """The transpose of a function's derivative, usable any number of times while its trace lasts."""

    def __init__(self, body: Body, primals: Sequence[Tracer]) -> None:
        ir, ctx = c.mlir(), c.context()
        block, inner = _region(body, primals)
        types = [r.value.type for r in inner]
        self.primals = list(primals)
        cotangents = [t for t, r in zip(types, inner, strict=True) if dtypes.is_float(r.dtype)]
        kind = ir.FunctionType.get(cotangents, [p.value.type for p in primals], context=ctx)
        handle = ir.Type.parse(f"!xtensor.linear<{kind}>", ctx)
        wrt = {"wrt": c.integers_attribute(tuple(range(len(primals))))}
        op = _create("pullback", block, primals, wrt, [*types, handle])
        *values, self.handle = op.results
        self.scope = current()
        self.results = [Tracer(v) for v in values]

    def __call__(self, cotangents: Sequence[Tracer]) -> list[Tracer]:
        """Cotangents of the float results to cotangents of the primals."""
        if not self.primals:
            return []
        op = c.mlir().Operation.create(
            "xtensor.apply",
            results=[p.value.type for p in self.primals],
            operands=[self.handle, *(t.value for t in cotangents)],
            loc=location.of_user(),
            ip=current().ip,
        )
        return [Tracer(v) for v in op.results]


def pushforward(body: Body, primals: Sequence[Tracer], tangents: Sequence[Tracer]) -> tuple[list[Tracer], list[Tracer]]:
    """The results, and the tangents of the float ones."""
    block, inner = _region(body, primals)
    types = [r.value.type for r in inner]
    moved = [t for t, r in zip(types, inner, strict=True) if dtypes.is_float(r.dtype)]
    n = len(primals)
    segments = c.mlir().DenseI32ArrayAttr.get([n, len(tangents)], context=c.context())
    attributes = {"wrt": c.integers_attribute(tuple(range(n))), "operandSegmentSizes": segments}
    op = _create("pushforward", block, [*primals, *tangents], attributes, [*types, *moved])
    values = [Tracer(v) for v in op.results]
    return values[: len(types)], values[len(types) :]


# -- cotangents and tangents ------------------------------------------------------------------------------------------


def full_like(x: Tracer, value: float) -> Tracer:
    """`value` with the dims and dtype of `x`."""
    return build.broadcast(build.constant(np.asarray(value, x.dtype)), x.dims, x.sizes)


def conform(t: Any, like: Tracer, what: str) -> Tracer:
    """A tangent or cotangent with the dims of what it belongs to: aligned by name, missing dims broadcast."""
    given = as_tracer(t)
    extra = [d for d in given.dims if d not in like.dims]
    if extra:
        raise DimensionError(
            f"{what} has dim{'s' * (len(extra) > 1)} {', '.join(map(repr, extra))}, which its array "
            f"{describe(like.dims, like.shape)} lacks; it is {describe(given.dims, given.shape)}"
        )
    for d in given.dims:
        a, b = given.spec.sizes[d], like.spec.sizes[d]
        if a is not None and b is not None and a != b:
            raise DimensionError(
                f"{what} has size {a} along {d!r} and its array has {b}: {describe(given.dims, given.shape)} for "
                f"{describe(like.dims, like.shape)}"
            )
    if given.dtype != like.dtype:
        if not given.weak and not (given.ndim == 0 and not dtypes.is_float(given.dtype)):
            raise DTypeError(f"{what} is {given.dtype} and its array {like.dtype}: write .astype({like.dtype.name!r})")
        given = build.cast(given, like.dtype)
    return build.broadcast(given, like.dims, like.sizes)


# -- which arguments --------------------------------------------------------------------------------------------------


def float_leaves(subtree: Any, what: str, transform: str) -> tuple[list[Tracer], tree.TreeDef]:
    """The arrays of an argument to differentiate by; integers are an error that names them."""
    leaves, structure = tree.flatten(subtree)
    tracers = []
    for leaf, path in zip(leaves, tree.paths(subtree), strict=True):
        x = as_tracer(leaf)
        if not dtypes.is_float(x.dtype):
            raise DTypeError(
                f"{transform}: argument {what}{path} is {x.dtype.name} {describe(x.dims, x.shape)}; derivatives are "
                f'taken by floats. {"Write 2.0 for 2, or x" if x.weak else "Write x"}.astype("f4"), or leave it out '
                "of wrt="
            )
        tracers.append(x)
    return tracers, structure


class ByFunction:
    """Something compiled for each function, for as long as the function lives."""

    def __init__(self, make: Callable[[Callable[..., Any]], Any]) -> None:
        self.make = make
        self.weak: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def __call__(self, fn: Callable[..., Any]) -> Any:
        try:
            found = self.weak.get(fn)
            if found is None:
                found = self.weak[fn] = self.make(fn)
        except TypeError:  # no weak references, or not hashable
            return self.make(fn)
        return found


def same_structure(expected: tree.TreeDef, given: Any, what: str) -> list[Any]:
    """The leaves of `given` at the leaves of `expected`, where None may stand for a leaf."""
    try:
        return tree.leaves_at(expected, given)
    except ArgumentError:
        raise ArgumentError(f"{what} must have the structure {expected!r}, got {tree.structure(given)!r}") from None
