"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Iterator

from cells.case import Arg, Case, case, first_middle_last
from cells.peers import jax_nn


def reductions() -> Iterator[Case]:
    for dtype in ("f4", "f8", "bf16", "i4", "u1"):
        for count, short in ((1 << 20, 64), (1 << 20, 4), (3_000_000, 3), (1 << 24, 64)):
            for place, sizes, axis in first_middle_last(count, short):
                if place == "middle" and short < 64:
                    continue
                x, dim = Arg(sizes, dtype), "abc"[axis]
                names = ["max", "sum", "argmax"] + (["mean", "var"] if dtype[0] in "fb" else [])
                if count > 1 << 22:
                    names = ["max", "sum"]
                for name in names:
                    torch = {"max": "amax"}.get(name, name)
                    extra = {"correction": 0} if name == "var" else {}
                    yield case(
                        f"{name} {place}",
                        x,
                        ours=lambda xt, x, name=name, dim=dim: getattr(xt, name)(x, dim=dim),
                        numpylike=lambda m, x, name=name, axis=axis: getattr(m, name)(x, axis=axis),
                        torch=lambda m, x, name=torch, axis=axis, extra=extra: getattr(m, name)(x, axis, **extra),
                    )
        for size in (10_000, 1 << 20):
            for name in ("sum", "max", "argmax"):
                torch = {"max": "amax"}.get(name, name)
                yield case(
                    f"{name} all",
                    Arg((size,), dtype),
                    ours=lambda xt, x, name=name: getattr(xt, name)(x),
                    numpylike=lambda m, x, name=name: getattr(m, name)(x),
                    torch=lambda m, x, name=torch: getattr(m, name)(x),
                )
            for outer in ((0, 2),):
                yield case(
                    "sum first and last",
                    Arg((64, size // 64 // 16, 16), dtype),
                    ours=lambda xt, x: xt.sum(x, dim=("a", "c")),
                    numpylike=lambda m, x, outer=outer: m.sum(x, axis=outer),
                    torch=lambda m, x, outer=outer: m.sum(x, outer),
                )
    for dtype in ("f4", "bf16"):
        for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0)):
            dim = "ab"[axis]
            yield case(
                f"logsumexp {dim}",
                Arg(sizes, dtype),
                ours=lambda xt, x, dim=dim: xt.logsumexp(x, dim=dim),
                jax=lambda m, x, axis=axis: jax_nn().logsumexp(x, axis=axis),
                torch=lambda m, x, axis=axis: m.logsumexp(x, axis),
            )
            yield case(
                f"softmax {dim}",
                Arg(sizes, dtype),
                ours=lambda xt, x, dim=dim: xt.nn.softmax(x, dim=dim),
                jax=lambda m, x, axis=axis: jax_nn().softmax(x, axis=axis),
                torch=lambda m, x, axis=axis: m.softmax(x, axis),
            )
    for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0), ((350_000, 3), 1), ((1 << 20,), 0)):
        yield case(
            f"cumsum {'ab'[axis]}",
            Arg(sizes),
            ours=lambda xt, x, dim="ab"[axis]: xt.cumsum(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.cumsum(x, axis=axis),
            torch=lambda m, x, axis=axis: m.cumsum(x, axis),
        )
