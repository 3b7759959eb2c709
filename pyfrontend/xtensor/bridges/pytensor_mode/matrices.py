"""Linear algebra of PyTensor, on named arrays: rows are axis 0, columns axis 1, all other dims batches."""

from __future__ import annotations

import math
from typing import Any

from pytensor.graph.basic import Apply

from ... import linalg, ops
from ...base.errors import UnsupportedError
from ...transforms.control import scan
from .graph import Run, implements
from .values import axis, cast, full, numbered, renamed

_PAIR = (axis(0), axis(1))


def _transposed(x: Any) -> Any:
    return renamed(x, {axis(0): axis(1), axis(1): axis(0)})


def _symmetric(x: Any, lower: bool) -> Any:
    """The matrix whose other triangle is not read."""
    kept = linalg.tril(x, dims=_PAIR) if lower else linalg.triu(x, dims=_PAIR)
    strict = linalg.tril(x, dims=_PAIR, k=-1) if lower else linalg.triu(x, dims=_PAIR, k=1)
    return kept + _transposed(strict)


def _floats(x: Any, node: Apply) -> Any:
    return cast(x, node.outputs[0].type.dtype)


@implements("Cholesky")
def cholesky(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any) -> Any:
        found = linalg.cholesky(_symmetric(_floats(full(x, type_), node), op.lower), dims=_PAIR)
        # Of a matrix that is not positive definite, PyTensor's has no zeros either.
        found = ops.where(ops.any(ops.isnan(found), dim=_PAIR), math.nan, found)
        return found if op.lower else _transposed(found)

    return run


def _right(op: Any, node: Apply, b: Any) -> Any:
    """The right-hand sides: their columns have a dim of their own."""
    return renamed(full(b, node.inputs[-1].type), {axis(1): "side"})


def _solution(op: Any, x: Any) -> Any:
    return numbered(x, [axis(1), "side"] if "side" in x.dims else [axis(1)])


@implements("SolveTriangular")
def solve_triangular(op: Any, node: Apply) -> Run:
    def run(a: Any, b: Any) -> Any:
        a, b = _floats(full(a, node.inputs[0].type), node), _floats(_right(op, node, b), node)
        unit = op.unit_diagonal
        if getattr(op, "trans", 0) in (1, "T"):  # of versions before 3
            return _solution(op, linalg.triangular_solve(_transposed(a), b, _PAIR, not op.lower, unit))
        return _solution(op, linalg.triangular_solve(a, b, _PAIR, op.lower, unit))

    return run


@implements("Solve", "CholeskySolve")
def solve(op: Any, node: Apply) -> Run:
    kind = getattr(op, "assume_a", "gen")

    def run(a: Any, b: Any) -> Any:
        a, b = _floats(full(a, node.inputs[0].type), node), _floats(_right(op, node, b), node)
        lower = getattr(op, "lower", False)
        if type(op).__name__ == "CholeskySolve":
            return _solution(op, linalg.cho_solve(a if lower else _transposed(a), b, _PAIR))
        if kind in ("pos", "positive definite"):
            return _solution(op, linalg.cho_solve(linalg.cholesky(_symmetric(a, lower), _PAIR), b, _PAIR))
        if kind in ("sym", "her", "symmetric", "hermitian"):
            a = _symmetric(a, lower)
        return _solution(op, linalg.solve(a, b, _PAIR))

    return run


@implements("MatrixInverse")
def inverse(op: Any, node: Apply) -> Run:
    # Ours has the row and the col dim in each other's place.
    return lambda x: _transposed(linalg.inv(_floats(full(x, node.inputs[0].type), node), _PAIR))


@implements("MatrixPinv")
def pseudo_inverse(op: Any, node: Apply) -> Run:
    return lambda x: _transposed(linalg.pinv(_floats(full(x, node.inputs[0].type), node), _PAIR, rtol=1e-15))


@implements("Det")
def determinant(op: Any, node: Apply) -> Run:
    return lambda x: linalg.det(_floats(full(x, node.inputs[0].type), node), _PAIR)


