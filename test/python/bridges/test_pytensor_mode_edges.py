"""PyTensor's mode "XTENSOR" where sizes, positions and checks are only known by the call: against its interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.special

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.compile.sharedvalue import shared  # noqa: E402
from pytensor.raise_op import Assert  # noqa: E402
from pytensor.tensor.signal.conv import convolve1d, convolve2d  # noqa: E402

MODE = xt.pytensor_mode()
RNG = np.random.default_rng(0)
X, Y, V = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4)
x, y, v = pt.dmatrix("x"), pt.dmatrix("y"), pt.dvector("v")
i, j, k = pt.lvector("i"), pt.lmatrix("j"), pt.lscalar("k")


def run(mode: str, inputs: Sequence[Any], graph: Any, values: Sequence[Any]) -> Any:
    return pytensor.function(inputs, graph, mode=mode, on_unused_input="ignore")(*values)


def check(inputs: Sequence[Any], graph: Any, *values: Any) -> None:
    """The numbers of PyTensor's interpreter."""
    found, wanted = run("XTENSOR", inputs, graph, values), run("FAST_COMPILE", inputs, graph, values)
    for f, w in zip(*(r if isinstance(r, list) else [r] for r in (found, wanted)), strict=True):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(f, w, rtol=1e-10, atol=1e-13)


def check_raises(error: type[Exception], match: str, inputs: Sequence[Any], graph: Any, *values: Any) -> None:
    """Both raise an error of this kind; ours has this text."""
    with pytest.raises(error):
        run("FAST_COMPILE", inputs, graph, values)
    with pytest.raises(error, match=match):
        run("XTENSOR", inputs, graph, values)


def test_updates_where_a_computed_mask_holds() -> None:
    count = int((X > 0).sum())
    rows, columns = np.array([1.0, -1, 1]), np.array([1.0, -1, 1, -1])
    for update in (pt.set_subtensor, pt.inc_subtensor):
        check([x], update(x[x > 0], 7.0), X)
        check([x, v], update(x[x > 0], v), X, np.arange(1.0, count + 1))
        check([x, v], update(x[v > 0], v[0]), X, rows)
        check([x, v, y], update(x[v > 0], y[0]), X, rows, Y)
        check([x, v, y], update(x[v > 0], y[:2]), X, rows, Y)
        check([x, v, y], update(x[:, v > 0], y[:, :2]), X, columns, Y)
        check([x], update(x[x > 9], 7.0), X)
    check_raises(ValueError, "values of size 3", [x, v], pt.set_subtensor(x[x > 0], v), X, np.ones(3))


def test_a_mask_has_the_sizes_of_its_axes() -> None:
    check_raises(IndexError, r"a mask of shape \(2,\)", [x], x[np.array([True, False])], X)
    check_raises(IndexError, r"a mask of shape \(4,\)", [x, v], pt.set_subtensor(x[v > 0], 1.0), X, V)


def test_values_of_size_1_stretch() -> None:
    check([x, v], pt.inc_subtensor(x[1:, :2], v), X, np.array([2.0]))
    check([x, y, i], pt.set_subtensor(x[i], y), X, Y[:1], np.array([0, 2]))
    rng = shared(np.random.default_rng(0))
    draw = pt.random.normal(v, 1e-9, size=i.shape, rng=rng)
    np.testing.assert_allclose(run("XTENSOR", [v, i], draw, (np.array([2.0]), np.arange(3))), 2, atol=1e-6)
    draw = pt.random.normal(v, abs(x) * 1e-9, rng=rng)
    np.testing.assert_allclose(run("XTENSOR", [v, x], draw, (np.array([2.0]), X)), np.full((3, 4), 2), atol=1e-6)


def test_shapes_that_do_not_fit_are_errors() -> None:
    check([x], x.reshape((2, -1)), X[:0])
    check_raises(ValueError, r"cannot take the shape \(0, -1\)", [x], x.reshape((0, -1)), X)
    check_raises(ValueError, r"cannot take the shape \(5, -1\)", [x], x.reshape((5, -1)), X)
    check_raises(ValueError, "none can be negative", [x], pt.split(x, [-1, 4], n_splits=2, axis=0)[0], X)


