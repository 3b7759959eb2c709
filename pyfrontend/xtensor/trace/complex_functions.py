"""Elementary functions of complex arrays, by those of the real ones, with NumPy's branch cuts and values at infinity.

Along a branch cut the sign of a zero decides the side, as in C99 (Annex G). Sources: W. Kahan, "Branch cuts for complex
elementary functions" (1987); C99, Annex G. A function that is analytic has its derivative by a rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from . import complexes as z
from . import emit as raw
from .tracer import Tracer


class Real:
    """A real array in a formula."""

    __slots__ = ("x",)

    def __init__(self, x: Tracer) -> None:
        self.x = x

    def of(self, y: Real | float) -> Tracer:
        return y.x if isinstance(y, Real) else raw.constant(np.asarray(y, self.x.dtype))

    def __add__(self, y: Real | float) -> Real:
        return Real(raw.binary("add", self.x, self.of(y)))

    def __sub__(self, y: Real | float) -> Real:
        return Real(raw.binary("sub", self.x, self.of(y)))

    def __mul__(self, y: Real | float) -> Real:
        return Real(raw.binary("mul", self.x, self.of(y)))

    def __truediv__(self, y: Real | float) -> Real:
        return Real(raw.binary("div", self.x, self.of(y)))

    def __rsub__(self, y: float) -> Real:
        return Real(raw.binary("sub", self.of(y), self.x))

    def __rtruediv__(self, y: float) -> Real:
        return Real(raw.binary("div", self.of(y), self.x))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Real:
        return Real(raw.unary("neg", self.x))

    def __abs__(self) -> Real:
        return Real(raw.unary("abs", self.x))

    def __lt__(self, y: Real | float) -> Real:
        return Real(raw.compare("lt", self.x, self.of(y)))

    def __gt__(self, y: Real | float) -> Real:
        return Real(raw.compare("gt", self.x, self.of(y)))

    def is_(self, y: Real | float) -> Real:
        return Real(raw.compare("eq", self.x, self.of(y)))

    def __invert__(self) -> Real:
        return Real(raw.unary("not", self.x))

    def __or__(self, y: Real) -> Real:
        return Real(raw.binary("or", self.x, y.x))

    def __and__(self, y: Real) -> Real:
        return Real(raw.binary("and", self.x, y.x))


Z: TypeAlias = tuple[Real, Real]


def _function(name: str) -> Callable[[Real], Real]:
    return lambda v: Real(raw.unary(name, v.x))


sqrt, exp, exp2, expm1, log, log1p = (_function(n) for n in ("sqrt", "exp", "exp2", "expm1", "log", "log1p"))
sin, cos, tan, sinh, cosh, asinh = (_function(n) for n in ("sin", "cos", "tan", "sinh", "cosh", "asinh"))
isinf, isfinite = _function("isinf"), _function("isfinite")


def atan2(y: Real, x: Real) -> Real:
    return Real(raw.binary("atan2", y.x, x.x))


def copysign(size: Real | float, sign: Real) -> Real:
    return Real(raw.binary("copysign", sign.of(size), sign.x))


def where(condition: Real, a: Real | float, b: Real | float) -> Real:
    like = a if isinstance(a, Real) else b
    assert isinstance(like, Real)
    return Real(raw.select(condition.x, like.of(a), like.of(b)))


def larger(a: Real, b: Real) -> Real:
    return Real(raw.binary("maximum", a.x, b.x))


def smaller(a: Real, b: Real | float) -> Real:
    return Real(raw.binary("minimum", a.x, a.of(b)))


def _limit(x: Real, smaller: float, larger: float) -> float:
    """A number that depends on the precision."""
    return smaller if x.x.dtype.itemsize == 4 else larger


# -- products ---------------------------------------------------------------------------------------------------------


def times(a: Z, b: Z) -> Z:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def over(a: Z, b: Z) -> Z:
    re, im = z.divided(a[0].x, a[1].x, b[0].x, b[1].x)
    return Real(re), Real(im)


def scaled(a: Z, by: float) -> Z:
    return a[0] * by, a[1] * by


def inverse(a: Z) -> Z:
    return over((Real(a[0].of(1)), Real(a[0].of(0))), a)


def minus_from_one(a: Z) -> Z:
    """1 - a; the sign of a zero imaginary part stays that of -a."""
    return 1 - a[0], -a[1]


def plus_one(a: Z) -> Z:
    return 1 + a[0], a[1]


def _turned(a: Z) -> Z:
    """i a"""
    return -a[1], a[0]


def _back(a: Z) -> Z:
    """-i a"""
    return a[1], -a[0]


def _by_turning(function: Callable[[Z], Z]) -> Callable[[Z], Z]:
    """sin from sinh and the like: f(a) = -i g(i a)."""
    return lambda a: _back(function(_turned(a)))


# -- exponentials and hyperbolic functions ----------------------------------------------------------------------------


def _turned_by(function: Callable[[Real], Real], scale: float, x: Real, y: Real, most: float, by: float) -> Z:
    """f(x) (cos y + i sin y). Above `most`, f(x) may be infinite where its product is finite, so it is f(x - by), and
    scale = f(by) comes last. What is not finite times 0 is 0."""
    large = isfinite(x) & (x > most)
    size = function(where(large, x - by, x))
    last = where(large, Real(x.of(scale)), 1)
    endless = isinf(x) & (x > 0) & ~isfinite(y)
    nothing = isinf(x) & (x < 0) & ~isfinite(y)
    re = where(y.is_(0), size, where(nothing, 0, size * cos(y))) * last
    return where(endless, x, re), where(y.is_(0), y, where(nothing, 0, size * sin(y)) * last)


def c_exp(a: Z) -> Z:
    by = _limit(a[0], 60, 400)
    return _turned_by(exp, math.exp(by), *a, _limit(a[0], 80, 700), by)


def c_exp2(a: Z) -> Z:
    by = _limit(a[0], 64, 512)
    return _turned_by(exp2, 2.0**by, a[0], a[1] * math.log(2), _limit(a[0], 120, 1000), by)


def c_expm1(a: Z) -> Z:
    x, y = a
    half = sin(y * 0.5)
    re = where(y.is_(0), expm1(x), expm1(x) * cos(y) - 2 * (half * half))
    return re, where(y.is_(0), y, exp(x) * sin(y))


def c_sinh(a: Z) -> Z:
    x, y = a
    re = where(x.is_(0) & ~isfinite(y), x, sinh(x) * cos(y))
    re = where(isinf(x) & ~isfinite(y), math.inf, re)
    return where(y.is_(0) & isinf(x), x, re), where(y.is_(0), y, cosh(x) * sin(y))


def c_cosh(a: Z) -> Z:
    x, y = a
    im = where(x.is_(0) & ~isfinite(y), abs(x), sinh(x) * sin(y))
    re = where(isinf(x) & (y.is_(0) | ~isfinite(y)), math.inf, cosh(x) * cos(y))
    return re, where(y.is_(0), copysign(1, x) * y, im)


def c_tanh(a: Z) -> Z:
    """Kahan's formula, by the tangent of the angle; far out the result is 1 but for exp(-2 |x|)."""
    x, y = a
    far = abs(x) > _limit(x, 11, 22)
    near = where(far, 0.5, x)
    t, s = tan(y), sinh(near)
    beta = 1 + t * t
    size = 1 + beta * (s * s)
    re, im = beta * sqrt(1 + s * s) * s / size, t / size
    tail = 4 * sin(y) * cos(y) * exp(-2 * abs(x))
    tail = where(isinf(x), where(isfinite(y), copysign(0, tail), 0), tail)
    re = where(x.is_(0) & ~isfinite(y), x, where(far & (isinf(x) | isfinite(y)), copysign(1, x), re))
    return re, where(y.is_(0), y, where(far, tail, im))


