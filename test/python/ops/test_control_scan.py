"""Scans against loops in NumPy and against JAX's lax: values, structures, dtypes, sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import xtensor as xt
from against import eager_and_jit as both
from against import finished
from against import jax_or_skip as peer
from functions import FUNCTIONS

RNG = np.random.default_rng(7)
XS = RNG.normal(size=(6, 3)).astype("f4")


def arr(values: Any, *dims: str) -> xt.Array:
    return xt.array(np.asarray(values), dims=dims)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dims", [("t", "i"), ("i", "t")])
def test_scan_is_a_loop(reverse: bool, dims: tuple[str, ...]) -> None:
    jax = peer()
    jnp = jax.numpy
    lax = jax.lax
    x = arr(XS, "t", "i").transpose(*dims)

    def f(x: Any) -> Any:
        return xt.scan(lambda c, e: (c * 0.5 + e, c * e), xt.zeros(i=3, dtype="f4"), x, dim="t", reverse=reverse)

    want, ys = lax.scan(lambda c, e: (c * 0.5 + e, c * e), jnp.zeros(3), jnp.asarray(XS), reverse=reverse)
    for carry, stacked in both(f, x):
        np.testing.assert_allclose(carry.values, np.asarray(want), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(stacked.values, np.asarray(ys), rtol=1e-5, atol=1e-6)
        assert stacked.dims == ("t", "i")


@pytest.mark.parametrize("n", [0, 1, 2, 17])
@pytest.mark.parametrize("reverse", [False, True])
def test_lengths(n: int, reverse: bool) -> None:
    x = RNG.normal(size=n)
    carry, ys = xt.scan(lambda c, e: (c + e, c), 1.0, arr(x, "t"), dim="t", reverse=reverse)
    want, stacked = 1.0, np.zeros(n)
    for k in range(n)[:: -1 if reverse else 1]:
        stacked[k] = want
        want += x[k]
    np.testing.assert_allclose(carry.item(), want)
    np.testing.assert_allclose(ys.values, stacked)
    carry, ys = xt.scan(lambda c, _: (c * 2, c), xt.ones(i=2), dim="u", length=n)
    assert (carry.values == 2.0**n).all() and ys.sizes == {"u": n, "i": 2}


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class State:
    total: Any
    seen: Any


def test_pytrees_everywhere() -> None:
    xs = {"a": arr(XS, "t", "i"), "b": [arr(np.arange(6), "t")]}

    def step(c: State, x: Any) -> tuple[State, Pair]:
        return State(c.total + x["a"], c.seen + x["b"][0]), Pair(x["a"].sum(), {"n": c.seen})

    for carry, ys in both(lambda xs: xt.scan(step, State(xt.zeros(i=3, dtype="f4"), 0), xs, dim="t"), xs):
        assert isinstance(carry, State) and isinstance(ys, Pair)
        np.testing.assert_allclose(carry.total.values, XS.sum(0), rtol=1e-5)
        assert carry.seen.item() == 15 and carry.seen.dtype == np.int64
        np.testing.assert_allclose(ys.left.values, XS.sum(1), rtol=1e-5)
        np.testing.assert_array_equal(ys.right["n"].values, [0, 0, 1, 3, 6, 10])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "i8", "f2", "bfloat16", "f4", "f8"])
@pytest.mark.parametrize("dims", [(), ("i",)])
def test_carries_of_any_dtype(dtype: str, dims: tuple[str, ...]) -> None:
    x = xt.array(np.array([[1, 0, 2], [1, 1, 0], [0, 3, 1]])[:, : 3 if dims else 1], ("t", "i")).astype(dtype)
    if not dims:
        x = x.squeeze("i")
    op = (lambda a, b: a ^ b) if dtype == "?" else (lambda a, b: a + b)
    carry, ys = xt.scan(lambda c, e: (op(c, e), op(c, e)), x.isel(t=0), x, dim="t")
    values = x.astype("i8").values
    want = values[0] ^ values[0] ^ values[1] ^ values[2] if dtype == "?" else values[0] + values.sum(0)
    assert carry.dtype == x.dtype and ys.dtype == x.dtype
    np.testing.assert_array_equal(carry.astype("i8").values, want)
    np.testing.assert_array_equal(ys.astype("i8").values[-1], want)


OTHERS = ["floor", "ceil", "round", "abs", "square", "sigmoid", "softplus", "gelu", "isfinite", "sign"]  # fmt: skip


@pytest.mark.parametrize("name", [*FUNCTIONS, *OTHERS])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_numbers_are_computed_as_arrays_are(name: str, dtype: str) -> None:
    """A carry without dims is a number in a register, not an array: other code, the same values."""
    x = arr(np.array([0.1, 0.7, 1.3, 0.9], dtype), "t")
    f = getattr(xt, name)
    ys = xt.map(f, x, dim="t")
    tolerance = {"f2": 2e-3, "f4": 1e-6, "f8": 1e-14}[dtype]
    np.testing.assert_allclose(ys.values.astype("f8"), f(x).values.astype("f8"), rtol=tolerance)
    assert ys.dtype == f(x).dtype


def test_what_the_body_reads_from_outside() -> None:
    w = arr(RNG.normal(size=(3, 3)), "i", "j")
    table = arr(np.arange(12.0).reshape(4, 3), "k", "i")

    def f(x: Any, n: Any) -> Any:
        bias = xt.exp(w).sum("j")

        def step(c: Any, e: Any) -> Any:
            mixed = xt.dot(c, w, dim="i").rename(j="i")
            return xt.tanh(mixed + e + bias) + table.isel(k=n), mixed.sum() + w.transpose("j", "i").rename(i="k").sum()

        return xt.scan(step, xt.zeros(i=3), x, dim="t")

    x = RNG.normal(size=(6, 3))
    c, sums = np.zeros(3), []
    for e in x:
        mixed = c @ w.values
        sums.append(mixed.sum() + w.values.sum())
        c = np.tanh(mixed + e + np.exp(w.values).sum(1)) + table.values[2]
    for carry, ys in both(f, arr(x, "t", "i"), 2):
        np.testing.assert_allclose(carry.values, c, rtol=1e-6)
        np.testing.assert_allclose(ys.values, sums, rtol=1e-6)


@pytest.mark.parametrize("view", ["reversed", "strided", "merged", "renamed", "broadcast", "iota", "number"])
def test_views_are_scanned_over(view: str) -> None:
    values = RNG.normal(size=(6, 4))
    x = arr(values, "t", "i")
    seen, made = {
        "reversed": (values[::-1], lambda x: xt.flip(x, dim="t")),
        "strided": (values[1:6:2], lambda x: x.isel(t=slice(1, 6, 2))),
        "merged": (values.reshape(24, 1), lambda x: x.stack(z=("t", "i")).rename(z="t")),
        "renamed": (values.T, lambda x: x.rename(t="i", i="t")),
        "broadcast": (np.full((5, 1), values.sum()), lambda x: x.sum().broadcast_like(xt.zeros(t=5))),
        "iota": (np.arange(6.0)[:, None], lambda x: xt.arange(6.0, dim="t")),
        "number": (np.full((5, 1), 3.0), lambda x: xt.full({"t": 5}, 3.0)),
    }[view]

    def f(x: Any) -> Any:
        return xt.scan(lambda c, e: (c * 0.9 + e.sum(), c), 0.0, made(x), dim="t")

    want = 0.0
    for e in seen:
        want = want * 0.9 + e.sum()
    for carry, ys in both(f, x):
        np.testing.assert_allclose(carry.item(), want)
        assert ys.sizes == {"t": len(seen)}


def test_scans_nest() -> None:
    jax = peer()
    jnp = jax.numpy
    lax = jax.lax
    x = arr(XS.astype("f8"), "t", "i")

    def f(x: Any) -> Any:
        def outer(c: Any, row: Any) -> Any:
            inner, ys = xt.scan(lambda a, e: (a * e + 1, a), c, row, dim="i")
            return inner, (ys, xt.fori_loop(0, 3, lambda k, s: s + k * row, row))

        return xt.scan(outer, 0.0, x, dim="t")

    def g(x: Any) -> Any:
        def outer(c: Any, row: Any) -> Any:
            inner, ys = lax.scan(lambda a, e: (a * e + 1, a), c, row)
            return inner, (ys, lax.fori_loop(0, 3, lambda k, s: s + k * row, row))

        return lax.scan(outer, 0.0, x)

    with jax.enable_x64(True):
        want, (ys, loops) = jax.tree.map(np.asarray, g(jnp.asarray(XS, jnp.float64)))
    for carry, (got, also) in both(f, x):
        np.testing.assert_allclose(carry.item(), want)
        np.testing.assert_allclose(got.values, ys)
        np.testing.assert_allclose(also.values, loops)
        assert got.dims == ("t", "i")


def test_a_scan_in_a_branch_in_a_scan() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, e: Any) -> Any:
            c = xt.cond(e.sum() > 0, lambda: xt.scan(lambda a, v: (a + v, a), c, e, dim="i")[0], lambda: c - 1)
            return c, c

        return xt.scan(step, 0.0, x, dim="t")[1]

    want, c = [], 0.0
    for e in XS.astype("f8"):
        c = c + e.sum() if e.sum() > 0 else c - 1
        want.append(c)
    for ys in both(f, arr(XS.astype("f8"), "t", "i")):
        np.testing.assert_allclose(ys.values, want)


def test_carries_swap_places() -> None:
    a, b = arr(np.arange(3.0), "i"), arr(np.arange(3.0) + 10, "i")
    (x, y), _ = xt.scan(lambda c, _: ((c[1], c[0] + c[1]), c[0]), (a, b), dim="t", length=5)
    u, v = a.values, b.values
    for _ in range(5):
        u, v = v, u + v
    np.testing.assert_array_equal(x.values, u)
    np.testing.assert_array_equal(y.values, v)


def test_a_carry_that_is_read_across() -> None:
    """The next value of each element needs old values of others: no update in place may show."""
    x = arr(np.arange(5.0), "i")
    y = xt.fori_loop(0, 4, lambda _, c: xt.roll(c, {"i": 1}) + c, x)
    want = np.arange(5.0)
    for _ in range(4):
        want = np.roll(want, 1) + want
    np.testing.assert_array_equal(y.values, want)


def test_large_carries_run_in_parallel_loops() -> None:
    jax = peer()
    jnp = jax.numpy
    lax = jax.lax
    x = RNG.normal(size=(300, 400)).astype("f4")

    def f(x: Any) -> Any:
        def step(c: Any, k: Any) -> Any:
            c = xt.sin(c) + xt.roll(c, {"j": 1}) * 0.25 + k
            return c, c.mean("j")

        return xt.scan(step, x, xt.arange(4.0, dim="k").astype("f4"), dim="k")

    def g(x: Any) -> Any:
        def step(c: Any, k: Any) -> Any:
            c = jnp.sin(c) + jnp.roll(c, 1, 1) * 0.25 + k
            return c, c.mean(1)

        return lax.scan(step, x, jnp.arange(4.0, dtype=x.dtype))

    want, means = g(jnp.asarray(x))
    carry, ys = xt.jit(f)(arr(x, "i", "j"))
    np.testing.assert_allclose(carry.values, np.asarray(want), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(ys.values, np.asarray(means), rtol=2e-5, atol=2e-5)


def test_arguments_are_not_written() -> None:
    x = arr(np.ones(4), "i")
    xt.jit(lambda x: xt.fori_loop(0, 3, lambda _, c: c * 2, x))(x)
    assert (x.values == 1).all()


def test_dynamic_sizes() -> None:
    f = xt.jit(lambda x: xt.scan(lambda c, e: (c * 0.5 + e, e.sum()), x.sum("t"), x, dim="t"), dynamic_dims=("t", "i"))
    for n, m in ((4, 3), (0, 2), (7, 5)):
        x = RNG.normal(size=(n, m))
        carry, ys = f(arr(x, "t", "i"))
        want = x.sum(0)
        for e in x:
            want = want * 0.5 + e
        np.testing.assert_allclose(carry.values, want)
        np.testing.assert_allclose(ys.values, x.sum(1))
    g = xt.jit(lambda x: xt.scan(lambda c, _: (c + 1, x * c), 0.0, dim="u", length=x.sizes["t"]), dynamic_dims="t")
    _, ys = g(arr(np.ones(3), "t").rename(t="t"))
    assert ys.shape == (3, 3)


def test_indices_out_of_range_inside() -> None:
    x = arr(np.arange(4.0), "a")

    def f(x: Any, i: Any) -> Any:
        return xt.scan(lambda c, k: (c + x.isel(a=k), c), 0.0, i, dim="t")[0]

    assert xt.jit(f)(x, arr([1, -1, 3], "t")).item() == 7
    with pytest.raises(xt.IndexError, match=r"'a'.*4|4.*'a'"):
        finished(xt.jit(f)(x, arr([1, 4, 0], "t")))


def test_a_gather_that_never_runs_does_not_raise() -> None:
    x = arr(np.arange(4.0), "a")
    f = xt.jit(lambda i, n: xt.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + x.isel(a=i)), (0, 0.0)))
    assert f(9, 0)[1].item() == 0.0
    with pytest.raises(xt.IndexError):
        finished(f(9, 1))


def test_a_dim_that_is_misspelt() -> None:
    with pytest.raises(xt.DimensionError, match=r"there is no dim 'tim' in xs.*did you mean 'time'\?"):
        xt.scan(lambda c, x: (c + x, c), 0.0, xt.ones(time=3), dim="tim")
