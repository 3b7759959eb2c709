"""Gradients of programs over named arrays: every kind of op, against JAX on the raw data and against differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(8)
X = RNG.standard_normal((3, 4))
Y = RNG.standard_normal((4, 2))
M = RNG.standard_normal((3, 3))
P = 0.5 + RNG.random((3, 4))
K = np.array([0, 2, 2, 1, -1])
ROWS, COLS = np.array([0, 2, 2]), np.array([1, 1, 3])
MASK = np.array([True, False, True, True])


class Program(NamedTuple):
    """A loss in named arrays and the same one in JAX, with the dims of each argument."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    args: tuple[tuple[np.ndarray, tuple[str, ...]], ...]


PROGRAMS: list[Program] = []


def program(name: str, ours: Callable[..., Any], theirs: Callable[..., Any], *args: tuple[np.ndarray, Any]) -> None:
    PROGRAMS.append(Program(name, ours, theirs, tuple((v, tuple(d)) for v, d in args)))


x_ab, y_bc, m_ij, p_ab = (X, "ab"), (Y, "bc"), (M, "ij"), (P, "ab")


def indices(values: np.ndarray, *dims: str) -> xt.Array:
    return xt.array(values, dims)


# elementwise
program("elementwise", lambda x: xt.sum(xt.sin(x) * xt.exp(-x)), lambda x: jnp.sum(jnp.sin(x) * jnp.exp(-x)), x_ab)
program("y * y", lambda x: xt.sum(x * x), lambda x: jnp.sum(x * x), x_ab)
program("x ** x", lambda p: xt.sum(p**p), lambda p: jnp.sum(p**p), p_ab)
program("x / x of itself", lambda p: xt.sum(p / (1 + p) / p), lambda p: jnp.sum(p / (1 + p) / p), p_ab)
program(
    "an outer product by names",
    lambda x, y: xt.sum(xt.tanh(x * y)),
    lambda x, y: jnp.sum(jnp.tanh(x[:, :, None] * y[None])),
    x_ab, y_bc,
)  # fmt: skip
program(
    "where",
    lambda x: xt.sum(xt.where(x > 0, xt.exp(x), x**2)),
    lambda x: jnp.sum(jnp.where(x > 0, jnp.exp(x), x**2)),
    x_ab,
)
program("clip", lambda x: xt.sum(xt.clip(x, -0.5, 0.7) ** 2), lambda x: jnp.sum(jnp.clip(x, -0.5, 0.7) ** 2), x_ab)

# reductions
for reduction in ("sum", "mean", "std", "var", "max", "min", "prod"):
    for dim, axis in ((None, None), ("a", 0), ("b", 1), (("b", "a"), (0, 1))):
        program(
            f"{reduction} {dim}",
            lambda x, n=reduction, d=dim: xt.sum(getattr(xt, n)(x, dim=d) * 1.5),
            lambda x, n=reduction, a=axis: jnp.sum(getattr(jnp, n)(x, axis=a) * 1.5),
            p_ab,
        )
program("std with ddof", lambda x: xt.std(x, ddof=1), lambda x: jnp.std(x, ddof=1), x_ab)
program(
    "logsumexp",
    lambda x: xt.sum(xt.logsumexp(x, dim="b") ** 2),
    lambda x: jnp.sum(jax.scipy.special.logsumexp(x, axis=1) ** 2),
    x_ab,
)
program("norm", lambda x: xt.sum(xt.norm(x, dim="a")), lambda x: jnp.sum(jnp.linalg.norm(x, axis=0)), x_ab)
program(
    "normalised",
    lambda x: xt.sum(((x - x.mean("b")) / x.std("b")) ** 3),
    lambda x: jnp.sum(((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)) ** 3),
    x_ab,
)

