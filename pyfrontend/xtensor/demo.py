"""A first look: `python -m xtensor.demo` finds the picture that heat has blurred.

A metal plate shows a picture in hot and cold. Heat spreads for 40 steps, and only the blurred end is measured. The
program differentiates through all 40 steps, and descends to the picture at the start. No axis has a number here: the
dims are `row` and `column`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from .call.arrays import array
from .ops import mean, roll, square, zeros_like
from .transforms.control import fori_loop
from .transforms.grad import value_and_grad
from .transforms.jit import jit

_PICTURE = """
................................................
................................................
.##...##..######..######..##..##..####...####...
..##.##.....##....##......###.##.##..##..##.##..
...###......##....####....##.###..##.....##.##..
..##.##.....##....##......##..##....##...####...
.##...##....##....######..##..##..####...##.##..
................................................
................................................
................................................
"""
_STEPS, _RATE, _MOMENTUM = 40, 8.0, 0.95
_SHADES = " ░▒▓█"


def spread(heat: Any) -> Any:
    """The plate after 40 steps, heat(row, column): each point takes from its four neighbours. Edges wrap around."""

    def step(_: Any, now: Any) -> Any:
        around = roll(now, row=1) + roll(now, row=-1) + roll(now, column=1) + roll(now, column=-1)
        return now + 0.02 * (around - 4 * now)

    return fori_loop(0, _STEPS, step, heat)


@jit
def error(start: Any, measured: Any) -> Any:
    """How far the end of `start` is from what was measured, a number."""
    return mean(square(spread(start) - measured))


@jit
def descend(start: Any, velocity: Any, measured: Any) -> Any:
    """One step down the gradient: (start, velocity, the error before)."""
    value, gradient = value_and_grad(error)(start, measured)
    velocity = _MOMENTUM * velocity - _RATE * gradient
    return start + velocity, velocity, value


def drawn(heat: Any) -> str:
    """The plate as text, one character a point."""
    levels = np.clip(np.asarray(heat) * len(_SHADES), 0, len(_SHADES) - 1).astype(int)
    return "\n".join("".join(_SHADES[level] for level in row) for row in levels)


def main(steps: int = 600) -> float:
    """Runs the demo; returns the mean distance of the picture that it found from the true one, in heat."""
    console = Console()
    rows = [[point == "#" for point in row] for row in _PICTURE.split()]
    picture = array(np.array(rows, "f4"), dims=("row", "column"))
    began = time.perf_counter()
    measured = jit(spread)(picture)
    console.print("What is measured: the plate after 40 steps of heat")
    console.print(drawn(measured), highlight=False)
    start, velocity = measured, zeros_like(measured)
    with Progress(console=console) as bar:
        task = bar.add_task("descending through 40 steps, backwards", total=steps)
        for i in range(steps):
            start, velocity, value = descend(start, velocity, measured)
            if i % 20 == 19:
                bar.update(task, completed=i + 1, description=f"error {float(value):.1e}")
    console.print("What it was at the start, found by the gradient")
    console.print(drawn(start), highlight=False)
    near, far = (float(np.mean(np.abs(np.asarray(x) - np.asarray(picture)))) for x in (start, measured))
    console.print(
        f"It is {near:.2f} from the true picture, on average; what was measured is {far:.2f} from it. "
        f"{steps} steps in {time.perf_counter() - began:.1f} s, with compilation."
    )
    return near


if __name__ == "__main__":
    main()
