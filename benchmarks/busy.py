"""What a program loses beside other busy processes: ours beside JAX, in turns, with 0, 1 and 2 busy loops.

A loss is the time beside the loops over the time without them. Two threads on two cores beside one loop have two
thirds of the machine, beside two loops one half: losses of 1.5 and 2 are their share. Prints where ours loses more
than 1.1 times what JAX loses. Options: names of workloads (benchmarks/workloads.py); `--rounds N`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from peers import available
from rich.console import Console
from rich.table import Table
from run import Run, pretty, seconds
from workloads import WORKLOADS, prepare

LOOPS = (0, 1, 2)
ALLOWED = 1.1


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """`count` processes that never rest."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(name: str, rounds: int, peers: list[str]) -> dict[tuple[str, int], float]:
    """(peer, loops) -> the median time of a call. Peers and loops take turns."""
    runs: dict[str, Run] = {}
    for peer in peers:
        with contextlib.suppress(KeyError):
            runs[peer] = prepare(peer, name)
            runs[peer]()
    times: dict[tuple[str, int], list[float]] = {(peer, loops): [] for peer in runs for loops in LOOPS}
    for _ in range(rounds):
        for loops in LOOPS:
            with busy(loops):
                for peer, run in runs.items():
                    # A time slice of the scheduler is some milliseconds: many of them are one measurement.
                    times[peer, loops].append(seconds(run, at_least=0.2))
    return {key: statistics.median(t) for key, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*WORKLOADS, []], default=[])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = Table("workload", "alone, ours", "JAX", "1 loop: loss", "JAX", "2 loops: loss", "JAX")
    beyond = []
    installed = available(["ours", "jax"])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        for name in options.names or list(WORKLOADS):
            times = measure(name, options.rounds, installed)
            peers = sorted({peer for peer, _ in times}, reverse=True)  # ours first
            loss = {(p, n): times[p, n] / times[p, 0] for p in peers for n in LOOPS}
            row = [pretty(times[p, 0]) if p in peers else "-" for p in ("ours", "jax")]
            for n in LOOPS[1:]:
                row += [f"{loss[p, n]:.2f}" if p in peers else "-" for p in ("ours", "jax")]
                if "jax" in peers and loss["ours", n] > ALLOWED * loss["jax", n]:
                    beyond.append(f"{name} beside {n}: {loss['ours', n]:.2f}, JAX {loss['jax', n]:.2f}")
            table.add_row(name, *row)
    console = Console(width=120)
    console.print(table)
    console.print(f"beyond {ALLOWED} times the loss of JAX: " + ("; ".join(beyond) or "none"))


if __name__ == "__main__":
    main()
