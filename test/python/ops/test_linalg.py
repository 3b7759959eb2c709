"""xt.linalg against NumPy and SciPy: values over batches, orders, sizes and dtypes; errors."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import xtensor as xt
from against import finished
from linalg_cases import ANY, SHAPES, close, definite, matrix, random

# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_cholesky(shape: tuple[int, ...], dtype: str) -> None:
    a = definite(*shape, dtype=dtype)
    got = xt.linalg.cholesky(matrix(a), dims=("row", "col"))
    assert got.dims == matrix(a).dims
    assert got.dtype == dtype
    close(got, np.linalg.cholesky(a), dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_solve(shape: tuple[int, ...], dtype: str) -> None:
    a, b = definite(*shape, dtype=dtype), random(*shape[:-1], 3, dtype=dtype)
    got = xt.linalg.solve(matrix(a), matrix(b).rename(col="rhs"), dims=("row", "col"))
    assert got.dims == (*matrix(a).dims[:-2], "col", "rhs")
    close(got, np.linalg.solve(a, b), dtype)
    one = xt.linalg.solve(matrix(a), matrix(b).isel(col=0), dims=("row", "col"))
    close(one, np.linalg.solve(a, b)[..., 0], dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3, 33, 130])
def test_triangular_solve(n: int, lower: bool, unit: bool, dtype: str) -> None:
    a = (random(n, n) / (n + 1) + 3 * np.eye(n)).astype(dtype)
    b = random(n, 35, dtype=dtype)
    for rhs in (b, b[:, 0]):
        x = xt.array(rhs, ("row", "k")[: rhs.ndim])
        got = xt.linalg.triangular_solve(matrix(a), x, lower=lower, unit=unit)
        close(got, scipy.linalg.solve_triangular(a, rhs, lower=lower, unit_diagonal=unit), dtype)
        turned = xt.linalg.triangular_solve(
            matrix(a), x.rename(row="col"), dims=("col", "row"), lower=not lower, unit=unit
        )
        close(turned, scipy.linalg.solve_triangular(a, rhs, lower=lower, unit_diagonal=unit, trans="T"), dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", ANY)
def test_qr(shape: tuple[int, ...], dtype: str) -> None:
    a = random(*shape, dtype=dtype)
    q, r = xt.linalg.qr(matrix(a), dims=("row", "col"))
    batch = matrix(a).dims[:-2]
    assert (q.dims, r.dims) == ((*batch, "row", "rank"), (*batch, "rank", "col"))
    qs, rs = np.linalg.qr(a)
    close(q, qs, dtype)
    close(r, rs, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", ANY)
def test_svd(shape: tuple[int, ...], dtype: str) -> None:
    a = random(*shape, dtype=dtype)
    u, s, vh = xt.linalg.svd(matrix(a), dims=("row", "col"))
    batch = matrix(a).dims[:-2]
    assert (u.dims, s.dims, vh.dims) == ((*batch, "row", "rank"), (*batch, "rank"), (*batch, "rank", "col"))
    close(s, np.linalg.svd(a, compute_uv=False), dtype)
    close(xt.dot(u * s, vh, dim="rank").transpose(*matrix(a).dims), a, dtype)
    k = min(shape[-2:])
    eye = np.broadcast_to(np.eye(k), (*shape[:-2], k, k))
    close(xt.dot(u, u.rename(rank="r2"), dim="row"), eye, dtype)
    close(xt.dot(vh, vh.rename(rank="r2"), dim="col"), eye, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_eigh(shape: tuple[int, ...], dtype: str) -> None:
    a = definite(*shape, dtype=dtype)
    w, v = xt.linalg.eigh(matrix(a), dims=("row", "col"))
    batch = matrix(a).dims[:-2]
    assert (w.dims, v.dims) == ((*batch, "rank"), (*batch, "row", "rank"))
    close(w / shape[-1] if shape[-1] else w, np.linalg.eigh(a)[0] / max(shape[-1], 1), dtype)
    moved = xt.dot(matrix(a), v.rename(row="col"), dim="col") - v * w
    close(moved / max(shape[-1], 1) ** 2, np.zeros(moved.shape), dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [2, 3, 17, 33, 64, 65])
def test_eigh_of_spectra_that_converge_slowly(n: int, dtype: str) -> None:
    """Equal, graded and clustered eigenvalues, blocks, and numbers whose squares overflow or vanish."""
    rng = np.random.default_rng(n)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    far = 1e30 if dtype == "f4" else 1e250
    beside = np.diag(np.ones(n - 1), 1)
    wilkinson = np.diag(abs(np.arange(n) - n // 2).astype("f8")) + beside + beside.T
    block = np.where(np.add.outer(np.arange(n) // 5, -(np.arange(n) // 5)) == 0, 1.0, 0.0)
    dense = turn * np.linspace(-1, 1, n) @ turn.T
    spectra = {
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "descending": np.diag(np.arange(n, 0.0, -1)),
        "no diagonal": beside + beside.T,
        "wilkinson": wilkinson,
        "blocks": block,
        "of rank one": np.outer(turn[0], turn[0]),
        "cluster": np.eye(n) + 1e-5 * dense,
        "graded": np.outer(0.5 ** np.arange(n), 0.5 ** np.arange(n)) * (dense + 2 * np.eye(n)),
        "graded upwards": (np.outer(0.5 ** np.arange(n), 0.5 ** np.arange(n)) * (dense + 2 * np.eye(n)))[::-1, ::-1],
        "large": far * dense,
        "small": dense / far,
        "of one large number": dense / far + far * np.diag(np.arange(n) == n // 2),
    }
    # In rotations of small numbers, squares have few digits. LAPACK's own vectors err by 1e-9 for some of these.
    for i in range(50 if n <= 64 else 0):
        spectra[f"beside the diagonal {i}"] = np.diag(10 ** -rng.uniform(0, 14, n - 1), 1)
    f = xt.jit(lambda a: xt.linalg.eigh(a))
    for name, whole in spectra.items():
        a = ((whole + whole.T) / 2).astype(dtype)
        w, v = (y.values.astype("f8") for y in f(matrix(a)))
        scale, eps = max(abs(a.astype("f8")).max(), np.finfo(dtype).tiny), 8 * n * np.finfo(dtype).eps
        assert (np.diff(w) >= 0).all(), name
        assert abs(w / scale - np.linalg.eigvalsh(a / scale, "L")).max() <= eps, name
        assert abs(v.T @ v - np.eye(n)).max() <= eps, name
        assert abs(a / scale @ v - v * (w / scale)).max() <= eps, name


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", ANY)
def test_lu(shape: tuple[int, ...], dtype: str) -> None:
    a = random(*shape, dtype=dtype)
    p, lower, upper = xt.linalg.lu(matrix(a), dims=("row", "col"))
    batch = matrix(a).dims[:-2]
    assert (p.dims, lower.dims, upper.dims) == (
        (*batch, "row", "row'"),
        (*batch, "row'", "rank"),
        (*batch, "rank", "col"),
    )
    if a.size:
        for got, expected in zip((p, lower, upper), scipy.linalg.lu(a), strict=True):
            close(got, expected, dtype)
    close(xt.dot(p, lower, upper, dim=("row'", "rank")).transpose(*matrix(a).dims), a, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_inverse_and_determinant(shape: tuple[int, ...], dtype: str) -> None:
    a = definite(*shape, dtype=dtype) / max(shape[-1], 1)
    a = a + 0.1 * random(*shape, dtype=dtype) / max(shape[-1], 1)
    got = xt.linalg.inv(matrix(a), dims=("row", "col"))
    assert got.dims == (*matrix(a).dims[:-2], "col", "row")
    close(got, np.linalg.inv(a), dtype)
    sign, log = xt.linalg.slogdet(matrix(a))
    expected = np.linalg.slogdet(a)
    close(sign, expected.sign, dtype)
    close(log, expected.logabsdet, dtype)
    close(xt.linalg.det(matrix(a)).values / np.exp(expected.logabsdet), expected.sign, dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [s for s in ANY if min(s[-2:]) < 50])
def test_pseudoinverse_and_least_squares(shape: tuple[int, ...], dtype: str) -> None:
    a = (random(*shape) / max(*shape[-2:], 1) + 2 * np.eye(*shape[-2:])).astype(dtype)
    got = xt.linalg.pinv(matrix(a), dims=("row", "col"))
    assert got.dims == (*matrix(a).dims[:-2], "col", "row")
    scale = max(1.0, np.abs(np.linalg.pinv(a)).max(initial=1.0))
    close(got / scale, np.linalg.pinv(a) / scale, dtype)
    b = random(*shape[:-1], 2, dtype=dtype)
    x = xt.linalg.lstsq(matrix(a), matrix(b).rename(col="k"))
    assert x.dims == (*matrix(a).dims[:-2], "col", "k")
    close(x / scale, np.linalg.pinv(a) @ b / scale, dtype)


def test_least_squares_of_low_rank() -> None:
    a = random(6, 2) @ random(2, 4)
    b = random(6)
    got = xt.linalg.lstsq(matrix(a), xt.array(b, "row"))
    close(got, np.linalg.lstsq(a, b)[0])


def test_diagonal_and_trace() -> None:
    a = random(2, 3, 5)
    close(xt.linalg.diagonal(matrix(a)), np.diagonal(a, axis1=-2, axis2=-1))
    close(xt.linalg.trace(matrix(a)), np.trace(a, axis1=-2, axis2=-1))
    close(xt.linalg.trace(matrix(a), dims=("col", "row")), np.trace(a, axis1=-2, axis2=-1))
    found = xt.linalg.diagonal(matrix(a[0].T), inner="k")
    assert found.dims == ("k",)
    close(found, np.diagonal(a[0].T))
    assert xt.linalg.trace(xt.array([[1, 2], [3, 4]], ("row", "col"))).values.dtype == np.int64
    assert xt.linalg.trace(xt.zeros(row=0, col=3)).item() == 0
    np.testing.assert_array_equal(
        xt.linalg.diagonal(xt.array([[True, False], [False, False]], ("row", "col"))), [True, False]
    )


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_norm(order: Any) -> None:
    a = random(2, 3, 4)
    close(xt.linalg.norm(matrix(a), order), np.linalg.norm(a, order, axis=(-2, -1)))
    close(xt.linalg.norm(matrix(a), order, dims=("col", "row")), np.linalg.norm(a, order, axis=(-1, -2)))
    assert xt.linalg.norm(matrix(a), dims=("col",)).dims == ("b1", "row")


def test_wrong_orders_of_norms() -> None:
    vector, dim = xt.zeros(t=3), r"ord='t' is a dim, .*float64 \(t: 3.*Write xt.linalg.norm\(x, dims='t'\)"
    for x in (vector, xt.zeros(t=3, s=2)):
        for f in (xt.linalg.norm, xt.jit(lambda x, _: xt.linalg.norm(x, "t"))):
            with pytest.raises(xt.ArgumentError, match=dim):
                f(x, "t")
    for ord in ("fro", "nuc", "2", "Inf"):
        with pytest.raises(xt.ArgumentError, match=f"there is no vector norm ord='{ord}'.*ord is a number"):
            xt.linalg.norm(vector, ord)
    fro = xt.array([[3.0, 0.0], [0.0, 4.0]], ("fro", "nuc"))
    assert xt.linalg.norm(fro, "fro", dims=("fro", "nuc")).item() == 5.0


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, -1, -3])
def test_matrix_power(n: int) -> None:
    a = random(2, 3, 3) + 2 * np.eye(3)
    got = xt.linalg.matrix_power(matrix(a), n)
    assert got.dims == ("b1", "row", "col")
    close(got, np.linalg.matrix_power(a, n))
    whole = np.array([[1, 2], [3, 4]])
    if n >= 0:
        np.testing.assert_array_equal(xt.linalg.matrix_power(matrix(whole), n).values, np.linalg.matrix_power(whole, n))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 32, 33, 64, 150])
@pytest.mark.parametrize("n", [96, 97, 200])
def test_large_matrices_are_solved_in_blocks(n: int, columns: int, dtype: str) -> None:
    """Whatever lies next to each other: columns, rows, or neither."""
    a, b = random(n, n) / n + 2 * np.eye(n), random(n, columns)
    wide = np.zeros((2 * n, 2 * n), dtype)
    wide[::2, ::2] = a
    every = slice(None, None, 2)
    rhs = xt.array(b.astype(dtype), ("row", "k"))
    matrices = (
        matrix(a.astype(dtype)),
        xt.array(a.T.astype(dtype), ("col", "row")),
        matrix(wide).isel(row=every, col=every),
    )
    for given in matrices:
        for lower in (True, False):
            for unit in (True, False):
                f = xt.jit(lambda a, b, o={"lower": lower, "unit": unit}: xt.linalg.triangular_solve(a, b, **o))
                close(f(given, rhs), scipy.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit), dtype)
        close(xt.linalg.solve(given, rhs), np.linalg.solve(a, b), dtype)
        close(xt.linalg.solve(given, rhs.rename(row="col"), dims=("col", "row")), np.linalg.solve(a.T, b), dtype)
    spread = xt.jit(lambda v: xt.linalg.triangular_solve(v.isel(row=every, col=every), rhs))
    close(spread(matrix(wide)), scipy.linalg.solve_triangular(a, b, lower=True), dtype)


# -- names, orders, dtypes --------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda a: xt.linalg.cholesky(a),
    "eigh": lambda a: xt.linalg.eigh(a)[0],
    "svd": lambda a: xt.linalg.svd(a)[1],
    "qr": lambda a: xt.linalg.qr(a)[0],
    "lu": lambda a: xt.linalg.lu(a)[1],
    "inv": lambda a: xt.linalg.inv(a),
    "pinv": lambda a: xt.linalg.pinv(a),
    "det": lambda a: xt.linalg.det(a),
    "slogdet": lambda a: xt.linalg.slogdet(a)[1],
    "diagonal": lambda a: xt.linalg.diagonal(a),
    "trace": lambda a: xt.linalg.trace(a),
    "norm": lambda a: xt.linalg.norm(a, 2),
    "power": lambda a: xt.linalg.matrix_power(a, -2),
    "solve": lambda a: xt.linalg.solve(a, a.isel(col=slice(0, 2)).rename(col="k")),
    "triangular_solve": lambda a: xt.linalg.triangular_solve(a, a.isel(col=0)),
    "lstsq": lambda a: xt.linalg.lstsq(a, a.isel(col=0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_stored_order_is_no_matter(name: str) -> None:
    f, a = FUNCTIONS[name], xt.array(definite(2, 3, 4, 4), ("x", "y", "row", "col"))
    expected = f(a)
    for order in (("row", "x", "col", "y"), ("col", "row", "y", "x"), ("y", "col", "x", "row")):
        moved = f(a.transpose(*order))
        close(moved.transpose(*expected.dims), expected.values)
        traced = xt.jit(lambda v, f=f, order=order: f((v * 1.0).transpose(*order)))(a)
        close(traced.transpose(*expected.dims), expected.values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slices_and_steps(name: str) -> None:
    wide = definite(8, 8) + 8 * np.eye(8)
    f = FUNCTIONS[name]
    got = xt.jit(lambda v: f(v.isel(row=slice(0, None, 2), col=slice(None, None, 2))))(matrix(wide))
    close(got, f(matrix(np.ascontiguousarray(wide[::2, ::2]))).values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dynamic_batch(name: str) -> None:
    f = FUNCTIONS[name]
    run = xt.jit(f, dynamic_dims=("b1",))
    for n in (3, 1, 5):
        a = matrix(definite(n, 4, 4))
        close(run(a), f(a).values)


@pytest.mark.parametrize("name", ["cholesky", "inv", "det", "slogdet", "solve", "triangular_solve", "trace", "power"])
def test_dynamic_matrix(name: str) -> None:
    f = FUNCTIONS[name]
    if name == "solve":
        f = lambda a: xt.linalg.solve(a, xt.sum(a, "col"))  # noqa: E731
    if name == "triangular_solve":
        f = lambda a: xt.linalg.triangular_solve(a, xt.sum(a, "col"))  # noqa: E731
    run = xt.jit(f, dynamic_dims=("row", "col"))
    for n in (3, 1, 5):
        a = matrix(definite(2, n, n))
        close(run(a), f(a).values)


def test_batches_meet_by_name() -> None:
    a, b = definite(2, 4, 4), random(3, 4)
    got = xt.linalg.solve(matrix(a), xt.array(b, ("i", "row")))
    assert got.dims == ("b1", "i", "col")
    close(got, np.linalg.solve(a[:, None], b[None, :, :, None])[..., 0])
    both = xt.linalg.solve(matrix(a), xt.array(random(4, 2), ("row", "b1")))
    assert both.dims == ("b1", "col")
    several = xt.array(random(2, 4, 3), ("k", "row", "m"))
    got = xt.linalg.triangular_solve(matrix(a), several)
    assert got.dims == ("b1", "k", "col", "m")
    expected = [[scipy.linalg.solve_triangular(x, y, lower=True) for y in several.values] for x in a]
    close(got, expected)


def test_integers_and_halves() -> None:
    whole = np.array([[4, 1], [1, 3]], "i2")
    for f in (FUNCTIONS["cholesky"], FUNCTIONS["inv"], FUNCTIONS["det"]):
        assert f(matrix(whole)).dtype == np.float64
    close(xt.linalg.inv(matrix(whole)), np.linalg.inv(whole))
    for dtype in (np.dtype("f2"), xt.bfloat16):
        half = matrix(whole).astype(dtype)
        got = xt.linalg.cholesky(half)
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("f8"), np.linalg.cholesky(whole), rtol=1e-2)
    assert xt.linalg.solve(matrix(whole), xt.array([1.0, 2.0], "row").astype("f4")).dtype == np.float64


# -- singular and worse -----------------------------------------------------------------------------------------------


def test_one_bad_instance_spoils_no_other() -> None:
    a = definite(3, 4, 4)
    a[1] = -a[1]
    got = xt.linalg.cholesky(matrix(a)).values
    assert np.isnan(got[1][np.tril_indices(4)]).all()
    assert (got[1][np.triu_indices(4, 1)] == 0).all()
    close(got[[0, 2]], np.linalg.cholesky(a[[0, 2]]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("n", [3, 120])
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("diagonal", "trace")])
def test_not_a_number_comes_back(name: str, n: int, bad: float) -> None:
    a = definite(n, n)
    a[n - 1, 0] = a[0, n - 1] = bad
    assert not np.isfinite(FUNCTIONS[name](matrix(a)).values).all()


def test_singular() -> None:
    a = matrix(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert xt.linalg.det(a).item() == 0
    sign, log = xt.linalg.slogdet(a)
    assert (sign.item(), log.item()) == (0, -math.inf)
    assert not np.isfinite(xt.linalg.inv(a).values).any()
    assert not np.isfinite(xt.linalg.solve(a, xt.array([1.0, 1.0], "row")).values).any()


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_second_derivative_of_a_determinant_with_a_small_column(kind: str) -> None:
    def second(a: np.ndarray, v: np.ndarray) -> np.ndarray:
        def along(x: Any) -> Any:
            return xt.sum(xt.grad(lambda x: xt.linalg.det(x).real)(x) * matrix(v)).real

        return xt.grad(along)(matrix(a)).values

    a, v = (random(6, 6) + (1j * random(6, 6) if kind == "complex" else 0) for _ in range(2))
    for column in range(6):
        # det is linear by each column: no change of one moves the gradient by it.
        scale = np.where(np.arange(6) == column, 1e-200, 1.0)
        own = np.where(np.arange(6) == column, v, 0)
        wanted = np.where(np.arange(6) == column, second(a, v - own), second(a, own))
        close(xt.array(second(a * scale, v), ("row", "col")), wanted)


def test_gradient_of_determinant_at_singular_matrices() -> None:
    a = random(4, 4)
    a[2] = a[0] + 2 * a[1]
    u, s, vh = np.linalg.svd(a)
    others = np.array([np.prod(np.delete(s, i)) for i in range(4)])
    adjugate = np.linalg.det(u) * np.linalg.det(vh) * (u * others) @ vh
    close(xt.grad(xt.linalg.det)(matrix(a)), adjugate)
    exact = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0]])
    close(xt.grad(xt.linalg.det)(matrix(exact)), [[12, -6, 0], [-6, 3, 0], [0, 0, 0]])
    # The pivot that vanishes is not the last.
    early = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0], [3.0, 3.0, 5.0]])
    close(xt.grad(xt.linalg.det)(matrix(early)), [[7, -7, 0], [-5, 5, 0], [1, -1, 0]])
    for column in range(4):
        a = random(4, 4)
        a[:, column] = 0 if column == 0 else 2 * a[:, 0]
        u, s, vh = np.linalg.svd(a)
        others = np.array([np.prod(np.delete(s, i)) for i in range(4)])
        close(xt.grad(xt.linalg.det)(matrix(a)), np.linalg.det(u) * np.linalg.det(vh) * (u * others) @ vh)
    # One matrix of a batch has a small pivot before the last one; all are factored again.
    many = random(5, 7, 7) + 4 * np.eye(7)
    regular = many.copy()
    many[3, :, 2] = many[3, :, 0] - many[3, :, 1]
    for a in (regular, many, many[3:4] + 1e-9 * regular[:1]):
        u, s, vh = np.linalg.svd(a)
        others = np.stack([np.prod(np.delete(s, i, axis=-1), axis=-1) for i in range(7)], axis=-1)
        adjugate = (np.linalg.det(u) * np.linalg.det(vh))[:, None, None] * (u * others[:, None]) @ vh
        x = xt.array(a, ("b", "row", "col"))
        close(xt.grad(lambda x: xt.sum(xt.linalg.det(x)))(x), adjugate)
        close(xt.vectorize(xt.grad(xt.linalg.det), "b")(x), adjugate)
    for rank in (0, 1):
        low = np.zeros((3, 3))
        low[:rank, :rank] = 2
        close(xt.grad(xt.linalg.det)(matrix(low)), np.zeros((3, 3)))


# -- xarray -----------------------------------------------------------------------------------------------------------


def test_coordinates() -> None:
    xr = pytest.importorskip("xarray")
    a = xr.DataArray(definite(2, 3, 3), dims=("t", "row", "col"), coords={"t": [5, 6], "row": list("abc")})
    w, v = xt.linalg.eigh(a, dims=("row", "col"))
    assert list(w.coords) == ["t"]
    assert sorted(v.coords) == ["row", "t"]
    _, lower, upper = xt.linalg.lu(a)
    assert "row'" not in lower.coords
    assert list(upper.coords) == ["t"]
    assert list(xt.linalg.det(a).coords) == ["t"]


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda a: xt.linalg.cholesky(a, dims="ab"), "row and column dim"),
        (lambda a: xt.linalg.cholesky(a, dims=("row",)), "row and column dim"),
        (lambda a: xt.linalg.cholesky(a, dims=("row", "time")), "time"),
        (lambda a: xt.linalg.cholesky(a, dims=("row", "row")), "named twice"),
        (lambda a: xt.linalg.cholesky(a.isel(row=[0, 1])), "must be square"),
        (lambda a: xt.linalg.det(a.isel(row=[0, 1])), "must be square"),
        (lambda a: xt.linalg.solve(a, xt.zeros(z=3)), r"lacks dim 'row'.*Write b.rename\({'z': 'row'}\)\n"),
        (lambda a: xt.linalg.solve(a, xt.zeros(y=4, z=3)), r"Write b.rename\({'z': 'row'}\)\n"),
        (lambda a: xt.linalg.solve(a, xt.zeros(y=3, z=3)), r"Write b.rename\({'y': 'row'}\), or the same of 'z'\n"),
        (lambda a: xt.linalg.solve(a, xt.zeros(z=3, col=3)), r"Write b.rename\({'col': 'row'}\)\n"),
        (lambda a: xt.linalg.solve(a, xt.zeros(z=4)), r"None of its dims has the size of 'row', 3: give it the rows"),
        (lambda a: xt.linalg.solve(a, 1.0), r"Write b \* xt.ones\(row=3\), the same number in each row"),
        (lambda a: xt.linalg.solve(a, xt.zeros(row=3, col=3)), r"the result's.*Write b.rename\({'col': 'rhs'}\), or"),
        (lambda a: xt.linalg.lstsq(xt.ones(row=4, col=3), xt.zeros(col=4)), r"Write b.rename\({'col': 'row'}\)\n"),
        (
            lambda a: xt.linalg.lstsq(xt.ones(row=4, col=3), xt.zeros(col=3)),
            "None of its dims has the size of 'row', 4",
        ),
        (
            lambda a: xt.jit(xt.linalg.lstsq, dynamic_dims=("row", "z"))(a, xt.zeros(y=2, z=5)),
            r"Write b.rename\({'y': 'row'}\), or the same of 'z'",
        ),
        (lambda a: xt.linalg.solve(a, xt.zeros(row=4)), "size"),
        (lambda a: xt.linalg.qr(a, inner="row"), "is a dim of the matrix already"),
        (lambda a: xt.linalg.qr(a, inner=3), "inner is the name"),
        (lambda a: xt.linalg.norm(a, "bad"), "there is no matrix norm"),
        (lambda a: xt.linalg.matrix_power(a, 1.5), "the power is an int"),
    ],
)
def test_errors(f: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(xt.Error, match=words) as caught:
        f(matrix(np.eye(3)))
    assert __file__ in str(caught.value)


def test_square_is_checked_by_the_call_where_sizes_are_dynamic() -> None:
    for name in ("cholesky", "det", "inv", "triangular_solve"):
        f = FUNCTIONS[name] if name != "triangular_solve" else lambda a: xt.linalg.triangular_solve(a, xt.sum(a, "col"))
        run = xt.jit(f, dynamic_dims=("row", "col"))
        with pytest.raises(xt.SizeError, match="must be square: dims 'row' and 'col' have sizes 3 and 2"):
            finished(run(matrix(np.ones((3, 2)))))


def test_without_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xt._native, "lapack_name", lambda: None)
    with pytest.raises(xt.UnsupportedError, match="built without LAPACK"):
        xt.linalg.qr(xt.array(np.eye(2), ("row", "col")), inner="fresh")


# Each limit in a process of its own, which knows the compiled programs. First the results, then the temporaries of the
# program and of the routine find no memory; with the last limit all do.
LITTLE_MEMORY = """
import os, resource
import numpy as np
import xtensor as xt

