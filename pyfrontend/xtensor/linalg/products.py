"""Products of matrices whose dims have the same names, and matrices made of others: kron, block_diag, toeplitz."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from .. import _native
from ..base.dtypes import is_bool
from ..base.errors import ArgumentError, DimensionError, SizeError
from ..call.dispatch import op, plain
from ..call.opened import LARGEST, Amount, any_int, apart, renamed, room
from ..ops import promotion as p
from ..ops.arguments import (
    extend,
    fail,
    forbid_pairs,
    fresh,
    integer,
    is_static,
    paired_sizes,
    reorder,
    size_of,
    static_size,
    union_sizes,
)
from ..ops.contraction import contract
from ..ops.moving import elsewhere, inside, places
from ..ops.shape import MOST_PIECES, are_small
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from .arguments import MATRIX, Pair, check_square, matrix_dims

# Labels of the same name do not have to agree where names are those of different spaces: none of these but
# quadratic_form joins its operands.

# -- products ---------------------------------------------------------------------------------------------------------


def _numbers(*arrays: ArrayLike) -> list[Tracer]:
    """In one dtype; bools count as integers."""
    xs = p.promote(*arrays)
    return [p.cast(x, p.I8) if is_bool(x.dtype) else x for x in xs]


def _follow(name: str, x: Tracer, y: Tracer, row: str, col: str) -> None:
    """That the columns of one matrix are as many as the rows of the next."""
    if is_static(x, col) and is_static(y, row) and x.sizes[col] != y.sizes[row]:
        raise fail(
            SizeError, f"linalg.{name}", f"the first matrix has {x.sizes[col]} columns ({col!r}) and the second "
            f"{y.sizes[row]} rows ({row!r}); both must be equal", x, y,
        )  # fmt: skip


@op
def matmul(*arrays: ArrayLike, dims: Pair = MATRIX) -> Array:
    """Returns the product of two or more matrices that all have the row and the col dim: A B, A B C ..

    `dims` names the row and the column dim; all other dims are batches, paired by name. The result has the rows of
    the first and the columns of the last. The cheapest pair is multiplied first. `xt.dot` and `@` sum over all dims
    that operands share, so that A @ A is a number.

    Raises:
        DimensionError: a matrix does not have the dims `dims`.
        SizeError: a matrix does not have as many rows as the one before it has columns.
        ArgumentError: there are less than two matrices.

    Example:
    >>> a = xt.array([[1.0, 1.0], [0.0, 1.0]], ("row", "col"))
    >>> xt.linalg.matmul(a, a)
    <xtensor.Array (row: 2, col: 2) float64>
    [[1. 2.]
     [0. 1.]]
    """
    if len(arrays) < 2:
        raise fail(ArgumentError, "linalg.matmul", f"needs two matrices or more, got {len(arrays)}",
                   instead="xt.linalg.matrix_power(a, n) is the power of one")  # fmt: skip
    xs = _numbers(*arrays)
    for x in xs:
        if len(x.dims) < 2:
            raise fail(
                DimensionError, "linalg.matmul", f"takes matrices, and one operand has the dims {x.dims}", *xs,
                instead="Write xt.dot(a, b), or a @ b, which sums over the dims that both have",
            )  # fmt: skip
    row, col = matrix_dims("matmul", xs[0], dims)
    for x, y in itertools.pairwise(xs):
        matrix_dims("matmul", y, dims)
        _follow("matmul", x, y, row, col)
    paired_sizes("linalg.matmul", xs, besides=(row, col))
    inner = [fresh([d for x in xs for d in x.dims], f"inner{i}") for i in range(len(xs) - 1)]
    rows, cols = [row, *inner], [*inner, col]
    named = [build.rename(x, {row: r, col: c}) for x, r, c in zip(xs, rows, cols, strict=True)]
    order = tuple(dict.fromkeys(d for x in xs for d in x.dims))
    return contract(named, tuple(inner), order)


@op(joins=True)
def quadratic_form(a: ArrayLike, x: ArrayLike, y: ArrayLike | None = None, /, dims: Pair = MATRIX) -> Array:
    """Returns x^T A x, or x^T A y, with the batch dims of all.

    `dims` names the row and the column dim of `a`. `x` and `y` each have one of the two, no matter which. With a
    matrix of vectors, as x(row, sample), the result has the dim sample.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or a vector has none of them.
        SizeError: a dim has two sizes.

    Example:
    >>> a = xt.array([[2.0, 1.0], [1.0, 3.0]], ("row", "col"))
    >>> xt.linalg.quadratic_form(a, xt.array([1.0, 1.0], "row")).item()
    7.0
    """
    given = [a, x] if y is None else [a, x, y]
    m, *vectors = _numbers(*given)
    row, col = pair = matrix_dims("quadratic_form", m, dims)
    own = []
    for v in vectors:
        found = [d for d in pair if d in v.dims]
        if len(found) != 1:
            raise fail(
                DimensionError, "linalg.quadratic_form", f"a vector has one of the dims {pair}, not "
                f"{'both' if found else 'none'}", m, v, instead=f"Rename its dim to {row!r}",
            )  # fmt: skip
        own.append(found[0])
    left = build.rename(vectors[0], {own[0]: row})
    right = build.rename(vectors[-1], {own[-1]: col})
    sizes = union_sizes("linalg.quadratic_form", (m, left, right))
    forbid_pairs("linalg.quadratic_form", (m, left, right), besides=pair)
    return contract([left, m, right], pair, tuple(sizes))


@op
def congruence(a: ArrayLike, p_: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns A P A^T, the covariance of A x where P is that of x, with the row and the col dim.

    `dims` names the row and the column dim of both; all other dims are batches. P is square, as large as A has
    columns. For A^T P A give A with its dims renamed, a.rename(row="col", col="row").

    Raises:
        DimensionError: a matrix does not have the dims `dims`.
        SizeError: P is not square, or not as large as A has columns.

    Example:
    >>> a = xt.array([[1.0, 1.0], [0.0, 1.0]], ("row", "col"))
    >>> xt.linalg.congruence(a, 2.0 * xt.eye(2))
    <xtensor.Array (row: 2, col: 2) float64>
    [[4. 2.]
     [2. 2.]]
    """
    x, y = _numbers(a, p_)
    row, col = matrix_dims("congruence", x, dims)
    matrix_dims("congruence", y, dims)
    check_square("congruence", y, (row, col))
    _follow("congruence", x, y, row, col)
    paired_sizes("linalg.congruence", (x, y), besides=(row, col))
    i, j = (fresh((*x.dims, *y.dims), n) for n in ("i", "j"))
    order = tuple(dict.fromkeys((*x.dims, *y.dims)))
    factors = [build.rename(x, {col: i}), build.rename(y, {row: i, col: j}), build.rename(x, {row: col, col: j})]
    return contract(factors, (i, j), order)


