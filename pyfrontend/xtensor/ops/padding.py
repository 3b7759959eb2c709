"""`pad`: elements added at the ends of dims, of one value or of the array itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _native
from ..base.calls import counted
from ..base.dims import unknown
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError, SizeError
from ..call.dispatch import op
from ..call.opened import Amount, InOrder, any_number, apart, renamed, room
from ..call.scanned import items
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import by_dim, fail, integer, not_a_dim, reorder, size_of, static_size
from .moving import MOST_SLICES, Run, elsewhere, inside, no_dims, places, read_at, read_runs
from .types import Array, ArrayLike

PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(
    x: ArrayLike,
    widths: Mapping[str, int | tuple[int, int]] | None = None,
    /,
    mode: str = "constant",
    constant_values: Any = 0,
    **keywords: int | tuple[int, int],
) -> Array:
    """Returns `x` with elements added before and after it along dims: pad(x, {"t": (1, 2)}) or pad(x, t=(1, 2)).

    An int adds as many on both sides. `mode` is "constant", "edge", "reflect", "symmetric" or "wrap", as in numpy.pad.
    `constant_values` is a value, a pair (before, after), or a dict of these by dim; it is cast to the dtype of `x`.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a width is negative, or `mode` is another one. Or the call pads no dim but gives
            `constant_values`, and `x` has a dim of this name.
        DTypeError: integers are padded by a float.

    Example:
    >>> xt.pad(xt.array([1, 2], "time"), time=(1, 2))
    <xtensor.Array (time: 5) int64>
    [0 1 2 0 0]
    """
    amounts = by_dim("pad", widths, keywords, "widths")
    not_a_dim("pad", x, amounts, "constant_values", not isinstance(constant_values, int) or constant_values != 0)
    return _pad(x, amounts, mode, constant_values)


def _pad_plan(x: Any, widths: Mapping[str, Any], mode: Any, constant_values: Any, /) -> Any:
    if not isinstance(x, _native.Array) or mode not in PAD_MODES or not all(x.sizes.get(d) for d in widths):
        return None
    if any(isinstance(width, _native.Array) for width in items(widths)):
        return None  # the program for these very sizes refuses it
    pairs = {d: _pair(x, d, width) for d, width in widths.items()}
    pairs = {d: pair for d, pair in pairs.items() if sum(pair)}
    if not pairs:
        return None
    rooms = [room(d, x.sizes[d] + low + high, x._device) for d, (low, high) in pairs.items()]
    before = {d: low for d, (low, _) in pairs.items()}
    is_one = mode == "constant" and not isinstance(constant_values, (tuple, list, Mapping))
    kind = InOrder if is_one and x.device == "cpu" else tuple
    return kind((renamed(x, {d: apart(d) for d in pairs}), rooms, before, mode, constant_values))


def _pad_wide(
    x: ArrayLike, rooms: Sequence[ArrayLike], amounts: dict[str, Any], mode: str, constant_values: Any, /
) -> Array:
    x = as_tracer(x)
    for space, (dim, low) in zip(rooms, amounts.items(), strict=True):
        at = build.binary("sub", places(space, dim), p.amount(low, p.I8))
        size = p.cast(size_of(x, apart(dim)), p.I8)
        if mode != "constant":
            x = elsewhere(x, dim, _mirrored(mode, at, size))
            continue
        before, after = _values(dim, constant_values)
        fill = _fill(x, before)
        if before is not after:
            fill = build.select(build.compare("lt", at, p.constant(0, p.I8)), fill, _fill(x, after))
        y = elsewhere(x, dim, at)
        x = reorder(build.select(inside(at, size), y, fill), y.dims)
    return x


def _mirrored(mode: str, at: Tracer, size: Tracer) -> Tracer:
    """Which element a position beyond the ends shows."""
    zero, one = p.constant(0, p.I8), p.constant(1, p.I8)
    if mode == "wrap":
        return build.binary("mod", at, size)
    if mode == "edge":
        return build.binary("minimum", build.binary("maximum", at, zero), build.binary("sub", size, one))
    last = build.binary("sub", size, one) if mode == "reflect" else size
    period = build.binary("maximum", build.binary("add", last, last), one)
    at = build.binary("mod", at, period)
    back = build.binary("sub", period, at if mode == "reflect" else build.binary("add", at, one))
    return build.binary("minimum", at, back)


@op(amounts={"constant_values": any_number}, wide=(_pad_plan, _pad_wide))
def _pad(x: ArrayLike, widths: dict[str, Any], mode: str, constant_values: Any, /) -> Array:
    x = as_tracer(x)
    if mode not in PAD_MODES:
        raise fail(ArgumentError, "pad", f"mode is one of {PAD_MODES}, not {mode!r}", x)
    missing = [d for d in widths if d not in x.dims]
    if missing:
        raise unknown("pad", missing[0], x.dims)
    for dim, width in widths.items():
        low, high = _pair(x, dim, width)
        if low or high:
            static_size("pad", x, dim)
        if mode == "constant":
            x = _pad_constant(x, dim, low, high, constant_values)
            continue
        size = static_size("pad", x, dim)
        if size == 0 and low + high:
            raise fail(SizeError, "pad", f"dim {dim!r} is empty: mode {mode!r} has nothing to read", x)
        x = build.labelled(_padded(x, dim, low, high, mode), x, {dim: ("pad", low, high, mode)})
    return x


def _padded(x: Tracer, dim: str, low: int, high: int, mode: str) -> Tracer:
    """`x` with `low` and `high` of its own elements before and after a dim that is not empty."""
    size = int(x.sizes[dim])
    if mode == "reflect" and size == 1:
        mode = "edge"
    period = size - 1 if mode == "reflect" else size
    if mode != "edge" and (low + high) // period > MOST_SLICES:
        at = build.binary("sub", build.iota(dim, low + size + high, p.I8), p.constant(low, p.I8))
        return read_at(x, dim, _mirrored(mode, at, p.constant(size, p.I8)))

    def beyond(first: int, last: int) -> Iterator[Run]:
        if mode == "edge" and first < last:
            yield (0 if first < 0 else size - 1), 0, last - first
            return
        while first < last:
            turn, offset = divmod(first, period)
            length = min(period - offset, last - first)
            if mode == "wrap" or turn % 2 == 0:
                yield offset, 1, length
            else:
                yield size - 1 - offset, -1, length
            first += length

    return read_runs(x, dim, [*beyond(-low, 0), (0, 1, size), *beyond(size, size + high)])


def _pair(x: Any, dim: str, width: Any) -> tuple[int, int]:
    pair = tuple(width) if isinstance(width, (tuple, list)) else (width, width)
    if len(pair) != 2:
        raise fail(ArgumentTypeError, "pad", f"the width of {dim!r} is (before, after), not {width!r}", x)
    low, high = (integer("pad", w, f"the width of {dim!r}", wide=True) for w in pair)
    if low < 0 or high < 0:
        raise fail(
            ArgumentError, "pad", f"the width of {dim!r} is negative: {width!r}", x,
            instead=f"Write x.isel({dim}=slice(..)) to cut"
        )  # fmt: skip
    if max(low, high) >= 2**62:
        raise fail(
            SizeError, "pad", f"the width of {dim!r} is {width!r}, more than memory can hold", x,
            instead="Widths are numbers of elements: (before, after)",
        )  # fmt: skip
    return low, high


def _pad_constant(x: Tracer, dim: str, low: int, high: int, values: Any) -> Tracer:
    before, after = _values(dim, values)
    if before is after:
        return build.pad(x, _fill(x, before), {dim: (low, high, 0)})
    x = build.pad(x, _fill(x, before), {dim: (low, 0, 0)})
    return build.pad(x, _fill(x, after), {dim: (0, high, 0)})


def _values(dim: str, values: Any) -> Any:
    """What is added before and after a dim."""
    if isinstance(values, Mapping):
        values = values.get(dim, 0)
    if not isinstance(values, (tuple, list)):
        return values, values
    if len(values) != 2:
        found = f"constant_values has {counted(len(values), 'value')} for dim {dim!r}"
        raise fail(ArgumentError, "pad", found, instead="Write (before, after)")
    return values


def _fill(x: Tracer, value: Any) -> Tracer:
    """What is added, in the dtype of `x`, as numpy.pad casts it."""
    fill = as_tracer(value.number if isinstance(value, Amount) else value)
    no_dims("pad", "a constant value", fill)
    own, new = (2 if p.is_complex(v.dtype) else int(p.is_float(v.dtype)) for v in (x, fill))
    if new > own:
        what, wide = ("a complex number", "c16") if new == 2 else ("a float", "f8")
        raise fail(
            DTypeError, "pad", f"{what} does not fit into {x.dtype}", x, fill,
            instead=f'Cast the array first: x.astype("{wide}")',
        )  # fmt: skip
    return p.cast(fill if isinstance(value, (Tracer, Amount)) else value, x.dtype)
