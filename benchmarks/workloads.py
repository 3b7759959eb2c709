"""The measured programs, each written for xtensor, JAX, PyTorch and NumPy on the same data.

A workload is a function `make(peer, rng)` that returns a callable without arguments, which runs
the program once to its end, and reports the arrays that it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Run = Callable[[], Any]
Data = dict[str, tuple[np.ndarray, tuple[str, ...]]]


def _f4(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes, dtype="f4")


# name -> (data, {peer: function of the data's arrays})
Workload = tuple[Data, dict[str, Callable[..., Any]]]


def chain(rng: np.random.Generator) -> Workload:
    data: Data = {
        "x": (_f4(rng, 64, 256, 256), ("a", "b", "c")),
        "w": (_f4(rng, 256), ("c",)),
        "b": (_f4(rng, 256), ("c",)),
    }

    def generic(m: Any) -> Callable[..., Any]:
        return lambda x, w, b: m.tanh(x * w) * m.exp(-x * x) + b

    return data, _each(generic)


def softmax(rng: np.random.Generator) -> Workload:
    data: Data = {"x": (_f4(rng, 4096, 1024), ("row", "column"))}

    def ours(x):
        import xtensor as xt

        return xt.nn.softmax(x, dim="column")

    def jax(x):
        import jax

        return jax.nn.softmax(x, axis=-1)

    def torch(x):
        import torch

        return torch.softmax(x, -1)

    def numpy(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return data, {"ours": ours, "jax": jax, "torch": torch, "numpy": numpy}


def layernorm_gradient(rng: np.random.Generator) -> Workload:
    data: Data = {
        "x": (_f4(rng, 2048, 1024), ("row", "column")),
        "g": (_f4(rng, 1024), ("column",)),
        "b": (_f4(rng, 1024), ("column",)),
    }

    def ours(x, g, b):
        import xtensor as xt

        def loss(x, g, b):
            return xt.sum(xt.tanh(xt.nn.layer_norm(x, dim="column", weight=g, bias=b)))

        return xt.grad(loss, wrt=(0, 1, 2))(x, g, b)

    def jax(x, g, b):
        import jax
        import jax.numpy as jnp

        def loss(x, g, b):
            c = x - x.mean(-1, keepdims=True)
            y = c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5)
            return jnp.tanh(y * g + b).sum()

        return jax.grad(loss, argnums=(0, 1, 2))(x, g, b)

    def torch(x, g, b):
        import torch

        def loss(x, g, b):
            return torch.tanh(torch.nn.functional.layer_norm(x, (1024,), g, b)).sum()

        return torch.func.grad(loss, argnums=(0, 1, 2))(x, g, b)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def per_sample_gradients(rng: np.random.Generator) -> Workload:
    """One gradient per sample, of parameters that the samples share."""
    data: Data = {
        "w1": (_f4(rng, 64, 128) / 8, ("pixel", "hidden")),
        "w2": (_f4(rng, 128, 10) / 11, ("hidden", "digit")),
        "x": (_f4(rng, 256, 64), ("sample", "pixel")),
        "y": (rng.integers(0, 10, 256), ("sample",)),
    }

    def ours(w1, w2, x, y):
        import xtensor as xt

        def loss(w1, w2, x, y):
            h = xt.tanh(xt.dot(x, w1, dim="pixel"))
            return xt.nn.cross_entropy(xt.dot(h, w2, dim="hidden"), y, dim="digit")

        return xt.vectorize(xt.grad(loss, wrt=(0, 1)), "sample")(w1, w2, x, y)

    def jax(w1, w2, x, y):
        import jax
        import jax.numpy as jnp

        def loss(w1, w2, x, y):
            return -jax.nn.log_softmax(jnp.tanh(x @ w1) @ w2)[y]

        return jax.vmap(jax.grad(loss, argnums=(0, 1)), in_axes=(None, None, 0, 0))(w1, w2, x, y)

    def torch(w1, w2, x, y):
        import torch

        def loss(w1, w2, x, y):
            return torch.nn.functional.cross_entropy(torch.tanh(x @ w1) @ w2, y)

        gradient = torch.func.grad(loss, argnums=(0, 1))
        return torch.func.vmap(gradient, in_dims=(None, None, 0, 0))(w1, w2, x, y)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def matmul(rng: np.random.Generator) -> Workload:
    data: Data = {
        "a": (_f4(rng, 1024, 1024), ("i", "k")),
        "b": (_f4(rng, 1024, 1024), ("k", "j")),
    }

    def ours(a, b):
        import xtensor as xt

        return xt.dot(a, b, dim="k")

    times = lambda a, b: a @ b  # noqa: E731
    return data, {"ours": ours, "jax": times, "torch": times, "numpy": times}


def mlp(rng: np.random.Generator) -> Workload:
    data: Data = {
        "w1": (_f4(rng, 784, 512) / 28, ("pixel", "hidden")),
        "b1": (_f4(rng, 512), ("hidden",)),
        "w2": (_f4(rng, 512, 10) / 23, ("hidden", "digit")),
        "b2": (_f4(rng, 10), ("digit",)),
        "x": (_f4(rng, 256, 784), ("sample", "pixel")),
        "y": (rng.integers(0, 10, 256), ("sample",)),
    }

    def ours(w1, b1, w2, b2, x, y):
        import xtensor as xt

        def loss(w1, b1, w2, b2):
            h = xt.tanh(xt.dot(x, w1, dim="pixel") + b1)
            z = xt.dot(h, w2, dim="hidden") + b2
            return xt.mean(xt.nn.cross_entropy(z, y, dim="digit"))

        return xt.value_and_grad(loss, wrt=(0, 1, 2, 3))(w1, b1, w2, b2)

    def jax(w1, b1, w2, b2, x, y):
        import jax
        import jax.numpy as jnp

        def loss(w1, b1, w2, b2):
            z = jnp.tanh(x @ w1 + b1) @ w2 + b2
            return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).mean()

        return jax.value_and_grad(loss, argnums=(0, 1, 2, 3))(w1, b1, w2, b2)

    def torch(w1, b1, w2, b2, x, y):
        import torch

        def loss(w1, b1, w2, b2):
            return torch.nn.functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, y)

        gradient, value = torch.func.grad_and_value(loss, argnums=(0, 1, 2, 3))(w1, b1, w2, b2)
        return value, gradient

    return data, {"ours": ours, "jax": jax, "torch": torch}


def attention(rng: np.random.Generator) -> Workload:
    data: Data = {
        "q": (_f4(rng, 8, 512, 64), ("head", "query", "feature")),
        "k": (_f4(rng, 8, 512, 64), ("head", "key", "feature")),
        "v": (_f4(rng, 8, 512, 64), ("head", "key", "feature")),
    }

    def ours(q, k, v):
        import xtensor as xt

        return xt.nn.attention(q, k, v, dims=("query", "key", "feature"))

    def jax(q, k, v):
        import jax
        import jax.numpy as jnp

        return jax.nn.softmax(jnp.einsum("hqf,hkf->hqk", q, k) / 8, -1) @ v

    def torch(q, k, v):
        import torch

        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def moments(rng: np.random.Generator) -> Workload:
    data: Data = {"x": (_f4(rng, 64, 512, 256), ("a", "b", "c"))}

    def ours(x):
        import xtensor as xt

        return xt.mean(x, dim="b"), xt.var(x, dim="b")

    def axis(x):
        return x.mean(1), x.var(1)

    def torch(x):
        return x.mean(1), x.var(1, correction=0)

    return data, {"ours": ours, "jax": axis, "torch": torch, "numpy": axis}


def glm(rng: np.random.Generator) -> Workload:
    data: Data = {
        "beta": (_f4(rng, 32) / 6, ("feature",)),
        "offset": (_f4(rng, 50), ("group",)),
        "x": (_f4(rng, 100_000, 32), ("obs", "feature")),
        "group": (rng.integers(0, 50, 100_000), ("obs",)),
        "y": ((rng.random(100_000) < 0.5).astype("f4"), ("obs",)),
    }

    def ours(beta, offset, x, group, y):
        import xtensor as xt

        def loss(beta, offset):
            eta = xt.dot(x, beta, dim="feature") + offset.isel(group=group)
            return xt.mean(xt.softplus(eta) - y * eta)

        return xt.grad(loss, wrt=(0, 1))(beta, offset)

    def jax(beta, offset, x, group, y):
        import jax

        def loss(beta, offset):
            eta = x @ beta + offset[group]
            return (jax.nn.softplus(eta) - y * eta).mean()

        return jax.grad(loss, argnums=(0, 1))(beta, offset)

    def torch(beta, offset, x, group, y):
        import torch

        def loss(beta, offset):
            eta = x @ beta + offset[group]
            return (torch.nn.functional.softplus(eta) - y * eta).mean()

        return torch.func.grad(loss, argnums=(0, 1))(beta, offset)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def _scan(scan: str, axis: int) -> Callable[[np.random.Generator], Workload]:
    """Value and gradient of a running sum or maximum, weighted so that no cotangent is constant."""

    def make(rng: np.random.Generator) -> Workload:
        data: Data = {"x": (_f4(rng, 4096, 1024), ("row", "column")), "w": (_f4(rng, 4096, 1024), ("row", "column"))}

        def ours(x, w):
            import xtensor as xt

            run = {"sum": xt.cumsum, "max": xt.cummax}[scan]
            return xt.value_and_grad(lambda x: xt.sum(run(x, dim=("row", "column")[axis]) * w))(x)

        def jax(x, w):
            import jax
            import jax.numpy as jnp

            run = {"sum": jnp.cumsum, "max": jax.lax.cummax}[scan]
            return jax.value_and_grad(lambda x: (run(x, axis) * w).sum())(x)

        def torch(x, w):
            import torch

            def loss(x):
                y = torch.cumsum(x, axis) if scan == "sum" else torch.cummax(x, axis).values
                return (y * w).sum()

            gradient, value = torch.func.grad_and_value(loss)(x)
            return value, gradient

        return data, {"ours": ours, "jax": jax, "torch": torch}

    return make


def rnn(rng: np.random.Generator) -> Workload:
    data: Data = {
        "h": (_f4(rng, 64, 128), ("batch", "unit")),
        "x": (_f4(rng, 1000, 64, 128), ("time", "batch", "unit")),
        "w": (_f4(rng, 128, 128) / 12, ("unit", "out")),
    }

    def ours(h, x, w):
        import xtensor as xt

        def step(h, x):
            h = xt.tanh(xt.dot(h, w, dim="unit").rename(out="unit") + x)
            return h, h

        return xt.scan(step, h, x, dim="time")

    def jax(h, x, w):
        import jax
        import jax.numpy as jnp

        def step(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h

        return jax.lax.scan(step, h, x)

    return data, {"ours": ours, "jax": jax}


def rnn_gradient(rng: np.random.Generator) -> Workload:
    data, _ = rnn(rng)

    def ours(h, x, w):
        import xtensor as xt

        def loss(h, x, w):
            def step(h, x):
                h = xt.tanh(xt.dot(h, w, dim="unit").rename(out="unit") + x)
                return h, h

            return xt.sum(xt.scan(step, h, x, dim="time")[1])

        return xt.grad(loss, wrt=(0, 2))(h, x, w)

    def jax(h, x, w):
        import jax
        import jax.numpy as jnp

        def loss(h, x, w):
            def step(h, x):
                h = jnp.tanh(h @ w + x)
                return h, h

            return jax.lax.scan(step, h, x)[1].sum()

        return jax.grad(loss, argnums=(0, 2))(h, x, w)

    return data, {"ours": ours, "jax": jax}


def recurrence(rng: np.random.Generator) -> Workload:
    data: Data = {"x": (_f4(rng, 1_000_000), ("time",))}

    def ours(x):
        import xtensor as xt

        return xt.scan(lambda c, e: (c * 0.9 + e, c), np.float32(0), x, dim="time")

    def jax(x):
        import jax

        return jax.lax.scan(lambda c, e: (c * 0.9 + e, c), np.float32(0), x)

    return data, {"ours": ours, "jax": jax}


def scatter_add(rng: np.random.Generator) -> Workload:
    """The sum as a value, and the gradient of the updates under a cotangent that differs from row to row."""
    data: Data = {
        "x": (_f4(rng, 50_000, 64), ("row", "column")),
        "i": (rng.integers(0, 50_000, 65_536), ("pick",)),
        "v": (_f4(rng, 65_536, 64), ("pick", "column")),
        "w": (_f4(rng, 50_000, 64), ("row", "column")),
    }

    def ours(x, i, v, w):
        import xtensor as xt

        y, back = xt.vjp(lambda v: x.at(row=i).add(v), v)
        return y, back(w)

    def jax(x, i, v, w):
        import jax

        y, back = jax.vjp(lambda v: x.at[i].add(v), v)
        return y, back(w)

    def torch(x, i, v, w):
        import torch

        y, back = torch.func.vjp(lambda v: x.index_add(0, i, v), v)
        return y, back(w)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def gather_gradient(rng: np.random.Generator) -> Workload:
    data: Data = {
        "x": (_f4(rng, 50_000, 64), ("row", "column")),
        "i": (rng.integers(0, 50_000, 65_536), ("pick",)),
        "w": (_f4(rng, 65_536, 64), ("pick", "column")),
    }

    def ours(x, i, w):
        import xtensor as xt

        return xt.grad(lambda x: xt.sum(x.isel(row=i) * w))(x)

    def jax(x, i, w):
        import jax

        return jax.grad(lambda x: (x[i] * w).sum())(x)

    def torch(x, i, w):
        import torch

        return torch.func.grad(lambda x: (x[i] * w).sum())(x)

    return data, {"ours": ours, "jax": jax, "torch": torch}


def cholesky_gradient(rng: np.random.Generator) -> Workload:
    x = _f4(rng, 64, 32, 32)
    data: Data = {
        "a": (x @ x.swapaxes(1, 2) + 32 * np.eye(32, dtype="f4"), ("batch", "row", "col")),
        "w": (_f4(rng, 64, 32, 32), ("batch", "row", "col")),
    }

    def ours(a, w):
        import xtensor as xt

        return xt.value_and_grad(lambda a: xt.sum(xt.linalg.cholesky(a) * w))(a)

    def jax(a, w):
        import jax

        return jax.value_and_grad(lambda a: (jax.numpy.linalg.cholesky(a) * w).sum())(a)

    def torch(a, w):
        import torch

        g, value = torch.func.grad_and_value(lambda a: (torch.linalg.cholesky(a) * w).sum())(a)
        return value, g

    return data, {"ours": ours, "jax": jax, "torch": torch}


def _random(name: str) -> Callable[[np.random.Generator], Workload]:
    """Ten million float32 numbers from a seed. Each peer draws its own; NumPy's are those of PCG64."""
    count = 10_000_000

    def make(rng: np.random.Generator) -> Workload:
        data: Data = {"seed": (np.array(7, "i4"), ())}

        def ours(seed):
            import xtensor as xt

            return getattr(xt.random, name)(xt.random.key(seed), i=count, dtype="f4")

        def jax(seed):
            import jax

            return getattr(jax.random, name)(jax.random.key(seed), (count,), "float32")

        def torch(seed):
            import torch

            return {"uniform": torch.rand, "normal": torch.randn}[name](count)

        def numpy(seed):
            draw = {"uniform": rng.random, "normal": rng.standard_normal}[name]
            return draw(count, dtype="f4")

        return data, {"ours": ours, "jax": jax, "torch": torch, "numpy": numpy}

    return make


