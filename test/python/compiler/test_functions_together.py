"""Loops that compute functions of several vectors at a time, or of elements that are apart: the same bits wherever an
element lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt

FUNCTIONS = {
    "tanh of exp": lambda x: xt.tanh(xt.exp(x)),
    "log of sigmoid": lambda x: xt.log(xt.sigmoid(x)),
    "six": lambda x: xt.sin(xt.exp(xt.tanh(x))) + xt.log(xt.exp(x)) * xt.tanh(x),
    "of both": lambda x: xt.exp(x) * xt.cos(x),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements_are_the_same_anywhere(name: str, dtype: str) -> None:
    value = np.random.default_rng(1).standard_normal(1100).astype(dtype)
    run: Any = xt.jit(FUNCTIONS[name])
    whole = run(xt.array(value, "i")).values
    for size in (1, 16, 63, 127, 128, 129, 300, 1023):
        np.testing.assert_array_equal(run(xt.array(value[:size], "i")).values, whole[:size])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_of_columns(dtype: str) -> None:
    value = np.random.default_rng(2).standard_normal((301, 7)).astype(dtype)
    x = xt.array(value, ("i", "j"))

    def columns(x: Any) -> Any:
        parts = [xt.tanh(x.isel(j=slice(k, k + 1))) for k in range(7)]
        return xt.concat(parts, "j")

    np.testing.assert_allclose(xt.jit(columns)(x).values, np.tanh(value), rtol=4e-7 if dtype == "f4" else 1e-14)
