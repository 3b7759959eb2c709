"""Derivatives of loops and branches, of checkpoints and of rules of one's own: against JAX's, and what each keeps.

Every op is checked against differences by test_gradient_rules.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
jax.config.update("jax_enable_x64", True)
jnp, lax = jax.numpy, jax.lax

T, B, I, H = 6, 2, 3, 4  # noqa: E741


def arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, s) for s in shapes]


def close(got: Any, want: Any) -> None:
    got, want = xt.tree.leaves(got), jax.tree.leaves(want)
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-12)


def compare(ours: Callable[..., Any], theirs: Callable[..., Any], named: list[xt.Array], raw: list[np.ndarray]) -> None:
    """Value, gradient, forward derivative, and both of the gradient."""
    wrt = tuple(range(len(raw)))
    along = [xt.array(v, x.dims) for v, x in zip(arrays(*(r.shape for r in raw), seed=1), named, strict=True)]

    @jax.jit  # one program, where eager JAX compiles each op
    def reference(x: Any, along: Any) -> Any:
        gradient = jax.grad(theirs, argnums=wrt)
        return theirs(*x), gradient(*x), jax.jvp(theirs, x, along), jax.jvp(gradient, x, along)[1]

    value, their_gradient, moved, hvp = reference(tuple(raw), tuple(v.values for v in along))
    gradient = xt.grad(ours, wrt=wrt)
    close(ours(*named), value)
    close(gradient(*named), their_gradient)
    close(xt.jvp(ours, named, along), moved)
    close(xt.jvp(gradient, named, along)[1], hvp)

    def along_gradient(*x: Any) -> Any:
        return sum((g * v).sum() for g, v in zip(gradient(*x), along, strict=True))

    close(xt.grad(along_gradient, wrt=wrt)(*named), hvp)


# ---- against JAX -------------------------------------------------------------


def weights() -> tuple[list[xt.Array], list[np.ndarray]]:
    raw = arrays((T, B, I), (I, H), (H, H), (B, H))
    dims = [("t", "n", "i"), ("i", "h"), ("h", "k"), ("n", "h")]
    return [xt.array(x, d) for x, d in zip(raw, dims, strict=True)], raw


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse: bool) -> None:
    def ours(x: Any, w: Any, u: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            z = xt.tanh(xt.dot(x, w, dim="i") + xt.dot(h, u, dim="h").rename(k="h"))
            return z, (z * z).sum("h")

        last, ys = xt.scan(step, h, x, dim="t", reverse=reverse)
        return (last * last).sum() + xt.sin(ys).sum()

    def theirs(x: Any, w: Any, u: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            z = jnp.tanh(x @ w + h @ u)
            return z, (z * z).sum(-1)

        last, ys = lax.scan(step, h, x, reverse=reverse)
        return (last * last).sum() + jnp.sin(ys).sum()

    compare(ours, theirs, *weights())


def test_scan_that_reads_a_matrix_both_ways() -> None:
    raw = arrays((T, B, H), (H, H), (B, H))
    named = [xt.array(x, d) for x, d in zip(raw, [("t", "n", "h"), ("h", "k"), ("n", "h")], strict=True)]

    def ours(x: Any, u: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            there = xt.tanh(xt.dot(h, u, dim="h") + x.rename(h="k"))
            return xt.sin(xt.dot(there, u, dim="k") + xt.dot(h, u.rename(h="l", k="h"), dim="h").rename(l="h")), None

        return xt.sum(xt.scan(step, h, x, dim="t")[0])

    def theirs(x: Any, u: Any, h: Any) -> Any:
        return lax.scan(lambda h, x: (jnp.sin(jnp.tanh(h @ u + x) @ u.T + h @ u.T), None), h, x)[0].sum()

    compare(ours, theirs, named, raw)


def test_products_that_cancel_at_each_step_are_added_up_step_by_step() -> None:
    # All numbers are integers. Of each product the sum over all steps is beyond 2**24, of both it is not.
    t = np.arange(4001)
    x = 2.0**20 + (t * 7919 % 1000)
    y = x - t % 3

    def total(w: xt.Array, x: xt.Array, y: xt.Array) -> xt.Array:
        def step(c: xt.Array, xy: tuple[xt.Array, xt.Array]) -> tuple[xt.Array, None]:
            return c + xt.sum(w * xy[0]) - xt.sum(w.rename(i="j") * xy[1]), None

        return xt.scan(step, xt.zeros(dtype="f4"), (x, y), dim="t")[0]

    arrays = [xt.array(v.astype("f4")[:, None] * np.ones(3, "f4"), dims=("t", d)) for v, d in ((x, "i"), (y, "j"))]
    g = xt.grad(total)(xt.ones(i=3, dtype="f4"), *arrays)
    np.testing.assert_array_equal(g.values, [np.sum(x - y)] * 3)


def test_scan_of_scans() -> None:
    raw = arrays((T,), (I,), ())
    named = [xt.array(raw[0], "t"), xt.array(raw[1], "i"), xt.array(raw[2], ())]

    def ours(x: Any, y: Any, c: Any) -> Any:
        def outer(c: Any, e: Any) -> Any:
            return xt.scan(lambda c, f: (xt.sin(c * f + e), c), c, y, dim="i")

        last, ys = xt.scan(outer, c, x, dim="t")
        return last + (ys * ys).sum()

    def theirs(x: Any, y: Any, c: Any) -> Any:
        def outer(c: Any, e: Any) -> Any:
            return lax.scan(lambda c, f: (jnp.sin(c * f + e), c), c, y)

        last, ys = lax.scan(outer, c, x)
        return last + (ys * ys).sum()

    compare(ours, theirs, named, raw)


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_switch(chosen: int) -> None:
    raw = arrays((I,), ())

    def ours(x: Any, y: Any) -> Any:
        return xt.switch(
            xt.array(chosen, ()),
            [lambda: (x * y).sum(), lambda: xt.exp(x * y).sum() * y, lambda: y],
        )

    def theirs(x: Any, y: Any) -> Any:
        return lax.switch(chosen, [lambda: (x * y).sum(), lambda: jnp.exp(x * y).sum() * y, lambda: y])

    compare(ours, theirs, [xt.array(raw[0], "i"), xt.array(raw[1], ())], raw)


def test_cond_in_scan() -> None:
    raw = arrays((T,), ())

    def ours(x: Any, c: Any) -> Any:
        def step(c: Any, e: Any) -> Any:
            return xt.cond(e > 0, lambda: c * xt.exp(e), lambda: xt.sin(c) * e), None

        return xt.scan(step, c, x, dim="t")[0]

    def theirs(x: Any, c: Any) -> Any:
        def step(c: Any, e: Any) -> Any:
            return lax.cond(e > 0, lambda: c * jnp.exp(e), lambda: jnp.sin(c) * e), None

        return lax.scan(step, c, x)[0]

    compare(ours, theirs, [xt.array(raw[0], "t"), xt.array(raw[1], ())], raw)


def test_while_forwards() -> None:
    def ours(a: Any) -> Any:
        return xt.while_loop(lambda s: abs(s * s - a) > 1e-12, lambda s: 0.5 * (s + a / s), a)

    def theirs(a: Any) -> Any:
        return lax.while_loop(lambda s: abs(s * s - a) > 1e-12, lambda s: 0.5 * (s + a / s), a)

    one, at = xt.array(1.0, ()), xt.array(3.0, ())
    close(xt.jvp(ours, (at,), (one,)), jax.jvp(theirs, (3.0,), (1.0,)))
    second = xt.jvp(lambda a: xt.jvp(ours, (a,), (one,))[1], (at,), (one,))
    close(second, jax.jvp(lambda a: jax.jvp(theirs, (a,), (1.0,))[1], (3.0,), (1.0,)))
    np.testing.assert_allclose(second[1].item(), -0.25 * 3**-1.5, rtol=1e-10)


# In float32, a loop without a bound would not end.
@pytest.mark.parametrize("max_steps", [50, pytest.param(None, marks=pytest.mark.float64)])
def test_while_in_reverse(max_steps: int | None) -> None:
    def root(a: Any) -> Any:
        return xt.while_loop(lambda s: abs(s * s - a) > 1e-12, lambda s: 0.5 * (s + a / s), a, max_steps=max_steps)

    np.testing.assert_allclose(xt.grad(root)(3.0).item(), 0.5 / np.sqrt(3))
    np.testing.assert_allclose(xt.grad(xt.grad(root))(3.0).item(), -0.25 * 3**-1.5)


@pytest.mark.parametrize("dims", [("i",), ("i", "j")])
@pytest.mark.parametrize("is_open", [False, True])
def test_checkpointed_while_in_reverse(dims: tuple[str, ...], is_open: bool) -> None:
    shape = (3, 4)[: len(dims)]
    x = np.linspace(0.1, 1, math.prod(shape), dtype="f4").reshape(shape)

    def ours(x: Any) -> Any:
        def step(carry: Any) -> Any:
            return carry[0] + 1, xt.sin(carry[1]) * x + carry[1]

        return xt.sum(xt.while_loop(lambda carry: carry[0] < 3, xt.checkpoint(step), (0, x))[1])

    def theirs(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = jnp.sin(y) * x + y
        return y.sum()

    got = xt.jit(xt.grad(ours), dynamic_dims=dims if is_open else ())(xt.array(x, dims=dims))
    np.testing.assert_allclose(got.values, jax.grad(theirs)(x), rtol=1e-5)


WHILES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a number": lambda m, a, n: m.while_loop(lambda s: abs(s) > 0.2, lambda s: 0.7 * m.sin(s * a), a + 1.0, n),
    "arrays": lambda m, a, n: m.while_loop(
        lambda s: s["k"] < 3, lambda s: {"x": m.exp(-s["x"] * a) * s["x"], "k": s["k"] + 1}, {"x": a, "k": 0}, n
    )["x"],
    "a state that is kept twice": lambda m, a, n: m.while_loop(
        lambda s: s[1] < 4, lambda s: (m.exp(0.1 * s[0]) * a, s[1] + 1, s[0]), (a, 0, a), n
    )[2],
    "no steps": lambda m, a, n: m.while_loop(lambda s: s > 1e9, lambda s: m.sin(s), a, n),
    "two loops": lambda m, a, n: m.while_loop(
        lambda s: abs(s) > 0.3, lambda s: 0.5 * m.sin(s),
        m.while_loop(lambda s: abs(s) < 4.0, lambda s: s * 1.5 + 0.1 * a, a, n), n,
    ),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WHILES)
@pytest.mark.parametrize("order", [1, 2])
def test_steps_that_a_while_loop_does_not_take(name: str, order: int) -> None:
    """A bound far above the steps taken, or below them, changes no derivative: JAX's by forward mode."""

    class Theirs:
        sin, exp = staticmethod(jnp.sin), staticmethod(jnp.exp)

        @staticmethod
        def while_loop(keep_on: Any, body: Any, init: Any, _: Any) -> Any:
            return lax.while_loop(keep_on, body, init)

    f = WHILES[name]
    if name in ("arrays", "a state that is kept twice"):
        at = np.array([0.5, 0.8, 1.3])
        ours = lambda a: xt.sum(f(xt, a, 2000) * xt.array([1.0, 2, 3], "i"))  # noqa: E731
        theirs = lambda a: (f(Theirs, a, 0) * jnp.array([1.0, 2, 3])).sum()  # noqa: E731
        x, direction = xt.array(at, "i"), xt.array([1.0, -1, 0.5], "i")
    else:
        at = np.array(1.3)
        ours, theirs = lambda a: f(xt, a, 2000), lambda a: f(Theirs, a, 0)
        x, direction = xt.array(at, ()), xt.array(1.0, ())
    if order == 1:
        want = jax.jit(jax.jacfwd(theirs))(at)
    else:
        want = jax.jit(lambda at, v: jax.jvp(jax.jacfwd(theirs), (at,), (v,))[1])(at, direction.values)
        first = ours
        ours = lambda a: xt.sum(xt.grad(first)(a) * direction)  # noqa: E731
    _, back = xt.vjp(ours, x)
    for g in (xt.grad(ours)(x), xt.jit(xt.grad(ours))(x), back(1.0)[0]):
        np.testing.assert_allclose(g.values, want, rtol=1e-10, atol=1e-12)
    if order == 1 and x.dims:
        both = xt.vectorize(xt.grad(ours), "b")(xt.concat([x, 2 * x], "b"))
        for i, one in enumerate((x, 2 * x)):
            np.testing.assert_allclose(both.isel(b=i).values, xt.grad(ours)(one).values, rtol=1e-12)