def test_an_error_names_the_node_of_the_graph() -> None:
    steps = pytensor.scan(lambda row, s: s * row, sequences=[x], outputs_info=[v], return_updates=False)
    for graph, kind, said in (
        (pt.exp(x) * v, xt.SizeError, r"has size 4 here and 3 there .* this is Mul\(Exp.0, ExpandDims{axis=0}.0\)"),
        (pt.linalg.solve(x, v), xt.SizeError, r"must be square.* this is Solve{.*}\(x, v\)"),
        (v[7], xt.IndexError, r"index 7 is out of range.* this is Subtensor{i}\(v, 7\)"),
        (steps, xt.SizeError, r"size 3 here and 4 there .* this is Mul\([^)]*\)"),
    ):
        with pytest.raises(kind, match=rf"(?s){said}") as error:
            run("XTENSOR", [x, v], graph, (X, V[:3]))
        assert str(error.value).count("In the graph of PyTensor") == 1


def test_powers_of_integers() -> None:
    check([i, k], i**k, np.array([2, -3]), 3)
    check_raises(ValueError, "negative integer powers", [i, k], i**k, np.array([2, 3]), -1)


def test_positions() -> None:
    places, stacked = np.arange(12).reshape(3, 4) - 5, pt.stack([x, x + 1, x * 2])
    for mode in ("wrap", "clip"):
        check([j, x], pt.choose(j, stacked, mode=mode), places, X)
        check([j, x], pt.choose(j, stacked[:, :, :1], mode=mode), places, X)
    check([j, x], pt.choose(j % 3, stacked), places, X)
    check_raises(ValueError, "invalid entry in choice", [j, x], pt.choose(j, stacked), places, X)
    for order in ("C", "F"):
        check([i], list(pt.unravel_index(i, (3, 4, 2), order=order)), np.array([0, 5, 23]))
        for mode in ("wrap", "clip"):
            graph = pt.ravel_multi_index((j[0], j[1]), (3, 4), mode=mode, order=order)
            check([j], graph, np.array([[0, -1, 7], [3, 9, 1]]))
    check_raises(ValueError, "out of bounds", [i], list(pt.unravel_index(i, (3, 4))), np.array([12]))
    bad = pt.ravel_multi_index((j[0], j[1]), (3, 4))
    check_raises(ValueError, "invalid entry", [j], bad, np.array([[3], [0]]))


def test_convolutions() -> None:
    taps, image = np.array([1.0, -2, 4]), RNG.normal(size=(6, 5))
    for mode in ("full", "valid", "same"):
        for length in (2, 3, 7):
            check([v, x], convolve1d(v, x[0, :3], mode=mode), RNG.normal(size=length), X)
        batch = convolve1d(x, v, mode=mode)
        check([x, v], [batch, *pytensor.grad((batch**3).sum(), [x, v])], X, taps)
        plane = convolve2d(x, y, mode=mode)
        check([x, y], [plane, *pytensor.grad((plane**3).sum(), [x, y])], image, X[:2, :3])


def test_matrices_and_functions() -> None:
    a = RNG.normal(size=(4, 4))
    for options in ({}, {"p_indices": True}, {"permute_l": True}):
        check([x], list(pt.linalg.lu(x, **options)), a)
    check([x], pt.fill_diagonal_offset(x, 3.0, -1), X)
    check([x], [pt.iv(0, x), pt.iv(1, x), pt.ive(0, x), pt.ive(1, x)], np.abs(X))
    check([k], pt.bartlett(k), 5)
    check([x, y], [t := pt.owens_t(x, y), *pytensor.grad(t.sum(), [x, y])], X, Y)
    for inverse in (pt.gammaincinv(2.0, x), pt.gammainccinv(y, x), pt.betaincinv(2.0, y, x)):
        check([x, y], [inverse, pytensor.grad(inverse.sum(), x)], np.abs(X) / 4, np.abs(Y) + 0.3)
    for shape in ((5, 3), (3, 5)):
        z = RNG.normal(size=shape)
        r = run("XTENSOR", [x], pt.linalg.qr(x, mode="r"), (z,))
        assert r.shape == shape
        np.testing.assert_allclose(r.T @ r, z.T @ z, atol=1e-12)
        np.testing.assert_allclose(r, np.triu(r))


@pytest.mark.parametrize("lower", (True, False))
def test_a_matrix_without_a_cholesky_factor_gives_nan_alone(lower: bool) -> None:
    batch = pt.dtensor3("batch")
    matrices = np.stack([np.eye(3), np.eye(3) - 2 * np.diag([0, 0, 1]), np.ones((3, 3)) + np.eye(3)])
    check([batch], pt.linalg.cholesky(batch, lower=lower, on_error="nan"), matrices)


