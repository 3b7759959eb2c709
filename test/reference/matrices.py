"""Dense linear algebra for the evaluator: each op on each instance of a batch, by NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from xtensor.mlir import ir

if TYPE_CHECKING:
    from evaluate import Named

Matrices = Sequence[np.ndarray]


def names(attribute: ir.Attribute) -> list[str]:
    return [ir.StringAttr(a).value for a in ir.ArrayAttr(attribute)]


def each(
    fn: Callable[..., Matrices], inputs: Sequence[tuple[Named, Sequence[str]]], outputs: Sequence[Sequence[str]]
) -> list[tuple[list[str], np.ndarray]]:
    """`fn` on every instance; the dims beside each input and output are its own, all others the batch."""
    own = {d for _, dims in inputs for d in dims}
    batch = list(dict.fromkeys(d for x, _ in inputs for d in x.dims if d not in own))
    data = [x.over([*batch, *dims]) for x, dims in inputs]
    shape = np.broadcast_shapes(*[v.shape[: len(batch)] for v in data])
    data = [np.broadcast_to(v, (*shape, *v.shape[len(batch) :])) for v in data]
    found = [fn(*[v[i] for v in data]) for i in np.ndindex(*shape)]
    parts = [np.stack([np.asarray(f[k]) for f in found]) for k in range(len(outputs))]
    return [([*batch, *dims], v.reshape((*shape, *v.shape[1:]))) for dims, v in zip(outputs, parts, strict=True)]


def symmetric(a: np.ndarray) -> np.ndarray:
    return (a + a.T) / 2


def packed_lu(a: np.ndarray) -> Matrices:
    packed, pivots = scipy.linalg.lu_factor(a)
    order, parity = np.arange(len(a)), 1.0
    for i, other in enumerate(pivots):
        if other != i:
            order[[i, other]] = order[[other, i]]
            parity = -parity
    return packed, order, np.argsort(order), np.asarray(parity)


def cholesky_tangent(factor: np.ndarray, t: np.ndarray, transposed: bool) -> np.ndarray:
    """L phi(L^-1 T L^-T), where phi takes the lower triangle and half of the diagonal."""
    lower, half = np.tril(factor), np.tril(np.ones_like(factor)) - 0.5 * np.eye(len(factor))
    inverse = np.linalg.inv(lower)
    if transposed:
        return symmetric(inverse.T @ (half * (lower.T @ np.tril(t))) @ inverse)
    return lower @ (half * (inverse @ symmetric(t) @ inverse.T))


def lu_tangent(packed: np.ndarray, t: np.ndarray, transposed: bool) -> np.ndarray:
    """By the matrix of the map from changes of both factors to those of their product."""
    rows, columns = packed.shape
    k = min(rows, columns)
    lower, upper = np.tril(packed[:, :k], -1) + np.eye(rows, k), np.triu(packed[:k])
    changes = np.eye(rows * columns).reshape(-1, rows, columns)
    products = [np.tril(d, -1)[:, :k] @ upper + lower @ np.triu(d)[:k] for d in changes]
    matrix = np.reshape(products, (rows * columns, -1))
    return np.linalg.solve(matrix if transposed else matrix.T, t.ravel()).reshape(rows, columns)


def factors(op: ir.Operation, short: str, a: Named) -> list[tuple[list[str], np.ndarray]]:
    row, col = names(op.attributes["dims"])
    inner = ir.StringAttr(op.attributes["inner"]).value if "inner" in op.attributes else ""
    functions: dict[str, tuple[Callable[..., Matrices], list[list[str]]]] = {
        "cholesky": (lambda a: [np.linalg.cholesky(symmetric(a))], [[row, col]]),
        "eigh": (lambda a: np.linalg.eigh(symmetric(a)), [[inner], [row, inner]]),
        "lu": (packed_lu, [[row, col], [row], [row], []]),
        "pinv": (lambda a: [np.linalg.pinv(a)], [[col, row]]),
        "qr": (np.linalg.qr, [[row, inner], [inner, col]]),
        "svd": (lambda a: np.linalg.svd(a, full_matrices=False), [[row, inner], [inner], [inner, col]]),
    }
    fn, outputs = functions[short]
    return each(fn, [(a, (row, col))], outputs)


def triangular_contract(
    a: Named, b: Named, over: Sequence[str], row: str, col: str, strict: bool
) -> list[tuple[list[str], np.ndarray]]:
    """Every term of the contraction, then those of the triangle."""
    every = list(dict.fromkeys([*a.dims, *b.dims]))
    terms = a.over(every) * b.over(every)
    sizes = [terms.shape[every.index(d)] for d in (row, col)]
    mask = np.tril(np.ones(sizes, bool), -int(strict))
    if every.index(row) > every.index(col):
        mask = mask.T
    mask = mask.reshape([s if d in (row, col) else 1 for d, s in zip(every, terms.shape, strict=True)])
    sums = tuple(every.index(d) for d in over)
    return [([d for d in every if d not in over], np.where(mask, terms, 0).sum(sums))]


def solutions(op: ir.Operation, short: str, a: Named, b: Named) -> list[tuple[list[str], np.ndarray]]:
    row, col = names(op.attributes["dims"])
    flags = {f for f in ("upper", "unit", "transposed") if f in op.attributes}

    if short in ("cholesky_tangent", "lu_tangent"):
        tangent = cholesky_tangent if short == "cholesky_tangent" else lu_tangent
        return each(lambda a, t: [tangent(a, t, bool(flags))], [(a, (row, col)), (b, (row, col))], [[row, col]])

    if short == "triangular_contract":
        return triangular_contract(a, b, names(op.attributes["over"]), row, col, "strict" in op.attributes)

    def fn(a: np.ndarray, b: np.ndarray) -> Matrices:
        if short == "solve":
            return [np.linalg.solve(a.T if flags else a, b)]
        return [scipy.linalg.solve_triangular(a, b, lower="upper" not in flags, unit_diagonal="unit" in flags)]

    source, target = (col, row) if "transposed" in flags else (row, col)
    return each(fn, [(a, (row, col)), (b, (source,))], [[target]])
