"""The Python array API standard (2025.12).

Each of its names is here, or its error says what to write instead. Functions of elements and reductions have its dtypes
and values, which are those of NumPy.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
import xtensor as xt

STANDARD = """
Device e inf nan newaxis pi asarray arange empty empty_like eye from_dlpack full full_like linspace meshgrid ones
ones_like tril triu zeros zeros_like astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo iinfo isdtype
result_type bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 abs acos acosh
add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite
isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum
minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt
square subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot vecdot concat expand_dims flip
moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted
where isin unique_all unique_counts unique_inverse unique_values argsort sort cumulative_prod cumulative_sum max mean
min prod std sum var all any diff
linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr
linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm
fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fftfreq fft.rfftfreq
fft.fftshift fft.ifftshift
"""
REAL, COMPLEX = ["f4", "f8"], ["c8", "c16"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
NUMBERS = [*INTEGERS, *REAL, *COMPLEX]
BITS = ["?", *INTEGERS]
UNARY = {
    "abs negative positive sign square": NUMBERS,
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh": [
        *REAL,
        *COMPLEX,
    ],
    "ceil floor trunc round": [*INTEGERS, *REAL],
    "conj imag real": COMPLEX,
    "isfinite isinf isnan": NUMBERS,
    "reciprocal signbit": REAL,
    "logical_not": ["?"],
    "bitwise_invert": BITS,
}
BINARY = {
    "add multiply subtract equal not_equal": NUMBERS,
    "divide pow": [*REAL, *COMPLEX],
    "floor_divide remainder": [*INTEGERS, *REAL],
    "greater greater_equal less less_equal maximum minimum": [*INTEGERS, *REAL],
    "atan2 copysign hypot logaddexp nextafter": REAL,
    "logical_and logical_or logical_xor": ["?"],
    "bitwise_and bitwise_or bitwise_xor": BITS,
    "bitwise_left_shift bitwise_right_shift": INTEGERS,
}
REDUCTIONS = {
    "all any count_nonzero": ["?", *NUMBERS],
    "max min argmax argmin": [*INTEGERS, *REAL],
    "sum prod": NUMBERS,
    "mean": [*REAL, *COMPLEX],
    "std var": REAL,
    "sort argsort": [*INTEGERS, *REAL],
}
RNG = np.random.default_rng(0)


def values(dtype: str) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, True, True, False, False]).reshape(2, 3)
    if kind in "iu":
        low = -3 if kind == "i" else 1
        return np.array([low, 1, 2, 3, 5, 7], dtype).reshape(2, 3)
    x = RNG.uniform(0.2, 0.9, (2, 3))
    if kind == "c":
        x = x + 1j * RNG.uniform(-0.9, 0.9, (2, 3))
    return x.astype(dtype)


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, dtype) for names, dtypes in table.items() for name in names.split() for dtype in dtypes]


def same(found: Any, wanted: Any, name: str) -> None:
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype, f"{name}: {found.dtype}, and the standard says {wanted.dtype}"
    tolerance = 2e-6 if wanted.dtype.name in ("float32", "complex64") else 1e-13
    np.testing.assert_allclose(found.values, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", STANDARD.split())
def test_each_name_is_here_or_its_error_says_what_to_write(name: str) -> None:
    try:
        reduce(getattr, name.split("."), xt)
    except AttributeError as error:
        assert ": " in str(error), f"{error}: this does not say what to write"


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_functions_of_one_array(name: str, dtype: str) -> None:
    x = values(dtype)
    if name == "acosh" and np.dtype(dtype).kind == "f":
        x = x + np.asarray(1, dtype)
    same(getattr(xt, name)(xt.array(x, ("a", "b"))), getattr(np, name)(x), name)


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_functions_of_two_arrays(name: str, dtype: str) -> None:
    x, y = values(dtype), values(dtype)[:, ::-1].copy()
    if "shift" in name:
        y = np.abs(y) % np.asarray(8, dtype)
    same(getattr(xt, name)(xt.array(x, ("a", "b")), xt.array(y, ("a", "b"))), getattr(np, name)(x, y), name)


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("name", "dtype"), cases(REDUCTIONS))
def test_functions_along_a_dim(name: str, dtype: str) -> None:
    x = values(dtype)
    same(getattr(xt, name)(xt.array(x, ("a", "b")), dim="b"), getattr(np, name)(x, axis=1), name)


@pytest.mark.parametrize("first", ["i1", "i4", "u1", "u4", "f4", "f8", "c8"])
@pytest.mark.parametrize("second", ["i1", "i8", "u2", "f4", "f8", "c16"])
def test_two_dtypes_give_that_of_the_standard(first: str, second: str) -> None:
    wanted = np.result_type(np.dtype(first), np.dtype(second))
    found = operator.add(xt.array(values(first), ("a", "b")), xt.array(values(second), ("a", "b")))
    assert found.dtype == wanted


def test_there_is_no_namespace_of_the_standard() -> None:
    """Its functions take axis numbers, and arrays broadcast by position."""
    assert not hasattr(xt.ones(a=2), "__array_namespace__")
