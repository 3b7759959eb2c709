"""All transforms nest in any order: every ordered pair of them, and a sample of triples.

Each transform here takes a function of one number to another function of one number, so that they compose. What it
should give is said a second time in JAX with nothing but `jax.grad` and Python loops: a batch is the stack of its
instances, a scan is its steps one after another.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)

Function = Callable[[Any], Any]
OFFSETS = np.array([-0.7, 0.1, 0.45])
WEIGHTS = np.array([0.5, -1.0, 2.0])
STEPS = np.array([0.3, -0.2, 0.4])
AT = (0.35, -0.6)
DIMS = itertools.count()


def base(x: Any) -> Any:
    return xt.sin(x) * x + 0.5 * x**2


def base_jax(x: Any) -> Any:
    return jnp.sin(x) * x + 0.5 * x**2


def named(values: np.ndarray, dim: str) -> xt.Array:
    return xt.array(values, dim)


# -- ours: a function of one number to a function of one number --------------------------------------


def jit(f: Function) -> Function:
    return xt.jit(f)


def grad(f: Function) -> Function:
    return xt.grad(f)


def value_and_grad(f: Function) -> Function:
    def g(x: Any) -> Any:
        y, dy = xt.value_and_grad(f)(x)
        return y + 2 * dy

    return g


def vjp(f: Function) -> Function:
    def g(x: Any) -> Any:
        y, back = xt.vjp(f, x)
        return y + back(3.0 * xt.ones_like(y))[0]

    return g


def jvp(f: Function) -> Function:
    def g(x: Any) -> Any:
        y, dy = xt.jvp(f, (x,), (0.5 * xt.ones_like(x),))
        return y - dy

    return g


def vectorize(f: Function) -> Function:
    v = f"v{next(DIMS)}"  # a name that is batched outside cannot be used inside

    def g(x: Any) -> Any:
        def instance(offset: Any, weight: Any) -> Any:
            return f(x + offset) * weight

        return xt.sum(xt.vectorize(instance, v)(named(OFFSETS, v), named(WEIGHTS, v)))

    return g


def jacobian(f: Function) -> Function:
    """Reverse mode inside, as dims (o, i) of a function of a vector."""

    def g(x: Any) -> Any:
        z = x * named(STEPS, "i")
        j = xt.jacobian(lambda z: f(xt.sum(z)) * named(WEIGHTS, "o"))(z)
        return xt.sum(j * named(STEPS, "i") * named(OFFSETS, "o"))

    return g


def jacobian_forward(f: Function) -> Function:
    def g(x: Any) -> Any:
        z = x * named(STEPS, "i")
        j = xt.jacobian(lambda z: f(xt.sum(z)) * named(WEIGHTS, "o"), mode="forward")(z)
        return xt.sum(j * named(STEPS, "i") * named(OFFSETS, "o"))

    return g


def hessian(f: Function) -> Function:
    def g(x: Any) -> Any:
        z = x * named(STEPS, "i")
        h = xt.hessian(lambda z: f(xt.sum(z)))(z)
        return xt.sum(h * named(WEIGHTS, "i") * named(STEPS, "i'"))

    return g


def hvp(f: Function) -> Function:
    return lambda x: xt.hvp(f, (x,), (2.0 * xt.ones_like(x),))


def linearize(f: Function) -> Function:
    def g(x: Any) -> Any:
        y, forward = xt.linearize(f, x)
        return y + forward(0.25 * xt.ones_like(x))

    return g


def checkpoint(f: Function) -> Function:
    return xt.checkpoint(f)


def custom_derivative(f: Function) -> Function:
    """Both directions, by rules that give the derivative that there is anyway."""
    g = xt.custom_derivative(lambda x: f(x))
    g.defpullback(lambda x: (f(x), x), lambda x, ct: (xt.grad(f)(x) * ct,))
    g.defpushforward(lambda primals, tangents: xt.jvp(f, primals, tangents))
    return g


def scan(f: Function) -> Function:
    def g(x: Any) -> Any:
        return xt.scan(lambda c, s: (0.5 * c + s * f(c), None), x, named(STEPS, "t"), dim="t")[0]

    return g


def cond(f: Function) -> Function:
    return lambda x: xt.cond(x > 0.2, f, lambda x: x - 2 * f(x), x)


# -- the same in JAX ----------------------------------------------------------------------------------


def in_jax(name: str, f: Function) -> Function:
    d = jax.grad(f)
    total = float(STEPS.sum())
    if name in ("jit", "checkpoint", "custom_derivative"):
        return f
    if name == "grad":
        return d
    if name == "value_and_grad":
        return lambda x: f(x) + 2 * d(x)
    if name == "vjp":
        return lambda x: f(x) + 3 * d(x)
    if name == "jvp":
        return lambda x: f(x) - 0.5 * d(x)
    if name == "linearize":
        return lambda x: f(x) + 0.25 * d(x)
    if name == "vectorize":
        return lambda x: sum(w * f(x + o) for o, w in zip(OFFSETS, WEIGHTS, strict=True))
    if name in ("jacobian", "jacobian_forward"):
        # d/dz_i of f(sum z) w_o is f'(x sum c) w_o for every i.
        return lambda x: d(x * total) * total * float(WEIGHTS @ OFFSETS)
    if name == "hessian":
        return lambda x: jax.grad(d)(x * total) * float(WEIGHTS.sum() * STEPS.sum())
    if name == "hvp":
        return lambda x: 2 * jax.grad(d)(x)
    if name == "scan":

        def steps(x: Any) -> Any:
            for s in STEPS:
                x = 0.5 * x + s * f(x)
            return x

        return steps
    assert name == "cond", name
    return lambda x: jnp.where(x > 0.2, f(x), x - 2 * f(x))


ALL = (
    jit, grad, value_and_grad, vjp, jvp, linearize, vectorize, jacobian, jacobian_forward, hessian, hvp, checkpoint,
    custom_derivative, scan, cond,
)  # fmt: skip
TRANSFORMS: dict[str, Callable[[Function], Function]] = {t.__name__: t for t in ALL}


def check(names: tuple[str, ...]) -> None:
    """The transforms `names`, the first one outermost, applied to `base`."""
    ours, theirs = base, base_jax
    for name in reversed(names):
        ours, theirs = TRANSFORMS[name](ours), in_jax(name, theirs)
    for at in AT:
        want = float(theirs(at))
        got = ours(xt.array(at))
        assert got.dims == (), names
        np.testing.assert_allclose(got.values, want, rtol=1e-8, atol=1e-9, err_msg=f"eager, at {at}")
        np.testing.assert_allclose(xt.jit(ours)(at).values, want, rtol=1e-8, atol=1e-9, err_msg=f"jit, at {at}")


@pytest.mark.parametrize("name", TRANSFORMS)
def test_one(name: str) -> None:
    check((name,))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_pairs(outer: str) -> None:
    for inner in TRANSFORMS:
        check((outer, inner))


TRIPLES = random.Random(3).sample(list(itertools.product(TRANSFORMS, repeat=3)), 60)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("names", TRIPLES, ids="-".join)
def test_triples(names: tuple[str, ...]) -> None:
    check(names)
