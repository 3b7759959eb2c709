"""Ops of random programs on samples: reductions by group, counts, covariances, integrals and slopes."""

from __future__ import annotations

import itertools
from typing import Any

import named
import numpy as np
from maker import Maker, makes
from named import INTS, Named, UnknownError, elementwise, is_float
from operations import op


def _wide(x: Named) -> Named:
    return x if is_float(x.dtype) else named.cast(x, "float64")


def _over(x: Named, number: float) -> Named:
    return elementwise(lambda v: v / np.longdouble(number), [x], x.dtype, 2)


# Groups.


def _group(kind: str, x: Named, dim: str) -> Named:
    """The reduction of one group, which may be empty."""
    if kind == "sum":
        return named.total(x, dim)
    if kind == "prod":
        return named.product(x, dim)
    if kind == "mean":
        x = _wide(x)
        return _over(named.total(x, dim), x.sizes[dim])
    if x.sizes[dim]:
        return named.extreme(x, dim, kind == "max")
    if is_float(x.dtype):
        start: Any = -np.inf if kind == "max" else np.inf
    else:
        start = getattr(np.iinfo(x.dtype), "min" if kind == "max" else "max")
    like = named.moved(lambda v: v.sum(x.axis(dim)), x, [d for d in x.dims if d != dim])
    return Named(like.dims, x.dtype, np.full_like(like.value, start, dtype=x.value.dtype), np.zeros(like.value.shape))


@op("segment", lambda x, k, kind, dim, n, into: f"xt.segment_{kind}({x}, {k}, {n}, into={into!r})")
def _segment(x: Named, k: Named, kind: str, dim: str, n: int, into: str) -> Named:
    axis, codes = x.axis(dim), k.known().value
    parts = []
    for i in range(n):
        there = np.flatnonzero(codes == i)
        parts.append(_group(kind, named.moved(lambda v, t=there: v.take(t, axis), x, x.dims), dim))
    dims = tuple(into if d == dim else d for d in x.dims)
    return Named(
        dims, parts[0].dtype, *(np.stack(v, axis) for v in zip(*((p.value, p.error) for p in parts), strict=True))
    )


@makes(4)
def _make_segment(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: is_float(a.dtype) or (not g.kind.smooth and a.dtype != "bool"))
    if found is None:
        return None
    x, dim = found
    k = g.position_input(dim, [dim])
    n = g.rng.choice((1, 2, 3, 5, 8))
    into = g.new_dim(n)
    if k is None or (into in g.values[x].dims and into != dim):
        return None
    kind = g.rng.choice(
        ("sum", "mean", "max", "min") if g.kind.smooth else ("sum", "sum", "mean", "max", "min", "prod")
    )
    return g.add("segment", [x, k], {"kind": kind, "dim": dim, "n": n, "into": into})


# Counts.


@op("bincount", lambda k, dim, n, bin: f'xt.bincount({k}, length={n}, dim={dim!r}, bin={bin!r}, mode="drop")')
def _bincount(k: Named, dim: str, n: int, bin: str) -> Named:
    axis = k.axis(dim)
    value = np.stack([(k.known().value == i).sum(axis) for i in range(n)], -1)
    return named.exact(value, (*(d for d in k.dims if d != dim), bin), "int64")


@op("histogram", lambda x, dim, edges, bin: f"xt.histogram({x}, {edges}, dim={dim!r}, bin={bin!r})[0]")
def _histogram(x: Named, dim: str, edges: list[float], bin: str) -> Named:
    axis, v = x.axis(dim), x.known().value
    last = len(edges) - 2
    with np.errstate(invalid="ignore"):
        inside = [
            ((v >= low) & ((v <= high) if i == last else (v < high))).sum(axis)
            for i, (low, high) in enumerate(itertools.pairwise(edges))
        ]
    return named.exact(np.stack(inside, -1), (*(d for d in x.dims if d != dim), bin), "int64")


@makes(2)
def _make_counts(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: not a.error.any() and a.dtype != "bool")
    if found is None or g.kind.smooth or "int64" not in g.kind.dtypes:
        return None
    x, dim = found
    n = g.rng.choice((1, 2, 3, 5))
    bin = g.new_dim(n)
    if bin in g.values[x].dims:
        return None
    if g.values[x].dtype in INTS:
        return g.add("bincount", [x], {"dim": dim, "n": n, "bin": bin})
    if "float64" not in g.kind.dtypes:
        return None
    edges = sorted(g.rng.sample((-2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0, 8.0), n + 1))
    return g.add("histogram", [x], {"dim": dim, "edges": edges, "bin": bin})


@op("unique", lambda x, n, dim: f'xt.unique({x}, size={n}, dim={dim!r}, mode="drop")')
def _unique(x: Named, n: int, dim: str) -> Named:
    if not x.value.size:
        raise UnknownError
    found = np.unique(x.known().value)[:n]
    return named.exact(np.concatenate([found, np.full(n - len(found), found[0])]), (dim,), x.dtype)


