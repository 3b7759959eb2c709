"""Programs on GPUs: xtensor on Vulkan and CUDA, torch.compile and JAX on the same card, in turns in one run.

    python benchmarks/gpu/compare.py [NAME...] [--scale N] [--rounds N] [--write]

Bytes are those of arguments and results, so that 100% of the copy bandwidth is one pass over each. `--scale` makes the
arrays larger along their first dim (16 fills a large card). `--write` adds the table to README.md, with the date.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
COPIED = 30 << 20  # elements: more than caches hold, and no more than any device takes in one buffer
sys.path.insert(0, str(HERE.parent))
from run import pretty, seconds  # noqa: E402
from workloads import WORKLOADS, Data, Workload, _each  # noqa: E402


class Program(NamedTuple):
    what: str
    make: Callable[[np.random.Generator], Workload]
    grows: bool = True
    flops: float = 0


def total(rng: np.random.Generator) -> Workload:
    data: Data = {"x": (rng.standard_normal((4096, 1024), dtype="f4"), ("row", "column"))}
    return data, _each(lambda m: lambda x: m.sum(x))


def matmul(rng: np.random.Generator) -> Workload:
    data, functions = WORKLOADS["matmul"][1](rng)
    return {k: (rng.standard_normal((4096, 4096), dtype="f4"), dims) for k, (_, dims) in data.items()}, functions


def matmul_half(rng: np.random.Generator) -> Workload:
    """Where a card has tensor cores, on those."""
    data, functions = matmul(rng)
    return {k: (value.astype("f2"), dims) for k, (value, dims) in data.items()}, functions


PROGRAMS = {
    **{name: Program(*WORKLOADS[name]) for name in ("chain", "softmax", "layernorm", "moments", "cumsum", "cumsum0")},
    "sum": Program("sum of everything, [4096,1024]", total),
    "scatter-add": Program(*WORKLOADS["scatter-add"], grows=False),
    "matmul": Program("matmul, 4096", matmul, grows=False, flops=2 * 4096.0**3),
    "matmul-f16": Program("matmul of float16, 4096", matmul_half, grows=False, flops=2 * 4096.0**3),
    "small": Program(*WORKLOADS["small"], grows=False),
}


def data_of(program: Program, scale: int) -> tuple[Data, dict[str, Callable[..., Any]]]:
    data, functions = program.make(np.random.default_rng(0))
    if program.grows and scale > 1:
        data = {
            name: (np.concatenate([value] * scale) if value.ndim > 1 else value, dims)
            for name, (value, dims) in data.items()
        }
    return data, functions


class Timed(NamedTuple):
    run: Callable[[], Any]  # until the device is done
    result_bytes: int


def ours(device: str, data: Data, function: Callable[..., Any]) -> Timed:
    import xtensor as xt
    from xtensor.values.devices import named

    handle = named(device)
    compiled = xt.jit(function, device=device)
    args = [xt.array(value, dims=dims, device=device) for value, dims in data.values()]
    results = xt.tree.leaves(compiled(*args))

    def run() -> None:
        compiled(*args)
        handle.synchronize()

    return Timed(run, sum(r.dtype.itemsize * r.size for r in results))


def torch_cuda(data: Data, function: Callable[..., Any]) -> Timed:
    import torch

    compiled = torch.compile(function)
    args = [torch.from_numpy(value).cuda() for value, _ in data.values()]
    results = compiled(*args)
    leaves = [r for r in torch.utils._pytree.tree_leaves(results) if isinstance(r, torch.Tensor)]

    def run() -> None:
        compiled(*args)
        torch.cuda.synchronize()

    return Timed(run, sum(r.nbytes for r in leaves))


def jax_gpu(data: Data, function: Callable[..., Any]) -> Timed:
    import jax

    compiled = jax.jit(function)
    args = [jax.device_put(value, jax.devices("gpu")[0]) for value, _ in data.values()]
    results = jax.tree.leaves(compiled(*args))
    return Timed(lambda: jax.block_until_ready(compiled(*args)), sum(r.nbytes for r in results))


def peers() -> list[str]:
    import xtensor as xt

    found = [d.name for d in xt.devices() if d.name.partition(":")[0] in ("vulkan", "cuda")]
    try:
        import torch

        found += ["torch"] if torch.cuda.is_available() else []
    except ImportError:
        pass
    try:
        import jax

        found += ["jax"] if jax.devices("gpu") else []
    except (ImportError, RuntimeError):
        pass
    for name in ("vulkan", "cuda", "torch", "jax"):
        if name not in found:
            print(f"{name}: no GPU that it can use; left out")
    return found


def prepared(peer: str, data: Data, functions: dict[str, Callable[..., Any]]) -> Timed:
    if peer == "torch":
        return torch_cuda(data, functions["torch"])
    if peer == "jax":
        return jax_gpu(data, functions["jax"])
    return ours(peer, data, functions["ours"])


def copy_bandwidth(peer: str) -> float:
    """Bytes per second that x + 1 reads and writes."""
    x = np.zeros(COPIED, "f4")
    timed = prepared(peer, {"x": (x, ("i",))}, _each(lambda m: lambda x: x + 1))
    return 2 * x.nbytes / min(seconds(timed.run) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], default=[])
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    import xtensor as xt

    found = peers()
    cards = sorted({d.description for d in xt.devices() if d.name in found})
    ceiling = max(copy_bandwidth(peer) for peer in found)
    lines = [
        f"### {datetime.date.today()}: {', '.join(cards)}",
        "",
        f"x + 1 of {COPIED >> 18} MiB, the best of all here: {ceiling / 1e9:.0f} GB/s. "
        f"Arrays {options.scale} times as large as the names say.",
        "",
        "| program | " + " | ".join(found) + " |",
        "|---|" + "---|" * len(found),
    ]
    for name in options.names or PROGRAMS:
        program = PROGRAMS[name]
        data, functions = data_of(program, options.scale)
        timed = {peer: prepared(peer, data, functions) for peer in found}
        times: dict[str, list[float]] = {peer: [] for peer in found}
        for _ in range(options.rounds):
            for peer, (run, _) in timed.items():
                times[peer].append(seconds(run))
        row = []
        for peer in found:
            t = statistics.median(times[peer])
            moved = sum(value.nbytes for value, _ in data.values()) + timed[peer].result_bytes
            rate = f"{program.flops / t / 1e12:.1f} TF/s" if program.flops else f"{moved / t / ceiling:.0%} of copy"
            row.append(f"{pretty(t)}" + ("" if name == "small" else f", {rate}"))
        lines.append(f"| {program.what} | " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    print("\n".join(lines))
    if options.write:
        with open(HERE / "README.md", "a") as page:
            page.write("\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
