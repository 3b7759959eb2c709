"""Products, functions and systems of matrices by name, against NumPy and SciPy: one table for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import xtensor as xt
from composites import Composites, Row, spread

linalg = xt.linalg
A = spread(row=3, col=3, low=-0.9, high=0.9)
B = spread(row=3, col=3, seed=1)
TALL = spread(row=4, col=2, seed=2)
WIDE = spread(row=2, col=3, seed=3)
V, W = spread(row=3, seed=4), spread(col=3, seed=5)
RHS = spread(row=3, k=2, seed=6)
DEFINITE = xt.array(A.values @ A.values.T + 2 * np.eye(3), ("row", "col"))
NEAR_ONE = xt.array(np.eye(3) + 0.3 * A.values, ("row", "col"))
BANDS = spread(band=4, col=6, seed=7)
DIAGONALS = tuple(spread(i=6, seed=s, low=low, high=low + 1.5) for s, low in ((8, 0.5), (9, 2.5), (10, -1.5)))
KNOWN = spread(i=6, k=2, seed=11)
BOTH = ("row", "col")


def svd_again(u: Any, s: Any, vh: Any) -> Any:
    """What does not depend on the signs of vectors: A, and the projections on what is not in its image and kernel."""
    k = s.sizes["rank"]
    first, second = u.isel({"row'": slice(0, k)}), vh.isel({"col'": slice(0, k)})
    rest, none = u.isel({"row'": slice(k, None)}), vh.isel({"col'": slice(k, None)})
    a = xt.dot(first.rename({"row'": "rank"}) * s, second.rename({"col'": "rank"}), dim="rank")
    return (
        a,
        xt.dot(rest, rest.rename(row="r2"), dim="row'"),
        xt.dot(none, none.rename(col="c2"), dim="col'"),
        xt.dot(u, u.rename({"row'": "k"}), dim="row"),
    )


def projections(a: np.ndarray) -> Any:
    n, m = a.shape
    inverse = np.linalg.pinv(a)
    return a, np.eye(n) - a @ inverse, np.eye(m) - inverse @ a, np.eye(n)


def qr_again(q: Any, r: Any) -> Any:
    rest = q.isel(rank=slice(2, None))
    return xt.dot(q, r, dim="rank"), xt.dot(rest, rest.rename(row="r2"), dim="rank"), r


def tridiagonal(low: np.ndarray, middle: np.ndarray, up: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(np.diag(low[1:], -1) + np.diag(middle) + np.diag(up[:-1], 1), b)


TABLE: dict[str, Row] = {
    "matmul": Row(lambda a, b: linalg.matmul(a, b), lambda a, b: a @ b, (A, B), BOTH, open=("row", "col")),
    "matmul of three": Row(
        lambda a, b, c: linalg.matmul(a, b, c), lambda a, b, c: a @ b @ c, (WIDE, A, B), BOTH, open=()
    ),
    "matmul with itself": Row(lambda a: linalg.matmul(a, a), lambda a: a @ a, (A,), BOTH, open=("row", "col")),
    "quadratic_form": Row(lambda a, v: linalg.quadratic_form(a, v), lambda a, v: v @ a @ v, (A, V), (), open=BOTH),
    "quadratic_form of two": Row(
        lambda a, v, w: linalg.quadratic_form(a, v.isel(row=slice(0, 2)), w),
        lambda a, v, w: v[:2] @ a @ w,
        (WIDE, V, W),
        (),
    ),
    "quadratic_form of many": Row(
        lambda a, x: linalg.quadratic_form(a, x), lambda a, x: np.einsum("ik,ij,jk->k", x, a, x), (A, RHS), ("k",)
    ),
    "congruence": Row(lambda a, p: linalg.congruence(a, p), lambda a, p: a @ p @ a.T, (WIDE, DEFINITE), BOTH),
    "congruence of squares": Row(
        lambda a, p: linalg.congruence(a, p), lambda a, p: a @ p @ a.T, (B, DEFINITE), BOTH, open=BOTH
    ),
    "kron": Row(lambda a, b: linalg.kron(a, b), np.kron, (WIDE, TALL), BOTH),
    "block_diag": Row(lambda a, b: linalg.block_diag(a, b), scipy.linalg.block_diag, (WIDE, TALL), BOTH),
    "toeplitz": Row(lambda v: linalg.toeplitz(v), scipy.linalg.toeplitz, (V,), BOTH, open=("row",)),
    "complex toeplitz": Row(
        lambda v: linalg.toeplitz(xt.complex(v, v * v)).imag,
        lambda v: scipy.linalg.toeplitz(v + 1j * v * v).imag,
        (V,),
        BOTH,
        open=("row",),
    ),
    "toeplitz of two": Row(lambda v, w: linalg.toeplitz(v, w), scipy.linalg.toeplitz, (V, W), BOTH, open=BOTH),
    "tril": Row(lambda a: linalg.tril(a, 1), lambda a: np.tril(a, 1), (TALL,), BOTH, open=BOTH),
    "triu": Row(lambda a: linalg.triu(a, -1), lambda a: np.triu(a, -1), (TALL,), BOTH, open=("row",)),
    "diagonal": Row(lambda a: linalg.diagonal(a, offset=1), lambda a: np.diagonal(a, 1), (WIDE,), ("row",)),
    "diagonal below": Row(lambda a: linalg.diagonal(a, offset=-1), lambda a: np.diagonal(a, -1), (TALL,), ("row",)),
    "expm": Row(lambda a: linalg.expm(a), scipy.linalg.expm, (A,), BOTH, open=BOTH),
    "expm of large": Row(lambda a: linalg.expm(a * 9.0), lambda a: scipy.linalg.expm(a * 9), (A,), BOTH, order=1),
    "sqrtm": Row(lambda a: linalg.sqrtm(a), scipy.linalg.sqrtm, (DEFINITE,), BOTH, open=BOTH, order=1),
    "sqrtm near one": Row(lambda a: linalg.sqrtm(a), lambda a: scipy.linalg.sqrtm(a).real, (NEAR_ONE,), BOTH),
    "matrix_rank": Row(
        lambda a: linalg.matrix_rank(linalg.congruence(a, linalg.tril(a) * 0 + 1.0)),
        lambda a: 1,
        (A,),
        (),
        smooth=False,
    ),
    "pinv": Row(lambda a: linalg.pinv(a, rtol=0.1), lambda a: np.linalg.pinv(a, rtol=0.1), (TALL,), ("col", "row")),
    "pinv of wide": Row(lambda a: linalg.pinv(a, rtol=0.1), lambda a: np.linalg.pinv(a, rtol=0.1), (WIDE,)),
    "qr": Row(
        lambda a: qr_again(*linalg.qr(a, mode="complete")),
        lambda a: (a, projections(a)[1], np.linalg.qr(a, "complete")[1]),
        (TALL,),
        order=1,
    ),
    "svd": Row(lambda a: svd_again(*linalg.svd(a, full_matrices=True)), projections, (TALL,), order=1),
    "svd of wide": Row(lambda a: svd_again(*linalg.svd(a, full_matrices=True)), projections, (WIDE,), order=1),
    "cho_solve": Row(
        lambda a, b: linalg.cho_solve(linalg.cholesky(a), b),
        lambda a, b: np.linalg.solve((a + a.T) / 2, b),
        (DEFINITE, RHS),
        ("col", "k"),
        open=("k",),
    ),
    "lu_solve": Row(
        lambda a, b: linalg.lu_solve(linalg.lu(a), b), np.linalg.solve, (NEAR_ONE, RHS), ("col", "k"), order=1
    ),
    "tridiagonal_solve": Row(
        lambda *given: linalg.tridiagonal_solve(*given), tridiagonal, (*DIAGONALS, KNOWN), ("i", "k"), open=("i", "k")
    ),
    "solve_banded": Row(
        lambda a, b: linalg.solve_banded((2, 1), a, b, dims=("band", "col")),
        lambda a, b: scipy.linalg.solve_banded((2, 1), a, b),
        (BANDS, xt.array(KNOWN.values, ("col", "k"))),
        ("col", "k"),
        open=("k",),
        order=1,
    ),
    "cross": Row(lambda x, y: xt.cross(x, y, dim="k"), np.cross, (spread(n=2, k=3), spread(k=3)), ("n", "k")),
    "cross of two": Row(
        lambda x, y: xt.cross(x, y, dim="k"),
        lambda x, y: x[:, 0] * y[1] - x[:, 1] * y[0],
        (spread(n=2, k=2), spread(k=2)),
        ("n",),
    ),
}


class TestComposites(Composites):
    table = TABLE


def test_rows_are_exchanged() -> None:
    """Pivots that are 0 or small: as LAPACK's gtsv and gbsv."""
    n = 40
    rng = np.random.default_rng(0)
    middle = np.where(np.arange(n) % 3 == 0, 0.0, rng.normal(size=n) * 1e-3)
    low, up, b = rng.normal(size=(3, n))
    want = tridiagonal(low, middle, up, b)
    got = linalg.tridiagonal_solve(*(xt.array(v, "i") for v in (low, middle, up, b)))
    np.testing.assert_allclose(got.values, want, rtol=1e-9)
    bands = rng.normal(size=(6, n))
    bands[3] *= 1e-9
    want = scipy.linalg.solve_banded((2, 3), bands, b)
    got = linalg.solve_banded((2, 3), xt.array(bands, ("band", "col")), xt.array(b, "col"))
    np.testing.assert_allclose(got.values, want, rtol=1e-9)
    assert linalg.tridiagonal_solve(*(xt.zeros(i=0),) * 4).sizes == {"i": 0}


