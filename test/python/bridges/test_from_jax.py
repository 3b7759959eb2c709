"""xt.from_jax: functions of JAX inside of ours, held against JAX alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt

jax = pytest.importorskip("jax", reason="no jax here")
jnp = jax.numpy

pytestmark = pytest.mark.cpu_only("JAX runs on the CPU here; test_callback.py has calls on devices")

R = np.random.default_rng(0)
X = R.normal(size=(4, 3)).astype("f4")
W = R.normal(size=(3, 2)).astype("f4")
x, w = xt.array(X, ("b", "i")), xt.array(W.T.copy(), ("o", "i"))


def layer(p: Any, x: Any, n: Any) -> Any:
    return {"y": jnp.sin(x @ p["w"]), "n": n + 1}


named = xt.from_jax(
    layer,
    ({"w": xt.spec(i=3, o=2)}, xt.spec(b=None, i=3), xt.spec()),
    {"y": xt.spec(b=None, o=2, dtype="f4"), "n": xt.spec(dtype="i4")},
)
N = xt.array(2, dtype="i4")


def loss(x: Any, w: Any) -> Any:
    return xt.sum(named({"w": w}, x, N)["y"] ** 2)


def reference(x: Any, w: Any) -> Any:
    return jnp.sum(layer({"w": w}, x, 2)["y"] ** 2)


def test_values_with_dims_in_any_order() -> None:
    for f in (named, xt.jit(named)):
        found = f({"w": w}, x.transpose("i", "b"), N)
        np.testing.assert_allclose(found["y"].transpose("b", "o").values, layer({"w": W}, X, 2)["y"], rtol=1e-6)
        assert found["n"].item() == 3


def test_gradients_are_those_of_jax() -> None:
    gx, gw = xt.jit(xt.grad(loss, wrt=(0, 1)))(x, w)
    wanted = jax.grad(reference, (0, 1))(X, W)
    np.testing.assert_allclose(gx.values, wanted[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gw.transpose("i", "o").values, wanted[1], rtol=1e-5, atol=1e-6)


def test_forward_derivatives_are_those_of_jax() -> None:
    found = xt.jit(lambda x, w: xt.jvp(loss, (x, w), (x, w))[1])(x, w)
    wanted = jax.jvp(reference, (X, W), (X, W))[1]
    np.testing.assert_allclose(found.item(), wanted, rtol=1e-5)


def test_second_derivatives_are_those_of_jax() -> None:
    wanted = jax.jvp(lambda x: jax.grad(reference)(x, W), (X,), (X,))[1]
    found = xt.jit(lambda x: xt.jvp(lambda x: xt.grad(loss)(x, w), (x,), (x,))[1])(x)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-4, atol=1e-5)


def test_the_third_derivative_of_a_number() -> None:
    f = xt.from_jax(jnp.sin, xt.spec(), xt.spec(dtype="f4"))
    third = xt.jit(xt.grad(xt.grad(xt.grad(f))))
    np.testing.assert_allclose(third(xt.array(0.3, dtype="f4")).item(), -np.cos(0.3), rtol=1e-5)


def test_instances_and_open_sizes() -> None:
    f = xt.from_jax(lambda x: jnp.sort(x) ** 2, xt.spec(i=None), xt.spec(i=None, dtype="f4"))
    each = xt.vectorize(xt.grad(lambda x: xt.sum(f(x) * x)), dims="b")
    wanted = jax.vmap(jax.grad(lambda x: jnp.sum(jnp.sort(x) ** 2 * x)))(X)
    np.testing.assert_allclose(xt.jit(each)(x).values, wanted, rtol=1e-5)
    np.testing.assert_allclose(xt.jit(each, dynamic_dims=("b",))(x).values, wanted, rtol=1e-5)


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(xt.DimensionError, match=r"array 1 among the arguments of layer is \(b: 4\), .*\(b, i\). Ren"):
        named({"w": w}, x.isel(i=0), N)
    with pytest.raises(xt.DimensionError, match=r"array 1 .*Write xt.array\(x, dims=\('b', 'i'\)\)"):
        named({"w": w}, x.values, N)
    with pytest.raises(xt.ArgumentError, match=r"layer was given .*, and args= says"):
        named(w, x, N)
    with pytest.raises(xt.ArgumentTypeError, match=r"from_jax\(args=\): a type for each array is needed"):
        xt.from_jax(layer, "x", xt.spec())
    wrong = xt.from_jax(jnp.sin, xt.spec(i=None), xt.spec(i=None, dtype="f8"))
    with pytest.raises(xt.DTypeError, match=r"sin returned at .0. float32 \(i: 3\), and result= says float64"):
        xt.jit(wrong)(x.isel(b=0))
    pair = xt.from_jax(lambda x: (x, x), xt.spec(i=None), xt.spec(i=None, dtype="f4"))
    with pytest.raises(xt.ArgumentError, match="and result= says"):
        pair(x.isel(b=0))


def test_keywords_are_those_of_the_function() -> None:
    f = xt.from_jax(lambda a, b: a - 2 * b, (xt.spec(i=3), xt.spec(i=3)), xt.spec(i=3, dtype="f4"))
    a, b = (xt.array(v, "i", dtype="f4") for v in ([1.0, 2.0, 3.0], [5.0, 4.0, 3.0]))
    np.testing.assert_array_equal(f(b=b, a=a).values, [-9.0, -6.0, -3.0])
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.from_jax: <lambda>: missing a required argument: 'b'"):
        f(a=a)
    g = xt.from_jax(lambda a, *, b: a * b, (xt.spec(i=3),), xt.spec(i=3, dtype="f4"))
    with pytest.raises(xt.ArgumentTypeError, match="was given b by keyword, and args= has arguments by position"):
        g(a, b=b)


def test_sizes_are_those_of_args() -> None:
    f = xt.from_jax(jnp.sum, xt.spec(i=3, j=None), xt.spec(dtype="f4"))
    assert f(xt.ones(i=3, j=5, dtype="f4")).item() == 15.0
    for g in (f, xt.jit(f), xt.jit(f, dynamic_dims="j")):
        with pytest.raises(xt.SizeError, match=r"array 0 among the arguments of sum is .* args= says \(i: 3, j: "):
            g(xt.ones(i=4, j=5, dtype="f4"))


def test_derivatives_at_float64_where_jax_computes_in_float32() -> None:
    """They have the dtypes of the arguments, as all derivatives."""
    with jax.enable_x64(False):
        check_float64_arguments()


def check_float64_arguments() -> None:
    f = xt.from_jax(jnp.sin, xt.spec(i=None), xt.spec(i=None, dtype="f4"))
    at = xt.array([0.25, 0.5], "i")
    found = xt.grad(lambda x: xt.sum(f(x)))(at)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.values, np.cos(at.values), rtol=1e-6)
    y, dy = xt.jvp(f, (at,), (at,))
    assert (y.dtype, dy.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(dy.values, np.cos(at.values) * at.values, rtol=1e-6)