# -- logarithms and roots ---------------------------------------------------------------------------------------------


def _log_size(x: Real, y: Real) -> Real:
    """log |x + iy|: near size 1 by log1p of |z|^2 - 1."""
    a, b = abs(x), abs(y)
    m, n = larger(a, b), smaller(a, b)
    usual = isfinite(m) & (m > 0)
    ratio = where(usual, n, 0) / where(usual, m, 1)
    near = (m > 0.5) & (m < 2)
    part = where(near, m, 1)
    close = log1p((part - 1) * (part + 1) + where(near, n, 0) * n)
    found = where(near, 0.5 * close, log(m) + 0.5 * log1p(ratio * ratio))
    return where(isinf(x) | isinf(y), math.inf, found)


def c_log(a: Z) -> Z:
    return _log_size(*a), atan2(a[1], a[0])


def c_log1p(a: Z) -> Z:
    x, y = a
    small = (abs(x) < 0.5) & (abs(y) < 0.5)
    near = 0.5 * log1p(where(small, x * (x + 2) + y * y, 0))
    return where(small, near, _log_size(1 + x, y)), atan2(y, 1 + x)


def _log_to(base: float) -> Callable[[Z], Z]:
    return lambda a: scaled(c_log(a), 1 / math.log(base))


def c_sqrt(a: Z) -> Z:
    """The root in the right half plane. The sign of the imaginary part is that of the argument's."""
    x, y = a
    m, n = larger(abs(x), abs(y)), smaller(abs(x), abs(y))
    usual = isfinite(m) & (m > 0)
    safe = where(usual, m, 1)
    ratio = where(usual, n, 0) / safe
    across = where(usual, abs(x), 0) / safe
    t = sqrt(where(usual, m, 0)) * sqrt(0.5 * (across + sqrt(1 + ratio * ratio)))
    rest = 0.5 * abs(y) / where(t > 0, t, 1)
    left = x < 0
    re, im = where(left, rest, t), copysign(where(left, t, rest), y)
    none = m.is_(0)
    re, im = where(none, 0, re), where(none, y, im)
    broken = ~(isfinite(x) | isinf(x)) | ~(isfinite(y) | isinf(y))
    re, im = where(broken, math.nan, re), where(broken, math.nan, im)
    # Infinite real parts, then imaginary ones, which win.
    endless, missing = isinf(x), x + y
    ends = where(isfinite(y), 0, missing)
    re = where(endless, where(left, abs(ends), math.inf), re)
    im = where(endless, where(left, copysign(math.inf, y), copysign(ends, y)), im)
    return where(isinf(y), math.inf, re), where(isinf(y), y, im)


