"""Sequences of states: a Kalman smoother, a particle filter, and a policy trained through a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, tuple[Any, Any]]


def kalman(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """Rauch-Tung-Striebel smoothing of 4 states from 2 observations, 500 steps, 16 series, in float64."""
    dt = 0.1
    move = np.eye(4) + dt * np.eye(4, k=2)
    see = np.eye(2, 4)
    data: Data = {"y": (np.cumsum(rng.standard_normal((500, 16, 2)), 0) * 0.1, ("time", "series", "seen"))}
    noise, error = 0.01 * np.eye(4), 0.1 * np.eye(2)

    def ours(y: Any) -> Any:
        import xtensor as xt

        f, q = xt.array(move, ("i", "j")), xt.array(noise, ("i", "j"))
        h, r = xt.array(see, ("seen", "i")), xt.array(error, ("seen", "seen2"))

        def other(x: Any) -> Any:  # the dims of a matrix by which it is multiplied from the other side
            return x.rename(i="j")

        def apply(a: Any, p: Any) -> Any:
            """a p a^T, for a(i, j) and p(i, j)."""
            left = xt.dot(a.rename(j="k"), p.rename(i="k"), dim="k")
            return xt.dot(left.rename(j="k"), a.rename(i="j", j="k"), dim="k")

        def forward(carry: Any, y: Any) -> Any:
            m, p = carry
            m1, p1 = xt.dot(f, other(m), dim="j"), apply(f, p) + q
            ph = xt.dot(p1, other(h).rename(seen="seen2"), dim="j")  # (i, seen2)
            s = xt.dot(h, ph, dim="i") + r  # (seen, seen2)
            gain = xt.linalg.solve(s, ph.rename(seen2="seen"), dims=("seen", "seen2"))  # (i, seen2)
            e = (y - xt.dot(h, m1, dim="i")).rename(seen="seen2")
            new = m1 + xt.dot(gain, e, dim="seen2"), p1 - xt.dot(gain, ph.rename(i="j"), dim="seen2")
            return new, (m1, p1, *new)

        start = xt.zeros(series=16, i=4), xt.array(np.eye(4), ("i", "j"))
        (last, cov), (m1, p1, m, p) = xt.scan(forward, start, y, dim="time")

        def backward(carry: Any, x: Any) -> Any:
            ms, ps = carry
            m1, p1, m, p = x  # predictions of the next step, estimates of this one
            pf = xt.dot(f.rename(j="k"), p.rename(i="k"), dim="k")  # (i, j): f p
            g = xt.linalg.solve(p1, pf.rename(j="col"), dims=("i", "j")).rename(j="k").rename(col="i")  # (k, i)
            ms = m + xt.dot(g, (ms - m1).rename(i="k"), dim="k")
            ps = p + apply(g.rename(k="j"), ps - p1)
            return (ms, ps), ms

        following = [a.isel(time=slice(1, None)) for a in (m1, p1)]
        current = [a.isel(time=slice(None, -1)) for a in (m, p)]
        smooth = xt.scan(backward, (last, cov), (*following, *current), dim="time", reverse=True)[1]
        return {"smooth": xt.concat([smooth, xt.expand_dims(last, "time")], "time").transpose("time", "series", "i")}

    def jax(y: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def forward(carry: Any, y: Any) -> Any:
            m, p = carry
            m1, p1 = m @ move.T, move @ p @ move.T + noise
            s = see @ p1 @ see.T + error
            gain = jnp.linalg.solve(s, see @ p1).T
            new = m1 + (y - m1 @ see.T) @ gain.T, p1 - gain @ see @ p1
            return new, (m1, p1, *new)

        start = jnp.zeros((16, 4)), jnp.eye(4)
        (last, cov), (m1, p1, m, p) = jax.lax.scan(forward, start, y)

        def backward(carry: Any, x: Any) -> Any:
            ms, ps = carry
            m1, p1, m, p = x
            g = jnp.linalg.solve(p1, move @ p).T
            ms, ps = m + (ms - m1) @ g.T, p + g @ (ps - p1) @ g.T
            return (ms, ps), ms

        smooth = jax.lax.scan(backward, (last, cov), (m1[1:], p1[1:], m[:-1], p[:-1]), reverse=True)[1]
        return {"smooth": jnp.concatenate([smooth, last[None]])}

    return data, {"ours": ours, "jax": jax}


def particles(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """A particle filter of a stochastic volatility model: 4,096 particles, 200 steps, systematic resampling, in
    float64."""
    n, steps = 4096, 200
    data: Data = {
        "y": (rng.standard_normal(steps), ("time",)),
        "noise": (rng.standard_normal((steps, n)), ("time", "particle")),
        "u": (rng.random(steps), ("time",)),
    }

    def ours(y: Any, noise: Any, u: Any) -> Any:
        import xtensor as xt

        def step(carry: Any, x: Any) -> Any:
            y, noise, u = x
            h = 0.95 * carry + 0.25 * noise
            logw = -0.5 * (h + y * y * xt.exp(-h))
            top = xt.max(logw)
            w = xt.exp(logw - top)
            total = xt.sum(w)
            marks = (xt.arange(n, dim="particle", dtype="f8") + u) * (total / n)
            at = xt.searchsorted(xt.cumsum(w, "particle").rename(particle="sorted"), marks, dim="sorted")
            h = xt.take(h, xt.minimum(at, n - 1), dim="particle")
            return h, (top + xt.log(total / n), xt.mean(h))

        _, (likelihood, mean) = xt.scan(step, xt.zeros(particle=n, dtype="f8"), (y, noise, u), dim="time")
        return {"likelihood": xt.sum(likelihood), "mean": mean}

    def jax(y: Any, noise: Any, u: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def step(carry: Any, x: Any) -> Any:
            y, noise, u = x
            h = 0.95 * carry + 0.25 * noise
            logw = -0.5 * (h + y * y * jnp.exp(-h))
            top = logw.max()
            w = jnp.exp(logw - top)
            total = w.sum()
            at = jnp.searchsorted(jnp.cumsum(w), (jnp.arange(n, dtype="f8") + u) * (total / n))
            h = h[jnp.minimum(at, n - 1)]
            return h, (top + jnp.log(total / n), h.mean())

        _, (likelihood, mean) = jax.lax.scan(step, jnp.zeros(n, "f8"), (y, noise, u))
        return {"likelihood": likelihood.sum(), "mean": mean}

    return data, {"ours": ours, "jax": jax}


def policy(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """The gradient of a return by the weights of a policy, through 100 steps of 256 pendulums on carts."""
    data: Data = {
        "w": (rng.standard_normal((4, 32)).astype("f4") * 0.3, ("state", "hidden")),
        "v": (rng.standard_normal(32).astype("f4") * 0.3, ("hidden",)),
        "start": (rng.uniform(-0.05, 0.05, (256, 4)).astype("f4"), ("cart", "state")),
    }

    def move(m: Any, x: Any, speed: Any, angle: Any, turn: Any, force: Any) -> Any:
        cos, sin = m.cos(angle), m.sin(angle)
        push = (force + 0.05 * turn * turn * sin) / 1.1
        bend = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        shift = push - 0.05 * bend * cos / 1.1
        return x + 0.02 * speed, speed + 0.02 * shift, angle + 0.02 * turn, turn + 0.02 * bend

    def ours(w: Any, v: Any, start: Any) -> Any:
        import xtensor as xt

        def loss(w: Any, v: Any) -> Any:
            def step(s: Any, _: Any) -> Any:
                force = 10 * xt.tanh(xt.dot(xt.tanh(xt.dot(s, w, dim="state")), v, dim="hidden"))
                parts = move(xt, *(s.isel(state=k) for k in range(4)), force)
                s = xt.concat([xt.expand_dims(p, {"state": 1}) for p in parts], "state").transpose("cart", "state")
                return s, xt.mean(xt.square(parts[2]) + 0.1 * xt.square(parts[0]))

            return xt.sum(xt.scan(step, start, dim="time", length=100)[1])

        value, gradients = xt.value_and_grad(loss, wrt=(0, 1))(w, v)
        return {"loss": value, "w": gradients[0].transpose("state", "hidden"), "v": gradients[1]}

    def jax(w: Any, v: Any, start: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def loss(w: Any, v: Any) -> Any:
            def step(s: Any, _: Any) -> Any:
                force = 10 * jnp.tanh(jnp.tanh(s @ w) @ v)
                parts = move(jnp, *(s[:, k] for k in range(4)), force)
                return jnp.stack(parts, 1), jnp.mean(parts[2] ** 2 + 0.1 * parts[0] ** 2)

            return jax.lax.scan(step, start, None, length=100)[1].sum()

        value, (gw, gv) = jax.value_and_grad(loss, argnums=(0, 1))(w, v)
        return {"loss": value, "w": gw, "v": gv}

    return data, {"ours": ours, "jax": jax}
