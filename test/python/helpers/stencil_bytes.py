"""Run by `mpirun -n 4 python stencil_bytes.py`: the bytes that a step of a 2-d stencil sends, and the least possible.

Prints a line for each split and program: their names, the bytes that all processes send in one call, the least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt
from mpi4py import MPI
from xtensor import _native

SIZE = 32


def step(u: Any) -> Any:
    """Heat flows to the four neighbours; the border is cold."""
    v = xt.pad(u, y=(1, 1), x=(1, 1))
    inner, low, high = slice(1, -1), slice(-2), slice(2, None)
    around = v.isel(y=low, x=inner) + v.isel(y=high, x=inner) + v.isel(y=inner, x=low) + v.isel(y=inner, x=high)
    return u + 0.1 * (around - 4 * u)


def energy(u: Any) -> Any:
    return (step(u) ** 2).sum()


def main() -> None:
    u = xt.array(np.random.default_rng(0).normal(size=(SIZE, SIZE)), ("y", "x"))
    line = 8 * SIZE
    bands = xt.Mesh(rows=4), {"y": "rows"}, 2 * 3 * line  # three borders, a line each way
    grid = xt.Mesh(rows=2, columns=2), {"y": "rows", "x": "columns"}, 2 * 2 * line
    programs: dict[str, tuple[Callable[..., Any], int]] = {"step": (step, 1), "gradient": (xt.grad(energy), 2)}
    for name, (mesh, split, least) in {"bands": bands, "grid": grid}.items():
        mine = xt.local(u, mesh, split)
        for what, (f, times) in programs.items():
            g = xt.jit(f, mesh=mesh, split=split)
            g(mine)
            before = _native.bytes_sent()
            y = g(mine)
            sent = MPI.COMM_WORLD.allreduce(_native.bytes_sent() - before)
            want = f(u).values
            np.testing.assert_allclose(xt.gather(y, mesh, split).values, want, rtol=1e-12, atol=1e-12)
            if MPI.COMM_WORLD.Get_rank() == 0:
                print(f"{name} {what} {sent} {times * least}", flush=True)


if __name__ == "__main__":
    main()
