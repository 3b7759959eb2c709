"""Training steps of networks: value, gradient and the update of the optimizer, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, tuple[Any, Any]]

LAYERS, WIDTH, HEADS, LENGTH, BATCH, TOKENS = 2, 128, 4, 128, 8, 96


def _f4(rng: np.random.Generator, *sizes: int, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(sizes) * scale).astype("f4")


def transformer(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """A causal transformer that predicts characters, with Adam."""
    data: Data = {"embed": (_f4(rng, TOKENS, WIDTH, scale=0.3), ("token", "width"))}
    inner = WIDTH // HEADS
    for i in range(LAYERS):
        for name in "qkv":
            data[f"{name}{i}"] = (_f4(rng, WIDTH, HEADS, inner, scale=WIDTH**-0.5), ("width", "head", "inner"))
        data[f"o{i}"] = (_f4(rng, HEADS, inner, WIDTH, scale=WIDTH**-0.5), ("head", "inner", "width"))
        data[f"up{i}"] = (_f4(rng, WIDTH, 4 * WIDTH, scale=WIDTH**-0.5), ("width", "hidden"))
        data[f"down{i}"] = (_f4(rng, 4 * WIDTH, WIDTH, scale=WIDTH**-0.5 / 2), ("hidden", "width"))
    names = list(data)
    text = rng.integers(0, TOKENS, (BATCH, LENGTH + 1))
    data["x"], data["y"] = (text[:, :-1], ("batch", "time")), (text[:, 1:], ("batch", "time"))
    for name in names:
        for moment in "mv":
            data[f"{moment} {name}"] = (np.abs(data[name][0]) * 0.01, data[name][1])

    def adam(m: Any, parameters: Any, gradients: Any, first: Any, second: Any) -> Any:
        first = {n: 0.9 * first[n] + 0.1 * gradients[n] for n in names}
        second = {n: 0.999 * second[n] + 0.001 * gradients[n] * gradients[n] for n in names}
        new = {n: parameters[n] - 1e-3 * first[n] / (m.sqrt(second[n]) + 1e-8) for n in names}
        return new, first, second

    def step(m: Any, value_and_grad: Any, args: Any) -> Any:
        given = dict(zip(data, args, strict=True))
        p, first, second = ({n: given[k + n] for n in names} for k in ("", "m ", "v "))
        value, gradients = value_and_grad(p, given["x"], given["y"])
        new = adam(m, p, gradients, first, second)
        return {"loss": value, "sums": sum(m.sum(m.square(x)) for x in new[0].values())}, new

    def ours(*args: Any) -> Any:
        import xtensor as xt

        def norm(x: Any) -> Any:
            return xt.nn.layer_norm(x, dim="width")

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = p["embed"].isel(token=x)
            for i in range(LAYERS):
                n = norm(h)
                q, k, v = (xt.dot(n, p[f"{c}{i}"], dim="width") for c in "qkv")
                k, v = k.rename(time="key"), v.rename(time="key", inner="value")
                a = xt.nn.attention(q, k, v, dims=("time", "key", "inner"), causal=True).rename(value="inner")
                h = h + xt.dot(a, p[f"o{i}"], dim=("head", "inner"))
                h = h + xt.dot(xt.gelu(xt.dot(norm(h), p[f"up{i}"], dim="width")), p[f"down{i}"], dim="hidden")
            logits = xt.dot(norm(h), p["embed"], dim="width")
            return xt.mean(xt.nn.cross_entropy(logits, y, dim="token"))

        return step(xt, xt.value_and_grad(loss), args)

    def jax(*args: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def norm(x: Any) -> Any:
            c = x - x.mean(-1, keepdims=True)
            return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5)

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = p["embed"][x]
            for i in range(LAYERS):
                n = norm(h)
                q, k, v = (jnp.einsum("btw,whi->bthi", n, p[f"{c}{i}"]) for c in "qkv")
                a = jax.nn.dot_product_attention(q, k, v, is_causal=True)
                h = h + jnp.einsum("bthi,hiw->btw", a, p[f"o{i}"])
                h = h + jax.nn.gelu(norm(h) @ p[f"up{i}"], approximate=False) @ p[f"down{i}"]
            logits = jax.nn.log_softmax(norm(h) @ p["embed"].T)
            return -jnp.take_along_axis(logits, y[..., None], -1).mean()

        return step(jnp, jax.value_and_grad(loss), args)

    def torch(*args: Any) -> Any:
        import torch
        from torch.nn import functional as F  # noqa: N812

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = p["embed"][x]
            for i in range(LAYERS):
                n = F.layer_norm(h, (WIDTH,))
                q, k, v = (torch.einsum("btw,whi->bhti", n, p[f"{c}{i}"]) for c in "qkv")
                a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                h = h + torch.einsum("bhti,hiw->btw", a, p[f"o{i}"])
                h = h + F.gelu(F.layer_norm(h, (WIDTH,)) @ p[f"up{i}"]) @ p[f"down{i}"]
            logits = F.layer_norm(h, (WIDTH,)) @ p["embed"].T
            return F.cross_entropy(logits.reshape(-1, TOKENS), y.reshape(-1))

        return step(torch, lambda *a: torch.func.grad_and_value(loss)(*a)[::-1], args)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def residual(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """Three residual blocks of 3x3 convolutions on images [16, 32, 32, 3], with momentum."""
    channels, blocks = 32, 3
    kernel = ("kh", "kw", "channel", "out")
    data: Data = {"stem": (_f4(rng, 3, 3, 3, channels, scale=0.2), kernel)}
    for i in range(blocks):
        for j in "ab":
            data[f"{j}{i}"] = (_f4(rng, 3, 3, channels, channels, scale=0.06), kernel)
    data["head"] = (_f4(rng, channels, 10, scale=0.2), ("channel", "digit"))
    names = list(data)
    data["x"] = (_f4(rng, 16, 32, 32, 3), ("image", "h", "w", "channel"))
    data["y"] = (rng.integers(0, 10, 16), ("image",))

    def step(m: Any, value_and_grad: Any, args: Any) -> Any:
        given = dict(zip(data, args, strict=True))
        p = {n: given[n] for n in names}
        value, gradients = value_and_grad(p, given["x"], given["y"])
        new = {n: p[n] - 0.01 * gradients[n] for n in names}
        return {"loss": value, "sums": sum(m.sum(m.square(x)) for x in new.values())}, new

    def ours(*args: Any) -> Any:
        import xtensor as xt

        def conv(x: Any, w: Any) -> Any:
            y = xt.nn.conv(x, w, {"h": "kh", "w": "kw"}, dim="channel", padding="same")
            return y.rename(out="channel")

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = xt.relu(conv(x, p["stem"]))
            for i in range(blocks):
                h = xt.relu(h + conv(xt.relu(conv(h, p[f"a{i}"])), p[f"b{i}"]))
            logits = xt.dot(h.mean(("h", "w")), p["head"], dim="channel")
            return xt.mean(xt.nn.cross_entropy(logits, y, dim="digit"))

        return step(xt, xt.value_and_grad(loss), args)

    def jax(*args: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def conv(x: Any, w: Any) -> Any:
            return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = jax.nn.relu(conv(x, p["stem"]))
            for i in range(blocks):
                h = jax.nn.relu(h + conv(jax.nn.relu(conv(h, p[f"a{i}"])), p[f"b{i}"]))
            logits = jax.nn.log_softmax(h.mean((1, 2)) @ p["head"])
            return -jnp.take_along_axis(logits, y[:, None], -1).mean()

        return step(jnp, jax.value_and_grad(loss), args)

    def torch(*args: Any) -> Any:
        import torch
        from torch.nn import functional as F  # noqa: N812

        def conv(x: Any, w: Any) -> Any:
            return F.conv2d(x, w.permute(3, 2, 0, 1), padding="same")

        def loss(p: Any, x: Any, y: Any) -> Any:
            h = F.relu(conv(x.permute(0, 3, 1, 2), p["stem"]))
            for i in range(blocks):
                h = F.relu(h + conv(F.relu(conv(h, p[f"a{i}"])), p[f"b{i}"]))
            return F.cross_entropy(h.mean((2, 3)) @ p["head"], y)

        return step(torch, lambda *a: torch.func.grad_and_value(loss)(*a)[::-1], args)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def lstm(rng: np.random.Generator) -> tuple[Data, dict[str, Any]]:
    """Value and gradient of an LSTM: 100 steps of a batch of 32, 128 units."""
    units, steps, batch = 128, 100, 32
    data: Data = {
        "u": (_f4(rng, 32, 4, units, scale=0.2), ("feature", "gate", "unit")),
        "w": (_f4(rng, units, 4, units, scale=0.09), ("before", "gate", "unit")),
        "b": (_f4(rng, 4, units, scale=0.1), ("gate", "unit")),
        "x": (_f4(rng, steps, batch, 32), ("time", "batch", "feature")),
    }

    def ours(u: Any, w: Any, b: Any, x: Any) -> Any:
        import xtensor as xt

        def loss(u: Any, w: Any, b: Any, x: Any) -> Any:
            def step(carry: Any, x: Any) -> Any:
                h, c = carry
                z = xt.dot(x, u, dim="feature") + xt.dot(h.rename(unit="before"), w, dim="before") + b
                i, f, o, g = (z.isel(gate=k) for k in range(4))
                c = xt.sigmoid(f) * c + xt.sigmoid(i) * xt.tanh(g)
                h = xt.sigmoid(o) * xt.tanh(c)
                return (h, c), xt.mean(xt.square(h))

            zero = xt.zeros(batch=batch, unit=units, dtype="f4")
            return xt.sum(xt.scan(step, (zero, zero), x, dim="time")[1])

        value, gradients = xt.value_and_grad(loss, wrt=(0, 1, 2))(u, w, b, x)
        return {"loss": value, "sums": sum(xt.sum(xt.square(g)) for g in gradients)}, gradients

    def jax(u: Any, w: Any, b: Any, x: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def loss(u: Any, w: Any, b: Any, x: Any) -> Any:
            def step(carry: Any, x: Any) -> Any:
                h, c = carry
                z = (x @ u.reshape(32, -1) + h @ w.reshape(units, -1)).reshape(batch, 4, units) + b
                i, f, o, g = (z[:, k] for k in range(4))
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), jnp.mean(h * h)

            zero = jnp.zeros((batch, units), "f4")
            return jax.lax.scan(step, (zero, zero), x)[1].sum()

        value, gradients = jax.value_and_grad(loss, argnums=(0, 1, 2))(u, w, b, x)
        return {"loss": value, "sums": sum(jnp.sum(g * g) for g in gradients)}, gradients

    return data, {"ours": ours, "jax": jax}
