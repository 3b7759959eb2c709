"""Arrays that are made from sizes and numbers: zeros, ones, full and their *_like, arange, linspace, eye,
one_hot.

Sizes are given by keyword or, for dims of any name, as a dict: zeros(time=3, space=4) or zeros({"time": 3}).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _native
from ..base.calls import GRAD_SENTENCE, in_words, int_text
from ..base.dims import brief, check_name
from ..base.dtypes import as_dtype, complex_of
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, MemoryError_
from ..base.ranges import does_not_fit, fits, for_large
from ..call.dispatch import op, tracing
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import part_of
from ..trace.tracer import DynamicSize, Tracer
from ..values.array import from_values
from ..values.options import current
from . import promotion as p
from .arguments import by_dim, count, extend, fail, integer, is_scalar, names_of, not_static, paired_sizes
from .shape import check_bytes, check_size, shape_sizes
from .types import Array, ArrayLike

SMALL = 16
_FEW = 4096
_EXACT = {float: p.F8, int: p.I8}  # what holds the numbers of a class
MOST_DIMS = 64  # as pyfrontend/native/Type.cpp has it


def sizes_of(name: str, sizes: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    found = by_dim(name, sizes, keywords, "sizes")
    for d, size in found.items():
        check_name(d)
        if d == "device" and isinstance(size, str):
            instead = f"Every keyword is a dim: write xt.{name}(..).to({size!r}), or with xt.option(device={size!r}):"
            raise fail(
                ArgumentTypeError, name, f"has no device=, and a dim's size is an int, not {size!r}", instead=instead
            )
        if d == "requires_grad" and isinstance(size, bool):
            raise fail(ArgumentTypeError, name, "every keyword is a dim", instead=GRAD_SENTENCE)
        if isinstance(size, (tuple, list)):
            written = f"xt.{name}(row=3, col=4)" if not name.startswith("random.") else f"xt.{name}(key, row=3, col=4)"
            raise fail(
                ArgumentTypeError, name, f"every keyword is a dim, and {d}={brief(size)} is not one size",
                instead=f"Sizes have names: write {written}",
            )  # fmt: skip
        check_size(name, d, size)
        if not isinstance(size, (int, Tracer, DynamicSize)):
            found[d] = operator.index(size)  # a NumPy integer, or an array of one integer
    if len(found) > MOST_DIMS:
        raise fail(DimensionError, name, f"{len(found)} dims; an array has {MOST_DIMS} at most")
    return found


def _filled(name: str, sizes: dict[str, Any], value: Any, dtype: np.dtype) -> Any:
    """An array of one value, a traced one where a trace is active."""
    check_bytes(name, sizes, dtype)
    traced = isinstance(value, Tracer) or any(not isinstance(s, int) for s in sizes.values())
    if isinstance(value, complex) and not p.is_complex(dtype):
        raise fail(
            DTypeError, name, f"{value!r} as {dtype.name} would drop the imaginary part",
            instead=f"Give a real number, or dtype={complex_of(dtype).name!r}",
        )  # fmt: skip
    if is_scalar(value) and p.is_integer(dtype) and not fits(value, dtype):
        raise does_not_fit(value, dtype, "Give a dtype= that holds it")
    if not traced and not tracing():
        return _concrete(_made(name, np.full, tuple(sizes.values()), value, dtype), tuple(sizes))
    with part_of(name):
        return extend(p.cast(value, dtype), traced_sizes(sizes), tuple(sizes))


def _or_default(dtype: Any, of: np.dtype = p.F8) -> np.dtype:
    """The dtype that is asked for, else that of Python numbers: floats as `xt.option(default_float=)` says."""
    if dtype is not None:
        return as_dtype(dtype)
    if p.is_complex(of):
        return complex_of(p.default_float())
    return p.default_float() if p.is_float(of) else of


def traced_sizes(sizes: Mapping[str, Any]) -> dict[str, Any]:
    return {d: build.size(s.tracer, s.dim) if isinstance(s, DynamicSize) else s for d, s in sizes.items()}


def _float(name: str, value: Any) -> Any:
    """An int as a float, which has no bounds that an array's dtype would have."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) < 2**53:
        return value
    try:
        return float(value)
    except OverflowError:
        raise fail(ArgumentError, name, "a number is larger than any float") from None


def _counted(name: str, count: float, dim: str) -> None:
    """That an array of `count` numbers along `dim` can be."""
    if count > 0:
        check_size(name, dim, math.ceil(min(count, 2.0**64)))
        check_bytes(name, {dim: math.ceil(count)}, p.F8)


