"""Requests for derivatives as ops: pullback, pushforward and apply, around the traced body of a function."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes, tree
from ..base.dims import brief, describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError, TracerError
from ..base.refusals import unnamed
from ..call.arguments import is_choice
from ..ir import context as c
from ..ir import location
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.regions import Regions, discarding
from ..trace.scope import current, is_alive
from ..trace.tracer import Tracer, spec
from ..values.spec import Spec

if TYPE_CHECKING:
    from ..mlir import ir

Body = Callable[[list[Tracer]], list[Tracer]]


class _Order(threading.local):
    """How many requests are being traced, one inside of the other."""

    count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *exc: object) -> None:
        self.count -= 1


_order = _Order()


def order() -> int:
    """The order of the derivative that is being traced."""
    return _order.count


@discarding
def _request(
    name: str,
    body: Body,
    primals: Sequence[Tracer],
    tangents: Sequence[Tracer],
    attributes: dict[str, ir.Attribute],
    more: Callable[[list[Tracer]], list[ir.Type]],
) -> tuple[list[Tracer], list[ir.Value]]:
    """Adds `xtensor.<name>` with `body` traced into its region: what the body gives, and the values beyond, whose types
    `more` tells."""
    regions = Regions(1, always=True)
    with _order:
        results = regions.trace(0, [spec(p) for p in primals], body, primals)
    types = [r.value.type for r in results] + more(results)
    wrt = {"wrt": c.integers_attribute(tuple(range(len(primals))))}
    values = regions.finish(name, types, [*primals, *tangents], {**wrt, **attributes}, [results])
    return [_like(v, r) for v, r in zip(values, results, strict=False)], values[len(results) :]


def _like(value: ir.Value, x: Tracer) -> Tracer:
    """A value with the type of `x`."""
    return Tracer(value, x.weak, spec=spec(x))


def _floats(results: list[Tracer]) -> list[Tracer]:
    return [r for r in results if dtypes.is_inexact(r.dtype)]


def _moving(results: list[Tracer]) -> list[ir.Type]:
    return [r.value.type for r in _floats(results)]


class Pullback:
    """The transpose of a function's derivative, usable any number of times while its trace lasts."""

    def __init__(self, body: Body, primals: Sequence[Tracer]) -> None:
        self.primals = list(primals)
        self.scope = current()
        self.results, (self.handle,) = _request("pullback", body, primals, (), {}, self._handle_type)

    def _handle_type(self, results: list[Tracer]) -> list[ir.Type]:
        ir, ctx = c.mlir(), c.context()
        kind = ir.FunctionType.get(_moving(results), [p.value.type for p in self.primals], context=ctx)
        return [ir.Type.parse(f"!xtensor.linear<{kind}>", ctx)]

    def check_alive(self, what: str) -> None:
        """Refuses calls after the trace: `what` is how the user calls this."""
        if not is_alive(self.scope):
            op, _, name = what.partition(".")
            raise TracerError(
                f"xt.{op}: {name} was called outside of the function that it was traced in. Call it inside of that "
                f"function, and return the result; or call xt.{op} outside of traced functions"
            )

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
        return [_like(v, p) for v, p in zip(op.results, self.primals, strict=True)]


class Linearized(Pullback):
    """A function's results and its derivative as a map of tangents, usable any number of times."""

    def __init__(self, body: Body, primals: Sequence[Tracer]) -> None:
        super().__init__(body, primals)
        self.handle = (
            c.mlir()
            .Operation.create(
                "xtensor.transposed", operands=[self.handle], loc=location.of_user(), ip=current().ip, infer_type=True
            )
            .result
        )

    def __call__(self, tangents: Sequence[Tracer]) -> list[Tracer]:
        """Tangents of the primals to tangents of the float results."""
        moving = _floats(self.results)
        if not moving:
            return []
        op = c.mlir().Operation.create(
            "xtensor.apply",
            results=[r.value.type for r in moving],
            operands=[self.handle, *(t.value for t in tangents)],
            loc=location.of_user(),
            ip=current().ip,
        )
        return [_like(v, r) for v, r in zip(op.results, moving, strict=True)]


def pushforward(body: Body, primals: Sequence[Tracer], tangents: Sequence[Tracer]) -> tuple[list[Tracer], list[Tracer]]:
    """The results, and the tangents of the float ones."""
    segments = c.mlir().DenseI32ArrayAttr.get([len(primals), len(tangents)], context=c.context())
    attributes = {"operandSegmentSizes": segments}
    results, moved = _request("pushforward", body, primals, tangents, attributes, _moving)
    return results, [_like(v, r) for v, r in zip(moved, _floats(results), strict=True)]


def joined(op: str, results: Sequence[Tracer], moved: Sequence[Tracer], of: Sequence[Tracer]) -> None:
    """Remembers that tangents or cotangents go together with what they belong to: their coordinates have to agree."""
    if results:
        current().root.join(results[0].value, op, *zip(of, moved, strict=True))


# -- cotangents and tangents ------------------------------------------------------------------------------------------


def full_like(x: Tracer, value: float) -> Tracer:
    """`value` with the dims and dtype of `x`."""
    return build.broadcast(build.constant(np.asarray(value, x.dtype)), x.dims, x.sizes)


