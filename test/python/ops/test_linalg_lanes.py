"""Factors of batches of small matrices, which run one matrix per lane, against LAPACK's of the same matrices."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt

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
