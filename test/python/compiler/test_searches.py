"""Places of extrema along rows that vectors read: ties and NaN in several lanes, and the ends of rows."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("vectors of the CPU")

SIZES = (2, 9, 16, 17, 33, 64, 129, 300)
rng = np.random.default_rng(0)


def _check(name: str, numbers: np.ndarray, dtype: str, wanted: np.ndarray | None = None) -> None:
    x = xt.array(numbers, ("i", "j")).astype(dtype)
    if wanted is None:
        wanted = np.asarray(x.astype("f8"))
    rows, total = xt.jit(lambda x: (getattr(xt, name)(x, dim="j"), getattr(xt, name)(x)))(x)
    np.testing.assert_array_equal(np.asarray(rows), getattr(np, name)(wanted, 1))
    assert int(total) == getattr(np, name)(wanted)


@pytest.mark.parametrize("dtype", ("f4", "f8", "f2", "bfloat16", "i4", "u1", "i8", "bool"))
@pytest.mark.parametrize("name", ("argmax", "argmin"))
def test_the_first_of_equal_elements(name: str, dtype: str) -> None:
    """Few values, so that there are many ties; then one value alone, at each place in turn."""
    for size in SIZES:
        _check(name, rng.integers(0, 2 if dtype == "bool" else 4, (5, size)), dtype)
        _check(name, np.eye(size, dtype="i8") ^ (name == "argmin"), dtype)


@pytest.mark.parametrize("name", ("argmax", "argmin"))
def test_the_first_nan_and_rows_of_the_least(name: str) -> None:
    for size in SIZES:
        numbers = rng.standard_normal((9, size))
        numbers[rng.random((9, size)) < 0.1] = np.nan
        numbers[0] = -np.inf if name == "argmax" else np.inf
        numbers[1, 1:] = numbers[0, 1:]
        numbers[2] = np.nan
        numbers[3] = rng.choice([0.0, -0.0], size)
        _check(name, numbers, "f8")
        _check(name, numbers.astype("f4"), "f4")


def test_a_search_beside_other_reductions() -> None:
    x = rng.standard_normal((7, 100)).astype("f4")
    run = xt.jit(lambda x: (xt.argmax(x * 2, dim="j"), xt.argmin(x, dim="j"), xt.max(x, dim="j"), xt.sum(x, dim="j")))
    high, low, largest, total = (np.asarray(y) for y in run(xt.array(x, ("i", "j"))))
    np.testing.assert_array_equal(high, x.argmax(1))
    np.testing.assert_array_equal(low, x.argmin(1))
    np.testing.assert_array_equal(largest, x.max(1))
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-4, atol=1e-5)


def test_rows_of_open_sizes() -> None:
    run = xt.jit(lambda x: xt.argmax(x, dim="j"), dynamic_dims=("i", "j"))
    for size in SIZES:
        numbers = rng.integers(0, 5, (4, size))
        np.testing.assert_array_equal(np.asarray(run(xt.array(numbers, ("i", "j")))), numbers.argmax(1))
