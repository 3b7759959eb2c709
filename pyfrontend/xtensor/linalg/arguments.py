"""How all of `xt.linalg` reads its arguments: matrices, their two dims, right-hand sides.

`dims=(row, col)` names the dims of a matrix. Python ints and integer arrays become f8, as in NumPy. 16-bit floats
are computed in f4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import check_name
from ..base.errors import ArgumentError, DimensionError, SizeError
from ..ops import promotion as p
from ..ops.arguments import dims_of, fail, forbid_pairs, is_static, needs_lapack, reorder, size_of, union_sizes
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer

Pair = tuple[str, str]
MATRIX: Pair = ("row", "col")


def matrix_dims(name: str, x: Tracer, dims: Any, square: bool = False) -> Pair:
    """(row, col): two different dims of `x`."""
    if isinstance(dims, str) or not isinstance(dims, (tuple, list)) or len(dims) != 2:
        raise fail(
            DimensionError, f"linalg.{name}", f"dims are the matrix's row and column dim, not {dims!r}", x,
            instead='Write dims=("row", "col")',
        )  # fmt: skip
    if dims == MATRIX and len(x.dims) > 1 and not {*MATRIX} <= {*x.dims}:
        if square and len(x.dims) == 2:
            check_square(name, x, x.dims)
        raise fail(
            DimensionError, f"linalg.{name}", f"there are no dims {MATRIX}, and dims= does not say which two are the "
            "matrix", x, instead=f"Write dims={_likely(x, square)}",
        )  # fmt: skip
    if len(x.dims) < 2:
        raise fail(
            DimensionError, f"linalg.{name}", "takes a matrix, which has two dims", x,
            instead="Write xt.dot, x * y or xt.norm for vectors" if x.dims else "",
        )  # fmt: skip
    row, col = dims_of(f"linalg.{name}", x, dims)
    return row, col


def _likely(x: Tracer, square: bool) -> tuple[str, ...]:
    """The last two dims; of a square matrix, the last two of one size."""
    pairs = [(a, b) for b in reversed(x.dims) for a in reversed(x.dims[: x.dims.index(b)])]
    equal = [(a, b) for a, b in pairs if is_static(x, a) and is_static(x, b) and x.sizes[a] == x.sizes[b]]
    return equal[0] if square and equal else x.dims[-2:]


def check_square(name: str, x: Tracer, dims: Pair) -> None:
    sizes = [x.sizes[d] if is_static(x, d) else None for d in dims]
    if sizes[0] != sizes[1]:
        raise fail(
            SizeError, f"linalg.{name}", f"the matrix must be square: dims {dims} have sizes "
            f"{x.sizes[dims[0]]} and {x.sizes[dims[1]]}", x,
            instead="Use lstsq, pinv, qr or svd for matrices that are not",
        )  # fmt: skip


def square_at_calls(x: Tracer, dims: Pair) -> None:
    """Where no factor sees to it: one name for both sizes, which only a call knows (compiler/Sizes.cpp)."""
    if is_static(x, dims[0]) or is_static(x, dims[1]):
        return
    for dim in dims:
        build.rename(x, {dim: f"~square~ {dims[0]}~ {dims[1]}"})


def as_matrix(name: str, a: Any, dims: Any, square: bool = False) -> tuple[Tracer, Pair, np.dtype]:
    """The matrix in f4 or f8, its two dims, and the dtype that results have."""
    x = as_tracer(a)
    pair = matrix_dims(name, x, dims, square)
    if square:
        check_square(name, x, pair)
    needs_lapack(f"linalg.{name}")
    dtype = p.mean_dtype(x.dtype)
    return p.cast(x, p.accumulator(dtype)), pair, dtype


def system(name: str, a: Any, b: Any, dims: Any, square: bool = False) -> tuple[Tracer, Tracer, Pair, np.dtype]:
    """Matrix and right-hand side in one dtype; the right-hand side has the row dim and not the column dim."""
    x, y = as_tracer(a), as_tracer(b)
    if len(x.dims) < 2 <= len(y.dims):
        raise fail(
            DimensionError, f"linalg.{name}", "the first argument is the matrix, and the second the right-hand side",
            x, y, instead=f"Write xt.linalg.{name}(a, b)",
        )  # fmt: skip
    row, col = pair = matrix_dims(name, x, dims, square)
    if square:
        check_square(name, x, pair)
    if row not in y.dims or col in y.dims:
        wrong = f"lacks dim {row!r}" if row not in y.dims else f"has dim {col!r}, which is the result's"
        raise fail(
            DimensionError, f"linalg.{name}", f"the right-hand side {wrong}: its {row!r} runs along the rows of the "
            f"matrix, and the result has {col!r} in its place", x, y, instead=_rows_named(x, y, pair),
        )  # fmt: skip
    union_sizes(f"linalg.{name}", (x, y))
    forbid_pairs(f"linalg.{name}", (x, y), besides=pair)
    needs_lapack(f"linalg.{name}")
    dtype = p.result_type(p.mean_dtype(x.dtype), p.mean_dtype(y.dtype))
    p.check_width((x, y), dtype)
    wide = p.accumulator(dtype)
    return p.cast(x, wide), p.cast(y, wide), pair, dtype


def _rows_named(x: Tracer, y: Tracer, pair: Pair) -> str:
    """What to write where the right-hand side `y` does not name its rows as the matrix does."""
    row, col = pair
    if row in y.dims:
        return f"Write b.rename({{{col!r}: 'rhs'}}), or another name that neither has"
    size = size_of(x, row)
    known = isinstance(size, int)
    if not y.dims:
        n = size if known else "n"
        made = f"xt.ones({row}={n})" if row.isidentifier() else f"xt.ones({{{row!r}: {n}}})"
        return f"Write b * {made}, the same number in each row"
    fits = [d for d in y.dims if not (known and is_static(y, d)) or y.sizes[d] == size]
    fits = [col] if col in fits else [d for d in fits if d not in x.dims]
    if len(fits) == 1:
        return f"Write b.rename({{{fits[0]!r}: {row!r}}})"
    if fits:
        return f"Write b.rename({{{fits[0]!r}: {row!r}}}), or the same of {', '.join(map(repr, fits[1:]))}"
    return f"None of its dims has the size of {row!r}, {size}: give it the rows of the matrix"


def new_inner(name: str, x: Tracer, inner: Any) -> str:
    if not isinstance(inner, str):
        raise fail(ArgumentError, f"linalg.{name}", f"inner is the name of one new dim, not {inner!r}", x)
    check_name(inner)
    if inner in x.dims:
        raise fail(
            DimensionError, f"linalg.{name}", f"the new inner dim {inner!r} is a dim of the matrix already", x,
            instead='Name it otherwise: inner="component"',
        )  # fmt: skip
    return inner


def least_size(x: Tracer, dims: Pair) -> int | None:
    """The smaller of both sizes, where they are known."""
    if not all(is_static(x, d) for d in dims):
        return None
    return min(int(x.sizes[d]) for d in dims)


def head(x: Tracer, dim: str, size: int | None) -> Tracer:
    if size is None or not is_static(x, dim) or x.sizes[dim] == size:
        return x
    return build.slice(x, {dim: (0, size, 1)})


def first_of(x: Tracer, dim: str, size: int | Tracer | None, name: str) -> Tracer:
    """The first `size` elements along `dim` under another name; all of them if it is None."""
    if not isinstance(size, Tracer):
        return build.rename(head(x, dim, size), {dim: name})
    found = build.gather("clip", x, {dim: build.iota(name, size)})
    return reorder(found, tuple(name if d == dim else d for d in x.dims))


def compared_positions(predicate: str, x: Tracer, row: str, col: str) -> Tracer:
    """How the positions along two dims of `x` compare."""
    at = [build.iota(d, size_of(x, d)) for d in (row, col)]
    return build.compare(predicate, *at)


def replaced(x: Tracer, *names: tuple[str, str]) -> tuple[str, ...]:
    """The dims of `x` with some under other names."""
    new = dict(names)
    return tuple(new.get(d, d) for d in x.dims)


def identity(x: Tracer, dim: str, other: str) -> Tracer:
    """As long as `dim` of `x`, either way."""
    size = size_of(x, dim)
    return build.cast(build.compare("eq", build.iota(dim, size), build.iota(other, size)), x.dtype)


def diagonal_of(x: Tracer, row: str, col: str, mode: str = "clip") -> Tracer:
    """The diagonal, under the name of the row dim. `mode`: what a row without an element on it does, where only the
    call knows the sizes."""
    least = least_size(x, (row, col))
    x = head(head(x, row, least), col, least)
    kept = tuple(d for d in x.dims if d != col)
    # By position: what lies beside the diagonal is not read.
    at = build.iota(row, size_of(x, row))
    if least == 0:
        return reorder(build.squeeze(build.pad(x, p.zero(x.dtype), {col: (1, 0, 0)}), (col,)), kept)
    return reorder(build.gather("clip" if least is not None else mode, x, {row: at, col: at}), kept)
