"""Sums over dims of size 0 are 0, whatever would have been added."""

from typing import Any

import numpy as np
import pytest
import xtensor as xt

SUMS: dict[str, Any] = {
    "of infinities": lambda x: xt.sum(xt.zeros_like(x) + np.inf, "i"),
    "of NaN": lambda x: xt.sum(xt.full_like(x, np.nan), "i"),
    "of windows": lambda x: xt.sum(x.rolling(i=7).sum(), "i"),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("dynamic_dims", [(), ("i",)])
def test_a_sum_of_nothing_is_zero(name: str, dynamic_dims: tuple[str, ...]) -> None:
    f = xt.jit(SUMS[name], dynamic_dims=dynamic_dims)
    for shape, dims in (((0,), ("i",)), ((0, 3), ("i", "j"))):
        assert f(xt.array(np.zeros(shape, "f4"), dims)).values.tolist() == np.zeros(shape).sum(0).tolist()


def test_a_product_over_nothing_is_zero() -> None:
    f = xt.jit(lambda x: xt.dot(xt.full_like(x, np.nan), xt.full_like(x, np.inf), dim="i"))
    assert f(xt.array(np.zeros(0, "f4"), "i")) == 0


FACTORS: dict[str, Any] = {
    "a number": (lambda x, n, y: xt.dot(x, x, n), "i,i,->", "xxn"),
    "a number beside a dim that is kept": (lambda x, n, y: xt.dot(x, n, y, dim="i"), "i,,j->j", "xny"),
    "the sum of a factor": (lambda x, n, y: xt.dot(x, y, dim=("i", "j")), "i,j->", "xy"),
    "two factors": (lambda x, n, y: xt.dot(x, x, y, y, dim=("i", "j")), "i,i,j,j->", "xxyy"),
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("dynamic_dims", [(), ("i",), ("i", "j")])
def test_what_multiplies_a_sum_of_nothing_may_be_nan(name: str, dynamic_dims: tuple[str, ...]) -> None:
    function, spec, operands = FACTORS[name]
    f = xt.jit(function, dynamic_dims=dynamic_dims)
    for x in (np.zeros(0, "f4"), np.array([1, 2], "f4")):
        for k in (np.nan, np.inf, 3):
            arrays = {"x": x, "n": np.float32(k), "y": np.full(2, k, "f4")}
            got = f(xt.array(x, "i"), xt.array(arrays["n"]), xt.array(arrays["y"], "j"))
            np.testing.assert_array_equal(got.values, np.einsum(spec, *(arrays[c] for c in operands)))
