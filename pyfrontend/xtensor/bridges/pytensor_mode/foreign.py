"""Ops of PyTensor that have no counterpart here: compiled code calls PyTensor's own implementation in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special
from pytensor.graph.basic import Apply

from ...base.errors import ArgumentError, UnsupportedError
from ...call.arrays import array
from ...transforms.callback import callback
from ...values.spec import Spec
from .graph import Run, implements
from .values import axis, full, is_array, shape

# Functions of numbers by SciPy, on which PyTensor's ops call the same function.
SCALARS = {
    "Hyp2F1": scipy.special.hyp2f1, "Ive": scipy.special.ive, "Jv": scipy.special.jv, "Kve": scipy.special.kve,
    "Iv": scipy.special.iv, "Kv": scipy.special.kv,
}  # fmt: skip


def scalar_function(name: str, dtype: np.dtype) -> Callable[..., Any]:
    """An elementwise function of named arrays, by SciPy."""
    f = SCALARS[name]

    def computed(*xs: Any) -> Any:
        dims = _union(xs)
        return array(np.asarray(f(*(_aligned(x, dims) for x in xs)), dtype), dims=dims)

    def run(*xs: Any) -> Any:
        xs = tuple([x if is_array(x) else array(x, dims=()) for x in xs])
        dims = _union(xs)
        return callback(computed, *xs, result=Spec._of(dims, [None] * len(dims), dtype), together=True)

    return run


def _union(xs: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(d for x in xs for d in x.dims))


def _aligned(x: Any, dims: Sequence[str]) -> np.ndarray:
    """The values with an axis for each of `dims`, of size 1 where `x` lacks the dim."""
    values = np.transpose(x.values, [x.dims.index(d) for d in dims if d in x.dims])
    return values[tuple([slice(None) if d in x.dims else None for d in dims])]


@implements("Schur", "QZ", "TRSYL", "LUFactorTridiagonal", "SolveLUFactorTridiagonal")
def matrices(op: Any, node: Apply) -> Run:
    """By the implementation of the op, once for each matrix of a batch."""
    inputs, outputs = (
        [[d for d in part.strip("()").split(",") if d] for part in side.split("),(")]
        for side in op.gufunc_signature.split("->")
    )
    types = [v.type for v in node.outputs]
    cores = [[axis(i) for i in range(len(core))] for core in inputs]

    def results_of(xs: Sequence[Any]) -> list[list[int]]:
        """The sizes of the results for one matrix."""
        sizes = {d: x.sizes[axis(i)] for x, core in zip(xs, inputs, strict=True) for i, d in enumerate(core)}
        sizes.setdefault("du2", max(sizes.get("d", 0) - 2, 0))  # the second diagonal above, which only results have
        return [[sizes[d] for d in core] for core in outputs]

    def computed(*xs: Any) -> list[Any]:
        batch = _batch(xs, cores)
        values = [_aligned(x, [*batch, *core]) for x, core in zip(xs, cores, strict=True)]
        sizes = np.broadcast_shapes(*(v.shape[: len(batch)] for v in values))
        whole = [np.broadcast_to(v, (*sizes, *v.shape[len(batch) :])) for v in values]
        found: list[Any] = [[] for _ in types]
        for place in np.ndindex(*sizes):
            for into, y in zip(found, _performed(op, node, [v[place] for v in whole]), strict=True):
                into.append(y)
        wanted = zip(found, types, results_of(xs), strict=True)
        return [
            array(np.reshape(np.asarray(ys, t.dtype), (*sizes, *core)), dims=[*batch, *map(axis, range(t.ndim))])
            for ys, t, core in wanted
        ]

    def run(*xs: Any) -> list[Any]:
        given = [full(x, v.type) for x, v in zip(xs, node.inputs, strict=True)]
        batch = _batch(given, cores)
        results = [
            Spec._of([*batch, *map(axis, range(len(core)))], [*[None] * len(batch), *core], np.dtype(t.dtype))
            for core, t in zip(results_of(given), types, strict=True)
        ]
        return list(callback(computed, *given, result=results, together=True))

    return run


def _performed(op: Any, node: Apply, values: Sequence[Any]) -> list[np.ndarray]:
    """What PyTensor's own implementation of a node computes of arrays."""
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    op.perform(node, [np.array(x, v.type.dtype) for x, v in zip(values, node.inputs, strict=True)], storage)
    return [np.asarray(y) for (y,) in storage]


# The sizes of the results of an op, from the shapes of its arguments.
SIZES: dict[str, Callable[..., list[Sequence[int]]]] = {
    "Lstsq": lambda op, a, b, rcond: [(*a[1:], *b[1:]), _residuals(a, b), (), (min(a),)],
    "TensorInv": lambda op, a: [(*a[op.ind :], *a[: op.ind])],
    "TensorSolve": lambda op, a, b: [_solved(op, a, b)],
    "PermuteRowElements": lambda op, x, y: [np.broadcast_shapes(x, y)],
}


def _residuals(a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """NumPy gives them if there are more rows than columns. They are NaN here where it gives none, by the rank."""
    return (math.prod(b[1:]),) if a[0] > a[1] else (0,)


def _solved(op: Any, a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """The axes of `a` that are left once those of `b` are gone, after the axes of the op went to the end."""
    last = [i % len(a) for i in op.axes or ()]
    order = [*(i for i in range(len(a)) if i not in last), *last]
    return [a[i] for i in order[len(b) :]]


@implements(*SIZES)
def whole(op: Any, node: Apply) -> Run:
    """By the implementation of the op, once for all of the arrays."""
    types = [v.type for v in node.outputs]

    def run(*xs: Any) -> list[Any]:
        given = [full(x, v.type) for x, v in zip(xs, node.inputs, strict=True)]
        if _batch(given, [[axis(i) for i in range(v.type.ndim)] for v in node.inputs]):
            raise UnsupportedError(f'the mode "XTENSOR" has no batches of {op}, by which {node.outputs[0]} is computed')
        sizes = SIZES[type(op).__name__](op, *(shape(x, v.type.ndim) for x, v in zip(given, node.inputs, strict=True)))
        for v, found in zip(node.outputs, sizes, strict=True):
            if len(found) != v.type.ndim:
                raise ArgumentError(
                    f"{node.op} gives an array of shape {tuple(found)} for {v}, which has {v.type.ndim} axes. "
                    "PyTensor's type of this op allows no other number of axes"
                )

        def computed(*xs: Any) -> list[Any]:
            values = [np.transpose(x.values, [x.dims.index(axis(i)) for i in range(x.ndim)]) for x in xs]
            found = zip(_performed(op, node, values), types, sizes, strict=True)
            return [
                array(y if y.shape == tuple(n) else np.full(n, np.nan, t.dtype), dims=list(map(axis, range(t.ndim))))
                for y, t, n in found
            ]

        results = [
            Spec([axis(i) for i in range(len(n))], list(n), np.dtype(t.dtype))
            for n, t in zip(sizes, types, strict=True)
        ]
        return list(callback(computed, *given, result=results))

    return run


def _batch(xs: Sequence[Any], cores: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(d for x, core in zip(xs, cores, strict=True) for d in x.dims if d not in core))
