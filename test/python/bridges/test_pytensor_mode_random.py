"""PyTensor's mode "XTENSOR" on random graphs with gradients, against PyTensor's interpreter.

A graph has six ops, and graphs in a row take all ops in turn: 30 graphs of named arrays have every op
of `pytensor.xtensor`, 33 graphs of tensors have every op of the list for tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor_graphs  # noqa: E402
import pytensor_named_graphs  # noqa: E402
import xtensor as xt  # noqa: E402

MODE = xt.pytensor_mode()
SEEDS = 10


@pytest.fixture(autouse=True)
def _interpreter() -> Iterator[None]:
    """Loops, too, run in the interpreter, without C and Numba."""
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        yield


def check(graph: tuple[list, list], values: list[np.ndarray]) -> None:
    inputs, results = graph
    found, wanted = (
        pytensor.function(inputs, results, mode=m, on_unused_input="ignore")(*values)
        for m in ("XTENSOR", "FAST_COMPILE")
    )
    for f, w in zip(found, wanted, strict=True):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        assert np.isfinite(w).all()
        np.testing.assert_allclose(f, w, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_graph_of_tensors(seed: int) -> None:
    check(pytensor_graphs.tensor_graph(seed), pytensor_graphs.values_of(seed))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_graph_of_named_arrays(seed: int) -> None:
    check(pytensor_named_graphs.named_graph(seed), pytensor_named_graphs.values_of(seed))
