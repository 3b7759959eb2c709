"""Ops that move elements, and conversions of dtypes."""

from __future__ import annotations

from collections.abc import Iterator

from cells.case import DTYPES, Arg, Case, case, first_middle_last


def moves() -> Iterator[Case]:
    """Ops that move elements."""
    for dtype in ("f4", "bf16", "u1", "f8"):
        for place, sizes, axis in first_middle_last(1 << 20, 64):
            dim = "abc"[axis]
            x = Arg(sizes, dtype)
            yield case(
                f"repeat {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.repeat(x, 2, dim=dim),
                numpylike=lambda m, x, axis=axis: m.repeat(x, 2, axis=axis),
                torch=lambda m, x, axis=axis: m.repeat_interleave(x, 2, dim=axis),
            )
            yield case(
                f"flip {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.flip(x, dim=dim),
                numpylike=lambda m, x, axis=axis: m.flip(x, axis=axis).copy(),
                torch=lambda m, x, axis=axis: m.flip(x, (axis,)),
            )
            yield case(
                f"roll {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.roll(x, {dim: 5}),
                numpylike=lambda m, x, axis=axis: m.roll(x, 5, axis=axis),
                torch=lambda m, x, axis=axis: m.roll(x, 5, axis),
            )
            for step in (2, 3):
                yield case(
                    f"slice step {step} {place}",
                    x,
                    ours=lambda xt, x, dim=dim, step=step: x.isel({dim: slice(None, None, step)}),
                    numpylike=lambda m, x, axis=axis, step=step: x[
                        (slice(None),) * axis + (slice(None, None, step),)
                    ].copy(),
                    torch=lambda m, x, axis=axis, step=step: x[
                        (slice(None),) * axis + (slice(None, None, step),)
                    ].clone(memory_format=m.contiguous_format),
                )
            yield case(
                f"concat {place}",
                (x, x),
                ours=lambda xt, x, y, dim=dim: xt.concat([x, y], dim=dim),
                numpylike=lambda m, x, y, axis=axis: m.concatenate([x, y], axis=axis),
                torch=lambda m, x, y, axis=axis: m.cat([x, y], axis),
            )
        for sizes in ((1_000_000, 3), (3, 1_000_000), (1024, 1024), (4096, 4096)):
            yield case(
                "transpose",
                Arg(sizes, dtype),
                ours=lambda xt, x: xt.transpose(x, "b", "a"),
                numpylike=lambda m, x: m.swapaxes(x, 0, 1).copy(),
                torch=lambda m, x: x.T.contiguous(),
            )
        for sizes in ((1 << 20,), (1024, 1024), (1 << 24,)):
            x = Arg(sizes, dtype)
            for count in (2, 3):
                yield case(
                    f"stack last of {count}",
                    (x,) * count,
                    ours=lambda xt, *xs: xt.transpose(xt.concat(xs, dim="s"), ..., "s"),
                    numpylike=lambda m, *xs: m.stack(xs, axis=-1),
                    torch=lambda m, *xs: m.stack(xs, -1),
                )
                yield case(
                    f"stack first of {count}",
                    (x,) * count,
                    ours=lambda xt, *xs: xt.transpose(xt.concat(xs, dim="s"), "s", ...),
                    numpylike=lambda m, *xs: m.stack(xs),
                    torch=lambda m, *xs: m.stack(xs),
                )
            for step in (2, 3):
                yield case(
                    f"slice step {step} flat",
                    x,
                    ours=lambda xt, x, step=step: x.isel({x.dims[-1]: slice(None, None, step)}),
                    numpylike=lambda m, x, step=step: x[..., ::step].copy(),
                    torch=lambda m, x, step=step: x[..., ::step].clone(memory_format=m.contiguous_format),
                )


def casts() -> Iterator[Case]:
    names = ("f4", "f8", "bf16", "i4", "i1", "u1", "bool")
    for source in names:
        for target in names:
            if source != target:
                to = DTYPES[target]
                yield case(
                    f"cast to {target}",
                    Arg((1 << 20,), source, below=2),
                    ours=lambda xt, x, to=to: x.astype(to),
                    jax=lambda m, x, to=to: x.astype(to),
                    torch=lambda m, x, to=to: x.to(getattr(m, to)),
                    **({} if target == "bf16" else {"numpy": lambda m, x, to=to: x.astype(to)}),
                )
