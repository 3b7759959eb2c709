"""Functions made of other ops: a table for each family, and the tests of each row.

A row has the function, what NumPy, SciPy, JAX or PyTorch gives for the same values, and the arguments. The file of a
table makes a class of these tests: `class TestComposites(Composites): table = TABLE`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import xtensor as xt


@dataclass(frozen=True)
class Row:
    """`want` gets the arguments as NumPy arrays, and gives arrays with the axes in the order of our dims. `dims` are
    those of the results, `open` those whose size one program leaves open. `smooth`: it has derivatives here."""

    ours: Callable[..., Any]
    want: Callable[..., Any]
    args: tuple[xt.Array, ...]
    dims: tuple[str, ...] | None = None
    open: tuple[str, ...] = ()
    smooth: bool = True
    alone: bool = True  # an instance of a batch can have arguments of its own
    rtol: float = 1e-10
    order: int = 2  # of the derivatives that are checked


def spread(*dims: str, seed: int = 0, low: float = -2.0, high: float = 2.0, **sizes: int) -> xt.Array:
    """Different numbers in random order, away from one another."""
    names = dims or tuple(sizes)
    shape = tuple(sizes[d] for d in names)
    n = int(np.prod(shape))
    rng = np.random.default_rng(seed)
    values = np.linspace(low, high, n) + rng.uniform(-0.2, 0.2, n) * (high - low) / max(n, 2)
    return xt.array(rng.permutation(values).reshape(shape), names)


def ascending(dim: str, n: int, seed: int = 0) -> xt.Array:
    return xt.array(np.cumsum(np.random.default_rng(seed).uniform(0.5, 1.5, n)), dim)


def leaves(result: Any) -> list[np.ndarray]:
    """Of a result its arrays as NumPy has them."""
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in leaves(part)]
    if isinstance(result, dict):
        return [x for part in result.values() for x in leaves(part)]
    return [np.asarray(getattr(result, "values", result))]


def agree(got: Any, want: Any, rtol: float, what: str = "") -> None:
    found, expected = leaves(got), leaves(want)
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape, (what, x.shape, y.shape)
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol, err_msg=what)


def of(which: Callable[[Row], Any]) -> Callable[[Any], Any]:
    """A test of the rows that `which` says something of."""

    def mark(test: Any) -> Any:
        test.which = which
        return test

    return mark


class Composites:
    table: dict[str, Row]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "row" in metafunc.fixturenames:
            which = getattr(metafunc.function, "which", lambda row: True)
            found = [pytest.param(row, id=name) for name, row in self.table.items() if which(row)]
            metafunc.parametrize("row", found)

    def test_value(self, row: Row) -> None:
        """Eagerly, compiled, and in float32."""
        want = row.want(*(a.values for a in row.args))
        got = row.ours(*row.args)
        agree(got, want, row.rtol, "eager")
        if row.dims is not None:
            assert xt.tree.leaves(got)[0].dims == row.dims
        agree(xt.jit(row.ours)(*row.args), want, row.rtol, "jit")
        small = [a.astype("f4") if a.dtype == "f8" else a for a in row.args]
        got = row.ours(*small)
        assert all(x.dtype != "f8" or y.dtype == "f8" for x, y in zip(leaves(got), leaves(want), strict=True))
        if row.smooth:
            agree(got, row.want(*(a.values.astype("f8") if a.dtype == "f4" else a.values for a in small)), 2e-3)

    @of(lambda row: row.open)
    @pytest.mark.sampled(8)
    def test_open_sizes(self, row: Row) -> None:
        """One program for every size."""
        want = row.want(*(a.values for a in row.args))
        agree(xt.jit(row.ours, dynamic_dims=row.open)(*row.args), want, row.rtol)

    @of(lambda row: row.alone)
    @pytest.mark.sampled(6)
    def test_batch(self, row: Row) -> None:
        """Instances along a dim of the batch: all three at once are what each gives."""

        def stacked(x: xt.Array) -> xt.Array:
            v = x.values
            others = [1.25 * v, v + 0.5] if x.dtype.kind == "f" else [np.roll(v, 1), v[::-1]]
            return xt.array(np.stack([v, *others]), ("instance", *x.dims))

        xt.testing.check_vectorized(row.ours, tuple(map(stacked, row.args)), "instance", checks=("value",))

    @pytest.mark.sampled(6)
    def test_under_strict_options(self, row: Row) -> None:
        """What options forbid is for the calls of users, not for what functions are made of."""
        with xt.option(strict=True, skipna=False):
            agree(row.ours(*row.args), row.want(*(a.values for a in row.args)), row.rtol)

    @pytest.mark.float64
    @of(lambda row: row.smooth and any(a.dtype == "f8" for a in row.args))
    @pytest.mark.sampled(8)
    def test_derivatives(self, row: Row) -> None:
        """Both modes, and both modes of each, against differences."""
        xt.testing.check_gradients(row.ours, row.args, order=row.order, step=1e-4)
