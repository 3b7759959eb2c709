"""Elementwise ops of the dialect as ops of StableHLO, on operands that have the axes of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .writer import INFINITY, Value, Writer

Rule = Callable[..., Value]  # of the writer and the operands

# Ops that StableHLO or CHLO, which XLA expands, has under one name. CHLO has them for floats alone.
UNARY = {
    "acos": "chlo.acos", "acosh": "chlo.acosh", "asin": "chlo.asin", "asinh": "chlo.asinh", "atan": "chlo.atan",
    "atanh": "chlo.atanh", "cbrt": "cbrt", "ceil": "ceil", "cos": "cosine", "cosh": "chlo.cosh",
    "digamma": "chlo.digamma", "erf": "chlo.erf", "erfc": "chlo.erfc", "erfinv": "chlo.erf_inv", "exp": "exponential",
    "expm1": "exponential_minus_one", "floor": "floor", "i1e": "chlo.bessel_i1e", "lgamma": "chlo.lgamma", "log": "log",
    "log1p": "log_plus_one", "neg": "negate", "not": "not", "round": "round_nearest_even", "rsqrt": "rsqrt",
    "sin": "sine", "sinh": "chlo.sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
BINARY = {
    "add": "add", "and": "and", "atan2": "atan2", "div": "divide", "maximum": "maximum", "minimum": "minimum",
    "mul": "multiply", "or": "or", "polygamma": "chlo.polygamma", "pow": "power", "sub": "subtract", "xor": "xor",
}  # fmt: skip
PREDICATES = ("EQ", "NE", "LT", "LE", "GT", "GE")


def _abs(w: Writer, x: Value) -> Value:
    return x if x.is_unsigned else w.unary("abs", x)


def _sign(w: Writer, x: Value) -> Value:
    return w.convert(w.convert(x, "i1"), x.element) if x.is_unsigned else w.unary("sign", x)


def _trunc(w: Writer, x: Value) -> Value:
    return w.binary("multiply", w.unary("sign", x), w.unary("floor", w.unary("abs", x)))


def _exp2(w: Writer, x: Value) -> Value:
    return w.binary("power", w.number(2.0, x), x)


def _logarithm(base: float) -> Rule:
    def rule(w: Writer, x: Value) -> Value:
        return w.binary("divide", w.unary("log", x), w.number(math.log(base), x))

    return rule


def _isnan(w: Writer, x: Value) -> Value:
    return w.compare("NE", x, x)


def _isfinite(w: Writer, x: Value) -> Value:
    return w.op(f"stablehlo.is_finite {x.name} : ({x.type}) -> $type", x, element="i1")


def _isinf(w: Writer, x: Value) -> Value:
    return w.unary("not", w.binary("or", _isfinite(w, x), _isnan(w, x)))


def zero_times(w: Writer, x: Value, factor: Value) -> Value:
    """The product; 0 where the factor is 0, whatever `x` is."""
    zero = w.number(0, factor)
    return w.select(w.compare("EQ", factor, zero), zero, w.binary("multiply", x, factor))


def _erfcinv(w: Writer, x: Value) -> Value:
    """By erf_inv where 1 - x has all digits. In the tails from a rational function (Abramowitz and Stegun 26.2.23),
    which Halley's method makes exact."""

    def times(a: Value, b: Value | float) -> Value:
        return w.binary("multiply", a, b if isinstance(b, Value) else w.number(b, x))

    def plus(a: Value, b: Value | float) -> Value:
        return w.binary("add", a, b if isinstance(b, Value) else w.number(b, x))

    def polynomial(t: Value, *coefficients: float) -> Value:
        found = w.number(coefficients[-1], x)
        for c in reversed(coefficients[:-1]):
            found = plus(times(found, t), c)
        return found

    one, two = w.number(1.0, x), w.number(2.0, x)
    middle = w.unary("chlo.erf_inv", w.binary("subtract", one, x))
    tail = w.binary("minimum", x, w.binary("subtract", two, x))
    t = w.unary("sqrt", times(w.unary("log", times(tail, 0.5)), -2.0))
    ratio = w.binary(
        "divide", polynomial(t, 2.515517, 0.802853, 0.010328), polynomial(t, 1.0, 1.432788, 0.189269, 0.001308)
    )
    y = times(w.binary("subtract", t, ratio), math.sqrt(0.5))
    for _ in range(3):
        slope = times(w.unary("exponential", w.unary("negate", times(y, y))), -2 / math.sqrt(math.pi))
        step = w.binary("divide", w.binary("subtract", w.unary("chlo.erfc", y), tail), slope)
        y = w.binary("subtract", y, w.binary("divide", step, plus(times(step, y), 1.0)))
    infinite = w.op(f"stablehlo.constant dense<{INFINITY[x.element]}> : $type", x)
    y = w.select(w.compare("EQ", tail, w.number(0.0, x)), infinite, y)
    y = w.select(w.compare("GT", x, one), w.unary("negate", y), y)
    return w.select(w.compare("GT", tail, w.number(0.5, x)), middle, y)


