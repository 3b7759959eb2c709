"""What a first call takes, tracing included, beside JAX's: each in a new process, the peers taking turns.

A program may be the first that its process calls, or come after another, small one, which pays for what a
process sets up once. A third process finds ours on disk. Prints medians, with the smallest and largest ratio.
Options: names of workloads to run; `--rounds N`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile

from peers import available
from rich.console import Console
from rich.table import Table
from run import in_new_process, pretty
from workloads import WORKLOADS

PROGRAM = """
import sys, time
from workloads import prepare
peer, name, before = sys.argv[1:]
if before:
    prepare(peer, before)()
run = prepare(peer, name)
start = time.perf_counter()
run()
print(time.perf_counter() - start)
"""


def first_call(peer: str, name: str, before: str, cache: str) -> float:
    return float(in_new_process(PROGRAM, peer, name, before, XTENSOR_CACHE_DIR=cache))


def times(name: str, before: str, rounds: int, with_jax: bool) -> tuple[list[float], list[float], list[float]]:
    """Of ours, of JAX's, and of ours that is on disk."""
    ours, jax, second = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            ours.append(first_call("ours", name, before, cache))
            if with_jax:
                jax.append(first_call("jax", name, before, cache))
            second.append(first_call("ours", name, before, cache))
    return ours, jax, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*WORKLOADS, []], default=[])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    names = options.names or list(WORKLOADS)
    with_jax = available(["jax"]) != []
    for before, title in (("", "first call of a process"), ("small", "first call after another program's")):
        table = Table(title, "ours", "JAX", "ratio", "of single rounds", "ours, on disk")
        for name in names:
            if name == before:
                continue
            ours, jax, second = times(name, before, options.rounds, with_jax)
            beside = ["-"] * 3
            if with_jax:
                ratios = [a / b for a, b in zip(ours, jax, strict=True)]
                ratio = statistics.median(ours) / statistics.median(jax)
                spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
                beside = [pretty(statistics.median(jax)), f"{ratio:.2f}", spread]
            table.add_row(
                WORKLOADS[name][0],
                pretty(statistics.median(ours)),
                *beside,
                pretty(statistics.median(second)),
            )
        Console(width=150).print(table)


if __name__ == "__main__":
    main()
