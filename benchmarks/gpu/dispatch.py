"""Measures the cost of launches within a program: one program of five running sums against five programs of one.

Each sum runs along the other dim than the sum before it. So each is a launch, and waits for the whole launch before.
One array is large enough that the work dominates, the other is not.

    python benchmarks/gpu/dispatch.py [--device vulkan]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt

SECONDS = 2.0
SUMS = "babab"


def sums(dims: str) -> Any:
    def program(x: Any) -> Any:
        for dim in dims:
            x = xt.cumsum(x, dim)
        return x

    return xt.jit(program)


def microseconds(call: Callable[[], Any]) -> float:
    """The shortest of the times until a result is there."""
    for _ in range(5):
        call()._device.synchronize()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()._device.synchronize()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def one_by_one(programs: list[Any], x: Any) -> Any:
    for f in programs:
        x = f(x)
    return x


def row(device: str, shape: tuple[int, int]) -> str:
    """Of the table in README.md."""
    x = xt.array(np.random.default_rng(0).normal(size=shape).astype("f4"), ("a", "b")).to(device)
    rows, columns, five = sums("b"), sums("a"), sums(SUMS)
    launched = [int(f.cost(x)["launches"]) for f in (rows, columns, five)]
    if launched != [1, 1, 5]:
        raise SystemExit(f"the programs are to have 1, 1 and 5 launches, and have {launched}")
    programs = [rows if dim == "b" else columns for dim in SUMS]
    b, a = microseconds(lambda: rows(x)), microseconds(lambda: columns(x))
    whole, apart = microseconds(lambda: five(x)), microseconds(lambda: one_by_one(programs, x))
    return (
        f"| {shape[0]} x {shape[1]} | {b:.0f} us, {a:.0f} us | {whole:.0f} us, {whole / b:.1f} times one along rows | "
        f"{apart:.0f} us | {whole / (3 * b + 2 * a):.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="vulkan")
    device = parser.parse_args().device
    print("| array | one launch: along rows, along columns | five in a program | five programs | five / alone |")
    print("|---|---|---|---|---|")
    for shape in ((130, 128), (1024, 1024)):
        print(row(device, shape), flush=True)


main()
