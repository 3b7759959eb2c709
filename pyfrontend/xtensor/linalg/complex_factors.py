"""Factors of real and complex matrices by one function, and the derivatives of the complex ones.

The compiler differentiates the factors of real matrices. Those of complex ones are one op without a derivative, and the
rules here are made of products and solves. What a factor leaves open, such as the phase of an eigenvector, is as in
PyTorch: a tangent moves it as little as it can.

Sources: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
Wan and Zhang, "Automatic differentiation for complex valued SVD" (2019); Boeddeker et al., "On the computation of
complex-valued gradients with application to statistically optimum beamforming" (2017).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ..ops import promotion as p
from ..ops.arguments import fresh, is_static, size_of
from ..ops.contraction import contract
from ..ops.reductions import complex_products
from ..trace import build
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from .arguments import Pair, compared_positions, diagonal_of, first_of, head, identity

Results = tuple[Tracer, ...]


def factor(name: str, x: Tracer, pair: Pair, inner: str | None = None) -> Results:
    """cholesky, eig, eigh, lu, qr or svd: the factors of the matrix with row and column dim `pair`.

    lu of a complex matrix gives L and U by themselves, with the order of the rows and its sign.
    """
    if not p.is_complex(x.dtype):
        return build.factor(name, x, pair, inner)
    dim = inner or fresh(x.dims, "inner")

    def value(x: Tracer) -> Results:
        return build.complex_factor(name, x, pair, dim)

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Results, tuple[Tracer | None, ...]]:
        found = of(*primals)
        return found, _RULES[name](found, primals[0], tangents[0], pair, dim)

    of = custom_derivative(value)
    of.defpushforward(pushforward)
    factors: Results = of(x)
    if name == "cholesky":  # by the names of the matrix
        factors = (build.broadcast(build.rename(factors[0], {dim: pair[1]}), x.dims),)
    return factors


# -- products of matrices by name -------------------------------------------------------------------------------------


def times(x: Tracer, y: Tracer, *over: str) -> Tracer:
    """The product summed over the dims `over`."""
    return contract([x, y], over, tuple(dict.fromkeys((*x.dims, *y.dims))))


def _conj(x: Tracer, *names: tuple[str, str]) -> Tracer:
    return build.conj(build.rename(x, dict(names)))


def _adjoint(x: Tracer, i: str, j: str) -> Tracer:
    """The conjugate with two dims in each other's place."""
    return _conj(x, (i, j), (j, i))


def _masked(predicate: str, x: Tracer, row: str, col: str) -> Tracer:
    """`x` where the positions along both dims compare so, and else 0."""
    return build.select(compared_positions(predicate, x, row, col), x, p.zero(x.dtype))


def _on_diagonal(x: Tracer, i: str, j: str) -> Tracer:
    """The elements at equal positions, along `j`."""
    return build.reduce("sum", _masked("eq", x, i, j), (i,))


def _scaled(x: Tracer, by: Tracer) -> Tracer:
    """A complex array times a real one."""
    return build.binary("mul", x, p.cast(by, x.dtype))


def _gaps(x: Tracer, i: str, j: str) -> Tracer:
    """1 / x off the diagonal, 0 on it."""
    on = compared_positions("eq", x, i, j)
    one = p.constant(1, x.dtype)
    return build.select(on, p.zero(x.dtype), build.binary("div", one, build.select(on, one, x)))


def _imaginary(x: Tracer) -> Tracer:
    """i Im x."""
    im = build.imag(x)
    return build.complex_array(p.zero(im.dtype), im)


def _hermitian(x: Tracer, row: str, col: str) -> Tracer:
    both = build.binary("add", x, _adjoint(x, row, col))
    return _scaled(both, p.constant(0.5, build.real(x).dtype))


