"""Elementwise ops of StableHLO and CHLO on tracers, and the ops that make values or move their axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxlib.mlir.dialects import stablehlo

from ...base import dtypes
from ...ir import context as c
from ...ops.activations import sigmoid
from ...trace import build, emit
from ...trace.tracer import Tracer
from ...values.spec import Spec
from .parts import complex_constant, direction, integers, reshape_groups, shape_of
from .values import RefusedError, axes, dtype_of, filled, given, in_axes

Rule = Callable[..., Any]

_UNARY = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "bessel_i1e": "i1e", "cbrt": "cbrt", "ceil": "ceil", "cosh": "cosh", "cosine": "cos", "digamma": "digamma",
    "erf": "erf", "erf_inv": "erfinv", "erfc": "erfc", "exponential": "exp", "exponential_minus_one": "expm1",
    "floor": "floor", "is_finite": "isfinite", "is_inf": "isinf", "lgamma": "lgamma", "log": "log",
    "log_plus_one": "log1p", "negate": "neg", "not": "not", "round_nearest_even": "round", "rsqrt": "rsqrt",
    "sign": "sign", "sine": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
_BINARY = {
    "add": "add", "and": "and", "atan2": "atan2", "maximum": "maximum", "minimum": "minimum", "multiply": "mul",
    "or": "or", "polygamma": "polygamma", "power": "pow", "shift_left": "shl", "shift_right_arithmetic": "shr",
    "subtract": "sub", "xor": "xor",
}  # fmt: skip
_BOOLEAN = {"add": "or", "maximum": "or", "minimum": "and", "multiply": "and"}


def _unary(op: str) -> Rule:
    return lambda _, x: build.unary(op, x)


def _binary(name: str, op: str) -> Rule:
    def rule(_: Any, x: Tracer, y: Tracer) -> Tracer:
        if dtypes.is_bool(x.dtype) and name in _BOOLEAN:
            return build.binary(_BOOLEAN[name], x, y)
        return build.binary(op, x, y)

    return rule


def _below_zero(x: Tracer) -> Tracer:
    return build.compare("lt", x, build.constant(np.zeros((), x.dtype)))


def _remainder(op: Any, x: Tracer, y: Tracer) -> Tracer:
    """With the sign of `x`."""
    if dtypes.is_float(x.dtype):
        return build.binary("copysign", build.binary("mod", build.unary("abs", x), build.unary("abs", y)), x)
    rest = build.binary("mod", x, y)
    if x.dtype.kind == "u":
        return rest
    zero = build.constant(np.zeros((), x.dtype))
    other = build.binary("xor", _below_zero(rest), _below_zero(x))
    other = build.binary("and", other, build.compare("ne", rest, zero))
    return build.select(other, build.binary("sub", rest, y), rest)


def _divide(op: Any, x: Tracer, y: Tracer) -> Tracer:
    if not dtypes.is_integer(x.dtype):
        return build.binary("div", x, y)
    if x.dtype.kind == "u":
        return build.binary("floor_div", x, y)
    return build.binary("floor_div", build.binary("sub", x, _remainder(op, x, y)), y)  # towards zero


def _shift_right_logical(op: Any, x: Tracer, y: Tracer) -> Tracer:
    if x.dtype.kind == "u":
        return build.binary("shr", x, y)
    unsigned = np.dtype(f"u{x.dtype.name}")
    return build.cast(build.binary("shr", build.cast(x, unsigned), build.cast(y, unsigned)), x.dtype)


def _round_away(op: Any, x: Tracer) -> Tracer:
    whole = build.unary("trunc", x)
    rest = build.unary("abs", build.binary("sub", x, whole))
    up = build.binary("add", whole, build.binary("copysign", build.constant(np.ones((), x.dtype)), x))
    return build.select(build.compare("ge", rest, build.constant(np.asarray(0.5, x.dtype))), up, whole)


def _compare(op: Any, x: Tracer, y: Tracer) -> Tracer:
    return build.compare(direction(op).lower(), x, y)


def _select(op: Any, condition: Tracer, x: Tracer, y: Tracer) -> Tracer:
    return build.select(condition, x, y)


def _clamp(op: Any, low: Tracer, x: Tracer, high: Tracer) -> Tracer:
    return build.binary("minimum", build.binary("maximum", x, low), high)


def _convert(op: Any, x: Tracer) -> Tracer:
    return build.cast(x, dtype_of(op.results[0]))


def _bitcast(op: Any, x: Tracer) -> Tracer:
    """Between integers, and from the bits of a float to the float: its fraction times a power of two."""
    dtype = dtype_of(op.results[0])
    if dtypes.is_integer(dtype) and dtypes.is_integer(x.dtype) and dtype.itemsize == x.dtype.itemsize:
        return build.cast(x, dtype)
    layout = {"float32": (23, 127), "float64": (52, 1023)}.get(dtype.name)
    if layout is None or x.dtype.kind != "u" or x.dtype.itemsize != dtype.itemsize:
        raise RefusedError("only the bits of float32 and float64 become numbers")
    (bits, bias), one = layout, build.constant(np.ones((), x.dtype))

    def number(value: Any, dtype: dtypes.DType) -> Tracer:
        return build.constant(np.asarray(value, dtype))

    highest = 8 * dtype.itemsize - 1
    most = number(2 ** (highest - bits) - 1, x.dtype)
    fraction = build.binary("and", x, number(2**bits - 1, x.dtype))
    exponent = build.binary("and", build.binary("shr", x, number(bits, x.dtype)), most)
    normal = build.compare("gt", exponent, number(0, x.dtype))
    whole = build.select(normal, build.binary("or", fraction, number(2**bits, x.dtype)), fraction)
    scale = build.binary("sub", build.cast(build.binary("maximum", exponent, one), dtype), number(bias + bits, dtype))
    # In two steps: the whole power may be below the smallest number.
    half = build.unary("floor", build.binary("mul", scale, number(0.5, dtype)))
    power = [build.unary("exp2", half), build.unary("exp2", build.binary("sub", scale, half))]
    size = build.binary("mul", build.binary("mul", build.cast(whole, dtype), power[0]), power[1])
    infinite = build.compare("eq", fraction, number(0, x.dtype))
    special = build.select(infinite, number(np.inf, dtype), number(np.nan, dtype))
    size = build.select(build.compare("eq", exponent, most), special, size)
    sign = build.compare("ne", build.binary("shr", x, number(highest, x.dtype)), number(0, x.dtype))
    return build.select(sign, build.unary("neg", size), size)


def _reduce_precision(op: Any, x: Tracer) -> Tracer:
    bits = int(op.attributes["exponent_bits"]), int(op.attributes["mantissa_bits"])
    narrow = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32", (11, 52): "float64"}.get(bits)
    if narrow is None:
        raise RefusedError(f"numbers with {bits[0]} bits of exponent and {bits[1]} of fraction are not a dtype")
    return build.cast(build.cast(x, dtypes.as_dtype(narrow)), x.dtype)


def _complex(op: Any, x: Tracer, y: Tracer) -> Tracer:
    return build.complex_array(x, y)


def _same(op: Any, *xs: Tracer) -> list[Tracer]:
    return list(xs)


# -- values


def _constant(op: Any) -> Tracer:
    shape, dtype = shape_of(op.results[0]), dtype_of(op.results[0])
    dims = axes(len(shape))
    if 0 in shape:
        return filled(build.constant(np.zeros((), dtype)), shape)
    if dtypes.is_complex(dtype):
        numbers = complex_constant(op, dtype)
        return (
            filled(build.constant(numbers[0]), shape)
            if len(numbers) == 1
            else build.constant(numbers.reshape(shape), dims)
        )
    value = op.attributes["value"]
    if value.is_splat and shape:
        return filled(_elements(str(value.get_splat_value()), (), dtype), shape)
    return _elements(str(value), dims, dtype, shape)


def _elements(text: str, dims: tuple[str, ...], dtype: dtypes.DType, shape: Any = ()) -> Tracer:
    """An attribute by its text: jaxlib's bindings and ours do not share objects."""
    if not text.startswith("dense"):
        number, _, element = text.partition(" : ")
        text = f"dense<{number}> : tensor<{element or 'i1'}>"
    parsed = c.mlir().Attribute.parse(text, c.context())
    return emit.one("constant", (), {"value": parsed}, [c.array_type(Spec._of(dims, tuple(shape), dtype))])


