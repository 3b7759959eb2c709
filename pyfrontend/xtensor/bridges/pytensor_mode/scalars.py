"""Elementwise ops: PyTensor's functions of numbers, on named arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant

from ... import inverses, ops
from ...base.errors import UnsupportedError
from ...transforms.control import while_loop
from .foreign import SCALARS, scalar_function
from .graph import Checks, Run, check, fixed, found, implements
from .values import cast, is_array, named

# Functions whose operands first become the dtype of the result.
_OF_RESULT: dict[str, Callable[..., Any]] = {
    "ArcCos": ops.acos, "ArcCosh": ops.acosh, "ArcSin": ops.asin, "ArcSinh": ops.asinh,
    "ArcTan": ops.atan, "ArcTan2": ops.atan2, "ArcTanh": ops.atanh, "BetaInc": ops.betainc,
    "BetaIncInv": inverses.betaincinv, "Ceil": ops.ceil,
    "Conj": ops.conj, "Cos": ops.cos, "Cosh": ops.cosh, "Deg2Rad": ops.deg2rad, "Erf": ops.erf, "Erfc": ops.erfc,
    "Erfcinv": ops.erfcinv, "Erfcx": ops.erfcx, "Erfinv": ops.erfinv, "Exp": ops.exp, "Exp2": ops.exp2,
    "Expm1": ops.expm1, "Floor": ops.floor, "GammaInc": ops.gammainc, "GammaIncC": ops.gammaincc,
    "GammaIncCInv": inverses.gammainccinv, "GammaIncInv": inverses.gammaincinv,
    "GammaLn": ops.lgamma, "I0": ops.i0, "I1": ops.i1, "IntDiv": ops.floor_divide, "Invert": ops.invert,
    "J0": ops.j0, "J1": ops.j1, "Log": ops.log, "Log10": ops.log10, "Log1p": ops.log1p, "Log2": ops.log2,
    "Maximum": ops.maximum, "Minimum": ops.minimum, "Mod": ops.remainder, "Neg": ops.negative, "Pow": ops.pow,
    "Psi": ops.digamma, "Rad2Deg": ops.rad2deg, "Reciprocal": ops.reciprocal, "ScalarMaximum": ops.maximum,
    "ScalarMinimum": ops.minimum, "Sigmoid": ops.sigmoid, "Sign": ops.sign, "Sin": ops.sin, "Sinh": ops.sinh,
    "Softplus": ops.softplus, "Sqr": ops.square, "Sqrt": ops.sqrt, "Sub": ops.subtract, "Tan": ops.tan,
    "Tanh": ops.tanh, "TrueDiv": ops.divide, "Trunc": ops.trunc, "RoundHalfToEven": ops.round,
}  # fmt: skip
_OF_MANY = {"Add": ops.add, "Mul": ops.multiply}
_COMPARISONS = {
    "LT": ops.less, "GT": ops.greater, "LE": ops.less_equal, "GE": ops.greater_equal, "EQ": ops.equal,
    "NEQ": ops.not_equal,
}  # fmt: skip
_BITS = {
    "AND": (ops.logical_and, ops.bitwise_and), "OR": (ops.logical_or, ops.bitwise_or),
    "XOR": (ops.logical_xor, ops.bitwise_xor),
}  # fmt: skip


def _gamma(x: Any) -> Any:
    """By its logarithm; below 0 every second interval between integers is negative."""
    whole = ops.floor(x)
    is_negative = ops.less(x, 0) & ops.not_equal(ops.remainder(whole, 2), 0)
    size = ops.exp(ops.lgamma(x))
    found = ops.where(is_negative, ops.negative(size), size)
    return ops.where(ops.less(x, 0) & ops.equal(x, whole), math.nan, found)


def _log1mexp(x: Any) -> Any:
    """log(1 - exp(x)), by the formula that is accurate on each side of -log(2) (Maechler 2012)."""
    return ops.where(
        ops.greater(x, -math.log(2)), ops.log(ops.negative(ops.expm1(x))), ops.log1p(ops.negative(ops.exp(x)))
    )


def _round_away(x: Any) -> Any:
    whole = ops.trunc(x)
    return ops.where(ops.greater_equal(ops.abs(x - whole), 0.5), whole + ops.sign(x), whole)


_COMPOSED: dict[str, Callable[..., Any]] = {
    "Gamma": _gamma,
    "GammaL": lambda k, x: ops.gammainc(k, x) * _gamma(k),
    "GammaU": lambda k, x: ops.gammaincc(k, x) * _gamma(k),
    "Log1mexp": _log1mexp,
    "Owens_t": ops.owens_t,
    "RoundHalfAwayFromZero": _round_away,
    "XlogX": lambda x: ops.xlogy(x, x),
    "XlogY0": ops.xlogy,
    "TriGamma": lambda x: ops.polygamma(1, x),
}


# Functions of the op, the dtype of the result, and the operands.
def _switch(dtype: np.dtype, c: Any, x: Any, y: Any) -> Any:
    return ops.where(cast(c, bool), cast(x, dtype), cast(y, dtype))


def _clip(dtype: np.dtype, x: Any, low: Any, high: Any) -> Any:
    """As PyTensor does where `low` is above `high`: the lower bound first."""
    x, low, high = (cast(v, dtype) for v in (x, low, high))
    return ops.where(ops.less(x, low), low, ops.where(ops.greater(x, high), high, x))


def _second(dtype: np.dtype, x: Any, y: Any) -> Any:
    return ops.broadcast_like(cast(y, dtype), x)


_OTHERS: dict[str, Callable[..., Any]] = {
    "Switch": _switch,
    "Clip": _clip,
    "Second": _second,
    "Cast": lambda dtype, x: cast(x, dtype),
    "Identity": lambda dtype, x: x,
    "IsNan": lambda dtype, x: ops.isnan(x),
    "Abs": lambda dtype, x: ops.abs(x),
    "IsInf": lambda dtype, x: ops.isinf(x),
    "Angle": lambda dtype, x: ops.angle(x),
    "Real": lambda dtype, x: ops.real(x),
    "Imag": lambda dtype, x: ops.imag(x),
    "Complex": lambda dtype, x, y: ops.complex(x, y),
    "ComplexFromPolar": lambda dtype, r, t: ops.complex(r * ops.cos(t), r * ops.sin(t)),
}


def function_of(op: Any, dtypes: Sequence[str], node: Apply) -> Callable[..., Any]:
    """A scalar op as a function of named arrays. dtypes: of its results."""
    if type(op).__name__ == "Composite":
        inner = _inner(op.fgraph)
        return lambda *xs: inner(xs)
    if any(c.__name__ == "ScalarLoop" for c in type(op).__mro__):
        return _loop(op)
    dtype = np.dtype(dtypes[0])
    if f := found(_COMPARISONS, op):

        def compare(x: Any, y: Any) -> Any:
            return f(*_alike(x, y))

        return compare
    if pair := found(_BITS, op):
        return lambda *xs: _folded(pair[dtype != np.bool_], [cast(x, dtype) for x in xs])
    if f := found(_OF_MANY, op):
        if dtype == np.bool_:
            f = ops.logical_or if f is ops.add else ops.logical_and
        return lambda *xs: _folded(f, [cast(x, dtype) for x in xs])
    if f := found(_OTHERS, op):
        return lambda *xs: f(dtype, *xs)
    if type(op).__name__ == "PolyGamma":
        return lambda n, x: ops.polygamma(int(fixed(n, "the order", node)), cast(x, dtype))
    if (kind := type(op).__name__) in _BESSEL:
        return lambda n, x: _bessel(kind, n, x, dtype)
    if kind in SCALARS:
        return scalar_function(kind, dtype)
    if type(op).__name__ == "Pow" and dtype.kind in "iu":
        return lambda x, n: _integer_power(cast(x, dtype), n, dtype, node)
    f = found(_OF_RESULT, op) or found(_COMPOSED, op)
    if f is None:
        raise UnsupportedError(
            f'the mode "XTENSOR" has no {type(op).__name__}, by which {node.outputs[0]} is computed. Compile this '
            "graph in another mode"
        )
    return lambda *xs: f(*(cast(x, dtype) for x in xs))


# Bessel functions of orders 0 and 1. Those of other orders follow: derivatives need them.
_BESSEL = {"Jv": (ops.j0, ops.j1), "Iv": (ops.i0, ops.i1), "Ive": (ops.i0e, ops.i1e)}
_MOST_ORDER = 4
# Up to here the power series; beyond, the recurrence loses at most a digit. The terms that this takes.
_SERIES = {"Jv": (4.0, 24), "Iv": (16.0, 48), "Ive": (16.0, 48)}


def _bessel(kind: str, n: Any, x: Any, dtype: np.dtype) -> Any:
    """A small whole order that is known becomes compiled code, any other a call of SciPy."""
    orders = None if is_array(n) else np.unique(n)
    if orders is None or orders.size != 1 or orders[0] != round(orders[0]) or abs(orders[0]) > _MOST_ORDER:
        return scalar_function(kind, dtype)(n, x)
    order, x = int(orders[0]), cast(x, dtype)
    m = abs(order)
    found = _BESSEL[kind][m](x) if m < 2 else _bessel_of_order(kind, m, x)
    return ops.negative(found) if kind == "Jv" and order < 0 and m % 2 else found


def _bessel_of_order(kind: str, n: int, x: Any) -> Any:
    """By the recurrence from orders 0 and 1 (DLMF 10.6.1, 10.29.1), which cancels where x is small: there by the power
    series (DLMF 10.2.2, 10.25.2)."""
    bound, terms = _SERIES[kind]
    sign = -1.0 if kind == "Jv" else 1.0
    is_small = ops.less_equal(ops.abs(x), bound)
    low = ops.where(is_small, x, 0.0)
    square = ops.multiply(sign / 4, ops.square(low))
    total: Any = ops.multiply(0.0, low) + 1.0
    for k in range(terms, 0, -1):
        total = 1.0 + square * total / float(k * (n + k))
    total = total * ops.pow(low / 2.0, n) / float(math.factorial(n))
    if kind == "Ive":
        total = total * ops.exp(ops.negative(ops.abs(low)))
    high = ops.where(is_small, bound, x)
    before, found = (f(high) for f in _BESSEL[kind])
    for k in range(1, n):
        before, found = found, sign * (before - (2.0 * k) * found / high)
    return cast(ops.where(is_small, total, found), x.dtype)


def _integer_power(x: Any, n: Any, dtype: np.dtype, node: Apply) -> Any:
    """NumPy's error, and PyTensor's, for an exponent below 0."""
    if dtype.kind == "i":
        check([ops.all(ops.greater_equal(n, 0))], ValueError("Integers to negative integer powers are not allowed."))
    return ops.pow(x, cast(n, dtype))


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    dtype = np.result_type(x.dtype, y.dtype)
    is_mixed = {x.dtype.kind, y.dtype.kind} == {"i", "u"}  # which compare exactly, and have no dtype for both
    return (x, y) if is_mixed else (cast(x, dtype), cast(y, dtype))


def _folded(f: Callable[[Any, Any], Any], xs: list[Any]) -> Any:
    found = xs[0]
    for x in xs[1:]:
        found = f(found, x)
    return found


def _inner(fgraph: Any) -> Callable[[Sequence[Any]], list[Any]]:
    """The graph of a scalar op that is made of others."""
    nodes = fgraph.toposort()
    steps = [(n, function_of(n.op, [v.type.dtype for v in n.outputs], n)) for n in nodes]

    def run(xs: Sequence[Any]) -> list[Any]:
        values = dict(zip(fgraph.inputs, xs, strict=True))

        def value(v: Any) -> Any:
            return named(v.data, v.type) if isinstance(v, Constant) else values[v]

        for node, f in steps:
            results = f(*(value(v) for v in node.inputs))
            results = results if isinstance(results, list) else [results]
            values |= {v: cast(x, v.type.dtype) for v, x in zip(node.outputs, results, strict=True)}
        return [value(v) for v in fgraph.outputs]

    return run


def _loop(op: Any) -> Callable[..., Any]:
    """A loop per element, which ends where the last element has ended."""
    inner = _inner(op.fgraph)
    count = len(op.fgraph.outputs) - bool(op.is_while)

    def run(steps: Any, *xs: Any) -> list[Any]:
        sizes = {d: n for x in (steps, *xs) for d, n in x.sizes.items()}
        whole = [ops.expand_dims(x, {d: n for d, n in sizes.items() if d not in x.dims}) for x in xs]
        states, constants = whole[:count], whole[count:]

        def goes_on(carry: Any) -> Any:
            return ops.logical_and(ops.less(carry["step"], steps), ops.logical_not(carry["done"]))

        def body(carry: Any) -> Any:
            active = goes_on(carry)
            with Checks():  # of a loop per element, which goes on where others have ended
                new = inner([*carry["states"], *constants])
            done = ops.logical_or(carry["done"], ops.logical_and(active, new[count])) if op.is_while else carry["done"]
            states = [ops.where(active, x, y) for x, y in zip(new, carry["states"], strict=False)]
            return {"step": carry["step"] + 1, "done": done, "states": states}

        start = {"step": np.int64(0), "done": ops.zeros(sizes, dtype=bool), "states": states}
        last = while_loop(lambda carry: ops.any(goes_on(carry)), body, start)
        return [*last["states"], *([last["done"]] if op.is_while else [])]

    return run


@implements("Elemwise")
def elemwise(op: Any, node: Apply) -> Run:
    f = function_of(op.scalar_op, [v.type.dtype for v in node.outputs], node)
    kind = type(op.scalar_op).__name__

    def run(*xs: Any) -> Any:
        given = [named(x, v.type) for x, v in zip(xs, node.inputs, strict=True)]
        if kind == "PolyGamma":  # a constant of PyTensor that was broadcast: one order for all
            return f(np.unique(fixed(xs[0], "the order", node)).item(), given[1])
        if kind in _BESSEL and not is_array(xs[0]) and np.unique(xs[0]).size == 1:
            given[0] = np.unique(xs[0]).astype(node.inputs[0].type.dtype)[0]
        return f(*given)

    return run


@implements("ScalarOp")
def scalar(op: Any, node: Apply) -> Run:
    f = function_of(op, [v.type.dtype for v in node.outputs], node)
    return lambda *xs: f(*(named(x, v.type) for x, v in zip(xs, node.inputs, strict=True)))
