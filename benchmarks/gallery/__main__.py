"""`python benchmarks/gallery`: the programs of examples/ that train or sample, beside the same programs in JAX.

Runs a program of the gallery, takes its compiled function and the arguments, and gives the same numbers to the program
in JAX (networks.py, models.py). Both must agree. Then they take turns on one thread each. Prints the table of
docs/gallery.md: the processor time of one step without compilation, the smallest of all rounds, and the median of the
ratios. Progress goes to stderr. Options: names of programs; `--rounds N`.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import runpy
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["XTENSOR_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["MPLBACKEND"] = "Agg"
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("GALLERY_SHORT", None)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tqdm
from peers import INSTALL
from run import machine, pretty, seconds

try:
    import models
    import networks
    from pair import Pair
except ImportError as error:
    raise SystemExit(f"{error}. {INSTALL}") from None

ROOT = Path(__file__).resolve().parents[2]
STEPS = 2  # of the training of a program that trains for long


@dataclass
class Program:
    step: str  # what is one step
    pair: Callable[[dict[str, Any]], Pair]
    wide: bool = False  # float64
    long: bool = False  # trains for long: here for a few steps only


PROGRAMS = {
    "images": Program("Adam for 50 images", networks.images),
    "transformer": Program("Adam for 16 texts of 64 characters", networks.transformer, long=True),
    "neural_ode": Program("Adam for 48 segments", networks.neural_ode),
    "nbody": Program("Adam for 40 systems of bodies", networks.nbody),
    "gaussian_process": Program("the likelihood and its gradient", models.gaussian_process, wide=True),
    "kalman": Program("the likelihood and its gradient", models.kalman, wide=True),
    "eight_schools": Program("a draw of one of 16 chains", models.eight_schools, wide=True),
}


class Few:
    """tqdm's trange, which ends early."""

    def __init__(self, count: int, **_: Any) -> None:
        self.count = min(count, STEPS)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))

    def set_postfix(self, **_: Any) -> None:
        pass


def names_of(program: str) -> dict[str, Any]:
    """What a program of the gallery defines. It writes its picture into a folder that is removed."""
    shown = contextlib.redirect_stdout(sys.stderr)
    with tempfile.TemporaryDirectory() as folder, shown, contextlib.chdir(folder), contextlib.ExitStack() as stack:
        if PROGRAMS[program].long:
            stack.enter_context(mock.patch.object(tqdm, "trange", Few))
        return runpy.run_path(str(ROOT / "examples" / f"{program}.py"))


def measure(name: str, rounds: int) -> str:
    """The row of a program in the table."""
    import jax

    program = PROGRAMS[name]
    jax.config.update("jax_enable_x64", program.wide)
    pair = program.pair(names_of(name))
    compiled = jax.jit(pair.jax)
    runs = {
        "ours": lambda: pair.ours(*pair.our_arguments),
        "jax": lambda: jax.block_until_ready(compiled(*pair.jax_arguments)),
    }
    ours, theirs = pair.our_result(runs["ours"]()), pair.jax_result(runs["jax"]())
    if not abs(ours - theirs) <= pair.tolerance * abs(theirs):
        raise SystemExit(f"{name}: xtensor computes {ours}, and JAX {theirs}")
    times: dict[str, list[float]] = {peer: [] for peer in runs}
    for _ in range(rounds):
        for peer, run in runs.items():
            times[peer].append(seconds(run, clock=time.process_time) / pair.steps)
    ratio = statistics.median(b / a for a, b in zip(times["ours"], times["jax"], strict=True))
    smallest = " | ".join(pretty(min(each)) for each in times.values())
    return f"| {name}.py | {program.step} | {smallest} | {ratio:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], default=[])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{machine()}, {datetime.date.today().isoformat()}, one thread, {options.rounds} rounds\n")
    print("| program | one step | xtensor | JAX | JAX / xtensor |\n|---|---|---|---|---|")
    for name in options.names or PROGRAMS:
        print(measure(name, options.rounds), flush=True)


if __name__ == "__main__":
    main()
