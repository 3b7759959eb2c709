"""Products summed over named dims: dot, which covers matrix, batched and outer products, and every einsum."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence

from ..base.dims import suggestion
from ..base.errors import ArgumentError, DimensionError, SizeError
from ..call.dispatch import op
from ..ir.context import spec_of
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.options import current
from . import promotion as p
from .arguments import (
    dim_of,
    extend,
    fail,
    is_inner,
    is_static,
    names_of,
    paired_sizes,
    reorder,
    static_size,
    union_sizes,
)
from .types import Array, ArrayLike, Dims

# What a dynamic dim counts as where operands are paired.
_USUAL_SIZE = 64


@op(joins=True)
def dot(*arrays: ArrayLike, dim: Dims = None) -> Array:
    """Returns the product of the arrays, summed over `dim`, with their other dims in order of first appearance.

    None sums over every dim that two or more of the arrays share; `...` sums over all dims. A named dim is summed
    also if one array alone has it. `dim=()` gives the outer product. If no dim is shared, so does None, unless
    `xt.option(outer="forbid")` makes that an error.
    xt.dot(x, w, dim="feature") of x(sample, feature) and w(feature, unit) has dims (sample, unit).

    Raises:
        SizeError: a dim has two sizes.
        DimensionError: no array has a dim that `dim` names.
        ArgumentError: there are no arrays.

    Example:
    >>> x = xt.array([[1.0, 2.0], [3.0, 4.0]], ("sample", "feature"))
    >>> xt.dot(x, xt.array([10.0, 1.0], "feature"))
    <xtensor.Array (sample: 2) float64>
    [12. 34.]
    """
    if not arrays:
        raise fail(ArgumentError, "dot", "no arrays are given", instead="Write xt.dot(x, y)")
    xs = p.promote(*arrays)
    sizes = union_sizes("dot", xs)
    over = _summed(xs, tuple(sizes), dim)
    if not is_inner("dot"):
        _forbid(xs, [as_tracer(x) for x in arrays], over, dim)
    dtype = xs[0].dtype
    if dtype == p.BOOL:
        total = contract([build.cast(x, p.I4) for x in xs], over, tuple(sizes))
        return build.compare("ne", total, p.zero(p.I4))
    return contract(xs, over, tuple(sizes))


def _forbid(xs: list[Tracer], given: list[Tracer], over: tuple[str, ...], dim: Dims) -> None:
    """Refuses what is likely meant otherwise, as far as the options say."""
    options = current()
    if dim != ():
        forbid_outer("dot", xs)
    if options.outer == "forbid" and dim is None:
        _forbid_squares(given)
    if options.strict:
        _forbid_itself(given, over)
        if dim is None:
            _forbid_number(given)
        elif dim is not ...:
            _forbid_alone(given, over)


def _forbid_squares(xs: list[Tracer]) -> None:
    """Refuses one square matrix by itself or its transpose: a sum of squares, often meant as a product of matrices."""
    if len(xs) == 2 and _stored(xs[0]) == _stored(xs[1]):
        _refuse_number(
            xs, "x", "both operands are one array, so the result is a number, the sum of its squares. "
            "xt.option(outer=\"forbid\") forbids this, because a product of matrices is often meant",
        )  # fmt: skip


def _forbid_number(xs: list[Tracer]) -> None:
    """Refuses two matrices with the same dims: their product is a number, where one of matrices is often meant."""
    if len(xs) == 2 and {*xs[0].dims} == {*xs[1].dims}:
        _refuse_number(
            xs, "y", "both operands have the same dims, so the result is a number, the sum of all products. "
            "xt.option(strict=True) forbids this without dim=",
        )  # fmt: skip


def _refuse_number(xs: list[Tracer], other: str, problem: str) -> None:
    """Refuses a product over all dims of two arrays, if these are square matrices. `other`: what to call the second."""
    x = xs[0]
    alike = [(a, b) for a, b in itertools.combinations(x.dims, 2) if x.spec.sizes[a] == x.spec.sizes[b]]
    if not alike:
        return
    row, col = alike[-1]
    raise fail(
        DimensionError, "dot", problem, *xs,
        instead=f"Write xt.linalg.matmul(x, {other}, dims=({row!r}, {col!r})) for the product of matrices, or "
        f"xt.dot(x, {other}, dim=...) for the number",
    )  # fmt: skip


def _stored(x: Tracer) -> object:
    """The value of which `x` is one order of dims."""
    value = x.value
    while getattr(value.owner, "name", "") == "xtensor.broadcast":
        (operand, *sizes) = value.owner.operands
        if sizes or set(spec_of(operand.type).dims) != set(x.dims):
            break
        value = operand
    return value


def forbid_outer(name: str, xs: Sequence[Tracer]) -> None:
    """Refuses operands of which some share no dim with the others, directly or through one another, if the options
    forbid that."""
    if current().outer != "forbid" or is_inner(name):
        return
    first, *rest = [set(x.dims) for x in xs if x.dims] or [set()]
    together = set(first)
    while linked := [dims for dims in rest if dims & together]:
        together.update(*linked)
        rest = [dims for dims in rest if dims not in linked]
    if rest:
        instead = "write xt.dot(x, y, dim=()) for the outer product"
        if name != "dot":
            instead = 'write `with xt.option(outer="allow"):`'
        raise fail(
            DimensionError, name, f"no dim of {sorted(together)} is shared with {sorted(rest[0])}, and outer products "
            "are forbidden by xt.option", *xs, instead=f"Rename the dims, or {instead}",
        )  # fmt: skip


def _forbid_itself(xs: list[Tracer], over: tuple[str, ...]) -> None:
    """Refuses one array twice, of which a dim is left: it is one dim in both, where a pair of dims is often meant."""
    for i, x in enumerate(xs):
        kept = [d for d in x.dims if d not in over]
        if not kept or all(y.value != x.value for y in xs[:i]):
            continue
        summed = [d for d in x.dims if d in over]
        over_ = "" if not summed else repr(summed[0]) if len(summed) == 1 else repr(tuple(summed))
        pairs = f"xt.dot(x, x.rename({', '.join(f'{d}={_second(d, x.dims)!r}' for d in kept)})"
        raise fail(
            DimensionError, "dot",
            f"both operands are one array with one dim {kept[0]!r}, so the result has squares along {kept[0]!r}, and "
            "not products of pairs. xt.option(strict=True) forbids this", x, x,
            instead=f"Write {pairs}{f', dim={over_})' if over_ else ', dim=())'} for pairs, and "
            f"xt.square(x){f'.sum({over_})' if over_ else ''} for squares",
        )  # fmt: skip


def _forbid_alone(xs: list[Tracer], over: tuple[str, ...]) -> None:
    """Refuses a summed dim that one of several arrays has alone: often the others have it under another name."""
    several = [x for x in xs if x.dims]
    for d in over:
        owners = [x for x in several if d in x.dims]
        if len(owners) == 1 and len(several) > 1:
            raise fail(
                DimensionError, "dot", f"dim {d!r} is summed, and one operand alone has it. xt.option(strict=True) "
                "forbids this", *xs,
                instead=f"Rename the dim of another operand to {d!r}, or sum this one first: x.sum({d!r})",
            )  # fmt: skip


def _second(d: str, taken: tuple[str, ...]) -> str:
    return next(name for n in itertools.count(2) if (name := f"{d}{n}") not in taken)


def _summed(xs: list[Tracer], there: tuple[str, ...], dim: Dims) -> tuple[str, ...]:
    if dim is ...:
        return there
    if dim is None:
        owners = Counter(d for x in xs for d in x.dims)
        return tuple(d for d in there if owners[d] > 1)
    names = names_of("dot", dim)
    missing = [n for n in names if n not in there]
    if missing:
        hint = suggestion(missing[0], there)
        raise fail(DimensionError, "dot", f"no operand has dim {', '.join(map(repr, missing))}{hint}", *xs)
    return names


def contract(xs: list[Tracer], over: tuple[str, ...], order: tuple[str, ...]) -> Tracer:
    """The contraction, two operands at a time, the cheapest pair first; dims as `order` has them."""
    result = tuple(d for d in order if d not in over)
    operands = xs
    xs = [_sum_alone(x, xs[:i] + xs[i + 1 :], over) for i, x in enumerate(xs)]
    while len(xs) > 2:
        i, j = min(
            ((i, j) for j in range(len(xs)) for i in range(j)),
            key=lambda pair: _cost(xs[pair[0]], xs[pair[1]]),
        )
        others = [x for k, x in enumerate(xs) if k not in (i, j)]
        kept = {d for x in others for d in x.dims}
        here = [d for d in over if d in xs[i].dims + xs[j].dims and d not in kept]
        xs = [build.contract([xs[i], xs[j]], tuple(here)), *others]
    left = tuple(d for d in over if any(d in x.dims for x in xs))
    if len(xs) == 1:
        return reorder(xs[0], result)
    total = build.contract(xs, left, result)
    return total if len(left) == len(over) else _zero_if_empty(total, operands, over)


def _zero_if_empty(total: Tracer, xs: list[Tracer], over: tuple[str, ...]) -> Tracer:
    """Zeros if a summed dim has size 0: a sum of nothing is 0, but 0 times an infinity or NaN is not."""
    if not p.is_inexact(total.dtype):
        return total
    owners = [next(x for x in xs if d in x.dims) for d in over]
    known = [x.sizes[d] for x, d in zip(owners, over, strict=True) if is_static(x, d)]
    sizes = [build.size(x, d) for x, d in zip(owners, over, strict=True) if not is_static(x, d)]
    if 0 in known:
        sizes = [p.zero(p.I8)]
    if not sizes:
        return total
    least = functools.reduce(lambda x, y: build.binary("minimum", x, y), sizes)
    return build.select(build.compare("eq", least, p.zero(p.I8)), p.zero(total.dtype), total)


def _sum_alone(x: Tracer, others: list[Tracer], over: tuple[str, ...]) -> Tracer:
    """`x` summed over the dims that no other operand has."""
    alone = tuple(d for d in x.dims if d in over and not any(d in y.dims for y in others))
    return build.reduce("sum", x, alone) if alone else x


def _cost(x: Tracer, y: Tracer) -> int:
    sizes = {d: v.sizes[d] if is_static(v, d) else _USUAL_SIZE for v in (x, y) for d in v.dims}
    return math.prod(sizes.values())


def matmul(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x @ y, the product summed over the dims that both arrays have.

    If they share no dim, this is the outer product. It equals `xt.dot(x, y)`.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> x = xt.array([[1.0, 2.0], [3.0, 4.0]], ("sample", "feature"))
    >>> xt.matmul(x, xt.array([10.0, 1.0], "feature"))
    <xtensor.Array (sample: 2) float64>
    [12. 34.]
    """
    return dot(x, y)


