"""Factors of matrices.

No function raises because of values: a matrix without the requested factor gives NaN or
infinities for its own instance. `inner=` names new inner dims.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..base.errors import ArgumentError, DimensionError
from ..call.dispatch import op
from ..call.opened import apart, room
from ..ops import promotion as p
from ..ops.arguments import extend, fail, fresh, is_static, reorder, size_of, static_size
from ..ops.contraction import contract
from ..ops.moving import elsewhere, places
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from .arguments import (
    MATRIX,
    Pair,
    as_matrix,
    compared_positions,
    first_of,
    identity,
    least_size,
    new_inner,
    replaced,
    square_at_calls,
)
from .complex_factors import factor


@op
def cholesky(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the lower triangular L with A = L L^H, with the dims of `a`.

    `dims` names the row and the column dim; all other dims are batches. It factors the symmetric part (A + A^H) / 2, as
    JAX does, so gradients are symmetric. The result is NaN if A is not positive definite.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> xt.linalg.cholesky(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    <xtensor.Array (row: 2, col: 2) float64>
    [[2. 0.]
     [1. 2.]]
    """
    x, pair, dtype = as_matrix("cholesky", a, dims, square=True)
    return p.cast(factor("cholesky", x, pair)[0], dtype)


def _factors_plan(kind: str, a: Any, dims: Any, inner: Any, whole: bool) -> Any:
    if not isinstance(a, _native.Array) or whole or type(inner) is not str or inner in a.dims:
        return None
    if type(dims) is not tuple or len(dims) != 2 or not {*dims} <= {*a.dims}:
        return None
    least = min(a.sizes[d] for d in dims)
    return (kind, a, room(inner, least, a._device), dims) if least else None


def _factors_wide(kind: str, a: ArrayLike, space: ArrayLike, dims: Pair, /) -> tuple[Array, ...]:
    x, pair, dtype = as_matrix(kind, a, dims)
    (inner,) = as_tracer(space).dims
    found = [elsewhere(y, inner, places(space, inner)) for y in factor(kind, x, pair, apart(inner))]
    dtypes = [dtype, dtype] if kind == "qr" else [dtype, p.real_of(dtype), dtype]
    return tuple([p.cast(y, t) for y, t in zip(found, dtypes, strict=True)])


def _qr_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank", mode: Any = "reduced") -> Any:
    return _factors_plan("qr", a, dims, inner, mode != "reduced")


def _svd_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank", full_matrices: Any = False) -> Any:
    return _factors_plan("svd", a, dims, inner, full_matrices)


