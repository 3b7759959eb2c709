"""Finds cliffs: single ops of xtensor beside the same op of JAX (compiled), PyTorch and NumPy.

    python benchmarks/sweep.py [FAMILY ...] [--only TEXT] [--threads N] [--rounds N] [--cold] [--all] [--save FILE]
    python benchmarks/sweep.py --draw FOLDER [--page FILE] FILE ...

Each peer runs in a process of its own, bound to N cores; the peers take turns. A time is the least CPU time of a
call over many short runs, so other programs on the machine change it little. With more than one thread it is the
least wall time. It prints the cases where ours takes more than 1.2 times the fastest peer's time, and `--all`
prints all cases. `--cold` fills the caches with other arrays before each call, as the rest of a program does. Then a
processor waits wherever it does not foresee what is read. `limit` is our time over the least time of this machine:
that in which it copies as many bytes as the op reads and writes, or multiplies matrices with as many flops, whichever
is longer. `--limits` prints the cases above 2, too. `--save` adds the results of each family to a file. `--draw` makes
heat maps of such files, and prints tables of families and of the largest cliffs; `--page docs/speed.md` writes the
tables into that page.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from cells import FAMILIES
from cells.case import PEERS, Case
from cells.draw import draw_all
from cells.results import CLIFF, LEAST, Result, Saved, mean_of, with_tables
from peers import available

FAR = 2.0  # from the limit of the machine
FAR_CLIFF = 1.5  # ratios that --draw lists
BEYOND_CACHES = 128 << 20  # bytes


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


def least_cold(run: Callable[[], Any], now: Callable[[], float], calls: int = 15) -> float:
    """The least time of a call after other arrays have taken the caches."""
    others = np.zeros(BEYOND_CACHES // 8)
    best = math.inf
    for _ in range(calls):
        others += 1
        start = now()
        run()
        best = min(best, now() - start)
    return best


def serve(peer: str, threads: int, is_cold: bool) -> None:
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
                    answer |= {"bytes": run.bytes, "flops": run.flops}
            if run is not None:
                answer["time"] = (least_cold if is_cold else least)(run.call, clock(threads))
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"[:300]
        reply.write(json.dumps(answer) + "\n")
        reply.flush()


def taken_core(stack: contextlib.ExitStack, wanted: int | None) -> int:
    """The core that the peers take in turns: no other sweep takes it until the stack ends, unless it is asked to."""
    cores = sorted(os.sched_getaffinity(0))
    for core in cores if wanted is None else [cores[wanted % len(cores)]]:
        mark = stack.enter_context(socket.socket(socket.AF_UNIX))
        try:
            mark.bind(f"\0xtensor.sweep.{core}")  # a name without a file
        except OSError:
            if wanted is None:
                continue
        return core
    raise SystemExit("each core runs a sweep: wait for one of them, or choose its core by --core N")


class Peer:
    """The process of one peer."""

    def __init__(self, name: str, threads: int, is_cold: bool, cores: list[int]) -> None:
        self.name = name
        # Peers choose their kernels for this processor.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, "--threads", str(threads), *["--cold"] * is_cold],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "OMP_NUM_THREADS": str(threads), "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"},
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
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


@dataclass(frozen=True)
class Machine:
    """Bytes per second of a copy, and flops per second of a product of matrices of f4 and of f8."""

    bytes: float
    flops: dict[str, float]

    @staticmethod
    def measured(threads: int) -> Machine:
        now = clock(threads)
        source = np.zeros(16 << 20, dtype="f4")
        target = np.empty_like(source)
        copied = 2 * source.nbytes / least(lambda: np.copyto(target, source), now)
        matrices = {dtype: np.ones((1024, 1024), dtype) for dtype in ("f4", "f8")}
        flops = {dtype: 2 * 1024**3 / least(lambda a=a: a @ a, now) for dtype, a in matrices.items()}  # type: ignore[misc]
        return Machine(copied, flops)

    def least(self, case: Case, size: int, flops: int) -> float:
        return max(size / self.bytes, flops / self.flops["f8" if case.args[0].dtype == "f8" else "f4"])


def pretty(t: float | None) -> str:
    if t is None:
        return "-"
    return f"{t * 1e3:.3g} ms" if t >= 1e-3 else f"{t * 1e6:.3g} us"


@dataclass
class Found:
    """The least time of each peer, the bytes of the arrays and the flops of ours, and what failed."""

    times: dict[str, float] = field(default_factory=dict)
    bytes: int = 0
    flops: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        others = [t for name, t in self.times.items() if name != "ours"]
        return self.times["ours"] / min(others) if others and "ours" in self.times else math.nan


def measure(case: Case, peers: list[Peer], rounds: int) -> Found:
    found = Found()
    for turn in range(rounds):
        for peer in peers:
            answer = peer.measure(case.key)
            if "time" in answer:
                found.times[peer.name] = min(answer["time"], found.times.get(peer.name, math.inf))
            if "error" in answer and not turn:
                found.errors.append(f"{case.key}, {peer.name}: {answer['error']}")
            if peer.name == "ours" and "bytes" in answer:
                found.bytes, found.flops = answer["bytes"], answer["flops"]
    return found


def sweep(options: argparse.Namespace, families: list[str], peers: list[Peer], machine: Machine) -> None:
    """Measures and prints the cases; saves what it found."""
    row = "{:46}" + "{:>10}" * len(peers) + "{:>16}{:>7}"
    print(row.format("case", *(peer.name for peer in peers), "ours / fastest", "limit"))
    everything: dict[str, Result] = {}
    for family in families:
        results: dict[str, Result] = {}
        for case in FAMILIES[family]:
            if options.only not in case.key:
                continue
            found = measure(case, peers, options.rounds)
            for error in found.errors:
                print(error)
            if "ours" not in found.times:
                continue
            if not math.isnan(found.ratio):
                results[case.key] = Result(found.ratio, found.times["ours"])
            limit = found.times["ours"] / machine.least(case, found.bytes, found.flops)
            is_cliff = found.times["ours"] > LEAST and (found.ratio > CLIFF or (options.limits and limit > FAR))
            if options.all or is_cliff:
                times = (pretty(found.times.get(p.name)) for p in peers)
                print(row.format(case.key, *times, f"{found.ratio:.2f}", f"{limit:.1f}"), flush=True)
        summary(family, results)
        everything |= results
        if options.save and results:
            saved = Saved.read(options.save)
            saved.add(family, options.threads, results)
            saved.write(options.save)
    if len(families) > 1:
        summary("all", everything)


def summary(name: str, results: dict[str, Result]) -> None:
    if results:
        greatest = max(r.ratio for r in results.values())
        mean = mean_of(results.values())
        print(f"{name}: geometric mean {mean:.2f}, greatest {greatest:.2f}, of {len(results)} cases", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help=", ".join(FAMILIES))
    parser.add_argument("--only", default="", help="a part of the names of cases")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--core", type=int, help="which core runs a single thread; else the first without a sweep")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--cold", action="store_true", help="no array is in a cache when a call begins")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--draw", type=Path, metavar="FOLDER")
    parser.add_argument("--page", type=Path, help="the page that takes the tables of --draw")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads, options.cold)
        return
    if options.draw:
        saved = Saved.read(*map(Path, options.families))
        draw_all(saved, options.draw)
        tables = {"families": saved.table(), "cliffs": saved.cliffs(FAR_CLIFF)}
        print(*tables.values(), sep="\n\n")
        if options.page:
            options.page.write_text(with_tables(options.page.read_text(), tables))
        return
    unknown = set(options.families) - set(FAMILIES)
    if unknown:
        parser.error(f"unknown family: {', '.join(sorted(unknown))}. Families: {', '.join(FAMILIES)}")
    families = options.families or list(FAMILIES)
    with contextlib.ExitStack() as stack:
        if options.threads == 1:
            cores = [taken_core(stack, options.core)]
        else:
            cores = sorted(os.sched_getaffinity(0))[: options.threads]
        peers = [Peer(name, options.threads, options.cold, cores) for name in available(options.peers.split(","))]
        machine = Machine.measured(options.threads)
        products = ", ".join(f"{flops / 1e9:.0f} Gflop/s of {dtype}" for dtype, flops in machine.flops.items())
        print(f"copy: {machine.bytes / 1e9:.1f} GB/s; products: {products}")
        for peer in peers:
            stack.callback(peer.close)
        sweep(options, families, peers, machine)


if __name__ == "__main__":
    main()
