"""Matrices for tests of xt.linalg, and how near results must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import xtensor as xt

RNG = np.random.default_rng(7)
F8 = np.dtype("f8")


def random(*shape: int, dtype: str = "f8") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def definite(*shape: int, dtype: str = "f8") -> np.ndarray:
    x = RNG.standard_normal(shape)
    return (x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def close(got: Any, expected: Any, dtype: Any = F8) -> None:
    tolerance = 2e-4 if np.dtype(dtype) == np.float32 else 1e-9
    np.testing.assert_allclose(np.asarray(got), expected, rtol=tolerance, atol=tolerance)


def matrix(values: np.ndarray) -> xt.Array:
    """The last two axes are row and col."""
    batch = ("b1", "b2", "b3")[: values.ndim - 2]
    return xt.array(values, (*batch, "row", "col"))


SHAPES = [(3, 3), (4, 5, 5), (2, 3, 4, 4), (1, 1), (2, 0, 0), (0, 3, 3), (3, 40, 40), (2, 130, 130)]
ANY = [*SHAPES, (5, 3), (3, 5), (2, 6, 2), (2, 2, 6), (3, 0), (0, 3), (2, 70, 110), (1, 4), (4, 1)]
