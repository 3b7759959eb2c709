"""Reductions, products, shapes and joins of PyTensor, on named arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from ... import nn, ops
from ...base.errors import ArgumentError, UnsupportedError
from ...call.arrays import array
from ...linalg import diagonal
from .graph import KNOWN, Graph, Run, check, fixed, found, implements, run_of
from .values import axis, cast, fit, full, is_array, kept, longest, named, numbered, renamed, shape, size, squeezed

# ---- the same value --------------------------------------------------------------------------------------------------


@implements(
    "DeepCopyOp", "ViewOp", "TypeCastingOp", "TensorFromScalar", "ScalarFromTensor", "CpuContiguous", "OutputGuard"
)
def same(op: Any, node: Apply) -> Run:
    return lambda x, *_: x


@implements("SpecifyShape")
def specify_shape(op: Any, node: Apply) -> Run:
    def run(x: Any, *sizes: Any) -> Any:
        for i, n in enumerate(sizes):
            if n is not None and size(x, i) != int(fixed(n, "a size", node)):
                raise ArgumentError(f"axis {i} of {node.inputs[0]} has size {size(x, i)}, not {int(n)}")
        return x

    return run


@implements("CheckAndRaise")
def check_and_raise(op: Any, node: Apply) -> Run:
    def run(x: Any, *conditions: Any) -> Any:
        check(conditions, op.exc_type(op.msg))
        return x

    return run


# ---- axes ------------------------------------------------------------------------------------------------------------


@implements("DimShuffle")
def dim_shuffle(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    order = [None if i == "x" else axis(i) for i in op.new_order]
    dropped = [axis(i) for i in range(type_.ndim) if i not in op.new_order]

    def run(x: Any) -> Any:
        x = named(x, type_)
        gone = [d for d in dropped if d in x.dims]  # of size 1, as only the call tells
        return numbered(ops.squeeze(x, gone) if gone else x, order)

    return run


@implements("Shape")
def shape_of(op: Any, node: Apply) -> Run:
    return lambda x: np.asarray(shape(x, node.inputs[0].type.ndim), "i8")


@implements("Shape_i")
def shape_i(op: Any, node: Apply) -> Run:
    return lambda x: np.asarray(size(x, op.i), "i8")


def reshaped(x: Any, type_: Any, sizes: Sequence[int]) -> Any:
    """The elements in the order of the axes, as an array of these sizes."""
    x = full(x, type_)
    count, rest = math.prod(shape(x, type_.ndim)), math.prod(n for n in sizes if n != -1)
    if (
        list(sizes).count(-1) > 1
        or min([0, *(n for n in sizes if n != -1)]) < 0
        or (count % max(rest, 1) or not rest if -1 in sizes else count != rest)
    ):
        raise ArgumentError(f"an array of shape {shape(x, type_.ndim)} cannot take the shape {tuple(sizes)}")
    sizes = [count // rest if n == -1 else n for n in sizes]
    if type_.ndim == 0:
        return ops.expand_dims(x, {axis(i): 1 for i in range(len(sizes))}) if sizes else x
    flat = ops.stack(x, {"flat": tuple(axis(i) for i in range(type_.ndim))})
    if not sizes:
        return ops.squeeze(flat, "flat")
    return ops.unstack(flat, {"flat": {axis(i): int(n) for i, n in enumerate(sizes)}})


@implements("Reshape", known=lambda node: node.inputs[1:2])
def reshape(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any, sizes: Any) -> Any:
        return reshaped(x, type_, [int(n) for n in np.atleast_1d(fixed(sizes, "the shape", node))])

    return run


@implements("JoinDims")
def join_dims(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    begin, end = op.start_axis, op.start_axis + op.n_axes

    def run(x: Any) -> Any:
        sizes = shape(x, type_.ndim)
        return reshaped(x, type_, [*sizes[:begin], math.prod(sizes[begin:end]), *sizes[end:]])

    return run


@implements("SplitDims", known=lambda node: node.inputs[1:2])
def split_dims(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any, inner: Any) -> Any:
        sizes = shape(x, type_.ndim)
        inner = [int(n) for n in np.atleast_1d(fixed(inner, "the shape", node))]
        return reshaped(x, type_, [*sizes[: op.axis], *inner, *sizes[op.axis + 1 :]])

    return run


# ---- reductions ------------------------------------------------------------------------------------------------------

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "Add": ops.sum, "Mul": ops.prod, "Maximum": ops.max, "Minimum": ops.min, "ScalarMaximum": ops.max,
    "ScalarMinimum": ops.min, "AND": ops.all, "OR": ops.any,
}  # fmt: skip


def _axes(op: Any, ndim: int) -> list[int]:
    given = getattr(op, "axis", None)
    if given is None:
        return list(range(ndim))
    return [i % ndim for i in (given if isinstance(given, (tuple, list)) else [given])]


def _without(x: Any, ndim: int, axes: Sequence[int]) -> Any:
    """Axes that are left get their new numbers."""
    return numbered(x, [axis(i) for i in range(ndim) if i not in axes])


@implements("CAReduce")
def reduce(op: Any, node: Apply) -> Run:
    type_, out = node.inputs[0].type, node.outputs[0].type
    is_zero_free = type(op.scalar_op).__name__ == "MulWithoutZeros"
    f = ops.prod if is_zero_free else found(_REDUCTIONS, op.scalar_op)
    if f is None:
        raise UnsupportedError(f'the mode "XTENSOR" has no reduction by {op.scalar_op}, as in {node.outputs[0]}')
    axes = _axes(op, type_.ndim)
    accumulator = getattr(op, "acc_dtype", None) or out.dtype

    def run(x: Any) -> Any:
        x = cast(named(x, type_), accumulator)
        if is_zero_free:
            x = ops.where(ops.equal(x, 0), ops.ones_like(x), x)
        dims = [axis(i) for i in axes if axis(i) in x.dims]
        return _without(f(x, dim=dims) if dims else x, type_.ndim, axes)

    return run


@implements("Argmax")
def argmax(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    axes = _axes(op, type_.ndim)

    def run(x: Any) -> Any:
        x = full(x, type_, {*kept(type_), *axes})
        flat = ops.stack(x, {"flat": tuple(axis(i) for i in axes)}) if axes else ops.expand_dims(x, "flat")
        return _without(ops.argmax(flat, dim="flat"), type_.ndim, axes)

    return run


@implements("CumOp")
def cumulate(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    f = {"add": ops.cumsum, "mul": ops.cumprod}[op.mode]

    def run(x: Any) -> Any:
        if op.axis is None:
            return f(reshaped(x, type_, [-1]), dim=axis(0))
        i = op.axis % type_.ndim
        return f(full(x, type_, {*kept(type_), i}), dim=axis(i))

    return run


@implements("Softmax", "LogSoftmax")
def softmax(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    axes = _axes(op, type_.ndim)
    f = nn.log_softmax if type(op).__name__ == "LogSoftmax" else nn.softmax
    return lambda x: f(full(x, type_, {*kept(type_), *axes}), dim=[axis(i) for i in axes])


@implements("SoftmaxGrad")
def softmax_gradient(op: Any, node: Apply) -> Run:
    """An op of PyTensor before version 3."""
    type_ = node.inputs[1].type
    dims = [axis(i) for i in _axes(op, type_.ndim)]

    def run(cotangent: Any, y: Any) -> Any:
        cotangent, y = (full(x, v.type) for x, v in zip((cotangent, y), node.inputs, strict=True))
        return y * (cotangent - ops.sum(cotangent * y, dim=dims))

    return run


@implements("SortOp", "ArgSortOp", known=lambda node: node.inputs[1:2])
def sort(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    f = ops.argsort if type(op).__name__ == "ArgSortOp" else ops.sort

    def run(x: Any, along: Any) -> Any:
        i = int(fixed(along, "the axis", node)) % type_.ndim
        return f(full(x, type_, {*kept(type_), i}), dim=axis(i))

    return run


@implements("SearchsortedOp")
def searchsorted(op: Any, node: Apply) -> Run:
    types = [v.type for v in node.inputs]

    def run(x: Any, v: Any, sorter: Any = None) -> Any:
        x = renamed(full(x, types[0]), {axis(0): "sorted"})
        if sorter is not None:
            x = ops.take(x, renamed(full(sorter, types[2]), {axis(0): "sorted"}), dim="sorted")
        return ops.searchsorted(x, named(v, types[1]), op.side, dim="sorted")

    return run


@implements("Choose")
def choose(op: Any, node: Apply) -> Run:
    types = [v.type for v in node.inputs]
    if not hasattr(types[1], "dtype"):
        raise UnsupportedError(f'the mode "XTENSOR" has no choice among a list of arrays, as in {node.outputs[0]}')
    ndim = max(types[0].ndim, types[1].ndim - 1)

    def run(places: Any, choices: Any) -> Any:
        shift = ndim - types[0].ndim
        places = renamed(named(places, types[0]), {axis(i): axis(i + shift) for i in range(types[0].ndim)})
        shift = ndim - types[1].ndim + 1
        names = {axis(0): "choice"} | {axis(i): axis(i - 1 + shift) for i in range(1, types[1].ndim)}
        choices = renamed(full(choices, types[1], {*kept(types[1]), 0}), names)
        sizes = longest([places, choices])
        places, choices = squeezed(places, sizes), squeezed(choices, sizes)
        count = choices.sizes["choice"]
        if op.mode == "raise":
            inside = ops.all(ops.greater_equal(places, 0) & ops.less(places, count))
            check([inside], ValueError("invalid entry in choice array"))
        at = ops.remainder(places, count) if op.mode == "wrap" else ops.clip(places, 0, count - 1)
        return ops.take(choices, ops.astype(at, "i8"), dim="choice")

    return run


def _strides(sizes: Sequence[int], order: str) -> list[int]:
    """The distance between neighbours along each dim, in elements."""
    found = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return found if order == "C" else [math.prod(sizes[:i]) for i in range(len(sizes))]


@implements("UnravelIndex", known=lambda node: node.inputs[1:])
def unravel_index(op: Any, node: Apply) -> Run:
    def run(flat: Any, sizes: Any) -> Any:
        sizes = [int(n) for n in fixed(sizes, "the shape", node)]
        flat = cast(named(flat, node.inputs[0].type), "i8")
        inside = ops.all(ops.greater_equal(flat, 0) & ops.less(flat, math.prod(sizes)))
        check([inside], ValueError(f"an index is out of bounds for an array of shape {tuple(sizes)}"))
        return [
            ops.floor_divide(flat, max(k, 1)) % max(n, 1) for n, k in zip(sizes, _strides(sizes, op.order), strict=True)
        ]

    return run


@implements("RavelMultiIndex", known=lambda node: node.inputs[-1:])
def ravel_multi_index(op: Any, node: Apply) -> Run:
    def run(*given: Any) -> Any:
        sizes = [int(n) for n in fixed(given[-1], "the shape", node)]
        found: Any = None
        for x, v, n, k in zip(given, node.inputs[:-1], sizes, _strides(sizes, op.order), strict=False):
            i = cast(named(x, v.type), "i8")
            if op.mode == "raise":
                inside = ops.all(ops.greater_equal(i, 0) & ops.less(i, n))
                check([inside], ValueError("invalid entry in coordinates array"))
            i = ops.remainder(i, n) if op.mode == "wrap" else ops.clip(i, 0, n - 1)
            found = i * k if found is None else found + i * k
        return found

    return run


@implements("Convolve1d", "Convolve2d", known=lambda node: node.inputs[2:])
def convolve(op: Any, node: Apply) -> Run:
    types, dtype = [v.type for v in node.inputs[:2]], node.outputs[0].type.dtype
    axes = range(types[0].ndim)

    def run(x: Any, y: Any, is_full: Any) -> Any:
        x, y = (cast(full(v, t), dtype) for v, t in ((x, types[0]), (y, types[1])))
        is_full = bool(fixed(is_full, "the mode", node))
        larger = [size(x, i) >= size(y, i) for i in axes]
        if not is_full and not all(larger) and any(larger):
            raise ArgumentError(
                f"a convolution in mode 'valid' of shapes {shape(x, len(axes))} and {shape(y, len(axes))}: one array "
                "must be at least as large as the other along every axis"
            )
        if not is_full and not all(larger):
            x, y = y, x
        kernel = ops.flip(renamed(y, {axis(i): f"tap{i}" for i in axes}), [f"tap{i}" for i in axes])
        padding = {axis(i): (kernel.sizes[f"tap{i}"] - 1,) * 2 for i in axes} if is_full else 0
        return nn.conv(x, kernel, {axis(i): f"tap{i}" for i in axes}, padding=padding)

    return run


# ---- products --------------------------------------------------------------------------------------------------------


def _product(x: Any, y: Any, order: Sequence[str]) -> Any:
    """The sum over dim "inner" of the product; order: the dims that become axes 0 .."""
    is_inner = "inner" in x.dims or "inner" in y.dims
    return numbered(ops.dot(x, y, dim="inner" if is_inner else ()), order)


@implements("Dot")
def dot(op: Any, node: Apply) -> Run:
    left, right = (v.type for v in node.inputs)
    dtype = node.outputs[0].type.dtype

    def run(x: Any, y: Any) -> Any:
        x, y = (cast(named(v, t), dtype) for v, t in ((x, left), (y, right)))
        x = renamed(x, {axis(left.ndim - 1): "inner", **({axis(0): "row"} if left.ndim == 2 else {})})
        y = renamed(y, {axis(0): "inner", axis(1): "column"})
        return _product(x, y, [*["row"][: left.ndim - 1], *["column"][: right.ndim - 1]])

    return run


@implements("BatchedDot")
def batched_dot(op: Any, node: Apply) -> Run:
    left, right = (v.type for v in node.inputs)
    dtype = node.outputs[0].type.dtype

    def run(x: Any, y: Any) -> Any:
        x, y = (cast(named(v, t), dtype) for v, t in ((x, left), (y, right)))
        x = renamed(x, {axis(left.ndim - 1): "inner", **({axis(1): "row"} if left.ndim == 3 else {})})
        y = renamed(y, {axis(1): "inner", axis(2): "column"})
        return _product(x, y, [axis(0), *["row"][: left.ndim - 2], *["column"][: right.ndim - 2]])

    return run


def _known_of_core(node: Apply) -> list[Any]:
    known = found(KNOWN, node.op.core_op)
    if known is None:
        return []
    core = node.op._create_dummy_core_node(node.inputs)
    return [v for v, c in zip(node.inputs, core.inputs, strict=True) if c in known(core)]


@implements("Blockwise", known=_known_of_core)
def blockwise(op: Any, node: Apply) -> Run:
    """The op of one instance, whose implementation lets the dims of a batch pass."""
    batch = op.batch_ndim(node)
    core = op._create_dummy_core_node(node.inputs)
    run_core = run_of(core)

    known = found(KNOWN, core.op)
    static = {id(v) for v, c in zip(node.inputs, core.inputs, strict=True) if known and c in known(core)}

    def inward(x: Any, v: Any) -> Any:
        own = v.type.ndim - core_ndims[id(v)]
        if id(v) in static and not is_array(x) and np.prod(np.shape(x)[:own]) == 1:
            return np.reshape(x, np.shape(x)[own:])
        names = {axis(i): f"batch{batch - own + i}" for i in range(own)}
        return renamed(named(x, v.type), names | {axis(i): axis(i - own) for i in range(own, v.type.ndim)})

    core_ndims = {id(v): c.type.ndim for v, c in zip(node.inputs, core.inputs, strict=True)}

    def run(*xs: Any) -> Any:
        given = [inward(x, v) for x, v in zip(xs, node.inputs, strict=True)]
        results = run_core(*given)
        results = results if isinstance(results, (list, tuple)) else [results]
        found = []
        for y, c in zip(results, core.outputs, strict=True):
            y = fit(y, c.type)
            names = {axis(i): axis(batch + i) for i in range(c.type.ndim)}
            found.append(renamed(y, names | {f"batch{i}": axis(i) for i in range(batch)}))
        return found

    return run


# ---- new arrays ------------------------------------------------------------------------------------------------------


@implements("Alloc", known=lambda node: node.inputs[1:])
def alloc(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    ndim = node.outputs[0].type.ndim

    def run(x: Any, *sizes: Any) -> Any:
        wanted = [int(fixed(n, "a size", node)) for n in sizes]
        shift = ndim - type_.ndim
        x = renamed(named(x, type_), {axis(i): axis(i + shift) for i in range(type_.ndim)})
        for i, n in enumerate(wanted):
            if axis(i) in x.dims and size(x, i) != n:
                raise ArgumentError(
                    f"axis {i} of {node.inputs[0]} has size {size(x, i)}, and the array to fill has {n}"
                )
        missing = {axis(i): n for i, n in enumerate(wanted) if axis(i) not in x.dims}
        return ops.expand_dims(x, missing) if missing else x

    return run


@implements("AllocEmpty", known=lambda node: node.inputs)
def alloc_empty(op: Any, node: Apply) -> Run:
    def run(*sizes: Any) -> Any:
        wanted = {axis(i): int(fixed(n, "a size", node)) for i, n in enumerate(sizes)}
        return ops.zeros(wanted, dtype=node.outputs[0].type.dtype)

    return run


@implements("ARange", "Bartlett", "Eye", "Nonzero", "Tri", known=lambda node: node.inputs)
def of_sizes(op: Any, node: Apply) -> Run:
    def run(*sizes: Any) -> Any:
        for n in sizes:
            fixed(n, "a size", node)
        raise UnsupportedError(f'the mode "XTENSOR" cannot compute {node.outputs[0]}')  # known values never come here

    return run


@implements("MakeVector")
def make_vector(op: Any, node: Apply) -> Run:
    dtype = node.outputs[0].type.dtype

    def run(*xs: Any) -> Any:
        if not xs:
            return np.zeros(0, dtype)
        pieces = [cast(named(x, v.type), dtype) for x, v in zip(xs, node.inputs, strict=True)]
        return ops.concat([ops.expand_dims(x, {axis(0): 1}) for x in pieces], axis(0))

    return run


@implements("Join", known=lambda node: node.inputs[:1])
def join(op: Any, node: Apply) -> Run:
    out = node.outputs[0].type

    def run(along: Any, *xs: Any) -> Any:
        i = int(fixed(along, "the axis", node)) % out.ndim
        pieces = []
        for x, v in zip(xs, node.inputs[1:], strict=True):
            x = cast(named(x, v.type), out.dtype)
            gone = [axis(j) for j in range(out.ndim) if j != i and j not in kept(out) and axis(j) in x.dims]
            pieces.append(full(ops.squeeze(x, gone) if gone else x, v.type, {*kept(out), i}))
        return ops.concat(pieces, axis(i)) if len(pieces) > 1 else pieces[0]

    return run


@implements("Split", known=lambda node: node.inputs[1:])
def split(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any, along: Any, sizes: Any) -> Any:
        i = int(fixed(along, "the axis", node)) % type_.ndim
        parts = np.atleast_1d(fixed(sizes, "the sizes", node))
        if (parts < 0).any():
            raise ArgumentError(f"the parts of {node.inputs[0]} have sizes {parts.tolist()}: none can be negative")
        ends = np.cumsum(parts).tolist()
        x = full(x, type_, {*kept(type_), i})
        if not ends or ends[-1] != size(x, i):
            raise ArgumentError(
                f"the parts of {node.inputs[0]} have {ends[-1] if ends else 0} of {size(x, i)} positions"
            )
        return [ops.isel(x, {axis(i): slice(a, b)}) for a, b in zip([0, *ends], ends, strict=False)]

    return run


@implements("Repeat", known=lambda node: node.inputs[1:2])
def repeat(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any, repeats: Any) -> Any:
        counts = np.asarray(fixed(repeats, "the number of repeats", node))
        i = 0 if op.axis is None else op.axis % type_.ndim
        x = full(reshaped(x, type_, [-1]), node.outputs[0].type, {0}) if op.axis is None else x
        x = x if op.axis is None else full(x, type_, {*kept(type_), i})
        positions = np.repeat(np.arange(size(x, i)), counts)
        return ops.take(x, positions, dim=axis(i))

    return run


@implements("ExtractDiag")
def extract_diagonal(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    pair = op.axis1 % type_.ndim, op.axis2 % type_.ndim
    rest = [axis(i) for i in range(type_.ndim) if i not in pair]

    def run(x: Any) -> Any:
        x = full(x, type_, {*kept(type_), *pair})
        row, column = (axis(i) for i in pair)
        found = diagonal(x, dims=(row, column), inner="diagonal", offset=op.offset)
        return numbered(found, [*rest, "diagonal"])

    return run


@implements("FillDiagonal")
def fill_diagonal(op: Any, node: Apply) -> Run:
    types = [v.type for v in node.inputs]

    def run(x: Any, value: Any) -> Any:
        x = full(x, types[0])
        is_diagonal = np.zeros(shape(x, types[0].ndim), bool)
        np.fill_diagonal(is_diagonal, True)
        mask = array(is_diagonal, dims=[axis(i) for i in range(types[0].ndim)])
        return ops.where(mask, cast(named(value, types[1]), x.dtype), x)

    return run


@implements("FillDiagonalOffset", known=lambda node: node.inputs[2:])
def fill_diagonal_offset(op: Any, node: Apply) -> Run:
    types = [v.type for v in node.inputs]

    def run(x: Any, value: Any, offset: Any) -> Any:
        x = full(x, types[0])
        rows, columns = shape(x, 2)
        is_diagonal = np.eye(rows, columns, k=int(fixed(offset, "the offset", node)), dtype=bool)
        return ops.where(array(is_diagonal, dims=[axis(0), axis(1)]), cast(named(value, types[1]), x.dtype), x)

    return run


# ---- control ---------------------------------------------------------------------------------------------------------


@implements("IfElse")
def if_else(op: Any, node: Apply) -> Run:
    """Of two sides that are there. The walk over a graph sees to it that only one is computed."""
    condition, *sides = (v.type for v in node.inputs)

    def run(c: Any, *xs: Any) -> Any:
        holds = cast(named(c, condition), bool)
        given = [fit(named(x, t), v.type) for x, t, v in zip(xs, sides, [*node.outputs, *node.outputs], strict=True)]
        return [ops.where(holds, x, y) for x, y in zip(given[: op.n_outs], given[op.n_outs :], strict=True)]

    return run


@implements("Call")
def call_of_ours(op: Any, node: Apply) -> Run:
    """What `xt.to_pytensor` made: its function becomes a part of the program."""
    types = [v.type for v in node.inputs]

    def run(*xs: Any) -> Any:
        given = [
            renamed(full(x, t), {axis(i): d for i, d in enumerate(dims)})
            for x, t, dims in zip(xs, types, op.dims, strict=True)
        ]
        with op.under_options():
            results = op.function(*given)
        return [numbered(y, y.dims) for y in results]

    return run


@implements("OpFromGraph")
def of_graph(op: Any, node: Apply) -> Run:
    return Graph(op.fgraph)
