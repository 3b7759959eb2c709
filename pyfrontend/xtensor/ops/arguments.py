"""Reads the arguments of public functions (arrays, dims and sizes), and words the errors about them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from .. import _native
from ..base.calls import in_words
from ..base.dims import as_names, brief, by_name, check_name, ordered, unknown
from ..base.errors import (
    ArgumentError,
    ArgumentTypeError,
    DimensionError,
    Error,
    SizeError,
    UnsupportedError,
    pair_by_label,
)
from ..call.arrays import as_array
from ..labels.origins import labels_of_traced, where_of
from ..trace import build
from ..trace.scope import local
from ..trace.tracer import DynamicSize, Tracer, fixed
from ..values.options import current

Size: TypeAlias = "int | Tracer"

NO_STRETCH = "Size 1 does not stretch: squeeze, isel or rename the dim first"


def fail(kind: type[Error], op: str, problem: str, *operands: Any, instead: str = "") -> Error:
    """The exception to raise: what is wrong with `op`, its operands, what to write instead."""
    text = f"xt.{op}: {problem}"
    if operands:
        text += f" (operands: {', '.join(brief(x) for x in operands)})"
    if instead:
        text += f". {instead}"
    return kind(text)


# What goes element by element over two arrays, by the name of the reduction that people take for it.
_OF_TWO = {
    "max": "xt.maximum(x, y)", "min": "xt.minimum(x, y)", "sum": "x + y", "prod": "x * y", "all": "x & y",
    "any": "x | y", "mean": "(x + y) / 2", "logsumexp": "xt.logaddexp(x, y)",
}  # fmt: skip


def _of_two(op: str, otherwise: str = "") -> str:
    """What to write for a reduction that was given a second array."""
    found = _OF_TWO.get(op)
    return f"Element by element, of two arrays or an array and a number, write {found}" if found else otherwise


def skips(op: str, skipna: bool | None) -> bool:
    """Whether `op` leaves NaN out: as it is told, else as `xt.option(skipna=)` says where a user calls it (what other
    functions are made of means the same under every option)."""
    if skipna is not None:
        return bool(skipna)
    return current().skipna and local.op in ("", op)


def is_inner(op: str) -> bool:
    """Whether another public function is made of this call: what options forbid is for the calls of users."""
    return local.op.rpartition(".")[2] not in ("", op.rpartition(".")[2])


def forbid_pairs(op: str, xs: Sequence[Tracer], besides: Sequence[str] = ()) -> None:
    """Refuses two operands each of which has a dim that the other lacks, if the options forbid outer products."""
    if current().outer != "forbid" or is_inner(op):
        return
    for x, y in itertools.combinations(xs, 2):
        alone, other = ([d for d in a.dims if d not in b.dims and d not in besides] for a, b in ((x, y), (y, x)))
        if alone and other:
            raise fail(
                DimensionError, op, f"an outer product over {alone} and {other} is forbidden by xt.option", x, y,
                instead='Rename the dims, or write `with xt.option(outer="allow"):`',
            )  # fmt: skip


def resolve(op: str, have: Sequence[str], dim: Any, of: str = "the array") -> tuple[str, ...]:
    """The names in `have` that `dim` means: all for None and `...`, else one or several, each once. `of`: what errors
    call the array."""
    if dim is None or dim is ...:
        return tuple(have)
    if hasattr(dim, "dtype") and hasattr(dim, "shape") and not isinstance(dim, np.integer):
        raise fail(
            ArgumentTypeError, op, f"dim is a name, names, None or ..., not {brief(dim)}",
            instead=_of_two(op, f"The dims are {tuple(have)}"),
        )  # fmt: skip
    if not isinstance(dim, Iterable) or isinstance(dim, bytes):
        instead = by_name(have, dim)
        if isinstance(dim, (int, float)) and op in _OF_TWO:
            instead += f". {_of_two(op)}"
        raise fail(ArgumentTypeError, op, f"dim is a name, names, None or ..., not {brief(dim)}", instead=instead)
    names = (dim,) if isinstance(dim, str) else tuple(ordered(dim))
    for name in names:
        if isinstance(name, Integral):
            instead = by_name(have, names if len(names) > 1 else name)
            raise fail(DimensionError, op, f"there is no dim {name}", instead=instead)
        if name not in have:
            raise unknown(op, name, have, of)
        if names.count(name) > 1:
            raise fail(DimensionError, op, f"dim {name!r} is named twice in {names}")
    return names


def dims_of(op: str, x: Tracer, dim: Any, of: str = "the array") -> tuple[str, ...]:
    """The dims of `x` that `dim` means, each of them there and named once."""
    return resolve(op, x.dims, dim, of)


def dim_of(op: str, x: Any, dim: Any, of: str = "the array") -> str:
    """`dim`, which must be the name of one dim of `x`. `of`: what errors call `x`."""
    if dim is None and x.dims:
        problem = f"{of} has the dims {tuple(x.dims)}, and dim= is missing"
        raise fail(ArgumentTypeError, op, problem, x, instead=f"Write dim={x.dims[0]!r}, or another of them")
    if not isinstance(dim, str):
        instead = by_name(x.dims, dim) if isinstance(dim, Integral) else ""
        raise fail(ArgumentTypeError, op, f"dim is one name, not {brief(dim)}", x, instead=instead)
    if dim not in x.dims:
        raise unknown(op, dim, x.dims, of)
    return dim


def names_of(op: str, dims: Any) -> tuple[str, ...]:
    """One name or several, none twice."""
    if not isinstance(dims, Iterable) or isinstance(dims, bytes):
        numbers = "Dims have names, not numbers" if isinstance(dims, Integral) else ""
        raise fail(ArgumentTypeError, op, f"dims are names, not {brief(dims)}", instead=numbers)
    return as_names(dims)


def _as_keywords(sizes: Any, dims: Any) -> str:
    """How a call with a shape writes its sizes: with the names of `dims=`, if they fit, as in NumPy's habit."""
    counts = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
    names = (dims,) if isinstance(dims, str) else dims
    if not isinstance(names, (tuple, list)) or len(names) != len(counts):
        return "row=3, col=4"
    return ", ".join(f"{d}={brief(n)}" for d, n in zip(names, counts, strict=True))


