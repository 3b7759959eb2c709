"""PyTensor's mode "XTENSOR" on Fourier transforms, against PyTensor's interpreter, which calls NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.tensor.fft import irfft, irfft_op, rfft, rfft_op  # noqa: E402
from pytensor.tensor.fourier import fft  # noqa: E402

MODE = xt.pytensor_mode()
RNG = np.random.default_rng(0)
x, y = pt.dmatrix("x"), pt.dtensor3("y")


@pytest.fixture(autouse=True)
def _interpreter() -> Iterator[None]:
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        yield


def check(inputs: list[Any], results: list[Any], *values: np.ndarray, rtol: float = 1e-12) -> list[np.ndarray]:
    found, wanted = (pytensor.function(inputs, results, mode=m)(*values) for m in ("XTENSOR", "FAST_COMPILE"))
    for f, w in zip(found, wanted, strict=True):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(f, w, rtol=rtol, atol=rtol)
    return found


def with_gradient(f: Callable[[Any], Any], v: Any) -> list[Any]:
    z = f(v)
    weights = pt.cos(1.0 + pt.arange(z.size)).reshape(z.shape)
    return [z, pytensor.grad((weights * pt.sin(z)).sum(), v)]


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_a_transform_of_real_arrays(norm: str | None, n: int) -> None:
    found, _ = check([x], with_gradient(lambda x: rfft(x, norm=norm), x), RNG.normal(size=(3, n)))
    assert found.shape == (3, n // 2 + 1, 2)
    planes = check([y], with_gradient(lambda y: rfft(y, norm=norm), y), RNG.normal(size=(2, 3, n)))
    assert planes[0].shape == (2, 3, n // 2 + 1, 2)


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("is_odd", [False, True])
def test_a_transform_to_real_arrays(norm: str | None, is_odd: bool) -> None:
    found, _ = check([y], with_gradient(lambda y: irfft(y, norm=norm, is_odd=is_odd), y), RNG.normal(size=(3, 5, 2)))
    assert found.shape == (3, 9 if is_odd else 8)
    z = pt.dtensor4("z")
    check([z], with_gradient(lambda z: irfft(z, norm=norm, is_odd=is_odd), z), RNG.normal(size=(2, 3, 4, 2)))


def test_a_transform_and_back() -> None:
    value = RNG.normal(size=(2, 7))
    [found] = check([x], [irfft(rfft(x), is_odd=True)], value)
    np.testing.assert_allclose(found, value, atol=1e-14)


def test_sizes_that_cut_and_fill() -> None:
    n = pt.lscalar("n")
    for size in (3, 5, 9):
        check([x, n], [rfft_op(x, pt.stack([n]))], RNG.normal(size=(2, 5)), np.int64(size))
        check([y, n], [irfft_op(y, pt.stack([n]))], RNG.normal(size=(2, 4, 2)), np.int64(size))


def test_an_axis_of_size_1_and_single_precision() -> None:
    row, small = pt.tensor("row", shape=(1, 6), dtype="float64"), pt.fmatrix("small")
    check([row], [rfft(row)], RNG.normal(size=(1, 6)))
    check([small], [rfft(small), irfft(rfft(small))], RNG.normal(size=(3, 6)).astype("f4"), rtol=1e-6)


def test_a_transform_of_complex_arrays() -> None:
    z, n = pt.zmatrix("z"), pt.lscalar("n")
    value = RNG.normal(size=(3, 5)) + 1j * RNG.normal(size=(3, 5))
    check([z], [fft(z, None, None), fft(z, 4, 0), fft(z, 8, 1)], value)
    check([z, n], [fft(z, n, 1)], value, np.int64(6))
    check([x], [fft(x, None, 1)], RNG.normal(size=(2, 4)))
