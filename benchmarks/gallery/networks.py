"""In JAX: the programs of the gallery that train networks. `names` are what the program in examples/ defines."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xtensor as xt
from jax import lax
from pair import Pair, adam, adam_state, cosine, trained, value

Names = dict[str, Any]


def images(names: Names) -> Pair:
    p, batch, train = names["p"], names["BATCH"], names["train"]
    start = {
        "edges": value(p["edges"], "dy", "dx", "edge")[:, :, None],
        "edge_bias": value(p["edge_bias"]),
        "parts": value(p["parts"], "dy", "dx", "edge", "part"),
        "part_bias": value(p["part_bias"]),
        "read": value(p["read"], "y", "x", "part", "digit"),
        "bias": value(p["bias"]),
    }

    def convolved(x: Any, w: Any) -> Any:
        axes = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x[None], w, (1, 1), "SAME", dimension_numbers=axes)[0]

    def scores(p: Any, image: Any) -> Any:
        h = jax.nn.relu(convolved(image[..., None], p["edges"]) + p["edge_bias"])
        h = h.reshape(4, 2, 4, 2, 8).max((1, 3))  # faster here than reduce_window, and its gradient shares ties, too
        h = jax.nn.relu(convolved(h, p["parts"]) + p["part_bias"])
        return jnp.einsum("yxp,yxpd->d", h, p["read"]) + p["bias"]

    def loss(p: Any, x: Any, y: Any) -> Any:
        logs = jax.nn.log_softmax(jax.vmap(scores, (None, 0))(p, x))
        return -jnp.take_along_axis(logs, y[:, None], 1).mean()

    def epoch(p: Any, state: Any, images: Any, labels: Any, key: Any) -> Any:
        count = len(images)
        mixed = jax.random.permutation(key, count)
        batches = [a[mixed].reshape(count // batch, batch, *a.shape[1:]) for a in (images, labels)]

        def step(carry: Any, data: Any) -> Any:
            found, gradient = jax.value_and_grad(loss)(carry[0], *data)
            return adam(carry[0], gradient, carry[1], 3e-3), found

        (p, state), losses = lax.scan(step, (p, state), batches)
        return p, state, losses.mean()

    x, y = value(train[0], "sample", "y", "x"), value(train[1])

    # The permutations of an epoch differ. So the loss and the norm of its gradient at the start must agree.
    def our_sum(_: Any) -> float:
        found, gradient = xt.value_and_grad(names["loss"])(p, *train)
        return found.item() + sum(xt.sum(xt.square(g)).item() for g in gradient.values()) ** 0.5

    def jax_sum(_: Any) -> float:
        found, gradient = jax.value_and_grad(loss)(start, x, y)
        return float(found) + sum(float(jnp.sum(g * g)) for g in gradient.values()) ** 0.5

    return Pair(
        names["epoch"],
        (p, names["adam"].init(p), *train, xt.random.key(1)),
        our_sum,
        epoch,
        (start, adam_state(start), x, y, jax.random.key(1)),
        jax_sum,
        tolerance=1e-4,
        steps=train[0].sizes["sample"] // batch,
    )


LAYER = {
    "norm": ("width",),
    "query": ("width", "head", "feature"),
    "key": ("width", "head", "feature"),
    "value": ("width", "head", "feature"),
    "out": ("head", "feature", "width"),
    "norm2": ("width",),
    "up": ("width", "hidden"),
    "down": ("hidden", "width"),
}


def transformer(names: Names) -> Pair:
    steps, params = names["STEPS"], names["params"]
    start = {
        "char": value(params["char"], "char", "width"),
        "place": value(params["place"], "time", "width"),
        "norm": value(params["norm"]),
        "layers": [{k: value(v, *LAYER[k]) for k, v in layer.items()} for layer in params["layers"]],
    }

    def normed(x: Any, w: Any) -> Any:
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * w

    def attend(p: Any, x: Any) -> Any:
        q, k, v = (jnp.einsum("btw,whf->bthf", x, p[name]) for name in ("query", "key", "value"))
        return jnp.einsum("bthf,hfw->btw", jax.nn.dot_product_attention(q, k, v, is_causal=True), p["out"])

    def loss(params: Any, codes: Any) -> Any:
        seen, following = codes[:, :-1], codes[:, 1:]
        x = params["char"][seen] + params["place"]
        for p in params["layers"]:
            x = x + attend(p, normed(x, p["norm"]))
            x = x + jax.nn.gelu(normed(x, p["norm2"]) @ p["up"], approximate=False) @ p["down"]
        logs = jax.nn.log_softmax(normed(x, params["norm"]) @ params["char"].T)
        return -jnp.take_along_axis(logs, following[..., None], -1).mean() / np.log(2)

    after_warm_up = cosine(0.004, steps)

    def step(params: Any, state: Any, codes: Any) -> Any:
        found, gradient = jax.value_and_grad(loss)(params, codes)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradient)))
        gradient = jax.tree.map(lambda g: g * jnp.where(norm > 1.0, 1.0 / norm, 1.0), gradient)
        count = state[0]
        rate = jnp.where(count < 20, 0.004 * count / 20, after_warm_up(jnp.maximum(count - 20, 0)))
        return found, *adam(params, gradient, state, rate, 0.01)

    codes = names["batch"](names["train_codes"], names["BATCH"])
    return Pair(
        names["step"],
        (params, names["optimizer"].init(params), codes),
        lambda r: r[0].item(),
        step,
        (start, adam_state(start), value(codes)),
        lambda r: float(r[0]),
        tolerance=1e-4,
    )


def neural_ode(names: Names) -> Pair:
    interval, length, steps = names["INTERVAL"], names["LENGTH"], names["STEPS"]
    p, segments = names["p"], names["segments"]
    start = {
        "w1": value(p["w1"], "state", "hidden"),
        "b1": value(p["b1"]),
        "w2": value(p["w2"], "hidden", "state"),
        "b2": value(p["b2"]),
    }

    def velocity(p: Any, u: Any) -> Any:
        return jnp.tanh(u @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def integrate(p: Any, u: Any) -> Any:
        def step(u: Any, _: None) -> Any:
            a = velocity(p, u)
            b = velocity(p, u + 0.5 * interval * a)
            c = velocity(p, u + 0.5 * interval * b)
            d = velocity(p, u + interval * c)
            u = u + interval / 6 * (a + 2 * b + 2 * c + d)
            return u, u

        return lax.scan(step, u, None, length=length)[1]

    def loss(p: Any, segments: Any) -> Any:
        return jnp.mean((integrate(p, segments[:, 0]) - segments[:, 1:].transpose(1, 0, 2)) ** 2)

    return Pair(
        names["train"],
        (p, names["optimizer"].init(p), segments),
        lambda r: r[1].values[0].item(),
        trained(loss, cosine(0.02, names["BLOCKS"] * steps), steps),
        (start, adam_state(start), value(segments, "segment", "time", "state")),
        lambda r: float(r[1][0]),
        tolerance=1e-3,
        steps=steps,
    )


def nbody(names: Names) -> Pair:
    interval, length, steps = names["INTERVAL"], names["LENGTH"], names["STEPS"]
    p, dims = names["p"], ("system", "body", "axis")
    start = {name: value(each) for name, each in p.items()}

    def learned(p: Any, squared: Any) -> Any:
        hidden = jnp.tanh(jnp.log(squared + 0.01)[..., None] * p["w1"] + p["b1"])
        return jnp.exp(hidden @ p["w2"] + p["b2"])

    def acceleration(p: Any, x: Any) -> Any:
        apart = x[:, None, :, :] - x[:, :, None, :]
        return jnp.sum(learned(p, jnp.sum(apart**2, -1))[..., None] * apart, 2)

    def move(p: Any, x: Any, v: Any) -> Any:
        def step(carry: Any, _: None) -> Any:
            x, v, a = carry
            v = v + 0.5 * interval * a
            x = x + interval * v
            a = acceleration(p, x)
            v = v + 0.5 * interval * a
            return (x, v, a), (x, v)

        return lax.scan(step, (x, v, acceleration(p, x)), None, length=length)[1]

    def loss(p: Any, x: Any, v: Any, seen: Any) -> Any:
        return sum(jnp.mean((a - b) ** 2) for a, b in zip(move(p, x, v), seen, strict=True))

    x, v, seen = names["x"], names["v"], names["seen"]
    data = value(x, *dims), value(v, *dims), tuple(value(a, "time", *dims) for a in seen)
    return Pair(
        names["train"],
        (p, names["optimizer"].init(p), x, v, seen),
        lambda r: r[1].values[0].item(),
        trained(loss, cosine(0.05, names["BLOCKS"] * steps), steps),
        (start, adam_state(start), *data),
        lambda r: float(r[1][0]),
        tolerance=1e-3,
        steps=steps,
    )