def by_dim(op: str, mapping: Mapping[str, Any] | None, keywords: Mapping[str, Any], what: str) -> dict[str, Any]:
    """What a function takes as a dict or as keywords, one form at a time."""
    if mapping is None:
        return dict(keywords)
    if not isinstance(mapping, Mapping):
        if what == "sizes":
            written = f"xt.{op}({'value, ' if op == 'full' else ''}{_as_keywords(mapping, keywords.get('dims'))})"
            problem, instead = f"sizes have names, and {brief(mapping)} has none", f"Write {written}"
            if isinstance(mapping, (tuple, list)) and mapping and all(isinstance(d, str) for d in mapping):
                problem = f"each dim has a size, and {brief(mapping)} has none"
                instead = f"Write xt.{op}({{{', '.join(f'{d!r}: 3' for d in mapping)}}})"
        else:
            problem = f"{what} are a dict from dims, not {brief(mapping)}"
            instead = f'Write xt.{op}(x, {{"time": ...}}) or xt.{op}(x, time=...)'
        raise fail(ArgumentTypeError, op, problem, instead=instead)
    if keywords:
        raise fail(ArgumentError, op, f"{what} come as a dict or as keywords, not as both")
    return {check_name(d): v for d, v in mapping.items()}


def not_a_dim(op: str, x: Any, by_dim: Mapping[str, Any], name: str, given: bool) -> None:
    """Refuses a call that gives nothing by dim but the keyword `name`, if the array has a dim of this name."""
    if given and not by_dim and name in getattr(x, "dims", ()):
        problem = f"{name}= is a parameter, and the array has a dim of this name"
        raise fail(ArgumentError, op, problem, x, instead=f'Write xt.{op}(x, {{"{name}": 1}}) for the dim')


def static_size(op: str, x: Tracer, dim: str) -> int:
    """The size of a dim where the op needs to know it while tracing."""
    size = x.sizes[dim]
    if isinstance(size, DynamicSize):
        raise fail(
            DimensionError, op, f"the size of dim {dim!r} is dynamic, and must be known here", x,
            instead=fixed(dim),
        )  # fmt: skip
    return int(size)


def size_of(x: Tracer, dim: str) -> Size:
    """The size of a dim: an int, or a traced i8 scalar where it is dynamic."""
    size = x.sizes[dim]
    return build.size(x, dim) if isinstance(size, DynamicSize) else int(size)


def is_static(x: Tracer, dim: str) -> bool:
    """Whether the size of a dim is known while tracing."""
    return not isinstance(x.sizes[dim], DynamicSize)


def not_static(
    op: str, value: Tracer | DynamicSize, what: str, instead: str = "", kind: str = "an int", to: str = "int"
) -> Error:
    """The error about a number that is needed while tracing and known only when the program runs. `instead`: what does
    without. `kind`: what it may be; `to`: the class that reads it from an array."""
    if isinstance(value, Tracer) and local.alone and value.scope.parent is None:
        instead = "" if value.dims else f"Of an array k, write {to}(k)"
        return fail(ArgumentTypeError, op, f"{what} is {kind}, not an array, {brief(value.spec)}", instead=instead)
    if isinstance(value, DynamicSize):
        given = f"the size of {value.dim!r}, which is dynamic"
        instead = fixed(value.dim)
    else:
        given = repr(value)
        static = "ake the argument that it comes from static, xt.jit(f, static=...): compiled once per value"
        instead = f"{instead}; or m{static}" if instead else f"M{static}"
    return fail(
        ArgumentTypeError, op, f"{what} is {kind} that is known while tracing, not {given}", instead=instead
    )  # fmt: skip


