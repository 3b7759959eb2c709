"""`python benchmarks/programs`: thirteen programs of users, beside JAX and torch.compile, in turns.

Each program returns named results, on which the peers must agree before they are timed. Prints the time of a first
call, with an empty cache, and of later calls. Options: names of programs; `--rounds N`; `--json FILE`, for the picture
of README.md (scripts/draw_pictures.py speed).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.pop("OPENBLAS_CORETYPE", None)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import filters
import models
import networks
import numpy as np
import physics
from peers import available
from rich.console import Console
from rich.table import Table
from run import Run, machine, pretty, seconds
from workloads import compiled_for

PEERS = ("ours", "jax", "torch")
# name: what it is, the program, and the largest difference that rounding explains.
PROGRAMS: dict[str, tuple[str, Callable[..., Any], float]] = {
    "transformer": ("transformer, a step of Adam", networks.transformer, 1e-3),
    "residual": ("residual network, a step of training", networks.residual, 1e-3),
    "lstm": ("LSTM, value and gradient", networks.lstm, 1e-3),
    "kalman": ("Kalman smoother", filters.kalman, 1e-8),
    "particles": ("particle filter", filters.particles, 1e-6),
    "policy": ("gradient of a policy", filters.policy, 1e-2),
    "hmc": ("Hamiltonian Monte Carlo", models.hamiltonian, 1e-6),
    "process": ("Gaussian process, value and gradient", models.process, 1e-8),
    "clusters": ("k-means", models.clusters, 1e-3),
    "climate": ("climate anomalies", models.climate, 1e-3),
    "bodies": ("N bodies", physics.bodies, 1e-3),
    "heat": ("heat, value and gradient", physics.heat, 1e-4),
    "reaction": ("reaction and diffusion", physics.reaction, 1e-4),
}


def prepare(peer: str, name: str) -> Run:
    """The program for one peer: the first run is the first call. KeyError if the peer does not have it."""
    data, functions = PROGRAMS[name][1](np.random.default_rng(0))
    if peer == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    return compiled_for(peer, data, functions[peer])


def named_results(results: Any) -> dict[str, np.ndarray]:
    results = results[0] if isinstance(results, tuple) else results
    return {k: np.asarray(x.values if hasattr(x, "dims") else x) for k, x in results.items()}


def check(name: str, found: dict[str, dict[str, np.ndarray]]) -> None:
    """All peers have the numbers of the last one."""
    reference = list(found.values())[-1]
    for peer, results in found.items():
        for key, x in results.items():
            want = np.asarray(reference[key], "f8")
            error = np.abs(np.asarray(x, "f8") - want).max() / (np.abs(want).max() + 1e-30)
            if not error <= PROGRAMS[name][2]:
                raise SystemExit(f"{name}: {key} of {peer} differs by {error:.2g} of the largest value")


def measure(name: str, peers: list[str], rounds: int) -> dict[str, tuple[float, float]]:
    """peer -> time of the first call, and the median of later calls; peers take turns."""
    runs: dict[str, Run] = {}
    first: dict[str, float] = {}
    found: dict[str, dict[str, np.ndarray]] = {}
    for peer in peers:
        try:
            runs[peer] = prepare(peer, name)
        except KeyError:
            continue
        start = time.perf_counter()
        results = runs[peer]()
        first[peer] = time.perf_counter() - start
        found[peer] = named_results(results)
    check(name, found)
    times: dict[str, list[float]] = {peer: [] for peer in runs}
    for _ in range(rounds):
        for peer, run in runs.items():
            times[peer].append(seconds(run))
    return {peer: (first[peer], statistics.median(t)) for peer, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], default=[])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    console = Console(width=130)
    table = Table("program (2 threads): first call, later calls", *PEERS, "ours / fastest peer")
    measured: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        peers = available(list(PEERS))
        for name in options.names or list(PROGRAMS):
            times = measure(name, peers, options.rounds)
            others = [t for peer, (_, t) in times.items() if peer != "ours"]
            ratio = times["ours"][1] / min(others) if others else None
            table.add_row(
                PROGRAMS[name][0],
                *(f"{pretty(times[p][0])}, {pretty(times[p][1])}" if p in times else "-" for p in PEERS),
                f"{ratio:.2f}" if ratio else "-",
            )
            measured[PROGRAMS[name][0]] = {peer: t for peer, (_, t) in times.items()}
    console.print(table)
    if options.json:
        written = {"date": datetime.date.today().isoformat(), "machine": machine(), "times": measured}
        options.json.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
