"""Ops of StableHLO that read and write at positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir.dialects import stablehlo

from ...base import dtypes
from ...trace import build
from ...trace.tracer import Tracer
from .parts import blocks_of, combination, integers, shape_of
from .values import Reader, RefusedError, filled, given, in_axes, integer

_SCATTERS = {"add": "add", "second": "set", "multiply": "mul", "maximum": "max", "minimum": "min"}
_POSITION = "position~"


def _wide(at: Tracer) -> Tracer:
    return build.cast(at, np.dtype("int64"))


def _clamped(at: Tracer, last: int) -> Tracer:
    return build.binary("minimum", build.binary("maximum", _wide(at), integer(0)), integer(last))


def _ranges(starts: Sequence[Tracer], shape: Sequence[int], sizes: Sequence[int], dims: Sequence[str]) -> Any:
    """The positions that a slice from `starts` has along each dim that it does not fill, under new names."""
    found, names = {}, {}
    for d, start, n, size in zip(dims, starts, shape, sizes, strict=True):
        if size == n:
            continue
        names[d] = f"{d}slice"
        found[d] = build.binary("add", _clamped(start, n - size), build.iota(names[d], size))
    return found, names


def _dynamic_slice(op: Any, x: Tracer, *starts: Tracer) -> Tracer:
    sizes, dims = integers(op, "slice_sizes"), x.dims
    at, names = _ranges(starts, shape_of(op.operands[0]), sizes, dims)
    if not at:
        return x
    return in_axes(build.gather("clip", x, at), [names.get(d, d) for d in dims])


def _dynamic_update_slice(op: Any, x: Tracer, updates: Tracer, *starts: Tracer) -> Tracer:
    dims = x.dims
    at, names = _ranges(starts, shape_of(op.operands[0]), shape_of(op.operands[1]), dims)
    if not at:
        return updates
    updates = build.rename(updates, {d: names[d] for d in at})
    return in_axes(build.scatter("set", "drop", x, at, updates), dims)


def _split_positions(at: Tracer, axis: int, names: Sequence[str]) -> list[Tracer]:
    """One array for each number along `axis`; its dims get `names`."""
    rank = len(at.dims)
    if axis == rank:
        return [given(_wide(at), names)]
    dims = [*names[:axis], _POSITION, *names[axis:]]
    at = given(_wide(at), dims)
    count: Any = at.spec.sizes[_POSITION]
    return [build.squeeze(build.slice(at, {_POSITION: (i, 1, 1)}), [_POSITION]) for i in range(count)]


def _gather(op: Any, x: Tracer, at: Tracer) -> Tracer:
    n = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    sizes, shape = integers(op, "slice_sizes"), shape_of(op.operands[0])
    made = shape_of(op.results[0])
    if 0 in made:
        return filled(build.constant(np.zeros((), x.dtype)), made)
    if 0 in shape:
        raise RefusedError("it reads from an array without elements")
    places = [i for i in range(len(made)) if i not in n.offset_dims]
    batch = [f"batch~{i}" for i in places]
    gone = {*n.collapsed_slice_dims, *n.operand_batching_dims}
    kept = [i for i in range(len(shape)) if i not in gone]
    offsets = dict(zip(kept, [f"offset~{i}" for i in n.offset_dims], strict=True))
    # The dims of the source: paired ones have the name of a dim of the positions, whole ones that of the result.
    dims = [f"source~{i}" for i in range(len(shape))]
    for i, j in zip(n.operand_batching_dims, n.start_indices_batching_dims, strict=True):
        dims[i] = batch[j - (j > n.index_vector_dim)]
    indices = dict(zip(n.start_index_map, _split_positions(at, n.index_vector_dim, batch), strict=True))
    along = {}
    for i, size in enumerate(sizes):
        start = indices.get(i)
        if i in n.operand_batching_dims:
            continue
        if start is None and size == shape[i] and i in offsets:
            dims[i] = offsets[i]
            continue
        position = integer(0) if start is None else _clamped(start, shape[i] - size)
        if i in offsets:
            position = build.binary("add", position, build.iota(offsets[i], size))
        along[dims[i]] = position
    source = given(x, dims)
    y = build.gather("clip", source, along) if along else source
    y = _without_gradient(y, [(indices[i], shape[i] - sizes[i]) for i in indices])
    order = [""] * len(made)
    for i, d in zip(places, batch, strict=True):
        order[i] = d
    for i in n.offset_dims:
        order[i] = f"offset~{i}"
    return in_axes(build.broadcast(y, order, dict(zip(order, made, strict=True))), order)


def _without_gradient(y: Tracer, starts: Sequence[tuple[Tracer, int]]) -> Tracer:
    """What was read, without derivatives where a position was out of range. `starts`: positions, and the last that is
    in range. JAX's transposes of such reads are updates, which have no effect there. The values are the same, so
    programs without derivatives do not have this."""
    if not dtypes.is_inexact(y.dtype):
        return y
    for start, last in starts:
        at = _wide(start)
        outside = build.binary("or", build.compare("lt", at, integer(0)), build.compare("gt", at, integer(last)))
        y = build.select(outside, build.stop_gradient(y), y)
    return y


def _scatter(reader: Reader, op: Any, known: Any, x: Tracer, at: Tracer, updates: Tracer, *others: Tracer) -> Tracer:
    n = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    kind = _SCATTERS.get(combination(blocks_of(op)[0]) or "")
    if others or kind is None or (dtypes.is_bool(x.dtype) and kind != "set"):
        raise RefusedError(
            "only updates of one array by add, multiply, maximum, minimum or the update itself are served"
        )
    shape, given_shape = shape_of(op.operands[0]), shape_of(op.operands[2])
    places = [i for i in range(len(given_shape)) if i not in n.update_window_dims]
    # Updates of one position go in the order of the names: a letter and a number of fixed length.
    batch = [f"batch~{i:03}" for i in range(len(places))]
    gone = {*n.inserted_window_dims, *n.input_batching_dims}
    kept = [i for i in range(len(shape)) if i not in gone]
    windows = dict(zip(kept, n.update_window_dims, strict=True))
    dims = [f"target~{i}" for i in range(len(shape))]
    for i, j in zip(n.input_batching_dims, n.scatter_indices_batching_dims, strict=True):
        dims[i] = batch[j - (j > n.index_vector_dim)]
    indices = dict(zip(n.scattered_dims_to_operand_dims, _split_positions(at, n.index_vector_dim, batch), strict=True))
    names = [""] * len(given_shape)
    for i, d in zip(places, batch, strict=True):
        names[i] = d
    along = {}
    for i in range(len(shape)):
        if i in n.input_batching_dims:
            continue
        place, start = windows.get(i), indices.get(i)
        if place is not None:
            names[place] = f"window~{i:03}"
        size = 1 if place is None else given_shape[place]
        if start is None and place is not None and size == shape[i]:
            dims[i] = names[place]
            continue
        position = integer(0) if start is None else start
        # A window that is not inside as a whole has no effect. Below 0, positions would count from the end.
        outside = build.binary("or", build.compare("lt", position, integer(0)),
                               build.compare("gt", position, integer(shape[i] - size)))  # fmt: skip
        position = build.select(outside, integer(shape[i]), position)
        if place is not None:
            position = build.binary("add", position, build.iota(names[place], size))
        along[dims[i]] = position
    target, updates = given(x, dims), given(updates, names)
    if not along:
        raise RefusedError("it has no positions")
    return in_axes(build.scatter(kind, "drop", target, along, updates), dims)


RULES: dict[str, Callable[..., Any]] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
}
