"""PyTensor's mode "XTENSOR" where sizes depend on elements of arrays: several programs, against its interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.scan import scan  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402

xt.pytensor_mode()
V = np.array([0.3, -1.2, 2.5, 0.7, -0.1])
A, M, N = np.abs(V) + 0.5, np.outer(V, V), np.array([3, 1, 3, 2])
x, a, m, i = pt.dvector("x"), pt.dvector("a"), pt.dmatrix("m"), pt.lvector("i")


def doubled(c: Any) -> Any:
    return c * 2 + 1, until(c > 100)


def scanned(step: Callable[..., Any], **options: Any) -> Any:
    found = scan(step, **options)
    return found[0] if isinstance(found, tuple) else found


STEPS = scanned(doubled, outputs_info=[x[0]], n_steps=50)
OVER = scanned(
    lambda b, c: (c * 0.5 + b, until(abs(c) > 1.0)), sequences=[x], outputs_info=[pt.as_tensor(np.float64(0.5))]
)
PAIRS = scanned(
    lambda p, q: (p + q, until(p + q > 30)),
    outputs_info=[{"initial": pt.as_tensor(np.array([1.0, 1.0])), "taps": [-2, -1]}],
    n_steps=20,
)
GRAPHS: dict[str, Any] = {
    "mask": ([x], x[x > 0]),
    "sum where a mask holds": ([x], [x[x > 0].sum(), x[x > 0].mean(), x[x > 0].shape[0]]),
    "its gradient": ([x], pytensor.grad((x[x > 0] ** 2).sum(), x)),
    "another array's mask": ([x, a], pytensor.grad((x[a > 0.9] ** 2).sum(), x)),
    "in a larger graph": ([x, a], pytensor.grad(pt.exp(x[x > 0]).sum() * a.sum(), [x, a])),
    "mask of a matrix": ([m], pytensor.grad(pt.log(m[m > 0]).sum(), m)),
    "rows": ([m, x], pytensor.grad(pt.sqr(m[x > 0]).sum(), m)),
    "columns": ([m, x], [m[:, x > 0], pytensor.grad((m[:, x > 0] ** 2).sum(), m)]),
    "mask of what a mask gave": (
        [x],
        [x[x > 0][x[x > 0] > 1], pytensor.grad((x[x > 0][x[x > 0] > 0.5] ** 2).sum(), x)],
    ),
    "none": ([x], x[x > 99].sum()),
    "all": ([x], pytensor.grad(x[x > -99].prod(), x)),
    "places": ([x], x[pt.nonzero(x > 0)]),
    "update": ([x], pt.inc_subtensor(x[x < 0], x[x < 0])),
    "unique": ([i], pt.unique(i, return_inverse=True, return_counts=True)),
    "computed of unique": ([i], (pt.unique(i) * 2).sum()),
    "a size": ([x], pt.arange(pt.cast(abs(x).sum(), "int64"))),
    "a bound": ([x], [x[: pt.argmax(x) + 1], pytensor.grad((x[: pt.argmax(x) + 1] ** 2).sum(), x)]),
    "until": ([x], [STEPS, STEPS[-1]]),
    "gradient until": ([x], [pytensor.grad(STEPS[-1], x), pytensor.grad(STEPS.sum(), x)]),
    "until over a sequence": ([x], OVER),
    "until with two states": ([x], PAIRS),
    "until never": ([x], scanned(lambda c: (c + 1, until(c > 1e9)), outputs_info=[x[0]], n_steps=5)),
}
VALUES = {x: V, a: A, m: M, i: N}


@pytest.mark.parametrize("name", GRAPHS)
def test_sizes_that_depend_on_elements(name: str) -> None:
    inputs, graph = GRAPHS[name]
    values = [VALUES[v] for v in inputs]
    found, wanted = (
        pytensor.function(inputs, graph, mode=mode, on_unused_input="ignore") for mode in ("XTENSOR", "FAST_COMPILE")
    )
    for given in (values, [-v[::-1].copy() if v.dtype.kind == "f" else v[1:] for v in values]):
        pairs = [r if isinstance(r, list) else [r] for r in (found(*given), wanted(*given))]
        for f, w in zip(*pairs, strict=True):
            assert (f.shape, f.dtype) == (w.shape, w.dtype)
            np.testing.assert_allclose(f, w, rtol=1e-10, atol=1e-13)


def test_a_mask_of_another_size_is_refused() -> None:
    run = pytensor.function([x, a], x[a > 0], mode="XTENSOR")
    with pytest.raises(
        IndexError, match=r"a mask of shape \(3,\) selects from x, whose sizes from axis 0 on are \(5,\)"
    ):
        run(V, A[:3])


def test_draws_of_two_stages_are_the_same() -> None:
    rng = pytensor.shared(np.random.default_rng(3))
    y = pt.random.normal(size=(200,), rng=rng)
    picked, number = pytensor.function([], [y[y > 0], y], mode="XTENSOR")()
    np.testing.assert_array_equal(picked, number[number > 0])


def test_known_sizes_need_one_program() -> None:
    n = pt.lscalar("n")
    run = pytensor.function([x, n], x[pt.arange(n) > 1].sum(), mode="XTENSOR")
    assert type(run.vm.jit_fn).__name__ == "Program"
    np.testing.assert_allclose(run(V, 5), V[2:].sum())