@op(wide=(_qr_plan, _factors_wide))
def qr(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", mode: str = "reduced") -> tuple[Array, Array]:
    """Returns q, r with A = Q R.

    `dims` names the row and the column dim; all other dims are batches. q has `inner` in place of col, r has `inner` in
    place of row. The size of `inner` is the smaller of both sizes. With mode="complete" it is the number of rows: q is
    square and orthogonal, and the rows of r that come on top are 0.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        ArgumentError: `inner` is not a name, or `mode` is another one.

    Example:
    >>> q, r = xt.linalg.qr(xt.ones(row=3, col=2))
    >>> q.sizes, r.sizes
    ({'row': 3, 'rank': 2}, {'rank': 2, 'col': 2})
    """
    x, pair, dtype = as_matrix("qr", a, dims)
    if mode not in ("reduced", "complete"):
        raise fail(ArgumentError, "linalg.qr", f"mode is 'reduced' or 'complete', not {mode!r}", x)
    q, r = factor("qr", x, pair, new_inner("qr", x, inner))
    if mode == "complete":
        rows, columns = (static_size("linalg.qr", x, d) for d in pair)
        if rows > columns:
            r = build.pad(r, p.zero(r.dtype), {inner: (0, rows - columns, 0)})
        q = completed(q, (pair[0], inner))
    return p.cast(q, dtype), p.cast(r, dtype)


def completed(q: Tracer, pair: Pair) -> Tracer:
    """Orthonormal columns with as many more as make them a basis."""
    row, inner = pair
    n, k = (int(q.sizes[d]) for d in pair)
    if k >= n:
        return q

    def value(q: Tracer) -> Tracer:
        other = fresh(q.dims, "basis")
        unit = extend(identity(q, row, inner), {d: size_of(q, d) for d in q.dims if d != inner}, q.dims)
        both = build.concat([q, unit], inner)
        basis = factor("qr", both, (row, inner), other)[0]
        return reorder(build.rename(build.slice(basis, {other: (k, n - k, 1)}), {other: inner}), q.dims)

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        # Of the ways in which the rest can turn, the one that does not turn it in itself: dR = -Q dQ^H R.
        (q,), (t,) = primals, tangents
        rest = found(q)
        inside = fresh(q.dims, "inside")
        t, q = (build.rename(v, {inner: inside}) for v in (t, q))
        along = contract([build.conj(t), rest], (row,), (*[d for d in t.dims if d != row], inner))
        return rest, build.unary("neg", contract([q, along], (inside,), rest.dims))

    found = custom_derivative(value)
    found.defpushforward(pushforward)
    return build.concat([q, found(q)], inner)


@op
def eig(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array]:
    """Returns w, v: the eigenvalues of a square matrix, in no order, and its eigenvectors: A V = V diag(w).

    `dims` names the row and the column dim; all other dims are batches. w has `inner`, v has row and `inner`, and both
    are complex, of real matrices, too. Each vector has norm 1; its phase is LAPACK's. A matrix that is not
    diagonalisable has equal vectors. Derivatives need different eigenvalues. `eigh` is for symmetric matrices.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        SizeError: the matrix is not square.
        ArgumentError: `inner` is not a name.

    Example:
    >>> w, v = xt.linalg.eig(xt.array([[0.0, -1.0], [1.0, 0.0]], ("row", "col")))
    >>> v.sizes, w.dtype, abs(w).values
    ({'row': 2, 'rank': 2}, dtype('complex128'), array([1., 1.]))
    """
    x, pair, dtype = as_matrix("eig", a, dims, square=True)
    inner = new_inner("eig", x, inner)
    w, v = factor("eig", p.cast(x, p.complex_of(x.dtype)), pair, inner)
    return p.cast(w, p.complex_of(dtype)), p.cast(v, p.complex_of(dtype))


@op
def eigvals(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> Array:
    """Returns the eigenvalues of a square matrix, in no order: complex, with `inner` in place of the matrix's dims.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        SizeError: the matrix is not square.
        ArgumentError: `inner` is not a name.

    Example:
    >>> abs(xt.linalg.eigvals(xt.array([[0.0, -2.0], [2.0, 0.0]], ("row", "col"))))
    <xtensor.Array (rank: 2) float64>
    [2. 2.]
    """
    x, pair, dtype = as_matrix("eigvals", a, dims, square=True)
    inner = new_inner("eigvals", x, inner)
    return p.cast(factor("eig", p.cast(x, p.complex_of(x.dtype)), pair, inner)[0], p.complex_of(dtype))


@op
def eigh(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array]:
    """Returns w, v: the eigenvalues of a symmetric or Hermitian matrix, in ascending order, and its eigenvectors.

    `dims` names the row and the column dim; all other dims are batches. w has `inner`, v has row and `inner`. It
    decomposes the part (A + A^H) / 2, and w is real. Eigenvectors have length 1. Of a real one, the first element that
    exceeds 0.4 of the largest absolute value is positive. Eigenvectors of equal eigenvalues do not have a derivative.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        SizeError: the matrix is not square.
        ArgumentError: `inner` is not a name.

    Example:
    >>> w, v = xt.linalg.eigh(xt.array([[2.0, 1.0], [1.0, 2.0]], ("row", "col")))
    >>> w.values.round(6), v.sizes
    (array([1., 3.]), {'row': 2, 'rank': 2})
    """
    x, pair, dtype = as_matrix("eigh", a, dims, square=True)
    w, v = factor("eigh", x, pair, new_inner("eigh", x, inner))
    return p.cast(w, p.real_of(dtype)), p.cast(v, dtype)


@op(wide=(_svd_plan, _factors_wide))
def svd(
    a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", full_matrices: bool = False
) -> tuple[Array, Array, Array]:
    """Returns u, s, vh with A = U diag(s) Vh, with s in descending order.

    `dims` names the row and the column dim; all other dims are batches. u has row and `inner`, s has `inner`, vh
    has `inner` and col. With `full_matrices=True` u and vh are square: u has row and row', vh has col' and col. Of a
    real column of u, the first element that exceeds 0.4 of the largest absolute value is positive.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        ArgumentError: `inner` is not a name.

    Example:
    >>> u, s, vh = xt.linalg.svd(xt.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]], ("row", "col")))
    >>> u.sizes, s.values.round(6), vh.sizes
    ({'row': 3, 'rank': 2}, array([3., 2.]), {'rank': 2, 'col': 2})
    """
    x, pair, dtype = as_matrix("svd", a, dims)
    u, s, vh = factor("svd", x, pair, new_inner("svd", x, inner))
    if full_matrices:
        row, col = pair
        for d in pair:
            static_size("linalg.svd", x, d)
        names = (new_inner("svd", x, f"{row}'"), new_inner("svd", x, f"{col}'"))
        u = build.rename(completed(u, (row, inner)), {inner: names[0]})
        vh = build.rename(completed(vh, (col, inner)), {inner: names[1]})
    return p.cast(u, dtype), p.cast(s, p.real_of(dtype)), p.cast(vh, dtype)


def _lu_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank") -> Any:
    found = None if p.is_complex(getattr(a, "dtype", p.BOOL)) else _factors_plan("lu", a, dims, inner, False)
    if found is None:
        return None
    moved = f"{dims[0]}'"
    if moved in (*a.dims, inner):
        return None
    return (*found, room(moved, a.sizes[dims[0]], a._device))


def _lu_wide(kind: str, a: ArrayLike, space: ArrayLike, dims: Pair, rows: ArrayLike, /) -> tuple[Array, Array, Array]:
    x, (row, col), dtype = as_matrix(kind, a, dims)
    (inner,), (moved,) = as_tracer(space).dims, as_tracer(rows).dims
    packed, order, _, _ = factor(kind, x, (row, col))

    def first(y: Tracer, dim: str, room: ArrayLike, name: str) -> Tracer:
        return elsewhere(build.rename(y, {dim: apart(name)}), name, places(room, name))

    lower = first(first(packed, col, space, inner), row, rows, moved)
    lower, upper = _triangles(lower, first(packed, row, space, inner), moved, inner, col)
    return _permuted(x, first(order, row, rows, moved), lower, upper, (row, col), (moved, inner), dtype)


@op(wide=(_lu_plan, _lu_wide))
def lu(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array, Array]:
    """Returns p, l, u with A = P L U, computed with partial pivoting.

    A is xt.dot(p, l, u, dim=("row'", "rank")). Without dim=, batch dims would be summed, too.

    `dims` names the row and the column dim; all other dims are batches. p has row and row', l has row' and `inner`,
    u has `inner` and col. If both sizes are dynamic, the matrix must be square.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        ArgumentError: `inner` is not a name.

    Example:
    >>> p, l, u = xt.linalg.lu(xt.array([[1.0, 2.0], [4.0, 5.0]], ("row", "col")))
    >>> xt.dot(p, l, u)
    <xtensor.Array (row: 2, col: 2) float64>
    [[1. 2.]
     [4. 5.]]
    """
    x, (row, col), dtype = as_matrix("lu", a, dims)
    inner = new_inner("lu", x, inner)
    moved = f"{row}'"
    if moved in (*x.dims, inner):
        raise fail(DimensionError, "linalg.lu", f"the permuted rows are named {moved!r}, which is a dim already", x,
                   instead='Rename that dim before: x.rename({' + f'{moved!r}: "other"' + "})")  # fmt: skip
    square_at_calls(x, (row, col))
    if p.is_complex(x.dtype):
        lower, upper, order, _ = factor("lu", x, (row, col), inner)
        lower = build.rename(lower, {row: moved})
    else:
        packed, order, _, _ = factor("lu", x, (row, col))
        lower, upper = _unpacked(packed, (row, col), moved, inner)
    return _permuted(x, build.rename(order, {row: moved}), lower, upper, (row, col), (moved, inner), dtype)


def _permuted(
    x: Tracer, order: Tracer, lower: Tracer, upper: Tracer, pair: Pair, names: tuple[str, str], dtype: np.dtype
) -> tuple[Tracer, Tracer, Tracer]:
    """P, and L and U in the order of the dims of `x`. names: those of the permuted rows and of the inner dim."""
    (row, col), (moved, inner) = pair, names
    at = build.compare("eq", order, build.iota(row, size_of(x, row)))
    permutation = reorder(p.cast(at, p.real_of(dtype)), replaced(x, (col, moved)))
    lower = reorder(lower, replaced(x, (col, inner), (row, moved)))
    return permutation, p.cast(lower, dtype), p.cast(reorder(upper, replaced(x, (row, inner))), dtype)


def _unpacked(packed: Tracer, pair: Pair, moved: str, inner: str) -> tuple[Tracer, Tracer]:
    """L, with `moved` for its rows, and U."""
    row, col = pair
    least: int | Tracer | None = least_size(packed, pair)
    if least is None and (is_static(packed, row) or is_static(packed, col)):
        least = build.binary("minimum", build.size(packed, row), build.size(packed, col))
    lower = build.rename(first_of(packed, col, least, inner), {row: moved})
    return _triangles(lower, first_of(packed, row, least, inner), moved, inner, col)


def _triangles(lower: Tracer, upper: Tracer, moved: str, inner: str, col: str) -> tuple[Tracer, Tracer]:
    """L and U, of what has both of them."""
    zero, one = p.zero(lower.dtype), p.constant(1, lower.dtype)
    lower = build.select(compared_positions("gt", lower, moved, inner), lower, zero)
    lower = build.select(compared_positions("eq", lower, moved, inner), one, lower)
    return lower, build.select(compared_positions("le", upper, inner, col), upper, zero)
