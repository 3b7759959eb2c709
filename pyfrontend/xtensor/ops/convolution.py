"""Convolutions and pooling: windows that are contracted with a kernel, or reduced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _native
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError
from ..call.dispatch import op
from ..call.opened import LARGEST, apart, renamed, room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import dims_of, fail, fresh, integer, reorder, size_of, static_size, union_sizes
from .contraction import contract
from .fourier import resized
from .moving import spans
from .types import Array, ArrayLike, Dims
from .windows import checked, windows


def _by_window(
    name: str, x: Tracer, amounts: int | Mapping[str, int] | None, dims: Mapping[str, Any], default: Any, what: str
) -> dict[str, int]:
    """One int per dim that windows lie along; what is not given is the default (a dict by dim, or one)."""
    wanted: Mapping[str, Any] = {}
    if amounts is not None:
        wanted = amounts if isinstance(amounts, Mapping) else dict.fromkeys(dims, amounts)
    foreign = [d for d in wanted if d not in dims]
    if foreign:
        raise fail(DimensionError, name, f"a {what} for {foreign[0]!r}, but windows lie along {tuple(dims)}", x)
    given = checked(name, x, wanted, what)
    by_default = default if isinstance(default, Mapping) else dict.fromkeys(dims, default)
    return {d: given[d] if d in given else by_default[d] for d in dims}


def _padding(name: str, x: Tracer, padding: Any, reach: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """(before, after) per dim. "same": as many as leave the size as it is under a stride of 1."""
    if isinstance(padding, Mapping):
        foreign = [d for d in padding if d not in reach]
        if foreign:
            raise fail(DimensionError, name, f"padding for {foreign[0]!r}, but windows lie along {tuple(reach)}", x)
    else:
        padding = dict.fromkeys(reach, padding)
    found = {}
    for dim, n in reach.items():
        amount = padding.get(dim, 0)
        if isinstance(amount, str):
            if amount not in ("same", "valid"):
                raise fail(ArgumentError, name, f"padding is 'same', 'valid' or numbers, not {amount!r}", x)
            total = n - 1 if amount == "same" else 0
            amount = (total // 2, total - total // 2)
        pair = tuple(amount) if isinstance(amount, (tuple, list)) else (amount, amount)
        if len(pair) != 2:
            raise fail(ArgumentTypeError, name, f"the padding of {dim!r} is (before, after), not {amount!r}", x)
        low, high = (integer(name, n, f"the padding of {dim!r}") for n in pair)
        if low < 0 or high < 0:
            raise fail(ArgumentError, name, f"the padding of {dim!r} is negative: {amount!r}", x)
        found[dim] = (low, high)
    return found


def _padded(name: str, x: Tracer, value: float, amounts: Mapping[str, tuple[int, int]]) -> Tracer:
    needed = {d: (low, high, 0) for d, (low, high) in amounts.items() if low or high}
    for d in needed:
        static_size(name, x, d)
    return build.pad(x, _constant(value, x.dtype), needed) if needed else x


def _constant(value: float, dtype: np.dtype) -> Tracer:
    if value == -np.inf and not p.is_inexact(dtype):
        return p.constant(np.iinfo(dtype).min, dtype)
    return p.constant(value, dtype)


def _fits(name: str, x: Tracer, dim: str, reach: int) -> None:
    have = static_size(name, x, dim)
    if have < reach:
        raise fail(
            SizeError, name, f"a window of {reach} elements does not fit into dim {dim!r} of size {have}", x,
            instead=f'Pad it: padding={{"{dim}": (before, after)}}',
        )  # fmt: skip


def _not_swapped(name: str, x: Tracer, w: Tracer, dims: Mapping[str, Any]) -> None:
    """An error where names would fit, if the array and the kernel, or the dims of both, changed places."""
    there = [d in x.dims and k in w.dims for d, k in dims.items()]
    if all(there) or not all(d in w.dims and k in x.dims for d, k in dims.items()):
        return
    swapped = "{" + ", ".join(f"{k!r}: {d!r}" for d, k in dims.items()) + "}"
    if name.startswith("signal."):
        ((d, k),) = dims.items()
        swapped = f"({k!r}, {d!r})"
    raise fail(
        DimensionError, name, "dims= has a dim of the array, then one of the kernel, and these are swapped", x, w,
        instead=f"The array comes first, then the kernel; for this order of both, write {swapped}",
    )  # fmt: skip


def _kernel_dims(name: str, x: Tracer, w: Tracer, dims: Any, dim: Dims) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The dims that are summed over, and the places of the kernel."""
    if not isinstance(dims, Mapping) or not dims:
        raise fail(
            ArgumentTypeError, name, f"dims is a dict from dims of x to dims of the kernel, not {dims!r}", x, w,
            instead='Write dims={"h": "kh", "w": "kw"}',
        )  # fmt: skip
    along: tuple[str, ...] = tuple(dims)
    places: tuple[str, ...] = tuple(dims.values())
    _not_swapped(name, x, w, dims)
    dims_of(name, x, along)
    dims_of(name, w, places, "the kernel")
    over = dims_of(name, x, dim)
    dims_of(name, w, over, "the kernel")
    for d in places:
        if d in x.dims:
            raise fail(DimensionError, name, f"the kernel's dim {d!r} is one of x, too", x, w)
    for d in along:
        if d in w.dims:
            raise fail(DimensionError, name, f"the kernel slides along {d!r}, and has it as well", x, w)
    union_sizes(name, (x, w))
    return over, places