def small(rng: np.random.Generator) -> Workload:
    data: Data = {"x": (_f4(rng, 8), ("i",))}
    return data, _each(lambda m: lambda x: x * 2 + 1)


def _each(generic: Callable[[Any], Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """One formula for all peers, which differ in the module of functions only."""

    def late(module: str) -> Callable[..., Any]:
        def call(*args):
            import importlib

            return generic(importlib.import_module(module))(*args)

        return call

    return {
        "ours": late("xtensor"),
        "jax": late("jax.numpy"),
        "torch": late("torch"),
        "numpy": late("numpy"),
    }


WORKLOADS: dict[str, tuple[str, Callable[[np.random.Generator], Workload]]] = {
    "chain": ("tanh(x*w)*exp(-x*x)+b, [64,256,256]", chain),
    "softmax": ("softmax over the last dim, [4096,1024]", softmax),
    "layernorm": ("gradient of sum(tanh(layernorm)), [2048,1024]", layernorm_gradient),
    "matmul": ("matmul, 1024", matmul),
    "mlp": ("value and gradient, 256x784-512-10", mlp),
    "per-sample": ("a gradient per sample, 256x64-128-10", per_sample_gradients),
    "attention": ("attention, 8x512x64", attention),
    "moments": ("mean and var over the middle dim, [64,512,256]", moments),
    "glm": ("logistic GLM gradient, 100,000x32, 50 groups", glm),
    "cumsum": ("value and gradient of cumsum, last dim, [4096,1024]", _scan("sum", 1)),
    "cumsum0": ("value and gradient of cumsum, first dim, [4096,1024]", _scan("sum", 0)),
    "cummax": ("value and gradient of cummax, last dim, [4096,1024]", _scan("max", 1)),
    "cummax0": ("value and gradient of cummax, first dim, [4096,1024]", _scan("max", 0)),
    "rnn": ("RNN by scan, 1000 steps of [64,128] by [128,128]", rnn),
    "rnn_gradient": ("its gradient by h and w", rnn_gradient),
    "recurrence": ("c*0.9+x by scan, 1,000,000 steps", recurrence),
    "scatter-add": ("scatter-add 65,536x64 into 50,000x64, and the updates' gradient", scatter_add),
    "gather-gradient": ("gradient of 65,536 rows read from 50,000x64", gather_gradient),
    "cholesky": ("value and gradient of Cholesky factors, 64x32x32", cholesky_gradient),
    "uniform": ("uniform numbers, 10,000,000", _random("uniform")),
    "normal": ("normal numbers, 10,000,000", _random("normal")),
    "small": ("x*2+1 on 8 elements", small),
}


def prepare(peer: str, name: str) -> Run:
    """The workload for one peer, compiled lazily: the first run is the first call."""
    data, functions = WORKLOADS[name][1](np.random.default_rng(0))
    return compiled_for(peer, data, functions[peer])


def compiled_for(peer: str, data: Data, function: Callable[..., Any]) -> Run:
    """The function as the peer compiles it, on the peer's own arrays."""
    if peer == "ours":
        import xtensor as xt

        compiled = xt.jit(function)
        args = [xt.array(value, dims=dims) for value, dims in data.values()]
        return lambda: compiled(*args)
    if peer == "jax":
        import jax

        compiled = jax.jit(function)
        args = [jax.device_put(value) for value, _ in data.values()]
        return lambda: jax.block_until_ready(compiled(*args))
    if peer == "torch":
        import torch

        torch.set_num_threads(2)
        compiled = torch.compile(function)
        args = [torch.from_numpy(value) for value, _ in data.values()]
        return lambda: compiled(*args)
    args = [value for value, _ in data.values()]
    return lambda: function(*args)
