"""Complex numbers in random programs.

An error bounds the size of the difference, so it holds for both parts. Where a part is not finite, or on a branch cut,
anything may come out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import named
import numpy as np
from maker import Maker, makes
from named import Named, aligned
from operations import op

_PART = {"complex64": "float32", "complex128": "float64"}
_WHOLE = {part: whole for whole, part in _PART.items()}


def _eps(dtype: str) -> float:
    return 2.0**-24 if _PART.get(dtype, dtype) == "float32" else 2.0**-53


def _made(dims: Any, dtype: str, value: Any, error: Any, ulps: float = 0.0, sizes: Any = None) -> Named:
    """A result with `ulps` roundings of `sizes`, by default its own absolute values."""
    part = _PART.get(dtype, dtype)
    value = np.asarray(value)
    with np.errstate(all="ignore"):
        size = np.abs(value if sizes is None else sizes).astype("float64")
        error = np.asarray(error, "float64") + ulps * (_eps(dtype) * size + named.smallest(part))
        unsure = ~(size + error < 0.25 * named.largest(part)) | ~np.isfinite(value)
    return Named(tuple(dims), dtype, value, np.where(unsure, np.inf, error))


def _to(x: Named, dtype: str) -> Named:
    """In another complex dtype."""
    x = Named(x.dims, x.dtype, x.value.astype(np.clongdouble), x.error)
    return _made(x.dims, dtype, x.value, x.error, 1 if _eps(dtype) > _eps(x.dtype) else 0)


@op("complex", lambda x, y: f"xt.complex({x}, {y})")
def _complex(x: Named, y: Named) -> Named:
    dims, (re, im), (a, b) = aligned([x, y])
    re, im, a, b = np.broadcast_arrays(re, im, a, b)
    value = np.empty(re.shape, np.clongdouble)
    value.real, value.imag = re, im
    with np.errstate(all="ignore"):
        return _made(dims, _WHOLE[x.dtype], value, np.hypot(a, b))


Bound = Callable[[np.ndarray, np.ndarray, np.ndarray, float], Any]


def _exp_error(z: np.ndarray, e: np.ndarray, y: np.ndarray, eps: float) -> Any:
    return np.abs(y) * np.expm1(e) + 32 * eps * np.abs(y) + np.where(np.abs(z.imag) > 1e4, np.inf, 0)


def _wave_error(z: np.ndarray, e: np.ndarray, y: np.ndarray, eps: float) -> Any:
    steep = np.cosh(np.abs(z.imag) + e)
    return e * steep + 32 * eps * steep + np.where(np.abs(z.real) > 1e4, np.inf, 0)


def _root_error(z: np.ndarray, e: np.ndarray, y: np.ndarray, eps: float) -> Any:
    cut = (z.real <= e) & (np.abs(z.imag) <= e)
    return np.where(cut & ((e > 0) | (z.imag == 0)), np.inf, e / np.where(y == 0, 1, np.abs(y)) + 16 * eps * np.abs(y))


def _angle_error(z: np.ndarray, e: np.ndarray, y: np.ndarray, eps: float) -> Any:
    cut = (z.real <= e) & (np.abs(z.imag) <= e)
    return np.where(cut, np.inf, 2 * e / (np.abs(z) - e) + 32 * eps)


def _inverse_error(z: np.ndarray, e: np.ndarray, y: np.ndarray, eps: float) -> Any:
    return np.where(np.abs(z) <= 2 * e, np.inf, 2 * e * np.abs(y) ** 2 + 32 * eps * np.abs(y))


# The function, whether it is smooth and real, and the bound.
UNARY: dict[str, tuple[Callable[[np.ndarray], np.ndarray], bool, bool, Bound]] = {
    "conj": (np.conj, True, False, lambda z, e, y, eps: e),
    "negative": (np.negative, True, False, lambda z, e, y, eps: e),
    "square": (np.square, True, False, lambda z, e, y, eps: (2 * np.abs(z) + e) * e + 8 * eps * np.abs(y)),
    "exp": (np.exp, True, False, _exp_error),
    "sin": (np.sin, True, False, _wave_error),
    "cos": (np.cos, True, False, _wave_error),
    "sqrt": (np.sqrt, False, False, _root_error),
    "reciprocal": (lambda z: 1 / z, False, False, _inverse_error),
    "real": (np.real, True, True, lambda z, e, y, eps: e),
    "imag": (np.imag, True, True, lambda z, e, y, eps: e),
    "abs": (np.abs, False, True, lambda z, e, y, eps: e + 8 * eps * np.abs(y)),
    "angle": (np.angle, False, True, _angle_error),
}


@op("complex_unary", lambda x, fn: f"xt.{fn}({x})")
def _unary(x: Named, fn: str) -> Named:
    f, _, is_real, bound = UNARY[fn]
    dtype = _PART[x.dtype] if is_real else x.dtype
    with np.errstate(all="ignore"):
        value = f(x.value)
        error = np.asarray(bound(x.value, x.error, value, _eps(dtype)), "float64")
        return _made(x.dims, dtype, value, np.where(np.isfinite(x.value), error, np.inf), 0 if is_real else 1)


def _product_error(a: Any, b: Any, e: Any, f: Any) -> Any:
    return np.abs(a) * f + np.abs(b) * e + e * f


@op("complex_binary", lambda x, y, op: f"{x} {op} {y}")
def _binary(x: Named, y: Named, op: str) -> Named:
    dtype = np.result_type(x.dtype, y.dtype).name
    x, y = _to(x, dtype), _to(y, dtype)
    dims, (a, b), (e, f) = aligned([x, y])
    with np.errstate(all="ignore"):
        if op in ("+", "-"):
            return _made(dims, dtype, a + b if op == "+" else a - b, e + f, 2)
        if op == "*":
            return _made(dims, dtype, a * b, _product_error(a, b, e, f), 8, np.abs(a) * np.abs(b))
        if op == "/":
            quotient = a / b
            error = np.where(np.abs(b) <= 2 * f, np.inf, (e + np.abs(quotient) * f) / (np.abs(b) - f))
            return _made(dims, dtype, quotient, error, 32)
        same = (a == b) == (op == "==")
        near = (np.abs(a - b) <= e + f) & (e + f > 0) | ~np.isfinite(a - b)
        return Named(dims, "bool", same, np.where(near, np.inf, 0.0))


@op("complex_reduce", lambda x, kind, dim: f"xt.{kind}({x}, {dim!r})")
def _reduce(x: Named, kind: str, dim: str) -> Named:
    axis, n = x.axis(dim), x.sizes[dim]
    with np.errstate(all="ignore"):
        if kind == "cumsum":
            sizes, error = np.add.accumulate(np.abs(x.value), axis), np.add.accumulate(x.error, axis)
            return _made(x.dims, x.dtype, np.add.accumulate(x.value, axis), error, 2 * n, sizes)
        dims = [d for d in x.dims if d != dim]
        total, error, sizes = x.value.sum(axis), x.error.sum(axis), np.abs(x.value).sum(axis)
        if kind == "mean":
            total, error, sizes = total / np.longdouble(n), error / n, sizes / n
        return _made(dims, x.dtype, total, error, 2 * n + 2, sizes)


@op("complex_dot", lambda x, y, dim: f"xt.dot({x}, {y}, dim={dim!r})")
def _dot(x: Named, y: Named, dim: str) -> Named:
    dims, (a, b), (e, f) = aligned([x, y])
    axis, n = dims.index(dim), x.sizes[dim]
    with np.errstate(all="ignore"):
        error = np.where(np.isfinite(a) & np.isfinite(b), _product_error(a, b, e, f), np.inf)
        total, sizes = (a * b).sum(axis), (np.abs(a) * np.abs(b)).sum(axis)
        return _made([d for d in dims if d != dim], x.dtype, total, error.sum(axis), 4 * n + 8, sizes)


@op("complex_where", lambda c, x, y: f"xt.where({c}, {x}, {y})")
def _where(c: Named, x: Named, y: Named) -> Named:
    dtype = np.result_type(x.dtype, y.dtype).name
    dims, (cv, xv, yv), (ce, xe, ye) = aligned([c, _to(x, dtype), _to(y, dtype)])
    return Named(dims, dtype, np.where(cv, xv, yv), np.where(ce > 0, np.inf, np.where(cv, xe, ye)))


@op(
    "complex_moved",
    lambda x, dim, how: f"{x}.isel({dim}=slice(None, None, -1))" if how == "flip" else f"{x}.roll({dim}=1)",
)
def _moved(x: Named, dim: str, how: str) -> Named:
    axis = x.axis(dim)
    return named.moved(lambda v: np.flip(v, axis) if how == "flip" else np.roll(v, 1, axis), x, x.dims)


@op("fourier", lambda x, dim, inverse: f"xt.fft.{'ifft' if inverse else 'fft'}({x}, {dim!r})")
def _fourier(x: Named, dim: str, inverse: bool) -> Named:
    axis, n = x.axis(dim), x.sizes[dim]
    turns = np.outer(np.arange(n), np.arange(n)) % n / np.longdouble(n) * (2 if inverse else -2)
    matrix = np.exp(1j * np.arctan2(np.longdouble(0), np.longdouble(-1)) * turns) / (n if inverse else 1)

    def sums(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.moveaxis(np.tensordot(a, weights, (axis, 0)), -1, axis)

    with np.errstate(all="ignore"):
        error = np.where(np.isfinite(x.value), x.error, np.inf)
        # An infinite error is one of every value: infinity times a weight, and not NaN times it.
        spread, sizes = (sums(a, np.abs(matrix).astype("float64")) for a in (error, np.abs(x.value).astype("float64")))
        return _made(x.dims, x.dtype, sums(x.value, matrix), spread, 2 * n + 8, sizes)


@makes(5)
def _make_complex(g: Maker) -> Any:
    x = g.pick(lambda a: a.dtype in _WHOLE)
    if x is None or _WHOLE[g.values[x].dtype] not in g.kind.dtypes:
        return None
    y = g.pick(lambda a: a.dtype == g.values[x].dtype)
    z = g.add("complex", [x, y]) if y else None
    for _ in range(g.rng.randint(1, 3)):
        z = _step(g, z) if z and g.values[z].dtype in _PART else z
    return z


@makes(6)
def _make_step(g: Maker) -> Any:
    x = g.pick_complex()
    return _step(g, x) if x else None


def _step(g: Maker, x: str) -> Any:
    a, draw = g.values[x], g.rng.random()
    if draw < 0.45:
        fns = [fn for fn, (_, smooth, _, _) in UNARY.items() if smooth or not g.kind.smooth]
        return g.add("complex_unary", [x], {"fn": g.rng.choice(fns)})
    if draw < 0.7 or not a.dims:
        y = g.pick_complex() or x
        ops = ("+", "-", "*") if g.kind.smooth else ("+", "-", "*", "/", "==", "!=")
        return g.add("complex_binary", [x, y], {"op": g.rng.choice(ops)})
    dim = g.rng.choice(a.dims)
    if draw < 0.85:
        return g.add("complex_reduce", [x], {"kind": g.rng.choice(("sum", "mean", "cumsum")), "dim": dim})
    if draw < 0.9:
        y = g.pick_complex(lambda b: dim in b.dims and b.dtype == a.dtype)
        return g.add("complex_dot", [x, y], {"dim": dim}) if y else None
    if draw < 0.95:
        c, y = g.pick(lambda b: b.dtype == "bool"), g.pick_complex()
        return g.add("complex_where", [c, x, y]) if c and y else None
    if g.rng.random() < 0.5 and dim not in g.open and a.sizes[dim] and a.value.size * a.sizes[dim] < 1 << 20:
        return g.add("fourier", [x], {"dim": dim, "inverse": g.rng.random() < 0.5})
    return g.add("complex_moved", [x], {"dim": dim, "how": g.rng.choice(("flip", "roll"))})
