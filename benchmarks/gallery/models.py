"""In JAX: the statistical models of the gallery. `names` are what the program in examples/ defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xtensor as xt
from jax import lax
from pair import Pair, value

Names = dict[str, Any]


def gaussian_process(names: Names) -> Pair:
    p, x, y = names["p"], names["x"], names["y"]

    def kernel(p: Any, a: Any, b: Any) -> Any:
        scale = jnp.exp(p["length"])
        a, b = a / scale, b / scale
        squared = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T
        return jnp.exp(p["signal"]) * jnp.exp(-0.5 * squared)

    def log_likelihood(p: Any, x: Any, y: Any) -> Any:
        low = jnp.linalg.cholesky(kernel(p, x, x) + jnp.exp(p["noise"]) * jnp.eye(len(y)))
        white = jax.scipy.linalg.solve_triangular(low, y, lower=True)
        log_det = 2 * jnp.sum(jnp.log(jnp.diagonal(low)))
        return -0.5 * (jnp.sum(white * white) + log_det + len(y) * np.log(2 * np.pi))

    return Pair(
        xt.jit(xt.value_and_grad(names["log_likelihood"])),
        (p, x, y),
        lambda r: r[0].item(),
        jax.value_and_grad(log_likelihood),
        ({name: value(each) for name, each in p.items()}, value(x, "patient", "feature"), value(y)),
        lambda r: float(r[0]),
        tolerance=1e-9,
    )


def kalman(names: Names) -> Pair:
    p, y = names["p"], names["y"]

    def log_likelihood(p: Any, flow: Any) -> Any:
        noise, drift = jnp.exp(p["noise"]), jnp.exp(p["drift"])

        def step(before: Any, y: Any) -> Any:
            mean, variance = before
            total = variance + noise
            gain = variance / total
            score = -0.5 * (jnp.log(2 * np.pi * total) + (y - mean) ** 2 / total)
            return (mean + gain * (y - mean), variance * (1 - gain) + drift), score

        return jnp.sum(lax.scan(step, (flow[0], noise + drift), flow[1:])[1])

    return Pair(
        xt.jit(xt.value_and_grad(names["log_likelihood"])),
        (p, y),
        lambda r: r[0].item(),
        jax.value_and_grad(log_likelihood),
        ({name: value(each) for name, each in p.items()}, value(y)),
        lambda r: float(r[0]),
        tolerance=1e-9,
    )


LENGTHS = 2 ** np.arange(1, 10)  # of the paths that may turn back


def draw_of(log_density: Callable[[Any], Any], size: int) -> Callable[..., Any]:
    """A draw of the No-U-Turn sampler, as examples/eight_schools.py has it. A choice is a tuple (x, weight, momentum,
    accepted, count), and a point is (x, momentum, slope, energy)."""
    zeros, nothing = jnp.zeros(size), jnp.zeros((len(LENGTHS), size))

    def leap(point: Any, step: Any, scale: Any) -> Any:
        x, momentum, slope, _ = point
        half = momentum + 0.5 * step * slope
        x = x + step * half
        found, slope = jax.value_and_grad(lambda x: log_density(x * scale))(x)
        momentum = half + 0.5 * step * slope
        return x, momentum, slope, 0.5 * jnp.sum(momentum * momentum) - found

    def turns_back(first: Any, last: Any, total: Any) -> Any:
        inner = total - 0.5 * (first + last)
        return ((first * inner).sum(-1) <= 0) | ((inner * last).sum(-1) <= 0)

    def joined(a: Any, b: Any, key: Any, bias: bool) -> Any:
        weight = jnp.logaddexp(a[1], b[1])
        takes_b = jnp.log(jax.random.uniform(key)) < b[1] - (a[1] if bias else weight)
        return jnp.where(takes_b, b[0], a[0]), weight, *(m + n for m, n in zip(a[2:], b[2:], strict=True))

    def draw(q: Any, step: Any, scale: Any, key: Any) -> Any:
        of_momentum, key = jax.random.split(key)
        start = leap((q / scale, jax.random.normal(of_momentum, (size,)), zeros, 0.0), 0.0, scale)
        none = jax.tree.map(jnp.asarray, (start[0], -jnp.inf, zeros, 0.0, 0))

        def body(state: Any) -> Any:
            path, new, other, at, step, first, before, _ = state
            of_end, of_new, of_path = jax.random.split(jax.random.fold_in(key, path[4] + new[4]), 3)
            swap = (new[4] == 0) & jax.random.bernoulli(of_end)
            other, at, step = lax.cond(swap, lambda: (at, other, -step), lambda: (other, at, step))
            at = leap(at, step, scale)
            gain = jnp.where(at[3] < start[3] + 1000, start[3] - at[3], -jnp.inf)
            begins = (new[4] % LENGTHS == 0)[:, None]
            first, before = jnp.where(begins, at[1], first), jnp.where(begins, new[2], before)
            new = joined(new, (at[0], gain, at[1], jnp.exp(jnp.minimum(gain, 0)), 1), of_new, False)
            back = (new[4] % LENGTHS == 0) & turns_back(first, at[1], new[2] - before)
            stops = back.any() | (gain == -jnp.inf)
            full = ~stops & (new[4] == path[4])
            path, new = lax.cond(full, lambda: (joined(path, new, of_path, True), none), lambda: (path, new))
            stops = stops | (full & turns_back(other[1], at[1], path[2]))
            return path, new, other, at, step, first, before, stops

        whole = jax.tree.map(jnp.asarray, (start[0], 0.0, start[1], 0.0, 1))
        state = whole, none, start, start, step, nothing, nothing, jnp.asarray(False)
        path, new, *_ = lax.while_loop(lambda s: (s[0][4] < 1024) & ~s[-1], body, state)
        q, leaps = path[0] * scale, path[4] + new[4] - 1
        return q, (q, (path[3] + new[3]) / leaps, leaps)

    return draw


def eight_schools(names: Names) -> Pair:
    """From the last draws of the program, with the step and the scale that it found."""
    effect, error = value(names["effect"]), value(names["error"])
    chains, draws, scale = names["CHAINS"], names["DRAWS"], names["scale"]
    step, start = float(np.exp(names["average"])), names["drawn"].isel(draw=-1)

    def log_density(q: Any) -> Any:
        mu, log_tau, offsets = q[0], q[1], q[2:]
        fit = -0.5 * jnp.sum(((effect - (mu + jnp.exp(log_tau) * offsets)) / error) ** 2)
        prior = -0.5 * ((mu / 5) ** 2 + jnp.sum(offsets**2)) - jnp.log1p((jnp.exp(log_tau) / 5) ** 2)
        return fit + prior + log_tau

    draw = draw_of(log_density, scale.sizes["parameter"])

    def sample(q: Any, step: Any, scale: Any, keys: Any) -> Any:
        return lax.scan(jax.vmap(lambda q, key: draw(q, step, scale, key)), q, keys)

    return Pair(
        names["sample"],
        (start, step, scale, xt.random.split(xt.random.key(7), chain=chains, draw=draws)),
        lambda r: r[1][2].mean().item(),  # leaps
        sample,
        (value(start, "chain", "parameter"), step, value(scale), jax.random.split(jax.random.key(7), (draws, chains))),
        lambda r: float(r[1][2].mean()),
        tolerance=0.2,  # random numbers differ
        steps=chains * draws,
    )
