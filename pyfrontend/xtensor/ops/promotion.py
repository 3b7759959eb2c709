"""Result dtypes: NumPy 2's promotion with weak Python scalars, and the float that each dtype computes in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.calls import int_text
from ..base.dtypes import bfloat16
from ..base.dtypes import complex_of as complex_of
from ..base.dtypes import is_complex as is_complex
from ..base.dtypes import is_float as is_float
from ..base.dtypes import is_inexact as is_inexact
from ..base.dtypes import is_integer as is_integer
from ..base.dtypes import real_of as real_of
from ..base.errors import ArgumentError, DTypeError
from ..base.ranges import does_not_fit, fits, for_large
from ..call.opened import Amount
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import current, local
from ..trace.tracer import Tracer
from ..values import options
from .arguments import fail, is_scalar

BOOL = np.dtype(bool)
I1, I4, I8, U8 = np.dtype("i1"), np.dtype("i4"), np.dtype("i8"), np.dtype("u8")
F2, F4, F8 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")


def _weak_kind(x: Any) -> type | None:
    if is_scalar(x):
        return type(x)
    if isinstance(x, Tracer) and x.weak:
        return {"b": bool, "i": int, "u": int, "c": complex}.get(x.dtype.kind, float)
    return None


def result_type(*xs: Any) -> np.dtype:
    """The dtype that arrays, scalars and dtypes promote to."""
    strong: list[np.dtype] = []
    weak: list[type] = []
    for x in xs:
        kind = _weak_kind(x)
        if kind is not None:
            weak.append(kind)
        else:
            strong.append(x if isinstance(x, np.dtype) else x.dtype)
    if not strong:
        if complex in weak:
            return complex_of(weak_float())
        return weak_float() if float in weak else I8 if int in weak else BOOL
    common = strong[0]
    for dtype in strong[1:]:
        common = _pair(common, dtype)
    if complex in weak:
        return complex_of(common if is_inexact(common) else F4 if weak_float() == F4 else default_float())
    if float in weak and not is_inexact(common):
        return F4 if weak_float() == F4 else default_float()
    return I8 if int in weak and common == BOOL else common


def check_width(xs: Sequence[Any], dtype: np.dtype) -> None:
    """Refuses float64 that comes from smaller floats beside other arrays, under `xt.option(strict=True)`."""
    if real_of(dtype) != F8 or not options.current().strict:
        return
    strong = [x for x in xs if _weak_kind(x) is None]
    small = [x for x in strong if is_inexact(x.dtype) and real_of(x.dtype) != F8]
    if not small:
        return
    narrow = small[0].dtype.name
    wide = max((x.dtype for x in strong), key=lambda d: (real_of(d) == F8, not is_inexact(d), d.itemsize)).name
    raise fail(
        DTypeError, local.op, f"{narrow} and {wide} give {dtype.name}, which xt.option(strict=True) forbids", *xs,
        instead=f'Write .astype("{narrow}") on the {wide} one, or .astype("{dtype.name}") on the {narrow} one',
    )  # fmt: skip


def weak_float() -> np.dtype:
    """The dtype of Python floats among themselves: f8, f4 on a device that has no f8."""
    return current().root.weak_float


def default_float() -> np.dtype:
    """The dtype of new floats where nothing else decides it."""
    return options.current().default_float


def _pair(a: np.dtype, b: np.dtype) -> np.dtype:
    """NumPy's promotion; bfloat16 counts as a float of 16 bits with few digits."""
    if a == b or bfloat16 not in (a, b):
        return np.promote_types(a, b)
    other = b if a == bfloat16 else a
    if is_complex(other):
        return other
    if other.itemsize == 1:
        return bfloat16
    return F4 if other == F2 else np.promote_types(F2, other)


def cast(x: Any, dtype: np.dtype) -> Tracer:
    """`x` as an array of `dtype`; Python scalars become constants of it, and ArgumentError says if one does not fit."""
    if isinstance(x, Tracer) and x.known is not None:
        x = x.known
    if isinstance(x, complex) and not is_complex(dtype):
        return build.cast(as_tracer(x), dtype)  # which refuses
    if is_scalar(x):
        if is_integer(dtype) and not fits(x, dtype):
            raise does_not_fit(x, dtype)
        try:
            with np.errstate(over="ignore"):
                return build.constant(np.asarray(x, dtype))
        except OverflowError:  # of an int beyond float64; what is beyond smaller floats is infinite
            told = f"the int {int_text(int(x))} is larger than {dtype.name} holds. {for_large(int(x))}"
            raise ArgumentError(told) from None
    return build.meet(as_tracer(x), dtype)


def _cast_all(read: Sequence[Any], dtype: np.dtype) -> list[Tracer]:
    check_width(read, dtype)
    return [cast(x, dtype) for x in read]


def promote(*xs: Any) -> list[Tracer]:
    """The arrays cast to their common dtype."""
    read = [x if is_scalar(x) else as_tracer(x) for x in xs]
    return _cast_all(read, result_type(*read))


def promote_numbers(*xs: Any) -> list[Tracer]:
    """As `promote`, for arithmetic: bools that stand for Python's are ints among themselves, as they are in Python."""
    read = [x if is_scalar(x) else as_tracer(x) for x in xs]
    if all(_weak_kind(x) is bool for x in read):
        return [cast(x, I8) for x in read]
    return promote(*read)


def float_dtype(dtype: np.dtype) -> np.dtype:
    """The float NumPy's sqrt, exp .. give for `dtype` (i1 -> f2, i2 -> f4, i8 -> f8), or `of_integers`."""
    if is_inexact(dtype):
        return dtype
    by_size: dict[int, np.dtype] = {1: F2, 2: F4}
    return of_integers(by_size.get(dtype.itemsize, F8))


