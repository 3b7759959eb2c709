"""`make bench`, second part: what compiling costs as programs grow.

A network of n/4 layers, each a product, a sum, a tanh and a residual: first call of value and gradient, xtensor beside
JAX. A scan of 10 and of 10,000 steps.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
from peers import available
from rich.console import Console
from rich.table import Table

WIDTH = 16


def ours(layers: int) -> Callable[[], Any]:
    import xtensor as xt

    rng = np.random.default_rng(0)
    x = xt.array(rng.standard_normal((8, WIDTH), dtype="f4"), dims=("sample", "a"))
    w = xt.array(rng.standard_normal((WIDTH, WIDTH), dtype="f4") / 4, dims=("a", "b"))

    def loss(w: Any) -> Any:
        y = x
        for i in range(layers):
            y = y * 0.5 + xt.tanh(xt.dot(y, w, dim="a").rename(b="a") + 0.01 * i)
        return xt.sum(y * y)

    f = xt.jit(xt.value_and_grad(loss))
    return lambda: f(w)


def jax(layers: int) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.standard_normal((8, WIDTH), dtype="f4"))
    w = jnp.asarray(rng.standard_normal((WIDTH, WIDTH), dtype="f4") / 4)

    def loss(w: Any) -> Any:
        y = x
        for i in range(layers):
            y = y * 0.5 + jnp.tanh(y @ w + 0.01 * i)
        return jnp.sum(y * y)

    f = jax.jit(jax.value_and_grad(loss))
    return lambda: jax.block_until_ready(f(w))


def first_call(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def growth(console: Console, with_jax: bool) -> None:
    table = Table("ops of the program, with gradient", "first call: ours", "JAX", "ratio", "ours per op")
    first_call(ours(1))
    if with_jax:
        first_call(jax(1))
    for ops in (250, 500, 1000, 2000, 4000):
        mine = first_call(ours(ops // 4))
        peer = first_call(jax(ops // 4)) if with_jax and ops <= 2000 else None
        table.add_row(
            str(ops),
            f"{mine:.2f} s",
            f"{peer:.2f} s" if peer else "-",
            f"{mine / peer:.2f}" if peer else "-",
            f"{1e6 * mine / ops:.0f} us",
        )
    console.print(table)


def scans(console: Console) -> None:
    import xtensor as xt

    table = Table("gradient of a scan over", "first call", "a later call")
    for steps in (10, 100, 1000, 10_000):
        xs = xt.array(np.random.default_rng(0).standard_normal((steps, 16), dtype="f4"), dims=("time", "a"))

        def loss(c: Any, xs: Any = xs) -> Any:
            last, _ = xt.scan(lambda c, x: (xt.tanh(0.9 * c + x), None), c, xs, dim="time")
            return xt.sum(last)

        f, c = xt.jit(xt.value_and_grad(loss)), xt.zeros(a=16, dtype="f4")
        first = first_call(lambda f=f, c=c: f(c))
        later = statistics.median(first_call(lambda f=f, c=c: f(c)) for _ in range(5))
        table.add_row(f"{steps} steps", f"{1e3 * first:.1f} ms", f"{1e3 * later:.2f} ms")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-jax", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        console = Console(width=150)
        scans(console)
        growth(console, with_jax=not options.no_jax and available(["jax"]) != [])


if __name__ == "__main__":
    main()