# contractions
program("dot", lambda x, y: xt.sum(xt.dot(x, y, dim="b") ** 2), lambda x, y: jnp.sum((x @ y) ** 2), x_ab, y_bc)
program("@", lambda x, y: xt.sum(xt.tanh(x @ y)), lambda x, y: jnp.sum(jnp.tanh(x @ y)), x_ab, y_bc)
program("dot with itself", lambda x: xt.dot(x, x), lambda x: jnp.sum(x * x), x_ab)
program(
    "dot keeps what it is not told",
    lambda x, p: xt.sum(xt.dot(x, p, dim="b") ** 2),
    lambda x, p: jnp.sum(jnp.einsum("ab,ab->a", x, p) ** 2),
    x_ab, p_ab,
)  # fmt: skip
program(
    "three factors",
    lambda x, y, p: xt.dot(x, y, p, dim=("a", "b", "c")) ** 2,
    lambda x, y, p: jnp.einsum("ab,bc,ab->", x, y, p) ** 2,
    x_ab, y_bc, p_ab,
)  # fmt: skip

# index
program("int", lambda x: xt.sum(x.isel(b=1) ** 2), lambda x: jnp.sum(x[:, 1] ** 2), x_ab)
program("slice", lambda x: xt.sum(x.isel(b=slice(1, None, 2)) ** 3), lambda x: jnp.sum(x[:, 1::2] ** 3), x_ab)
program("slice backwards", lambda x: xt.sum(x[:, ::-2] ** 3 * Y2), lambda x: jnp.sum(x[:, ::-2] ** 3 * Y2.values), x_ab)
Y2 = xt.array(Y[:2, :2].sum(0), "b")
program("integer array", lambda x: xt.sum(x.isel(a=indices(K % 3, "k")) ** 2), lambda x: jnp.sum(x[K % 3] ** 2), x_ab)
program(
    "pointwise",
    lambda x: xt.sum(x.isel(a=indices(ROWS, "p"), b=indices(COLS, "p")) ** 2),
    lambda x: jnp.sum(x[ROWS, COLS] ** 2),
    x_ab,
)
program(
    "outer",
    lambda x: xt.sum(x.isel(a=indices(ROWS, "p"), b=indices(COLS, "q")) ** 2),
    lambda x: jnp.sum(x[jnp.ix_(ROWS, COLS)] ** 2),
    x_ab,
)
program("list", lambda x: xt.sum(x.isel(b=[0, 0, 3]) ** 2), lambda x: jnp.sum(x[:, np.array([0, 0, 3])] ** 2), x_ab)
program("mask", lambda x: xt.sum(x.isel(b=indices(MASK, "b")) ** 2), lambda x: jnp.sum(x[:, MASK] ** 2), x_ab)
program("take", lambda x: xt.sum(xt.take(x, indices(K, "k"), dim="b") ** 2), lambda x: jnp.sum(x[:, K] ** 2), x_ab)

