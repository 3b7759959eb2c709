"""xt.linalg of complex matrices, and eig: values against NumPy and SciPy, gradients against PyTorch and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import xtensor as xt

pytestmark = pytest.mark.float64

RNG = np.random.default_rng(11)
MATRIX = ("row", "col")
SHAPES = ((0, 0), (1, 1), (4, 4), (3, 5, 5), (2, 70, 70))
ANY = ((3, 0), (5, 3), (3, 5), (2, 4, 4), (60, 80))


def draw(*shape: int, dtype: str = "c16") -> np.ndarray:
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


def hermitian(*shape: int, dtype: str = "c16") -> np.ndarray:
    """Positive definite."""
    a = draw(*shape)
    return (a @ _h(a) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def _h(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


def matrix(a: np.ndarray, *names: str) -> xt.Array:
    return xt.array(a, dims=(*(f"b{i}" for i in range(a.ndim - 2)), *(names or MATRIX)))


def close(got: Any, want: Any, dtype: str = "c16") -> None:
    want = np.asarray(want)
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=scale * (1e-4 if dtype == "c8" else 1e-10))


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_of_square_matrices(shape: tuple[int, ...], dtype: str) -> None:
    n = shape[-1]
    a, p = draw(*shape, dtype=dtype) + 2 * np.eye(n, dtype=dtype), hermitian(*shape, dtype=dtype)
    b = draw(*shape[:-1], 3, dtype=dtype)
    x, y, rhs = matrix(a), matrix(p), matrix(b, "row", "k")
    real = "f4" if dtype == "c8" else "f8"
    got = xt.linalg.solve(x, rhs)
    assert (got.dims, got.dtype) == ((*x.dims[:-2], "col", "k"), dtype)
    close(got, np.linalg.solve(a, b), dtype)
    close(xt.linalg.solve(x, rhs.isel(k=0)), np.linalg.solve(a, b)[..., 0], dtype)
    close(xt.linalg.inv(x).transpose(*x.dims[:-2], "col", "row"), np.linalg.inv(a), dtype)
    det = np.linalg.det(a / (n + 1) ** 0.5)  # large ones overflow
    close(xt.linalg.det(x / (n + 1) ** 0.5).values / np.abs(det), det / np.abs(det), dtype)
    sign, log = xt.linalg.slogdet(x)
    assert (sign.dtype, log.dtype) == (dtype, real)
    close(sign, np.linalg.slogdet(a)[0], dtype)
    close(log, np.linalg.slogdet(a)[1], dtype)
    l = xt.linalg.cholesky(y)  # noqa: E741
    assert l.dims == y.dims
    close(l, np.linalg.cholesky(p), dtype)
    close(xt.linalg.cho_solve(l, rhs), np.linalg.solve(p, b), dtype)
    w, v = xt.linalg.eigh(y)
    assert w.dtype == real
    close(w, np.linalg.eigvalsh(p), dtype)
    close(xt.dot(y, v.rename(row="col"), dim="col"), (v * w).values, dtype)
    w, v = xt.linalg.eig(x)
    close(xt.dot(x, v.rename(row="col"), dim="col").transpose(*v.dims), (v * w).values, dtype)
    close(xt.norm(v, "row"), np.ones((*shape[:-2], n)), dtype)
    close(xt.linalg.eigvals(x), w.values, dtype)
    permutation, lower, upper = xt.linalg.lu(x)
    close(xt.dot(permutation, lower, upper, dim=("row'", "rank")), a, dtype)
    close(xt.linalg.lu_solve((permutation, lower, upper), rhs), np.linalg.solve(a, b), dtype)
    if n:
        close(xt.linalg.expm(x * 0.1), scipy.linalg.expm(a * 0.1), dtype)
        root = xt.linalg.sqrtm(y)
        close(xt.linalg.matmul(root, root), p, dtype)
        close(xt.linalg.matrix_power(x, -2), np.linalg.matrix_power(a, -2), dtype)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", ANY)
def test_of_any_matrices(shape: tuple[int, ...], dtype: str) -> None:
    a = draw(*shape, dtype=dtype)
    x, k = matrix(a), min(shape[-2:])
    q, r = xt.linalg.qr(x)
    for got, want in zip((q, r), np.linalg.qr(a), strict=True):
        close(got, want, dtype)
    assert (np.diagonal(r.values, 0, -2, -1).imag == 0).all()
    u, s, vh = xt.linalg.svd(x)
    close(s, np.linalg.svd(a, compute_uv=False), dtype)
    close(xt.dot(u * s, vh, dim="rank"), a, dtype)
    close(_h(u.values) @ u.values, np.broadcast_to(np.eye(k), (*shape[:-2], k, k)), dtype)
    permutation, lower, upper = xt.linalg.lu(x)
    close(xt.dot(permutation, lower, upper, dim=("row'", "rank")), a, dtype)
    if k:
        close(xt.linalg.pinv(x), np.linalg.pinv(a), dtype)
        b = draw(*shape[:-1], 2, dtype=dtype)
        close(xt.linalg.lstsq(x, matrix(b, "row", "k")), np.linalg.pinv(a) @ b, dtype)
        close(xt.linalg.norm(x, 2), np.linalg.norm(a, 2, axis=(-2, -1)), dtype)
        for full in (xt.linalg.qr(x, mode="complete")[0], xt.linalg.svd(x, full_matrices=True)[0]):
            close(
                _h(full.values) @ full.values,
                np.broadcast_to(np.eye(shape[-2]), (*shape[:-2], *[shape[-2]] * 2)),
                dtype,
            )
    low = (draw(*shape[:-1], 2) @ draw(*shape[:-2], 2, shape[-1])).astype("c16")
    np.testing.assert_array_equal(xt.linalg.matrix_rank(matrix(low)).values, np.full(shape[:-2], min(k, 2)))


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 3, 130])
def test_triangular_solve(n: int, lower: bool, unit: bool) -> None:
    a, b = draw(n, n) / (n + 1) + 3 * np.eye(n), draw(n, 5)
    other = np.triu(np.full((n, n), np.nan), 1)
    a = a + (other if lower else other.T)  # is not read
    for rhs in (b, b[:, 0]):
        x = xt.array(rhs, ("row", "k")[: rhs.ndim])
        got = xt.linalg.triangular_solve(matrix(a), x, lower=lower, unit=unit)
        part = np.nan_to_num(a)
        close(got, scipy.linalg.solve_triangular(part, rhs, lower=lower, unit_diagonal=unit))
        turned = xt.linalg.triangular_solve(
            matrix(a), x.rename(row="col"), dims=("col", "row"), lower=not lower, unit=unit
        )
        close(turned, scipy.linalg.solve_triangular(part, rhs, lower=lower, unit_diagonal=unit, trans="T"))


def test_eig_of_real_matrices() -> None:
    for dtype, of in (("f4", "c8"), ("f8", "c16"), ("i8", "c16")):
        a = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 2]], dtype)
        w, v = xt.linalg.eig(matrix(a))
        assert w.dtype == v.dtype == of
        close(w, np.linalg.eig(a)[0], of)
        assert w.values[0] == w.values[1].conj()  # exactly
        close(v, np.linalg.eig(a)[1], of)
    for n in (1, 2, 7, 40):
        a = RNG.standard_normal((n, n))
        w, v = xt.linalg.eig(matrix(a))
        close(a @ v.values, v.values * w.values)


def test_what_has_no_factors() -> None:
    """Is NaN, singular or not definite: the result says so, for its own instance."""
    good = hermitian(3, 3)
    a = np.stack([good, np.full((3, 3), np.nan), np.diag([1, -1, 1]).astype("c16"), np.zeros((3, 3))])
    x = matrix(a)
    l = xt.linalg.cholesky(x).values  # noqa: E741
    close(l[0], np.linalg.cholesky(good))
    assert np.isnan(l[1:]).any(axis=(1, 2)).all()
    assert (np.triu(l.real, 1) == 0).all()
    for got in (*xt.linalg.eigh(x), *xt.linalg.eig(x), *xt.linalg.svd(x), *xt.linalg.qr(x)):
        finite = np.isfinite(got.values).reshape(4, -1).all(1)
        np.testing.assert_array_equal(finite, [True, False, True, True])
    assert not np.isfinite(xt.linalg.inv(x).values[3]).any()
    np.testing.assert_array_equal(xt.linalg.det(x).values[3], 0)
    sign, log = xt.linalg.slogdet(x)
    assert (sign.values[3], log.values[3]) == (0, -np.inf)


def test_layouts_and_open_sizes() -> None:
    """Other stored orders, steps and directions; sizes that only calls know; batches of both operands."""
    a, b = draw(3, 4, 4) + 3 * np.eye(4), draw(2, 4)
    want = np.linalg.solve(a[:, None], b[None, ..., None])[..., 0]
    x, y = matrix(a), xt.array(b, ("c", "row"))
    open_ = xt.jit(xt.linalg.solve, dynamic_dims=("row", "col", "b0", "c"))
    for f in (xt.linalg.solve, open_):
        close(f(x, y).transpose("b0", "c", "col"), want)
        close(f(x.transpose("row", "b0", "col"), y.transpose("row", "c")).transpose("b0", "c", "col"), want)
    flipped = xt.array(a[:, ::-1, ::-1], dims=x.dims).isel(row=slice(None, None, -1), col=slice(None, None, -1))
    close(xt.linalg.eigvals(flipped), xt.linalg.eigvals(x).values)

    def several(x: Any) -> Any:
        w, v = xt.linalg.eigh(x)
        q, r = xt.linalg.qr(x)
        u, s, vh = xt.linalg.svd(x)
        rebuilt = xt.dot(v * w, xt.conj(v.rename(row="col")), dim="rank") + xt.dot(q, r, dim="rank")
        return rebuilt + xt.dot(u * s, vh, dim="rank"), xt.linalg.det(x), xt.linalg.cholesky(x), xt.linalg.inv(x)

    f = xt.jit(several, dynamic_dims=MATRIX)
    for n in (4, 2):
        p = matrix(hermitian(2, n, n))
        for got, wanted in zip(f(p), several(p), strict=True):
            close(got, wanted.values)
        loss = lambda p: sum(xt.sum(abs(y) ** 2) for y in several(p))  # noqa: E731
        close(xt.jit(xt.grad(loss), dynamic_dims=MATRIX)(p), xt.grad(loss)(p).values)
    got = xt.vectorize(lambda x, y: xt.linalg.solve(x, y), "b0")(x, y.rename(c="b0").isel(b0=[0, 1, 0]))
    close(got.transpose("b0", "col"), want[[0, 1, 2], [0, 1, 0]])


# -- derivatives ------------------------------------------------------------------------------------------------------

SQUARE, TALL, WIDE, DEFINITE = draw(2, 3, 3) + 2 * np.eye(3), draw(4, 3), draw(3, 4), hermitian(3, 3)
RHS = draw(3, 2)
# Of what does not depend on the choices that LAPACK makes: ours, and PyTorch's.
GRADIENTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "solve": (xt.linalg.solve, lambda m, a, b: m.solve(a, b), (SQUARE[0], RHS)),
    "inv": (xt.linalg.inv, lambda m, a: m.inv(a), (SQUARE,)),
    "det": (xt.linalg.det, lambda m, a: m.det(a), (SQUARE,)),
    "slogdet": (lambda a: xt.linalg.slogdet(a)[1], lambda m, a: m.slogdet(a)[1], (SQUARE,)),
    "phase of det": (lambda a: xt.linalg.slogdet(a)[0], lambda m, a: m.slogdet(a)[0], (SQUARE,)),
    "lower": (
        xt.linalg.triangular_solve, lambda m, a, b: m.solve_triangular(a, b, upper=False), (SQUARE[0], RHS)
    ),
    "unit upper": (
        lambda a, b: xt.linalg.triangular_solve(a, b, lower=False, unit=True),
        lambda m, a, b: m.solve_triangular(a, b, upper=True, unitriangular=True),
        (SQUARE[0], RHS),
    ),
    "cholesky": (xt.linalg.cholesky, lambda m, a: m.cholesky((a + a.mH) / 2), (DEFINITE,)),
    "q": (lambda a: xt.linalg.qr(a)[0], lambda m, a: m.qr(a)[0], (TALL,)),
    "r": (lambda a: xt.linalg.qr(a)[1], lambda m, a: m.qr(a)[1], (TALL,)),
    "r wide": (lambda a: xt.linalg.qr(a)[1], lambda m, a: m.qr(a)[1], (WIDE,)),
    "lu": (lambda a: xt.linalg.lu(a)[1:], lambda m, a: m.lu(a)[1:], (SQUARE,)),
    "lu tall": (lambda a: xt.linalg.lu(a)[1:], lambda m, a: m.lu(a)[1:], (TALL,)),
    "lu wide": (lambda a: xt.linalg.lu(a)[1:], lambda m, a: m.lu(a)[1:], (WIDE,)),
    "eigh": (lambda a: xt.linalg.eigh(a)[0], lambda m, a: m.eigvalsh((a + a.mH) / 2), (DEFINITE,)),
    "hermitian vectors": (
        lambda a: abs(xt.linalg.eigh(a)[1]) ** 2, lambda m, a: m.eigh((a + a.mH) / 2)[1].abs() ** 2, (DEFINITE,)
    ),
    "singular values": (lambda a: xt.linalg.svd(a)[1], lambda m, a: m.svdvals(a), (TALL,)),
    "left vectors": (
        lambda a: abs(xt.linalg.svd(a)[0]) ** 2, lambda m, a: m.svd(a, full_matrices=False)[0].abs() ** 2, (TALL,)
    ),
    "right vectors": (
        lambda a: abs(xt.linalg.svd(a)[2]) ** 2, lambda m, a: m.svd(a, full_matrices=False)[2].abs() ** 2, (WIDE,)
    ),
    "eigenvalues": (xt.linalg.eigvals, lambda m, a: m.eigvals(a), (SQUARE[1],)),
    "eigenvectors": (lambda a: abs(xt.linalg.eig(a)[1]) ** 2, lambda m, a: m.eig(a)[1].abs() ** 2, (SQUARE[1],)),
    "eigenvalues of real": (xt.linalg.eigvals, lambda m, a: m.eigvals(a), (SQUARE[1].real.copy(),)),
    "pinv": (xt.linalg.pinv, lambda m, a: m.pinv(a), (TALL,)),
    "pinv wide": (xt.linalg.pinv, lambda m, a: m.pinv(a), (WIDE,)),
    "spectral norm": (lambda a: xt.linalg.norm(a, 2), lambda m, a: m.matrix_norm(a, 2), (TALL,)),
    "expm": (lambda a: xt.linalg.expm(a * 0.3), lambda m, a: m.matrix_exp(a * 0.3), (SQUARE[0],)),
}  # fmt: skip


def _loss(results: Any, weights: list[np.ndarray], real: Callable[[Any], Any], leaf: Callable[..., Any]) -> Any:
    found = results if isinstance(results, tuple) else (results,)
    return sum(real((y * leaf(w, y)).sum()) for y, w in zip(found, weights, strict=True))


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs, arrays = GRADIENTS[name]
    named = [matrix(a, *("row", "k")) if i else matrix(a) for i, a in enumerate(arrays)]
    values = ours(*named)
    weights = [draw(*y.shape) for y in (values if isinstance(values, tuple) else (values,))]
    want = [torch.tensor(a, requires_grad=True) for a in arrays]
    results = theirs(torch.linalg, *want)
    _loss(results, weights, lambda y: y.real, lambda w, y: torch.tensor(w)).backward()
    loss = lambda *v: _loss(ours(*v), weights, lambda y: y.real, lambda w, y: xt.array(w, y.dims))  # noqa: E731
    gradients = xt.grad(loss, wrt=tuple(range(len(arrays))))(*named)
    for got, leaf in zip(gradients, want, strict=True):
        np.testing.assert_allclose(got.values, leaf.grad.numpy(), rtol=1e-8, atol=1e-9)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_differences(name: str) -> None:
    ours, _, arrays = GRADIENTS[name]
    named = tuple(matrix(a, *("row", "k")) if i else matrix(a) for i, a in enumerate(arrays))
    xt.testing.check_gradients(ours, named, rtol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["solve", "det", "cholesky", "eigh", "eigenvalues", "r", "lower"])
def test_second_order(name: str) -> None:
    ours, _, arrays = GRADIENTS[name]
    named = tuple(matrix(a, *("row", "k")) if i else matrix(a) for i, a in enumerate(arrays))
    xt.testing.check_gradients(lambda *v: xt.sum(abs(ours(*v)) ** 2), named, order=2, rtol=1e-4)


def test_det_where_it_vanishes() -> None:
    """The transposed conjugate adjugate, where one rank is missing."""
    a = draw(4, 3) @ draw(3, 4)
    u, s, vh = np.linalg.svd(a)
    adjugate = np.linalg.det(u) * np.linalg.det(vh) * s[:3].prod() * np.outer(vh[3].conj(), u[:, 3].conj())
    close(xt.grad(lambda x: xt.linalg.det(x).real)(matrix(a)), adjugate.T.conj())
