"""Programs that name more than a kernel binds: buffers and numbers are limited on every device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native
from xtensor.base import tree

HERE = any(d.name == "vulkan" for d in xt.devices())
pytestmark = pytest.mark.skipif(not HERE, reason=f"no Vulkan driver is here: {_native.device_error()}")

DTYPES = ("f4", "i4", "f8", "i8", "f2", "bool")


def same(f: Callable[..., Any], *args: Any, **options: Any) -> None:
    here, there = (tree.leaves(xt.jit(f, device=d, **options)(*args)) for d in ("cpu", "vulkan"))
    for a, b in zip(here, there, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b.values, a.values, rtol=1e-6)


def step(c: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a * 0.5 + b for a, b in zip(c, c[1:] + c[:1], strict=True))


@pytest.mark.parametrize("count", [17, 40, 100])
def test_carries_without_dims(count: int) -> None:
    given = tuple(xt.array(float(k), dtype="f4") for k in range(count))
    same(lambda *c: xt.scan(lambda c, _: (step(c), None), c, dim="t", length=5)[0], *given)
    same(lambda *c: xt.cond(c[0] > 1, lambda *c: step(c), lambda *c: c, *c), *given)


def test_carries_of_several_dtypes() -> None:
    given = tuple(xt.array(k % 2, dtype=DTYPES[k % 6]) for k in range(48))
    same(lambda *c: xt.scan(lambda c, _: (c[6:] + c[:6], c[0]), c, dim="t", length=5), *given)


@pytest.mark.parametrize("rank", [11, 12, 14])
def test_open_dims(rank: int) -> None:
    dims = tuple(f"d{i}" for i in range(rank))
    x = xt.array(np.random.default_rng(0).normal(size=(1,) * (rank - 4) + (3, 2, 3, 2)).astype("f4"), dims=dims)
    same(lambda x: [x.transpose(*dims[::-1]) + 1, x.cumsum(dims[-3])], x, dynamic_dims=dims)


def test_a_rank_along_open_dims() -> None:
    """A sort is one kernel, which works on rows of memory as long as products of sizes: 166 numbers."""
    x = xt.array(np.random.default_rng(1).integers(0, 3, (5, 3)).astype("f4"), dims=("a", "b"))
    same(lambda x: xt.rank(x, "a"), x, dynamic_dims=("a", "b"))


@pytest.mark.parametrize("count", [17, 40])
def test_carries_of_a_loop_that_the_host_goes_around(count: int) -> None:
    x = xt.array(np.random.default_rng(2).normal(size=(300, 301)), dims=("a", "b"))
    given = tuple(xt.array(float(k)) for k in range(count))

    def body(c: tuple[Any, ...]) -> tuple[Any, ...]:
        return (c[0] + 1.0, *(v + xt.sum(abs(x - v)) * 1e-6 for v in step(c)[1:]))

    same(lambda *c: xt.while_loop(lambda c: c[0] < 3.0, body, c), *given)
