"""The ops of random programs: how each is made, printed for xtensor, and what it means in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import named
import numpy as np
import scipy.special
from maker import Maker, makes
from named import COMPLEX, INTS, Named, aligned, elementwise, is_float
from program import OPERATIONS, Statement, Values

Text = Callable[..., str]
Meaning = Callable[..., Named]


class Simple:
    """An op of one result: its text and meaning by its operands and parameters."""

    def __init__(self, text: Text, meaning: Meaning) -> None:
        self._text, self._meaning = text, meaning

    def text(self, s: Statement) -> str:
        return self._text(*s.args, **s.params)

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        return (self._meaning(*args, **s.params),)


def op(name: str, text: Text) -> Callable[[Meaning], Meaning]:
    def add(meaning: Meaning) -> Meaning:
        OPERATIONS[name] = Simple(text, meaning)
        return meaning

    return add


def by_dim(dim: str, value: object) -> str:
    return f"{dim}={value}"


# Element by element.

_sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
UNARY: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "sin": (np.sin, 8), "cos": (np.cos, 8), "tanh": (np.tanh, 8), "exp": (np.exp, 8), "atan": (np.arctan, 8),
    "asinh": (np.arcsinh, 8), "sqrt": (np.sqrt, 2), "log": (np.log, 8), "log1p": (np.log1p, 8), "cbrt": (np.cbrt, 8),
    "expm1": (np.expm1, 8), "sigmoid": (_sigmoid, 16), "rsqrt": (lambda v: 1 / np.sqrt(v), 8),
}  # fmt: skip
# SciPy's is off by 35 ulp at -6.
_ndtr = np.vectorize(lambda v: float(mpmath.ncdf(float(v))), otypes=["float64"])
# Functions of SciPy, in double precision. Those of WAVES turn, so that corners of a wide bound say nothing. Those of
# NEAR_ZERO have zeros between floats: near those, the error is that of a result of 1.
SPECIAL: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "erf": (scipy.special.erf, 16), "erfc": (scipy.special.erfc, 32), "ndtr": (_ndtr, 32),
    "log_ndtr": (scipy.special.log_ndtr, 64), "i0e": (scipy.special.i0e, 32), "i1e": (scipy.special.i1e, 32),
    "sinc": (lambda v: np.where(np.isinf(v), 0, np.sinc(np.where(np.isinf(v), 0, v))), 32),
    "j0": (lambda v: np.where(np.isinf(v), 0, scipy.special.j0(v)), 64),  # SciPy has NaN at infinity
    "j1": (lambda v: np.where(np.isinf(v), 0, scipy.special.j1(v)), 64),
    "entr": (scipy.special.entr, 32),
    "lgamma": (lambda v: np.where(v < 0.5, np.nan, scipy.special.gammaln(v)), 32),
    "digamma": (lambda v: np.where(v < 0.5, np.nan, scipy.special.digamma(v)), 32),
}  # fmt: skip
WAVES = ("sin", "cos", "sinc", "j0", "j1")
NEAR_ZERO = ("sinc", "j0", "j1", "entr", "lgamma", "digamma", "log_ndtr")
EXACT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs, "negative": np.negative, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "relu": lambda v: np.where(v > 0, v, np.where(v != v, v, 0)), "square": np.square,
}  # fmt: skip
_FLOAT_OF = {"bool": "float16", "int8": "float16", "uint8": "float16", "int16": "float32", "uint16": "float32"}


@op("unary", lambda x, fn: f"xt.{fn}({x})")
def _unary(x: Named, fn: str) -> Named:
    if fn in EXACT:
        f = EXACT[fn]
        if x.dtype in INTS:
            return elementwise(lambda v: v if fn in ("floor", "ceil", "trunc") else f(v).astype(x.dtype), [x], x.dtype)
        return elementwise(f, [x], x.dtype, rounded=fn == "square")
    f, ulps = UNARY[fn] if fn in UNARY else SPECIAL[fn]
    dtype = x.dtype if is_float(x.dtype) else _FLOAT_OF.get(x.dtype, "float64")
    if not is_float(x.dtype):
        x = named.cast(x, dtype)
    if fn in SPECIAL:
        plain, f = f, lambda v: np.asarray(plain(v.astype("float64")), np.longdouble)
    if fn in WAVES:  # corners of a wide bound say nothing about what lies between
        with np.errstate(all="ignore"):
            if fn in SPECIAL:  # far out, the period decides
                value = np.where(np.abs(x.value) > 100, np.nan, x.value)
                far = (np.abs(x.value) > 100) | np.isinf(x.error)
                unsure = np.where(far, np.inf, np.minimum(4 * x.error, 4))
                return named.made(x.dims, dtype, f(value), unsure, ulps, np.ones(x.value.shape))
            error = np.where(np.isinf(x.error), np.inf, np.minimum(x.error, 2))
            return named.made(x.dims, dtype, f(x.value), error, ulps)
    result = elementwise(f, [x], dtype, ulps)
    if fn in NEAR_ZERO:
        sizes = np.where(np.isfinite(result.value), np.maximum(np.abs(result.value), 1), 0)
        result = named.made(x.dims, dtype, result.value, result.error, ulps, sizes)
    if fn in ("lgamma", "digamma"):
        with np.errstate(invalid="ignore"):
            result = Named(result.dims, dtype, result.value, np.where(x.value - x.error < 0.5, np.inf, result.error))
    if fn == "rsqrt":  # of 0 and -0, which minima and products of integers do not tell apart
        result = Named(result.dims, dtype, result.value, np.where(x.value == 0, np.inf, result.error))
    return result


@makes(4)
def _make_unary(g: Maker) -> Any:
    x = g.pick(lambda a: a.dtype != "bool")
    if x is None:
        return None
    smooth = ("sin", "cos", "tanh", "atan", "asinh", "sigmoid", "abs", "square", "relu", "negative",
              "erf", "ndtr", "i0e", "i1e", "sinc", "j0", "j1", "log_ndtr")  # fmt: skip
    if g.kind.smooth:
        return g.add("unary", [x], {"fn": g.rng.choice(smooth)}) if is_float(g.values[x].dtype) else None
    exact = g.values[x].dtype in INTS and g.rng.random() < 0.7
    fn = g.rng.choice([f for f in EXACT if f != "relu"] if exact else [*UNARY, *EXACT, *SPECIAL])
    if g.values[x].dtype in INTS and fn == "relu":
        return None
    return g.add("unary", [x], {"fn": fn})


def _floor_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, np.floor_divide(x, np.where(y == 0, 1, y)))


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, np.remainder(x, np.where(y == 0, 1, y)))


ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {"+": np.add, "-": np.subtract, "*": np.multiply}
WHOLE: dict[str, Callable[..., np.ndarray]] = {
    "//": _floor_divide, "%": _remainder, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip
COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _typed(f: Callable[..., np.ndarray], dtype: str) -> Callable[..., np.ndarray]:
    """`f` of operands that were converted."""
    if is_float(dtype):
        return lambda *a: f(*(v.astype(np.longdouble) for v in a))
    return lambda *a: f(*(v.astype(dtype) for v in a))


def _converted(x: Named, dtype: str) -> Named:
    """As an operand is before the op: an integer that is rounded to a float."""
    return named.cast(x, dtype) if is_float(dtype) and x.dtype != dtype else x


def _unless_close(truth: Named, x: Named, y: Named) -> Named:
    """Unknown where both may be equal: the corners of their bounds do not say that."""
    _, (xv, yv), (xe, ye) = aligned([x, y])
    with np.errstate(all="ignore"):
        close = (xe + ye > 0) & (np.abs(xv.astype(np.longdouble) - yv) <= xe + ye)
    return Named(truth.dims, truth.dtype, truth.value, np.where(close, np.inf, truth.error))


@op("binary", lambda x, y, op: f"{x} {op} {y}")
def _binary(x: Named, y: Named, op: str) -> Named:
    dtype = named.promoted(x.dtype, y.dtype)
    if op in COMPARE and x.dtype in INTS and y.dtype in INTS:  # exact, which no common dtype is
        return elementwise(lambda a, b: COMPARE[op](a.astype(np.longdouble), b.astype(np.longdouble)), [x, y], "bool")
    if op in COMPARE:
        x, y = _converted(x, dtype), _converted(y, dtype)
        return _unless_close(elementwise(_typed(COMPARE[op], dtype), [x, y], "bool"), x, y)
    if op in WHOLE:
        return elementwise(_typed(WHOLE[op], dtype), [x, y], dtype)
    x, y = _converted(x, dtype), _converted(y, dtype)
    if op == "/":
        return elementwise(_typed(np.divide, dtype), [x, y], dtype, rounded=True)
    f = ARITHMETIC[op]
    if dtype == "bool":
        f = np.logical_or if op == "+" else np.logical_and
    return elementwise(_typed(f, dtype), [x, y], dtype, rounded=True)


@makes(6)
def _make_binary(g: Maker) -> Any:
    x = g.pick_float() if g.kind.smooth else g.pick()
    if x is None:
        return None
    y = g.pick(lambda b: not g.kind.smooth or is_float(b.dtype))
    if y is None:
        return None
    dtype = named.promoted(g.values[x].dtype, g.values[y].dtype)
    if is_float(dtype):
        ops = [*ARITHMETIC, *ARITHMETIC, g.rng.choice([*COMPARE])]
    elif dtype == "bool":
        ops = ["+", "*", "&", "|", "^", "==", "!="]
    else:
        ops = [*ARITHMETIC, *WHOLE, g.rng.choice([*COMPARE])]
    return g.add("binary", [x, y], {"op": g.rng.choice(ops)})


@makes(1)
def _make_quotient(g: Maker) -> Any:
    """x / (2 + y * y), which is smooth."""
    x, y = g.pick_float(), g.pick_float()
    square = g.add("unary", [y], {"fn": "square"}) if y else None
    below = g.add("scalar", [square], {"op": "+", "number": 2.0, "left": False}) if square else None
    return g.add("binary", [x, below], {"op": "/"}) if x and below else None


@op("scalar", lambda x, op, number, left: f"{number} {op} {x}" if left else f"{x} {op} {number}")
def _scalar(x: Named, op: str, number: Any, left: bool) -> Named:
    other = named.exact(
        np.asarray(named.stored(np.asarray(number, "float64"), x.dtype) if is_float(x.dtype) else number), (), x.dtype
    )
    return _binary(other, x, op) if left else _binary(x, other, op)


@makes(2)
def _make_scalar(g: Maker) -> Any:
    x = g.pick_float() if g.kind.smooth else g.pick(lambda a: a.dtype != "bool")
    if x is None:
        return None
    left = g.rng.random() < 0.3
    if is_float(g.values[x].dtype):
        op = g.rng.choice([*ARITHMETIC, "<", ">="] if not g.kind.smooth else list(ARITHMETIC))
        return g.add("scalar", [x], {"op": op, "number": g.rng.choice((0.5, 2.0, -1.5, 1.0)), "left": left})
    op = g.rng.choice([*ARITHMETIC, *WHOLE, "<", ">="])
    return g.add("scalar", [x], {"op": op, "number": g.rng.randint(0, 5), "left": left})


@op("choose", lambda x, y, fn: f"xt.{fn}({x}, {y})")
def _choose(x: Named, y: Named, fn: str) -> Named:
    dtype = named.promoted(x.dtype, y.dtype)
    x, y = _converted(x, dtype), _converted(y, dtype)
    return elementwise(_typed(np.maximum if fn == "maximum" else np.minimum, dtype), [x, y], dtype)


@makes(0.7)
def _make_smooth(g: Maker) -> Any:
    """exp(-x * x) or sqrt(1.5 + x * x)."""
    x = g.pick_float()
    square = g.add("unary", [x], {"fn": "square"}) if x else None
    if square is None:
        return None
    if g.rng.random() < 0.5:
        below = g.add("unary", [square], {"fn": "negative"})
        return g.add("unary", [below], {"fn": "exp"}) if below else None
    above = g.add("scalar", [square], {"op": "+", "number": 1.5, "left": True})
    return g.add("unary", [above], {"fn": "sqrt"}) if above else None


@makes(1.5)
def _make_choose(g: Maker) -> Any:
    x = g.pick_float() if g.kind.smooth else g.pick()
    y = g.pick(lambda b: not g.kind.smooth or is_float(b.dtype)) if x else None
    return g.add("choose", [x, y], {"fn": g.rng.choice(("maximum", "minimum"))}) if x and y else None


@op("where", lambda c, x, y: f"xt.where({c}, {x}, {y})")
def _where(c: Named, x: Named, y: Named) -> Named:
    dtype = named.promoted(x.dtype, y.dtype)
    x, y = _converted(x, dtype), _converted(y, dtype)
    dims, (cv, xv, yv), (ce, xe, ye) = aligned([c, x, y])
    to = np.longdouble if is_float(dtype) else dtype
    value = np.where(cv, xv.astype(to), yv.astype(to))
    return Named(dims, dtype, value, np.where(ce > 0, np.inf, np.where(cv, xe, ye)))


@makes(1.5)
def _make_where(g: Maker) -> Any:
    x = g.pick_float() if g.kind.smooth else g.pick()
    y = g.pick(lambda b: not g.kind.smooth or is_float(b.dtype)) if x else None
    c = g.pick(lambda a: a.dtype == "bool")
    if c is None:
        other = g.pick()
        c = g.add("scalar", [other], {"op": ">=", "number": 0, "left": False}) if other else None
    return g.add("where", [c, x, y]) if c and x and y else None


@makes(0.5)
def _make_bits(g: Maker) -> Any:
    """where(c, x, (x & m) | (y & ~m)), or with y: what LLVM merges under a mask (docs/upstream.md)."""
    x = None if g.kind.smooth else g.pick(lambda a: a.dtype in INTS)
    y = g.pick(lambda b: b.dtype == g.values[x].dtype) if x else None
    c = g.add("binary", [x, y], {"op": g.rng.choice(["<", "!="])}) if x and y else None
    if c is None:
        return None
    some = g.rng.randint(1, 100)
    rest = ~some if np.iinfo(g.values[x].dtype).min else np.iinfo(g.values[x].dtype).max - some
    left = g.add("scalar", [x], {"op": "&", "number": some, "left": False})
    right = g.add("scalar", [y], {"op": "&", "number": int(rest), "left": False}) if left else None
    mixed = g.add("binary", [left, right], {"op": "|"}) if right else None
    sides = [mixed, g.rng.choice([x, y])]
    g.rng.shuffle(sides)
    return g.add("where", [c, *sides]) if mixed else None


@op("cast", lambda x, dtype: f'{x}.astype("{dtype}")')
def _cast(x: Named, dtype: str) -> Named:
    return named.cast(x, dtype)


@makes(2)
def _make_cast(g: Maker) -> Any:
    x = g.pick()
    return (
        g.add("cast", [x], {"dtype": g.rng.choice([d for d in g.kind.dtypes if d not in COMPLEX])})
        if x and not g.kind.smooth
        else None
    )


# Sums and the like.

REDUCTIONS = ("sum", "max", "min", "prod", "mean", "any", "all", "argmax", "argmin")


@op("reduce", lambda x, kind, dim: f"xt.{kind}({x}, {dim!r})")
def _reduce(x: Named, kind: str, dim: str) -> Named:
    if kind == "sum":
        return named.total(x, dim)
    if kind == "prod":
        return named.product(x, dim)
    if kind in ("max", "min"):
        return named.extreme(x, dim, kind == "max")
    if kind in ("argmax", "argmin"):
        return named.place(x, dim, kind == "argmax")
    if kind == "mean":
        dtype = x.dtype if is_float(x.dtype) else "float64"
        whole = named.total(named.cast(x, dtype), dim)
        return elementwise(lambda v: v / np.longdouble(x.sizes[dim]), [whole], dtype, 2)
    truth, axis = named.cast(x, "bool"), x.axis(dim)
    value = truth.value.any(axis) if kind == "any" else truth.value.all(axis)
    return named.made([d for d in x.dims if d != dim], "bool", value, truth.error.sum(axis))


@makes(4)
def _make_reduce(g: Maker) -> Any:
    found = g.pick_with_dim((lambda a: is_float(a.dtype)) if g.kind.smooth else (lambda a: True))
    if found is None:
        return None
    x, dim = found
    kinds = ("sum", "sum", "mean", "max", "min", "prod") if g.kind.smooth else REDUCTIONS
    kind = g.rng.choice(kinds)
    if g.values[x].dtype == "bool" and kind in ("max", "min", "prod", "argmax", "argmin"):
        kind = "sum"
    if kind == "mean" and (g.values[x].dtype in INTS or g.values[x].sizes[dim] == 0):
        kind = "sum"
    return g.add("reduce", [x], {"kind": kind, "dim": dim})


@op("dot", lambda x, y, dim: f"xt.dot({x}, {y}, dim={dim!r})")
def _dot(x: Named, y: Named, dim: str) -> Named:
    dtype = named.promoted(x.dtype, y.dtype)
    wide = "float32" if dtype in ("float16", "bfloat16") else dtype  # rounded once
    times = elementwise(_typed(np.multiply, wide), [_converted(v, dtype) for v in (x, y)], wide, 1)
    return named.cast(named.total(times, dim, wide), dtype)


@makes(2)
def _make_dot(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: a.dtype in ("float32", "float64", "int64", "int32"))
    if found is None:
        return None
    x, dim = found
    dtype = g.values[x].dtype
    y = g.pick(lambda b: dim in b.dims and b.dtype == dtype)
    return g.add("dot", [x, y], {"dim": dim}) if y else None