def _has_plan(x: Any, w: Any, dims: Any) -> bool:
    """Whether a convolution has concrete operands, no empty window, and dims of its own in the kernel."""
    if not isinstance(x, _native.Array) or not isinstance(w, _native.Array) or not isinstance(dims, Mapping):
        return False
    return all(x.sizes.get(d) and w.sizes.get(k) and d not in w.dims for d, k in dims.items())


def _conv_plan(
    x: Any, w: Any, /, dims: Any, dim: Any = (), *, stride: Any = None, padding: Any = 0, dilation: Any = None
) -> Any:
    """What `_conv_wide` takes, for results of which all windows together are not large."""
    if not _has_plan(x, w, dims):
        return None
    steps, gaps, reach, pads = _ways("nn.conv", x, w, dims, stride, padding, dilation)
    lengths = {d: (x.sizes[d] + sum(pads[d]) - reach[d]) // steps[d] + 1 for d in dims}
    if any(n < 1 for n in lengths.values()) or not _few_windows(x, lengths, [w.sizes[k] for k in dims.values()]):
        return None
    rooms = [room(d, n, x._device) for d, n in lengths.items()]
    ways = {d: (k, -pads[d][0], steps[d], gaps[d], 1) for d, k in dims.items()}
    return renamed(x, {d: apart(d) for d in dims}), w, rooms, ways, dim, "nn.conv"


def _ways(name: str, x: Any, w: Any, dims: Mapping[str, str], stride: Any, padding: Any, dilation: Any) -> Any:
    """Strides, distances of what the kernel reads, its reach and the padding, by dim."""
    steps = _by_window(name, x, stride, dims, 1, "stride")
    gaps = _by_window(name, x, dilation, dims, 1, "dilation")
    reach = {d: (static_size(name, w, k) - 1) * gaps[d] + 1 for d, k in dims.items()}
    return steps, gaps, reach, _padding(name, x, padding, reach)


def _few_windows(x: Any, lengths: Mapping[str, int], windows: Iterable[int]) -> bool:
    """Whether all windows together are small enough to be read one by one."""
    rest = [n for d, n in x.sizes.items() if d not in lengths]
    return math.prod([*rest, *lengths.values(), *windows]) <= LARGEST


def _conv_wide(
    x: ArrayLike, w: ArrayLike, rooms: Sequence[ArrayLike], ways: dict[str, Any], dim: Dims, name: str, /
) -> Array:
    x, w = p.promote(x, w)
    p.no_bool(name, x, 'Cast them first: x.astype("f4")')
    own = {apart(d): d for d in ways}
    dims = [own.get(d, d) for d in x.dims]
    over, places = _kernel_dims(name, x, w, {apart(d): way[0] for d, way in ways.items()}, dim)
    y = x
    for space, (d, (k, start, step, gap, spread)) in zip(rooms, ways.items(), strict=True):
        y = spans(y, d, k, space, size_of(w, k), start, step, gap, fill=p.zero(x.dtype), spread=spread)
    order = dict.fromkeys(d for d in (*dims, *w.dims) if d not in places and d not in over)
    return p.cast(contract([y, w], (*over, *places), (*order, *over, *places)), x.dtype)


@op(name="nn.conv", wide=(_conv_plan, _conv_wide))
def conv(
    x: ArrayLike, w: ArrayLike, /, dims: dict[str, str], dim: Dims = (), *, stride: int | dict[str, int] | None = None,
    padding: Any = 0, dilation: int | dict[str, int] | None = None,
) -> Array:  # fmt: skip
    """Returns the cross-correlation of `x` with the kernel `w`.

    `dims` maps each dim of `x` that is scanned to the kernel's dim: {"h": "kh", "w": "kw"}. `dim` is summed over
    (the input channels). Other dims with equal names are paired (groups, batches). The result has the dims of `x`,
    then those of `w`, without the kernel's dims and `dim`. `stride` and `dilation` are an int, or ints by dim.
    `padding` is an int, a pair (before, after), "same" or "valid", or these by dim.
    Of images: nn.conv(image, w, {"h": "kh", "w": "kw"}, dim="channel", padding="same").

    Raises:
        DimensionError: an array does not have a dim that `dims` or `dim` names.
        SizeError: the kernel is longer than the padded dim.
        ArgumentError: a stride or a dilation is below 1, or a padding is negative.

    Example:
    >>> xt.nn.conv(xt.array([1.0, 2.0, 4.0, 8.0], "time"), xt.array([-1.0, 1.0], "tap"), {"time": "tap"})
    <xtensor.Array (time: 3) float64>
    [1. 2. 4.]
    """
    x, w = p.promote(x, w)
    p.no_bool("nn.conv", x, 'Cast them first: x.astype("f4")')
    over, places = _kernel_dims("nn.conv", x, w, dims, dim)
    steps, gaps, reach, pads = _ways("nn.conv", x, w, dims, stride, padding, dilation)
    y = _padded("nn.conv", x, 0, pads)
    for d, k in dims.items():
        _fits("nn.conv", y, d, reach[d])
        y = build.window(y, d, k, static_size("nn.conv", w, k), steps[d], gaps[d])
    order = (*x.dims, *(d for d in w.dims if d not in x.dims and d not in places))
    return contract([y, w], (*over, *places), (*order, *places))


def _conv_transpose_plan(
    x: Any, w: Any, /, dims: Any, dim: Any = (), *, stride: Any = None, padding: Any = 0, dilation: Any = None,
    output_padding: Any = 0,
) -> Any:  # fmt: skip
    if not _has_plan(x, w, dims):
        return None
    if not isinstance(output_padding, int):
        return None
    steps, gaps, reach, cut = _ways("nn.conv_transpose", x, w, dims, stride, padding, dilation)
    lengths = {d: (x.sizes[d] - 1) * steps[d] + reach[d] - sum(cut[d]) + output_padding for d in dims}
    if any(n < 1 for n in lengths.values()) or not _few_windows(x, lengths, [w.sizes[k] for k in dims.values()]):
        return None
    rooms = [room(d, n, x._device) for d, n in lengths.items()]
    ways = {d: (k, cut[d][0], 1, -gaps[d], steps[d]) for d, k in dims.items()}
    return renamed(x, {d: apart(d) for d in dims}), w, rooms, ways, dim, "nn.conv_transpose"


@op(name="nn.conv_transpose", wide=(_conv_transpose_plan, _conv_wide))
def conv_transpose(
    x: ArrayLike, w: ArrayLike, /, dims: dict[str, str], dim: Dims = (), *, stride: int | dict[str, int] | None = None,
    padding: Any = 0, dilation: int | dict[str, int] | None = None, output_padding: int | dict[str, int] = 0,
) -> Array:  # fmt: skip
    """Returns the transpose of `conv`: each element of `x` adds the kernel `w`, times it, to the result.

    Arguments are those of `conv` for the way back: `dims` maps each dim of `x` to the kernel's dim, `dim` is summed
    over, `padding` is cut off, and `output_padding` more elements come at the end. A dim of size n gets the size
    (n - 1) * stride + dilation * (kernel - 1) + 1 - the padding on both sides + output_padding.

    Raises:
        DimensionError: an array does not have a dim that `dims` or `dim` names.
        ArgumentError: a stride or a dilation is below 1, or a padding is negative.

    Example:
    >>> xt.nn.conv_transpose(xt.array([1.0, 3.0], "time"), xt.array([1.0, 2.0], "tap"), {"time": "tap"}, stride=2)
    <xtensor.Array (time: 4) float64>
    [1. 2. 3. 6.]
    """
    name = "nn.conv_transpose"
    x, w = p.promote(x, w)
    p.no_bool(name, x, 'Cast them first: x.astype("f4")')
    over, places = _kernel_dims(name, x, w, dims, dim)
    steps, gaps, reach, cut = _ways(name, x, w, dims, stride, padding, dilation)
    more = output_padding if isinstance(output_padding, Mapping) else dict.fromkeys(dims, output_padding)
    order = (*(d for d in x.dims if d not in over), *(d for d in w.dims if d not in (*x.dims, *places)))
    dtype = x.dtype
    y = contract([x, w], over, (*order, *(d for d in x.dims if d in over), *places))
    for d, k in dims.items():
        low, high = cut[d]
        extra = integer(name, more.get(d, 0), "output_padding", least=0)
        full = (static_size(name, x, d) - 1) * steps[d] + reach[d] if x.sizes[d] else 0
        length = full - low - high + extra
        if max(full, length) >= 2**63:
            raise fail(
                SizeError, name, f"dim {d!r} of size {x.sizes[d]} would have {max(full, length)} elements, more than "
                "memory can hold", x, w, instead="Give a smaller stride, dilation or output_padding",
            )  # fmt: skip
        if length < 0:
            raise fail(SizeError, name, f"padding {cut[d]} cuts off more than the {full} elements along {d!r}", x, w)
        y = build.overlap_add(y, d, k, full, steps[d], gaps[d])
        kept = min(length, full - low)
        y = build.slice(y, {d: (low, kept, 1)})
        if length > kept:
            y = build.pad(y, p.zero(y.dtype), {d: (0, length - kept, 0)})
    return p.cast(reorder(y, order), dtype)


def _pooled(name: str, kind: str, x: Tracer, sizes: Any, stride: Any, padding: Any) -> Tracer:
    if not isinstance(sizes, Mapping):
        raise fail(
            ArgumentTypeError, name, f"windows are a dict from dims to lengths, not {sizes!r}", x,
            instead=f'Write xt.{name}(x, {{"h": 2, "w": 2}})',
        )  # fmt: skip
    lengths = checked(name, x, sizes, "window")
    steps = _by_window(name, x, stride, lengths, lengths, "stride")
    y = _padded(name, x, -np.inf if kind == "max" else 0, _padding(name, x, padding, lengths))
    names = []
    for d, n in lengths.items():
        _fits(name, y, d, n)
        names.append(fresh(y.dims, "window"))
        y = windows(y, d, n, names[-1], steps[d])
    return reorder(build.reduce(kind, y, tuple(names)) if names else y, x.dims)


def _pool_plan(name: str, x: Any, windows: Any, stride: Any, padding: Any) -> Any:
    if not isinstance(x, _native.Array) or not isinstance(windows, Mapping) or not all(map(x.sizes.get, windows)):
        return None
    array: Any = x
    lengths = checked(name, array, windows, "window")
    steps = _by_window(name, array, stride, lengths, lengths, "stride")
    pads = _padding(name, array, padding, lengths)
    found = {d: (x.sizes[d] + sum(pads[d]) - n) // steps[d] + 1 for d, n in lengths.items()}
    if any(n < 1 for n in found.values()) or not _few_windows(x, found, lengths.values()):
        return None
    rooms = [room(d, n, x._device) for d, n in found.items()]
    ways = {d: (n, -pads[d][0], steps[d]) for d, n in lengths.items()}
    return renamed(x, {d: apart(d) for d in lengths}), rooms, ways


def _pool_wide(name: str, kind: str, x: Tracer, rooms: Sequence[ArrayLike], ways: Mapping[str, Any]) -> Tracer:
    fill = _constant(-np.inf if kind == "max" else 0, x.dtype)
    own = {apart(d): d for d in ways}
    order, names = [own.get(d, d) for d in x.dims], []
    for space, (d, (n, start, step)) in zip(rooms, ways.items(), strict=True):
        names.append(fresh(x.dims, "window"))
        x = spans(x, d, names[-1], space, n, start, step, fill=fill)
    return reorder(build.reduce(kind, x, tuple(names)), order)


def _max_pool_plan(x: Any, windows: Any, /, stride: Any = None, *, padding: Any = 0) -> Any:
    return _pool_plan("nn.max_pool", x, windows, stride, padding)


def _max_pool_wide(x: ArrayLike, rooms: Sequence[ArrayLike], ways: dict[str, Any], /) -> Array:
    x = p.no_bool("nn.max_pool", as_tracer(x), 'Cast them first: x.astype("f4")')
    return _pool_wide("nn.max_pool", "max", x, rooms, ways)


@op(name="nn.max_pool", wide=(_max_pool_plan, _max_pool_wide))
def max_pool(x: ArrayLike, windows: dict[str, int], /, stride: Any = None, *, padding: Any = 0) -> Array:
    """Returns the largest value of each window, with the dims of `x`.

    `windows` maps dims to window lengths; `stride` is the same lengths by default. Padded positions never win. Ties
    share the gradient. Of images: nn.max_pool(x, {"h": 2, "w": 2}).

    Raises:
        DimensionError: `x` does not have a dim of `windows`, or `stride` or `padding` names another one.
        ArgumentError: a window or a stride is below 1, or a padding is negative.
        SizeError: a window does not fit.
        DTypeError: `x` is complex, or holds bools.

    Example:
    >>> xt.nn.max_pool(xt.array([1.0, 3.0, 9.0, 5.0], "time"), {"time": 2})
    <xtensor.Array (time: 2) float64>
    [3. 9.]
    """
    x = as_tracer(x)
    p.no_bool("nn.max_pool", x, 'Cast them first: x.astype("f4")')
    return _pooled("nn.max_pool", "max", x, windows, stride, padding)


def _avg_pool_plan(x: Any, windows: Any, /, stride: Any = None, *, padding: Any = 0) -> Any:
    return _pool_plan("nn.avg_pool", x, windows, stride, padding)


def _avg_pool_wide(x: ArrayLike, rooms: Sequence[ArrayLike], ways: dict[str, Any], /) -> Array:
    x = p.as_mean(x)
    total = _pool_wide("nn.avg_pool", "sum", p.cast(x, p.accumulator(x.dtype)), rooms, ways)
    return _mean_of(total, (way[0] for way in ways.values()), x.dtype)


def _mean_of(total: Tracer, lengths: Iterable[int], dtype: np.dtype) -> Tracer:
    """The means of windows: 16-bit floats are added up in f4, where their sums are finite."""
    return p.cast(build.binary("div", total, p.constant(float(math.prod(lengths)), total.dtype)), dtype)


@op(name="nn.avg_pool", wide=(_avg_pool_plan, _avg_pool_wide))
def avg_pool(x: ArrayLike, windows: dict[str, int], /, stride: Any = None, *, padding: Any = 0) -> Array:
    """Returns the mean of each window, with the dims of `x`.

    `windows` maps dims to window lengths; `stride` is the same lengths by default. Padded positions count as zeros.

    Raises:
        DimensionError: `x` does not have a dim of `windows`, or `stride` or `padding` names another one.
        ArgumentError: a window or a stride is below 1, or a padding is negative.
        SizeError: a window does not fit.

    Example:
    >>> xt.nn.avg_pool(xt.array([1.0, 3.0, 5.0, 9.0], "time"), {"time": 2})
    <xtensor.Array (time: 2) float64>
    [2. 7.]
    """
    x = p.as_mean(x)
    total = _pooled("nn.avg_pool", "sum", p.cast(x, p.accumulator(x.dtype)), windows, stride, padding)
    return _mean_of(total, windows.values(), x.dtype)


MODES = ("full", "same", "valid")
METHODS = ("auto", "direct", "fft")
# By transforms if the kernel has this many elements, and all products are this many times s log2(s), for transforms of
# size s. Measured by benchmarks/fourier.py.
_LONG, _MANY = 64, 16


def _convolve_plan(x: Any, k: Any, /, dims: Any, mode: Any = "full", method: Any = "auto") -> Any:
    if not isinstance(x, _native.Array) or not isinstance(k, _native.Array) or mode not in MODES:
        return None
    if not isinstance(dims, (list, tuple)) or len(dims) != 2 or method not in ("auto", "direct"):
        return None
    time, kernel = dims
    n, m = x.sizes.get(time, 0), k.sizes.get(kernel, 0)
    if not n or not m or kernel in x.dims or time in k.dims:
        return None
    start, length = _overlap(n, m, mode)
    if not _few_windows(x, {time: length}, [m]):
        return None
    return renamed(x, {time: apart(time)}), k, room(time, length, x._device), kernel, [start]


def _convolve_wide(x: ArrayLike, k: ArrayLike, space: ArrayLike, kernel: str, amounts: list[Any], /) -> Array:
    x, k = p.promote(x, k)
    p.no_bool("signal.convolve", x, 'Cast them first: x.astype("f4")')
    (time,) = as_tracer(space).dims
    order = [time if d == apart(time) else d for d in x.dims]
    y = spans(x, time, kernel, space, size_of(k, kernel), amounts[0], gap=-1, fill=p.zero(x.dtype))
    return contract([y, k], (kernel,), (*order, *(d for d in k.dims if d not in order)))


def _overlap(n: int, m: int, mode: str) -> tuple[int, int]:
    """Which part of the whole result there is: its start and its length."""
    return {"full": (0, n + m - 1), "same": ((m - 1) // 2, n)}.get(mode, (min(n, m) - 1, abs(n - m) + 1))


def _fast_size(least: int) -> int:
    """The smallest even number from `least` on whose factors are 2, 3 and 5."""
    best = 2
    while best < least:
        best *= 2
    by_5 = 2
    while by_5 < best:
        by_3 = by_5
        while by_3 < best:
            found = by_3
            while found < least:
                found *= 2
            best = min(best, found)
            by_3 *= 3
        by_5 *= 5
    return best


def _transform_size(n: int, m: int, start: int, length: int) -> int:
    """Of transforms that give `length` values from `start` on: others may wrap around, and be added up."""
    return _fast_size(max(n, m, n + m - 1 - start, start + length))


def _pays(n: int, m: int, start: int, length: int) -> bool:
    """Whether transforms take less time than products."""
    size = _transform_size(n, m, start, length)
    return min(n, m) >= _LONG and length * min(n, m) >= _MANY * size * math.log2(size)


def _by_fourier(x: Tracer, k: Tracer, dims: tuple[str, str], start: int, length: int) -> Tracer:
    """The product of transforms, transformed back."""
    time, kernel = dims
    size = _transform_size(int(x.sizes[time]), int(k.sizes[kernel]), start, length)
    dtype = x.dtype
    there, back = ("forward", "backward") if p.is_complex(dtype) else ("real", "hermitian")

    def transformed(v: Tracer) -> Tracer:
        v = p.cast(v, p.accumulator(dtype))
        return build.fourier(there, resized("signal.convolve", v, {time: size}), (time,))

    y = build.binary("mul", transformed(x), transformed(build.rename(k, {kernel: time})))
    y = build.fourier(back, y, (time,), 1 / size, size if back == "hermitian" else None)
    return p.cast(build.slice(y, {time: (start, length, 1)}), dtype)


@op(name="signal.convolve", wide=(_convolve_plan, _convolve_wide))
def convolve(x: ArrayLike, k: ArrayLike, /, dims: tuple[str, str], mode: str = "full", method: str = "auto") -> Array:
    """Returns the convolution of `x` along dims[0] with `k` along dims[1].

    The result has the dims of `x`, then the other dims of `k`. Dims with equal names are paired. For sizes n and m, the
    result has size n + m - 1 in mode "full", n in mode "same", and |n - m| + 1 in mode "valid", where one operand
    overlaps the other completely. Modes and methods are those of scipy.signal.convolve: "direct" multiplies and adds,
    "fft" takes Fourier transforms, and "auto" takes what is faster for these sizes. With transforms, errors are
    relative to the largest values, and one NaN makes all values NaN. Integers are always multiplied and added.

    Raises:
        DimensionError: an array lacks its dim of `dims`.
        ArgumentError: `mode` or `method` is another word.

    Example:
    >>> xt.signal.convolve(xt.array([1.0, 2.0, 3.0], "time"), xt.array([1.0, 1.0], "tap"), dims=("time", "tap"))
    <xtensor.Array (time: 4) float64>
    [1. 3. 5. 3.]
    """
    x, k = p.promote(x, k)
    p.no_bool("signal.convolve", x, 'Cast them first: x.astype("f4")')
    if mode not in MODES:
        raise fail(ArgumentError, "signal.convolve", f"mode is one of {MODES}, not {mode!r}", x, k)
    if method not in METHODS:
        raise fail(ArgumentError, "signal.convolve", f"method is one of {METHODS}, not {method!r}", x, k)
    if method == "fft" and not p.is_inexact(x.dtype):
        raise fail(
            DTypeError, "signal.convolve", 'method="fft" takes floats or complex numbers', x, k,
            instead='Cast them, x.astype("f8"), or write method="direct"',
        )  # fmt: skip
    if not isinstance(dims, (list, tuple)) or len(dims) != 2:
        raise fail(DimensionError, "signal.convolve", f"dims are (dim of x, dim of the kernel), not {dims!r}", x, k)
    time, kernel = dims
    if isinstance(time, (list, tuple)) or isinstance(kernel, (list, tuple)):
        raise fail(
            DimensionError, "signal.convolve", f"convolves along one dim; dims are two names, not {dims!r}", x, k,
            instead='Along two, write xt.nn.conv(x, xt.flip(k, ("v", "u")), dims={"y": "v", "x": "u"})',
        )  # fmt: skip
    _not_swapped("signal.convolve", x, k, {time: kernel})
    dims_of("signal.convolve", x, time)
    dims_of("signal.convolve", k, kernel, "the kernel")
    if kernel == time:
        into = fresh((*x.dims, *k.dims), "kernel")
        k, kernel = build.rename(k, {kernel: into}), into
    if kernel in x.dims or time in k.dims:
        raise fail(DimensionError, "signal.convolve", f"{time!r} and {kernel!r} are dims of one operand each", x, k)
    n, m = static_size("signal.convolve", x, time), static_size("signal.convolve", k, kernel)
    if n == 0 or m == 0:
        raise fail(SizeError, "signal.convolve", "nothing to convolve: an operand is empty", x, k)
    start, length = _overlap(n, m, mode)
    if method == "fft" or (method == "auto" and p.is_inexact(x.dtype) and _pays(n, m, start, length)):
        return _by_fourier(x, k, (time, kernel), start, length)
    low = m - 1 - start
    y = _padded("signal.convolve", x, 0, {time: (low, length + m - 1 - n - low)})
    y = build.window(y, time, kernel, m)
    order = (*x.dims, *(d for d in k.dims if d not in x.dims))
    return contract([y, build.reverse(k, (kernel,))], (kernel,), order)
