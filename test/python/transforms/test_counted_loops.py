"""Reverse mode of loops that only the run can count: against differences, bounded loops and JAX."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([0.9, 0.2, -0.3], "u")
W = xt.array([0.4, 1.3, 0.7], "u")
ROWS = xt.array([[0.9, 0.2, -0.3], [1.7, 1.1, 0.4], [0.1, 0.1, 0.2], [30.0, 9.0, 1.0]], ("b", "u"))


def grown(x: Any, w: Any, most: int | None = None) -> Any:
    """Some fifteen steps, or none."""
    return xt.while_loop(lambda s: s.sum() < 9.0, lambda s: s * 1.2 + 0.1 * xt.sin(s * w) + 0.05, x, max_steps=most)


def mixed(x: Any, w: Any, most: int | None) -> Any:
    """Integers and bools are carried along, and one of them decides."""

    def step(c: Any) -> Any:
        return {"k": c["k"] + 1, "go": c["h"].sum() < 4.0, "h": xt.tanh(c["h"] * w) + x + 0.1 * c["k"]}

    last = xt.while_loop(lambda c: c["go"] | (c["k"] < 3), step, {"k": 0, "go": True, "h": x}, max_steps=most)
    return (last["h"] * last["k"]).sum()


def nested(x: Any, w: Any, most: int | None) -> Any:
    def step(c: Any) -> Any:
        k, s = c
        return k + 1, xt.tanh(0.1 * grown(s, w, most)) * w - 0.1 * k

    return xt.while_loop(lambda c: (c[0] < 4) & (c[1].sum() < 5.0), step, (0, x), max_steps=most)[1].sum()


def in_a_scan(x: Any, w: Any, most: int | None) -> Any:
    def step(c: Any, e: Any) -> Any:
        r = xt.while_loop(lambda s: s < 6.0, lambda s: s * 1.3 + 0.2 * xt.sin(e * s) ** 2, c + e, max_steps=most)
        return 0.2 * r, r * e

    last, all_ = xt.scan(step, 1.0 + x.sum() ** 2, w, dim="u")
    return last + all_.sum()


def around_a_scan(x: Any, w: Any, most: int | None) -> Any:
    def step(s: Any) -> Any:
        return s + xt.scan(lambda c, e: (xt.sin(c) + e * e, c), s, w, dim="u")[1].sum()

    return xt.while_loop(lambda s: s < 20.0, step, (x * w).sum() + 0.5, max_steps=most)


def around_a_branch(x: Any, w: Any, most: int | None) -> Any:
    def step(c: Any) -> Any:
        return c[0] + 1, xt.cond(c[0] % 3 == 0, lambda s: s * w + 0.5, lambda s: xt.sin(s) + 0.4 * s + 0.3, c[1])

    return xt.while_loop(lambda c: (c[0] < 9) & (c[1].sum() < 4.0), step, (0, x), max_steps=most)[1].sum()


def in_a_branch(x: Any, w: Any, most: int | None) -> Any:
    return xt.cond(x.sum() > 0.5, lambda: grown(x, w, most).sum(), lambda: (x * w).sum())


CASES: dict[str, Callable[[Any, Any, int | None], Any]] = {
    "alone": lambda x, w, most: grown(x, w, most).sum(),
    "of integers, too": mixed,
    "nested": nested,
    "in a scan": in_a_scan,
    "around a scan": around_a_scan,
    "around a branch": around_a_branch,
    "in a branch": in_a_branch,
    "of a checkpoint": lambda x, w, _: xt.while_loop(
        lambda s: s.sum() < 9.0, xt.checkpoint(lambda s: s * 1.2 + 0.1 * xt.sin(s * w) + 0.05), x
    ).sum(),
}


def bounded(name: str) -> Callable[[Any, Any], Any]:
    f = CASES["alone" if name == "of a checkpoint" else name]
    return lambda x, w: f(x, w, 40)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_a_loop_without_a_bound_has_the_derivative_of_the_bounded_one(name: str) -> None:
    f, g = lambda x, w: CASES[name](x, w, None), bounded(name)
    for x in (X, ROWS.isel(b=3)):
        got, want = xt.value_and_grad(f, wrt=(0, 1))(x, W), xt.value_and_grad(g, wrt=(0, 1))(x, W)
        for a, b in zip(xt.tree.leaves(got), xt.tree.leaves(want), strict=True):
            np.testing.assert_allclose(a.values, b.values, rtol=1e-9, atol=1e-12)
    back = xt.vjp(f, X, W)[1](2.0)
    np.testing.assert_allclose(back[0].values, 2.0 * xt.grad(g)(X, W).values, rtol=1e-9, atol=1e-12)
    batch = xt.vectorize(xt.grad(f, wrt=(0, 1)), "b")(ROWS, W)  # each of its own number of steps
    for b in range(4):
        want = xt.grad(g, wrt=(0, 1))(ROWS.isel(b=b), W)
        for a, one in zip(batch, want, strict=True):
            np.testing.assert_allclose(a.isel(b=b).values, one.values, rtol=1e-9, atol=1e-12)
    total = xt.grad(lambda rows: xt.vectorize(f, "b")(rows, W).sum())(ROWS)
    np.testing.assert_allclose(total.values, batch[0].values, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["alone", "nested", "in a scan", "of a checkpoint"])
def test_second_derivatives(name: str) -> None:
    f = CASES[name]
    xt.testing.check_gradients(lambda x: f(x, W, None), (X,), order=2, modes=("reverse", "forward"))


def turned(n: int, x: Any) -> Any:
    return xt.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, xt.sin(1.3 * c[1]) + 0.1 * c[1]), (0, x))[1]


BRANCHES = {
    "one branch": lambda x: xt.cond(x.sum() > 0.0, lambda: turned(3, x).sum(), lambda: (x * x).sum()),
    "both": lambda x: xt.cond(x.sum() > 0.0, lambda: turned(3, x).sum(), lambda: (turned(2, x) ** 2).sum()),
    "two loops": lambda x: xt.cond(x.sum() > 0.0, lambda: (turned(3, x) * turned(2, xt.cos(x))).sum(), lambda: x.sum()),
    "a branch in a branch": lambda x: xt.cond(
        x.sum() > 0.0, lambda: xt.cond(x.max() > 0.2, lambda: turned(3, x).sum(), lambda: x.sum()), lambda: x.sum()
    ),
    "in a scan": lambda x: xt.scan(
        lambda c, _: (xt.cond(c.sum() > 0.0, lambda: turned(2, c), lambda: 0.5 * c), c.sum()), x, dim="t", length=3
    )[1].sum(),
    "a loop in the loop": lambda x: xt.cond(
        x.sum() > 0.0,
        lambda: xt.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, turned(2, c[1])), (0, x))[1].sum(),
        lambda: x.sum(),
    ),
    "counted by data": lambda x: xt.cond(
        x.sum() > 0.0,
        lambda: xt.while_loop(lambda c: c.sum() < 9.0, lambda c: 1.5 * c + 0.1 * c * c, x).sum(),
        lambda: x.sum(),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BRANCHES)
def test_second_derivatives_of_loops_in_branches(name: str) -> None:
    """Forward over reverse, reverse over reverse, and reverse over forward, of either branch."""
    f, v = BRANCHES[name], W
    for x in (X, -X):
        xt.testing.check_gradients(f, (x,), order=2)
        slope = xt.grad(f)
        wanted = xt.grad(lambda x: (slope(x) * v).sum())(x).values  # noqa: B023 (called here)
        np.testing.assert_allclose(xt.hvp(f, (x,), (v,)).values, wanted, rtol=1e-12, atol=1e-12)
        product = xt.jit(lambda x, v: xt.hvp(f, (x,), (v,)), dynamic_dims=("u",))
        np.testing.assert_allclose(product(x, v).values, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BRANCHES)
def test_second_derivatives_of_instances_that_take_their_own_branches(name: str) -> None:
    """Also with steps of their own: the fused loop of values and tangents may end early, as both loops did."""
    rows = xt.concat([ROWS, -ROWS], "b")
    for product in (
        lambda x: xt.hvp(BRANCHES[name], (x,), (W,)),
        lambda x: xt.grad(lambda x: (xt.grad(BRANCHES[name])(x) * W).sum())(x),
    ):
        alone = [product(rows.isel(b=i)).values for i in range(rows.sizes["b"])]
        np.testing.assert_allclose(xt.vectorize(product, "b")(rows).values, np.stack(alone), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["one branch", "in a scan"])
def test_third_derivatives_of_a_loop_in_a_branch(name: str) -> None:
    def along(x: Any) -> Any:
        return (xt.hvp(BRANCHES[name], (x,), (W,)) * W).sum()

    third = xt.jvp(along, (X,), (W,))[1].item()
    assert third == pytest.approx((xt.grad(along)(X) * W).sum().item(), rel=1e-12)
    assert third == pytest.approx((along(X + 1e-5 * W) - along(X - 1e-5 * W)).item() / 2e-5, rel=1e-7)


def test_against_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
    jax.config.update("jax_enable_x64", True)
    jnp, lax = jax.numpy, jax.lax

    def theirs(x: Any, w: Any) -> Any:
        def inner(s: Any, _: Any) -> Any:
            return lax.cond(s.sum() < 9.0, lambda s: s * 1.2 + 0.1 * jnp.sin(s * w) + 0.05, lambda s: s, s), None

        def outer(s: Any, k: Any) -> Any:
            new = jnp.tanh(0.1 * lax.scan(inner, s, None, length=40)[0]) * w - 0.1 * k
            return jnp.where((k < 4) & (s.sum() < 5.0), new, s), None

        return lax.scan(outer, x, jnp.arange(5))[0].sum()

    want = jax.value_and_grad(theirs, argnums=(0, 1))(X.values, W.values)
    got = xt.value_and_grad(lambda x, w: nested(x, w, None), wrt=(0, 1))(X, W)
    for a, b in zip(xt.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a.values, b, rtol=1e-12)


@pytest.mark.float64
def test_a_traced_number_of_steps() -> None:
    f = xt.jit(xt.grad(lambda x, n: xt.fori_loop(0, n, lambda i, c: xt.sin(c) * x + i, x)))
    for n in (0, 1, 7):
        want = xt.grad(lambda x, n=n: xt.fori_loop(0, n, lambda i, c: xt.sin(c) * x + i, x))(0.7)
        np.testing.assert_allclose(f(0.7, n).item(), want.item(), rtol=1e-12)


def test_open_sizes_and_batches_of_nobody() -> None:
    f = xt.jit(xt.grad(lambda x: grown(x, 0.5).sum()), dynamic_dims=["u"])
    each = xt.jit(xt.vectorize(xt.grad(lambda x: grown(x, 0.5)), "u"), dynamic_dims=["u"])
    for n in (0, 1, 4):
        x = xt.array(np.linspace(0.2, 1.0, n), "u")
        if n:  # the sum of nothing never grows
            want = xt.grad(lambda x: grown(x, 0.5, 90).sum())(x)
            np.testing.assert_allclose(f(x).values, want.values, rtol=1e-12)
        want = [xt.grad(lambda x: grown(x, 0.5, 90))(v).item() for v in x.values]
        np.testing.assert_allclose(each(x).values, want, rtol=1e-12)
    assert xt.vectorize(xt.grad(lambda x: grown(x, 0.5)), "u")(xt.zeros(u=0)).shape == (0,)


def test_batches_of_batches() -> None:
    rows = xt.array(np.random.default_rng(0).uniform(0.1, 2.0, (2, 3, 3)), ("a", "b", "u"))

    def each(most: int | None) -> Any:
        return xt.grad(lambda x: grown(x, W, most).sum())

    want = xt.vectorize(each(40), ("a", "b"))(rows).values
    np.testing.assert_allclose(xt.vectorize(each(None), ("a", "b"))(rows).values, want, rtol=1e-9)
    np.testing.assert_allclose(xt.vectorize(xt.vectorize(each(None), "b"), "a")(rows).values, want, rtol=1e-9)


def test_two_loops_of_different_lengths_in_one_function() -> None:
    def f(x: Any, bounds: tuple[float, float], most: int | None) -> Any:
        first = xt.while_loop(lambda s: s.sum() < bounds[0], lambda s: s * 1.1 + 0.1, x, max_steps=most)
        return xt.while_loop(lambda s: s.sum() < bounds[1], lambda s: s * s * 0.5 + first, first, max_steps=most).sum()

    for bounds in ((3.0, 90.0), (60.0, 90.0)):
        got, want = (xt.grad(lambda x, b=bounds, n=n: f(x, b, n))(X) for n in (None, 60))
        np.testing.assert_allclose(got.values, want.values, rtol=1e-12)


def test_nothing_goes_on_by_nan() -> None:
    assert xt.grad(lambda a: xt.while_loop(lambda s: s < 9.0, lambda s: s * a, a))(float("nan")).item() == 1.0


def test_an_index_out_of_range_is_an_error_on_the_way_back_too() -> None:
    def f(x: Any, n: Any) -> Any:
        return xt.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x.isel(u=c[0])), (0, 1.0))[1]

    g = xt.jit(xt.grad(f))
    np.testing.assert_allclose(g(X, 3).values, [-0.06, -0.27, 0.18])
    with pytest.raises(xt.IndexError, match="index 3 is out of range for size 3 of dim 'u'"):
        g(X, 5)


@pytest.mark.cpu_only("measures this process")
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the most memory since a time")
def test_the_memory_of_the_steps_is_freed_and_a_checkpoint_needs_little() -> None:
    """By the most that a process of its own ever held, in MB."""
    program = """
        import sys
        import numpy as np, xtensor as xt

        wrap = xt.checkpoint if sys.argv[1] == "checkpoint" else lambda f: f
        f = xt.jit(xt.grad(lambda x, n: xt.while_loop(
            lambda c: c[0] < n, lambda c: (c[0] + 1, wrap(lambda s: xt.sin(s) * x)(c[1])), (0, x))[1].sum()))
        x = xt.array(np.linspace(0.5, 1.5, 10_000), "u")
        f(x, 3)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the most so far is what is held now

        def most():
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

        before = most()
        for calls in (1, 3):
            for _ in range(calls):
                f(x, 500)
            print((most() - before) // 1024)
        """

    def grown(which: str) -> tuple[int, ...]:
        done = subprocess.run([sys.executable, "-c", dedent(program), which], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return tuple(int(line) for line in done.stdout.split())

    carries = 500 * 10_000 * 8 // 2**20  # one per step
    once, often = grown("plain")
    assert carries < once <= often < 1.1 * once
    assert grown("checkpoint")[1] < 0.3 * carries
