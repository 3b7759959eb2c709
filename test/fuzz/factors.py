"""Linear algebra of random programs. The reference is LAPACK in float64, with bounds by the usual theorems on how far
a backward stable routine may be off. Factors are compared as far as they are unique: without signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import named
import numpy as np
from maker import Maker, makes
from named import Named, UnknownError, is_float
from operations import op

LARGEST = 9  # rows and columns
_MANY = 64.0  # constant of the bounds, beside rows plus columns


class _Matrices:
    """The matrices of an array, batch dims first, in float64; which of them are finite, and how far each may be off,
    with what a stable routine adds."""

    def __init__(self, x: Named, row: str, col: str) -> None:
        self.batch = tuple(d for d in x.dims if d not in (row, col))
        order = [x.axis(d) for d in (*self.batch, row, col)]
        value = x.value.transpose(order).astype("float64")
        error = x.error.transpose(order)
        known = (np.isfinite(value) & np.isfinite(error)).all((-2, -1))
        eye = np.eye(*value.shape[-2:])
        self.value = np.where(known[..., None, None], value, eye)
        self.size = np.sqrt((self.value**2).sum((-2, -1)))
        # 16 bits are computed in float32 and rounded at the end.
        step = named._EPSILON["float32" if x.dtype in ("float16", "bfloat16") else x.dtype]
        rounding = _MANY * sum(value.shape[-2:]) * step * self.size
        error = np.where(known[..., None, None], error, np.inf)
        self.off = np.sqrt((error**2).sum((-2, -1))) + rounding

    def result(self, dims: tuple[str, ...], dtype: str, value: np.ndarray, off: np.ndarray) -> Named:
        """`off`, of a matrix or an element, broadcasts along the inner dims."""
        while off.ndim < value.ndim:
            off = off[..., None]
        off = np.broadcast_to(np.where(np.isfinite(off), off, np.inf), value.shape)
        if np.isinf(off).all() and off.size:
            raise UnknownError
        return named.made((*self.batch, *dims), dtype, value.astype(np.longdouble), off, 1.0)


def _sure(off: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """The bounds are of first order: they say nothing of what is nearly singular."""
    return np.where(relative < 0.05, off, np.inf)


@op("cholesky", lambda x, dims: f"xt.linalg.cholesky({x}, {dims!r})")
def _cholesky(x: Named, dims: tuple[str, str]) -> Named:
    m = _Matrices(x, *dims)
    a = (m.value + m.value.swapaxes(-1, -2)) / 2
    least = np.linalg.eigvalsh(a).min(-1, initial=np.inf)
    if (least <= 0).any():
        raise UnknownError
    relative = 4 * m.off / least
    lower = np.linalg.cholesky(a)
    return m.result(dims, x.dtype, lower, _sure(relative * np.sqrt(m.size), relative))


@op("solve", lambda a, b, dims: f"xt.linalg.solve({a}, {b}, {dims!r})")
def _solve(a: Named, b: Named, dims: tuple[str, str]) -> Named:
    """`b` is of the row dim and one more at most."""
    m, (row, col) = _Matrices(a, *dims), dims
    if m.value.size and (np.linalg.matrix_rank(m.value) < m.value.shape[-1]).any():
        raise UnknownError
    inverse = np.linalg.inv(m.value)
    others = tuple(d for d in b.dims if d != row)
    wide = b if others else Named((row, ""), b.dtype, b.value[:, None], b.error[:, None])
    right = _Matrices(wide, row, *(others or ("",)))
    value = inverse @ right.value
    size = np.sqrt((inverse**2).sum((-2, -1)))
    relative = 2 * size * m.off
    off = 2 * size * (m.off * np.sqrt((value**2).sum((-2, -1))) + right.off)
    return m.result((col, *others), a.dtype, value if others else value[..., 0], _sure(off, relative))


def _of_factors(
    name: str, text: str
) -> Callable[[Callable[[_Matrices, tuple[str, str], str, str], Named]], Callable[..., Named]]:
    """A function of one matrix; what has no sign of its own is taken without."""

    def add(meaning: Callable[[_Matrices, tuple[str, str], str, str], Named]) -> Callable[..., Named]:
        def whole(x: Named, dims: tuple[str, str], inner: str) -> Named:
            return meaning(_Matrices(x, *dims), dims, inner, x.dtype)

        return op(name, lambda x, dims, inner: text.format(f"{x}, {dims!r}, inner={inner!r}", inner=inner))(whole)

    return add


def _qr(m: _Matrices) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, r and a bound on the relative change of both: by the condition of the columns that make q."""
    q, r = np.linalg.qr(m.value)
    if min(m.value.shape[-2:]) == 0:
        return q, r, m.off
    with np.errstate(all="ignore"):
        least = np.linalg.svd(m.value[..., : q.shape[-1]], compute_uv=False).min(-1)
        relative = 4 * m.off / least
    return q, r, np.where(np.isnan(relative), np.inf, relative)


