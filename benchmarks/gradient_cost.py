"""`make bench`, fourth part: what value and gradient cost, over the value alone.

Flops as `cost` counts them, and time: both run in turns in one process, and the fastest of each counts. Options: words
in names of programs to run; `--seconds N` per program.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
from guards import fastest
from rich.console import Console
from rich.table import Table
from run import pretty

Program = tuple[Callable[..., Any], tuple[Any, ...]]
RNG = np.random.default_rng(0)


def array(**sizes: int) -> Any:
    import xtensor as xt

    return xt.array(RNG.standard_normal(tuple(sizes.values()), dtype="f4"), dims=tuple(sizes))


def elementwise() -> dict[str, Program]:
    import xtensor as xt

    def rotated(x: Any) -> Any:
        low, high = x.isel(b=slice(0, 512)), x.isel(b=slice(512, 1024))
        cos, sin = y.isel(b=slice(0, 512)), y.isel(b=slice(512, 1024))
        return xt.sum(xt.square(xt.concat([low * cos - high * sin, low * sin + high * cos], dim="b")))

    x, y = array(a=1024, b=1024), array(a=1024, b=1024)
    return {
        "slices, rotated": (rotated, (x,)),
        "slices, halves": (lambda x: xt.sum(xt.square(x.isel(b=slice(0, 512)) * x.isel(b=slice(512, 1024)))), (x,)),
        "slices, differences": (lambda x: xt.sum(xt.square(x.diff("a"))), (x,)),
        "square": (lambda x: xt.sum(x * x), (x,)),
        "elementwise chain": (lambda x: xt.sum(xt.tanh(x * x) * xt.exp(-x)), (x,)),
        "where": (lambda x: xt.sum(xt.where(x > 0, x * x, x)), (x,)),
        "maximum of two": (lambda p: xt.sum(xt.square(xt.maximum(p[0], p[1]))), ((x, y),)),
        "quotient of two": (lambda p: xt.sum(p[0] / (1 + xt.square(p[1]))), ((x, y),)),
    }


def networks() -> dict[str, Program]:
    import xtensor as xt

    def mlp(p: Any, x: Any) -> Any:
        hidden = xt.tanh(xt.dot(x, p["w"], dim="pixel"))
        return xt.sum(xt.logsumexp(xt.dot(hidden, p["v"], dim="hidden"), dim="digit"))

    def attention(p: Any) -> Any:
        scores = xt.dot(p["q"], p["k"], dim="d") * 0.125
        return xt.sum(xt.square(xt.dot(xt.nn.softmax(scores, dim="key"), p["v"], dim="key")))

    def cross_entropy(x: Any, label: Any) -> Any:
        return -xt.mean(xt.take_along(xt.nn.log_softmax(x, dim="b"), label, dim="b"))

    def rnn(p: Any, x: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = xt.tanh(xt.dot(h, p["w"], dim="h").rename(k="h") + x)
            return h, None

        return xt.sum(xt.scan(step, p["h"], x, dim="time")[0])

    def windows(p: Any) -> Any:
        return xt.sum(xt.square(xt.dot(p["x"].rolling(t=5).construct("w"), p["k"], dim=("w", "i"))))

    x = array(a=2048, b=1024)
    labels = xt.array(RNG.integers(0, 1024, 2048), dims="a")
    weights = {"w": array(pixel=784, hidden=512), "v": array(hidden=512, digit=10)}
    heads = {"q": array(n=8, query=512, d=64), "k": array(n=8, key=512, d=64), "v": array(n=8, key=512, d=64)}
    recurrent = {"w": array(h=128, k=128) * 0.05, "h": array(n=64, h=128)}
    return {
        "layer norm": (lambda x: xt.sum(xt.tanh(xt.nn.layer_norm(x, dim="b"))), (x,)),
        "softmax": (lambda x: xt.sum(xt.square(xt.nn.softmax(x, dim="b"))), (x,)),
        "cross entropy": (cross_entropy, (x, labels)),
        "two-layer network": (mlp, (weights, array(sample=256, pixel=784))),
        "attention": (attention, (heads,)),
        "RNN, 200 steps": (rnn, (recurrent, array(time=200, n=64, h=128))),
        "windows, 5 of 16 to 16": (windows, ({"x": array(n=16, t=1024, i=16), "k": array(w=5, i=16, o=16)},)),
    }


def reductions() -> dict[str, Program]:
    """Of 1,024x1,024; over the dim in the middle, of 64x128x128."""
    import xtensor as xt

    def reduced(f: Callable[..., Any], dim: Any) -> Callable[..., Any]:
        return lambda x: xt.sum(xt.square(f(x, dim=dim)))

    kinds = {
        "sum": xt.sum,
        "max": xt.max,
        "prod": lambda x, dim: xt.prod(1 + 0.01 * x, dim=dim),
        "std": xt.std,
        "logsumexp": xt.logsumexp,
    }
    x, cube = array(a=1024, b=1024), array(a=64, b=128, c=128)
    found: dict[str, Program] = {}
    for name, f in kinds.items():
        found[f"{name}, last dim"] = (reduced(f, "b"), (x,))
        found[f"{name}, first dim"] = (reduced(f, "a"), (x,))
        found[f"{name}, middle dim"] = (reduced(f, "b"), (cube,))
        found[f"{name}, all dims"] = (reduced(f, ("a", "b")), (x,))
    found["max, windows of 5"] = (
        lambda x: xt.sum(xt.square(x.rolling(b=5).max().isel(b=slice(4, None)))),
        (x,),
    )
    return found


def scans() -> dict[str, Program]:
    import xtensor as xt

    def weighted(f: Callable[..., Any], dim: str) -> Callable[..., Any]:
        return lambda x, w: xt.sum(f(x, dim=dim) * w)

    x, w = array(a=1024, b=1024), array(a=1024, b=1024)
    kinds = {
        "cumsum": xt.cumsum,
        "cumprod": lambda x, dim: xt.cumprod(1 + 0.01 * x, dim=dim),
        "cummax": xt.cummax,
        "cumlogsumexp": xt.cumlogsumexp,
    }
    return {
        f"{name}, {where} dim": (weighted(f, dim), (x, w))
        for name, f in kinds.items()
        for where, dim in (("last", "b"), ("first", "a"))
    }


def positions() -> dict[str, Program]:
    """50,000 rows of 64 by 65,536 others, and 2^20 numbers by as many."""
    import xtensor as xt

    rows = {"x": array(row=50_000, col=64), "v": array(pick=65_536, col=64) + 3}
    numbers = {"x": array(row=1 << 20), "v": array(pick=1 << 20) + 3}
    found: dict[str, Program] = {}
    for what, p in (("rows", rows), ("numbers", numbers)):
        size = p["x"].sizes["row"]
        i = xt.array(RNG.integers(0, size, p["v"].sizes["pick"]), dims="pick")
        w = xt.array(RNG.standard_normal(p["x"].shape, dtype="f4"), dims=p["x"].dims)
        for kind in ("set", "add", "multiply", "divide", "max"):
            found[f"{kind} of {what}"] = (
                lambda p, i, w, kind=kind: xt.sum(getattr(p["x"].at(row=i), kind)(p["v"]) * w),
                (p, i, w),
            )
        found[f"take of {what}"] = (lambda x, i: xt.sum(xt.square(x.isel(row=i))), (p["x"], i))
    found["sort of rows"] = (lambda x, w: xt.sum(xt.sort(x, dim="b") * w), (array(a=256, b=4096), array(a=256, b=4096)))
    return found


def matrices() -> dict[str, Program]:
    import xtensor as xt

    def definite(size: int, **batch: int) -> Any:
        a = array(**batch, a=size, b=size)
        return xt.dot(a, a.rename(a="c"), dim="b").rename(c="b") + size * xt.eye(size, dims=("a", "b"), dtype="f4")

    def cubes(a: Any) -> Any:
        return xt.sum(lin.cholesky(a, dims=("a", "b")) ** 3)

    def both_of(factors: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a: sum(xt.sum(f**3) for f in factors(a))

    def triangular(p: Any) -> Any:
        return xt.sum(xt.square(lin.triangular_solve(p[0], p[1], dims=("a", "b"))))

    large = array(a=256, b=256) + 16 * xt.eye(256, dims=("a", "b"), dtype="f4")
    lin = xt.linalg
    return {
        "square product, 256": (
            lambda p: xt.sum(xt.tanh(xt.dot(p[0], p[1], dim="b"))),
            ((array(a=256, b=256), array(b=256, c=256)),),
        ),
        "cholesky, 64 of 64": (cubes, (definite(64, n=64),)),
        "cholesky, 256": (cubes, (definite(256),)),
        "cholesky, 1024": (cubes, (definite(1024),)),
        "solve, 256": (lambda p: xt.sum(xt.square(lin.solve(p[0], p[1], dims=("a", "b")))), ((large, array(a=256)),)),
        "inverse, 256": (lambda a: xt.sum(xt.square(lin.inv(a, dims=("a", "b")))), (large,)),
        "log-determinant, 256": (lambda a: lin.slogdet(a, dims=("a", "b"))[1], (large,)),
        "determinant, 256": (lambda a: lin.det(0.05 * a, dims=("a", "b")), (large,)),
        "lu, 64 of 64": (both_of(lambda a: lin.lu(a, dims=("a", "b"))[1:]), (array(n=64, a=64, b=64),)),
        "lu, 256": (both_of(lambda a: lin.lu(a, dims=("a", "b"))[1:]), (large,)),
        "qr, 64 of 64": (both_of(lambda a: lin.qr(a, dims=("a", "b"))), (array(n=64, a=64, b=64),)),
        "qr, 256": (both_of(lambda a: lin.qr(a, dims=("a", "b"))), (large,)),
        "r of qr, 256": (both_of(lambda a: lin.qr(a, dims=("a", "b"))[1:]), (large,)),
        "triangular solve, 256 sides of 256": (triangular, ((large, array(a=256, c=256)),)),
        "triangular solve, 64 sides of 64, 64 times": (
            triangular,
            ((array(n=64, a=64, b=64) + 16 * xt.eye(64, dims=("a", "b"), dtype="f4"), array(n=64, a=64, c=64)),),
        ),
    }


def loops() -> dict[str, Program]:
    import xtensor as xt

    def newton(x: Any) -> Any:
        def step(c: Any) -> Any:
            return {"i": c["i"] + 1, "y": 0.5 * (c["y"] + (1 + x * x) / c["y"])}

        start = {"i": 0, "y": 1 + x * x}
        return xt.sum(xt.while_loop(lambda c: c["i"] < 10, step, start, max_steps=12)["y"])

    return {"while, 10 steps": (newton, (array(a=256, b=256),))}


def programs() -> dict[str, Program]:
    groups = (elementwise, networks, reductions, scans, positions, matrices, loops)
    return {name: program for group in groups for name, program in group().items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="run programs with one of these in their names")
    parser.add_argument("--seconds", type=float, default=1.0, help="per program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        import xtensor as xt

        table = Table("value and gradient", "value", "flops / value's", "time / value's")
        for name, (f, args) in programs().items():
            if options.words and not any(word in name for word in options.words):
                continue
            value, both = xt.jit(f), xt.jit(xt.value_and_grad(f))
            flops = [g.cost(*args)["flops"] for g in (value, both)]
            runs = [lambda f=g, a=args: f(*a) for g in (value, both)]
            times = fastest(runs, options.seconds)
            ratio = f"{flops[1] / flops[0]:.2f}" if flops[0] else "-"
            table.add_row(name, pretty(times[0]), ratio, f"{times[1] / times[0]:.2f}")
        Console(width=110).print(table)


if __name__ == "__main__":
    main()