# -- inverse functions ------------------------------------------------------------------------------------------------


def _product_im(a: Z, b: Z) -> Real:
    """Im(conj(a) b)"""
    return a[0] * b[1] - a[1] * b[0]


def c_asin(a: Z) -> Z:
    low, high = c_sqrt(minus_from_one(a)), c_sqrt(plus_one(a))
    re = atan2(a[0], low[0] * high[0] - low[1] * high[1])
    re = where(a[0].is_(0), a[0], re)  # whatever the imaginary part is
    return _at_ends(a, (re, asinh(_product_im(low, high))), _asin_end)


def c_acos(a: Z) -> Z:
    low, high = c_sqrt(minus_from_one(a)), c_sqrt(plus_one(a))
    re = where(a[0].is_(0), math.pi / 2, 2 * atan2(low[0], high[0]))
    return _at_ends(a, (re, asinh(_product_im(high, low))), _acos_end)


def c_acosh(a: Z) -> Z:
    """i acos or -i acos, the one of these in the right half plane."""
    re, im = c_acos(a)
    return abs(im), copysign(re, a[1])


def c_atanh(a: Z) -> Z:
    x, y = a
    size = abs(x)
    square = y * y
    near = (1 - size) * (1 - size) + square
    large = larger(size, abs(y)) > _limit(x, 1e8, 1e16)
    # Far out it is 1 / z, with x / |z|^2 for its real part.
    m = where(large & isfinite(x) & isfinite(y), larger(size, abs(y)), 1)
    u, v = where(large, size, 0) / m, where(large, y, 0) / m
    far = where(isinf(x) | isinf(y), 0, u / where(large, u * u + v * v, 1) / m)
    re = where(large, far, 0.25 * log1p(4 * size / where(large, 1, near)))
    # So near to 1 or -1 that the square underflows, the distance is that of the imaginary part.
    tiny = larger(abs(1 - size), abs(y)) < _limit(x, 1e-12, 1e-100)
    re = where(tiny, 0.5 * math.log(2) - 0.5 * log(where(tiny, abs(y), 1)), re)
    angle = where(large, math.pi, atan2(2 * abs(y), (1 - size) * (1 + size) - square))
    angle = where(isinf(y), math.pi, angle)
    return copysign(where(x.is_(0) | isinf(x) | isinf(y), 0, re), x), copysign(0.5 * angle, y)


