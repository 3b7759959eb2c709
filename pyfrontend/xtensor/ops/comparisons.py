"""Comparisons of two arrays, element by element."""

from __future__ import annotations

from typing import Any

from ..base.ranges import fits
from ..call.dispatch import op
from ..call.opened import Amount, any_number
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import extend, is_scalar, number, size_of
from .operators import UNION, aligned, named
from .types import ONE_IS_COMPLEX, TWO_SIZES, Array, ArrayLike, Elementwise2, example, raises

_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
# What holds for a number and one below it.
_ABOVE = ("ne", "gt", "ge")


def _compare(name: str, predicate: str, x: ArrayLike, y: ArrayLike) -> Tracer:
    """Python ints compare by their value, also with integers whose dtype does not hold them."""
    x, y = ((v if is_scalar(v) else as_tracer(v)) for v in (x, y))
    if _weak_int(x) and not _weak_int(y):
        x, y, predicate = y, x, _MIRRORED[predicate]
    common = p.result_type(x, y)
    if not _weak_int(y) or not p.is_integer(common):
        if isinstance(x, Tracer) and isinstance(y, Tracer):
            return compared(predicate, *aligned(name, x, y))
        return build.compare(predicate, *aligned(name, p.cast(x, common), p.cast(y, common)))
    known = y.known if isinstance(y, Tracer) else y
    if known is not None and not fits(known, p.U8 if common == p.U8 else p.I8):
        holds = predicate in _ABOVE if known < 0 else _MIRRORED[predicate] in _ABOVE
        x = as_tracer(x)
        return extend(p.constant(holds, p.BOOL), {d: size_of(x, d) for d in x.dims}, x.dims)
    if common != p.U8:
        return build.compare(predicate, p.cast(x, p.I8), p.cast(y, p.I8))
    if known is not None:
        return build.compare(predicate, as_tracer(x), p.cast(known, p.U8))
    return _across_signs(predicate, as_tracer(x), as_tracer(y))


def compared(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """The comparison of two arrays by value, in their common dtype. Where that is a float for two integers (uint64
    beside a signed one), it would make equal what differs: these compare as integers, as in NumPy 2."""
    common = p.result_type(x, y)
    if p.is_float(common) and not p.is_inexact(x.dtype) and not p.is_inexact(y.dtype):
        return _across_signs(predicate, x, y)
    return build.compare(predicate, p.cast(x, common), p.cast(y, common))


def _across_signs(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """Of uint64 and a signed dtype: below 0 the sign decides, else both are uint64."""
    found = build.compare(predicate, build.cast(x, p.U8), build.cast(y, p.U8))
    signed, holds = (x, _MIRRORED[predicate]) if x.dtype.kind == "i" else (y, predicate)
    nought = p.zero(signed.dtype)
    if holds in _ABOVE:
        return build.binary("or", found, build.compare("lt", signed, nought))
    return build.binary("and", found, build.compare("ge", signed, nought))


def _weak_int(x: Any) -> bool:
    if is_scalar(x):
        return isinstance(x, int) and not isinstance(x, bool)
    return x.weak and x.dtype.kind == "i"


def _comparison(name: str, predicate: str, sign: str, gives: str) -> Elementwise2:
    def function(x: ArrayLike, y: ArrayLike, /) -> Array:
        return _compare(name, predicate, x, y)

    errors = (TWO_SIZES,) if predicate in ("eq", "ne") else (TWO_SIZES, ONE_IS_COMPLEX)
    shown = raises(*errors) + example(name, "[1, 2, 3]", gives, "bool", y="2")
    return named(function, name, f"Compares x {sign} y and returns bools. {UNION}", shown)


equal = _comparison("equal", "eq", "==", "[False  True False]")
not_equal = _comparison("not_equal", "ne", "!=", "[ True False  True]")
less = _comparison("less", "lt", "<", "[ True False False]")
less_equal = _comparison("less_equal", "le", "<=", "[ True  True False]")
greater = _comparison("greater", "gt", ">", "[False False  True]")
greater_equal = _comparison("greater_equal", "ge", ">=", "[False  True  True]")


@op(amounts={"rtol": any_number, "atol": any_number}, joins=True)
def isclose(x: ArrayLike, y: ArrayLike, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Tells whether |x - y| <= atol + rtol * |y|: bools with the union of the dims.

    Equal infinities are close. NaN is close to NaN only with `equal_nan=True`.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> xt.isclose(xt.array([1.0, 1.1], "a"), 1.0 + 1e-9)
    <xtensor.Array (a: 2) bool>
    [ True False]
    """
    x, y = (as_tracer(v) for v in (x, y))
    common = p.mean_dtype(p.result_type(x, y), x.weak and y.weak)
    x, y = aligned("isclose", p.cast(x, common), p.cast(y, common))
    rtol, atol = (
        v if isinstance(v, Amount) else number("isclose", v, what) for v, what in ((rtol, "rtol"), (atol, "atol"))
    )
    size = build.unary("abs", y)
    bound = build.binary("add", p.amount(atol, size.dtype), build.binary("mul", p.amount(rtol, size.dtype), size))
    near = build.compare("le", build.unary("abs", build.binary("sub", x, y)), bound)
    near = build.binary("and", near, build.unary("isfinite", y))
    near = build.binary("or", near, build.compare("eq", x, y))
    if equal_nan:
        both = build.binary("and", build.unary("isnan", x), build.unary("isnan", y))
        near = build.binary("or", near, both)
    return near
