"""Derivatives of complex functions: finite differences along both directions, and PyTorch's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.float64
RNG = np.random.default_rng(3)
A = RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
B = RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
FUNCTIONS = [
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "conj", "cos", "cosh", "exp", "exp2", "expm1",
    "imag", "log", "log10", "log1p", "log2", "real", "reciprocal", "rsqrt", "sign", "sin", "sinh", "sqrt", "square",
    "tan", "tanh",
]  # fmt: skip
CASES: dict[str, Callable[..., Any]] = {
    "product": lambda z, w: z * w,
    "quotient": lambda z, w: z / w,
    "with real parts": lambda z, w: z * w.real / (1 + abs(z)) - z / w.imag,
    "power": lambda z, w: z**w,
    "integer powers": lambda z, w: z**5 * w**-2,
    "where": lambda z, w: xt.where(z.real > 0, z, z * w),
    "complex": lambda z, w: xt.complex(z.imag, w.real) * w,
    "dot": lambda z, w: xt.dot(z, w),
    "outer": lambda z, w: xt.dot(z, w.rename(t="s")),
    "moments": lambda z, w: z.sum() * w.mean() + xt.var(z) * xt.norm(w),
    "prod": lambda z, w: xt.prod(z) * xt.cumprod(w, "t"),
    "cumsum": lambda z, w: xt.cumsum(z) * w,
    "moved": lambda z, w: xt.concat([z, w * w], "t").pad(t=1)[::2] * 1j,
    "updated": lambda z, w: z.at(t=[0, 2]).add(w.isel(t=[1, 1])) * w,
    "multiplied": lambda z, w: z.at(t=[0, 2, 0]).multiply(w.isel(t=[1, 1, 3])) * w,
    "divided": lambda z, w: z.at(t=xt.array([0, 2, 0], "p")).divide(w.isel(t=[1, 2, 3]).rename(t="p")),
    "scan": lambda z, w: xt.scan(lambda c, x: (c * x + 1j,) * 2, w.rename(t="s"), z, dim="t"),
    "checkpoint": lambda z, w: xt.checkpoint(lambda z: xt.exp(z) * w)(z),
}


def _arrays() -> tuple[Any, Any]:
    return xt.array(A, dims="t"), xt.array(B, dims="t")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    # The slopes of the others are made of these functions.
    twice = ("abs", "angle", "asin", "atan", "exp", "log", "reciprocal", "sign", "sin", "sinh", "sqrt", "tanh")
    xt.testing.check_gradients(getattr(xt, name), _arrays()[:1], order=2 if name in twice else 1)


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str) -> None:
    xt.testing.check_gradients(CASES[name], _arrays(), order=2)


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "square of a product": lambda z, lib: (abs(z * z - (1 + 2j)) ** 2).sum(),
    "exp": lambda z, lib: (lib.exp(z) / (2 + z)).imag.sum(),
    "sqrt and log": lambda z, lib: (lib.sqrt(z) * lib.log(z)).real.sum(),
    "tanh": lambda z, lib: (lib.tanh(z) * lib.conj(z)).real.sum(),
    "angle": lambda z, lib: (lib.angle(z) * abs(z)).sum(),
    "power": lambda z, lib: abs(z ** (0.5 + 1j)).sum(),
    "asin": lambda z, lib: (lib.asin(z) + lib.acosh(z) * 1j).imag.sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, which has the same convention, is not installed")
    t = torch.tensor(A, requires_grad=True)
    loss = LOSSES[name](t, torch)
    loss.backward()
    value, gradient = xt.value_and_grad(lambda z: LOSSES[name](z, xt))(xt.array(A, dims="t"))
    np.testing.assert_allclose(value.item(), loss.item(), rtol=1e-12)
    assert gradient.dtype == "c16"
    np.testing.assert_allclose(gradient.values, t.grad.numpy(), rtol=1e-11, atol=1e-12)


def test_a_gradient_points_upwards() -> None:
    """dL/dx + i dL/dy, of |z|^2: 2 z."""
    z = xt.array([3 + 4j], "t")
    np.testing.assert_allclose(xt.grad(lambda z: (abs(z) ** 2).sum())(z).values, [6 + 8j])
    np.testing.assert_allclose(xt.grad(lambda z: z.imag.sum())(z).values, [1j])


def test_vjp_is_the_adjoint() -> None:
    """Under Re(conj(a) b): of z -> c z it multiplies by conj(c)."""
    z, w = _arrays()
    _, back = xt.vjp(lambda z: z * (2 + 1j), z)
    (got,) = back(w)
    np.testing.assert_allclose(got.values, B * (2 - 1j))
    _, pushed = xt.jvp(lambda z: z * (2 + 1j), (z,), (w,))
    np.testing.assert_allclose(pushed.values, B * (2 + 1j))


def test_where_there_is_no_derivative() -> None:
    zero = xt.zeros(t=1, dtype="c16")
    np.testing.assert_array_equal(xt.grad(lambda z: abs(z).sum())(zero).values, [0])
    np.testing.assert_array_equal(xt.grad(lambda z: xt.norm(z))(zero).values, [0])


def test_steps_against_the_gradient_descend() -> None:
    target = xt.array(B, dims="t")

    @xt.jit
    def loss(z: Any) -> Any:
        return (abs(xt.exp(z) - target) ** 2).sum()

    z = xt.zeros(t=5, dtype="c16")
    before = loss(z).item()
    for _ in range(20):
        z = z - 0.05 * xt.grad(loss)(z)
    assert loss(z).item() < before / 2


def test_jacobians() -> None:
    """Of holomorphic functions f'(z); of real results gradients; of real arguments complex. In both modes."""
    z, w = _arrays()
    scale = xt.array(np.arange(1.0, 6), "t")
    for mode in ("reverse", "forward"):
        got = xt.jacobian(lambda z: xt.exp(z) * w, mode=mode, holomorphic=True)(z)
        assert (got.dims, got.dtype) == (("t", "t'"), "c16")
        np.testing.assert_allclose(got.values, np.diag(np.exp(A) * B), atol=1e-12)
        got = xt.jacobian(lambda z: abs(z) ** 2, mode=mode)(z)
        np.testing.assert_allclose(got.values, np.diag(2 * A), atol=1e-12)
        got = xt.jacobian(lambda x: xt.exp(1j * x) * w, mode=mode)(scale)
        np.testing.assert_allclose(got.values, np.diag(1j * np.exp(1j * scale.values) * B), atol=1e-12)
        both, real = xt.jacobian(lambda z, x: z * x, wrt=(0, 1), mode=mode, holomorphic=True)(z, scale)
        np.testing.assert_allclose(both.values, np.diag(scale.values), atol=1e-12)
        np.testing.assert_allclose(real.values, np.diag(A), atol=1e-12)
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    want = jax.jacrev(lambda z: jax.numpy.sin(z) * z.sum(), holomorphic=True)(jax.numpy.asarray(A))
    got = xt.jacobian(lambda z: xt.sin(z) * z.sum(), holomorphic=True)(z)
    np.testing.assert_allclose(got.values, want, rtol=1e-10)
