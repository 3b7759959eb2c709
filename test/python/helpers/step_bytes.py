"""Run by `mpirun -n N python step_bytes.py`: the bytes that a step of a model sends, and the least possible.

Prints a line for each model: its name, the bytes that all processes send in one call, the least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt
from mpi4py import MPI
from xtensor import _native

RNG = np.random.default_rng(0)
BATCH, TIME, MODEL, HIDDEN, HEADS, WIDTH = 8, 4, 16, 32, 8, 2


def array(**sizes: int) -> Any:
    return xt.array(RNG.normal(size=tuple(sizes.values())), tuple(sizes))


def mlp(weights: Any, x: Any, y: Any) -> Any:
    first, second = weights
    return xt.mean((xt.dot(xt.tanh(xt.dot(x, first, dim="i")), second, dim="h") - y) ** 2)


def block(weights: Any, x: Any) -> Any:
    """Attention over heads, and two layers over hidden numbers: both dims are split, what goes between them is not."""
    query, key, value, out, up, down = weights
    q, k, v = (xt.dot(x, w, dim="m") for w in (query, key, value))
    scores = xt.nn.softmax(xt.dot(q, k.rename(t="s"), dim="w") / WIDTH**0.5, "s")
    x = x + xt.dot(xt.dot(scores, v.rename(t="s"), dim="s"), out, dim=("head", "w"))
    return x + xt.dot(xt.relu(xt.dot(x, up, dim="m")), down, dim="h")


def trained(weights: Any, x: Any) -> Any:
    return xt.value_and_grad(lambda w, x: (block(w, x) ** 2).sum(), wrt=(0, 1))(weights, x)


def main() -> None:
    comm = MPI.COMM_WORLD
    processes = comm.Get_size()
    mesh = xt.Mesh(p=processes)
    layers = array(i=MODEL, h=HIDDEN), array(h=HIDDEN, o=MODEL)
    heads = {"head": HEADS, "w": WIDTH}
    weights = (
        *(array(m=MODEL, **heads) for _ in range(3)),
        xt.array(RNG.normal(size=(HEADS, WIDTH, MODEL)), ("head", "w", "m")),
        array(m=MODEL, h=HIDDEN),
        array(h=HIDDEN, m=MODEL),
    )
    tokens = array(b=BATCH, t=TIME, m=MODEL)
    once = 2 * 8 * (processes - 1)  # an all_reduce sends each number of 8 bytes so often, over all processes
    activations = once * BATCH * TIME * MODEL
    gradient = once * 2 * MODEL * HIDDEN
    moved = 8 * BATCH * TIME * MODEL * (processes - 1) // processes  # all numbers but those that stay
    matrices = array(t=TIME * 2, row=8, col=8) + 9 * xt.eye(row=8, col=8)
    samples = (layers, array(b=BATCH, i=MODEL), array(b=BATCH, o=MODEL))
    programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, str], int]] = {
        "mlp": (xt.value_and_grad(mlp), samples, {"b": "p"}, gradient + once),
        "block": (block, (weights, tokens), {"head": "p", "h": "p"}, 2 * activations),
        "training": (trained, (weights, tokens), {"head": "p", "h": "p"}, 4 * activations),
        "rename": (lambda x: x.rename(b="m", m="b"), (tokens,), {"b": "p"}, moved),
        "sort": (lambda x: xt.sort(x, "b"), (tokens,), {"b": "p"}, 2 * moved),
        "fft": (lambda x: xt.fft.fft(x + 0j, ("b", "m")), (tokens,), {"b": "p"}, 4 * moved),
        "cholesky": (lambda x: xt.linalg.cholesky(x, dims=("row", "col")), (matrices,), {"row": "p"}, 2 * moved),
    }
    for name, (f, args, split, least) in programs.items():
        g = xt.jit(f, mesh=mesh, split=split)
        mine = xt.local(args, mesh, split)
        g(*mine)
        before = _native.bytes_sent()
        y = g(*mine)
        sent = comm.allreduce(_native.bytes_sent() - before)
        for got, want in zip(xt.tree.leaves(xt.gather(y, mesh, split)), xt.tree.leaves(xt.jit(f)(*args)), strict=True):
            np.testing.assert_allclose(got.values, want.transpose(*got.dims).values, rtol=1e-10, atol=1e-10)
        if comm.Get_rank() == 0:
            print(f"{name} {sent} {least}", flush=True)


if __name__ == "__main__":
    main()
