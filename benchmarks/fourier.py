"""`make bench`: Fourier transforms beside SciPy with two workers and JAX, in turns, and convolutions both ways.

xtensor runs on the thread of the call and one worker (XTENSOR_NUM_THREADS=2). Times are the least of the rounds: those
of a busy machine differ from round to round.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("XTENSOR_NUM_THREADS", "2")
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
import scipy.fft as sf
import scipy.signal
from peers import available
from rich.console import Console
from rich.table import Table
from run import Run, pretty, seconds

# Powers of two and of three, a prime, several rows, and two dims.
SHAPES: tuple[tuple[int, ...], ...] = (
    (1 << 10,), (1 << 14,), (1 << 18,), (1 << 20,), (1 << 22,), (3**8,), (3**12,), (10007,), (1000, 1024), (1000, 1000),
)  # fmt: skip
KINDS = ("fft", "rfft", "irfft")
# Sizes of a signal and of a kernel: on both sides of the threshold.
LENGTHS = ((1 << 10, 64), (1 << 12, 128), (1 << 14, 256), (1 << 16, 512), (1 << 16, 4096))


def transforms(kind: str, shape: tuple[int, ...], dtype: str, peers: list[str]) -> dict[str, Run]:
    """Along both dims of a square, and along the last one of other shapes."""
    import xtensor as xt

    rng = np.random.default_rng(0)
    several = len(shape) == 2 and shape[0] == shape[1]
    x = rng.standard_normal(shape).astype(dtype)
    axes = tuple(range(len(shape))) if several else (len(shape) - 1,)
    if kind == "fft":
        x = (x + 1j * rng.standard_normal(shape)).astype("c8" if dtype == "f4" else "c16")
    if kind == "irfft":
        x = sf.rfftn(x, axes=axes)
    sizes = [shape[axis] for axis in axes]
    dims = ("a", "b")[: len(shape)]
    along = tuple(dims[axis] for axis in axes)
    of = xt.jit(lambda v: getattr(xt.fft, kind)(v, along, **({"n": {along[-1]: sizes[-1]}} if kind == "irfft" else {})))
    a = xt.array(x, dims)
    runs: dict[str, Run] = {"ours": lambda: of(a)}
    named = f"{kind}n"
    more: dict[str, Any] = {"s": sizes} if kind == "irfft" else {}
    if "scipy" in peers:
        runs["scipy"] = lambda: getattr(sf, named)(x, axes=axes, workers=2, **more)
    if "jax" in peers:
        import jax

        jax.config.update("jax_enable_x64", True)
        theirs = jax.jit(lambda v: getattr(jax.numpy.fft, named)(v, axes=axes, **more))
        device = jax.device_put(x)
        runs["jax"] = lambda: theirs(device).block_until_ready()
    return runs


def convolutions(n: int, m: int, dtype: str, peers: list[str]) -> dict[str, Run]:
    import xtensor as xt

    rng = np.random.default_rng(0)
    x, k = rng.standard_normal(n).astype(dtype), rng.standard_normal(m).astype(dtype)
    a, b = xt.array(x, "t"), xt.array(k, "k")

    def ours(method: str) -> Run:
        f = xt.jit(lambda x, k: xt.signal.convolve(x, k, dims=("t", "k"), method=method))
        return lambda: f(a, b)

    runs: dict[str, Run] = {"ours, direct": ours("direct"), "ours, fft": ours("fft"), "ours, auto": ours("auto")}
    if "scipy" in peers:
        runs["scipy"] = lambda: scipy.signal.convolve(x, k)
    return runs


def table(title: str, rows: dict[str, Callable[[], dict[str, Run]]], columns: list[str], rounds: int) -> Table:
    """The least times, and in brackets how many times ours that is; the runs of a row take turns."""
    found = Table(title=title)
    for column in ("", *columns):
        found.add_column(column, justify="left" if not column else "right")
    for name, make in rows.items():
        runs = make()
        times: dict[str, list[float]] = {peer: [] for peer in runs}
        for _ in range(rounds):
            for peer, run in runs.items():
                times[peer].append(seconds(run))
        least = {peer: min(t) for peer, t in times.items()}
        first = least[columns[0]]
        found.add_row(name, *(f"{pretty(least[c])} ({least[c] / first:.2f})" if c in least else "-" for c in columns))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--dtype", default="f4")
    parser.add_argument("--peers", default="scipy,jax")
    parser.add_argument("--no-convolutions", action="store_true")
    options = parser.parse_args()
    peers = available(options.peers.split(","))
    console = Console(width=110)
    for kind in options.kinds.split(","):
        rows = {
            " x ".join(f"{n:,}" for n in shape): (
                lambda shape=shape: transforms(kind, shape, options.dtype, peers)  # noqa: B023
            )
            for shape in SHAPES
        }
        console.print(table(f"{kind}, {options.dtype}", rows, ["ours", *peers], options.rounds))
    if not options.no_convolutions:
        rows = {f"{n:,} * {m:,}": (lambda n=n, m=m: convolutions(n, m, options.dtype, peers)) for n, m in LENGTHS}
        columns = ["ours, direct", "ours, fft", "ours, auto", *(p for p in peers if p == "scipy")]
        console.print(table(f"convolve, {options.dtype}", rows, columns, options.rounds))


if __name__ == "__main__":
    main()
