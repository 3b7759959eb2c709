"""Every derivative rule, compiled, against finite differences in float64: both modes, and both modes of each to second
order. The rules themselves, as the passes print them: test_rules.py."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from cases import Case, Exact
from derivative_cases import CASES, SMOOTH
from gradient_cases import DYNAMIC

RTOL, ATOL = 1e-7, 1e-8


def close(got: Any, want: Any, what: str, scale: float = 1.0) -> None:
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    size = max(1.0, scale, float(np.max(np.abs(want), initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=RTOL, atol=ATOL * size, err_msg=what)


def eighths(rng: np.random.Generator, like: Any) -> xt.Array:
    """Directions and weights: none 0, and exact in any float dtype."""
    return xt.array(rng.integers(2, 12, like.shape) / 8 * rng.choice([-1.0, 1.0], like.shape), like.dims)


def difference(f: Callable[[list[xt.Array]], list[np.ndarray]], at: list[xt.Array], along: list[Any], h: float) -> Any:
    """The derivative of `f` along a direction: central differences of fourth order."""

    def moved(t: float) -> list[np.ndarray]:
        return f([xt.array(x.values + t * v, x.dims) for x, v in zip(at, along, strict=True)])

    near = [(p - m) / (2 * h) for p, m in zip(moved(h), moved(-h), strict=True)]
    far = [(p - m) / (4 * h) for p, m in zip(moved(2 * h), moved(-2 * h), strict=True)]
    return [(4 * n - f_) / 3 for n, f_ in zip(near, far, strict=True)]


def leaves(tree: Any) -> list[np.ndarray]:
    return [np.asarray(x.values, np.float64) for x in xt.tree.leaves(tree)]


def inner(a: list[np.ndarray], b: list[np.ndarray]) -> float:
    return sum(float(np.sum(x * y)) for x, y in zip(a, b, strict=True))


class Setup:
    """A case with its arguments, a direction for them and weights for its results."""

    def __init__(self, case: Case) -> None:
        self.case, self.f = case, case.f
        rng = np.random.default_rng(zlib.crc32(b"directions of " + case.name.encode()))
        self.x = case.primals()
        self.jit = functools.partial(xt.jit, dynamic_dims=case.dynamic if case.open else ())
        self.value = self.jit(self.f)
        self.y = self.value(*self.x)
        assert all(np.isfinite(y).all() for y in leaves(self.y)), "the case itself is not finite"
        self.v = [eighths(rng, x) for x in self.x]
        self.ct = xt.tree.map(lambda y: eighths(rng, y), self.y)

    def back(self, ct: Any) -> Callable[..., tuple[Any, ...]]:
        """The cotangents of the arguments. `ct` is the weights, or stands for them while a function is traced."""
        return lambda *x: xt.vjp(self.f, *x)[1](ct)


# The reference evaluator differentiates each op by itself in the default tier.
COMPILED = [
    pytest.param(
        c, id=c.name,
        marks=[pytest.mark.full("ops by themselves, compiled")] * (not c.public)
        + [pytest.mark.cpu_only("devices transform along static dims")] * (c.open and c.name.startswith("fourier")),
    )
    for c in SMOOTH
]  # fmt: skip
EXACT = [pytest.param(c, e, id=f"{c.name}-{i}") for c in CASES for i, e in enumerate(c.exact)]


def test_cases_have_names_of_their_own() -> None:
    names = {c.name for c in CASES}
    assert len(names) == len(CASES)
    assert {*DYNAMIC} <= names


@pytest.mark.parametrize("case", COMPILED)
def test_first_order(case: Case) -> None:
    s = Setup(case)

    def run(x: list[Any], v: list[Any], ct: Any) -> Any:
        return xt.jvp(s.f, tuple(x), tuple(v)), s.back(ct)(*x)

    (y, dy), gradient = s.jit(run)(s.x, s.v, s.ct)
    for got, want in zip(leaves(y), leaves(s.y), strict=True):
        close(got, want, "the value beside the derivative")

    def value(x: list[xt.Array]) -> list[np.ndarray]:
        return leaves(s.value(*x))

    along = [np.asarray(v.values) for v in s.v]
    for got, want in zip(leaves(dy), difference(value, s.x, along, case.step), strict=True):
        close(got, want, "forward mode against differences")

    weights = leaves(s.ct)
    for i, (x, g) in enumerate(zip(s.x, gradient, strict=True)):
        assert (g.dims, g.shape, g.dtype) == (x.dims, x.shape, x.dtype)
        want = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            unit = [np.zeros(a.shape) for a in s.x]
            unit[i][place] = 1.0
            want[place] = inner(weights, difference(value, s.x, unit, case.step))
        close(g, want, f"reverse mode against differences, argument {i}")
    moved, pulled = inner(weights, leaves(dy)), inner(leaves(gradient), along)
    assert moved == pytest.approx(pulled, rel=1e-12, abs=1e-12 * max(1.0, float(sum(np.abs(w).sum() for w in weights))))


@pytest.mark.sampled(96)
@pytest.mark.cpu_only("second order makes kernels of the same ops as first order does")
@pytest.mark.parametrize("case", COMPILED)
def test_second_order(case: Case) -> None:
    s = Setup(case)

    def run(x: list[Any], v: list[Any], ct: Any) -> dict[str, Any]:
        x, v, back = tuple(x), tuple(v), s.back(ct)

        def forward(*at: Any) -> Any:
            return xt.jvp(s.f, at, v)[1]

        return {
            "forward over reverse": xt.jvp(back, x, v)[1],
            "reverse over reverse": xt.vjp(back, *x)[1](v),
            "reverse over forward": xt.vjp(forward, *x)[1](ct),
            "forward over forward": xt.jvp(forward, x, v)[1],
        }

    got = s.jit(run)(s.x, s.v, s.ct)
    along = [np.asarray(v.values) for v in s.v]
    gradient = s.jit(lambda x, ct: s.back(ct)(*x))
    want = difference(lambda x: leaves(gradient(x, s.ct)), s.x, along, case.step)
    scale = max(float(np.max(np.abs(g), initial=0.0)) for g in leaves(gradient(s.x, s.ct)))
    for how in ("forward over reverse", "reverse over reverse", "reverse over forward"):
        for i, (g, w) in enumerate(zip(leaves(got[how]), want, strict=True)):
            close(g, w, f"{how}, argument {i}", scale)
    twice = inner(leaves(s.ct), leaves(got["forward over forward"]))
    close(twice, inner(want, along), "forward over forward", scale)


@pytest.mark.parametrize("case", [c for c in CASES if c.dynamic and not c.open], ids=lambda c: c.name)
def test_dynamic_dims(case: Case) -> None:
    s = Setup(case)

    def run(x: list[Any], v: list[Any], ct: Any) -> Any:
        x, v, back = tuple(x), tuple(v), s.back(ct)
        return xt.jvp(s.f, x, v), back(*x), xt.jvp(back, x, v)[1], xt.vjp(back, *x)[1](v)

    got = xt.jit(run, dynamic_dims=case.dynamic)(s.x, s.v, s.ct)
    want = xt.jit(run)(s.x, s.v, s.ct)
    for g, w in zip(xt.tree.leaves(got), xt.tree.leaves(want), strict=True):
        assert (g.dims, g.shape) == (w.dims, w.shape)
        np.testing.assert_allclose(g.values, w.values, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("case", "exact"), EXACT)
def test_exact(case: Case, exact: Exact) -> None:
    x = case.arrays(exact.at)
    run = xt.jit(lambda ct, *x: xt.vjp(case.f, *x)[1]((ct,)), dynamic_dims=case.dynamic if case.open else ())
    (y,) = xt.jit(case.f, dynamic_dims=case.dynamic if case.open else ())(*x)
    for got, expected in zip(run(xt.array(np.asarray(exact.ct), y.dims), *x), exact.gradients, strict=True):
        np.testing.assert_array_equal(got.values, np.asarray(expected))
