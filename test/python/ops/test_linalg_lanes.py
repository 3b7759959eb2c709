"""Factors and solutions of batches of small matrices, which run one matrix per lane, against LAPACK's of the same."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt
from linalg_cases import close

COUNT = 37  # two whole blocks of lanes, and a part of a third
SQUARES = ((1, 1), (2, 2), (3, 3), (4, 4), (8, 8), (16, 16), (17, 17))
OTHERS = ((5, 3), (3, 5), (1, 6), (6, 1), (16, 7), (2, 16), (33, 4))
KINDS = ("any", "graded", "dependent", "tiny", "huge", "zero", "unit", "whole")


def _batch(shape: tuple[int, int], kind: str, dtype: str) -> np.ndarray:
    a = np.random.default_rng(sum(shape)).standard_normal((COUNT, *shape))
    least, largest = (1e-37, 1e36) if dtype == "f4" else (1e-300, 1e306)
    if kind == "graded":
        a *= 10.0 ** (-2 * np.arange(shape[1]))
    elif kind == "dependent":
        a[:, :, -1] = a[:, :, 0]
    elif kind == "unit":
        a[:] = np.eye(*shape)[::-1]
    elif kind == "whole":
        a = np.round(2 * a)
    else:
        a *= {"any": 1, "tiny": least, "huge": largest, "zero": 0}[kind]
    return a.astype(dtype)


def _values(arrays: tuple[xt.Array, ...]) -> list[np.ndarray]:
    return [x.transpose("t", ...).values.astype("f8") for x in arrays]


def _is_basis(q: np.ndarray, epsilon: float) -> None:
    """Whether the columns are orthonormal."""
    np.testing.assert_allclose(
        q.swapaxes(1, 2) @ q, np.broadcast_to(np.eye(q.shape[2]), (len(q), *q.shape[2:] * 2)), atol=epsilon
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ("f4", "f8"))
@pytest.mark.parametrize("kind", KINDS)
def test_factors(kind: str, dtype: str) -> None:
    epsilon = 40 * float(np.finfo(dtype).eps)
    for shape in SQUARES + OTHERS:
        a = _batch(shape, kind, dtype)
        x, wide = xt.array(a, ("t", "row", "col")), a.astype("f8")
        unit = np.abs(wide).max() or 1.0
        q, r = _values(xt.linalg.qr(x))
        _is_basis(q, epsilon)
        np.testing.assert_allclose(q @ (r / unit), wide / unit, atol=epsilon)
        assert not np.tril(r, -1).any()
        u, s, vh = _values(xt.linalg.svd(x))
        _is_basis(u, epsilon)
        _is_basis(vh.swapaxes(1, 2), epsilon)
        np.testing.assert_allclose((u * (s / unit)[:, None]) @ vh, wide / unit, atol=epsilon)
        np.testing.assert_allclose(s / unit, np.linalg.svd(wide / unit, compute_uv=False), atol=epsilon)
        assert (np.diff(s) <= 0).all() and (s >= 0).all()
        if shape in SQUARES:
            w, v = _values(xt.linalg.eigh(x))
            symmetric = (wide + wide.swapaxes(1, 2)) / 2 / unit
            _is_basis(v, epsilon)
            np.testing.assert_allclose(symmetric @ v, v * (w / unit)[:, None], atol=epsilon)
            np.testing.assert_allclose(w / unit, np.linalg.eigvalsh(symmetric), atol=epsilon)
            assert (np.diff(w) >= 0).all()


@pytest.mark.parametrize("dtype", ("f4", "f8"))
@pytest.mark.parametrize("shape", ((2, 2), (3, 3), (8, 8), (16, 16), (6, 4), (4, 6)))
def test_a_matrix_has_the_same_factors_alone(shape: tuple[int, int], dtype: str) -> None:
    a = _batch(shape, "any", dtype)
    x = xt.array(a, ("t", "row", "col"))
    functions = (xt.linalg.qr, xt.linalg.svd) + ((xt.linalg.eigh,) if shape[0] == shape[1] else ())
    for f in functions:
        alone = [f(x.isel(t=t)) for t in range(3)]
        for k, together in enumerate(f(x)):
            for t in range(3):
                np.testing.assert_allclose(
                    together.isel(t=t).values, alone[t][k].values, atol=1e-3 if dtype == "f4" else 1e-11
                )


def test_signs_of_vectors() -> None:
    for count in (3, COUNT):  # by LAPACK, and one matrix per lane
        a = np.random.default_rng(7).standard_normal((count, 5, 5))
        x = xt.array(a, ("t", "row", "col"))
        for columns in (_values(xt.linalg.eigh(x))[1], _values(xt.linalg.svd(x))[0]):
            large = np.abs(columns) > 0.4 * np.abs(columns).max(1, keepdims=True)
            first = np.take_along_axis(columns, large.argmax(1)[:, None], 1)
            assert (first > 0).all()


def test_a_matrix_that_is_not_finite_affects_no_other() -> None:
    a = _batch((4, 4), "any", "f8")
    spoiled = a.copy()
    spoiled[5, 1, 2], spoiled[30, 0, 0] = np.nan, -np.inf
    good = np.delete(np.arange(COUNT), (5, 30))
    for f in (xt.linalg.qr, xt.linalg.svd, xt.linalg.eigh):
        for whole, part in zip(*(_values(f(xt.array(m, ("t", "row", "col")))) for m in (a, spoiled)), strict=True):
            assert np.isnan(part[[5, 30]]).all()
            np.testing.assert_array_equal(part[good], whole[good])


def test_strides_and_threads() -> None:
    a = _batch((6, 3), "any", "f8")
    x = xt.array(a, ("t", "row", "col"))
    turned = xt.array(np.asfortranarray(a.transpose(1, 2, 0)[::-1]), ("row", "col", "t")).isel(
        row=slice(None, None, -1)
    )
    for f in (xt.linalg.qr, xt.linalg.svd):
        for one, other in zip(_values(f(x)), _values(f(turned)), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ("f4", "f8"))
@pytest.mark.parametrize("lower", (True, False))
def test_triangles(lower: bool, dtype: str) -> None:
    """Stored in any order, with NaN in the other triangle, for one right-hand side and for all; one is singular."""
    rng = np.random.default_rng(0)
    cut = np.tril if lower else np.triu
    for n in (1, 2, 3, 8, 16, 17):
        a = rng.standard_normal((COUNT, n, n)) + 3 * np.eye(n)
        read = cut(a).astype(dtype).astype("f8")
        read[4, 0, 0] = 0
        a = np.where(cut(np.ones((n, n))) > 0, read, np.nan).astype(dtype)
        good = np.delete(np.arange(COUNT), 4)
        for dims, sides in ((("row",), (n,)), (("row", "t"), (n, COUNT)), (("k", "t", "row"), (3, COUNT, n))):
            b = xt.array(rng.standard_normal(sides).astype(dtype), dims)
            wanted = b.values.astype("f8").transpose([dims.index(d) for d in ("t", "row", "k") if d in dims])
            wanted = np.broadcast_to(wanted if "k" in dims else wanted[..., None], (COUNT, n, 3 if "k" in dims else 1))
            for stored in (("t", "row", "col"), ("col", "row", "t")):
                x = xt.array(a, ("t", "row", "col")).transpose(*stored)
                y = xt.linalg.triangular_solve(x, b, lower=lower).transpose("t", "col", ...).values.astype("f8")
                y = y if "k" in dims else y[..., None]
                assert not np.isfinite(y[4]).all()
                residual = np.abs(read[good] @ y[good] - wanted[good])
                scale = np.abs(read[good]) @ np.abs(y[good]) + np.abs(wanted[good])
                assert (residual <= n * float(np.finfo(dtype).eps) * scale).all()


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_lu_of_batches_that_vectors_factor(dtype: str) -> None:
    """One matrix per lane, and the last lanes without one: singular, permuted, zero and NaN matrices beside others."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 16, 17):
        a = rng.normal(size=(37, n, n)).astype(dtype)
        a[3], a[4, -1], a[5, 0, -1], a[6, -1, 0] = 0, 0, np.nan, np.inf
        a[7], a[8, :, -1] = np.eye(n)[::-1], a[8, :, 0] * (n > 1)
        x = xt.array(a, ("t", "row", "col"))
        sign, logarithm = (y.values for y in xt.linalg.slogdet(x))
        determinants = xt.linalg.det(x).values
        assert np.isnan(logarithm[[5, 6]]).all() and np.isnan(determinants[5]) and not np.isfinite(determinants[6])
        close(
            determinants[[*range(3), *range(9, 37)]], np.linalg.det(a[[*range(3), *range(9, 37)]].astype("f8")), dtype
        )
        assert (sign[[3, 4]] == 0).all() and np.isneginf(logarithm[[3, 4]]).all()
        regular = np.delete(np.arange(37), [3, 4, 5, 6, 8])
        expected = np.linalg.slogdet(a[regular].astype("f8"))
        np.testing.assert_array_equal(sign[regular], expected.sign)
        close(logarithm[regular], expected.logabsdet, dtype)
        turned = xt.linalg.slogdet(x.transpose("col", "t", "row"))[1].values
        close(turned[regular], expected.logabsdet, dtype)
        b = xt.array(rng.normal(size=(37, n)).astype(dtype), ("t", "row"))
        y = xt.linalg.solve(x, b).transpose("t", ...).values
        residual = np.einsum("tij,tj->ti", a[regular].astype("f8"), y[regular]) - b.values[regular]
        scale = np.abs(a[regular]).sum(2).max(1) * np.abs(y[regular]).max(1)
        assert (np.abs(residual).max(1) <= 4 * np.finfo(dtype).eps * scale).all()


