"""Simulations: bodies that attract each other, and two stencils."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, tuple[Any, Any]]


def bodies(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """20 leapfrog steps of 512 bodies, in float32."""
    data: Data = {
        "x": (rng.standard_normal((512, 3)).astype("f4"), ("body", "axis")),
        "v": (rng.standard_normal((512, 3)).astype("f4") * 0.1, ("body", "axis")),
        "mass": (rng.random(512).astype("f4") / 512, ("body",)),
    }
    dt = 0.01

    def ours(x: Any, v: Any, mass: Any) -> Any:
        import xtensor as xt

        def pull(x: Any) -> Any:
            d = x.rename(body="other") - x
            r2 = xt.sum(xt.square(d), "axis") + 0.01
            return xt.dot(d, mass.rename(body="other") * xt.rsqrt(r2) / r2, dim="other")

        def step(carry: Any, _: Any) -> Any:
            x, v = carry
            v = v + 0.5 * dt * pull(x)
            x = x + dt * v
            return (x, v + 0.5 * dt * pull(x)), None

        (x, v), _ = xt.scan(step, (x, v), dim="step", length=20)
        return {"x": x.transpose("body", "axis"), "v": v.transpose("body", "axis")}

    def jax(x: Any, v: Any, mass: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def pull(x: Any) -> Any:
            d = x[None] - x[:, None]
            r2 = jnp.sum(d * d, -1) + 0.01
            return jnp.einsum("bok,bo->bk", d, mass * jax.lax.rsqrt(r2) / r2)

        def step(carry: Any, _: Any) -> Any:
            x, v = carry
            v = v + 0.5 * dt * pull(x)
            x = x + dt * v
            return (x, v + 0.5 * dt * pull(x)), None

        (x, v), _ = jax.lax.scan(step, (x, v), None, length=20)
        return {"x": x, "v": v}

    return data, {"ours": ours, "jax": jax}


def heat(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """100 steps of heat in a square of 512 x 512 with cold edges, and the gradient by the start, in float32."""
    n, steps = 512, 100
    data: Data = {"u": (rng.random((n, n)).astype("f4"), ("y", "x"))}

    def ours(u: Any) -> Any:
        import xtensor as xt

        def step(u: Any, _: Any) -> Any:
            p = xt.pad(u, {"y": 1, "x": 1})
            low, high, mid = slice(None, -2), slice(2, None), slice(1, -1)
            around = p.isel(y=low, x=mid) + p.isel(y=high, x=mid) + p.isel(y=mid, x=low) + p.isel(y=mid, x=high)
            return u + 0.2 * (around - 4 * u), None

        def loss(u: Any) -> Any:
            return xt.mean(xt.square(xt.scan(step, u, dim="step", length=steps)[0]))

        value, gradient = xt.value_and_grad(loss)(u)
        return {"loss": value, "gradient": gradient.transpose("y", "x")}

    def jax(u: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def step(u: Any, _: Any) -> Any:
            p = jnp.pad(u, 1)
            return u + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u), None

        def loss(u: Any) -> Any:
            return jnp.mean(jax.lax.scan(step, u, None, length=steps)[0] ** 2)

        value, gradient = jax.value_and_grad(loss)(u)
        return {"loss": value, "gradient": gradient}

    return data, {"ours": ours, "jax": jax}


def reaction(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """200 steps of the Gray-Scott reaction on a torus of 256 x 256, in float32."""
    n, steps = 256, 200
    u = np.ones((n, n), "f4")
    u[100:140, 100:140] = 0.5
    data: Data = {"u": (u, ("y", "x")), "v": ((1 - u) / 2 + 0.01 * rng.random((n, n)).astype("f4"), ("y", "x"))}

    def rates(around: Any, u: Any, v: Any) -> Any:
        made = u * v * v
        return u + 0.16 * around(u) - made + 0.035 * (1 - u), v + 0.08 * around(v) + made - 0.1 * v

    def ours(u: Any, v: Any) -> Any:
        import xtensor as xt

        def around(u: Any) -> Any:
            return xt.roll(u, y=1) + xt.roll(u, y=-1) + xt.roll(u, x=1) + xt.roll(u, x=-1) - 4 * u

        (u, v), _ = xt.scan(lambda c, _: (rates(around, *c), None), (u, v), dim="step", length=steps)
        return {"u": u.transpose("y", "x"), "v": v.transpose("y", "x")}

    def jax(u: Any, v: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def around(u: Any) -> Any:
            return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u

        (u, v), _ = jax.lax.scan(lambda c, _: (rates(around, *c), None), (u, v), None, length=steps)
        return {"u": u, "v": v}

    return data, {"ours": ours, "jax": jax}
