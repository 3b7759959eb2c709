"""Dims of size 1 beside open sizes: which of them a slice drops is never a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import finished

SIZES = (1, 1, 2, 3, 5)
NAMES = ("a", "b", "c", "d")


def _random_array(
    rng: np.random.Generator, sizes: dict[str, int], dtype: str, dims: tuple[str, ...] = ()
) -> tuple[np.ndarray, tuple[str, ...]]:
    dims = dims or tuple(rng.permutation(NAMES)[: rng.integers(1, len(NAMES) + 1)])
    return rng.integers(-4, 5, [sizes[d] for d in dims]).astype(dtype), dims


def _spread(x: np.ndarray, dims: tuple[str, ...], order: tuple[str, ...]) -> np.ndarray:
    """`x` with an axis for each name of `order`."""
    known = [d for d in order if d in dims]
    shape = [x.shape[dims.index(d)] if d in dims else 1 for d in order]
    return x.transpose([dims.index(d) for d in known]).reshape(shape)


PROGRAMS: tuple[Any, ...] = (
    lambda x, y: x - 2 * y,
    lambda x, y: 2 * x - y * y,
    lambda x, y: (x + 1) * (y - 1) + y,
)


@pytest.mark.parametrize("seed", range(40))
def test_fused_producers_with_open_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = PROGRAMS[rng.integers(len(PROGRAMS))]
    dtypes = [str(rng.choice(["f4", "f8", "i4"])) for _ in range(2)]
    sizes = {d: int(rng.choice(SIZES)) for d in NAMES}
    (_, xd), (_, yd) = (_random_array(rng, sizes, t) for t in dtypes)
    opened = tuple(d for d in NAMES if (d in xd or d in yd) and rng.random() < 0.5)
    compiled = xt.jit(f, dynamic_dims=opened)
    for _ in range(4):
        sizes |= {d: int(rng.choice((1, 2, 4, 7))) for d in opened}
        (x, _), (y, _) = _random_array(rng, sizes, dtypes[0], xd), _random_array(rng, sizes, dtypes[1], yd)
        result = finished(compiled(xt.array(x, dims=xd), xt.array(y, dims=yd)))
        order = tuple(result.dims)
        expected = f(_spread(x, xd, order), _spread(y, yd, order))
        np.testing.assert_array_equal(np.asarray(result), expected, err_msg=f"{xd} {x.shape} {yd} {y.shape} {opened}")


def test_a_bool_beside_two_open_sizes() -> None:
    add = xt.jit(lambda x, m: x + m, dynamic_dims=("time", "key"))
    for time, key in ((2, 4), (1, 1), (5, 3)):
        x = np.arange(2 * time, dtype="f4").reshape(1, 2, time)
        m = np.arange(time * key).reshape(time, key) % 3 == 0
        result = add(xt.array(x, dims=("batch", "d", "time")), xt.array(m, dims=("time", "key")))
        np.testing.assert_array_equal(np.asarray(result), x[..., None] + m)


@pytest.mark.cpu_only("a bundle for the CPU")
def test_a_bundle_with_an_open_size(tmp_path: Path) -> None:
    w, x = np.arange(5.0).reshape(1, 5), np.arange(12.0).reshape(3, 4)

    def f(w: xt.Array, x: xt.Array) -> xt.Array:
        return w - 2 * x

    path = tmp_path / "f.xtb"
    xt.export(f, (xt.spec(d=1, c=5, dtype="f8"), xt.spec(a=3, b=None, dtype="f8")), path=path)
    result = xt.load(path)(xt.array(w, dims=("d", "c")), xt.array(x, dims=("a", "b")))
    np.testing.assert_array_equal(np.asarray(result), w[:, :, None, None] - 2 * x)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, y: (x - x) == x,
        lambda x, y: (x * 0) == y,
        lambda x, y: (x & 0) == y,
        lambda x, y: (x ^ x) < y,
        lambda x, y: xt.argmax(x - x, dim="i").astype("i4") + 0 * x,
        lambda x, y: xt.argmax(xt.cumsum(x.isel(i=[0]), dim="i", exclusive=True), dim="i") + 0 * x,
    ],
)
def test_comparisons_that_fold_in_place(program: Any) -> None:
    x, y = np.array([0, 2, -3], "i4"), np.array([1, 0, -3], "i4")
    named = [xt.array(v, dims="i") for v in (x, y)]
    np.testing.assert_array_equal(np.asarray(xt.jit(program)(*named)), np.asarray(program(*named)))


def test_a_step_beside_another_dim_of_size_1() -> None:
    """Upstream does not find which dim such a view drops (docs/upstream.md)."""

    def loss(x: xt.Array) -> xt.Array:
        every_other = xt.prod(x, "j").isel(i=slice(None, None, 2))
        return xt.dot(every_other, xt.cummax(every_other, "i"), dim="i")

    x = xt.array([[-0.5]], ("i", "j"))
    value, tangent = xt.jit(lambda x: xt.jvp(loss, (x,), (x,)))(x)
    assert (value.item(), tangent.item()) == (0.25, 0.5)
    gradient = xt.grad(loss)(x)
    assert gradient.values.tolist() == [[-1.0]]