def _iota(op: Any) -> Tracer:
    shape, dtype, at = shape_of(op.results[0]), dtype_of(op.results[0]), int(op.attributes["iota_dimension"])
    dim = axes(len(shape))[at]
    kind = dtype if dtypes.is_integer(dtype) else np.dtype("int64")
    made = build.cast(build.iota(dim, shape[at], kind), dtype)
    return build.broadcast(made, axes(len(shape)), dict(zip(axes(len(shape)), shape, strict=True)))


# -- axes


def _broadcast_in_dim(op: Any, x: Tracer) -> Tracer:
    shape, at = shape_of(op.results[0]), integers(op, "broadcast_dimensions")
    given_shape = shape_of(op.operands[0])
    gone = [i for i, j in enumerate(at) if given_shape[i] == 1 and shape[j] != 1]
    x = build.squeeze(x, [axes(len(at))[i] for i in gone]) if gone else x
    dims = axes(len(shape))
    names = {axes(len(at))[i]: dims[j] for i, j in enumerate(at) if i not in gone}
    x = build.rename(x, names) if names else x
    return build.broadcast(x, dims, dict(zip(dims, shape, strict=True)))


def _transpose(op: Any, x: Tracer) -> Tracer:
    order = integers(op, "permutation")
    return in_axes(x, [axes(len(order))[i] for i in order])


