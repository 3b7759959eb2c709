"""Ops of random programs that order elements, and running sums."""

from __future__ import annotations

from typing import Any

import named
import numpy as np
from maker import Maker, makes
from moving import renamed, wrapped
from named import INTS, Named, UnknownError, is_float
from operations import op
from program import OPERATIONS, Statement, Values


def _orderable(g: Maker) -> Any:
    return lambda a: a.dtype != "bool" and (is_float(a.dtype) or not g.kind.smooth)


def _said(**options: bool) -> str:
    return "".join(f", {name}=True" for name, value in options.items() if value)


@op(
    "scan",
    lambda x, kind, dim, reverse, exclusive: f"xt.cum{kind}({x}, {dim!r}{_said(reverse=reverse, exclusive=exclusive)})",
)
def _running(x: Named, kind: str, dim: str, reverse: bool, exclusive: bool) -> Named:
    return named.running(kind, x, dim, reverse, exclusive)


@makes(1.5)
def _make_running(g: Maker) -> Any:
    found = g.pick_with_dim(_orderable(g))
    if found is None:
        return None
    kind = g.rng.choice(("sum", "sum", "max", "min") if g.kind.smooth else ("sum", "sum", "max", "min", "prod"))
    exclusive = kind in ("sum", "prod") and g.rng.random() < 0.2
    params = {"kind": kind, "dim": found[1], "reverse": g.rng.random() < 0.4, "exclusive": exclusive}
    return g.add("scan", [found[0]], params)


@op("sort", lambda x, kind, dim, descending: f"xt.{kind}({x}, {dim!r}{_said(descending=descending)})")
def _sort(x: Named, kind: str, dim: str, descending: bool) -> Named:
    return (named.ordered if kind == "sort" else named.order)(x, dim, descending)


@makes(1)
def _make_sort(g: Maker) -> Any:
    found = g.pick_with_dim(_orderable(g))
    if found is None:
        return None
    kind = "sort" if g.kind.smooth else g.rng.choice(("sort", "argsort"))
    return g.add("sort", [found[0]], {"kind": kind, "dim": found[1], "descending": g.rng.random() < 0.4})


class TopK:
    def text(self, s: Statement) -> str:
        return f"xt.top_k({s.args[0]}, {s.params['k']}, {s.params['dim']!r})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        (x,), dim, k = args, s.params["dim"], s.params["k"]
        if k > x.sizes[dim]:
            raise named.RefusedError("more than there are")
        begin = tuple(slice(0, k) if d == dim else slice(None) for d in x.dims)
        both = named.ordered(x, dim, True), named.order(x, dim, True)
        return tuple(named.moved(lambda a: a[begin], y, y.dims) for y in both)


OPERATIONS["top_k"] = TopK()


@makes(0.8)
def _make_top_k(g: Maker) -> Any:
    found = g.pick_with_dim(_orderable(g))
    if found is None or found[1] in g.open or g.values[found[0]].sizes[found[1]] == 0:
        return None
    x, dim = found
    top = g.add("top_k", [x], {"k": g.rng.randint(1, g.values[x].sizes[dim]), "dim": dim}, outs=2)
    places = g.statements[-1].outs[1] if top else None
    if places and not g.kind.smooth:
        renamed(g, places, dim)
    return renamed(g, top, dim)


@op(
    "quantile",
    lambda x, q, dim: f"xt.quantile({x}, {q}, {dim!r})" if q is not None else f"xt.median({x}, {dim!r})",
)
def _quantile(x: Named, q: float | None, dim: str) -> Named:
    """Between the two elements around a place; rounded as the interpolation is."""
    n, axis = x.sizes[dim], x.axis(dim)
    if n == 0:
        raise named.EmptyError
    dtype = x.dtype if is_float(x.dtype) else "float64"
    x = named.cast(x, dtype)
    at = np.longdouble(0.5 if q is None else q) * (n - 1)
    below = int(np.floor(at))
    values = np.sort(x.value, axis)
    low, high = values.take(below, axis), values.take(min(below + 1, n - 1), axis)
    error = x.error.max(axis)
    with np.errstate(all="ignore"):
        value = np.where(low == high, low, low + (high - low) * (at - below))
        nan = np.isnan(x.value).any(axis)
        error = np.where((np.isinf(low) | np.isinf(high)) & ~nan, np.inf, error)
        value = np.where(nan, np.nan, value)
        sizes = np.where(np.isnan(value), np.nan, np.abs(low) + np.abs(high))
    return named.made([d for d in x.dims if d != dim], dtype, value, error, n + 8, sizes)