def _end(x: Real, y: Real) -> Z:
    """The direction of an infinite number; NaN where one part is NaN and the other one is not infinite."""
    return where(isinf(x), copysign(1, x), 0 * x), where(isinf(y), Real(y.of(1)), 0 * abs(y))


def _asin_end(x: Real, y: Real) -> Z:
    across, up = _end(x, y)
    return copysign(atan2(abs(across), up), x), copysign(math.inf, y)


def _acos_end(x: Real, y: Real) -> Z:
    across, up = _end(x, y)
    return atan2(up, across), -copysign(math.inf, y)


def _at_ends(a: Z, found: Z, end: Callable[[Real, Real], Z]) -> Z:
    """`found`, and the limits where the argument is infinite."""
    infinite = isinf(a[0]) | isinf(a[1])
    re, im = end(*a)
    return where(infinite, re, found[0]), where(infinite, im, found[1])


# -- the table --------------------------------------------------------------------------------------------------------

# Of each function: its value, and its derivative from the argument and the value.
Derivative: TypeAlias = Callable[[Z, Z], Z]
_LN2 = math.log(2)


def _asin_slope(a: Z, y: Z) -> Z:
    return inverse(times(c_sqrt(minus_from_one(a)), c_sqrt(plus_one(a))))


def _acos_slope(a: Z, y: Z) -> Z:
    return scaled(_asin_slope(a, y), -1)


def _acosh_slope(a: Z, y: Z) -> Z:
    return inverse(times(c_sqrt((a[0] - 1, a[1])), c_sqrt(plus_one(a))))


def _asinh_slope(a: Z, y: Z) -> Z:
    return _asin_slope(_turned(a), y)


def _tanh_slope(a: Z, y: Z) -> Z:
    return minus_from_one(times(y, y))


FUNCTIONS: dict[str, tuple[Callable[[Z], Z], Derivative]] = {
    "acos": (c_acos, _acos_slope),
    "acosh": (c_acosh, _acosh_slope),
    "asin": (c_asin, _asin_slope),
    "asinh": (_by_turning(c_asin), _asinh_slope),
    "atan": (_by_turning(c_atanh), lambda a, y: inverse(plus_one(times(a, a)))),
    "atanh": (c_atanh, lambda a, y: inverse(minus_from_one(times(a, a)))),
    "cos": (lambda a: c_cosh(_turned(a)), lambda a, y: scaled(_by_turning(c_sinh)(a), -1)),
    "cosh": (c_cosh, lambda a, y: c_sinh(a)),
    "exp": (c_exp, lambda a, y: y),
    "exp2": (c_exp2, lambda a, y: scaled(y, _LN2)),
    "expm1": (c_expm1, lambda a, y: c_exp(a)),
    "log": (c_log, lambda a, y: inverse(a)),
    "log10": (_log_to(10), lambda a, y: scaled(inverse(a), 1 / math.log(10))),
    "log1p": (c_log1p, lambda a, y: inverse(plus_one(a))),
    "log2": (_log_to(2), lambda a, y: scaled(inverse(a), 1 / _LN2)),
    "rsqrt": (lambda a: inverse(c_sqrt(a)), lambda a, y: scaled(over(y, a), -0.5)),
    "sin": (_by_turning(c_sinh), lambda a, y: c_cosh(_turned(a))),
    "sinh": (c_sinh, lambda a, y: c_cosh(a)),
    "sqrt": (c_sqrt, lambda a, y: scaled(inverse(y), 0.5)),
    "tan": (_by_turning(c_tanh), lambda a, y: plus_one(times(y, y))),
    "tanh": (c_tanh, _tanh_slope),
}