def _made(name: str, make: Callable[..., Any], *args: Any, **keywords: Any) -> np.ndarray:
    """What NumPy makes. Where it has no memory, that is an error of ours."""
    try:
        return make(*args, **keywords)
    except OverflowError:
        raise fail(ArgumentError, name, "a number is larger than any float") from None
    except ValueError as error:  # "Maximum allowed size exceeded"
        raise fail(ArgumentError, name, str(error).lower(), instead="Make fewer elements") from None
    except MemoryError as error:
        what = str(error).partition("for an array")[0].replace("Unable to allocate ", "") or "the array"
        raise fail(MemoryError_, name, f"no memory for {what.strip()}", instead="Make fewer elements") from None


def _concrete(values: np.ndarray, dims: tuple[str, ...]) -> Any:
    return from_values(values, dims=dims)


def _small(sizes: Any, keywords: dict[str, Any], value: Any, dtype: Any, of: np.dtype = p.F8) -> Any:
    """What C++ makes at once. None: the array is large or traced, or something is wrong. `of`: as `_or_default`."""
    if tracing() or current().device is not None or (sizes is not None and keywords):
        return None
    try:
        wanted = _or_default(dtype, of)
    except DTypeError:
        return None
    return _native.filled(keywords if sizes is None else sizes, value, wanted)