def _reshape(op: Any, x: Tracer) -> Tracer:
    shape, made = shape_of(op.operands[0]), shape_of(op.results[0])
    return reshaped(x, shape, made)


def reshaped(x: Tracer, shape: list[int], made: list[int]) -> Tracer:
    if shape == made:
        return x
    if 0 in shape:
        return filled(build.constant(np.zeros((), x.dtype)), made)
    ones = [d for d, n in zip(axes(len(shape)), shape, strict=True) if n == 1]
    x = build.squeeze(x, ones) if ones else x
    final = [f"made~{i}" for i in range(len(made))]
    for given_axes, made_axes in reshape_groups(shape, made):
        dims = [axes(len(shape))[i] for i in given_axes]
        names = [final[j] for j in made_axes]
        if len(dims) == 1 and len(names) == 1:
            x = build.rename(x, {dims[0]: names[0]})
            continue
        whole = dims[0]
        if len(dims) > 1:
            whole = names[0] if len(names) == 1 else "merged~"
            x = build.merge(x, dims, whole)
        if len(names) > 1:
            x = build.split(x, whole, dict(zip(names, [made[j] for j in made_axes], strict=True)))
    x = build.broadcast(x, final, dict(zip(final, made, strict=True)))
    return in_axes(x, final)


def _reverse(op: Any, x: Tracer) -> Tracer:
    at = integers(op, "dimensions")
    return build.reverse(x, [x.dims[i] for i in at]) if at else x


