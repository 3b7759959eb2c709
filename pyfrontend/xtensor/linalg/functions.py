"""Functions of matrices: expm, sqrtm, matrix_rank and matrix_power."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..call.dispatch import op
from ..call.opened import Amount, Within
from ..ops import promotion as p
from ..ops.arguments import extend, fresh, integer, number, reorder, size_of
from ..ops.contraction import contract
from ..ops.reductions import any_empty
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.control import while_loop
from .arguments import MATRIX, Pair, as_matrix, check_square, compared_positions, matrix_dims, square_at_calls
from .complex_factors import factor, sign_and_log
from .solutions import inverse, least_counted

# Higham (2005): up to this 1-norm the approximant of this degree is exact to rounding.
_PADE = {np.dtype("f4"): (7, 3.925724783138660), np.dtype("f8"): (13, 5.371920351148152)}
MOST_SQUARINGS = 24
MOST_STEPS = 30


class _Square:
    """Matrices of one space: products of them, and the identity."""

    def __init__(self, x: Tracer, pair: Pair) -> None:
        self.row, self.col = pair
        self.order = x.dims
        self.between = fresh(x.dims, "between")
        self.pair = pair
        self.one = p.cast(compared_positions("eq", x, *pair), x.dtype)

    def times(self, x: Tracer, y: Tracer) -> Tracer:
        left, right = build.rename(x, {self.col: self.between}), build.rename(y, {self.row: self.between})
        return contract([left, right], (self.between,), self.order)

    def inverse(self, x: Tracer) -> Tracer:
        found = build.rename(inverse(x, self.pair), {self.row: self.col, self.col: self.row})
        return reorder(found, self.order)


def _any(x: Tracer) -> Tracer:
    return build.reduce("any", x, x.dims) if x.dims else x


@op
def expm(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the exponential of a square matrix, 1 + A + A^2 / 2 + .., with the dims of `a`.

    The row and the col dim stand for the same space; all other dims are batches. The result is NaN if the largest sum
    of absolute values of a column is above 6e7. Source: Higham, "The scaling and squaring method for the matrix
    exponential revisited" (2005).

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> xt.linalg.expm(xt.array([[0.0, 1.0], [0.0, 0.0]], ("row", "col")))
    <xtensor.Array (row: 2, col: 2) float64>
    [[1. 1.]
     [0. 1.]]
    """
    x, pair, dtype = as_matrix("expm", a, dims, square=True)
    if any_empty(x, pair):
        return p.cast(x, dtype)
    space = _Square(x, pair)
    real = p.real_of(x.dtype)
    degree, bound = _PADE[real]
    sums = build.reduce("sum", build.unary("abs", build.stop_gradient(x)), (pair[0],))
    size = build.reduce("max", sums, (pair[1],))
    zero, most = p.zero(real), p.constant(MOST_SQUARINGS, real)
    steps = build.unary("ceil", build.unary("log2", build.binary("div", size, p.constant(bound, real))))
    known = build.compare("le", steps, most)  # false for NaN
    steps = build.select(known, build.binary("maximum", steps, zero), zero)
    x = build.binary("mul", x, p.cast(build.unary("exp2", build.unary("neg", steps)), x.dtype))
    y = _pade(space, x, degree)

    def goes_on(carry: tuple[Any, Any]) -> Tracer:
        return _any(build.compare("lt", carry[0], steps))

    def square(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        i, y = carry
        go_on = build.compare("lt", i, steps)
        return i + 1.0, reorder(build.select(go_on, space.times(y, y), y), y.dims)

    start = (zero, y)
    y = while_loop(goes_on, square, start, max_steps=MOST_SQUARINGS)[1]
    y = build.select(known, y, p.constant(np.nan, y.dtype))
    return p.cast(reorder(y, space.order), dtype)


def _pade(space: _Square, x: Tracer, degree: int) -> Tracer:
    """The diagonal approximant of exp: (V - U)^-1 (V + U), of odd and even powers."""
    b = [math.factorial(2 * degree - k) // (math.factorial(k) * math.factorial(degree - k)) for k in range(degree + 1)]

    def scaled(c: float, y: Tracer) -> Tracer:
        return build.binary("mul", p.constant(c, x.dtype), y)

    def total(*parts: Tracer) -> Tracer:
        y = parts[0]
        for part in parts[1:]:
            y = build.binary("add", y, part)
        return y

    powers = [space.one, space.times(x, x)]  # of even exponent
    for _ in range(2 if degree == 13 else degree // 2 - 1):
        powers.append(space.times(powers[-1], powers[1]))
    n = len(powers)
    low = [total(*(scaled(b[2 * i + o], powers[i]) for i in range(n))) for o in (1, 0)]
    if degree == 13:
        high = [total(*(scaled(b[2 * (i + 3) + o], powers[i]) for i in range(1, n))) for o in (1, 0)]
        low = [total(part, space.times(powers[3], h)) for part, h in zip(low, high, strict=True)]
    u, v = space.times(x, low[0]), low[1]
    v = reorder(total(v, build.binary("mul", u, p.zero(x.dtype))), u.dims) if v.dims != u.dims else v
    right = fresh(x.dims, "right")
    known = build.rename(build.binary("add", v, u), {space.col: right})
    found = build.solve(build.binary("sub", v, u), known, space.pair)
    return reorder(build.rename(build.rename(found, {space.col: space.row}), {right: space.col}), space.order)


@op
def sqrtm(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the principal square root of a square matrix: X X = A, with the dims of `a`.

    The row and the col dim stand for the same space; all other dims are batches. The matrix must not be singular, and
    no real eigenvalue may be negative: else the result is NaN. Of a singular symmetric matrix, w, v = eigh(a) gives (v
    * sqrt(w)) v^T. Source: Cheng, Higham, Kenney and Laub, "Approximating the logarithm of a matrix to specified
    accuracy" (2001): the product form of the Denman-Beavers iteration.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> xt.linalg.sqrtm(xt.array([[4.0, 0.0], [0.0, 9.0]], ("row", "col"))).values.round(6)
    array([[2., 0.],
           [0., 3.]])
    """
    x, pair, dtype = as_matrix("sqrtm", a, dims, square=True)
    if any_empty(x, pair):
        return p.cast(x, dtype)
    space = _Square(x, pair)
    real = p.real_of(x.dtype)
    enough = p.constant(1e-2 if real == p.F4 else 1e-6, real)

    def half(y: Tracer) -> Tracer:
        return build.binary("mul", p.constant(0.5, y.dtype), y)

    def advance(m: Tracer, y: Tracer, scale: Tracer | None) -> tuple[Tracer, Tracer]:
        other = space.inverse(m)
        if scale is not None:  # by the determinant, which brings the eigenvalues near 1
            other = build.binary("div", other, build.binary("mul", scale, scale))
            m, y = build.binary("mul", m, build.binary("mul", scale, scale)), build.binary("mul", y, scale)
        m = half(build.binary("add", space.one, half(build.binary("add", m, other))))
        y = half(build.binary("add", y, space.times(y, other)))
        return reorder(m, space.order), reorder(y, space.order)

    def distance(m: Tracer) -> Tracer:
        off = build.unary("abs", build.binary("sub", build.stop_gradient(m), space.one))
        return build.reduce("max", off, pair)

    def step(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        m, y = carry
        n = p.cast(size_of(m, pair[0]), real)
        logs = sign_and_log(build.stop_gradient(m), pair)[1]
        scale = build.unary("exp", build.binary("div", logs, build.binary("mul", p.constant(-2.0, real), n)))
        near = build.compare("lt", distance(m), p.constant(0.01, real))
        return advance(m, y, p.cast(build.select(near, p.constant(1, real), scale), m.dtype))

    def is_far(carry: tuple[Any, Any]) -> Tracer:
        return _any(build.compare("gt", distance(carry[0]), enough))  # false for NaN

    m, y = while_loop(is_far, step, (x, x), max_steps=MOST_STEPS)
    for _ in range(2):  # quadratic: the values are there after the first, first derivatives after the second
        m, y = advance(m, y, None)
    good = build.compare("lt", distance(m), enough)
    return p.cast(reorder(build.select(good, y, p.constant(np.nan, y.dtype)), space.order), dtype)


@op
def matrix_rank(a: ArrayLike, /, dims: Pair = MATRIX, *, rtol: float | None = None) -> Array:
    """Returns how many singular values are above `rtol` times the largest, with the batch dims of `a`: i8.

    `rtol` is eps * max(rows, columns) by default, as in NumPy.

    Raises:
        DimensionError: `a` does not have the dims `dims`.

    Example:
    >>> xt.linalg.matrix_rank(xt.ones(row=3, col=2)).item()
    1
    """
    x, pair, _ = as_matrix("matrix_rank", a, dims)
    rank = fresh(x.dims, "rank")
    s = factor("svd", x, pair, rank)[1]
    bound = None if rtol is None else number("linalg.matrix_rank", rtol, "rtol")
    counted = build.compare("gt", s, least_counted(x, s, pair, rank, bound))
    return build.reduce("sum", p.cast(counted, p.I8), (rank,))


@op(amounts={"n": Within(1, 2**63 - 1)})
def matrix_power(a: ArrayLike, n: int, /, dims: Pair = MATRIX) -> Array:
    """Returns A to the integer power `n`, with the dims of `a`.

    The row and the col dim stand for the same space. Negative powers are those of the inverse.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> xt.linalg.matrix_power(xt.array([[1, 1], [0, 1]], ("row", "col")), 3)
    <xtensor.Array (row: 2, col: 2) int64>
    [[1 3]
     [0 1]]
    """
    x = as_tracer(a)
    row, col = pair = matrix_dims("matrix_power", x, dims, square=True)
    check_square("matrix_power", x, pair)
    square_at_calls(x, pair)
    if x.dtype == p.BOOL:
        x = p.cast(x, p.I8)
    if isinstance(n, Amount):
        return _powered(x, p.amount(n, p.I8), pair)
    power = integer("linalg.matrix_power", n, "the power")
    dtype = x.dtype
    if power < 0:
        x, pair, dtype = as_matrix("matrix_power", a, dims, square=True)
        x = build.rename(inverse(x, pair), {row: col, col: row})
        x, power = reorder(x, as_tracer(a).dims), -power
    if power == 0:
        same = build.cast(compared_positions("eq", x, row, col), dtype)
        return extend(same, {d: size_of(x, d) for d in x.dims}, x.dims)
    result: Tracer | None = None
    square = x
    while True:
        if power & 1:
            result = square if result is None else _times(result, square, pair)
        power >>= 1
        if not power:
            assert result is not None
            return p.cast(result, dtype)
        square = _times(square, square, pair)


def _times(left: Tracer, right: Tracer, pair: Pair) -> Tracer:
    row, col = pair
    between = fresh(left.dims, col)
    pieces = [build.rename(left, {col: between}), build.rename(right, {row: between})]
    return build.contract(pieces, (between,), left.dims)


def _powered(x: Tracer, power: Tracer, pair: Pair) -> Tracer:
    """A power above 0 that the call knows, by the products that `matrix_power` takes for a known one."""
    zero, two = p.zero(p.I8), p.constant(2, p.I8)

    def goes_on(carry: Any) -> Tracer:
        return build.compare("gt", carry[0], zero)

    def step(carry: Any) -> Any:
        left, found, square, begun = carry
        odd = build.compare("eq", build.binary("mod", left, two), p.constant(1, p.I8))
        more = build.select(begun, _times(found, square, pair), square)
        found, begun = build.select(odd, more, found), build.binary("or", begun, odd)
        return build.binary("floor_div", left, two), found, _times(square, square, pair), begun

    start = power, x, x, p.constant(False, p.BOOL)
    found: Tracer = while_loop(goes_on, step, start)[1]
    return found