@pytest.mark.parametrize("scale", [0.0, 1e-8, 0.3, 4.0, 60.0])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_expm_of_any_size(scale: float, dtype: str) -> None:
    rng = np.random.default_rng(1)
    a = (rng.normal(size=(3, 5, 5)) * scale * np.array([1.0, 0.1, 0.01])[:, None, None]).astype(dtype)
    want = scipy.linalg.expm(a.astype("f8"))
    got = linalg.expm(xt.array(a, ("b", "row", "col")))
    assert got.dtype == dtype
    size = np.abs(want).max((1, 2), keepdims=True)
    if size.max() < np.finfo(dtype).max:
        np.testing.assert_allclose(got.values / size, want / size, atol=1e-3 if dtype == "f4" else 1e-11)


def test_expm_of_no_matrices() -> None:
    none = xt.zeros(b=0, row=3, col=3)
    assert linalg.expm(none).sizes == xt.jit(linalg.expm, dynamic_dims="b")(none).sizes == none.sizes


def test_what_has_no_such_function_is_nan_for_its_instance() -> None:
    good, bad = np.diag([1.0, 4.0]), np.diag([1.0, -4.0])
    both = xt.array(np.stack([good, bad]), ("b", "row", "col"))
    root = linalg.sqrtm(both).values
    np.testing.assert_allclose(root[0], np.diag([1.0, 2.0]), atol=1e-12)
    assert np.isnan(root[1]).all()
    huge = linalg.expm(both * xt.array([1.0, 1e12], "b")).values
    np.testing.assert_allclose(huge[0], np.diag(np.exp([1.0, 4.0])), rtol=1e-13)
    assert np.isnan(huge[1]).all()
    assert linalg.matrix_rank(xt.zeros(row=0, col=3)).item() == 0
    assert linalg.matrix_rank(xt.ones(row=3, col=3)).item() == 1