@op(joins=True)
def cross(x: ArrayLike, y: ArrayLike, /, *, dim: str) -> Array:
    """Returns the cross product along `dim`, whose size is 2 or 3, with the other dims of both.

    Two vectors of size 2 give the third element alone, without `dim`. Otherwise the result has all three elements.

    Raises:
        DimensionError: an array does not have `dim`.
        SizeError: the size of `dim` is neither 2 nor 3, or another dim has two sizes.

    Example:
    >>> xt.cross(xt.array([1.0, 0.0, 0.0], "axis"), xt.array([0.0, 1.0, 0.0], "axis"), dim="axis")
    <xtensor.Array (axis: 3) float64>
    [0. 0. 1.]
    """
    a, b = p.promote_numbers(x, y)
    for v in (a, b):
        dim_of("cross", v, dim)
        if static_size("cross", v, dim) not in (2, 3):
            raise fail(SizeError, "cross", f"dim {dim!r} needs size 2 or 3, and has {v.sizes[dim]}", a, b)
    sizes = paired_sizes("cross", (a, b), besides=(dim,))
    order = tuple(dict.fromkeys((*a.dims, *b.dims)))

    def part(v: Tracer, i: int) -> Tracer:
        return build.squeeze(build.slice(v, {dim: (i, 1, 1)}), (dim,))

    def product(i: int, j: int) -> Tracer:
        pairs = [build.binary("mul", part(a, m), part(b, n)) for m, n in ((i, j), (j, i))]
        return build.binary("sub", *pairs)

    if a.sizes[dim] == b.sizes[dim] == 2:
        return extend(product(0, 1), sizes, tuple(d for d in order if d != dim))
    a, b = (v if v.sizes[dim] == 3 else build.pad(v, p.zero(v.dtype), {dim: (0, 1, 0)}) for v in (a, b))
    parts = [extend(product(i, j), {**sizes, dim: 1}, order) for i, j in ((1, 2), (2, 0), (0, 1))]
    both = reorder(build.binary("add", a, b), order)  # has the coordinates along the dim, too
    return build.labelled(build.concat(parts, dim), both)
