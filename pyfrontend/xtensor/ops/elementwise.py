"""Functions of one array, element by element: those of the array API, and a few more.

Floats keep their dtype. Integers and bools are computed in the float that NumPy gives
(1 byte -> f2, 2 bytes -> f4, more -> f8). The result has the dims of the argument.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, TypeVar, overload

import numpy as np

from .. import _native
from ..base import tree
from ..base.dtypes import as_dtype, finfo
from ..base.errors import ArgumentError
from ..call.dispatch import op, plain
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fail, integer, paired_sizes
from .creation import zeros_like
from .types import IS_COMPLEX, NOT_AN_ARRAY, Array, ArrayLike, Elementwise, example, raises

T = TypeVar("T")


def float_function(name: str, what: str, at: str, gives: str, *, real: bool = False) -> Elementwise:
    """The public function over the dialect's float op `name`. Its docstring shows what it `gives` at the list `at`.
    `real`: it refuses complex numbers."""

    def function(x: ArrayLike, /) -> Array:
        return build.unary(name, p.as_float(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Returns {what}.\n\n"
        "The result has the dims of `x`. Floats keep their dtype; integers and bools give the float that NumPy gives."
        f"{raises(IS_COMPLEX if real else NOT_AN_ARRAY)}{example(name, at, gives)}"
    )
    return op(function)


acos = float_function("acos", "the inverse cosine of each element, in [0, pi]", "[0.0, 1.0]", "[1.57079633 0. ]")
acosh = float_function("acosh", "the inverse hyperbolic cosine of each element", "[1.0, 2.0]", "[0. 1.3169579]")
asin = float_function("asin", "the inverse sine of each element, in [-pi/2, pi/2]", "[0.0, 1.0]", "[0. 1.57079633]")
asinh = float_function("asinh", "the inverse hyperbolic sine of each element", "[0.0, 1.0]", "[0. 0.88137359]")
atan = float_function("atan", "the inverse tangent of each element, in [-pi/2, pi/2]", "[0.0, 1.0]", "[0. 0.78539816]")
atanh = float_function("atanh", "the inverse hyperbolic tangent of each element", "[0.0, 0.5]", "[0. 0.54930614]")
cbrt = float_function("cbrt", "the cube root of each element", "[8.0, -27.0]", "[ 2. -3.]", real=True)
cos = float_function("cos", "the cosine of each element, an angle in radians", "[0.0, 1.0]", "[1. 0.54030231]")
cosh = float_function("cosh", "the hyperbolic cosine of each element", "[0.0, 1.0]", "[1. 1.54308063]")
erf = float_function("erf", "the error function of each element", "[0.0, 1.0]", "[0. 0.84270079]", real=True)
erfc = float_function(
    "erfc", "1 - erf(x) of each element, accurate also for large x", "[0.0, 1.0]", "[1. 0.15729921]", real=True
)
exp = float_function("exp", "e to the power of each element", "[0.0, 1.0]", "[1. 2.71828183]")
exp2 = float_function("exp2", "2 to the power of each element", "[3.0, -1.0]", "[8. 0.5]")
expm1 = float_function("expm1", "exp(x) - 1 of each element, accurate also near 0", "[0.0, 1e-20]", "[0.e+00 1.e-20]")
log = float_function("log", "the natural logarithm of each element", "[1.0, 10.0]", "[0. 2.30258509]")
log10 = float_function("log10", "the logarithm to base 10 of each element", "[1.0, 1000.0]", "[0. 3.]")
log1p = float_function("log1p", "log(1 + x) of each element, accurate also near 0", "[0.0, 1e-20]", "[0.e+00 1.e-20]")
log2 = float_function("log2", "the logarithm to base 2 of each element", "[1.0, 8.0]", "[0. 3.]")
rsqrt = float_function("rsqrt", "1 / sqrt(x) of each element", "[1.0, 4.0]", "[1. 0.5]")
sin = float_function("sin", "the sine of each element, an angle in radians", "[0.0, 1.0]", "[0. 0.84147098]")
sinh = float_function("sinh", "the hyperbolic sine of each element", "[0.0, 1.0]", "[0. 1.17520119]")
sqrt = float_function("sqrt", "the square root of each element, NaN below 0", "[4.0, 2.0]", "[2. 1.41421356]")
tan = float_function("tan", "the tangent of each element, an angle in radians", "[0.0, 1.0]", "[0. 1.55740772]")
tanh = float_function("tanh", "the hyperbolic tangent of each element", "[0.0, 1.0]", "[0. 0.76159416]")


def _rounding(name: str, what: str, at: str, gives: str) -> Elementwise:
    """A function that leaves integers and bools as they are."""

    def function(x: ArrayLike, /) -> Array:
        x = as_tracer(x)
        return build.unary(name, x) if p.is_inexact(x.dtype) else x

    function.__name__ = function.__qualname__ = name
    shown = raises(IS_COMPLEX) + example(name, at, gives)
    function.__doc__ = f"Returns {what} each element, with the dims and dtype of `x`.{shown}"
    return op(function)


ceil = _rounding("ceil", "the smallest integer not below", "[1.2, -1.2]", "[ 2. -1.]")
floor = _rounding("floor", "the largest integer not above", "[1.2, -1.2]", "[ 1. -2.]")
trunc = _rounding("trunc", "the integer part (rounded towards 0) of", "[1.7, -1.7]", "[ 1. -1.]")


def _round_plan(x: Any, /, decimals: Any = 0) -> Any:
    if not isinstance(x, _native.Array) or type(decimals) is not int or not 0 < builtins.abs(decimals) <= 300:
        return None
    if not p.is_float(as_dtype(x.dtype)):
        return None
    return x, 10.0 ** builtins.abs(decimals), decimals > 0


def _round_wide(x: ArrayLike, amounts: Any, up: bool, /) -> Array:
    x = as_tracer(x)
    scale = p.amount(amounts, x.dtype)
    there, back = ("mul", "div") if up else ("div", "mul")
    return build.binary(back, build.unary("round", build.binary(there, x, scale)), scale)


@op(wide=(_round_plan, _round_wide))
def round(x: ArrayLike, /, decimals: int = 0) -> Array:
    """Returns `x` rounded to `decimals` places, halves to even, with the dims and dtype of `x`.

    Bools give f2. A negative `decimals` rounds to tens, hundreds and so on.

    Raises:
        DTypeError: `x` is complex.
        ArgumentError: `decimals` is not in -300 to 300.

    Example:
    >>> xt.round(xt.array([0.5, 1.5, 2.345], "i"))
    <xtensor.Array (i: 3) float64>
    [0. 2. 2.]
    """
    x = as_tracer(x)
    p.only_real("round", x)
    if x.dtype == p.BOOL:
        x = p.as_float(x)
    places = integer("round", decimals, "decimals")
    if builtins.abs(places) > 300:
        raise fail(ArgumentError, "round", f"decimals is -300 to 300, not {places}", x)
    if places == 0 or not p.is_float(x.dtype):
        return _round_integer(x, places)
    scale = p.constant(10.0 ** max(places, -places), x.dtype)
    there, back = ("mul", "div") if places > 0 else ("div", "mul")
    return build.binary(back, build.unary("round", build.binary(there, x, scale)), scale)


def _round_integer(x: Tracer, places: int) -> Tracer:
    if p.is_float(x.dtype):
        return build.unary("round", x)
    if places >= 0:
        return x
    y = build.cast(x, p.F8)
    scale = p.constant(10.0**-places, p.F8)
    y = build.binary("mul", build.unary("round", build.binary("div", y, scale)), scale)
    return build.cast(y, x.dtype)


def _float_test(name: str, what: str, at: str, gives: str) -> Elementwise:
    def function(x: ArrayLike, /) -> Array:
        x = as_tracer(x)
        if p.is_inexact(x.dtype):
            return build.unary(name, x)
        return build.compare("eq" if name == "isfinite" else "ne", x, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Tells whether each element is {what}: bools with the dims of `x`."
        f"{raises(NOT_AN_ARRAY)}{example(name, at, gives, 'bool')}"
    )
    return op(function)


isfinite = _float_test("isfinite", "neither infinite nor NaN", "[1.0, np.inf, np.nan]", "[ True False False]")
isinf = _float_test("isinf", "infinite", "[1.0, np.inf, np.nan]", "[False True False]")
isnan = _float_test("isnan", "NaN", "[1.0, np.inf, np.nan]", "[False False True]")


@op
def abs(x: ArrayLike, /) -> Array:
    """Returns the absolute value of each element, with the dims and dtype of `x`. The derivative at 0 is 0.

    Of complex numbers, it is the real `sqrt(re**2 + im**2)`, computed without overflow.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.abs(xt.array([-2.0, 3.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 3.]
    """
    (x,) = p.promote_numbers(x)
    return x if x.dtype.kind in "bu" else build.unary("abs", x)


@op
def negative(x: ArrayLike, /) -> Array:
    """Returns -x, with the dims and dtype of `x`. Integers wrap.

    Raises:
        DTypeError: `x` holds bools.

    Example:
    >>> xt.negative(xt.array([1, -2], "i"))
    <xtensor.Array (i: 2) int64>
    [-1  2]
    """
    return build.unary("neg", p.no_bool("negative", p.promote_numbers(x)[0], "Write ~x or xt.logical_not(x)"))


@op
def positive(x: ArrayLike, /) -> Array:
    """Returns `x` itself.

    Raises:
        DTypeError: `x` holds bools.

    Example:
    >>> xt.positive(xt.array([1, -2], "i"))
    <xtensor.Array (i: 2) int64>
    [ 1 -2]
    """
    return p.no_bool("positive", p.promote_numbers(x)[0], 'Cast it first: x.astype("i1")')


@op
def sign(x: ArrayLike, /) -> Array:
    """Returns the sign of each element: -1, 0 or 1, with the dims and dtype of `x`.

    The sign of NaN is NaN. The derivative is 0. The sign of a complex number z is z / |z|, which has a derivative.

    Raises:
        DTypeError: `x` holds bools.

    Example:
    >>> xt.sign(xt.array([-2.0, 0.0, 3.0], "i"))
    <xtensor.Array (i: 3) float64>
    [-1.  0.  1.]
    """
    x = p.no_bool("sign", as_tracer(x), 'Cast it first: x.astype("i1")')
    if x.dtype.kind == "u":
        return build.cast(p.as_bool(x), x.dtype)
    return build.unary("sign", x)


@op
def signbit(x: ArrayLike, /) -> Array:
    """Tells whether the sign bit of each element is set (below 0, or -0.0): bools with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.signbit(xt.array([-2.0, 0.0], "i"))
    <xtensor.Array (i: 2) bool>
    [ True False]
    """
    x = as_tracer(x)
    return _has_sign(build.cast(x, p.I1) if x.dtype == p.BOOL else x)


def _has_sign(x: Tracer) -> Tracer:
    if p.is_float(x.dtype):
        x = build.binary("copysign", p.constant(1, x.dtype), x)
    return build.compare("lt", x, p.zero(x.dtype))


@op
def invert(x: ArrayLike, /) -> Array:
    """Returns ~x, which inverts every bit, and is `not` for bools.

    Raises:
        DTypeError: `x` holds floats or complex numbers.

    Example:
    >>> xt.invert(xt.array([0, 1], "i"))
    <xtensor.Array (i: 2) int64>
    [-1 -2]
    """
    x = as_tracer(x)
    p.only_integer("invert", x)
    return build.unary("not", x)


bitwise_invert = invert


@op
def logical_not(x: ArrayLike, /) -> Array:
    """Tells whether each element is 0: bools with the dims of `x`.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.logical_not(xt.array([0.0, 2.0], "i"))
    <xtensor.Array (i: 2) bool>
    [ True False]
    """
    x = as_tracer(x)
    if x.dtype == p.BOOL:
        return build.unary("not", x)
    return build.compare("eq", x, p.zero(x.dtype))


def as_number(x: ArrayLike) -> Tracer:
    """`x`, bool as i1."""
    x = as_tracer(x)
    return build.cast(x, p.I1) if x.dtype == p.BOOL else x


@op
def square(x: ArrayLike, /) -> Array:
    """Returns x * x, with the dims and dtype of `x`. Bools give i1.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.square(xt.array([1, -2], "i"))
    <xtensor.Array (i: 2) int64>
    [1 4]
    """
    x = as_number(x)
    return build.binary("mul", x, x)


@op
def reciprocal(x: ArrayLike, /) -> Array:
    """Returns 1 / x, with the dims and dtype of `x`.

    For integers it is the integer part: 1 and -1 stay, all others give 0, and so does 0. Bools give i1.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.reciprocal(xt.array([2.0, 4.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.5  0.25]
    """
    x = as_number(x)
    one = p.constant(1, x.dtype)
    if p.is_inexact(x.dtype):
        return build.binary("div", one, x)
    unit = build.compare("eq", x, one)
    if x.dtype.kind == "i":
        unit = build.binary("or", unit, build.compare("eq", x, p.constant(-1, x.dtype)))
    return build.select(unit, x, p.zero(x.dtype))


def _scaled(x: ArrayLike, factor: float) -> Tracer:
    return p.rounded_once(lambda x: build.binary("mul", x, p.constant(factor, x.dtype)), p.as_float(x))


@op
def deg2rad(x: ArrayLike, /) -> Array:
    """Returns an angle in radians from one in degrees, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.deg2rad(xt.array([0.0, 180.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         3.14159265]
    """
    return _scaled(x, math.pi / 180)


@op
def rad2deg(x: ArrayLike, /) -> Array:
    """Returns an angle in degrees from one in radians, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.rad2deg(xt.array([0.0, np.pi], "i"))
    <xtensor.Array (i: 2) float64>
    [  0. 180.]
    """
    return _scaled(x, 180 / math.pi)


@op
def real(x: ArrayLike, /) -> Array:
    """Returns the real part, with the dims of `x`: float32 for complex64. It is `x` itself if `x` is real.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.real(xt.array([1 + 2j, 3.0], "i"))
    <xtensor.Array (i: 2) float64>
    [1. 3.]
    """
    return build.real(as_tracer(x))


@op
def imag(x: ArrayLike, /) -> Array:
    """Returns the imaginary part, with the dims of `x`: float32 for complex64. It is zeros if `x` is real.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.imag(xt.array([1 + 2j, 3.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 0.]
    """
    x = as_tracer(x)
    return build.imag(x) if p.is_complex(x.dtype) else zeros_like(x)


@op
def conj(x: ArrayLike, /) -> Array:
    """Returns the complex conjugate, with the dims of `x`. It is `x` itself if `x` is real. Bools give i1.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.conj(xt.array([1 + 2j, 3j], "i"))
    <xtensor.Array (i: 2) complex128>
    [1.-2.j 0.-3.j]
    """
    return build.conj(as_number(x))


@op
def angle(x: ArrayLike, /) -> Array:
    """Returns the angle of each element in the complex plane, in radians, in [-pi, pi], with the dims of `x`.

    Real numbers have the angle 0, or pi below 0 and at -0.0. Integers give the float that NumPy gives.

    Raises:
        ArgumentTypeError: `x` is not an array or a number.

    Example:
    >>> xt.angle(xt.array([1j, -1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [1.57079633 3.14159265]
    """
    x = p.as_float(x)
    if p.is_complex(x.dtype):
        return build.angle(x)
    half_turn = build.select(_has_sign(x), p.constant(math.pi, x.dtype), p.zero(x.dtype))
    return build.select(build.unary("isnan", x), x, half_turn)


@op(decide=())
def astype(x: ArrayLike, dtype: object, /) -> Array:
    """Returns `x` converted to `dtype`.

    Floats become integers by truncation, and integers that do not fit wrap. Numbers become bools by x != 0.

    Raises:
        DTypeError: `dtype` is not a dtype of arrays, or it is real and `x` complex.

    Example:
    >>> xt.astype(xt.array([1.7, -1.7], "i"), "i4")
    <xtensor.Array (i: 2) int32>
    [ 1 -1]
    """
    x = as_tracer(x)
    wanted = as_dtype(dtype)
    if wanted == p.BOOL:
        return p.as_bool(x)
    # Asked for: integers that do not fit wrap, also where `x` is a Python int.
    return x if x.dtype == wanted else build.cast(x, wanted)


@op
def _stop_gradient(x: ArrayLike, /) -> Array:
    x = as_tracer(x)
    return build.stop_gradient(x) if p.is_inexact(x.dtype) else x


@overload
def stop_gradient(x: ArrayLike, /) -> Array: ...
@overload
def stop_gradient(x: T, /) -> T: ...
@plain
def stop_gradient(x: Any, /) -> Any:
    """Returns `x`, an array or a pytree of arrays, which derivatives treat as a constant.

    Gradients and tangents of the result are 0. Values do not change.

    Raises:
        ArgumentTypeError: a leaf of `x` is not an array or a number.

    Example:
    >>> xt.grad(lambda x: x * xt.stop_gradient(x))(3.0)
    <xtensor.Array () weak float64 3.>
    """
    return tree.map(_stop_gradient, x)


@op
def nan_to_num(
    x: ArrayLike,
    /,
    *,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Returns `x` with NaN and the infinities replaced by numbers, with the dims and dtype of `x`.

    NaN becomes `nan`. By default, inf and -inf become the largest and the lowest finite value of the dtype.

    Raises:
        DTypeError: `x` is complex, or a replacement is.

    Example:
    >>> xt.nan_to_num(xt.array([np.nan, np.inf, 1.0], "i"), nan=-1.0, posinf=9.0)
    <xtensor.Array (i: 3) float64>
    [-1.  9.  1.]
    """
    x = as_tracer(x)
    p.only_real("nan_to_num", x)
    if not p.is_float(x.dtype):
        return x
    largest = finfo(x.dtype).max
    nan, posinf, neginf = (
        p.cast(v, x.dtype) for v in (
            nan, largest if posinf is None else posinf, -largest if neginf is None else neginf
        )
    )  # fmt: skip
    paired_sizes("nan_to_num", (x, nan, posinf, neginf))
    y = build.select(build.unary("isnan", x), nan, x)
    y = build.select(build.compare("eq", x, p.constant(np.inf, x.dtype)), posinf, y)
    return build.select(build.compare("eq", x, p.constant(-np.inf, x.dtype)), neginf, y)
