"""Every derivative rule, executed: against central differences in float64 in both modes and to second order, and
against numbers worked out by hand at ties and singular points."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "reference"))
import ml_dtypes
from control_cases import CASES as CONTROL
from derivatives import Function, compiled, expanded, kept, pull, push
from evaluate import Evaluator
from rule_cases import CASES, Case, Exact
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as xt

ALL = [
    pytest.param(case, id=f"{name}-{i}") for name, cases in (CASES | CONTROL).items() for i, case in enumerate(cases)
]
SMOOTH = [p for p in ALL if p.values[0].smooth]
EXACT = [pytest.param(p.values[0], exact, id=f"{p.id}-{i}") for p in ALL for i, exact in enumerate(p.values[0].exact)]


def dot(xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> float:
    return sum(float(np.sum(x * y)) for x, y in zip(xs, ys, strict=True))


def difference(fn: Function, values: list[np.ndarray], wrt: list[int], along: list[np.ndarray]) -> list[np.ndarray]:
    """Central differences of the results along a direction of the arguments `wrt`."""
    run, step = compiled(fn), 1e-5

    def at(amount: float) -> list[np.ndarray]:
        moved = list(values)
        for i, v in zip(wrt, along, strict=True):
            moved[i] = values[i] + amount * v
        return run(*moved)

    return [(a - b) / (2 * step) for a, b in zip(at(step), at(-step), strict=True)]


def check(got: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float) -> None:
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def prepared(case: Case) -> tuple[Function, list[int], list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """The function, what to differentiate it by, a point, a direction and a cotangent."""
    rng = np.random.default_rng(0)
    fn, wrt, values = case.function(), case.differentiated(), case.values(rng)
    along = [rng.uniform(-1, 1, np.shape(values[i])) for i in wrt]
    results = compiled(fn)(*values)
    return fn, wrt, values, along, [rng.uniform(-1, 1, np.shape(r)) for r in results]


@pytest.mark.parametrize("case", SMOOTH)
def test_first_order(case: Case) -> None:
    fn, wrt, values, along, cts = prepared(case)
    tangents = compiled(push(fn, wrt))(*values, *along)
    gradients = compiled(pull(fn, wrt))(*values, *cts)
    check(tangents, difference(fn, values, wrt, along), 1e-8)
    assert dot(tangents, cts) == pytest.approx(dot(gradients, along), rel=1e-12, abs=1e-12)
    for gradient, i in zip(gradients, wrt, strict=True):
        assert gradient.shape == values[i].shape
        assert gradient.dtype == values[i].dtype


@pytest.mark.sampled(100)
@pytest.mark.parametrize("case", SMOOTH)
def test_second_order(case: Case) -> None:
    fn, wrt, values, along, cts = prepared(case)
    gradient = pull(fn, wrt)
    hessian = difference(gradient, [*values, *cts], wrt, along)
    check(compiled(push(gradient, wrt))(*values, *cts, *along), hessian, 1e-7)
    check(compiled(pull(gradient, wrt))(*values, *cts, *along), hessian, 1e-7)
    tangent = push(fn, wrt)
    check(compiled(pull(tangent, wrt))(*values, *along, *cts), hessian, 1e-7)
    twice = difference(tangent, [*values, *along], wrt, along)
    check(compiled(push(tangent, wrt))(*values, *along, *along), twice, 1e-7)


@pytest.mark.parametrize(("case", "exact"), EXACT)
def test_exact(case: Case, exact: Exact) -> None:
    fn, wrt = case.function(), case.differentiated()
    at = [np.asarray(v) for v in exact.at]
    gradients = compiled(pull(fn, wrt))(*at, np.asarray(exact.ct))
    for got, expected in zip(gradients, exact.gradients, strict=True):
        np.testing.assert_array_equal(got, np.asarray(expected))


def test_select_is_exact_to_second_order() -> None:
    fn = CASES["select"][2].function()
    at, one = np.array([0.0, -1, 1]), np.ones(3)
    gradient = pull(fn, [0])
    for second in (push(gradient, [0]), pull(gradient, [0])):
        np.testing.assert_array_equal(compiled(second)(at, one, one)[0], [0.0, 0, 1])


def test_mixed_second_derivative_of_pow_at_zero_exponent() -> None:
    case = CASES["pow"][0]
    fn = Function(["f64", "f64"], lambda a, b: [case.fn(a, b)])
    (mixed,) = compiled(push(pull(fn, [0]), [1]))(np.array(2.0), np.array(0.0), np.array(1.0), np.array(1.0))
    assert mixed == pytest.approx(0.5)


def test_third_order() -> None:
    fn = CASES["tanh"][0].function()
    hessian = push(pull(fn, [0]), [0])
    values = [np.array([0.1, 0.7, -1.2]), np.ones(3), np.ones(3)]
    third = compiled(pull(hessian, [0]))(*values, np.ones(3))
    check(third, difference(hessian, values, [0], [np.ones(3)]), 1e-8)


SPLIT = ["xtensor-differentiate", "xtensor-split-pullbacks", "xtensor-simplify", "xtensor-verify-differentiated"]


@pytest.mark.parametrize("case", [p for p in SMOOTH if p.id.endswith("-0")])
def test_a_kept_pullback_is_two_functions(case: Case) -> None:
    fn, wrt, values, _, cts = prepared(case)
    module = expanded(kept(fn, wrt), SPLIT)
    evaluator = Evaluator(module)
    results = evaluator.call("f", *values)
    places = list(ir.DenseI64ArrayAttr(evaluator.functions["f.back"].attributes["xtensor.residuals"]))
    residuals = [results[p] if p >= 0 else values[-1 - p] for p in places]
    check(evaluator.call("f.back", *residuals, *cts), compiled(pull(fn, wrt))(*values, *cts), 0)


@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32)])
def test_gradients_have_the_arguments_dtype(element: str, dtype: type) -> None:
    def emit(x: ir.Value, y: ir.Value) -> list[ir.Value]:
        z = xt.div(xt.tanh(xt.mul(x, y)), xt.add(xt.exp(y), xt.reduce(xt.ReduceKind.max, x, ["a"])))
        return [xt.reduce(xt.ReduceKind.sum, z, ["a", "b"])]

    def run(element: str, dtype: type) -> list[np.ndarray]:
        fn = Function([f"a: 3, {element}", f"b: 2, {element}"], emit)
        at = np.array([0.5, 1.5, -1]).astype(dtype), np.array([0.25, -0.5]).astype(dtype), np.ones((), dtype)
        return compiled(pull(fn, [0, 1]))(*at)

    for got, exact in zip(run(element, dtype), run("f64", np.float64), strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(np.float64), exact, rtol=0.05, atol=0.02)