def test_factors_with_pivots() -> None:
    """Also in a batch; and the gradient of a solution by them."""
    for n in (1, 2, 5):
        a, b = RNG.normal(size=(n, n)), RNG.normal(size=n)
        both, pivots = pt.linalg.lu_factor(x)
        solution = pt.linalg.lu_solve((both, pivots), v)
        rows = [pt.linalg.pivot_to_permutation(pivots, inverse=inverse) for inverse in (False, True)]
        check([x, v], [both, pivots, *rows, solution, pytensor.grad(solution.sum(), x)], a, b)
    batch = pt.dtensor3("batch")
    both, pivots = pt.linalg.lu_factor(batch)
    check([batch], [both, pivots, pt.linalg.pivot_to_permutation(pivots[1])], RNG.normal(size=(3, 4, 4)))


@pytest.mark.parametrize("lower", (True, False))
def test_the_gradient_of_eigenvectors(lower: bool) -> None:
    """In PyTensor before 3, it is an op."""
    w, vectors = pt.linalg.eigh(x, lower=lower) if pytensor.__version__ >= "3" else pt.linalg.eigh(x, "UL"[lower])
    loss = (w * V).sum() + (vectors**2 * X[:1]).sum()
    check([x], pytensor.grad(loss, x), RNG.normal(size=(4, 4)))


@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_bessel_functions_of_whole_orders(dtype: str) -> None:
    """Also where the series ends and the recurrence begins; the derivatives need the orders beside."""
    edges = [0.0, 1e-30, -1e-8, 4.0, 4.001, 16.0, 16.001, -16.001, np.nan]
    z = np.concatenate([np.linspace(-40, 40, 641), edges]).astype(dtype)
    for f, reference in ((pt.jv, scipy.special.jv), (pt.iv, scipy.special.iv), (pt.ive, scipy.special.ive)):
        for n in range(-4, 5):
            found = run("XTENSOR", [w := pt.vector("w", dtype=dtype)], f(n, w), (z,))
            want = reference(n, z.astype("float64"))
            bound = 40 * np.finfo(dtype).eps
            # J oscillates: relative to its amplitude.
            size = np.abs(want) if f is not pt.jv else np.maximum(np.abs(want), np.minimum(1, np.abs(z)) * 0.1)
            assert found.dtype == dtype
            is_nan = np.isnan(want)
            np.testing.assert_array_equal(np.isnan(found), is_nan)
            smallest = np.finfo(dtype).tiny
            assert (np.abs(found - want)[~is_nan] <= bound * size[~is_nan] + smallest).all(), (f, n)


def test_derivatives_of_bessel_functions() -> None:
    for f in (pt.j0, pt.j1, pt.i0, pt.i1, lambda v: pt.jv(2, v), lambda v: pt.iv(2, v)):
        gradient = pytensor.grad(f(v).sum(), v)
        check([v], [f(v), gradient, pytensor.grad(gradient.sum(), v)], np.linspace(-9, 21, 61))


def test_an_inner_loop_takes_its_number_of_steps_from_an_argument() -> None:
    def power(c: Any, n: Any) -> Any:
        return pytensor.scan(lambda a: a * 1.5, outputs_info=c, n_steps=n, return_updates=False)[-1]

    graph = pytensor.scan(power, sequences=v, non_sequences=k, return_updates=False)
    for steps in (1, 3):
        check([v, k], [graph, pytensor.grad(graph.sum(), v)], V, steps)


def test_a_check_inside_of_a_loop_is_made() -> None:
    graph = pytensor.scan(
        lambda e, c: Assert("an element is negative")(c + e, e > 0), sequences=v, outputs_info=pt.zeros(()),
        return_updates=False,
    )  # fmt: skip
    check([v], graph, np.abs(V))
    check_raises(AssertionError, "an element is negative", [v], graph, np.array([1.0, -1.0, 1.0]))


def test_a_permutation_of_as_many_as_an_argument_says() -> None:
    graph = pt.random.permutation(k, rng=shared(np.random.default_rng(0)))
    for n in (5, 3):
        assert sorted(run("XTENSOR", [k], graph, (n,))) == list(range(n))