def _slice(op: Any, x: Tracer) -> Tracer:
    start, limit, stride = (integers(op, k) for k in ("start_indices", "limit_indices", "strides"))
    parts = {
        d: (a, max(-(-(b - a) // s), 0), s)
        for d, a, b, s, n in zip(x.dims, start, limit, stride, shape_of(op.operands[0]), strict=True)
        if (a, b, s) != (0, n, 1)
    }
    return build.slice(x, parts) if parts else x


def padded(x: Tracer, value: Tracer, amounts: list[tuple[int, int, int]]) -> Tracer:
    """With negative amounts, elements at the ends go."""
    adds = {
        d: (max(low, 0), max(high, 0), inside)
        for d, (low, high, inside) in zip(x.dims, amounts, strict=True)
        if low > 0 or high > 0 or inside > 0
    }
    x = build.pad(x, value, adds) if adds else x
    sizes: Any = x.spec.sizes
    cuts = {
        d: (max(-low, 0), sizes[d] + min(low, 0) + min(high, 0), 1)
        for d, (low, high, _) in zip(x.dims, amounts, strict=True)
        if low < 0 or high < 0
    }
    return build.slice(x, cuts) if cuts else x


def _pad(op: Any, x: Tracer, value: Tracer) -> Tracer:
    columns = [integers(op, k) for k in ("edge_padding_low", "edge_padding_high", "interior_padding")]
    return padded(x, value, list(zip(*columns, strict=True)))


def _concatenate(op: Any, *xs: Tracer) -> Tracer:
    return build.concat(xs, xs[0].dims[int(op.attributes["dimension"])])


def _dot_general(op: Any, x: Tracer, y: Tracer) -> Tracer:
    both, summed, free = _dot_numbers(op)
    names: list[dict[int, str]] = [{}, {}]
    for k, pairs in (("both", both), ("summed", summed)):
        for number, pair in enumerate(pairs):
            for side, i in enumerate(pair):
                names[side][i] = f"{k}~{number}"
    for side in range(2):
        for i in free[side]:
            names[side][i] = f"free{side}~{i}"
    dtype = dtype_of(op.results[0])
    if dtypes.is_bool(dtype):
        raise RefusedError("products of bools are not summed. Convert them to integers")
    wide = dtype if dtype.itemsize >= x.dtype.itemsize else x.dtype
    sides = [given(build.cast(v, wide), [names[side][i] for i in range(len(v.dims))]) for side, v in enumerate((x, y))]
    order = [f"both~{i}" for i in range(len(both))]
    order += [names[side][i] for side in range(2) for i in free[side]]
    made = build.contract(sides, [f"summed~{i}" for i in range(len(summed))], order)
    return in_axes(build.cast(made, dtype), order)


def _dot_numbers(op: Any) -> tuple[Any, Any, Any]:
    n = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    both = list(zip(n.lhs_batching_dimensions, n.rhs_batching_dimensions, strict=True))
    summed = list(zip(n.lhs_contracting_dimensions, n.rhs_contracting_dimensions, strict=True))
    free = [
        [i for i in range(len(shape_of(v))) if i not in {p[side] for p in (*both, *summed)}]
        for side, v in enumerate(op.operands)
    ]
    return both, summed, free


RULES: dict[str, Rule] = {
    **{name: _unary(op) for name, op in _UNARY.items()},
    **{name: _binary(name, op) for name, op in _BINARY.items()},
    "bitcast_convert": _bitcast,
    "broadcast_in_dim": _broadcast_in_dim,
    "clamp": _clamp,
    "compare": _compare,
    "complex": _complex,
    "concatenate": _concatenate,
    "constant": _constant,
    "convert": _convert,
    "divide": _divide,
    "dot_general": _dot_general,
    "imag": lambda _, x: build.imag(x),
    "iota": _iota,
    "logistic": lambda _, x: sigmoid(x),
    "optimization_barrier": _same,
    "pad": _pad,
    "real": lambda _, x: build.real(x),
    "reduce_precision": _reduce_precision,
    "remainder": _remainder,
    "reshape": _reshape,
    "reverse": _reverse,
    "round_nearest_afz": _round_away,
    "select": _select,
    "shift_right_logical": _shift_right_logical,
    "slice": _slice,
    "square": lambda _, x: build.binary("mul", x, x),
    "transpose": _transpose,
}
