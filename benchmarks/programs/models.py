"""Statistics: a sampler, a Gaussian process, clusters, and a climate's anomalies."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, tuple[Any, Any]]


def hamiltonian(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """50 draws of HMC, 20 leapfrog steps each, for the means of 40 groups of 100 measurements, in float64."""
    groups, each, draws = 40, 100, 50
    data: Data = {
        "y": (rng.standard_normal((groups, each)) + rng.standard_normal((groups, 1)), ("group", "row")),
        "momenta": (rng.standard_normal((draws, groups + 2)), ("draw", "place")),
        "u": (rng.random(draws), ("draw",)),
    }
    rate = 0.03

    def leap(slope: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            q, p, g = carry
            p = p + 0.5 * rate * g
            q = q + rate * p
            g = slope(q)
            return (q, p + 0.5 * rate * g, g), None

        return step

    def ours(y: Any, momenta: Any, u: Any) -> Any:
        import xtensor as xt

        def density(q: Any) -> Any:
            mean, scale = q.isel(place=0), q.isel(place=1)
            z = q.isel(place=slice(2, None)).rename(place="group")
            error = y - (mean + xt.exp(scale) * z)
            return -0.5 * (xt.sum(xt.square(error)) + xt.sum(xt.square(z)) + mean * mean / 25 + scale * scale)

        slope = xt.grad(density)

        def draw(q: Any, x: Any) -> Any:
            p0, u = x

            (new, p, _), _ = xt.scan(leap(slope), (q, p0, slope(q)), dim="leap", length=20)
            energy = density(new) - density(q) - 0.5 * (xt.sum(p * p) - xt.sum(p0 * p0))
            q = xt.where(xt.log(u) < energy, new, q)
            return q, (q.isel(place=0), energy)

        _, (mean, energy) = xt.scan(draw, xt.zeros(place=groups + 2), (momenta, u), dim="draw")
        return {"mean": mean, "energy": energy}

    def jax(y: Any, momenta: Any, u: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def density(q: Any) -> Any:
            mean, scale, z = q[0], q[1], q[2:]
            error = y - (mean + jnp.exp(scale) * z)[:, None]
            return -0.5 * (jnp.sum(error**2) + jnp.sum(z**2) + mean**2 / 25 + scale**2)

        slope = jax.grad(density)

        def draw(q: Any, x: Any) -> Any:
            p0, u = x

            (new, p, _), _ = jax.lax.scan(leap(slope), (q, p0, slope(q)), None, length=20)
            energy = density(new) - density(q) - 0.5 * (jnp.sum(p * p) - jnp.sum(p0 * p0))
            q = jnp.where(jnp.log(u) < energy, new, q)
            return q, (q[0], energy)

        _, (mean, energy) = jax.lax.scan(draw, jnp.zeros(groups + 2), (momenta, u))
        return {"mean": mean, "energy": energy}

    return data, {"ours": ours, "jax": jax}


def process(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """The log likelihood of a Gaussian process of 400 points in 3 dims, and its gradient, in float64."""
    n = 400
    data: Data = {
        "theta": (np.array([0.1, 0.2, -0.1, 0.3, -2.0]), ("hyper",)),
        "x": (rng.uniform(-2, 2, (n, 3)), ("point", "axis")),
        "y": (rng.standard_normal(n), ("point",)),
    }

    def ours(theta: Any, x: Any, y: Any) -> Any:
        import xtensor as xt

        def loss(theta: Any) -> Any:
            z = x / xt.exp(theta.isel(hyper=slice(3)).rename(hyper="axis"))
            d = xt.sum(xt.square(z - z.rename(point="other")), "axis")
            k = xt.exp(theta.isel(hyper=3)) * xt.exp(-0.5 * d)
            k = k + xt.exp(theta.isel(hyper=4)) * xt.eye(n, dims=("point", "other"))
            factor = xt.linalg.cholesky(k, dims=("point", "other"))
            a = xt.linalg.triangular_solve(factor, y, dims=("point", "other"))
            return 0.5 * xt.sum(xt.square(a)) + xt.sum(xt.log(xt.linalg.diagonal(factor, dims=("point", "other"))))

        value, gradient = xt.value_and_grad(loss)(theta)
        return {"loss": value, "gradient": gradient}

    def jax(theta: Any, x: Any, y: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def loss(theta: Any) -> Any:
            z = x / jnp.exp(theta[:3])
            d = jnp.sum((z[:, None] - z[None]) ** 2, -1)
            k = jnp.exp(theta[3]) * jnp.exp(-0.5 * d) + jnp.exp(theta[4]) * jnp.eye(n)
            factor = jnp.linalg.cholesky(k)
            a = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
            return 0.5 * jnp.sum(a * a) + jnp.sum(jnp.log(jnp.diagonal(factor)))

        value, gradient = jax.value_and_grad(loss)(theta)
        return {"loss": value, "gradient": gradient}

    def torch(theta: Any, x: Any, y: Any) -> Any:
        import torch

        def loss(theta: Any) -> Any:
            z = x / torch.exp(theta[:3])
            d = torch.sum((z[:, None] - z[None]) ** 2, -1)
            k = torch.exp(theta[3]) * torch.exp(-0.5 * d) + torch.exp(theta[4]) * torch.eye(n, dtype=x.dtype)
            factor = torch.linalg.cholesky(k)
            a = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
            return 0.5 * torch.sum(a * a) + torch.sum(torch.log(torch.diagonal(factor)))

        gradient, value = torch.func.grad_and_value(loss)(theta)
        return {"loss": value, "gradient": gradient}

    return data, {"ours": ours, "jax": jax, "torch": torch}


def clusters(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """Ten iterations of k-means: 20,000 points in 16 dims, 32 centres, in float32."""
    k = 32
    points = rng.standard_normal((20_000, 16)) + 3 * rng.standard_normal((k, 16))[rng.integers(0, k, 20_000)]
    data: Data = {
        "x": (points.astype("f4"), ("point", "axis")),
        "start": (points[:k].astype("f4"), ("centre", "axis")),
    }

    def ours(x: Any, start: Any) -> Any:
        import xtensor as xt

        def step(c: Any, _: Any) -> Any:
            d = xt.sum(xt.square(c), "axis") - 2 * xt.dot(x, c, dim="axis")
            code = xt.argmin(d, "centre")
            sums = xt.segment_sum(x, code, dim="point", num_groups=k, into="centre")
            count = xt.segment_sum(xt.ones_like(x.isel(axis=0)), code, dim="point", num_groups=k, into="centre")
            return xt.where(count > 0, sums / xt.maximum(count, 1), c).transpose("centre", "axis"), xt.sum(
                xt.min(d, "centre")
            )

        centres, cost = xt.scan(step, start, dim="step", length=10)
        return {"centres": centres.transpose("centre", "axis"), "cost": cost}

    def jax(x: Any, start: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def step(c: Any, _: Any) -> Any:
            d = jnp.sum(c * c, 1) - 2 * x @ c.T
            code = jnp.argmin(d, 1)
            sums = jax.ops.segment_sum(x, code, k)
            count = jax.ops.segment_sum(jnp.ones(len(x), "f4"), code, k)[:, None]
            return jnp.where(count > 0, sums / jnp.maximum(count, 1), c), jnp.sum(jnp.min(d, 1))

        centres, cost = jax.lax.scan(step, start, None, length=10)
        return {"centres": centres, "cost": cost}

    return data, {"ours": ours, "jax": jax}


def climate(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """Monthly means of 20 years of days on a grid [7300, 32, 64], anomalies, their trend and deviation."""
    days = 7300
    month = (np.arange(days) % 365 * 12 // 365).astype("i4")
    data: Data = {
        "t": (rng.standard_normal((days, 32, 64), dtype="f4"), ("time", "lat", "lon")),
        "month": (month, ("time",)),
    }

    def ours(t: Any, month: Any) -> Any:
        import xtensor as xt

        mean = xt.segment_mean(t, month, dim="time", num_groups=12, into="month")
        anomaly = t - mean.isel(month=month)
        when = xt.arange(days, dim="time", dtype="f4") / days - 0.5
        trend = xt.dot(anomaly, when, dim="time") / xt.sum(xt.square(when))
        deviation = xt.std(anomaly - trend * when, "time")
        return {
            "mean": mean.transpose("month", "lat", "lon"), "trend": trend.transpose("lat", "lon"),
            "deviation": deviation.transpose("lat", "lon"),
        }  # fmt: skip

    def jax(t: Any, month: Any) -> Any:
        import jax
        import jax.numpy as jnp

        count = jax.ops.segment_sum(jnp.ones(days, "f4"), month, 12)
        mean = jax.ops.segment_sum(t, month, 12) / count[:, None, None]
        anomaly = t - mean[month]
        when = jnp.arange(days, dtype="f4") / days - 0.5
        trend = jnp.einsum("tyx,t->yx", anomaly, when) / jnp.sum(when * when)
        return {"mean": mean, "trend": trend, "deviation": jnp.std(anomaly - trend * when[:, None, None], 0)}

    return data, {"ours": ours, "jax": jax}
