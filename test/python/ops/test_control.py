"""Control flow against loops in NumPy and against JAX's lax: values, structures, dtypes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import WEAK_FLOAT, finished
from against import eager_and_jit as both
from against import jax_or_skip as peer

RNG = np.random.default_rng(7)
XS = RNG.normal(size=(6, 3)).astype("f4")


def arr(values: Any, *dims: str) -> xt.Array:
    return xt.array(np.asarray(values), dims=dims)


# -- cond and switch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [True, False])
def test_cond_runs_one_branch(p: bool) -> None:
    x = arr(XS, "t", "i")
    for y in both(lambda p, x: xt.cond(p, lambda a: a * 2, lambda a: xt.exp(a), x), np.bool_(p), x):
        np.testing.assert_allclose(y.values, XS * 2 if p else np.exp(XS), rtol=1e-6)
        assert y.dims == ("t", "i")


def test_cond_on_a_traced_predicate() -> None:
    def f(x: Any) -> Any:
        return xt.cond(x.sum() > 0, lambda: {"a": x.sum("t"), "n": 1}, lambda: {"a": x.max("t"), "n": 2})

    for sign in (1, -1):
        values = np.abs(XS) * sign
        y = xt.jit(f)(arr(values, "t", "i"))
        np.testing.assert_allclose(y["a"].values, values.sum(0) if sign > 0 else values.max(0), rtol=1e-6)
        assert y["n"].item() == (1 if sign > 0 else 2)


@pytest.mark.parametrize("i", [-5, 0, 1, 2, 9])
def test_switch_clamps(i: int) -> None:
    jax = peer()
    jnp = jax.numpy
    lax = jax.lax
    x = arr(XS, "t", "i")
    branches = [lambda a: a, lambda a: a * a, lambda a: -a]
    want = lax.switch(i, [lambda a: a, lambda a: a * a, lambda a: -a], jnp.asarray(XS))
    for y in both(lambda i, x: xt.switch(i, branches, x), i, x):
        np.testing.assert_allclose(y.values, np.asarray(want), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "u8", "i8"])
def test_switch_takes_any_integer(dtype: str) -> None:
    big = np.array(np.iinfo(dtype).max, dtype)
    assert xt.switch(big, [lambda: 0.0, lambda: 1.0, lambda: 2.0]).item() == 2.0
    assert xt.switch(np.array(1, dtype), [lambda: 0.0, lambda: 1.0, lambda: 2.0]).item() == 1.0


def test_one_branch() -> None:
    assert xt.switch(3, [lambda: 5.0]).item() == 5.0


def test_branches_give_scalars_and_arrays_and_constants() -> None:
    y = xt.jit(lambda p: xt.cond(p, lambda: (xt.ones(i=2), 1.0, True), lambda: (xt.zeros(i=2), 2.0, False)))
    on, off = y(np.bool_(True)), y(np.bool_(False))
    assert (on[0].values == 1).all() and on[1].item() == 1.0 and on[2].item() is True
    assert (off[0].values == 0).all() and off[1].item() == 2.0 and off[2].item() is False


def test_branches_align_by_name() -> None:
    x = arr(XS, "t", "i")
    y = xt.cond(True, lambda: x.transpose("i", "t"), lambda: x)
    assert y.dims == ("t", "i") or y.dims == ("i", "t")
    np.testing.assert_array_equal(y.transpose("t", "i").values, XS)


def test_keys_of_dicts_have_no_order() -> None:
    y = xt.cond(False, lambda: {"a": 1, "b": 2}, lambda: {"b": 3, "a": 4})
    assert (y["a"].item(), y["b"].item()) == (4, 3)
    start = {"a": xt.zeros(i=3, dtype="f4"), "n": 0}
    carry, _ = xt.scan(lambda c, e: ({"n": c["n"] + 1, "a": c["a"] + e}, None), start, arr(XS, "t", "i"), dim="t")
    assert carry["n"].item() == 6
    np.testing.assert_allclose(carry["a"].values, XS.sum(0), rtol=1e-5)


def test_a_python_scalar_takes_the_other_branch_s_dtype() -> None:
    x = arr(np.float32(3), *())
    assert xt.cond(False, lambda: x, lambda: 1.0).dtype == np.float32
    assert xt.cond(False, lambda: 1, lambda: x).dtype == np.float32


@pytest.mark.parametrize(
    "program",
    [
        lambda u, n: xt.cond(u > 1, lambda: u, lambda: n),
        lambda u, n: xt.cond(u > 1, lambda m: u + m, lambda m: u, n),
        lambda u, n: xt.fori_loop(0, 2, lambda i, c: c + n, u),
        lambda u, n: xt.while_loop(lambda c: c < 5, lambda c: c + n, u),
    ],
)
def test_a_python_int_must_fit_what_it_meets(program: Callable[..., Any]) -> None:
    u = xt.array(3, dtype="u1")
    assert program(u, 7).dtype == np.dtype("u1")
    for call in (program, lambda u, n: xt.jit(lambda u: program(u, n))(u), xt.jit(program)):
        with pytest.raises(xt.ArgumentError, match="300 does not fit uint8"):
            call(u, 300)


def test_only_the_branch_taken_raises() -> None:
    x, i = arr(np.arange(3.0), "a"), arr(np.int64(7))
    f = xt.jit(lambda p, i: xt.cond(p, lambda: x.isel(a=i), lambda: 0.0))
    assert f(np.bool_(False), i).item() == 0.0
    with pytest.raises(xt.IndexError, match="7"):
        finished(f(np.bool_(True), i))


# -- while, fori, map -------------------------------------------------------------------------------------------------


def test_while_against_lax() -> None:
    jax = peer()
    jnp = jax.numpy
    lax = jax.lax

    def f(x: Any) -> Any:
        return xt.while_loop(lambda s: (s[1] ** 2).sum() > 1e-3, lambda s: (s[0] + 1, s[1] * 0.7), (0, x))

    def g(x: Any) -> Any:
        return lax.while_loop(lambda s: (s[1] ** 2).sum() > 1e-3, lambda s: (s[0] + 1, s[1] * 0.7), (0, x))

    n, want = g(jnp.asarray(XS))
    for got, y in both(f, arr(XS, "t", "i")):
        assert got.item() == int(n)
        np.testing.assert_allclose(y.values, np.asarray(want), rtol=1e-5)


@pytest.mark.parametrize("n", [0, 3, 50])
def test_max_steps(n: int) -> None:
    for y in both(lambda x: xt.while_loop(lambda c: c.sum() < 100, lambda c: c + 1, x, max_steps=n), arr([0, 0], "i")):
        assert (y.values == min(n, 50)).all()


def test_a_loop_that_never_starts() -> None:
    x = arr(XS, "t", "i")
    np.testing.assert_array_equal(xt.while_loop(lambda c: False, lambda c: c * 2, x).values, XS)


@pytest.mark.parametrize("bounds", [(0, 5), (-3, 4), (5, 2), (2, 2)])
def test_fori_loop(bounds: tuple[int, int]) -> None:
    want = np.float32(1)
    for i in range(*bounds):
        want = np.float32(want * 0.5 + i)
    one = arr(np.float32(1))
    assert xt.fori_loop(*bounds, lambda i, c: c * 0.5 + i, one).item() == want
    f = xt.jit(lambda lo, hi, c: xt.fori_loop(lo, hi, lambda i, c: c * 0.5 + i, c))
    assert f(*bounds, one).item() == want and f(*bounds, one).dtype == np.float32


def test_map() -> None:
    for y in both(lambda x: xt.map(lambda r: {"s": r.sum(), "r": r * 2}, x, dim="t"), arr(XS, "t", "i")):
        np.testing.assert_allclose(y["s"].values, XS.sum(1), rtol=1e-6)
        np.testing.assert_array_equal(y["r"].values, XS * 2)


def test_a_function_is_traced_once_for_its_types() -> None:
    calls = []

    def step(c: Any, e: Any) -> Any:
        calls.append(1)
        return c + e, c

    for _ in range(3):
        xt.scan(step, arr(np.float64(0)), arr(np.arange(4.0), "t"), dim="t")
    assert len(calls) == 1
    xt.scan(step, arr(np.float64(0)), arr(np.arange(5.0), "t"), dim="t")
    assert len(calls) == 2


@pytest.mark.cpu_only("it asks for the phase `cpu`")
def test_steps_cost_no_ops() -> None:
    def text(n: int) -> str:
        f = xt.jit(lambda x: xt.scan(lambda c, e: (xt.tanh(c + e), c), xt.zeros(i=3), x, dim="t"))
        return str(f.lower(xt.spec(t=n, i=3)).as_text("cpu"))

    assert len(text(10).splitlines()) == len(text(10_000).splitlines())


def test_cost_counts_steps() -> None:
    f = xt.jit(lambda x: xt.scan(lambda c, e: (c + xt.tanh(e), None), xt.zeros(i=7), x, dim="t")[0])
    assert f.cost(xt.spec(t=100, i=7))["flops"] == 1400
    g = xt.jit(lambda x: xt.scan(lambda c, e: (c * 0.5 + e, c), 0.0, x, dim="t")[0])
    assert g.cost(xt.spec(t=100))["flops"] == 200


@pytest.mark.parametrize("dynamic", [(), ("i", "j")], ids=["static", "dynamic"])
@pytest.mark.parametrize("sizes", [(3, 4), (200, 150)], ids=["small", "parallel"])
@pytest.mark.parametrize("body", ["in place", "across", "both", "order"])
def test_a_while_loop_with_every_kind_of_update(body: str, sizes: tuple[int, int], dynamic: tuple[str, ...]) -> None:
    """In place, from neighbours, and two carries that need each other's old values."""
    a, b = RNG.normal(size=sizes), RNG.normal(size=sizes)

    def shift(m: Any, x: Any) -> Any:
        return xt.flip(x, dim="i") if m is xt else x[::-1]

    def step(m: Any, n: Any, x: Any, y: Any) -> Any:
        if body == "in place":
            return n + 1, m.tanh(x) * 0.9, y - x
        if body == "across":
            return n + 1, shift(m, x) * 0.5 + x, y
        if body == "both":
            return n + 1, shift(m, y) + 0.5 * x, m.sin(x)
        return n + 1, (y.transpose("j", "i") if m is xt else y), x

    def f(x: Any, y: Any) -> Any:
        keep_on = lambda s: (s[0] < 4) & ((s[1] * s[1]).sum() < 1e9)  # noqa: E731
        return xt.while_loop(keep_on, lambda s: step(xt, *s), (0, x, y))

    n, x, y = xt.jit(f, dynamic_dims=dynamic)(arr(a, "i", "j"), arr(b, "i", "j"))
    u, v = a, b
    for _ in range(4):
        _, u, v = step(np, 0, u, v)
    assert n.item() == 4
    np.testing.assert_allclose(x.values, u, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(y.values, v, rtol=1e-9, atol=1e-12)


def test_dataarrays_keep_the_coordinates_that_apply() -> None:
    x = xr.DataArray(XS, dims=("t", "i"), coords={"t": np.arange(6) * 10, "i": list("abc")})
    carry, ys = xt.scan(lambda c, e: (c + e, c * 2), xt.zeros(i=3, dtype="f4"), x, dim="t")
    assert isinstance(carry, xr.DataArray) and list(carry.coords["i"].values) == list("abc")
    assert list(ys.coords["t"].values) == list(range(0, 60, 10)) and list(ys.coords["i"].values) == list("abc")
    moved = xt.fori_loop(0, 2, lambda _, c: xt.flip(c, "i"), x)
    assert "i" not in moved.coords
    chosen = xt.cond(True, lambda a: a, lambda a: xt.flip(a, "i"), x)
    assert "t" in chosen.coords and "i" not in chosen.coords


# -- what is refused --------------------------------------------------------------------------------------------------

X = arr(XS, "t", "i")

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "carry dtype": (
        lambda: xt.scan(lambda c, e: (c.astype("f8"), e), X.sum("t"), X, dim="t"),
        xt.DTypeError,
        r'carry changes its type.*float32 \(i: 3\).*float64 \(i: 3\).*is the dtype.*.astype\("float64"\) on the start',
    ),
    "carry gains a dim": (
        lambda: xt.scan(lambda c, e: ({"h": c["h"] + e}, e), {"h": arr(np.float32(0))}, X, dim="t"),
        xt.DimensionError,
        r"at \['h'\].*float32 \(\).*float32 \(i: 3\).*dim 'i', which only the result has. Give the start",
    ),
    "carry loses a dim": (
        lambda: xt.fori_loop(0, 3, lambda _, c: c.sum("i"), X),
        xt.DimensionError,
        r"fori_loop.*dim 'i', which only the start has",
    ),
    "carry grows": (
        lambda: xt.while_loop(lambda c: True, lambda c: xt.concat([c, c], dim="t"), X, max_steps=3),
        xt.SizeError,
        r"the size of dim 't', 6 and 12",
    ),
    "carry structure": (
        lambda: xt.scan(lambda c, e: ({"a": c["a"]}, e), {"a": 0.0, "b": 1.0}, X, dim="t"),
        xt.ArgumentError,
        r"changes its structure.*keys 'b'",
    ),
    "no pair": (
        lambda: xt.scan(lambda c, e: (c, e, e), 0.0, X, dim="t"),
        xt.ArgumentTypeError,
        r"must return a tuple \(carry, y\), got a tuple of 3",
    ),
    "a float into an integer carry": (
        lambda: xt.scan(lambda c, e: (0.5, e), arr(3), X, dim="t"),
        xt.DTypeError,
        f"int64 and {WEAK_FLOAT}",
    ),
    "branch dims": (
        lambda: xt.cond(True, lambda: X, lambda: X.sum("i")),
        xt.DimensionError,
        r"the `yes` branch and the `no` branch return different types.*dim 'i', which only the `yes` branch has",
    ),
    "branch dtype": (
        lambda: xt.cond(True, lambda: X, lambda: X.astype("f8")),
        xt.DTypeError,
        r'difference is the dtype, float32 and float64. Write .astype\("float64"\) on the `yes` branch',
    ),
    "branch structure": (
        lambda: xt.cond(True, lambda: (X, X), lambda: (X, (X,))),
        xt.ArgumentError,
        r"different structures.*at \[1\]",
    ),
    "branch size": (
        lambda: xt.switch(0, [lambda: X, lambda: X.isel(t=slice(0, 2))]),
        xt.SizeError,
        r"the size of dim 't', 6 and 2",
    ),
    "predicate with dims": (
        lambda: xt.cond(X > 0, lambda: 1, lambda: 2),
        xt.DimensionError,
        r"predicate is bool \(t: 6, i: 3\), with 't', 'i' left.*xt.where",
    ),
    "predicate no bool": (lambda: xt.cond(1.0, lambda: 1, lambda: 2), xt.DTypeError, "must be a bool, and is float"),
    "index no integer": (lambda: xt.switch(1.5, [lambda: 1, lambda: 2]), xt.DTypeError, "must be an integer"),
    "no branches": (lambda: xt.switch(1, []), xt.ArgumentError, "list of branches is empty"),
    "while predicate with dims": (
        lambda: xt.while_loop(lambda c: c > 0, lambda c: c - 1, X),
        xt.DimensionError,
        r"bool \(t: 6, i: 3\).*\.any\(\)",
    ),
    "while predicate no bool": (
        lambda: xt.while_loop(lambda c: c, lambda c: c - 1, 3),
        xt.DTypeError,
        "must be a bool",
    ),
    "xs without the dim": (
        lambda: xt.scan(lambda c, e: (c, e), 0.0, {"a": X, "b": arr(1.0)}, dim="t"),
        xt.DimensionError,
        r"no dim 't' in xs\['b'\]",
    ),
    "xs of different sizes": (
        lambda: xt.scan(lambda c, e: (c, e[0]), 0.0, (X, X.isel(t=slice(0, 2)).rename(i="j")), dim="t"),
        xt.SizeError,
        r"different sizes in xs\[0\].*t: 6.*xs\[1\].*t: 2",
    ),
    "length differs": (lambda: xt.scan(lambda c, e: (c, e), 0.0, X, dim="t", length=4), xt.SizeError, "length=4"),
    "no length": (lambda: xt.scan(lambda c, e: (c, c), 0.0, dim="t"), xt.ArgumentError, "length="),
    "negative length": (lambda: xt.scan(lambda c, e: (c, c), 0.0, dim="t", length=-1), xt.ArgumentError, "0 or more"),
    "y has the dim": (
        lambda: xt.scan(lambda c, e: (c, X), 0.0, X, dim="t"),
        xt.DimensionError,
        r"has dim 't' already",
    ),
    "no function": (lambda: xt.scan(3, 0.0, X, dim="t"), xt.ArgumentTypeError, "needs functions"),  # type: ignore[arg-type]
    "max_steps": (
        lambda: xt.while_loop(lambda c: True, lambda c: c, X, max_steps=2.5),  # type: ignore[arg-type]
        xt.ArgumentTypeError,
        "max_steps is an int",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("inside", [False, True], ids=["eager", "traced"])
def test_refused(name: str, inside: bool) -> None:
    f, error, message = REFUSED[name]
    with pytest.raises(error, match=f"(?s){message}"):
        xt.jit(f)() if inside else f()


def test_a_value_of_the_body_is_not_one_outside() -> None:
    kept = []

    def step(c: Any, e: Any) -> Any:
        kept.append(e)
        return c + e, e

    def f(x: Any) -> Any:
        xt.scan(step, 0.0, x, dim="t")
        return kept[0]

    with pytest.raises(xt.Error, match="outside of the function"):
        xt.jit(f)(arr(np.arange(3.0), "t"))


def test_an_index_must_fit_what_it_meets() -> None:
    u = xt.zeros(a=2, dtype="u1")
    assert xt.fori_loop(0, 256, lambda i, c: c + i, u).dtype == u.dtype
    for lo, hi, value in ((0, 300, 299), (-1, 3, -1)):
        with pytest.raises(xt.ArgumentError, match=f"{value} does not fit uint8.*i.astype"):
            xt.fori_loop(lo, hi, lambda i, c: c + i, u)
    # What is not integer, or is cast, or does not run, holds it.
    assert xt.fori_loop(0, 300, lambda i, c: c + i, u.astype("f4")).values[0] == 44850
    assert xt.fori_loop(0, 300, lambda i, c: c + i.astype("u1"), u).values[0] == sum(range(300)) % 256
    assert xt.fori_loop(5, 0, lambda i, c: c + i, u).values[0] == 0