def of_integers(wide: np.dtype) -> np.dtype:
    """A float that integers become, but nothing wider than `xt.option(default_float=)`."""
    default = default_float()
    return default if default.itemsize < wide.itemsize else wide


def as_float(x: Any) -> Tracer:
    """`x` in the float dtype of elementwise functions."""
    x = as_tracer(x)
    weak = complex_of(weak_float()) if is_complex(x.dtype) else weak_float()
    return cast(x, weak if x.weak else float_dtype(x.dtype))


def promote_float(*xs: Any) -> list[Tracer]:
    """The arrays cast to the float NumPy computes in: the least that each of them fits (u1 and i1 -> f2)."""
    read = [x if is_scalar(x) else as_tracer(x) for x in xs]
    return _cast_all(read, float_of(*read))


def promote_mean(*xs: Any) -> list[Tracer]:
    """The arrays cast to the dtype of a mean of their common dtype: a Python int need fit the float only."""
    read = [x if is_scalar(x) else as_tracer(x) for x in xs]
    return _cast_all(read, mean_dtype(result_type(*read), weak=all(_weak_kind(x) is not None for x in read)))


def float_of(*xs: Any) -> np.dtype:
    """The float that arrays and scalars compute in together. A loop of NumPy takes operands that cast to its dtype
    safely, so the operands' own floats promote, not their common integer."""
    dtypes = [x.dtype for x in xs if _weak_kind(x) is None]
    common = result_type(*xs)
    if not dtypes:
        return common if is_complex(common) else weak_float()
    if bfloat16 in dtypes or any(_weak_kind(x) is not None for x in xs):
        # A Python number may widen them: bool to i8, integers to f8.
        return float_dtype(common)
    return result_type(*map(float_dtype, dtypes))


def mean_dtype(dtype: np.dtype, weak: bool = False) -> np.dtype:
    """The dtype of a mean: floats stay, everything else is f8, or `of_integers`. `weak`: of Python numbers."""
    if is_inexact(dtype):
        return dtype
    return weak_float() if weak else of_integers(F8)


def as_mean(x: Any) -> Tracer:
    """`x` in the dtype of its mean."""
    x = as_tracer(x)
    return cast(x, mean_dtype(x.dtype, x.weak))


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of a sum: integers and bools widen to 64 bits."""
    if dtype.kind == "u":
        return U8
    return I8 if dtype == BOOL or dtype.kind == "i" else dtype


def accumulator(dtype: np.dtype) -> np.dtype:
    """The dtype to add up in: 16-bit floats add up in f4."""
    return F4 if dtype in (F2, bfloat16) else dtype


def where(condition: Tracer, x: Tracer | float, y: Tracer | float, dtype: np.dtype) -> Tracer:
    """`x` where the condition holds, else `y`, both as `dtype`."""
    return build.select(condition, cast(x, dtype), cast(y, dtype))


def less(x: Tracer, y: Tracer | float) -> Tracer:
    return build.compare("lt", x, cast(y, x.dtype))


def rounded_once(function: Callable[..., Tracer], *xs: Tracer) -> Tracer:
    """`function`, made of several ops, of floats of one dtype: those of 16 bits are computed in f4 and rounded at the
    end, as single ops are, and not after each op. Complex arrays are refused."""
    only_real(local.op, *xs)
    dtype = xs[0].dtype
    return cast(function(*(cast(x, accumulator(dtype)) for x in xs)), dtype)


def as_bool(x: Any) -> Tracer:
    """Whether each element differs from zero (NaN does)."""
    x = as_tracer(x)
    return x if x.dtype == BOOL else build.compare("ne", x, zero(x.dtype))


def zero(dtype: np.dtype) -> Tracer:
    """A 0 of `dtype` without dims."""
    return constant(0, dtype)


def constant(value: Any, dtype: np.dtype) -> Tracer:
    """A constant of `dtype` without dims."""
    return build.constant(np.asarray(value, dtype))


def amount(value: Any, dtype: np.dtype) -> Tracer:
    """A constant, or the argument that stands for one."""
    return build.cast(value.number, dtype) if isinstance(value, Amount) else constant(value, dtype)


def no_bool(op: str, x: Tracer, instead: str) -> Tracer:
    """`x`, which must not be bool."""
    if x.dtype == BOOL:
        raise fail(DTypeError, op, "is not defined for bool", x, instead=instead)
    return x


def size_squared(x: Tracer) -> Tracer:
    """|x|^2, which is real."""
    if not is_complex(x.dtype):
        return build.binary("mul", x, x)
    parts = build.real(x), build.imag(x)
    return build.binary("add", *(build.binary("mul", v, v) for v in parts))


def only_real(op: str, *xs: Tracer) -> None:
    """Refuses complex arrays."""
    if any(is_complex(x.dtype) for x in xs):
        instead = "Take a real number of each: xt.abs(z), z.real or z.imag"
        raise fail(DTypeError, op, "is defined for real numbers alone", *xs, instead=instead)


def only_integer(op: str, *xs: Tracer) -> None:
    """Checks that all are integers or bools."""
    for x in xs:
        if is_inexact(x.dtype):
            symbol = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}.get(op)
            instead = f"Python reads {symbol} before comparisons: write (x > 0) {symbol} (y > 0)" if symbol else ""
            raise fail(DTypeError, op, f"needs integers or bools, not {x.dtype}", *xs, instead=instead)