@pytest.mark.cpu_only("devices take all steps")
def test_a_while_loop_stops_where_it_ends() -> None:
    def loss(a: Any) -> Any:
        last = xt.while_loop(
            lambda s: s["k"] < 5, lambda s: {"x": xt.sin(s["x"]) * a, "k": s["k"] + 1}, {"x": a, "k": 0}, max_steps=1000
        )
        return xt.sum(last["x"])

    text = xt.jit(xt.grad(loss)).lower(xt.ones(i=64)).as_text("linalg")
    assert "scf.while" in text
    # Zeros for steps that are not taken would be written somewhere.
    assert not re.search(r"scf\.for .* to %c1000", text)


def test_loops_give_the_same_numbers_with_checkpoints() -> None:
    named, _ = weights()

    def loss(wrap: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any, w: Any, u: Any, h: Any) -> Any:
            @wrap
            def step(h: Any, x: Any) -> Any:
                z = xt.tanh(xt.dot(x, w, dim="i") + xt.dot(h, u, dim="h").rename(k="h"))
                return z, (z * z).sum("h")

            last, ys = xt.scan(step, h, x, dim="t")
            return (last * last).sum() + xt.sin(ys).sum()

        return run

    wrt = (0, 1, 2, 3)
    plain, again = (xt.value_and_grad(loss(wrap), wrt=wrt)(*named) for wrap in (lambda f: f, xt.checkpoint))
    close(again, [np.asarray(x) for x in xt.tree.leaves(plain)])