def _apart(arrays: Sequence[Any], dims: Any) -> list[Any] | None:
    """Matrices whose row and column dims have names of their own (`apart`), so that their sizes may differ; None where
    they are not such."""
    if type(dims) is not tuple or len(dims) != 2 or dims[0] == dims[1]:
        return None
    for x in arrays:
        if not isinstance(x, _native.Array) or not all(x.sizes.get(d) for d in dims):
            return None
    return [renamed(x, {d: apart(d, i) for d in dims}) for i, x in enumerate(arrays)]


def _kron_plan(a: Any, b: Any, /, dims: Any = MATRIX) -> Any:
    pieces = _apart((a, b), dims)
    return pieces and (*pieces, [room(d, a.sizes[d] * b.sizes[d], a._device) for d in dims], dims)


def _kron_wide(a: ArrayLike, b: ArrayLike, rooms: Sequence[ArrayLike], dims: Pair, /) -> Array:
    x, y = _numbers(a, b)
    paired_sizes("linalg.kron", (x, y), besides=[apart(d, i) for d in dims for i in (0, 1)])
    for space, d in zip(rooms, dims, strict=True):
        at, size = places(space, d), p.cast(size_of(y, apart(d, 1)), p.I8)
        x = elsewhere(x, d, build.binary("floor_div", at, size), 0)
        y = elsewhere(y, d, build.binary("mod", at, size), 1)
    return reorder(build.binary("mul", x, y), tuple(dict.fromkeys((*x.dims, *y.dims))))


