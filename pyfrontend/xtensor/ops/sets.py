"""Results as long as there are values of a kind: unique and nonzero, whose size a traced function has to give."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import check_name
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError
from ..call.arrays import as_array
from ..call.dispatch import op, tracing
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import Size, count, extend, fail, flat_name, integer, size_of
from .types import Array, ArrayLike


def size_from(name: str, x: Any, size: Any, what: str, of: Any) -> int:
    """A size that is given, or follows from values, which only a call outside of a traced function knows."""
    if size is not None:
        return integer(name, size, what, least=0)
    if isinstance(x, Tracer) or tracing():
        raise fail(
            ArgumentTypeError, name, f"{what}= is needed in a traced function, where sizes do not depend on values", x,
            instead=f"Write xt.{name}(x, {what}=10)",
        )  # fmt: skip
    return int(of((x if hasattr(x, "dims") else as_array(x)).values))


def _mode(size: Any, mode: str) -> str:
    """There are places enough where the size follows from the values."""
    return "drop" if size is None and mode == "raise" else mode


def _flat(name: str, x: Tracer, dim: str, mode: str) -> Tracer:
    """All elements along one dim."""
    check_name(dim)
    if mode not in ("raise", "drop"):
        raise fail(ArgumentError, name, f"mode is 'raise' or 'drop', not {mode!r}", x)
    if dim in x.dims:
        raise fail(DimensionError, name, f"the new dim {dim!r} is a dim of the array already", x,
                   instead='Name it otherwise: dim="number"')  # fmt: skip
    into = flat_name(x.dims)
    if len(x.dims) == 1:
        return build.rename(x, {x.dims[0]: into})
    return build.merge(x, x.dims, into) if x.dims else extend(x, {into: 1}, (into,))


def _numbered(first: Tracer) -> Tracer:
    """How many of the flags come before each place, itself included, less one."""
    return build.binary("sub", build.cumulative("sum", p.cast(first, p.I8), first.dims[0]), p.constant(1, p.I8))


def _collected(values: Tracer, chosen: Tracer, dim: str, size: Size, mode: str) -> tuple[Tracer, Tracer, Tracer]:
    """The chosen values in their order, which of them there are, and the number of each among the chosen."""
    number = _numbered(chosen)
    total = build.reduce("sum", p.cast(chosen, p.I8), chosen.dims)
    if mode == "raise" and (isinstance(size, Tracer) or size):
        last = build.binary("maximum", build.binary("sub", total, p.constant(1, p.I8)), p.zero(p.I8))
        places = extend(p.zero(p.I8), {dim: size}, (dim,))
        build.gather("raise", places, {dim: last})  # IndexError where there are more than places
    at = build.select(chosen, number, p.cast(size, p.I8))
    target = extend(p.zero(values.dtype), {dim: size}, (dim,))
    found = build.scatter("set", "drop", target, {dim: at}, values)
    return found, build.compare("lt", build.iota(dim, size, p.I8), total), number


# -- unique -----------------------------------------------------------------------------------------------------------


@op(sizes=("size",))
def _unique(
    x: ArrayLike, size: Any, fill_value: ArrayLike | None, dim: str, wanted: tuple[bool, bool, bool], mode: str, /
) -> Any:
    x, size = as_tracer(x), count("unique", size, "size")
    flat = _flat("unique", x, dim, mode)
    (along,) = flat.dims
    order = build.argsort(flat, along)
    ordered = build.gather("clip", flat, {along: order})
    at = build.iota(along, size_of(flat, along), p.I8)
    before = build.binary("maximum", build.binary("sub", at, p.constant(1, p.I8)), p.zero(p.I8))
    previous = build.gather("clip", ordered, {along: before})
    first = build.compare("ne", ordered, previous)
    if p.is_float(x.dtype):  # NaN is one value
        both = build.binary("and", build.unary("isnan", ordered), build.unary("isnan", previous))
        first = build.binary("and", first, build.unary("not", both))
    first = build.binary("or", first, build.compare("eq", at, p.zero(p.I8)))
    starts, there, number = _collected(at, first, dim, size, mode)
    found = build.gather("clip", ordered, {along: starts})
    least = build.gather("clip", ordered, {along: p.zero(p.I8)})
    fill = least if fill_value is None else p.cast(fill_value, x.dtype)
    results = [build.select(there, found, fill)]
    if wanted[0]:
        positions = build.gather("clip", order, {along: starts})
        results.append(build.select(there, positions, build.gather("clip", order, {along: p.zero(p.I8)})))
    if wanted[1]:
        target = extend(p.zero(p.I8), {along: size_of(flat, along)}, (along,))
        inverse = build.scatter("set", "clip", target, {along: order}, number)
        results.append(_unflat(inverse, x))
    if wanted[2]:
        zeros = extend(p.zero(p.I8), {dim: size}, (dim,))
        results.append(build.scatter("add", "drop", zeros, {dim: number}, p.constant(1, p.I8)))
    return results[0] if len(results) == 1 else tuple(results)


def _unflat(y: Tracer, like: Tracer) -> Tracer:
    (along,) = y.dims
    if len(like.dims) == 1:
        return build.rename(y, {along: like.dims[0]})
    if not like.dims:
        return build.squeeze(y, (along,))
    return build.split(y, along, {d: int(n) for d, n in like.sizes.items()})


def unique(
    x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None, dim: str = "unique",
    return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, mode: str = "raise",
) -> Any:  # fmt: skip
    """Returns the different values of all elements of `x` in ascending order, along the new dim `dim`.

    `size` is the size of `dim`; only a traced function needs it. If there are fewer values, `fill_value` follows (by
    default the least value, as in JAX). If there are more, mode="raise" raises IndexError, and mode="drop" leaves
    out the largest. NaN is one value, the last.

    With any of the following, the result is a tuple. return_index adds the first position of each value among all
    elements, in the order of the dims. return_inverse adds the position of each element's value, with the dims of `x`.
    return_counts adds how often each value occurs.

    Raises:
        IndexError: there are more than `size`, with mode="raise".
        DTypeError: `x` is complex.
        ArgumentError: `size` is negative, or `mode` is another one.

    Example:
    >>> values, counts = xt.unique(xt.array([3, 1, 3], "i"), return_counts=True)
    >>> values, counts.values
    (<xtensor.Array (unique: 2) int64>
    [1 3], array([1, 2]))
    """
    wanted_size = size_from("unique", x, size, "size", lambda v: np.unique(v).size)
    wanted = (bool(return_index), bool(return_inverse), bool(return_counts))
    return _unique(x, wanted_size, fill_value, dim, wanted, _mode(size, mode))


# -- nonzero ----------------------------------------------------------------------------------------------------------


@op(sizes=("size",))
def _nonzero(x: ArrayLike, size: Any, fill_value: int, dim: str, mode: str, /) -> Any:
    x, size = as_tracer(x), count("nonzero", size, "size")
    flat = _flat("nonzero", p.as_bool(x), dim, mode)
    at, there, _ = _collected(build.iota(flat.dims[0], size_of(flat, flat.dims[0]), p.I8), flat, dim, size, mode)
    found: dict[str, Tracer] = {}
    for d in reversed(x.dims):
        n = p.cast(size_of(x, d), p.I8)
        found[d] = build.select(there, build.binary("mod", at, n), p.constant(fill_value, p.I8))
        at = build.binary("floor_div", at, n)
    return {d: found[d] for d in x.dims}


def nonzero(
    x: ArrayLike, /, *, size: int | None = None, fill_value: int = 0, dim: str = "nonzero", mode: str = "raise"
) -> dict[str, Array]:
    """Returns the positions of elements that differ from 0: a dict with an i8 array along `dim` for each dim of `x`.

    The result is a dict, which `isel` takes: x.isel(xt.nonzero(x)) has these elements. They come in the order of the
    dims of `x`. `size` is the size of `dim`; only a traced function needs it. If there are fewer elements,
    `fill_value` follows; if there are more, mode="raise" raises IndexError, and mode="drop" leaves out the last.

    Raises:
        IndexError: there are more than `size`, with mode="raise".
        ArgumentError: `size` is negative, or `mode` is another one.

    Example:
    >>> xt.nonzero(xt.array([0, 3, 4], "i"))
    {'i': <xtensor.Array (nonzero: 2) int64>
    [1 2]}
    """
    wanted_size = size_from("nonzero", x, size, "size", np.count_nonzero)
    fill = integer("nonzero", fill_value, "fill_value")
    found: dict[str, Array] = _nonzero(x, wanted_size, fill, dim, _mode(size, mode))
    return found
