"""Functions of two or more arrays, element by element, and the operators of arrays.

Operands align by name. The result has the union of the dims in order of first appearance; equal
names must have equal sizes. dtypes promote as in NumPy 2, Python scalars being weak.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.calls import counted
from ..base.dims import brief
from ..base.dtypes import bfloat16, complex_of, finfo, real_of
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError
from ..call.dispatch import op
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import extend, fail, is_scalar, paired_sizes, reorder, size_of, union_sizes
from .types import ONE_IS_COMPLEX, TWO_SIZES, Array, ArrayLike, Elementwise2, example, raises


def aligned(name: str, *xs: Tracer) -> tuple[Tracer, ...]:
    """Returns the operands, after a check that sizes agree and that the result is not a forbidden outer product."""
    paired_sizes(name, xs)
    return xs


def _real(name: str, *xs: Tracer) -> tuple[Tracer, ...]:
    """The operands of a function of real numbers, checked as `aligned` does."""
    p.only_real(name, *xs)
    return aligned(name, *xs)


def _binary(name: str, kind: str, x: Tracer, y: Tracer) -> Tracer:
    return build.binary(kind, *aligned(name, x, y))


def _no_bool(xs: Sequence[Tracer]) -> list[Tracer]:
    """The operands, bool as i1 (NumPy has no bool loop for these)."""
    return [build.cast(x, p.I1) if x.dtype == p.BOOL else x for x in xs]


def named(function: Elementwise2, name: str, doc: str, shown: str) -> Elementwise2:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc + shown
    return op(joins=True)(function)


UNION = "The result has the union of the dims."


# ---- arithmetic -------------------------------------------------------------


@op(joins=True)
def add(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x + y, or `x or y` for bools. The result has the union of the dims. Python's bools are ints.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> xt.add(xt.array([1, 2], "a"), xt.array([10, 20], "b"))
    <xtensor.Array (a: 2, b: 2) int64>
    [[11 21]
     [12 22]]
    """
    x, y = p.promote_numbers(x, y)
    return _binary("add", "or" if x.dtype == p.BOOL else "add", x, y)