def test_names_of_results() -> None:
    q, r = linalg.qr(TALL, mode="complete", inner="k")
    assert (q.sizes, r.sizes) == ({"row": 4, "k": 4}, {"k": 4, "col": 2})
    u, s, vh = linalg.svd(TALL, full_matrices=True)
    assert (u.sizes, s.sizes, vh.sizes) == ({"row": 4, "row'": 4}, {"rank": 2}, {"col'": 2, "col": 2})
    p, lower, upper = linalg.lu(A.rename(row="i", col="j"), dims=("i", "j"), inner="k")
    x = linalg.lu_solve((p, lower, upper), V.rename(row="i"), dims=("i", "j"))
    np.testing.assert_allclose(x.values, np.linalg.solve(A.values, V.values), rtol=1e-10)
    batch = linalg.matmul(xt.ones(a=2, row=3, col=4), xt.ones(row=4, b=5, col=2))
    assert batch.sizes == {"a": 2, "row": 3, "col": 2, "b": 5}


def test_labels_are_those_of_rows_and_columns() -> None:
    """Of a product: the rows' of the first, the columns' of the last. What is summed has none to compare."""
    import xarray as xr

    a = xr.DataArray(WIDE.values, dims=BOTH, coords={"row": ["x", "y"], "col": [1, 2, 3]})
    p = xr.DataArray(A.values, dims=BOTH, coords={"row": [1, 2, 3], "col": list("abc")})
    got = linalg.matmul(a, p)
    assert (list(got.row.values), list(got.col.values)) == (["x", "y"], list("abc"))
    assert list(linalg.tril(a).col.values) == [1, 2, 3]
    assert list(linalg.congruence(a, A).row.values) == ["x", "y"]


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "sizes": (lambda: linalg.matmul(WIDE, TALL), xt.SizeError, r"3 columns \('col'\) and the second 4 rows"),
    "one matrix": (lambda: linalg.matmul(A), xt.ArgumentError, "needs two matrices"),
    "no matrix": (lambda: linalg.matmul(A, V), xt.DimensionError, "linalg.matmul"),
    "a vector with both": (lambda: linalg.quadratic_form(A, B), xt.DimensionError, "not both"),
    "a vector with none": (lambda: linalg.quadratic_form(A, KNOWN), xt.DimensionError, "not none"),
    "not square": (lambda: linalg.congruence(WIDE, TALL), xt.SizeError, "must be square"),
    "too small": (lambda: linalg.congruence(WIDE, xt.eye(row=2, col=2)), xt.SizeError, "3 columns .* 2 rows"),
    "expm": (lambda: linalg.expm(WIDE), xt.SizeError, "must be square"),
    "mode": (lambda: linalg.qr(TALL, mode="full"), xt.ArgumentError, "'reduced' or 'complete'"),
    "open": (
        lambda: xt.jit(lambda a: linalg.svd(a, full_matrices=True)[1], dynamic_dims=("row",))(TALL),
        xt.DimensionError,
        "'row' is dynamic",
    ),
    "bands": (
        lambda: linalg.solve_banded((1, 1), BANDS, KNOWN.rename(i="col")),
        xt.SizeError,
        "are 3 diagonals, not 4",
    ),
    "factors": (lambda: linalg.lu_solve(A, V), xt.ArgumentTypeError, "the tuple that xt.linalg.lu gives"),
    "other factors": (lambda: linalg.lu_solve((A, A, A), V), xt.DimensionError, "not the factors of a matrix"),
    "the first column": (lambda: linalg.toeplitz(W), xt.DimensionError, "first column has dim 'row'"),
    "cross": (lambda: xt.cross(KNOWN, KNOWN, dim="i"), xt.SizeError, "needs size 2 or 3, and has 6"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_arguments(name: str) -> None:
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("function", [xt.linalg.expm, xt.linalg.sqrtm])
def test_functions_of_matrices_of_size_0(function: Any) -> None:
    assert function(xt.zeros(b=2, row=0, col=0)).sizes == {"b": 2, "row": 0, "col": 0}


def test_ranks_of_matrices_of_unknown_sizes() -> None:
    rank = xt.jit(xt.linalg.matrix_rank, dynamic_dims=("row", "col"))
    for n, m in ((3, 2), (2, 5)):
        assert rank(xt.ones(row=n, col=m)).item() == 1
