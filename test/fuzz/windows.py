"""Ops of random programs over windows and blocks of neighbours."""

from __future__ import annotations

from typing import Any

import named
import numpy as np
from maker import Maker, makes
from moving import closed, renamed
from named import Named, elementwise, is_float, moved
from operations import _dot as contracted
from operations import _reduce, op

# What windows are of that may be NaN.
_WITH_NAN = {"int8": "float32", "uint8": "float32", "int16": "float32", "uint16": "float32"}
KINDS = ("sum", "mean", "max", "min", "prod")


def _slid(a: np.ndarray, axis: int, size: int, before: int, fill: Any) -> np.ndarray:
    """All windows of an axis, along a new last one; what lies outside is `fill`."""
    widths = [(before, size - 1 - before) if i == axis else (0, 0) for i in range(a.ndim)]
    padded = np.pad(a, widths, constant_values=fill)
    if padded.shape[axis] < size:  # of nothing
        return np.zeros((*a.shape, size), a.dtype)
    return np.lib.stride_tricks.sliding_window_view(padded, size, axis)


def _rolling_text(x: str, dim: str, size: int, kind: str, center: bool, least: int | None) -> str:
    options = f"{', center=True' if center else ''}{f', min_periods={least}' if least is not None else ''}"
    return f"{x}.rolling({dim}={size}{options}).{kind}()"


@op("rolling", _rolling_text)
def _rolling(x: Named, dim: str, size: int, kind: str, center: bool, least: int | None) -> Named:
    """NaN where fewer than `least` elements of a window are there and are not NaN."""
    dtype = x.dtype if is_float(x.dtype) else _WITH_NAN.get(x.dtype, "float64")
    x = named.cast(x, dtype)
    before = size // 2 if center else size - 1
    value = _slid(x.value, x.axis(dim), size, before, np.nan)
    error = _slid(x.error, x.axis(dim), size, before, 0.0)
    there = ~np.isnan(value)
    nothing = {"max": -np.inf, "min": np.inf, "prod": 1}.get(kind, 0)
    windows = Named((*x.dims, ""), dtype, np.where(there, value, np.longdouble(nothing)), error)
    counts = there.sum(-1)
    if kind == "mean":
        whole = named.total(windows, "")
        number = named.exact(np.maximum(counts, 1), x.dims, dtype)
        result = elementwise(lambda a, n: a / n, [whole, number], dtype, 2)
    else:
        result = _reduce(windows, kind, "")
    full = counts >= (size if least is None else least)
    unsure = np.isinf(error).any(-1)
    return Named(
        x.dims,
        dtype,
        np.where(full, result.value, np.longdouble(np.nan)),
        np.where(unsure, np.inf, np.where(full, result.error, 0.0)),
    )


@makes(1.5)
def _make_rolling(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: a.dtype != "bool" and (is_float(a.dtype) or not g.kind.smooth))
    if found is None:
        return None
    size = g.rng.choice((1, 2, 3, 3, 4, 7))
    # Derivatives are compared where there is no NaN.
    least = g.rng.choice((1, size)) if g.rng.random() < 0.4 or g.kind.smooth else None
    if g.kind.smooth:
        least = 1
    params = {"dim": found[1], "size": size, "kind": g.rng.choice(KINDS), "center": g.rng.random() < 0.4}
    return g.add("rolling", [found[0]], {**params, "least": least})


@op("coarsen", lambda x, dim, size, kind: f'{x}.coarsen({dim}={size}, boundary="trim").{kind}()')
def _coarsen(x: Named, dim: str, size: int, kind: str) -> Named:
    axis, n = x.axis(dim), x.sizes[dim] // size
    begin = tuple(slice(0, n * size) if d == dim else slice(None) for d in x.dims)

    def blocks(a: np.ndarray) -> np.ndarray:
        return a[begin].reshape(*a.shape[:axis], n, size, *a.shape[axis + 1 :])

    return _reduce(moved(blocks, x, [*x.dims[: axis + 1], "", *x.dims[axis + 1 :]]), kind, "")


@makes(1)
def _make_coarsen(g: Maker) -> Any:
    found = closed(g)
    if not found or g.values[found[0]].dtype == "bool":
        return None
    x, dim = found
    kind = g.rng.choice(KINDS if is_float(g.values[x].dtype) else ("sum", "max", "min", "prod"))
    return renamed(g, g.add("coarsen", [x], {"dim": dim, "size": g.rng.randint(1, 4), "kind": kind}), dim)


@op("conv", lambda x, w, dim, by: f"xt.nn.conv({x}, {w}, {{{dim!r}: {by!r}}})")
def _conv(x: Named, w: Named, dim: str, by: str) -> Named:
    """The windows of `x` along `dim`, as long as the kernel's `by`, contracted with it."""
    size, axis = w.sizes[by], x.axis(dim)

    def windows(a: np.ndarray) -> np.ndarray:
        return np.lib.stride_tricks.sliding_window_view(a, size, axis)

    return contracted(moved(windows, x, (*x.dims, by)), w, by)


@makes(1)
def _make_conv(g: Maker) -> Any:
    found = closed(g)
    if not found or g.values[found[0]].dtype not in (*named.FLOATS, "int32", "int64"):
        return None
    x, dim = found
    w = g.pick(lambda a: a.dtype == g.values[x].dtype and dim not in a.dims)
    kernels = [d for d in g.values[w].dims if d not in g.values[x].dims and d not in g.open] if w else []
    if w is None or not kernels:
        return None
    by = g.rng.choice(kernels)
    if not 1 <= g.values[w].sizes[by] <= min(9, g.values[x].sizes[dim]):
        return None
    return renamed(g, g.add("conv", [x, w], {"dim": dim, "by": by}), dim)