def unary(op: str, x: Tracer) -> Tracer:
    """An elementwise op of a complex array."""
    if op == "neg":
        return z.each(x, lambda v: raw.unary("neg", v))
    if op == "abs":
        return z.modulus(z.part(x, 0), z.part(x, 1))
    if op in ("isnan", "isinf", "isfinite"):
        both = [raw.unary(op, z.part(x, i)) for i in (0, 1)]
        return raw.binary("and" if op == "isfinite" else "or", *both)
    if op == "sign":
        return _sign(x)
    found = FUNCTIONS.get(op)
    if found is None:
        z.refuse()
    value, slope = found
    return _analytic([x], lambda a: value(a[0]), lambda a, y: [slope(a[0], y)])


def _analytic(xs: list[Tracer], value: Callable[[list[Z]], Z], slopes: Callable[[list[Z], Z], list[Z]]) -> Tracer:
    """A function of complex arrays that is differentiable by each of them."""
    parts = [z.part(x, i) for x in xs for i in (0, 1)]
    dims = tuple(dict.fromkeys(d for x in xs for d in x.dims))

    def pairs(v: list[Tracer]) -> list[Z]:
        return [(Real(v[i]), Real(v[i + 1])) for i in range(0, len(v), 2)]

    def function(v: list[Tracer]) -> list[Tracer]:
        return [raw.broadcast(r.x, dims) for r in value(pairs(v))]

    def derivative(v: list[Tracer], t: list[Tracer]) -> list[Tracer]:
        a = pairs(v)
        moved = [times(s, dz) for s, dz in zip(slopes(a, value(a)), pairs(t), strict=True)]
        total = moved[0]
        for more in moved[1:]:
            total = total[0] + more[0], total[1] + more[1]
        return [r.x for r in total]

    return z.pack(*z.ruled(parts, function, derivative))  # type: ignore[arg-type]


def _sign(x: Tracer) -> Tracer:
    """z / |z|, and 0 for 0. One infinite part decides alone, as in NumPy; two have no direction."""
    a, b = z.part(x, 0), z.part(x, 1)
    infinite = [raw.unary("isinf", v) for v in (a, b)]
    either = raw.binary("or", *infinite)
    zero, one = z.real_number(0, a), z.real_number(1, a)

    def end(v: Tracer, alone: Tracer, other: Tracer) -> Tracer:
        sure = raw.binary("copysign", raw.select(alone, one, zero), v)
        both = raw.select(raw.binary("and", alone, other), z.real_number(math.nan, a), sure)
        return raw.select(either, both, v)

    a, b = end(a, *infinite), end(b, *reversed(infinite))
    size = z.modulus(a, b)
    none = raw.compare("eq", size, z.real_number(0, size))
    safe = raw.select(none, z.real_number(1, size), size)
    return z.pack(z.div(a, safe), z.div(b, safe))


def angle(x: Tracer) -> Tracer:
    """The angle of each element."""
    return raw.binary("atan2", z.part(x, 1), z.part(x, 0))


# -- powers -----------------------------------------------------------------------------------------------------------


def _power(a: Z, b: Z) -> Z:
    """exp(b log a). 0 to the power 0 is 1, to one with a positive real part 0, else NaN."""
    none = a[0].is_(0) & a[1].is_(0)
    base = where(none, 1, a[0]), a[1]
    re, im = c_exp(times(b, c_log(base)))
    unit = b[0].is_(0) & b[1].is_(0)
    ends = where(b[0] > 0, 0, math.nan * Real(b[0].of(1)))
    re = where(unit, 1, where(none, ends, re))
    return re, where(unit, 0, where(none, ends, im))


def power(x: Tracer, y: Tracer) -> Tracer:
    def slopes(v: list[Z], w: Z) -> list[Z]:
        a, b = v
        none = a[0].is_(0) & a[1].is_(0)
        log = c_log((where(none, 1, a[0]), a[1]))
        return [times(b, _power(a, (b[0] - 1, b[1]))), times(w, log)]

    return _analytic([x, y], lambda v: _power(*v), slopes)


def binary(op: str, x: Tracer, y: Tracer) -> Tracer:
    """An elementwise op of two complex arrays of one dtype."""
    return power(x, y) if op == "pow" else z.binary(op, x, y)