def integer(op: str, value: Any, what: str, least: int | None = None, wide: bool = False, instead: str = "") -> int:
    """A static int argument, not below `least`; of 64 bits unless `wide`. `instead`: what to write where it is known
    only when the program runs."""
    if isinstance(value, (Tracer, DynamicSize)):
        raise not_static(op, value, what, instead)
    if isinstance(value, (bool, np.bool_)):
        raise fail(ArgumentTypeError, op, f"{what} is an int, not {value!r}")
    try:
        found = operator.index(value)
    except TypeError:
        instead = f"Write {int(value)}" if isinstance(value, float) and value.is_integer() else ""
        raise fail(ArgumentTypeError, op, f"{what} is an int, not {brief(value)}", instead=instead) from None
    if not wide and not -(2**63) <= found < 2**63:
        raise fail(ArgumentError, op, f"{what} is {found}, which does not fit into 64 bits")
    if least is not None and found < least:
        raise fail(ArgumentError, op, f"{what} is {least} or more, not {found}")
    return found


def count(op: str, value: Any, what: str) -> Size:
    """The size of a new dim: an int, or a traced one that is the size of another dim."""
    if isinstance(value, DynamicSize):
        return build.size(value.tracer, value.dim)
    return integer(op, value, what, least=0)


def number(op: str, value: Any, what: str) -> float:
    """A static int or float argument."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise fail(ArgumentTypeError, op, f"{what} is a number, not {brief(value)}")
    return value if isinstance(value, (int, float)) else value.item()


def is_scalar(value: Any) -> TypeGuard[Any]:
    """Whether `value` is a Python scalar, whose dtype is weak."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def union_sizes(op: str, xs: Sequence[Tracer], besides: Iterable[str] = ()) -> dict[str, Size]:
    """The dims of all of `xs` in order of first appearance; equal names must have equal sizes."""
    left_out = set(besides)
    sizes: dict[str, Size] = {}
    owner: dict[str, Tracer] = {}
    for x in xs:
        for dim in x.dims:
            if dim in left_out:
                continue
            if dim not in sizes or not isinstance(sizes[dim], int):
                if dim not in sizes or is_static(x, dim):
                    sizes[dim] = size_of(x, dim)
                    owner[dim] = x
            elif is_static(x, dim) and x.sizes[dim] != sizes[dim]:
                problem = f"dim {dim!r} has size {sizes[dim]} here and {x.sizes[dim]} there"
                raise sizes_differ(op, problem, dim, owner[dim], x)
    return sizes


def paired_sizes(op: str, xs: Sequence[Tracer], besides: Sequence[str] = ()) -> dict[str, Size]:
    """`union_sizes` of operands that meet element by element along these dims: if the options forbid outer products,
    no two of them each have a dim that the other lacks."""
    sizes = union_sizes(op, xs, besides)
    forbid_pairs(op, xs, besides)
    return sizes


def sizes_differ(op: str, problem: str, dim: str, a: Tracer, b: Tracer, of: str = "one") -> Error:
    """The error about two arrays with different sizes along a dim. `of`: the one to rename."""
    sizes = a.sizes[dim], b.sizes[dim]
    if 1 in sizes:
        return fail(SizeError, op, problem, a, b, instead=NO_STRETCH)
    if all(dim in labels_of_traced(x, where_of(x)).coords for x in (a, b)):
        return fail(SizeError, op, problem, a, b, instead=pair_by_label(dim))
    instead = f"Slice the larger one, .isel({dim}=slice({min(sizes)})), or rename the dim of {of}"
    error = fail(SizeError, op, problem, a, b, instead=instead)
    assert isinstance(error, SizeError)
    error.by_position = dim, instead
    return error


def extend(x: Tracer, sizes: Mapping[str, Size], order: Sequence[str]) -> Tracer:
    """`x` broadcast to the dims of `order`, new ones with sizes from `sizes`."""
    if tuple(order) == x.dims:
        return x
    new = {d: sizes[d] for d in order if d not in x.dims}
    return build.broadcast(x, tuple(order), new)


def reorder(x: Tracer, order: Sequence[str]) -> Tracer:
    """`x` with its dims in another order."""
    return extend(x, {}, order)


def fresh(taken: Iterable[str], stem: str = "new") -> str:
    """A dim name that no user can spell and none of `taken` has."""
    names = set(taken)
    count = 0
    while f"{stem}~{count}" in names:
        count += 1
    return f"{stem}~{count}"


def flat_name(dims: Iterable[str]) -> str:
    """The name of dims that are merged. The same name would have the same size elsewhere in a program, also where that
    is dynamic."""
    return "~".join([*dims, "flat"])


def needs_lapack(name: str) -> None:
    """UnsupportedError where this build has no LAPACK."""
    if _native.lapack_name() is None:
        raise UnsupportedError(
            f"xt.{name}: this xtensor was built without LAPACK. Build it with OpenBLAS "
            "(pip install scipy-openblas32); `xtensor doctor` says what it found"
        )


def returned(name: str, result: Any, x: Any) -> Any:
    """What a function returned for a part of `x`, as an array."""
    if hasattr(result, "dims"):
        return result
    if not isinstance(result, (bool, int, float, complex, np.generic)):
        told = f"the function returned {in_words(result)} for a group"
        raise fail(ArgumentTypeError, name, told, x, instead="Return an array or a number")
    return as_array(result)
