"""`make bench`, fifth part: what the gradient of a loop keeps in memory.

Bytes of temporaries (`arena` of `cost`), also as multiples of the carry: for a scan whose step keeps what goes into it,
plain and in checkpointed blocks of as many steps as there are blocks, and for a recurrent network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

CARRY = 256  # float32


def temporaries(f: Callable[..., Any], *args: Any) -> int:
    import xtensor as xt

    return int(xt.jit(xt.grad(f)).cost(*args)["arena"])


def loop(steps: int, blocks: int) -> Callable[[Any], Any]:
    """`steps` times tanh, in `blocks` blocks that are computed again on the way back; 0: all of them at once."""
    import xtensor as xt

    def step(c: Any, _: Any) -> Any:
        return xt.tanh(c), None

    @xt.checkpoint
    def block(c: Any) -> Any:
        return xt.scan(step, c, length=steps // blocks, dim="step")[0]

    def whole(c: Any) -> Any:
        if not blocks:
            return xt.sum(xt.scan(step, c, length=steps, dim="step")[0])
        return xt.sum(xt.scan(lambda c, _: (block(c), None), c, length=blocks, dim="block")[0])

    return whole


def recurrent(steps: int) -> tuple[int, int]:
    """Temporaries of the gradient of an RNN for its weights, and bytes of one state."""
    import xtensor as xt

    def f(w: Any, h: Any, x: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return xt.tanh(xt.dot(h, w, dim="h").rename(k="h") + x), None

        return xt.sum(xt.scan(step, h, x, dim="time")[0])

    w = xt.array(np.zeros((128, 128), "f4"), dims=("h", "k"))
    h = xt.array(np.zeros((64, 128), "f4"), dims=("n", "h"))
    x = xt.array(np.zeros((steps, 64, 128), "f4"), dims=("time", "n", "h"))
    return temporaries(f, w, h, x), 64 * 128 * 4


def main() -> None:
    import xtensor as xt

    carry = xt.array(np.zeros(CARRY, "f4"), dims="x")
    title = f"a scan with a carry of {4 * CARRY} bytes"
    table = Table("steps", "plain", "carries", "in blocks", "carries", title=title)
    for blocks in (16, 32, 64, 128):
        steps = blocks * blocks
        found = [temporaries(loop(steps, b), carry) for b in (0, blocks)]
        cells = [text for n in found for text in (f"{n:,}", f"{n / (4 * CARRY):.1f}")]
        table.add_row(f"{steps:,}", *cells)
    network = Table("steps", "bytes", "states", title="an RNN, [64, 128] by [128, 128]")
    for steps in (250, 500, 1000):
        bytes_, state = recurrent(steps)
        network.add_row(f"{steps:,}", f"{bytes_:,}", f"{bytes_ / state:.2f}")
    for t in (table, network):
        Console(width=110).print(t)


if __name__ == "__main__":
    main()