@makes(0.8)
def _make_quantile(g: Maker) -> Any:
    found = g.pick_with_dim(_orderable(g))
    if found is None or g.values[found[0]].sizes[found[1]] == 0:
        return None
    return g.add("quantile", [found[0]], {"q": g.rng.choice((None, 0.0, 0.25, 0.3, 0.9, 1.0)), "dim": found[1]})


@op("rank", lambda x, dim: f"xt.rank({x}, {dim!r})")
def _rank(x: Named, dim: str) -> Named:
    """From 1; ties share the mean of their ranks."""
    if x.error.size and x.error.max() > 0:
        raise UnknownError
    v = np.moveaxis(x.value, x.axis(dim), -1)
    less = (v[..., None, :] < v[..., :, None]).sum(-1)
    equal = (v[..., None, :] == v[..., :, None]).sum(-1)
    ranks = np.where(v == v, less + (equal + 1) / 2, np.nan)
    return named.exact(np.moveaxis(ranks, -1, x.axis(dim)), x.dims, "float64")


@makes(0.5)
def _make_rank(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: a.dtype != "bool" and a.value.size < 5000)
    return g.add("rank", [found[0]], {"dim": found[1]}) if found and not g.kind.smooth else None


@op("searchsorted", lambda x, v, side, dim: f"xt.searchsorted(xt.sort({x}), {v}, side={side!r}, dim={dim!r})")
def _searchsorted(x: Named, v: Named, side: Any, dim: str) -> Named:
    if any(a.error.size and a.error.max() > 0 for a in (x, v)):
        raise UnknownError
    return named.exact(np.searchsorted(np.sort(x.value), v.value, side), v.dims, "int64")


@makes(0.5)
def _make_searchsorted(g: Maker) -> Any:
    x = g.pick(lambda a: len(a.dims) == 1 and a.dtype != "bool")
    v = g.pick(lambda a: a.dtype == g.values[x].dtype and not (set(a.dims) & set(g.values[x].dims))) if x else None
    if x is None or v is None or g.kind.smooth:
        return None
    return g.add("searchsorted", [x, v], {"side": g.rng.choice(("left", "right")), "dim": g.values[x].dims[0]})


@op("take_along", lambda x, k, dim: f"xt.take_along({x}, {k}, {dim!r})")
def _take_along(x: Named, k: Named, dim: str) -> Named:
    order = [k.axis(d) for d in x.dims]
    at = wrapped(k, x.sizes[dim]).transpose(order)
    return named.moved(lambda a: np.take_along_axis(a, at, x.axis(dim)), x, x.dims)


@makes(1)
def _make_take_along(g: Maker) -> Any:
    """At positions that an input holds, or that sort something else."""
    found = g.pick_with_dim(lambda a: is_float(a.dtype) or not g.kind.smooth)
    if found is None:
        return None
    x, dim = found
    dims = g.values[x].dims
    k = None
    if g.rng.random() < 0.5:
        y = g.pick(lambda a: set(a.dims) == set(dims) and a.dtype in (*INTS, *named.FLOATS))
        params = {"kind": "argsort", "dim": dim, "descending": g.rng.random() < 0.5}
        k = g.add("sort", [y], params) if y else None
    elif g.sizes.get(dim) == g.values[x].sizes[dim]:
        k = g.position_input(dim, g.rng.sample(dims, len(dims)))
    return g.add("take_along", [x, k], {"dim": dim}) if k else None
