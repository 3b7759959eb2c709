"""PyTensor's mode "XTENSOR" where compiled code calls PyTensor's own implementation of an op: the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.tensor import linalg  # noqa: E402
from pytensor.tensor.linalg.inverse import tensorinv  # noqa: E402
from pytensor.tensor.linalg.solvers.lstsq import lstsq, tensorsolve  # noqa: E402
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve  # noqa: E402

MODE = xt.pytensor_mode()
RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 4, 4))
V = np.linspace(0.1, 0.9, 4)
v, a, b, c = pt.dvector("v"), pt.dmatrix("a"), pt.dmatrix("b"), pt.dmatrix("c")


def check(inputs: Sequence[Any], graph: Any, *values: Any, rtol: float = 0.0) -> None:
    """The numbers of PyTensor's interpreter."""
    found, wanted = (
        pytensor.function(inputs, list(graph), mode=m, on_unused_input="ignore")(*values)
        for m in ("XTENSOR", "FAST_COMPILE")
    )
    for f, w in zip(found, wanted, strict=True):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(f, w, rtol=rtol, atol=rtol)


SCALARS = {
    "kve": lambda v: pt.kve(0.5, v),
    "kv": lambda v: pt.kv(2, v),
    "jv of a real order": lambda v: pt.jv(1.5, v),
    "iv of a real order": lambda v: pt.iv(0.3, v),
    "ive of many orders": lambda v: pt.ive(np.arange(4) + 0.5, v),
    "ive of orders that a call gives": lambda v: pt.ive(v[::-1] + 7, v),
    "hyp2f1": lambda v: pt.hyp2f1(0.5, 1.5, 2.5, v),
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_function_of_numbers(name: str) -> None:
    y = SCALARS[name](v)
    rtol = 1e-15 if name in ("kv", "iv of a real order") else 0.0  # a factor exp(..) is ours
    check([v], [y], V, rtol=rtol)
    if "call gives" not in name:
        check([v], [pytensor.grad(y.sum(), v)], V, rtol=1e-13)


def test_a_function_of_numbers_of_arrays_that_broadcast() -> None:
    check([a, v], [pt.hyp2f1(a[:, 0][:, None], 0.5, v, 0.3), pt.kve(v[:, None], a**2)], A, V)
    check([v], [pt.kve(0.5, v.astype("float32"))], V)


def test_the_gradient_with_respect_to_the_parameters_of_hyp2f1() -> None:
    y = pt.hyp2f1(v, 1.5, v + 2, 0.4).sum()
    check([v], [pytensor.grad(y, v)], V, rtol=1e-12)


def test_a_function_of_numbers_inside_of_a_scan() -> None:
    y = pytensor.scan(lambda s: pt.kve(0.5, s), sequences=v, return_updates=False)
    check([v], [y], V)


FACTORS = {
    "schur": lambda a, b: linalg.schur(a),
    "complex schur": lambda a, b: linalg.schur(a, output="complex"),
    "sorted schur": lambda a, b: linalg.schur(a, sort="lhp"),
    "qz": lambda a, b: linalg.qz(a, b),
    "ordqz": lambda a, b: linalg.ordqz(a, b),
    "schur of a batch": lambda a, b: linalg.schur(pt.stack([a, b, a])),
}


@pytest.mark.parametrize("name", FACTORS)
def test_a_matrix_factor(name: str) -> None:
    check([a, b], FACTORS[name](a, b), A, B)


def test_solve_sylvester_with_its_gradient() -> None:
    x = linalg.solve_sylvester(a, b, c)
    check([a, b, c], [x, *pytensor.grad(x.sum(), [a, b, c])], A, B, C, rtol=1e-9)


def test_a_tridiagonal_matrix() -> None:
    def solved(a: Any, side: Any) -> Any:
        return tridiagonal_lu_solve(tridiagonal_lu_factor(a), side, b_ndim=1)

    check([a, v], [solved(a, v)], np.diag(V) + np.diag(V[1:], 1) + np.diag(V[1:], -1), V)


def test_least_squares() -> None:
    check([a, b], lstsq(a[:, :2], b, -1.0), A, B)
    check([a, b], lstsq(a[:2], b[:2, :1], -1.0), A, B)  # fewer rows than columns: no residuals
    low = pytensor.function([a, b], lstsq(a, b, -1.0), mode="XTENSOR")(np.outer([1.0, 2, 3], [1, 2]), B[:3])
    assert low[2] == 1
    assert np.isnan(low[1]).all()
    np.testing.assert_allclose(low[0], np.linalg.lstsq(np.outer([1.0, 2, 3], [1, 2]), B[:3], -1.0)[0])


def test_a_result_whose_number_of_axes_pytensor_has_wrong() -> None:
    run = pytensor.function([a, v], lstsq(a, v, -1.0)[0], mode="XTENSOR")
    with pytest.raises(ValueError, match=r"Lstsq gives an array of shape \(4,\).*, which has 2 axes"):
        run(A, V)


def test_inverses_and_solutions_of_tensors() -> None:
    t = pt.dtensor4("t")
    whole = RNG.normal(size=(2, 3, 3, 2))
    check([t], [tensorinv(t), tensorinv(t, ind=2).sum(axis=0)], whole)
    check([t, a], [tensorsolve(t, a[:2, :3])], whole, A)
    check([t, a], [tensorsolve(t, a[:3, :2].T, axes=(1, 0))], RNG.normal(size=(3, 2, 2, 3)), A)


def test_rows_by_permutations_with_gradients() -> None:
    p = pt.lmatrix("p")
    orders = np.array([[2, 0, 3, 1], [1, 0, 2, 3], [0, 3, 2, 1], [3, 2, 1, 0]])
    for inverse in (False, True):
        graphs = [
            pt.permute_row_elements(a, p, inverse),
            pt.permute_row_elements(a, p[0], inverse),
            pt.permute_row_elements(v, p, inverse),
        ]
        check([a, v, p], graphs, A, V, orders)
        weighted = sum((y * np.arange(y.type.ndim, 16 + y.type.ndim).reshape(4, 4)).sum() for y in graphs)
        check([a, v, p], pytensor.grad(weighted, [a, v]), A, V, orders, rtol=1e-12)


@pytest.mark.parametrize("structure", ["tridiagonal", "gen", "pos"])
def test_the_gradient_of_a_system_with_a_tridiagonal_matrix(structure: str) -> None:
    m = pt.diag(2 + v**2) + pt.diag(v[1:], 1) + pt.diag(v[1:], -1)
    x = linalg.solve(m, pt.sin(v), assume_a=structure)
    check([v], [x, pytensor.grad((x * [1.0, 2, 3, 4]).sum(), v)], V, rtol=1e-12)