# ---- what is kept ------------------------------------------------------------


def differentiated(f: Callable[..., Any], *args: Any) -> str:
    return xt.jit(f).lower(*args).as_text("differentiated")


def test_forward_mode_is_one_loop_that_stacks_nothing() -> None:
    x, c = xt.array(np.ones(50), "t"), xt.array(1.0, ())

    def f(x: Any, c: Any) -> Any:
        return xt.scan(lambda c, e: (xt.sin(c * e), None), c, x, dim="t")[0]

    text = differentiated(lambda x, c: xt.jvp(f, (x, c), (x, c)), x, c)
    assert text.count("xtensor.scan") == 1
    assert re.search(r"-> \(!xtensor.array<f64>, !xtensor.array<f64>\)", text)
    loop = differentiated(
        lambda x: xt.jvp(lambda x: xt.while_loop(lambda s: s < 9.0, lambda s: s * x, x), (x,), (x,)), c
    )
    assert loop.count("xtensor.while") == 1


def test_a_loop_keeps_carries_and_what_is_dear_once() -> None:
    named, _ = weights()

    def f(x: Any, w: Any, u: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            z = xt.tanh(xt.dot(x, w, dim="i") + xt.dot(h, u, dim="h").rename(k="h"))
            return z, z

        return xt.scan(step, h, x, dim="t")[1].sum()

    text = differentiated(xt.grad(f, wrt=(1, 2)), *named)
    _, backward = (line for line in text.splitlines() if re.search(r"= xtensor.scan", line))
    assert "reverse" in backward
    # The ys, which are the tanh, and what the carry was before each step; x is there already.
    types = text.split("= xtensor.scan")[1].partition("-> (")[2].partition("\n")[0]
    assert types.count("!xtensor.array<t: 6,") <= 2
    # The gradients of the matrices are one contraction each, after the loop.
    assert not re.search(r"xtensor.add .*<h: 4, k: 4", text)
    assert len(re.findall(r"xtensor.contract .* over \[t, n\]|xtensor.contract .* over \[n, t\]", text)) == 2


def test_long_loops_compile_as_short_ones() -> None:
    def program(n: int) -> str:
        x = xt.spec(t=n, dtype="f8")
        f = lambda x: xt.scan(lambda c, e: (xt.sin(c * e), c), 1.0, x, dim="t")[1].sum()  # noqa: E731
        return str(xt.jit(xt.grad(f)).lower(x).as_text("differentiated")).replace(str(n), "n")

    assert program(10000) == program(17)


def test_checkpoints_in_blocks_keep_the_root_of_the_steps() -> None:
    def arena(blocks: int, steps: int, wrap: Callable[..., Any]) -> int:
        @wrap
        def block(c: Any, x: Any) -> Any:
            return xt.scan(lambda c, e: (xt.sin(c * xt.exp(e)), None), c, x, dim="t")[0], None

        def f(x: Any, c: Any) -> Any:
            return xt.scan(block, c, x, dim="o")[0].sum()

        x, c = xt.spec(o=blocks, t=steps, dtype="f8"), xt.spec(n=128, dtype="f8")
        text = xt.jit(xt.grad(f, wrt=1)).lower(x, c).as_text("buffers")
        kinds = re.findall(r"memref.alloc\(\).* memref<(.*)xf64>", text)
        return sum(8 * math.prod(map(int, sizes.split("x"))) for sizes in kinds)

    plain = [arena(n, n, lambda f: f) for n in (16, 64)]
    kept = [arena(n, n, xt.checkpoint) for n in (16, 64)]
    assert plain[1] > 12 * plain[0]  # linear in the steps: 16 times as many
    assert kept[1] < 6 * kept[0]  # in their root: 4 times as many
    assert kept[1] < plain[1] / 8


def test_a_checkpoint_computes_again() -> None:
    x = xt.array(np.linspace(-1, 1, 5), "i")
    f = lambda x: xt.exp(xt.sin(x)).sum()  # noqa: E731
    assert differentiated(xt.grad(f), x).count("xtensor.sin") == 1
    assert differentiated(xt.grad(lambda x: xt.checkpoint(f)(x)), x).count("xtensor.sin") == 1
    assert differentiated(xt.value_and_grad(lambda x: xt.checkpoint(f)(x)), x).count("xtensor.sin") == 2
    close(xt.grad(lambda x: xt.checkpoint(f)(x))(x), np.exp(np.sin(x.values)) * np.cos(x.values))


def test_checkpoint_takes_anything() -> None:
    @xt.checkpoint
    def f(tree: Any, mode: str, *, power: int = 2) -> Any:
        return {"y": getattr(xt, mode)(tree["x"]) ** power, "n": tree["n"]}

    x, n = xt.array([0.5, 1.0], "i"), xt.array(3, ())
    assert f({"x": x, "n": n}, "sin")["n"].item() == 3
    gradient = xt.grad(lambda x: f({"x": x, "n": n}, "sin", power=3)["y"].sum())(x)
    close(gradient, 3 * np.sin(x.values) ** 2 * np.cos(x.values))
    with pytest.raises(xt.Error, match="needs a function"):
        xt.checkpoint(3)  # type: ignore[type-var]


@pytest.mark.parametrize("bounded", [False, True], ids=["scan", "while"])
def test_a_step_divides_once_on_the_way_back(bounded: bool) -> None:
    """The quotient is the product with the reciprocal, which the derivative has anyway."""

    def step(y: Any, a: Any) -> Any:
        return 0.5 * (y + a / y)

    def root(a: Any) -> Any:
        if bounded:
            y = xt.while_loop(lambda y: (y * y - a).max() > 1e-12, lambda y: step(y, a), a, max_steps=20)
        else:
            y = xt.scan(lambda y, _: (step(y, a), None), a, length=20, dim="t")[0]
        return y.sum()

    a = xt.array([1.0, 2.0, 9.0], "i")
    np.testing.assert_allclose(xt.grad(root)(a).values, 0.5 / np.sqrt(a.values), rtol=1e-9)
    assert differentiated(xt.grad(root), a).count("xtensor.div") == 2


@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("wrt", "stored"), [(0, 1), (1, 2), ((0, 1, 2), 2)])
def test_what_a_step_of_a_recurrence_stores(wrt: Any, stored: int, reverse: bool) -> None:
    """In carries per step, as docs/control_flow.md has it: what goes into a step is what the one before it made."""

    def f(h: Any, w: Any, x: Any) -> Any:
        step = lambda h, x: (xt.tanh(xt.dot(h, w, dim="i").rename(j="i") + x), None)  # noqa: E731
        return xt.scan(step, h, x, dim="t", reverse=reverse)[0].sum()

    def arena(steps: int) -> int:
        h, w, x = xt.spec(i=64, dtype="f8"), xt.spec(i=64, j=64, dtype="f8"), xt.spec(t=steps, i=64, dtype="f8")
        return int(xt.jit(xt.grad(f, wrt=wrt)).lower(h, w, x).cost()["arena"])

    assert arena(200) - arena(100) == stored * 100 * 64 * 8
    assert arena(200) <= (stored * 200 + 3) * 64 * 8


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dynamic", [(), ("t",)], ids=["static", "dynamic"])
@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
def test_states_that_lie_in_one_stack(reverse: bool, steps: int, dynamic: tuple[str, ...]) -> None:
    """Arrays and a number of which those before and after each step are kept, one carry made of another, and ys."""
    raw = arrays((H, H), (H,), (steps, H), ())
    named = [xt.array(v, d) for v, d in zip(raw, [("h", "k"), "h", ("t", "h"), ()], strict=True)]

    def run(m: Any, dot: Any, scan: Any) -> Callable[..., Any]:
        def f(w: Any, h: Any, x: Any, r: Any) -> Any:
            def step(c: Any, x: Any) -> Any:
                a, b, r = c
                a, b, r = m.tanh(dot(a, w) + x * r), a * m.sin(b), m.exp(-r * r)
                return (a, b, r), a

            (a, b, r), ys = scan(step, (a_ := m.sin(h), a_ * 0.5, r), x)
            return (a * a).sum() + (b * b * r).sum() + (ys * ys * ys).sum()

        return f

    def dot(a: Any, w: Any) -> Any:
        return xt.dot(a, w, dim="h").rename(k="h")

    ours = run(xt, dot, lambda f, c, x: xt.scan(f, c, x, dim="t", reverse=reverse))
    theirs = run(jnp, lambda a, w: a @ w, lambda f, c, x: lax.scan(f, c, x, reverse=reverse))
    if dynamic:
        gradient = xt.jit(xt.grad(ours, wrt=(0, 1, 2, 3)), dynamic_dims=dynamic)
        close(gradient(*named), jax.jit(jax.grad(theirs, (0, 1, 2, 3)))(*raw))
    else:
        compare(ours, theirs, named, raw)


def test_stop_gradient_of_a_pytree() -> None:
    def f(x: Any) -> Any:
        held = xt.stop_gradient({"a": x, "b": [2 * x, xt.array(3, ())], "c": None})
        assert held["c"] is None
        return (held["a"] * held["b"][0] * held["b"][1] * x).sum()

    x = xt.array([1.0, 2.0], "i")
    close(xt.grad(f)(x), 6 * x.values**2)
    held = xt.stop_gradient((x, [x]))
    close(held[1][0], x.values)


@pytest.mark.parametrize("order", ["eager", "jit"])
def test_a_cotangent_that_lacks_a_dim(order: str) -> None:
    x = xt.ones(i=2, j=3)

    def pulled(ct: Any) -> Any:
        return xt.vjp(xt.sin, x)[1](ct)[0]

    run = pulled if order == "eager" else xt.jit(pulled)
    with pytest.raises(xt.DimensionError, match="cotangent lacks dim 'j' of its array"):
        run(xt.ones(i=2))
    close(run(xt.array(2.0)), np.full((2, 3), 2 * np.cos(1.0)))