# shape
program(
    "concat",
    lambda x, p: xt.sum(xt.concat([x, p, x], "b") ** 3 * 2),
    lambda x, p: jnp.sum(jnp.concatenate([x, p, x], 1) ** 3 * 2),
    x_ab, p_ab,
)  # fmt: skip
program(
    "concat along a new dim",
    lambda x, p: xt.sum(xt.concat([x, p], "n").prod("n")),
    lambda x, p: jnp.sum(jnp.stack([x, p]).prod(0)),
    x_ab, p_ab,
)  # fmt: skip
program(
    "stack",
    lambda x: xt.sum(x.stack(z=("b", "a")).isel(z=slice(2, 7)) ** 2),
    lambda x: jnp.sum(x.T.reshape(-1)[2:7] ** 2),
    x_ab,
)
program(
    "unstack",
    lambda x: xt.sum(xt.std(x.unstack(b={"p": 2, "q": 2}), dim="q")),
    lambda x: jnp.sum(jnp.std(x.reshape(3, 2, 2), axis=2)),
    x_ab,
)
program("transpose", lambda m: xt.sum(m.transpose("j", "i") ** 2 * m), lambda m: jnp.sum(m**3), m_ij)
program("swapped names", lambda m: xt.sum(m * m.rename(i="j", j="i")), lambda m: jnp.sum(m * m.T), m_ij)
program(
    "swapped names in a product",
    lambda m: xt.sum(xt.dot(m, m.rename(i="j", j="k"), dim="j")),
    lambda m: jnp.sum(m @ m),
    m_ij,
)
program(
    "renamed twice",
    lambda m: xt.sum(xt.exp(m.rename(i="k").rename(j="i") + m)),
    lambda m: jnp.sum(jnp.exp(m[:, :, None] + m[None])),
    m_ij,
)
program(
    "pad, roll, flip",
    lambda x: xt.sum(xt.pad(xt.roll(xt.flip(x, "a"), {"b": 1}), {"b": (1, 2)}) ** 2 * 3),
    lambda x: jnp.sum(jnp.pad(jnp.roll(x[::-1], 1, 1), ((0, 0), (1, 2))) ** 2 * 3),
    x_ab,
)
program("broadcast_like", lambda y, x: xt.sum(y.broadcast_like(x) ** 2), lambda y, x: 3 * jnp.sum(y**2), y_bc, x_ab)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda p: p.name)
def test_equals_jax(case: Program) -> None:
    count = len(case.args)
    named = [xt.array(v, d) for v, d in case.args]
    value, gradients = xt.value_and_grad(case.ours, wrt=tuple(range(count)))(*named)
    theirs = jax.jit(jax.value_and_grad(case.theirs, argnums=tuple(range(count))))
    want_value, want = theirs(*(v for v, _ in case.args))
    np.testing.assert_allclose(value.values, want_value, rtol=1e-12)
    for (v, d), g, w in zip(case.args, gradients, want, strict=True):
        assert g.dims == d and g.dtype == v.dtype
        np.testing.assert_allclose(g.values, w, rtol=1e-10, atol=1e-12)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda p: p.name)
def test_second_order_equals_differences(case: Program) -> None:
    check_gradients(case.ours, [xt.array(v, d) for v, d in case.args], order=2)


@pytest.mark.parametrize("case", [p for p in PROGRAMS if p.name != "slice backwards"], ids=lambda p: p.name)
def test_the_stored_order_changes_nothing(case: Program) -> None:
    named = [xt.array(v, d) for v, d in case.args]
    turned = [xt.array(v.T.copy(), d[::-1]) for v, d in case.args]
    every = tuple(range(len(named)))
    for g, h in zip(xt.grad(case.ours, wrt=every)(*named), xt.grad(case.ours, wrt=every)(*turned), strict=True):
        assert h.dims == g.dims[::-1]
        np.testing.assert_allclose(h.values.T, g.values, rtol=1e-12, atol=1e-14)


# -- what has no gradient -----------------------------------------------------