def zeros(sizes: Mapping[str, int] | None = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns zeros with the given dims and sizes: zeros(time=3, space=4, dtype="f4") or zeros({"time": 3}).

    The dtype is f8 by default, or `xt.option(default_float=)`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.zeros(time=2, space=3)
    <xtensor.Array (time: 2, space: 3) float64>
    [[0. 0. 0.]
     [0. 0. 0.]]
    """
    found = _small(sizes, keywords, 0, dtype)
    if found is not None:
        return found
    return _filled("zeros", sizes_of("zeros", sizes, keywords), 0, _or_default(dtype))


def ones(sizes: Mapping[str, int] | None = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns ones with the given dims and sizes: ones(time=3, space=4, dtype="f4") or ones({"time": 3}).

    The dtype is f8 by default, or `xt.option(default_float=)`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.ones(time=3, dtype="f4")
    <xtensor.Array (time: 3) float32>
    [1. 1. 1.]
    """
    found = _small(sizes, keywords, 1, dtype)
    if found is not None:
        return found
    return _filled("ones", sizes_of("ones", sizes, keywords), 1, _or_default(dtype))


def full(*sizes_and_value: Any, dtype: Any = None, **keywords: int) -> Array:
    """Returns an array with one value everywhere: full(7.0, time=3) or full({"time": 3}, 7.0).

    The value has no dims (DimensionError). Without `dtype`, the array has the dtype of the value.

    Raises:
        SizeError: a size is negative.
        DimensionError: the value has dims.
        DTypeError: `dtype` is not a dtype of arrays.
        ArgumentError: there is no value.

    Example:
    >>> xt.full(7.0, time=3)
    <xtensor.Array (time: 3) float64>
    [7. 7. 7.]
    """
    if len(sizes_and_value) == 2:
        sizes, value = sizes_and_value
    elif len(sizes_and_value) == 1 and not isinstance(sizes_and_value[0], Mapping):
        sizes, (value,) = None, sizes_and_value
    else:
        raise fail(ArgumentError, "full", "takes sizes and a value", instead='Write xt.full({"a": 2}, 7.0)')
    of = _EXACT.get(type(value))
    if of is not None and dtype is None and p.default_float() == p.F8:
        found = _small(sizes, keywords, value, dtype, of)
        if found is not None:
            return found
    return _fill("full", sizes_of("full", sizes, keywords), value, dtype)


def _fill(name: str, sizes: dict[str, Any], value: Any, dtype: Any) -> Any:
    """One value everywhere, in `dtype` or in its own."""
    rank = len(value.dims) if hasattr(value, "dims") else np.ndim(value)
    if rank:
        raise fail(DimensionError, name, f"the value has {rank} dims", value, instead="Write x.broadcast_like(y)")
    if is_scalar(value) or isinstance(value, np.generic):
        if dtype is None and isinstance(value, int) and not -(2**63) <= value < 2**64:
            text = f"the int {int_text(value)} does not fit into 64 bits"
            raise fail(ArgumentError, name, text, instead=f"{for_large(value)}, or give a dtype=")
        own = np.asarray(value).dtype
        found = _or_default(dtype, own) if is_scalar(value) or dtype is not None else own
        return _filled(name, sizes, value, found)
    if not tracing() and not isinstance(value, Tracer) and all(isinstance(s, int) for s in sizes.values()):
        number = np.asarray(getattr(value, "values", value))[()]
        if not isinstance(number, np.generic):
            raise fail(ArgumentTypeError, name, f"the value is a number, not {in_words(number)}")
        return _fill(name, sizes, number, dtype)
    return _spread(value, sizes, dtype)


@op(name="full", decide=())
def _spread(value: ArrayLike, sizes: dict[str, Any], dtype: Any = None, /) -> Array:
    value = as_tracer(value)
    wanted = _or_default(dtype, value.dtype) if value.weak or dtype is not None else value.dtype
    return extend(p.cast(value, wanted), traced_sizes(sizes), tuple(sizes))


@op(name="full_like")
def _like(x: ArrayLike, value: ArrayLike, dtype: Any = None, /) -> Array:
    x = as_tracer(x)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    if not is_scalar(value) and as_tracer(value).dims:
        raise fail(DimensionError, "full_like", "the value has dims", as_tracer(value),
                   instead="Write value.broadcast_like(x)")  # fmt: skip
    return build.labelled(extend(p.cast(value, wanted), shape_sizes(x), x.dims), x)


def zeros_like(x: ArrayLike, /, dtype: Any = None) -> Array:
    """Returns zeros with the dims and sizes of `x`, and its dtype unless `dtype` is given.

    Raises:
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.zeros_like(xt.array([4, 5], "time"))
    <xtensor.Array (time: 2) int64>
    [0 0]
    """
    return _like(x, 0, dtype)


def ones_like(x: ArrayLike, /, dtype: Any = None) -> Array:
    """Returns ones with the dims and sizes of `x`, and its dtype unless `dtype` is given.

    Raises:
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.ones_like(xt.array([4, 5], "time"))
    <xtensor.Array (time: 2) int64>
    [1 1]
    """
    return _like(x, 1, dtype)


def full_like(x: ArrayLike, value: ArrayLike, /, dtype: Any = None) -> Array:
    """Returns `value` everywhere, with the dims and sizes of `x`, and its dtype unless `dtype` is given.

    Raises:
        DimensionError: `value` has dims.
        DTypeError: `dtype` is not a dtype of arrays, or it is real and `value` complex.

    Example:
    >>> xt.full_like(xt.zeros(time=2), 7.0)
    <xtensor.Array (time: 2) float64>
    [7. 7.]
    """
    return _like(x, value, dtype)


# ---- ranges -----------------------------------------------------------------


def _are_plain(*numbers: Any) -> bool:
    """Whether NumPy makes of these numbers of Python, without a dtype, what an array of a call gets."""
    for v in numbers:
        if not (type(v) is int or type(v) is float) or not -(2**53) < v < 2**53:  # no NaN
            return False
    options = current()
    return not tracing() and options.device is None and options.default_float == p.F8


def _few(start: Any, stop: Any, step: Any, dim: str) -> Any:
    """A short range; None: it is not, or something may be wrong."""
    if not _are_plain(start, stop, step) or not step or abs(stop - start) > abs(step) * _FEW:
        return None
    return _native.from_buffer(np.arange(start, stop, step), (check_name(dim),))


def _few_between(start: Any, stop: Any, n: Any, dim: str, endpoint: Any) -> Any:
    """The same of `linspace`, by the formula of numpy.linspace, which takes as long as the rest of the call."""
    if type(n) is not int or not 1 < n < _FEW or not _are_plain(start, stop):
        return None
    step = (float(stop) - float(start)) / (n - 1 if endpoint else n)
    if not step:
        return None
    values = np.arange(n, dtype=p.F8)
    values *= step
    values += start
    if endpoint:
        values[-1] = stop
    return _native.from_buffer(values, (check_name(dim),))


def arange(start: float, stop: float | None = None, step: float = 1, /, *, dim: str = "i", dtype: Any = None) -> Array:
    """Returns the numbers start, start + step, .. below `stop`, along the one dim `dim`.

    One number counts from 0: arange(5, dim="time") is 0 to 4. The bounds are known while tracing, except that
    arange(x.sizes["time"]) takes a dynamic size.

    Raises:
        ArgumentError: `step` is 0, or a bound is not finite.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.arange(2, 8, 3, dim="time")
    <xtensor.Array (time: 2) int64>
    [2 5]
    """
    if stop is None:
        start, stop = 0, start
    if dtype is None and (found := _few(start, stop, step, dim)) is not None:
        return found
    if isinstance(stop, DynamicSize) and isinstance(start, int) and isinstance(step, int) and (start, step) == (0, 1):
        return _counting(stop, check_name(dim), dtype)
    for v in (start, stop, step):
        if isinstance(v, (Tracer, DynamicSize)):
            raise not_static("arange", v, "an end or a step")
        if isinstance(v, str):
            raise fail(ArgumentTypeError, "arange", f"start, stop and step are numbers. Write dim={v!r}")
        if not isinstance(v, (int, float, np.integer, np.floating)) or isinstance(v, bool):
            raise fail(ArgumentTypeError, "arange", f"start, stop and step are numbers, not {v!r}")
    if any(isinstance(v, (float, np.floating)) and not np.isfinite(v) for v in (start, stop, step)):
        raise fail(
            ArgumentError, "arange", f"start, stop and step are {start}, {stop} and {step}",
            instead="Write finite numbers",
        )  # fmt: skip
    if step == 0:
        raise fail(ArgumentError, "arange", "step is 0, and never gets to stop", instead="Give another step")
    check_name(dim)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted == p.BOOL:
        raise fail(DTypeError, "arange", "is not defined for bool")
    try:
        _counted("arange", (stop - start) / step, dim)
    except OverflowError:
        raise fail(ArgumentError, "arange", "a number is larger than any float") from None
    size = max(math.ceil((stop - start) / step), 0)
    end = stop
    if tracing() and size > SMALL:  # the first values say what all are
        end = start + 3 * step
        end = type(stop)(end) if isinstance(stop, (float, np.generic)) else end
    values = _made("arange", np.arange, start, end, step)
    if len(values) < min(size, 2):  # a step that vanishes beside the start
        values = _made("arange", np.arange, start, stop, step)
    if wanted is None:
        python = not any(isinstance(v, np.floating) for v in (start, stop, step))
        wanted = _or_default(None, values.dtype) if python else values.dtype
    if not tracing():
        return _concrete(values.astype(wanted), (dim,))
    with part_of("arange"):
        if size <= SMALL:
            return build.constant(values.astype(wanted), (dim,))
        return p.cast(_steps(values, size, dim), wanted)


def _counting(size: DynamicSize, dim: str, dtype: Any) -> Tracer:
    wanted = p.I8 if dtype is None else as_dtype(dtype)
    if wanted == p.BOOL:
        raise fail(DTypeError, "arange", "is not defined for bool")
    with part_of("arange"):
        return p.cast(build.iota(dim, size), wanted)


def _steps(values: np.ndarray, size: int, dim: str) -> Tracer:
    """`size` values computed as NumPy does: the first plus multiples of the first step. `values`: two or more."""
    kind = values.dtype if p.is_float(values.dtype) else p.I8
    positions = p.cast(build.iota(dim, size, p.I8), kind)
    first, delta = values[0], values[1] - values[0]
    if delta != 1:
        positions = build.binary("mul", positions, p.constant(delta, kind))
    return build.binary("add", positions, p.constant(first, kind)) if first else positions


def linspace(
    start: ArrayLike, stop: ArrayLike, n: int = 50, /, *, dim: str = "i", endpoint: bool = True, dtype: Any = None
) -> Array:
    """Returns `n` evenly spaced values from `start` to `stop`, along the new first dim `dim`.

    `stop` is the last value, unless `endpoint=False`. `start` and `stop` are numbers or arrays. If they are arrays,
    their dims follow `dim`.

    Raises:
        ArgumentError: `n` is negative.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.linspace(0.0, 1.0, 3, dim="time")
    <xtensor.Array (time: 3) float64>
    [0.  0.5 1. ]
    """
    if dtype is None and (found := _few_between(start, stop, n, dim, endpoint)) is not None:
        return found
    count = integer("linspace", n, "the number of values", wide=True)
    if count < 0:
        raise fail(ArgumentError, "linspace", f"the number of values is 0 or more, not {n}")
    check_name(dim)
    _counted("linspace", count, dim)
    start, stop = (_float("linspace", v) for v in (start, stop))
    if is_scalar(start) and is_scalar(stop) and (not tracing() or count <= SMALL):
        wanted = _or_default(dtype, np.result_type(p.F8, type(start), type(stop)))
        if isinstance(start + stop, complex) and not p.is_complex(wanted):
            raise fail(DTypeError, "linspace", f"numbers from {start!r} to {stop!r} are not {wanted.name}")
        values = np.asarray(_made("linspace", np.linspace, start, stop, count, endpoint=endpoint, dtype=wanted))
        if not tracing():
            return _concrete(values, (dim,))
        with part_of("linspace"):
            return build.constant(values, (dim,))
    return _linspace(start, stop, count, dim, endpoint, dtype)


@op
def _linspace(start: ArrayLike, stop: ArrayLike, n: int, dim: str, endpoint: bool, dtype: Any, /) -> Array:
    lo, hi = p.promote_mean(start, stop)
    paired_sizes("linspace", (lo, hi))
    given = [x for x in (start, stop) if not is_scalar(x) and not as_tracer(x).weak]
    wanted = _or_default(dtype, lo.dtype) if dtype is not None or not given else lo.dtype
    positions = build.iota(dim, n, p.I8)
    span = max(n - 1 if endpoint else n, 1)
    step = build.binary("div", build.binary("sub", hi, lo), p.constant(span, lo.dtype))
    y = build.binary("add", build.binary("mul", p.cast(positions, lo.dtype), step), lo)
    if endpoint and n > 1:
        y = build.select(build.compare("eq", positions, p.constant(n - 1, p.I8)), hi, y)
    if p.is_integer(wanted):
        y = build.unary("floor", y)
    return p.cast(y, wanted)


def eye(
    n: int | None = None,
    m: int | None = None,
    /,
    *,
    dims: tuple[str, str] = ("row", "col"),
    dtype: Any = None,
    **sizes_by_name: int,
) -> Array:
    """Returns 1 where both positions are equal, else 0: eye(3) has dims (row, col) and sizes 3 and 3.

    `m` is the second size, by default `n`. Other names: eye(3, dims=("a", "b")) or eye(a=3, b=4). The dtype is f8 by
    default.

    Raises:
        SizeError: a size is negative.
        DimensionError: `dims` is not a pair of names.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.eye(2, dims=("space", "axis"))
    <xtensor.Array (space: 2, axis: 2) float64>
    [[1. 0.]
     [0. 1.]]
    """
    if n is None:
        if len(sizes_by_name) != 2:
            raise fail(
                ArgumentTypeError, "eye", f"takes a size, or two by name, not {sizes_by_name or 'none'}",
                instead='Write xt.eye(3), xt.eye(3, dims=("a", "b")) or xt.eye(a=3, b=3)',
            )  # fmt: skip
        dims, (n, m) = tuple(sizes_by_name), sizes_by_name.values()  # type: ignore[assignment]
    elif sizes_by_name:
        raise fail(
            ArgumentTypeError, "eye", "sizes come by position or by name, not as both",
            instead='Write xt.eye(3, dims=("a", "b")) or xt.eye(a=3, b=3)',
        )  # fmt: skip
    names = names_of("eye", dims)
    if len(names) != 2 or isinstance(dims, str):
        raise fail(DimensionError, "eye", f"takes two dims, not {dims!r}", instead='Write dims=("row", "col")')
    sizes = sizes_of("eye", {names[0]: n, names[1]: n if m is None else m}, {})
    wanted = _or_default(dtype)
    check_bytes("eye", sizes, wanted)
    if not tracing():
        return _concrete(_made("eye", np.eye, *sizes.values(), dtype=wanted), names)
    with part_of("eye"):
        row, col = (build.iota(d, s, p.I8) for d, s in sizes.items())
        return p.cast(build.compare("eq", row, col), wanted)


__all__ = [
    "arange", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


@op(sizes=("n",))
def one_hot(i: ArrayLike, n: int, /, dim: str = "class", dtype: Any = None) -> Array:
    """Returns 1 where the position along the new last dim `dim` of size `n` equals `i`, else 0.

    A position out of range gives 0 everywhere. The dtype is f8 by default.

    Raises:
        ArgumentTypeError: `i` does not hold integers.
        DimensionError: `i` has `dim` already.
        ArgumentError: `n` is negative.
        DTypeError: `dtype` is not a dtype of arrays.

    Example:
    >>> xt.one_hot(xt.array([2, 0], "sample"), 3)
    <xtensor.Array (sample: 2, class: 3) float64>
    [[0. 0. 1.]
     [1. 0. 0.]]
    """
    i = as_tracer(i)
    if not p.is_integer(i.dtype):
        raise fail(
            ArgumentTypeError, "one_hot", f"positions are integers, not {i.dtype}", i, instead='Write x.astype("i8")'
        )
    check_name(dim)
    if dim in i.dims:
        raise fail(DimensionError, "one_hot", f"the array has dim {dim!r} already", i, instead="Give another dim=")
    size = count("one_hot", n, "n")
    hit = build.compare("eq", p.cast(i, p.I8), build.iota(dim, size, p.I8))
    return p.cast(hit, p.default_float() if dtype is None else as_dtype(dtype))
