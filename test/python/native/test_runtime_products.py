"""xt_bfloat16_product through its C ABI: products of bfloat16 matrices by each kind of instructions of this machine."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from ctypes import c_int32, c_int64, c_void_p

import ml_dtypes
import numpy as np
import pytest
from runtime_abi import runtime

BF16 = ml_dtypes.bfloat16
XT_BF16 = 5


class Array(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("sizes", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
    )


@pytest.fixture
def rt() -> Iterator[ctypes.CDLL]:
    library = runtime()
    library.xt_bfloat16_product.argtypes, library.xt_bfloat16_product.restype = [c_void_p, c_void_p], None
    yield library
    library.xt_set_num_threads(0)


def described(x: np.ndarray) -> Array:
    assert x.dtype == BF16
    sizes, strides = (c_int64 * x.ndim)(*x.shape), (c_int64 * x.ndim)(*(s // 2 for s in x.strides))
    return Array(x.ctypes.data, XT_BF16, x.ndim, sizes, strides)


def call(rt: ctypes.CDLL, a: np.ndarray, b: np.ndarray, y: np.ndarray, *counts: int) -> None:
    """`counts`: of the axes of the batch, rows and columns."""
    rt.xt_bfloat16_product((Array * 3)(*map(described, (a, b, y))), (c_int64 * 3)(*counts))


def random(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.normal(size=sizes).astype(BF16)


def close(y: np.ndarray, a: np.ndarray, b: np.ndarray, subscripts: str, terms: int) -> None:
    """Sums in float32 err by at most k units of it, of the sum of magnitudes. The result is rounded once."""
    wide = a.astype("f8"), b.astype("f8")
    want = np.einsum(subscripts, *wide)
    sums = np.einsum(subscripts, *map(np.abs, wide))
    error = np.abs(y.astype("f8") - want)
    assert (error <= np.abs(want) * 2**-8 + sums * 2**-24 * terms).all()


SIZES = [
    *[(1, 1, 1), (1, 7, 5), (7, 1, 5), (5, 7, 1), (17, 33, 65), (16, 32, 16), (40, 64, 34), (2, 31, 3), (33, 95, 100)],
    *[(0, 3, 4), (3, 0, 4), (3, 4, 0), (300, 17, 3), (3, 17, 300), (64, 1500, 65), (2100, 20, 9), (1, 300, 1000)],
    *[(8, 65, 31), (12, 300, 20), (23, 33, 48), (129, 1090, 70), (15, 520, 150), (31, 2, 97), (260, 35, 33)],
    *[(3, 130, 300), (300, 257, 4), (8, 129, 70), (70, 128, 8), (2, 301, 65), (5, 301, 40), (600, 200, 7), (6, 131, 6)],
    *[(4, 1030, 600), (600, 1031, 2), (40, 129, 3), (1, 1030, 600)],
    *[(1, 33, 300), (300, 33, 1), (1, 64, 32), (1001, 65, 1), (1, 5, 129), (129, 6, 1), (1, 2, 161), (1500, 1030, 1)],
]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_orders(rt: ctypes.CDLL, size: tuple[int, int, int], count: int) -> None:
    rt.xt_set_num_threads(count)
    m, k, n = size
    rng = np.random.default_rng(m + 100 * k + 10_000 * n)
    for left, right, out in itertools.product((False, True), repeat=3):
        a = random(rng, k, m).T if left else random(rng, m, k)
        b = random(rng, n, k).T if right else random(rng, k, n)
        y = np.full((n, m), np.nan, BF16).T if out else np.full((m, n), np.nan, BF16)
        call(rt, a, b, y, 0, 1, 1)
        close(y, a, b, "mk,kn->mn", k)


@pytest.mark.parametrize("size", [(40, 70, 50), (5, 33, 18)], ids=str)
def test_strides(rt: ctypes.CDLL, size: tuple[int, int, int]) -> None:
    m, k, n = size
    rng = np.random.default_rng(1)
    whole = np.full((2 * m, 3 * n), 7, BF16)
    for steps in itertools.product((1, 2, -1), (1, 3, -2)):
        a = random(rng, 2 * m, 3 * k)[:: steps[0], :: steps[1]][:m, :k]
        b = random(rng, 2 * k, 3 * n)[:: steps[0], :: steps[1]][:k, :n]
        whole[:] = 7
        y = whole[:: steps[0], :: steps[1]][:m, :n]
        y = y[: a.shape[0], : b.shape[1]]
        depth = min(a.shape[1], b.shape[0])
        call(rt, a[:, :depth], b[:depth], y, 0, 1, 1)
        close(y, a[:, :depth], b[:depth], "mk,kn->mn", depth)
        y[:] = 7
        assert (whole == 7).all()  # nothing else was written


BESIDE = [(9, 7, 33), (20, 65, 16), (70, 301, 40), (150, 33, 17), (3, 1025, 100), (70, 129, 8)]


@pytest.mark.parametrize("size", BESIDE, ids=str)
def test_what_lies_beside_the_factors_is_not_read(rt: ctypes.CDLL, size: tuple[int, int, int]) -> None:
    m, k, n = size
    rng = np.random.default_rng(6)

    def inside(rows: int, columns: int, turned: bool) -> np.ndarray:
        whole = np.full((columns + 2, rows + 2) if turned else (rows + 2, columns + 2), np.nan, BF16)
        x = (whole.T if turned else whole)[1:-1, 1:-1]
        x[:] = random(rng, rows, columns)
        return x

    for left, right, out in itertools.product((False, True), repeat=3):
        a, b, y = inside(m, k, left), inside(k, n, right), inside(m, n, out)
        call(rt, a, b, y, 0, 1, 1)
        close(y, a, b, "mk,kn->mn", k)
        assert np.isnan(y.base.astype("f4")).sum() == y.base.size - y.size  # nothing else was written


def test_several_axes_that_one_stride_does_not_reach(rt: ctypes.CDLL) -> None:
    rng = np.random.default_rng(2)
    a = random(rng, 4, 3, 5, 6, 7)[:, :, :, ::2, 1:6].transpose(0, 2, 1, 3, 4)  # rows: 4, 5; sum: 3, 3, 5
    b = random(rng, 5, 3, 9, 3, 4)[:, :, ::2].transpose(1, 3, 0, 2, 4)  # sum: 3, 3, 5; columns: 5, 4
    y = np.full((5, 5, 4, 4), np.nan, BF16).transpose(2, 1, 0, 3)  # 4, 5, 5, 4
    call(rt, a, b, y, 0, 2, 2)
    close(y, a, b, "abxyz,xyzcd->abcd", 45)


BATCHES = [(100, 16, 16, 16), (3, 130, 140, 150), (7, 5, 9, 33), (0, 4, 4, 4)]
SEVERAL_VECTORS = [(5, 3, 200, 100), (6, 100, 200, 5), (3, 300, 130, 3)]
VECTORS = [(40, 1, 65, 70), (41, 70, 65, 1), (3, 1, 1000, 2000), (3, 1, 0, 4), (5, 1, 7, 1)]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("size", [*BATCHES, *VECTORS, *SEVERAL_VECTORS], ids=str)
def test_batches(rt: ctypes.CDLL, size: tuple[int, int, int, int], count: int) -> None:
    rt.xt_set_num_threads(count)
    batch, m, k, n = size
    rng = np.random.default_rng(3)
    a, b = random(rng, m, batch, k).transpose(1, 0, 2), random(rng, batch, n, k).transpose(0, 2, 1)
    y = np.full((m, batch, n), np.nan, BF16).transpose(1, 0, 2)
    call(rt, a, b, y, 1, 1, 1)
    close(y, a, b, "bmk,bkn->bmn", k)


def test_nothing_to_sum_is_zero(rt: ctypes.CDLL) -> None:
    y = np.full((20, 40), np.nan, BF16)
    call(rt, np.empty((20, 0), BF16), np.empty((0, 40), BF16), y, 0, 1, 1)
    assert (y == 0).all()


@pytest.mark.parametrize("size", [(17, 35, 18), (64, 2000, 40)], ids=str)
def test_nan_and_infinity_stay_in_their_rows_and_columns(rt: ctypes.CDLL, size: tuple[int, int, int]) -> None:
    m, k, n = size
    a, b = np.ones((m, k), BF16), np.ones((k, n), BF16)
    a[2, k - 1], a[4, 0], b[3, n - 1] = np.nan, np.inf, -np.inf
    y = np.zeros((m, n), BF16)
    call(rt, a, b, y, 0, 1, 1)
    with np.errstate(invalid="ignore"):
        want = a.astype("f8") @ b.astype("f8")
    np.testing.assert_array_equal(np.isnan(y.astype("f4")), np.isnan(want))
    np.testing.assert_array_equal(y.astype("f4")[~np.isnan(want)], want[~np.isnan(want)].astype(BF16).astype("f4"))


def test_nan_and_infinity_in_products_with_vectors(rt: ctypes.CDLL) -> None:
    for order in "CF":
        a = np.asarray(np.ones((70, 35), BF16), order=order)
        a[2, 34], a[4, 0] = np.nan, np.inf
        for vector in (np.ones((35, 1), BF16), np.zeros((35, 1), BF16)):
            y = np.zeros((70, 1), BF16)
            call(rt, a, vector, y, 0, 1, 1)
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(y.astype("f4"), a.astype("f4") @ vector.astype("f4"))
            turned = np.zeros((1, 70), BF16)
            call(rt, vector.T, a.T, turned, 0, 1, 1)
            np.testing.assert_array_equal(turned.T.astype("f4"), y.astype("f4"))


def test_exact_sums_are_exact(rt: ctypes.CDLL) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(-2, 3, (50, 60)).astype(BF16), rng.integers(-2, 3, (60, 70)).astype(BF16)
    y = np.zeros((50, 70), BF16)
    call(rt, a, b, y, 0, 1, 1)
    np.testing.assert_array_equal(y, (a.astype("f8") @ b.astype("f8")).astype(BF16))


def test_threads_do_not_change_bits(rt: ctypes.CDLL) -> None:
    rng = np.random.default_rng(5)
    for m, n in ((300, 260), (1, 1703), (1703, 1), (3, 1703), (1703, 6)):
        a, b = random(rng, m, 1700), random(rng, 1700, n)
        results = set()
        for count in (1, 2, 2, 3, 7):
            rt.xt_set_num_threads(count)
            y = np.zeros((m, n), BF16)
            call(rt, a, b, y, 0, 1, 1)
            results.add(y.tobytes())
        assert len(results) == 1


@pytest.mark.skipif("XTENSOR_CPU_WITHOUT" in os.environ, reason="this is such a process")
@pytest.mark.parametrize("without", ["amx", "avx512bf16"])
def test_without(without: str) -> None:
    """The tests of this file without some instructions: the routine knows up to three ways."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "XTENSOR_CPU_WITHOUT": without},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
