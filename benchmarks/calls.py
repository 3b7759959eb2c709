"""What a call of a public function costs on few elements: xtensor beside PyTorch, NumPy and JAX (not compiled).

Arrays have 20 elements, so nearly all of the time is the call itself. A time is the least CPU time of a call, in runs
of 50 calls. The libraries take turns. Options: names of calls; `--rounds N`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import torch
import xtensor as xt
from rich.console import Console
from rich.table import Table

CALLS = 50
VALUES = np.random.default_rng(0).random((4, 5), dtype="f4")
X, T, J = xt.array(VALUES, dims=("a", "b")), torch.from_numpy(VALUES), jax.numpy.asarray(VALUES)

Call = Callable[[], Any]
# Of ours, PyTorch, NumPy and JAX; None: there is no such function.
FUNCTIONS: dict[str, tuple[Call | None, ...]] = {
    "exp": (lambda: xt.exp(X), lambda: torch.exp(T), lambda: np.exp(VALUES), lambda: jax.numpy.exp(J)),
    "add": (lambda: X + X, lambda: T + T, lambda: VALUES + VALUES, lambda: J + J),
    "sum": (lambda: xt.sum(X, "a"), lambda: T.sum(0), lambda: VALUES.sum(0), lambda: J.sum(0)),
    "mean": (lambda: xt.mean(X, "a"), lambda: T.mean(0), lambda: VALUES.mean(0), lambda: J.mean(0)),
    "softmax": (lambda: xt.nn.softmax(X, "b"), lambda: T.softmax(1), None, lambda: jax.nn.softmax(J, 1)),
    "a row": (lambda: X.isel(a=1), lambda: T[1], lambda: VALUES[1], lambda: J[1]),
    "rename": (lambda: X.rename(a="c"), None, None, None),
    "transpose": (
        lambda: X.transpose("b", "a"),
        lambda: T.T.contiguous(),
        lambda: np.ascontiguousarray(VALUES.T),
        lambda: J.T,
    ),
    "concat": (
        lambda: xt.concat([X, X], "a"),
        lambda: torch.cat([T, T]),
        lambda: np.concatenate([VALUES, VALUES]),
        lambda: jax.numpy.concatenate([J, J]),
    ),
}


def seconds(call: Call) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - start) / CALLS


def least(calls: tuple[Call | None, ...], rounds: int) -> list[float | None]:
    for call in calls:
        if call is not None:
            seconds(call)
    times = [[None if call is None else seconds(call) for call in calls] for _ in range(rounds)]
    return [None if of[0] is None else min(t for t in of if t is not None) for of in zip(*times, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*FUNCTIONS, []], default=[])
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table("us", "xtensor", "PyTorch", "NumPy", "JAX")
    for name in options.names or FUNCTIONS:
        times = least(FUNCTIONS[name], options.rounds)
        table.add_row(name, *("-" if t is None else f"{t * 1e6:.2f}" for t in times))
    Console(width=80).print(table)


if __name__ == "__main__":
    main()