def _ndtr(w: Writer, x: Value) -> Value:
    """By erfc, which CHLO has."""
    tail = w.unary("chlo.erfc", w.binary("multiply", x, w.number(-math.sqrt(0.5), x)))
    return w.binary("multiply", tail, w.number(0.5, x))


def _copysign(w: Writer, x: Value, y: Value) -> Value:
    """By the bits: the sign of a zero counts."""
    bits = {"f64": 64, "f32": 32}.get(y.element, 16)

    def words(v: Value) -> Value:
        text = f"stablehlo.bitcast_convert {v.name} : ({v.type}) -> $type"
        return w.op(text, v, element=f"ui{bits}")

    sign = words(y)
    of_y = w.binary("and", sign, w.number(2 ** (bits - 1), sign))
    joined = w.binary("or", words(w.unary("abs", x)), of_y)
    return w.op(f"stablehlo.bitcast_convert {joined.name} : ({joined.type}) -> $type", x)


def _divisor(w: Writer, y: Value) -> tuple[Value, Value]:
    """An integer divisor without zeros, and where it was 0."""
    none = w.compare("EQ", y, w.number(0, y))
    return w.select(none, w.number(1, y), y), none


def _other_side(w: Writer, rest: Value, y: Value) -> Value:
    """Where a remainder has another sign than the divisor."""
    zero = w.number(0, y)
    signs = w.compare("NE", w.compare("LT", rest, zero), w.compare("LT", y, zero))
    return w.binary("and", w.compare("NE", rest, zero), signs)


def _mod(w: Writer, x: Value, y: Value) -> Value:
    if x.is_float:
        rest = w.binary("remainder", x, y)
        return w.select(_other_side(w, rest, y), w.binary("add", rest, y), rest)
    divisor, none = _divisor(w, y)
    rest = w.binary("remainder", x, divisor)
    rest = w.select(_other_side(w, rest, divisor), w.binary("add", rest, divisor), rest)
    return w.select(none, w.number(0, y), rest)


def _floor_div(w: Writer, x: Value, y: Value) -> Value:
    if x.is_float:
        quotient = w.binary("divide", x, y)
        exact = w.binary("divide", w.binary("subtract", x, _mod(w, x, y)), y)
        plain = w.binary("or", w.compare("EQ", y, w.number(0, y)), w.unary("not", _isfinite(w, exact)))
        return w.select(plain, w.unary("floor", quotient), w.unary("round_nearest_even", exact))
    divisor, none = _divisor(w, y)
    quotient, rest = w.binary("divide", x, divisor), w.binary("remainder", x, divisor)
    lower = w.binary("subtract", quotient, w.number(1, y))
    return w.select(none, w.number(0, y), w.select(_other_side(w, rest, divisor), lower, quotient))


def _shr(w: Writer, x: Value, y: Value) -> Value:
    return w.binary("shift_right_logical" if x.is_unsigned else "shift_right_arithmetic", x, y)


RULES: dict[str, Rule] = {
    "abs": _abs,
    "copysign": _copysign,
    "erfcinv": _erfcinv,
    "exp2": _exp2,
    "floor_div": _floor_div,
    "isfinite": _isfinite,
    "isinf": _isinf,
    "isnan": _isnan,
    "log10": _logarithm(10.0),
    "log2": _logarithm(2.0),
    "mod": _mod,
    "ndtr": _ndtr,
    "scale": zero_times,
    "select": lambda w, c, x, y: w.select(c, x, y),
    "shl": lambda w, x, y: w.binary("shift_left", x, y),
    "shr": _shr,
    "sign": _sign,
    "stop_gradient": lambda w, x: x,
    "trunc": _trunc,
}


def rule_of(op: str) -> Rule | None:
    """How an elementwise op is written; None: it is not one of these."""
    if op in UNARY:
        return lambda w, x: w.unary(UNARY[op], x)
    if op in BINARY:
        return lambda w, x, y: w.binary(BINARY[op], x, y)
    return RULES.get(op)


def operands(w: Writer, xs: Sequence[Value], dims: Sequence[str], shape: Sequence[int]) -> list[Value]:
    """With the axes of the result."""
    return [w.align(x, dims, shape) for x in xs]