D = ("r", "c")
programs = {
    "qr": lambda a: xt.linalg.qr(a, dims=D)[1],
    "solve": lambda a: xt.linalg.solve(a, a.rename(c="k"), dims=D),
    "triangular": lambda a: xt.linalg.triangular_solve(a, a.rename(c="k"), dims=D),
    "eigh": lambda a: xt.linalg.eigh(a, dims=D)[0],
    "svd": lambda a: xt.linalg.svd(a, dims=D)[1],
    "lu tangent": lambda a: xt.jvp(lambda s: xt.linalg.lu(s, dims=D)[1], (a,), (a,))[1],
}
for name, f in programs.items():
    x, f = xt.array(np.eye(700), D), xt.jit(f)
    f(x.isel(r=slice(300), c=slice(300)))  # the stack that OpenBLAS needs is there from then on
    f.lower(x).compile()
    told = []
    for limit in (0, 4, 8, 400):
        child = os.fork()
        if not child:
            there = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (there + (limit << 20),) * 2)
            try:
                f(x)
            except xt.MemoryError:
                os._exit(7)
            os._exit(0)
        told.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(name, *told)
"""


@pytest.mark.cpu_only("memory of the CPU")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="the sanitizer needs memory of its own")
def test_too_little_memory_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line.rsplit(None, 4) for line in done.stdout.splitlines()]
    assert len(lines) == 6
    # How much of what was freed before is there again differs.
    assert all(told[-1] == "0" and {*told} <= {"0", "7"} for _, *told in lines), done.stdout
    assert sum(told.count("7") for _, *told in lines) >= 6, done.stdout