@_of_factors("qr_q", "xt.abs(xt.linalg.qr({})[0])")
def _qr_q(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    q, _, relative = _qr(m)
    return m.result((dims[0], inner), dtype, np.abs(q), _sure(relative, relative))


@_of_factors("qr_r", "xt.abs(xt.linalg.qr({})[1])")
def _qr_r(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    _, r, relative = _qr(m)
    return m.result((inner, dims[1]), dtype, np.abs(r), _sure(relative * m.size, relative))


@_of_factors("singular_values", "xt.linalg.svd({})[1]")
def _singular_values(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    return m.result((inner,), dtype, np.linalg.svd(m.value, compute_uv=False), m.off)


def _gaps(values: np.ndarray) -> np.ndarray:
    """How far each value is from the next one."""
    apart = np.abs(values[..., :, None] - values[..., None, :])
    apart = np.where(np.eye(values.shape[-1], dtype=bool), np.inf, apart)
    return apart.min(-1, initial=np.inf)


@_of_factors("svd_vh", "xt.abs(xt.linalg.svd({})[2])")
def _svd_vh(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    _, s, vh = np.linalg.svd(m.value, full_matrices=False)
    relative = 4 * m.off[..., None] / np.minimum(_gaps(s), s)
    return m.result((inner, dims[1]), dtype, np.abs(vh), _sure(relative, relative))


@_of_factors("svd_whole", "(lambda u, s, vh: xt.dot(u, s, vh, dim='{inner}'))(*xt.linalg.svd({}))")
def _svd_whole(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    # The factors are rounded to 16 bits each, before their product.
    step = named._EPSILON[dtype] * sum(m.value.shape[-2:]) * m.size
    return m.result(dims, dtype, m.value, m.off + 8 * step)


def _symmetric(m: _Matrices) -> np.ndarray:
    return (m.value + m.value.swapaxes(-1, -2)) / 2


@_of_factors("eigenvalues", "xt.linalg.eigh({})[0]")
def _eigenvalues(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    return m.result((inner,), dtype, np.linalg.eigvalsh(_symmetric(m)), m.off)


@_of_factors("eigenvectors", "xt.abs(xt.linalg.eigh({})[1])")
def _eigenvectors(m: _Matrices, dims: tuple[str, str], inner: str, dtype: str) -> Named:
    w, v = np.linalg.eigh(_symmetric(m))
    relative = 4 * m.off[..., None] / _gaps(w)
    relative = np.broadcast_to(relative[..., None, :], v.shape)
    return m.result((dims[0], inner), dtype, np.abs(v), _sure(relative, relative))


def _pick(g: Maker, square: bool) -> tuple[str, tuple[str, str]] | None:
    """An array and two dims of it that are a matrix of sizes that the program knows."""

    def pairs(a: Named) -> list[tuple[str, str]]:
        known = [d for d, n in a.sizes.items() if d not in g.open and 1 <= n <= LARGEST]
        every = [(r, c) for r in known for c in known if r != c]
        return [(r, c) for r, c in every if not square or a.sizes[r] == a.sizes[c]]

    x = g.pick(lambda a: is_float(a.dtype) and 0 < a.value.size < 2000 and bool(pairs(a)))
    return (x, g.rng.choice(pairs(g.values[x]))) if x else None


def _squared(g: Maker) -> tuple[str, tuple[str, str]] | None:
    """A square matrix: one that is there, or X X^T + 1, which is positive definite."""
    if g.rng.random() < 0.3 and (found := _pick(g, True)):
        return found
    found = _pick(g, False)
    if found is None:
        return None
    x, (row, col) = found
    n, dtype = g.values[x].sizes[row], g.values[x].dtype
    other = f"d{len(g.sizes)}"
    g.sizes[other] = n
    turned = g.add("rename", [x], {"old": row, "new": other})
    square = g.add("dot", [x, turned], {"dim": col}) if turned else None
    eye = g.add("eye", [], {"row": row, "col": other, "n": n, "dtype": dtype}) if square else None
    whole = g.add("binary", [square, eye], {"op": "+"}) if square and eye else None
    return (whole, (row, other)) if whole else None


@op("eye", lambda row, col, n, dtype: f"xt.eye({row}={n}, {col}={n}, dtype={dtype!r})")
def _eye(row: str, col: str, n: int, dtype: str) -> Named:
    return named.exact(np.eye(n), (row, col), dtype)


def _meet(name: str, m: _Matrices) -> bool:
    """Whether values are close to each other, or singular ones to 0: factors have no derivatives there."""
    if name.startswith("eigen"):
        distances = _gaps(np.linalg.eigvalsh(_symmetric(m)))
    else:
        values = np.linalg.svd(m.value, compute_uv=False)
        distances = np.minimum(_gaps(values), values)
    return bool(distances.min(initial=1.0) < 1e-2)


@makes(1.5)
def _make_factors(g: Maker) -> Any:
    name = g.rng.choice(
        ("qr_q", "qr_r", "singular_values", "svd_vh", "svd_whole", "eigenvalues", "eigenvectors", "cholesky")
    )
    square = name in ("eigenvalues", "eigenvectors", "cholesky")
    found = _squared(g) if square else _pick(g, False)
    if found is None:
        return None
    x, dims = found
    if g.kind.smooth and _meet(name, _Matrices(g.values[x], *dims)):
        return None
    if name == "cholesky":
        return g.add("cholesky", [x], {"dims": dims})
    inner = f"d{len(g.sizes)}"
    g.sizes[inner] = min(g.values[x].sizes[d] for d in dims)
    return g.add(name, [x], {"dims": dims, "inner": inner})


@makes(1.5)
def _make_solve(g: Maker) -> Any:
    found = _squared(g)
    if found is None:
        return None
    x, dims = found
    b = g.pick(
        lambda a: (
            dims[0] in a.dims
            and len(a.dims) <= 2
            and not (set(a.dims) - {dims[0]}) & set(g.values[x].dims)
            and a.dtype == g.values[x].dtype
        )
    )
    return g.add("solve", [x, b], {"dims": dims}) if b else None