@pytest.mark.parametrize("dtype", ("f4", "f8"))
@pytest.mark.parametrize("n", (1, 2, 3, 7, 8, 16))
def test_batches_that_vectors_solve(n: int, dtype: str) -> None:
    """One matrix per lane: several columns, matrices that share right-hand sides, stored in any order, and bad ones."""
    rng = np.random.default_rng(0)
    eps = np.finfo(dtype).eps
    a, b = (rng.normal(size=s).astype(dtype) for s in ((5, 7, n, n), (5, n, 2)))
    a[3, 3, 0, 0], a[4, 6] = np.nan, 0
    x = xt.array(a, ("t", "u", "row", "col")).transpose("col", "u", "row", "t")[{"u": slice(None, None, -1)}]
    good = np.ones((5, 7), bool)
    good[3, 3] = good[4, 6] = False
    instances = a[:, ::-1].astype("f8")
    good = good[:, ::-1]
    norms = np.abs(instances).sum(3).max(2)

    def check(found: xt.Array, matrices: np.ndarray, wanted: np.ndarray, dims: tuple[str, ...]) -> None:
        y = found.transpose("t", "u", *dims).values
        assert not np.isfinite(y[~good]).all((1, 2)).any()
        matrices, wanted = (np.broadcast_to(m, (5, 7, *m.shape[-2:]))[good] for m in (matrices, wanted))
        residual = np.abs(matrices @ y[good] - wanted).max((1, 2))
        assert (residual <= 4 * eps * np.sqrt(n) * (norms[good] * np.abs(y[good]).max((1, 2)) + 1)).all()

    given = xt.array(b, ("t", "row", "k"))
    check(xt.linalg.solve(x, given), instances, b[:, None], ("col", "k"))
    check(xt.linalg.inv(x), instances, np.eye(n), ("col", "row"))
    turned = xt.linalg.solve(x, given.rename(row="col"), dims=("col", "row"))
    check(turned, instances.swapaxes(2, 3), b[:, None], ("row", "k"))
    check(xt.linalg.inv(x, dims=("col", "row")), instances.swapaxes(2, 3), np.eye(n), ("row", "col"))


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_cholesky_of_batches_that_vectors_factor(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 16, 17):
        a = rng.normal(size=(37, n, n))
        a = a @ a.swapaxes(1, 2) + np.eye(n)
        a[3], a[4, -1, -1], a[5, n // 2, 0], a[6, -1, -1] = 0, -1, np.nan, np.inf
        x = xt.array(a.astype(dtype), ("t", "row", "col"))
        good = np.delete(np.arange(37), [3, 4, 5, 6])
        for stored in (x, x.transpose("col", "row", "t")):
            found = xt.linalg.cholesky(stored).transpose("t", "row", "col").values
            close(found[good], np.linalg.cholesky(a[good]), dtype)
            lower = np.tril(np.ones((n, n), bool))
            assert np.isnan(found[3:7][:, lower]).all() and (found[:, ~lower] == 0).all()


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_logarithm_of_determinants_beyond_the_largest_number(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3):
        for scale in (np.finfo(dtype).max / 4, np.finfo(dtype).tiny / np.finfo(dtype).eps):
            a = rng.uniform(-1, 1, size=(99, n, n)).astype(dtype)
            sign, logarithm = xt.linalg.slogdet(xt.array(a * a.dtype.type(scale), ("t", "row", "col")))
            wanted = np.linalg.slogdet(a.astype("f8"))
            np.testing.assert_array_equal(sign.values, wanted.sign)
            close(logarithm.values, wanted.logabsdet + n * np.log(np.float64(scale)), dtype)
