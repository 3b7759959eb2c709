"""Stencils, which read shifted copies of an array, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cells.case import Arg, Case, case
from cells.gradients import gradient_case

# A copy of an array, shifted along an axis, and the arrays: what is computed of them.
Stencil = Callable[[Callable[[Any, int, int], Any], Any, range], Any]

STENCILS: dict[str, Stencil] = {
    "difference": lambda s, x, axes: x - s(x, axes[-1], 1),
    "laplacian": lambda s, x, axes: sum((s(x, a, 1) + s(x, a, -1) for a in axes), -2.0 * len(axes) * x),
    "laplacian of order 4": lambda s, x, axes: sum(
        (1.33 * (s(x, a, 1) + s(x, a, -1)) - 0.083 * (s(x, a, 2) + s(x, a, -2)) for a in axes), -2.5 * len(axes) * x
    ),
    "flux": lambda s, x, axes: s(x * x - s(x * x, axes[0], 1), axes[0], -1) - x * x,
}


def _ours(edge: str) -> Any:
    def shift(xt: Any, x: Any, axis: int, amount: int) -> Any:
        dim = "abc"[axis]
        return xt.roll(x, {dim: amount}) if edge == "periodic" else xt.shift(x, {dim: amount}, fill_value=0.0)

    return shift


def _theirs(edge: str) -> Any:
    def shift(m: Any, x: Any, axis: int, amount: int) -> Any:
        if edge == "periodic":
            return m.roll(x, amount, axis)
        n, before, after = x.shape[axis], max(amount, 0), max(-amount, 0)
        part = x[tuple(slice(after, n - before) if a == axis else slice(None) for a in range(x.ndim))]
        widths = [(before, after) if a == axis else (0, 0) for a in range(x.ndim)]
        if m.__name__ == "torch":
            return m.nn.functional.pad(part, [w for pair in reversed(widths) for w in pair])
        return m.pad(part, widths)

    return shift


def stencils() -> Iterator[Case]:
    """With zeros around, and with edges that meet."""
    for edge in ("zeros", "periodic"):
        for dtype in ("f4", "f8"):
            for sizes in ((1 << 20,), (1024, 1024), (96, 96, 96), (64, 64)):
                for name, stencil in STENCILS.items():
                    yield from _both(f"{name}, {edge}", Arg(sizes, dtype), edge, stencil)


def _both(name: str, x: Arg, edge: str, stencil: Stencil) -> Iterator[Case]:
    def of(shift: Any) -> Any:
        return lambda m, x: stencil(lambda x, axis, amount: shift(m, x, axis, amount), x, range(x.ndim))

    ours, theirs = of(_ours(edge)), of(_theirs(edge))
    yield case(name, x, ours=ours, same=theirs)
    yield gradient_case(name, x, (x.sizes, "abc"[: len(x.sizes)]), ours, theirs, theirs)