@makes(0.8)
def _make_unique(g: Maker) -> Any:
    x = g.pick(lambda a: a.dtype in INTS and bool(a.value.size) and not a.error.any())
    if x is None or g.kind.smooth:
        return None
    n = g.rng.choice((1, 3, 8))
    dim = g.new_dim(n)
    return g.add("unique", [x], {"n": n, "dim": dim}) if dim not in g.values[x].dims else None


# Moments.


def _times(x: Named, y: Named) -> Named:
    return elementwise(np.multiply, [x, y], named.promoted(x.dtype, y.dtype), 1)


@op("cov", lambda x, y, dim: f"xt.cov({x}, {y}, {dim!r})")
def _cov(x: Named, y: Named, dim: str) -> Named:
    dtype, n = named.promoted(x.dtype, y.dtype), x.sizes[dim]
    x, y = named.cast(x, dtype), named.cast(y, dtype)
    a, b = (elementwise(np.subtract, [v, _over(named.total(v, dim), n)], dtype, 2) for v in (x, y))
    return _over(named.total(_times(a, b), dim), max(n - 1, 0))


@op("average", lambda x, w, dim: f"xt.average({x}, {dim!r}, {w})")
def _average(x: Named, w: Named, dim: str) -> Named:
    dtype = named.promoted(x.dtype, w.dtype)
    x, w = named.cast(x, dtype), named.cast(w, dtype)
    sums = [named.total(_times(x, w), dim), named.total(w, dim)]
    if not all(np.isfinite(s.value).all() for s in sums):
        raise named.UnknownError("whether a sum is rounded before it is divided")
    return elementwise(np.divide, sums, dtype, 2)


@makes(1.5)
def _make_moment(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: is_float(a.dtype))
    if found is None:
        return None
    x, dim = found
    y = g.pick(lambda a: is_float(a.dtype) and dim in a.dims)
    if y is None or g.values[x].sizes[dim] < 2:
        return None
    if g.rng.random() < 0.5:
        return g.add("cov", [x, y], {"dim": dim})
    square = g.add("unary", [y], {"fn": "square"})
    w = g.add("scalar", [square], {"op": "+", "number": 0.5, "left": False}) if square else None
    return g.add("average", [x, w], {"dim": dim}) if w else None


# Along a dim.


def _neighbours(x: Named, dim: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Values and errors with `dim` last; errors are unknown beside what is not finite."""
    axis = x.axis(dim)
    value, error = np.moveaxis(x.value, axis, -1), np.moveaxis(x.error, axis, -1)
    return value, np.where(np.isfinite(value), error, np.inf), axis


def _sloped(value: np.ndarray, error: np.ndarray, sizes: np.ndarray, x: Named, axis: int) -> Named:
    value, error, sizes = (np.moveaxis(v, -1, axis) for v in (value, error, sizes))
    return named.made(x.dims, x.dtype, value, error, 16, sizes)


@op("slope", lambda x, dim: f"xt.gradient({x}, {dim!r})")
def _slope(x: Named, dim: str) -> Named:
    if x.sizes[dim] < 2:
        raise named.UnknownError("a slope of one sample: an error where the size is known")
    value, error, axis = _neighbours(x, dim)
    n = value.shape[-1]
    low, high = np.maximum(np.arange(n) - 1, 0), np.minimum(np.arange(n) + 1, n - 1)
    with np.errstate(all="ignore"):
        slope = (value[..., high] - value[..., low]) / (high - low)
        spread = error[..., low] + error + error[..., high]
        sizes = np.abs(value[..., low]) + np.abs(value) + np.abs(value[..., high])
        return _sloped(slope, 2 * spread, np.where(np.isfinite(sizes), sizes, 0), x, axis)


@op("trapezoid", lambda x, dim: f"xt.trapezoid({x}, dim={dim!r})")
def _trapezoid(x: Named, dim: str) -> Named:
    """The sum of all samples, of which the outer ones count half: pairs that cancel say nothing about its error."""
    n, axis = x.sizes[dim], x.axis(dim)
    if n < 2:
        return named.total(named.moved(lambda v: v.take([], axis), x, x.dims), dim)
    weights = np.ones(n, np.longdouble)
    weights[[0, -1]] = 0.5
    shape = [n if d == dim else 1 for d in x.dims]
    return named.total(elementwise(lambda v: v * weights.reshape(shape), [x], x.dtype), dim)


@makes(0.8)
def _make_along(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: is_float(a.dtype))
    if found is None or (found[1] in g.open and g.rng.random() < 0.5):
        return None
    return g.add(g.rng.choice(("slope", "trapezoid")), [found[0]], {"dim": found[1]})