@implements("SLogDet")
def log_determinant(op: Any, node: Apply) -> Run:
    return lambda x: list(linalg.slogdet(_floats(full(x, node.inputs[0].type), node), _PAIR))


@implements("Eigh", "Eigvalsh")
def eigh(op: Any, node: Apply) -> Run:
    lower = getattr(op, "lower", getattr(op, "UPLO", "L") == "L")

    def run(x: Any, other: Any = None) -> Any:
        if other is not None:
            raise UnsupportedError(f'the mode "XTENSOR" has no generalised eigenvalues, as in {node.outputs[0]}')
        w, v = linalg.eigh(_symmetric(_floats(full(x, node.inputs[0].type), node), lower), _PAIR, inner="rank")
        values = numbered(w, ["rank"])
        return values if type(op).__name__ == "Eigvalsh" else [values, numbered(v, [axis(0), "rank"])]

    return run


@implements("EighGrad")
def eigh_grad(op: Any, node: Apply) -> Run:
    """An op of versions before 3."""
    lower = op.UPLO == "L"

    def run(*given: Any) -> Any:
        _, w, v, by_w, by_v = (_floats(full(x, i.type), node) for x, i in zip(given, node.inputs, strict=True))
        first, second = renamed(v, {axis(1): "n"}), renamed(v, {axis(1): "m"})
        gap = renamed(w, {axis(0): "n"}) - renamed(w, {axis(0): "m"})
        is_same = ops.arange(gap.sizes["n"], dim="n") == ops.arange(gap.sizes["m"], dim="m")
        turned = ops.dot(renamed(by_v, {axis(1): "n"}), second, dim=axis(0)) / ops.where(is_same, 1.0, gap)
        middle = ops.where(is_same, renamed(by_w, {axis(0): "n"}), turned)
        found = ops.dot(ops.dot(first, middle, dim="n"), renamed(second, {axis(0): axis(1)}), dim="m")
        # The op reads one triangle, whose elements stand for those of the other, too.
        if lower:
            return linalg.tril(found, dims=_PAIR) + _transposed(linalg.triu(found, dims=_PAIR, k=1))
        return linalg.triu(found, dims=_PAIR) + _transposed(linalg.tril(found, dims=_PAIR, k=-1))

    return run


@implements("Eig")
def eig(op: Any, node: Apply) -> Run:
    def run(x: Any) -> Any:
        w, v = linalg.eig(full(x, node.inputs[0].type), _PAIR, inner="rank")
        return [numbered(w, ["rank"]), numbered(v, [axis(0), "rank"])]

    return run


@implements("SVD")
def svd(op: Any, node: Apply) -> Run:
    def run(x: Any) -> Any:
        x = full(x, node.inputs[0].type)
        u, s, vh = linalg.svd(x, _PAIR, inner="rank", full_matrices=op.full_matrices and op.compute_uv)
        if not op.compute_uv:
            return numbered(s, ["rank"])
        inner = next(d for d in u.dims if d not in x.dims), next(d for d in vh.dims if d not in x.dims)
        return [numbered(u, [axis(0), inner[0]]), numbered(s, ["rank"]), numbered(vh, [inner[1], axis(1)])]

    return run


@implements("QR", "QRFull", "QRIncomplete")
def qr(op: Any, node: Apply) -> Run:
    mode = {"economic": "reduced", "reduced": "reduced", "full": "complete", "complete": "complete", "r": "complete"}
    if getattr(op, "pivoting", False) or op.mode not in mode:
        raise UnsupportedError(
            f'the mode "XTENSOR" has no QR with pivots or in mode {op.mode!r}, as in {node.outputs[0]}'
        )

    def run(x: Any) -> Any:
        q, r = linalg.qr(full(x, node.inputs[0].type), _PAIR, inner="rank", mode=mode[op.mode])
        r = numbered(r, ["rank", axis(1)])
        return r if op.mode == "r" else [numbered(q, [axis(0), "rank"]), r]

    return run