@op(wide=(_kron_plan, _kron_wide))
def kron(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the Kronecker product, whose row and column sizes are the products of those of `a` and `b`.

    `dims` names the row and the column dim of both; all other dims are batches, paired by name.

    Raises:
        DimensionError: a matrix does not have the dims `dims`.

    Example:
    >>> xt.linalg.kron(xt.eye(2), xt.full(3.0, row=1, col=2))
    <xtensor.Array (row: 2, col: 4) float64>
    [[3. 3. 0. 0.]
     [0. 0. 3. 3.]]
    """
    x, y = _numbers(a, b)
    pair = matrix_dims("kron", x, dims)
    matrix_dims("kron", y, dims)
    for v in (x, y):
        for d in pair:
            static_size("linalg.kron", v, d)
    sizes = paired_sizes("linalg.kron", (x, y), besides=pair)
    second = [fresh((*x.dims, *y.dims), d) for d in pair]
    z = build.binary("mul", x, build.rename(y, dict(zip(pair, second, strict=True))))
    for d, other in zip(pair, second, strict=True):
        z = build.merge(z, (d, other), d)
    return reorder(z, tuple(dict.fromkeys((*x.dims, *sizes))))


# -- matrices made of others ------------------------------------------------------------------------------------------


@functools.partial(plain, name="linalg.block_diag")
def block_diag(*arrays: ArrayLike, dims: Pair = MATRIX) -> Array:
    """Returns the matrix with the given matrices on its diagonal, one after the other, and 0 elsewhere.

    `dims` names the row and the column dim; all other dims are batches, and those that one of them lacks are broadcast.

    Raises:
        DimensionError: a matrix does not have the dims `dims`.
        ArgumentError: there are no matrices.

    Example:
    >>> xt.linalg.block_diag(xt.eye(1), xt.full(2.0, row=1, col=2))
    <xtensor.Array (row: 2, col: 3) float64>
    [[1. 0. 0.]
     [0. 2. 2.]]
    """
    while _are_small(arrays, dims):  # by programs for few pieces, which serve all numbers of them
        found = [_block_diag(*arrays[i : i + MOST_PIECES], dims=dims) for i in range(0, len(arrays), MOST_PIECES)]
        arrays = tuple(found)
    return _block_diag(*arrays, dims=dims)


def _are_small(arrays: Sequence[Any], dims: Any) -> bool:
    if type(dims) is not tuple or len(dims) != 2 or not all(are_small(arrays, d) for d in dims):
        return False
    rows, columns = (sum(x.sizes.get(d, 0) for x in arrays) for d in dims)
    return rows * columns <= LARGEST


def _block_diag_plan(*arrays: Any, dims: Any = MATRIX) -> Any:
    pieces = _apart(arrays, dims) if 2 <= len(arrays) <= MOST_PIECES else None
    if pieces is None:
        return None
    sizes = [sum(x.sizes[d] for x in arrays) for d in dims]
    if sizes[0] * sizes[1] > LARGEST:
        return None
    return pieces, [room(d, n, arrays[0]._device) for d, n in zip(dims, sizes, strict=True)], dims


def _block_diag_wide(arrays: Sequence[ArrayLike], rooms: Sequence[ArrayLike], dims: Pair, /) -> Array:
    xs = p.promote(*[as_tracer(x) for x in arrays])
    paired_sizes("linalg.block_diag", xs, besides=[apart(d, i) for d in dims for i in range(len(xs))])
    start = {d: p.zero(p.I8) for d in dims}
    found: Tracer | None = None
    for i, x in enumerate(xs):
        there: Tracer | None = None
        y = x
        for space, d in zip(rooms, dims, strict=True):
            at, size = build.binary("sub", places(space, d), start[d]), p.cast(size_of(x, apart(d, i)), p.I8)
            along = inside(at, size)
            there = along if there is None else build.binary("and", there, along)
            y = elsewhere(y, d, at, i)
            start[d] = build.binary("add", start[d], size)
        assert there is not None
        found = build.select(there, y, p.zero(y.dtype) if found is None else found)
    assert found is not None
    return reorder(found, (*[d for d in dict.fromkeys(found.dims) if d not in dims], *dims))


@op(wide=(_block_diag_plan, _block_diag_wide))
def _block_diag(*arrays: ArrayLike, dims: Pair = MATRIX) -> Array:
    if not arrays:
        raise fail(ArgumentError, "linalg.block_diag", "no matrices are given")
    xs = p.promote(*arrays)
    row, col = pair = matrix_dims("block_diag", xs[0], dims)
    for x in xs:
        matrix_dims("block_diag", x, dims)
        for d in pair:
            static_size("linalg.block_diag", x, d)
    batch = paired_sizes("linalg.block_diag", xs, besides=pair)
    order = (*batch, row, col)
    total = sum(int(x.sizes[col]) for x in xs)
    before, blocks = 0, []
    for x in xs:
        n = int(x.sizes[col])
        wide = build.pad(extend(x, batch, order), p.zero(x.dtype), {col: (before, total - before - n, 0)})
        blocks.append(wide)
        before += n
    return blocks[0] if len(blocks) == 1 else build.concat(blocks, row)


@op
def toeplitz(c: ArrayLike, r: ArrayLike | None = None, /, dims: Pair = MATRIX) -> Array:
    """Returns the matrix with the first column `c` and the first row `r`, whose diagonals are constant.

    `c` has the row dim, `r` the col dim; r[0] is not read. Without `r` the matrix is symmetric, or Hermitian if `c` is
    complex. All other dims are batches. Its product with a vector is a convolution, for which `xt.signal.convolve`
    needs no matrix.

    Raises:
        DimensionError: `c` does not have the row dim, or `r` the col dim.

    Example:
    >>> xt.linalg.toeplitz(xt.array([1.0, 2.0], "row"), xt.array([1.0, 5.0, 6.0], "col"))
    <xtensor.Array (row: 2, col: 3) float64>
    [[1. 5. 6.]
     [2. 1. 5.]]
    """
    if isinstance(dims, str) or len(dims) != 2:
        raise fail(DimensionError, "linalg.toeplitz", f"dims are the result's row and column dim, not {dims!r}")
    row, col = dims
    given = [c] if r is None else [c, r]
    x, *rest = p.promote(*given)
    if row not in x.dims or col in x.dims:
        raise fail(DimensionError, "linalg.toeplitz", f"the first column has dim {row!r} and not {col!r}", x)
    y = rest[0] if rest else build.rename(build.conj(x) if p.is_complex(x.dtype) else x, {row: col})
    if col not in y.dims or row in y.dims:
        raise fail(DimensionError, "linalg.toeplitz", f"the first row has dim {col!r} and not {row!r}", y)
    paired_sizes("linalg.toeplitz", (x, y), besides=(row, col))
    down = build.binary("sub", build.iota(row, size_of(x, row), p.I8), build.iota(col, size_of(y, col), p.I8))
    zero = p.zero(p.I8)
    below = build.gather("clip", x, {row: build.binary("maximum", down, zero)})
    above = build.gather("clip", y, {col: build.binary("maximum", build.unary("neg", down), zero)})
    found = build.select(build.compare("ge", down, zero), below, above)
    batch = [d for d in (*x.dims, *y.dims) if d not in dims]
    return reorder(found, tuple(dict.fromkeys((*batch, row, col))))


def _triangle(name: str, a: ArrayLike, k: int, dims: Any, predicate: str) -> Tracer:
    x = as_tracer(a)
    row, col = matrix_dims(name, x, dims)
    shift = p.amount(k if isinstance(k, Amount) else integer(f"linalg.{name}", k, "k"), p.I8)
    at = build.binary("add", build.iota(row, size_of(x, row), p.I8), shift)
    kept = build.compare(predicate, at, build.iota(col, size_of(x, col), p.I8))
    return build.labelled(reorder(build.select(kept, x, p.zero(x.dtype)), x.dims), x)


@op(amounts={"k": any_int})
def tril(a: ArrayLike, /, k: int = 0, dims: Pair = MATRIX) -> Array:
    """Returns the lower triangle: `a` with 0 above the diagonal that is `k` further right, with its dims.

    Raises:
        DimensionError: `a` does not have the dims `dims`.

    Example:
    >>> xt.linalg.tril(xt.array([[1, 2], [3, 4]], ("row", "col")))
    <xtensor.Array (row: 2, col: 2) int64>
    [[1 0]
     [3 4]]
    """
    return _triangle("tril", a, k, dims, "ge")


@op(amounts={"k": any_int})
def triu(a: ArrayLike, /, k: int = 0, dims: Pair = MATRIX) -> Array:
    """Returns the upper triangle: `a` with 0 below the diagonal that is `k` further right, with its dims.

    Raises:
        DimensionError: `a` does not have the dims `dims`.

    Example:
    >>> xt.linalg.triu(xt.array([[1, 2], [3, 4]], ("row", "col")))
    <xtensor.Array (row: 2, col: 2) int64>
    [[1 2]
     [0 4]]
    """
    return _triangle("triu", a, k, dims, "le")
