"""jacobian, hessian and hvp: dims, names, structures, both modes; against JAX and closed forms."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

RNG = np.random.default_rng(4)
MODES = ("reverse", "forward")


def peer() -> Any:
    """JAX with 64 bits, or a skip that says why."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
    jax.config.update("jax_enable_x64", True)
    return jax


def named(**sizes: int) -> xt.Array:
    return xt.array(RNG.standard_normal(tuple(sizes.values())), tuple(sizes))


def both(f: Callable[..., Any], *args: Any, **options: Any) -> list[Any]:
    return [xt.jacobian(f, mode=mode, **options)(*args) for mode in MODES]


# -- dims ---------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_repeated_dim_is_primed(mode: str) -> None:
    x = named(i=3)
    j = xt.jacobian(lambda x: xt.sin(x), mode=mode)(x)
    assert j.dims == ("i", "i'")
    np.testing.assert_allclose(j.values, np.diag(np.cos(x.values)), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_dims_of_the_result_then_of_the_argument(mode: str) -> None:
    jax = peer()
    jnp = jax.numpy
    x, w = named(i=3, j=2), named(j=2, o=4)
    j = xt.jacobian(lambda x: xt.tanh(xt.dot(x, w, dim="j")), mode=mode)(x)
    assert j.dims == ("i", "o", "i'", "j") and j.sizes == {"i": 3, "o": 4, "i'": 3, "j": 2}
    want = jax.jit(jax.jacobian(lambda x: jnp.tanh(x @ w.values)))(x.values)
    np.testing.assert_allclose(j.values, want, rtol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_results_and_arguments_without_dims(mode: str) -> None:
    x = named(i=3)
    gradient = xt.jacobian(lambda x: xt.sum(x**2), mode=mode)(x)
    assert gradient.dims == ("i",)
    np.testing.assert_allclose(gradient.values, 2 * x.values)
    column = xt.jacobian(lambda t: xt.sin(t * x), mode=mode)(2.0)
    assert column.dims == ("i",)
    np.testing.assert_allclose(column.values, np.cos(2 * x.values) * x.values)
    assert xt.jacobian(lambda t: t**3, mode=mode)(2.0).item() == 12


def test_primes_of_what_is_primed() -> None:
    x = named(i=2)
    first = xt.jacobian(lambda x: x**3)
    second = xt.jacobian(first, mode="forward")(x)
    third = xt.jacobian(xt.jacobian(first))(x)
    assert second.dims == ("i", "i'", "i''") and third.dims == ("i", "i'", "i''", "i'''")
    want = np.zeros((2,) * 4)
    want[range(2), range(2), range(2), range(2)] = 6
    np.testing.assert_allclose(third.values, want, atol=1e-12)
    y = x.rename(i="i'")
    assert xt.jacobian(lambda y: y * xt.sum(y))(y).dims == ("i'", "i''")
    assert xt.jacobian(lambda x: x * y)(x).dims == ("i", "i'", "i''")


@pytest.mark.parametrize("mode", MODES)
def test_swapped_names(mode: str) -> None:
    x = named(i=2, j=2)
    j = xt.jacobian(lambda x: x.rename(i="j", j="i"), mode=mode)(x)
    assert j.dims == ("j", "i", "i'", "j'")
    # The result's (j, i) element is the argument's (i, j) one.
    want = np.einsum("ac,bd->abcd", np.eye(2), np.eye(2))
    np.testing.assert_array_equal(j.values, want)


@pytest.mark.parametrize("mode", MODES)
def test_sizes_zero_and_one(mode: str) -> None:
    for n in (0, 1):
        j = xt.jacobian(lambda x: xt.exp(x), mode=mode)(named(i=n))
        assert j.shape == (n, n)


@pytest.mark.parametrize("mode", MODES)
def test_dynamic_sizes(mode: str) -> None:
    f = xt.jit(xt.jacobian(lambda x: xt.sin(x) * xt.sum(x), mode=mode), dynamic_dims=("i",))
    for n in (2, 4):
        x = named(i=n)
        s = x.values
        want = np.diag(np.cos(s) * s.sum()) + np.sin(s)[:, None]
        np.testing.assert_allclose(f(x).values, want, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_dtypes(dtype: str) -> None:
    x = named(i=3).astype(dtype)
    a, b = both(lambda x: x * x, x)
    assert a.dtype == b.dtype == np.dtype(dtype)
    np.testing.assert_allclose(a.values, b.values)


# -- structures ---------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_pytrees(mode: str) -> None:
    jax = peer()
    jnp = jax.numpy
    params = {"w": named(i=3, o=2), "b": named(o=2)}
    x = named(i=3)

    def f(params: Any, x: Any) -> Any:
        h = xt.dot(x, params["w"], dim="i") + params["b"]
        return {"h": xt.tanh(h), "total": (h.sum(),)}

    j = xt.jacobian(f, mode=mode)(params, x)
    assert j["h"]["w"].dims == ("o", "i", "o'") and j["h"]["b"].dims == ("o", "o'")
    assert j["total"][0]["w"].dims == ("i", "o")

    def g(w: Any, b: Any) -> Any:
        h = x.values @ w + b
        return jnp.tanh(h), h.sum()

    want = jax.jit(jax.jacobian(g, argnums=(0, 1)))(params["w"].values, params["b"].values)
    np.testing.assert_allclose(j["h"]["w"].values, want[0][0], rtol=1e-9)
    np.testing.assert_allclose(j["h"]["b"].values, want[0][1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(j["total"][0]["w"].values, want[1][0], rtol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_several_arguments(mode: str) -> None:
    x, y = named(i=3), named(j=2)
    jx, jy = xt.jacobian(lambda x, y: x * y**2, wrt=(0, 1), mode=mode)(x, y)
    assert jx.dims == ("i", "j", "i'") and jy.dims == ("i", "j", "j'")
    by_name = xt.jacobian(lambda x, y: x * y**2, wrt="y", mode=mode)(x, y=y)
    np.testing.assert_allclose(by_name.values, jy.values)


@pytest.mark.parametrize("mode", MODES)
def test_aux(mode: str) -> None:
    x = named(i=3)
    j, aux = xt.jacobian(lambda x: (x**2, {"sum": x.sum(), "n": 3}), mode=mode, has_aux=True)(x)
    np.testing.assert_allclose(j.values, np.diag(2 * x.values))
    assert aux["sum"].item() == pytest.approx(x.values.sum()) and int(aux["n"]) == 3
    h, aux = xt.hessian(lambda x: (xt.sum(x**3), x.max()), has_aux=True)(x)
    np.testing.assert_allclose(h.values, np.diag(6 * x.values), atol=1e-12)
    assert aux.item() == x.values.max()


# -- second order -------------------------------------------------------------


def test_hessian() -> None:
    jax = peer()
    jnp = jax.numpy
    x = named(i=3, j=2)
    f = lambda x: xt.sum(xt.sin(x) * xt.mean(x, dim="i"))  # noqa: E731
    h = xt.hessian(f)(x)
    assert h.dims == ("i", "j", "i'", "j'")
    want = jax.jit(jax.hessian(lambda x: jnp.sum(jnp.sin(x) * jnp.mean(x, axis=0))))(x.values)
    np.testing.assert_allclose(h.values, want, rtol=1e-9, atol=1e-12)


def test_hessian_of_several_arguments() -> None:
    x, y = named(i=3), named(j=2)
    h = xt.hessian(lambda x, y: xt.sum(xt.exp(x * y)), wrt=(0, 1))(x, y)
    assert h[0][1].dims == ("i", "j") and h[1][0].dims == ("j", "i") and h[1][1].dims == ("j", "j'")
    np.testing.assert_allclose(h[0][1].values, h[1][0].values.T, rtol=1e-12)


def test_product_with_the_hessian() -> None:
    x, v = named(i=3, j=2), named(i=3, j=2)
    f = lambda x: xt.sum(xt.sin(x) * xt.mean(x, dim="i"))  # noqa: E731
    product = xt.hvp(f, (x,), (v,))
    assert product.dims == x.dims
    want = np.einsum("abcd,cd->ab", xt.hessian(f)(x).values, v.values)
    np.testing.assert_allclose(product.values, want, rtol=1e-9)
    inside = xt.jit(lambda x, v: xt.hvp(f, (x,), (v,)))(x, v)
    np.testing.assert_allclose(inside.values, want, rtol=1e-9)


def test_product_of_several_primals() -> None:
    x, y, n = named(i=3), named(j=2), xt.array(2)
    v, w = named(i=3), named(j=2)
    f = lambda x, y, n: xt.sum(xt.exp(x * y)) * n  # noqa: E731
    px, py, pn = xt.hvp(f, (x, y, n), (v, w, None))
    h = xt.hessian(f, wrt=(0, 1))(x, y, n)
    np.testing.assert_allclose(px.values, h[0][0].values @ v.values + h[0][1].values @ w.values, rtol=1e-9)
    np.testing.assert_allclose(py.values, h[1][0].values @ v.values + h[1][1].values @ w.values, rtol=1e-9)
    assert pn is None
    only, _, _ = xt.hvp(f, (x, y, n), (v, None, None))
    np.testing.assert_allclose(only.values, h[0][0].values @ v.values, rtol=1e-9)


def test_product_in_a_pytree() -> None:
    p = {"a": named(i=2), "b": [named(j=3)]}
    v = {"a": named(i=2), "b": [named(j=3)]}
    product = xt.hvp(lambda p: xt.sum(p["a"] ** 3) + xt.sum(p["b"][0] ** 2), (p,), (v,))
    np.testing.assert_allclose(product["a"].values, 6 * p["a"].values * v["a"].values)
    np.testing.assert_allclose(product["b"][0].values, 2 * v["b"][0].values)


# -- errors -------------------------------------------------------------------


def test_results_that_have_no_derivative() -> None:
    with pytest.raises(xt.DTypeError, match=r"result\[1\] of .* int64.*has_aux"):
        xt.jacobian(lambda x: (x, xt.argmax(x, dim="i")))(named(i=3))
    with pytest.raises(xt.DTypeError, match="argument 'n' is int64"):
        xt.jacobian(lambda x, n: x * n, wrt="n")(named(i=3), 2)


def test_bad_arguments() -> None:
    with pytest.raises(xt.ArgumentError, match="'reverse' or 'forward'"):
        xt.jacobian(lambda x: x, mode="both")
    with pytest.raises(xt.ArgumentTypeError, match="needs a function"):
        xt.jacobian(3)  # type: ignore[arg-type]
    with pytest.raises(xt.ArgumentTypeError, match=r"\(result, aux\)"):
        xt.jacobian(lambda x: x, has_aux=True)(named(i=2))
    with pytest.raises(xt.DimensionError, match="hvp needs a loss without dims"):
        xt.hvp(lambda x: x, (named(i=2),), (named(i=2),))


def test_hvp_runs_the_function_once_for_the_types_of_its_arguments() -> None:
    runs = []

    def loss(x: Any) -> Any:
        runs.append(x)
        return xt.sum(x**3)

    for _ in range(3):
        x, v = named(i=2), named(i=2)
        np.testing.assert_allclose(xt.hvp(loss, (x,), (v,)).values, 6 * x.values * v.values)
    assert len(runs) == 1
    alive = weakref.ref(loss)
    runs.clear()
    del loss
    gc.collect()
    assert alive() is None