def conform(t: Any, like: Tracer | Spec, what: str) -> Tracer:
    """A tangent or cotangent with the dims of what it belongs to: aligned by name. Only a number is broadcast."""
    if isinstance(t, np.ndarray) and t.ndim:
        raise unnamed(t, what)
    given = as_tracer(t)
    spec = like if isinstance(like, Spec) else like.spec
    extra = [d for d in given.dims if d not in like.dims]
    if extra:
        raise DimensionError(
            f"{what} has dim{'s' * (len(extra) > 1)} {', '.join(map(repr, extra))}, which its array "
            f"{describe(like.dims, like.shape)} lacks; it is {describe(given.dims, given.shape)}. Where it was "
            f"broadcast, write .sum({(extra[0] if len(extra) == 1 else tuple(extra))!r})"
        )
    for d in given.dims:
        a, b = given.spec.sizes[d], spec.sizes[d]
        # A dynamic size is equal to itself alone.
        if a != b:
            sizes = ["a dynamic size" if n is None else f"size {n}" for n in (a, b)]
            raise SizeError(
                f"{what} has {sizes[0]} along {d!r} and its array {sizes[1]}: {describe(given.dims, given.shape)} for "
                f"{describe(like.dims, like.shape)}"
            )
    lacking = [d for d in like.dims if d not in given.dims]
    if lacking and given.ndim:
        raise DimensionError(
            f"{what} lacks dim{'s' * (len(lacking) > 1)} {', '.join(map(repr, lacking))} of its array "
            f"{describe(like.dims, like.shape)}; it is {describe(given.dims, given.shape)}. Write "
            f".broadcast_like(..) on it if the same number belongs everywhere along "
            f"{'them' if len(lacking) > 1 else repr(lacking[0])}"
        )
    if given.dtype != like.dtype:
        if not given.weak and not (given.ndim == 0 and not dtypes.is_inexact(given.dtype)):
            drops = dtypes.is_complex(given.dtype) and not dtypes.is_complex(like.dtype)
            instead = "z.real" if drops else f".astype({like.dtype.name!r})"
            raise DTypeError(f"{what} is {given.dtype} and its array {like.dtype}: write {instead}")
        given = build.cast(given, like.dtype)
    known: Any = like.sizes  # those of a Spec are numbers here
    return build.broadcast(given, like.dims, known)


# -- which arguments --------------------------------------------------------------------------------------------------


def float_leaves(subtree: Any, what: str, transform: str) -> tuple[list[Tracer], tree.TreeDef]:
    """The arrays of an argument to differentiate by; integers are an error that names them."""
    leaves, structure = tree.flatten(subtree)
    tracers = []
    for leaf, path in zip(leaves, tree.paths(subtree), strict=True):
        if is_choice(leaf):
            raise ArgumentTypeError(
                f"xt.{transform}: argument {what}{path} is {brief(leaf):.60}; only floats have derivatives. Pass it in "
                "an argument that wrt= does not name, or let the function read it from outside"
            )
        x = as_tracer(leaf)
        if not dtypes.is_inexact(x.dtype):
            raise DTypeError(
                f"xt.{transform}: argument {what}{path} is {x.dtype.name} {describe(x.dims, x.shape)}; only "
                f'floats have derivatives. {"Write 2.0 for 2, or x" if x.weak else "Write x"}.astype("f4"), or leave '
                "it out of wrt="
            )
        tracers.append(x)
    return tracers, structure


def complex_matrix(transform: str, what: str, y: Tracer, x: Tracer) -> DTypeError:
    """The error about a matrix of derivatives of complex numbers by complex numbers."""
    parts = "Give the function real parts, z = xt.complex(x, y), and return z.real and z.imag; or use xt.jvp or xt.vjp"
    if transform == "jacobian":
        parts = f"If it is df/dz alone, write xt.jacobian(f, holomorphic=True). Else g{parts[1:]}"
    return DTypeError(
        f"xt.{transform}: {what} is {y.dtype.name} {describe(y.dims, y.shape)}, by {x.dtype.name} "
        f"{describe(x.dims, x.shape)}; the derivative of a complex number by another has four real parts. {parts}"
    )


class ByFunction:
    """Something compiled for each function, for as long as the function lives."""

    def __init__(self, make: Callable[[Callable[..., Any]], Any]) -> None:
        self.make = make
        self.weak: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def __call__(self, fn: Callable[..., Any]) -> Any:
        try:
            found = self.weak.get(fn)
            if found is None:
                found = self.weak[fn] = self.make(fn)
        except TypeError:  # no weak references, or not hashable
            return self.make(fn)
        return found


def held_by(fn: Callable[..., Any]) -> Callable[[], Any]:
    """A function that returns `fn`, for what `ByFunction` keeps: holding `fn` would keep both forever."""
    try:
        return weakref.ref(fn)
    except TypeError:
        return lambda: fn


def same_structure(expected: tree.TreeDef, given: Any, what: str) -> list[Any]:
    """The leaves of `given` at the leaves of `expected`, where None may stand for a leaf."""
    try:
        return tree.leaves_at(expected, given)
    except ArgumentError:
        wanted = "be one array" if expected == tree.structure(0.0) else f"have the structure {expected}"
        raise ArgumentError(f"{what} must {wanted}, got {tree.structure(given)}; * stands for an array") from None
