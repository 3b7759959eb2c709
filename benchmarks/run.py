"""`make bench`: xtensor beside JAX, PyTorch (compiled) and NumPy, alternately in one run.

Prints this machine's ceilings, a table of times and ratios, and peak memory. First calls: first_calls.py.
Options: names of workloads to run; `--rounds N`; `--no-memory`; `--peers ours,jax`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=true")
os.environ.setdefault("OMP_NUM_THREADS", "2")
# Some environments pin OpenBLAS to the kernels of an older processor; peers choose their own.
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
from peers import available
from rich.console import Console
from rich.table import Table
from workloads import WORKLOADS, Run, prepare

PEERS = ("ours", "jax", "torch", "numpy")


# Thread pools of the peers go on spinning after their last task, up to 200 ms, on the cores that
# the next one needs.
REST = 0.25


def seconds(run: Run, at_least: float = 0.02, clock: Callable[[], float] = time.perf_counter) -> float:
    """Time of one run, as the mean over enough of them to be measurable."""
    time.sleep(REST)
    run()
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            run()
        total = clock() - start
        if total >= at_least:
            return total / count
        count = max(2 * count, int(1.2 * count * at_least / max(total, 1e-9)))


def pretty(t: float | None) -> str:
    if t is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if t * scale >= 1:
            return f"{t * scale:.3g} {unit}"
    return f"{t * 1e9:.0f} ns"


def machine() -> str:
    names = [line.split(":")[1] for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    return f"{os.cpu_count()} cores of {names[0].strip()}" if names else f"{os.cpu_count()} cores"


def ceilings(console: Console) -> None:
    big = np.zeros(64 << 20, dtype="f4")
    target = np.empty_like(big)
    copy = min(seconds(lambda: np.copyto(target, big)) for _ in range(3))
    a = np.random.default_rng(0).standard_normal((1024, 1024), dtype="f4")
    sgemm = min(seconds(lambda: a @ a) for _ in range(5))
    console.print(
        f"ceilings here: copy (one thread) {2 * big.nbytes / copy / 1e9:.1f} GB/s, "
        f"sgemm 1024 (NumPy's OpenBLAS) {2 * 1024**3 / sgemm / 1e9:.0f} GF/s"
    )


def measure(name: str, peers: list[str], rounds: int) -> dict[str, float]:
    """peer -> median time of a call that is not the first; peers take turns."""
    runs: dict[str, Run] = {}
    for peer in peers:
        try:
            runs[peer] = prepare(peer, name)
        except KeyError:
            continue
        runs[peer]()
    times: dict[str, list[float]] = {peer: [] for peer in runs}
    for _ in range(rounds):
        for peer, run in runs.items():
            times[peer].append(seconds(run))
    return {peer: statistics.median(t) for peer, t in times.items()}


def openblas_ratio(rounds: int) -> str:
    """Our matmul over OpenBLAS called directly (through NumPy, which does nothing else)."""
    ours = prepare("ours", "matmul")
    direct = prepare("numpy", "matmul")
    ours(), direct()
    pairs = [(seconds(ours), seconds(direct)) for _ in range(3 * rounds)]
    return f"{statistics.median(a / b for a, b in pairs):.3f}"


def small_calls() -> list[tuple[str, float]]:
    import xtensor as xt

    f = xt.jit(lambda x: x * 2 + 1)
    raw = np.ones(8, dtype="f4")
    x = xt.array(raw, dims="i")
    compiled = f.lower(x).compile()
    f(x)
    cases: list[tuple[str, Callable[[], object]]] = [
        ("jit, an array of ours", lambda: f(x)),
        ("compiled, an array of ours", lambda: compiled(x)),
        ("compiled, a NumPy array", lambda: compiled(raw)),
        ("NumPy itself", lambda: raw * 2 + 1),
    ]
    return [(label, min(seconds(call) for _ in range(5))) for label, call in cases]


def peak_memory(peer: str, name: str) -> float:
    """MiB that a process needs which runs the workload 5 times: the kernel's high-water mark of this program (the
    one of getrusage counts what the parent had, too)."""
    code = (
        f"from workloads import prepare; r = prepare({peer!r}, {name!r})\n"
        "for _ in range(5): r()\n"
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    )
    return float(in_new_process(code)) / 1024


def in_new_process(code: str, *arguments: str, **environment: str) -> str:
    """The last word that a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=os.path.dirname(os.path.abspath(__file__)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*WORKLOADS, []], default=[])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    console = Console(width=150)
    names = options.names or list(WORKLOADS)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        peers = available(options.peers.split(","))
        ceilings(console)

        table = Table("workload (float32, 2 threads)", *peers, "ours / fastest peer")
        for name in names:
            times = measure(name, peers, options.rounds)
            others = [t for peer, t in times.items() if peer != "ours"]
            table.add_row(
                WORKLOADS[name][0],
                *(pretty(times.get(peer)) for peer in peers),
                f"{times['ours'] / min(others):.2f}" if others else "-",
            )
        console.print(table)
        if "matmul" in names:
            console.print(f"matmul 1024, ours / OpenBLAS called directly: {openblas_ratio(options.rounds)}")
        if "small" in names:
            console.print("8-element call: " + ", ".join(f"{label} {pretty(t)}" for label, t in small_calls()))
        if not options.no_memory and "jax" in peers:
            memory = Table("peak memory (MiB)", "ours", "JAX", "ratio")
            for name in names:
                ours, jax = peak_memory("ours", name), peak_memory("jax", name)
                memory.add_row(name, f"{ours:.0f}", f"{jax:.0f}", f"{ours / jax:.2f}")
            console.print(memory)


if __name__ == "__main__":
    main()