@implements("LU")
def lu(op: Any, node: Apply) -> Run:
    def run(x: Any) -> Any:
        p, lower, upper = linalg.lu(full(x, node.inputs[0].type), _PAIR, inner="rank")
        upper = numbered(upper, ["rank", axis(1)])
        row = next(d for d in p.dims if d.startswith(axis(0)) and d != axis(0))
        if op.p_indices:  # row i of `a` is row p[i] of the product
            return [numbered(ops.argmax(p, dim=row), [axis(0)]), numbered(lower, [row, "rank"]), upper]
        if op.permute_l:
            return [numbered(ops.dot(p, lower, dim=row), [axis(0), "rank"]), upper]
        return [numbered(p, [axis(0), row]), numbered(lower, [row, "rank"]), upper]

    return run


@implements("LUFactor")
def lu_factor(op: Any, node: Apply) -> Run:
    """Both factors in one matrix, and for each row the one that it changed places with, as LAPACK has them."""

    def run(x: Any) -> Any:
        p, lower, upper = linalg.lu(_floats(full(x, node.inputs[0].type), node), _PAIR, inner="rank")
        row = next(d for d in p.dims if d.startswith(axis(0)) and d != axis(0))
        both = linalg.tril(numbered(lower, [row, "rank"]), dims=_PAIR, k=-1) + numbered(upper, ["rank", axis(1)])
        wanted = ops.argmax(p, dim=axis(0))  # which row is at each place in the end
        places = ops.arange(p.sizes[row], dim="place", dtype="int64")

        def step(rows: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
            place, row = given
            pivot = ops.argmax(rows == row, dim="place")
            return _swapped(rows, places, place, pivot), pivot

        each = renamed(places, {"place": "step"}), renamed(wanted, {row: "step"})
        _, pivots = scan(step, places + 0 * wanted.isel({row: 0}), each, dim="step")
        return [both, numbered(pivots, ["step"])]

    return run


@implements("PivotToPermutations")
def pivots_to_permutation(op: Any, node: Apply) -> Run:
    def run(pivots: Any) -> Any:
        pivots = renamed(full(cast(pivots, "int64"), node.inputs[0].type), {axis(0): "step"})
        places = ops.arange(pivots.sizes["step"], dim="place", dtype="int64")

        def step(rows: Any, given: tuple[Any, Any]) -> tuple[Any, None]:
            return _swapped(rows, places, *given), None

        each = renamed(places, {"place": "step"}), pivots
        rows, _ = scan(step, places + 0 * pivots.isel(step=0), each, dim="step")
        return numbered(rows if op.inverse else ops.argsort(rows, "place"), ["place"])

    return run


def _swapped(rows: Any, places: Any, a: Any, b: Any) -> Any:
    """What is at the places `a` and `b` of "place", in each other's. Both may have dims of a batch."""

    def at(place: Any) -> Any:
        return ops.sum(ops.where(places == place, rows, 0), "place")

    return ops.where(places == a, at(b), ops.where(places == b, at(a), rows))


@implements("MatrixIsPositiveDefinite")
def is_positive_definite(op: Any, node: Apply) -> Run:
    """An op of PyMC."""

    def run(x: Any) -> Any:
        x = full(x, node.inputs[0].type)
        return ops.all(ops.isfinite(linalg.cholesky(_symmetric(x, True), dims=_PAIR)), dim=_PAIR)

    return run


@implements("Expm")
def expm(op: Any, node: Apply) -> Run:
    return lambda x: linalg.expm(_floats(full(x, node.inputs[0].type), node), _PAIR)


@implements("BlockDiagonal")
def block_diagonal(op: Any, node: Apply) -> Run:
    def run(*xs: Any) -> Any:
        return linalg.block_diag(
            *(_floats(full(x, v.type), node) for x, v in zip(xs, node.inputs, strict=True)), dims=_PAIR
        )

    return run