def _add(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("add", x, y)


def _sub(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("sub", x, y)


# -- rules ------------------------------------------------------------------------------------------------------------


def _cholesky(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """dL = L phi(L^-1 dA L^-H), where phi takes the lower triangle and half of the diagonal."""
    (l,) = found  # noqa: E741
    row, col = pair
    i = fresh((*l.dims, col), "side")
    y = build.triangular_solve(l, build.rename(_hermitian(t, row, col), {col: i}), (row, k), upper=False, unit=False)
    z = build.triangular_solve(l, _conj(y, (k, col), (i, row)), (row, k), upper=False, unit=False)
    half = _scaled(_masked("eq", z, k, col), p.constant(0.5, build.real(z).dtype))
    z = _add(_masked("gt", z, k, col), half)
    return (build.rename(times(l, z, k), {col: k}),)


def _eig(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """With S = V^-1 dA V: dw = diag(S), and dV = V (S / (w_j - w_i)), less what changes the norms of the columns."""
    w, v = found
    row, col = pair
    i = fresh((*x.dims, k), "side")
    vi, wi = (build.rename(m, {k: i}) for m in (v, w))
    s = build.solve(vi, times(t, build.rename(v, {row: col}), col), (row, i))
    moved = times(vi, build.binary("mul", _gaps(_sub(w, wi), i, k), s), i)
    longer = build.real(build.reduce("sum", build.binary("mul", build.conj(v), moved), (row,)))
    return _on_diagonal(s, i, k), _sub(moved, _scaled(v, longer))


def _eigh(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """With S = V^H dA V: dw = diag(S), dV = V (S / (w_j - w_i))."""
    w, v = found
    row, col = pair
    i = fresh((*x.dims, k), "side")
    vi, wi = (build.rename(m, {k: i}) for m in (v, w))
    s = times(build.conj(vi), times(_hermitian(t, row, col), build.rename(v, {row: col}), col), row)
    return build.real(_on_diagonal(s, i, k)), times(vi, _scaled(s, _gaps(_sub(w, wi), i, k)), i)


def _lu(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """With H = L^-1 P dA and T the part of H U^-1 below the diagonal: dL = L T and dU = H - T U.

    It divides by a pivot only if there are rows below it, and if such a pivot is 0, T is 0 in its column.
    """
    l, u, order, _ = found  # noqa: E741
    row, col = pair
    i = fresh((*x.dims, k), "side")
    t = build.broadcast(build.gather("clip", t, {row: order}), t.dims)
    least = size_of(l, k)
    top, square = first_of(l, row, least, f"{i}~top"), first_of(u, col, least, f"{i}~left")
    first = (f"{i}~top", k)
    h = build.triangular_solve(top, first_of(t, row, least, first[0]), first, upper=False, unit=True)  # (k, col)
    on = compared_positions("eq", square, k, f"{i}~left")
    zero = build.binary("and", on, build.compare("eq", square, p.zero(square.dtype)))
    safe = build.select(zero, p.constant(1, square.dtype), square)
    rhs = build.rename(first_of(h, col, least, f"{i}~left"), {k: i})
    f = build.triangular_solve(safe, rhs, (f"{i}~left", k), upper=False, unit=False)  # (i, k)
    vanish = build.reduce("any", zero, (f"{i}~left",))
    f = _masked("gt", build.select(vanish, p.zero(f.dtype), f), i, k)
    du = _masked("le", _sub(build.rename(h, {k: i}), times(f, u, k)), i, col)
    dl = times(build.rename(l, {k: i}), f, i)
    if isinstance(least, int) and isinstance(rows := size_of(x, row), int) and rows > least:

        def below(m: Tracer) -> Tracer:
            return build.slice(m, {row: (least, rows - least, 1)})

        rest = _sub(below(t), times(build.rename(below(l), {k: i}), du, i))
        rest = build.triangular_solve(safe, build.rename(rest, {col: f"{i}~left"}), (f"{i}~left", k), False, False)
        above = head(dl, row, least)
        dl = build.concat([above, build.broadcast(rest, above.dims)], row)
    return dl, build.rename(du, {i: k}), None, None


def _qr(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """With X = dA R^-1 and S = Q^H X: dQ = X - Q V and dR = Q^H dA + (V - S) R, where V is the upper triangular matrix
    with a real diagonal of which S less V is skew-Hermitian."""
    q, r = found
    row, col = pair
    i, j = fresh((*x.dims, k), "side"), fresh((*x.dims, k), "left")
    least = size_of(q, k)
    moved = build.triangular_solve(
        first_of(r, col, least, j), first_of(t, col, least, j), (j, k), upper=False, unit=False
    )  # (row, k)
    qi = build.rename(q, {k: i})
    s = times(build.conj(qi), moved, row)  # (i, k)
    v = _masked("lt", _add(s, _adjoint(s, i, k)), i, k)
    v = _add(v, _masked("eq", p.cast(build.real(s), s.dtype), i, k))
    dr = _add(times(build.conj(qi), t, row), times(_sub(v, s), r, k))
    return _sub(moved, times(qi, v, i)), build.rename(_masked("le", dr, i, col), {i: k})


def _svd(found: Results, x: Tracer, t: Tracer, pair: Pair, k: str) -> tuple[Tracer | None, ...]:
    """With S = U^H dA V and F = 1 / (s_j^2 - s_i^2): ds = Re diag(S), dU = U (F (S s + s S^H)) and
    dV = V (F (s S + S^H s)), plus half of i Im diag(S) / s each, plus what leaves the space that U or V span."""
    u, s, vh = found
    row, col = pair
    i = fresh((*x.dims, k), "side")
    ui, si = (build.rename(m, {k: i}) for m in (u, s))
    ua = times(build.conj(ui), t, row)  # (i, col)
    moved = times(ua, build.conj(vh), col)  # (i, k)
    turned = _adjoint(moved, i, k)
    f = _gaps(build.binary("mul", _sub(s, si), build.binary("add", s, si)), i, k)
    half = p.constant(0.5, s.dtype)
    phase = _scaled(_masked("eq", _imaginary(moved), i, k), build.binary("div", half, s))
    left = _add(_scaled(_add(_scaled(moved, s), _scaled(turned, si)), f), phase)
    right = _sub(phase, _scaled(_add(_scaled(moved, si), _scaled(turned, s)), f))
    du, dvh = times(ui, left, i), build.rename(times(right, vh, k), {i: k})
    rows, columns = size_of(x, row), size_of(x, col)
    known = isinstance(rows, int) and isinstance(columns, int)
    inverse = build.binary("div", p.constant(1, s.dtype), s)
    if not known or rows > columns:
        rest = _sub(times(t, build.conj(vh), col), times(ui, moved, i))
        du = _add(du, _scaled(rest, inverse))
    if not known or columns > rows:
        rest = build.rename(_sub(ua, times(moved, vh, k)), {i: k})
        dvh = _add(dvh, _scaled(rest, inverse))
    return du, build.real(_on_diagonal(moved, i, k)), dvh


_RULES: dict[str, Callable[[Results, Tracer, Tracer, Pair, str], tuple[Tracer | None, ...]]] = {
    "cholesky": _cholesky, "eig": _eig, "eigh": _eigh, "lu": _lu, "qr": _qr, "svd": _svd,
}  # fmt: skip


# -- determinants -----------------------------------------------------------------------------------------------------


def pivots(x: Tracer, pair: Pair) -> tuple[Tracer, Tracer]:
    """The diagonal of U along the row dim, and the sign of the order of the rows, in the dtype of `x`."""
    row, col = pair
    if not p.is_complex(x.dtype):
        packed, _, _, parity = build.factor("lu", x, pair)
        return diagonal_of(packed, row, col), parity
    inner = fresh(x.dims, "inner")
    _, u, _, parity = factor("lu", x, pair, inner)
    return build.rename(diagonal_of(u, inner, col), {inner: row}), p.cast(parity, x.dtype)


def _expanded_pivots(x: Tracer, pair: Pair) -> tuple[list[Tracer], Tracer]:
    """As `pivots`, of a real matrix of at most 3 rows, each pivot by itself: a batch is one loop over vectors."""
    row, col = pair
    n = int(x.sizes[col])

    def at(i: int, j: int) -> Tracer:
        return build.squeeze(build.slice(x, {row: (i, 1, 1), col: (j, 1, 1)}), pair)

    rows = [[at(i, j) for j in range(n)] for i in range(n)]
    one, zero, minus = (p.constant(k, x.dtype) for k in (1, 0, -1))
    # NaN where an element is not finite: as the factorization has it.
    nan = reduce(_add, (build.binary("mul", element, zero) for r in rows for element in r))
    parity = _add(one, nan)
    for k in range(n - 1):
        for i in range(k + 1, n):
            larger = build.compare("gt", *(build.unary("abs", rows[r][k]) for r in (i, k)))
            both = [
                (build.select(larger, y, x), build.select(larger, x, y)) for x, y in zip(rows[k], rows[i], strict=True)
            ]
            rows[k], rows[i] = (list(found) for found in zip(*both, strict=True))
            parity = build.binary("mul", parity, build.select(larger, minus, one))
        pivot = rows[k][k]
        pivot = build.select(build.compare("eq", pivot, zero), one, pivot)  # below a pivot of 0 all is 0
        for i in range(k + 1, n):
            factor = build.binary("div", rows[i][k], pivot)
            for j in range(k + 1, n):
                rows[i][j] = _sub(rows[i][j], build.binary("mul", factor, rows[k][j]))
    return [_add(rows[k][k], nan) for k in range(n)], parity


def product_of(x: Tracer, dim: str) -> Tracer:
    return complex_products(x, dim)[0] if p.is_complex(x.dtype) else build.reduce("prod", x, (dim,))


def transposed_inverse(x: Tracer, pair: Pair) -> Tracer:
    """The inverse's transpose, which has the dims of `x`."""
    right = fresh(x.dims, pair[1])
    found = build.solve(x, identity(x, pair[1], right), pair, transposed=True)  # complex: of the adjoint
    return build.broadcast(_conj(found, (right, pair[1])), x.dims)


def sign_and_log(x: Tracer, pair: Pair) -> tuple[Tracer, Tracer]:
    """det x / |det x| and log |det x|, by d log det A = tr(A^-1 dA): cheaper than the derivative of all factors, which
    it shares."""

    def value(x: Tracer) -> tuple[Tracer, Tracer]:
        if not p.is_complex(x.dtype) and is_static(x, pair[1]) and 0 < int(x.sizes[pair[1]]) <= 3:
            few, parity = _expanded_pivots(x, pair)
            signs = (build.unary("sign", one) for one in few)
            logs = (build.unary("log", build.unary("abs", one)) for one in few)
            return reduce(partial(build.binary, "mul"), signs, parity), reduce(partial(build.binary, "add"), logs)
        diagonal, parity = pivots(x, pair)
        sign = build.binary("mul", parity, product_of(build.unary("sign", diagonal), pair[0]))
        return sign, build.reduce("sum", build.unary("log", build.unary("abs", diagonal)), (pair[0],))

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        sign, logs = found(x)
        moved = contract([transposed_inverse(x, pair), t], pair, x.dims)
        turned = build.binary("mul", sign, _imaginary(moved)) if p.is_complex(x.dtype) else None
        return (sign, logs), (turned, build.real(moved))

    found = custom_derivative(value)
    found.defpushforward(pushforward)
    both: tuple[Tracer, Tracer] = found(x)
    return both