@op(joins=True)
def subtract(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x - y. The result has the union of the dims.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: both arrays hold bools.

    Example:
    >>> xt.subtract(xt.array([1, 2], "a"), 1)
    <xtensor.Array (a: 2) int64>
    [0 1]
    """
    x, y = p.promote_numbers(x, y)
    if x.dtype == p.BOOL:
        raise fail(
            DTypeError, "subtract", "both operands hold bools", x, y,
            instead='Write x ^ y, or x.astype("i8") - y for numbers',
        )  # fmt: skip
    return _binary("subtract", "sub", x, y)


@op(joins=True)
def multiply(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x * y, or `x and y` for bools. The result has the union of the dims. Python's bools are ints.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> xt.multiply(xt.array([1, 2], "a"), xt.array([3, 4], "a"))
    <xtensor.Array (a: 2) int64>
    [3 8]
    """
    x, y = p.promote_numbers(x, y)
    return _binary("multiply", "and" if x.dtype == p.BOOL else "mul", x, y)


@op(joins=True)
def divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x / y, in f8 for integers. The result has the union of the dims.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> xt.divide(xt.array([1, 2], "a"), 2)
    <xtensor.Array (a: 2) float64>
    [0.5 1. ]
    """
    return _binary("divide", "div", *p.promote_mean(x, y))


@op(joins=True)
def floor_divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x // y, rounded down. The result has the union of the dims. An integer divided by 0 gives 0.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> xt.floor_divide(xt.array([7, -7], "a"), 2)
    <xtensor.Array (a: 2) int64>
    [ 3 -4]
    """
    return _binary("floor_divide", "floor_div", *_no_bool(p.promote_numbers(x, y)))


@op(joins=True)
def remainder(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x % y, with the sign of y. The result has the union of the dims. An integer by 0 gives 0.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> xt.remainder(xt.array([7, -7], "a"), 3)
    <xtensor.Array (a: 2) int64>
    [1 2]
    """
    return _binary("remainder", "mod", *_no_bool(p.promote_numbers(x, y)))


def divmod(x: ArrayLike, y: ArrayLike, /) -> tuple[Array, Array]:
    """Returns the pair (x // y, x % y). Both have the union of the dims.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> whole, rest = xt.divmod(xt.array([7, -7], "a"), 3)
    >>> whole.values, rest.values
    (array([ 2, -3]), array([1, 2]))
    """
    return floor_divide(x, y), remainder(x, y)


def pow(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns `x ** y`. The result has the union of the dims.

    Raises:
        SizeError: a dim has two sizes.
        ArgumentError: integers have a negative Python int as exponent.

    Example:
    >>> xt.pow(xt.array([2.0, 3.0], "a"), 2)
    <xtensor.Array (a: 2) float64>
    [4. 9.]
    """
    if is_scalar(y) and not isinstance(y, (bool, builtins.complex)):
        whole = isinstance(y, int)
        if y in (-1, 0.5, 2, 3, 4) or (whole and y < 0) or (whole and y <= _MOST_FACTORS and _is_complex(x)):
            return _static_power(x, y)
    return _power(x, y)


# Integer powers of complex numbers up to this one are products.
_MOST_FACTORS = 64


def _is_complex(x: Any) -> bool:
    return isinstance(x, builtins.complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


@op(name="pow", joins=True)
def _power(x: ArrayLike, y: ArrayLike, /) -> Array:
    return _binary("pow", "pow", *_no_bool(p.promote_numbers(x, y)))


def _check_negative_power(x: Any, y: int) -> None:
    if not p.is_inexact(p.result_type(x if is_scalar(x) else as_tracer(x))):
        raise fail(
            ArgumentError, "pow", f"integers to the negative integer power {y} are not allowed", x,
            instead="Cast the base first: x.astype(float) ** y",
        )  # fmt: skip


@op(name="pow")
def _static_power(x: ArrayLike, exponent: float, /) -> Array:
    """x to an exponent that needs no pow (products, roots and reciprocals), or is a negative int, which integers
    refuse: eager calls know it only here, where it is not an argument."""
    if isinstance(exponent, int) and exponent < 0:
        _check_negative_power(x, exponent)
    (x,) = _no_bool(p.promote(x, exponent)[:1])
    if exponent == 0.5:
        return build.unary("sqrt", x)
    if exponent == -1:
        return build.binary("div", p.constant(1, x.dtype), x)
    if p.is_complex(x.dtype) and abs(exponent) <= _MOST_FACTORS and isinstance(exponent, int):
        y = _products(x, abs(exponent))
        return y if exponent >= 0 else build.binary("div", p.constant(1, x.dtype), y)
    if exponent < 0:
        return build.binary("pow", x, p.cast(exponent, x.dtype))
    y = build.binary("mul", x, x)
    return y if exponent == 2 else build.binary("mul", y, x if exponent == 3 else y)


def _products(x: Tracer, count: int) -> Tracer:
    """`x` to the power `count`, by squares."""
    if count == 0:
        return extend(p.constant(1, x.dtype), {d: size_of(x, d) for d in x.dims}, x.dims)
    half = _products(x, count // 2) if count > 1 else None
    if half is None:
        return x
    y = build.binary("mul", half, half)
    return build.binary("mul", y, x) if count % 2 else y


# ---- bits and logic ---------------------------------------------------------


def _bitwise(name: str, kind: str, sign: str, gives: str) -> Elementwise2:
    def function(x: ArrayLike, y: ArrayLike, /) -> Array:
        x, y = p.promote(x, y)
        p.only_integer(name, x, y)
        if kind in ("shl", "shr"):
            x, y = _no_bool([x, y])
        return _binary(name, kind, x, y)

    doc = f"Returns x {sign} y for integers or bools. {UNION}"
    doc += raises(TWO_SIZES, "DTypeError: an array holds floats or complex numbers.")
    return named(function, name, doc, example(name, "[5, 6]", gives, "int64", y="3"))


bitwise_and = _bitwise("bitwise_and", "and", "&", "[1 2]")
bitwise_or = _bitwise("bitwise_or", "or", "|", "[7 7]")
bitwise_xor = _bitwise("bitwise_xor", "xor", "^", "[6 5]")
bitwise_left_shift = _bitwise("bitwise_left_shift", "shl", "<<", "[40 48]")
bitwise_right_shift = _bitwise("bitwise_right_shift", "shr", ">>", "[0 0]")


def _logical(name: str, kind: str, gives: str) -> Elementwise2:
    def function(x: ArrayLike, y: ArrayLike, /) -> Array:
        return _binary(name, kind, p.as_bool(x), p.as_bool(y))

    doc = f"Returns the logical {name.split('_')[1]} of x != 0 and y != 0. {UNION}{raises(TWO_SIZES)}"
    return named(function, name, doc, example(name, "[True, True, False]", gives, "bool", y="[True, False, False]"))


logical_and = _logical("logical_and", "and", "[ True False False]")
logical_or = _logical("logical_or", "or", "[ True  True False]")
logical_xor = _logical("logical_xor", "xor", "[False  True False]")


# ---- more functions of two arrays -------------------------------------------


def _extremum(name: str, kind: str, logic: str, what: str, gives: str) -> Elementwise2:
    def function(x: ArrayLike, y: ArrayLike, /) -> Array:
        x, y = p.promote(x, y)
        return _binary(name, logic if x.dtype == p.BOOL else kind, x, y)

    doc = f"Returns the {what} of both values; NaN if one is NaN. {UNION} Ties share the derivative evenly."
    doc += raises(TWO_SIZES, ONE_IS_COMPLEX)
    return named(function, name, doc, example(name, "[1, 5]", gives, "int64", y="3"))


maximum = _extremum("maximum", "maximum", "or", "larger", "[3 5]")
minimum = _extremum("minimum", "minimum", "and", "smaller", "[1 3]")


def _float_binary(name: str, what: str, gives: str) -> Elementwise2:
    def function(x: ArrayLike, y: ArrayLike, /) -> Array:
        return _binary(name, name, *p.promote_float(x, y))

    shown = raises(TWO_SIZES, ONE_IS_COMPLEX) + example(name, "[1.0, -1.0]", gives, y="-1.0")
    return named(function, name, f"Returns {what}. {UNION}", shown)


atan2 = _float_binary(
    "atan2",
    "the angle of the point (y, x), in [-pi, pi]: the first argument is the ordinate",
    "[ 2.35619449 -2.35619449]",
)
copysign = _float_binary("copysign", "x with the sign of y", "[-1. -1.]")


@op(joins=True)
def hypot(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns `sqrt(x**2 + y**2)` without overflow. The result has the union of the dims. Its derivative at 0 is 0.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> xt.hypot(xt.array([3.0, 5.0], "a"), xt.array([4.0, 12.0], "a"))
    <xtensor.Array (a: 2) float64>
    [ 5. 13.]
    """
    return p.rounded_once(build.modulus, *aligned("hypot", *p.promote_float(x, y)))


@op(joins=True)
def logaddexp(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns log(exp(x) + exp(y)) without overflow. The result has the union of the dims.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> xt.logaddexp(xt.array([0.0, 800.0], "a"), 0.0)
    <xtensor.Array (a: 2) float64>
    [6.93147181e-01 8.00000000e+02]
    """
    return p.rounded_once(_logaddexp, *aligned("logaddexp", *p.promote_float(x, y)))


def _logaddexp(x: Tracer, y: Tracer) -> Tracer:
    one, half = p.constant(1, x.dtype), p.constant(0.5, x.dtype)
    # At equal infinities the difference is NaN, and the answer is that infinity.
    same = build.binary("and", build.compare("eq", x, y), build.unary("isinf", x))
    difference = build.select(same, one, build.binary("sub", x, y))
    above = build.compare("gt", difference, p.zero(x.dtype))
    e = build.unary("exp", build.select(above, build.unary("neg", difference), difference))
    larger = build.select(above, x, y)
    regular = build.binary("add", larger, build.unary("log1p", e))
    return build.select(same, build.binary("mul", half, build.binary("add", x, y)), regular)


@op(joins=True)
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns the next floating-point number after x in the direction of y. The result has the union of the dims.

    Takes f2, f4 and f8, and raises DTypeError for bfloat16. f2 is computed in f4, whose digits suffice to round
    once, at the end. Source: Rump, Zimmermann, Boldo and Melquiond, "Computing predecessor and successor in
    rounding to nearest" (BIT 49, 2009), algorithm 2.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex, or holds bfloat16.

    Example:
    >>> xt.nextafter(xt.array([1.0, 0.0], "a"), 2.0) - xt.array([1.0, 0.0], "a")
    <xtensor.Array (a: 2) float64>
    [2.22044605e-016 4.94065646e-324]
    """
    x, y = _real("nextafter", *p.promote_float(x, y))
    dtype = x.dtype
    if dtype == bfloat16:
        raise fail(DTypeError, "nextafter", "takes f2, f4 and f8", x, instead='Cast first: x.astype("f4")')
    info = finfo(dtype)
    if dtype == p.F2:
        x, y = p.cast(x, p.F4), p.cast(y, p.F4)
    u = float(info.eps) / 2
    tiny = p.constant(float(info.smallest_subnormal), x.dtype)
    phi, grow, shrink = (p.constant(v, x.dtype) for v in (u * (1 + 2 * u), 1 / u, u))
    small = p.constant(float(info.smallest_subnormal) / u, x.dtype)
    nought, inf = p.zero(x.dtype), p.constant(np.inf, x.dtype)

    size = build.unary("abs", x)
    direction = build.unary("sign", build.binary("sub", y, x))
    direction = build.select(build.compare("gt", y, x), p.constant(1, x.dtype), direction)
    direction = build.select(build.compare("lt", y, x), p.constant(-1, x.dtype), direction)
    direction = build.select(build.compare("eq", y, x), nought, direction)
    step = build.binary("add", build.binary("mul", phi, size), tiny)
    usual = build.binary("add", x, build.binary("mul", direction, step))
    grown = build.binary("mul", grow, x)
    offset = build.binary("mul", direction, build.binary("mul", phi, build.unary("abs", grown)))
    middle = build.binary("mul", shrink, build.binary("add", grown, offset))
    least = build.binary("add", x, build.binary("mul", direction, tiny))
    z = build.select(build.compare("lt", size, small), least, middle)
    far = p.constant(float(info.smallest_normal) / u / u, x.dtype)
    z = p.cast(build.select(build.compare("gt", size, far), usual, z), dtype)
    # The last step to zero keeps the sign.
    z = build.select(
        build.compare("eq", z, p.zero(dtype)), build.binary("copysign", p.zero(dtype), p.cast(x, dtype)), z
    )
    # Towards zero from infinity comes the largest finite value.
    largest = build.binary("copysign", p.constant(float(info.max), dtype), p.cast(x, dtype))
    z = build.select(build.compare("eq", size, inf), largest, z)
    z = build.select(build.compare("eq", x, y), p.cast(y, dtype), z)
    broken = build.binary("or", build.unary("isnan", x), build.unary("isnan", y))
    return build.select(broken, p.constant(np.nan, dtype), z)


# ---- choosing ---------------------------------------------------------------


@op(joins=True)
def complex(re: ArrayLike, im: ArrayLike, /) -> Array:
    """Returns re + i im of two real arrays. The result has the union of the dims.

    The dtype is complex128 for float64 and larger integers, else complex64.
    xt.real and xt.imag take it apart.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.

    Example:
    >>> xt.complex(xt.array([1.0, 2.0], "a"), 3.0)
    <xtensor.Array (a: 2) complex128>
    [1.+3.j 2.+3.j]
    """
    re, im = p.promote_float(re, im)
    p.only_real("complex", re, im)
    re, im = (p.cast(v, real_of(complex_of(v.dtype))) for v in (re, im))
    return build.complex_array(*aligned("complex", re, im))


@op(decide=("x", "y"), joins=True)
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x where `condition` holds, else y. The result has the union of the dims, those of `condition` first.

    Any number that is not 0 holds. The side that is not chosen contributes exactly 0 to a derivative.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> x = xt.array([1.0, -2.0], "a")
    >>> xt.where(x > 0, x, 0.0)
    <xtensor.Array (a: 2) float64>
    [1. 0.]
    """
    condition = p.as_bool(condition)
    x, y = p.promote(x, y)
    return build.select(*aligned("where", condition, x, y))


@op(name="where", decide=("x", "other"), joins=True)
def mask(x: ArrayLike, condition: ArrayLike, other: ArrayLike | None = None, /) -> Array:
    """Returns x where `condition` holds, else `other` (by default NaN), with the dims of x first.

    This is the method x.where(condition, other). With NaN, integers become floats. Raises DTypeError for bools
    without `other`, because they cannot hold NaN.
    """
    x = as_tracer(x)
    condition = p.as_bool(condition)
    if other is None:
        dtype = missing_dtype("where", x)
        x, other = p.cast(x, dtype), p.constant(np.nan, dtype)
    x, other = p.promote(x, other)
    sizes = union_sizes("where", (x, condition, other))
    y = build.select(*aligned("where", condition, x, other))

    return reorder(y, tuple(sizes))


def missing_dtype(name: str, x: Tracer) -> np.dtype:
    """The dtype in which `x` can hold NaN: small integers f4, others f8, as in xarray."""
    if x.dtype == p.BOOL:
        instead = {"where": "x.where(condition, False)", "shift": "x.shift(time=1, fill_value=False)"}
        raise fail(DTypeError, name, "bools cannot be NaN", x, instead=f"Give the other value: {instead[name]}")
    if p.is_inexact(x.dtype):
        return x.dtype
    return p.of_integers(p.F4 if x.dtype.itemsize <= 2 else p.F8)


@op(joins=True)
def clip(
    x: ArrayLike,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    /,
    *,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
) -> Array:
    """Returns x limited to the range from `lo` (or `min`) to `hi` (or `max`), with the dims of x first.

    A bound may be left out, and may be an array. At a bound, half of the derivative goes to x and half to the bound.

    Raises:
        SizeError: a dim has two sizes.
        DTypeError: an array is complex.
        ArgumentError: a bound is given twice.

    Example:
    >>> xt.clip(xt.array([-1.0, 0.5, 3.0], "a"), 0.0, 1.0)
    <xtensor.Array (a: 3) float64>
    [0.  0.5 1. ]
    """
    if (lo is not None and min is not None) or (hi is not None and max is not None):
        raise fail(ArgumentError, "clip", "a bound is given twice", instead="Write xt.clip(x, lo, hi)")
    lo, hi = (min if lo is None else lo), (max if hi is None else hi)
    y, *bounds = p.promote(x, *(v for v in (lo, hi) if v is not None))
    _real("clip", y, *bounds)
    if lo is not None:
        y = _extreme_of("maximum", "or", y, bounds[0])
    return y if hi is None else _extreme_of("minimum", "and", y, bounds[-1])


def _extreme_of(kind: str, logic: str, x: Tracer, y: Tracer) -> Tracer:
    return build.binary(logic if x.dtype == p.BOOL else kind, x, y)


@op(decide=("choices", "default"), joins=True)
def select(conditions: Sequence[ArrayLike], choices: Sequence[ArrayLike], default: ArrayLike = 0, /) -> Array:
    """Returns, for each element, the choice whose condition is the first that holds, else `default`.

    `conditions` and `choices` are lists of equal length. The result has the union of the dims.

    Raises:
        SizeError: a dim has two sizes.
        ArgumentError: `conditions` and `choices` differ in length.

    Example:
    >>> x = xt.array([-1.0, 0.5, 3.0], "a")
    >>> xt.select([x < 0, x > 1], [0.0, 1.0], x)
    <xtensor.Array (a: 3) float64>
    [0.  0.5 1. ]
    """
    for given in (conditions, choices):
        if not isinstance(given, (list, tuple)):
            raise fail(
                ArgumentTypeError, "select", f"takes lists of conditions and choices, not {brief(given)}",
                instead="Write xt.select([x > 0], [x], 0), or xt.where(x > 0, x, 0)",
            )  # fmt: skip
    if len(conditions) != len(choices):
        raise fail(
            ArgumentError, "select", f"{counted(len(conditions), 'condition')} but {counted(len(choices), 'choice')}",
            instead="Give one choice per condition",
        )  # fmt: skip
    y, *values = p.promote(default, *choices)
    tests = [p.as_bool(c) for c in conditions]
    aligned("select", *tests, *values, y)
    for test, value in zip(reversed(tests), reversed(values), strict=True):
        y = build.select(test, value, y)
    return y