def test_integers_have_none_and_no_warning() -> None:
    x, k = xt.array(X, ("a", "b")), indices(np.array([0, 2, 2]), "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = xt.grad(lambda x, k: xt.sum(x.isel(b=k) ** 2))(x, k)
        _, back = xt.vjp(lambda x, k: x * k, x, k)
        gx, gk = back(xt.ones(a=3, b=4))
        _, dy = xt.jvp(lambda x, k: (x * k, k + 1), (x, k), (x, None))
    want = np.zeros_like(X)
    want[range(3), [0, 2, 2]] = 2 * X[range(3), [0, 2, 2]]
    np.testing.assert_allclose(g.values, want)
    assert gk is None and dy[1] is None and gx.dims == ("a", "b")


def test_an_integer_asked_for_is_named() -> None:
    x, k = xt.array(X, ("a", "b")), indices(np.array([0, 1, 2]), "a")
    with pytest.raises(xt.DTypeError, match="argument 'k' is int64"):
        xt.grad(lambda x, k: xt.sum(x * k), wrt="k")(x, k)
    with pytest.raises(xt.DTypeError, match="argument 'flag' is bool"):
        xt.grad(lambda x, flag: xt.sum(xt.where(flag, x, 0.0)), wrt=1)(x, k > 0)


def test_an_index_computed_from_what_is_differentiated() -> None:
    x = xt.array([3.0, 1.0, 2.0], "a")
    g = xt.grad(lambda x: x.isel(a=xt.argmax(x, dim="a")) ** 2)(x)
    np.testing.assert_array_equal(g.values, [6, 0, 0])
    g = xt.grad(lambda x: xt.sum(x.isel(a=(x - 1).astype("i8"))))(x)
    np.testing.assert_array_equal(g.values, [1, 1, 1])


# -- singular points ----------------------------------------------------------


@pytest.mark.parametrize("dim", [None, "a", "b"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_std_of_a_constant(dim: str | None, ddof: int) -> None:
    x = xt.full({"a": 3, "b": 4}, 2.5)
    g = xt.grad(lambda x: xt.sum(xt.std(x, dim=dim, ddof=ddof)))(x)
    np.testing.assert_array_equal(g.values, np.zeros((3, 4)))
    _, t = xt.jvp(lambda x: xt.sum(xt.std(x, dim=dim, ddof=ddof)), (x,), (xt.array(X, ("a", "b")),))
    assert t.item() == 0


def test_norm_of_zero() -> None:
    g = xt.grad(lambda x: xt.norm(x))(xt.zeros(a=3))
    np.testing.assert_array_equal(g.values, np.zeros(3))


def test_ties_share() -> None:
    x = xt.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], ("a", "b"))
    g = xt.grad(lambda x: xt.sum(x.max("b")))(x)
    np.testing.assert_allclose(g.values, [[0, 0.5, 0.5], [1 / 3] * 3])


def test_the_branch_not_chosen() -> None:
    x = xt.array([-1.0, 0.0, 4.0], "a")
    g = xt.grad(lambda x: xt.sum(xt.where(x > 0, xt.sqrt(x) + xt.log(x), x)))(x)
    np.testing.assert_allclose(g.values, [1, 1, 0.5])


# -- a whole program ----------------------------------------------------------


def test_the_request_is_one_op_around_the_function() -> None:
    text = xt.jit(xt.grad(lambda x: xt.sum(xt.tanh(x)))).lower(xt.array(X, ("a", "b"))).as_text("traced")
    assert text.count("xtensor.pullback") == 1 and text.count("xtensor.apply") == 1
    assert "xtensor.tanh" in text.partition("xtensor.pullback")[2]


def test_a_model_with_parameters_in_a_tree() -> None:
    params = {"w1": xt.array(Y, ("b", "c")), "b1": xt.array(Y[0], "c"), "w2": xt.array(Y[:2, :1], ("c", "o"))}

    def loss(params: Any, x: Any) -> Any:
        h = xt.tanh(x @ params["w1"] + params["b1"])
        return xt.mean(xt.square(xt.dot(h, params["w2"], dim="c") - x.mean("b")))

    def theirs(params: Any, x: Any) -> Any:
        h = jnp.tanh(x @ params["w1"] + params["b1"])
        return jnp.mean(jnp.square(h @ params["w2"] - x.mean(1, keepdims=True)))

    got = xt.grad(loss)(params, xt.array(X, ("a", "b")))
    want = jax.jit(jax.grad(theirs))({k: v.values for k, v in params.items()}, X)
    for k in params:
        assert got[k].dims == params[k].dims
        np.testing.assert_allclose(got[k].values, want[k], rtol=1e-10)


def test_second_order_of_a_product_with_itself() -> None:
    x = xt.array(X, ("a", "b"))
    g = xt.grad(lambda x: xt.sum(xt.grad(lambda x: xt.sum(x * x * x))(x) * x))(x)
    np.testing.assert_allclose(g.values, 9 * X**2)
