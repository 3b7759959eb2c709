"""Finds cliffs: single ops of xtensor beside the same op of JAX (compiled), PyTorch and NumPy.

    python benchmarks/sweep.py [FAMILY ...] [--only TEXT] [--threads N] [--rounds N] [--all]

Each peer runs in a process of its own, bound to N cores; the peers take turns. A time is the least CPU time of a
call over many short runs, so other programs on the machine change it little. With more than one thread it is the
least wall time. It prints the cases where ours takes more than 1.2 times the fastest peer's time, and `--all`
prints @@ `limit` is our time over the time in which this machine copies as many bytes as the op reads
and writes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sweep_cases import FAMILIES, PEERS, Case

CLIFF = 1.2
LEAST = 20e-6  # below this time, a call costs more than its op


def clock(threads: int) -> Callable[[], float]:
    return time.process_time if threads == 1 else time.perf_counter


def least(run: Callable[[], Any], now: Callable[[], float], budget: float = 0.06) -> float:
    """The least time of a call, in runs of at least 1 ms, until the budget is spent."""
    start = now()
    run()
    once = max(now() - start, 1e-7)
    count = max(1, math.ceil(1e-3 / once))
    best = once
    spent = 0.0
    while spent < budget:
        start = now()
        for _ in range(count):
            run()
        took = max(now() - start, 1e-9)
        best = min(best, took / count)
        spent += took
        if took < 5e-4:
            count *= 2
    return best


def serve(peer: str, threads: int) -> None:
    """Reads the names of cases, and writes the time of each and the bytes of its arrays."""
    cases = {case.key: case for cases in FAMILIES.values() for case in cases}
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    current, run = "", None
    for line in sys.stdin:
        key = line.strip()
        answer: dict[str, Any] = {}
        try:
            if key != current:
                current, run = key, cases[key].prepare(peer)
                if run is not None:
                    answer["bytes"] = run.bytes
            if run is not None:
                answer["time"] = least(run.call, clock(threads))
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"[:300]
        reply.write(json.dumps(answer) + "\n")
        reply.flush()


class Peer:
    """The process of one peer."""

    def __init__(self, name: str, threads: int, core: int) -> None:
        self.name = name
        cores = sorted(os.sched_getaffinity(0))
        chosen = [cores[core % len(cores)]] if threads == 1 else cores[:threads]
        # Peers choose their kernels for this processor.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "OMP_NUM_THREADS": str(threads), "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"},
            preexec_fn=lambda: os.sched_setaffinity(0, chosen),
        )

    def measure(self, key: str) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(key + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def bandwidth(now: Callable[[], float]) -> float:
    source = np.zeros(16 << 20, dtype="f4")
    target = np.empty_like(source)
    return 2 * source.nbytes / least(lambda: np.copyto(target, source), now)


def pretty(t: float | None) -> str:
    if t is None:
        return "-"
    return f"{t * 1e3:.3g} ms" if t >= 1e-3 else f"{t * 1e6:.3g} us"


def measure(case: Case, peers: list[Peer], rounds: int) -> tuple[dict[str, float], int, list[str]]:
    """The least time of each peer, the bytes of the arrays, and what failed."""
    times: dict[str, float] = {}
    size, errors = 0, []
    for turn in range(rounds):
        for peer in peers:
            answer = peer.measure(case.key)
            if "time" in answer:
                times[peer.name] = min(answer["time"], times.get(peer.name, math.inf))
            if "error" in answer and not turn:
                errors.append(f"{case.key}, {peer.name}: {answer['error']}")
            if peer.name == "ours":
                size = answer.get("bytes", size)
    return times, size, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help=", ".join(FAMILIES))
    parser.add_argument("--only", default="", help="a part of the names of cases")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--core", type=int, default=0, help="which core runs a single thread")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads)
        return
    unknown = set(options.families) - set(FAMILIES)
    if unknown:
        parser.error(f"unknown family: {', '.join(sorted(unknown))}. Families: {', '.join(FAMILIES)}")
    cases = [case for name in options.families or FAMILIES for case in FAMILIES[name] if options.only in case.key]
    peers = [Peer(name, options.threads, options.core) for name in options.peers.split(",")]
    copied = bandwidth(clock(options.threads))
    row = "{:46}" + "{:>10}" * len(peers) + "{:>16}{:>7}"
    print(f"copy: {copied / 1e9:.1f} GB/s; {len(cases)} cases")
    print(row.format("case", *(peer.name for peer in peers), "ours / fastest", "limit"))
    ratios: list[float] = []
    with contextlib.ExitStack() as stack:
        for peer in peers:
            stack.callback(peer.close)
        for case in cases:
            times, size, errors = measure(case, peers, options.rounds)
            for error in errors:
                print(error)
            others = [t for name, t in times.items() if name != "ours"]
            if "ours" not in times:
                continue
            ratio = times["ours"] / min(others) if others else math.nan
            if others:
                ratios.append(ratio)
            if options.all or (ratio > CLIFF and times["ours"] > LEAST):
                limit = times["ours"] * copied / size
                shown = f"{ratio:.2f}" if others else "-"
                line = row.format(case.key, *(pretty(times.get(p.name)) for p in peers), shown, f"{limit:.1f}")
                print(line, flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"ours / fastest: geometric mean {mean:.2f}, greatest {max(ratios):.2f}, of {len(ratios)} cases")


if __name__ == "__main__":
    main()
