"""`make bench`, third part: what it costs that the branch not taken of `where` never poisons a gradient.

Each program is compiled with `guard-selects` and without, and both run in turns in one process. Where a program's code
comes to lie changes its time by up to 4%, more than most guards do: of each there are several copies, of which the
fastest counts. Where the pass changes nothing, the programs are the same and so is their time.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
from rich.console import Console
from rich.table import Table
from run import REST, pretty
from workloads import WORKLOADS

COPIES = 5

GRADIENTS = (
    "layernorm", "mlp", "per-sample", "glm", "cumsum", "cummax", "rnn_gradient", "scatter-add", "gather-gradient",
    "cholesky",
)  # fmt: skip


def choosing() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Gradients through `where` and what is made of it: most of the program is guarded."""
    import xtensor as xt

    rng = np.random.default_rng(0)

    def array(**sizes: int) -> Any:
        return xt.array(rng.standard_normal(tuple(sizes.values()), dtype="f4"), dims=tuple(sizes))

    x, y = array(a=1024, b=1024), array(a=1024, b=1024)
    image, w, v = array(n=256, i=784), array(i=784, h=512) * 0.03, array(h=512, o=10) * 0.04

    def huber(x: Any, y: Any) -> Any:
        e = xt.abs(x - y)
        return xt.sum(xt.where(e < 1, 0.5 * e * e, e - 0.5))

    def network(w: Any, v: Any) -> Any:
        h = xt.dot(image, w, dim="i")
        return xt.mean(xt.square(xt.dot(xt.where(h > 0, h, 0.0), v, dim="h")))

    return {
        "where(x > 0, sqrt(x), x * x), 1,024x1,024": (
            lambda x: xt.sum(xt.where(x > 0, xt.sqrt(x), x * x)),
            (x,),
        ),
        "where(x > 0, log(x), exp(x)) * tanh(x), 1,024x1,024": (
            lambda x: xt.sum(xt.where(x > 0, xt.log(x), xt.exp(x)) * xt.tanh(x)),
            (x,),
        ),
        "Huber loss, 1,024x1,024": (huber, (x, y)),
        "network of where(h > 0, h, 0), 256x784-512-10": (network, (w, v)),
    }


def programs() -> dict[str, tuple[Any, list[Any]]]:
    """name -> (jitted gradient, arrays)"""
    import xtensor as xt

    found = {}
    for name in GRADIENTS:
        data, functions = WORKLOADS[name][1](np.random.default_rng(0))
        arrays = [xt.array(value, dims=dims) for value, dims in data.values()]
        found[WORKLOADS[name][0]] = (xt.jit(functions["ours"]), arrays)
    for name, (f, args) in choosing().items():
        found[name] = (xt.jit(xt.grad(f, wrt=tuple(range(len(args))))), list(args))
    return found


def compiled(function: Any, arrays: list[Any], guards: bool) -> tuple[Any, str]:
    """The program as one setting expands its derivatives, and that text."""
    from xtensor.mlir import ir, passmanager
    from xtensor.transforms.stages import Compiled

    lowered = function.lower(*arrays)
    program = copy.copy(lowered.program)
    with program.module.context:
        program.module = ir.Module.parse(str(program.module))
        passes = (
            "xtensor-simplify",
            f"xtensor-differentiate{{guard-selects={str(guards).lower()}}}",
            "xtensor-split-pullbacks",
            "xtensor-simplify",
        )
        passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(program.module.operation)
    return Compiled(program, lowered.call, lowered.target), str(program.module)


def fastest(runs: Sequence[Callable[[], object]], budget: float) -> list[float]:
    """The shortest time of each; they take turns, so that what else the machine does meets all of them. At least 20."""
    time.sleep(REST)
    best = [float("inf")] * len(runs)
    end, rounds = time.perf_counter() + budget, 0
    while time.perf_counter() < end or rounds < 20:
        rounds += 1
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="per program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XTENSOR_CACHE_DIR"] = cache
        table = Table("gradient", "products that look at zeros", "time", "guarded / not")
        for name, (function, arrays) in programs().items():
            guarded, text = compiled(function, arrays, True)
            plain, other = compiled(function, arrays, False)
            count = text.count("xtensor.scale ") - other.count("xtensor.scale ")
            kinds = [[guarded], [plain]][: 1 if text == other else 2]
            for copies, guards in zip(kinds, (True, False), strict=False):
                copies += [compiled(function, arrays, guards)[0] for _ in range(COPIES - 1)]
            runs = [lambda f=f, a=arrays: f(*a) for f in itertools.chain(*zip(*kinds, strict=True))]
            times = fastest(runs, options.seconds)
            best = [min(times[k :: len(kinds)]) for k in range(len(kinds))]
            price = f"{best[0] / best[1]:.3f}" if len(best) == 2 else "the same program"
            table.add_row(name, str(count), pretty(best[0]), price)
        Console(width=150).print(table)


if __name__ == "__main__":
    main()
