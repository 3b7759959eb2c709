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

import numpy as np
import xtensor as xt
from peers import INSTALL
from rich.console import Console
from rich.table import Table

try:
    import jax
    import torch
except ImportError as error:
    raise SystemExit(f"{error}. {INSTALL}") from None

CALLS = 50
VALUES = np.random.default_rng(0).random((4, 5), dtype="f4")
X, T, J = xt.array(VALUES, dims=("a", "b")), torch.from_numpy(VALUES), jax.numpy.asarray(VALUES)
PLACES = np.array([0, 2, 1])
K, TK, JK = xt.array(PLACES, dims="k"), torch.from_numpy(PLACES), jax.numpy.asarray(PLACES)
CONDITION = VALUES > 0.5
C, TC, JC = X > 0.5, torch.from_numpy(CONDITION), jax.numpy.asarray(CONDITION)


def written() -> np.ndarray:
    """What NumPy has in place of an update: a copy that is written to."""
    y = VALUES.copy()
    y[PLACES] = 0
    return y


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
    "zeros": (
        lambda: xt.zeros(a=4, b=5),
        lambda: torch.zeros(4, 5),
        lambda: np.zeros((4, 5)),
        lambda: jax.numpy.zeros((4, 5)),
    ),
    "full": (
        lambda: xt.full(2.0, a=4, b=5),
        lambda: torch.full((4, 5), 2.0),
        lambda: np.full((4, 5), 2.0),
        lambda: jax.numpy.full((4, 5), 2.0),
    ),
    "arange": (
        lambda: xt.arange(20, dim="a"),
        lambda: torch.arange(20),
        lambda: np.arange(20),
        lambda: jax.numpy.arange(20),
    ),
    "linspace": (
        lambda: xt.linspace(0, 1, 20, dim="a"),
        lambda: torch.linspace(0, 1, 20),
        lambda: np.linspace(0, 1, 20),
        lambda: jax.numpy.linspace(0, 1, 20),
    ),
    "take": (lambda: xt.take(X, K, dim="a"), lambda: T[TK], lambda: VALUES[PLACES], lambda: J[JK]),
    "by a list": (
        lambda: X.isel(a=[0, 2, 1]),
        lambda: T[[0, 2, 1]],
        lambda: VALUES[[0, 2, 1]],
        lambda: J[jax.numpy.array([0, 2, 1])],
    ),
    "at set": (
        lambda: X.at(a=K).set(0.0),
        lambda: T.index_fill(0, TK, 0.0),
        written,
        lambda: J.at[JK].set(0.0),
    ),
    "quantile": (
        lambda: xt.quantile(X, 0.5, "a"),
        lambda: T.quantile(0.5, 0),
        lambda: np.quantile(VALUES, 0.5, 0),
        lambda: jax.numpy.quantile(J, 0.5, 0),
    ),
    "roll": (
        lambda: xt.roll(X, a=1),
        lambda: T.roll(1, 0),
        lambda: np.roll(VALUES, 1, 0),
        lambda: jax.numpy.roll(J, 1, 0),
    ),
    "pad": (
        lambda: xt.pad(X, a=(1, 1)),
        lambda: torch.nn.functional.pad(T, (0, 0, 1, 1)),
        lambda: np.pad(VALUES, ((1, 1), (0, 0))),
        lambda: jax.numpy.pad(J, ((1, 1), (0, 0))),
    ),
    "where": (
        lambda: xt.where(C, X, 0.0),
        lambda: torch.where(TC, T, 0.0),
        lambda: np.where(CONDITION, VALUES, 0.0),
        lambda: jax.numpy.where(JC, J, 0.0),
    ),
    "clip": (
        lambda: xt.clip(X, 0.25, 0.5),
        lambda: T.clip(0.25, 0.5),
        lambda: VALUES.clip(0.25, 0.5),
        lambda: J.clip(0.25, 0.5),
    ),
    "cumsum": (lambda: xt.cumsum(X, "a"), lambda: T.cumsum(0), lambda: VALUES.cumsum(0), lambda: J.cumsum(0)),
    "sort": (lambda: xt.sort(X, "a"), lambda: T.sort(0), lambda: np.sort(VALUES, 0), lambda: jax.numpy.sort(J, 0)),
    "top_k": (lambda: xt.top_k(X, 2, "b"), lambda: T.topk(2), None, lambda: jax.lax.top_k(J, 2)),
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
