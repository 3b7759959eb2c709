"""Reads and updates by position, and sorts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cells.case import Arg, Case, Function, case
from cells.peers import lax

# Updates, by what PyTorch calls them.
_KINDS = {"add": "sum", "set": "", "max": "amax"}


def _jax_set(kind: str) -> Function:
    return lambda m, x, i, v: getattr(x.at[:, i], kind)(v)


def _rows_set(kind: str) -> Function:
    return lambda m, x, i, v: getattr(x.at[i], kind)(v)


def positions() -> Iterator[Case]:
    """Reads and updates by position: along rows, columns, and of single elements."""
    for rows, columns, count in ((1000, 1000, 1000), (100_000, 16, 16), (64, 16_384, 10_000)):
        for dtype in ("f4", "bf16"):
            x = Arg((rows, columns), dtype)
            i = Arg((count,), "i4", "k", below=columns)
            v = Arg((rows, count), dtype, "ak")
            for kind in _KINDS:
                yield case(
                    f"{kind} at columns {count} of",
                    (x, i, v),
                    ours=lambda xt, x, i, v, kind=kind: getattr(x.at(b=i), kind)(v),
                    jax=_jax_set(kind),
                    torch=_torch_columns(kind),
                    numpy=_numpy_columns(kind),
                )
            yield case(
                f"gather columns {count} of",
                (x, i),
                ours=lambda xt, x, i: xt.take(x, i, dim="b"),
                jax=lambda m, x, i: m.take(x, i, axis=1, mode="clip"),
                torch=lambda m, x, i: m.index_select(x, 1, i),
                numpy=lambda m, x, i: m.take(x, i, axis=1),
            )
            yield case(
                f"gradient of gather of columns {count} of",
                (x, i, v),
                ours=lambda xt, x, i, v: xt.grad(lambda x: xt.sum(xt.take(x, i, dim="b") * v))(x),
                jax=_jax_gather_gradient,
                torch=lambda m, x, i, v: m.zeros_like(x).index_add(1, i, v),
            )
            i = Arg((count,), "i4", "k", below=rows)
            v = Arg((count, columns), dtype, "kb")
            yield from _updates(f"rows {count}", (x, i, v))
    for size, count in ((1000, 1 << 20), (1 << 20, 1 << 20)):
        x, i, v = Arg((size,)), Arg((count,), "i4", "k", below=size), Arg((count,), "f4", "k")
        yield from _updates(f"{count} elements", (x, i, v))
    for size in (100, 10_000):
        yield case(
            "searchsorted of 1,000 in",
            (Arg((size,)), Arg((1000,), "f4", "k")),
            ours=lambda xt, x, v: xt.searchsorted(xt.sort(x, dim="a"), v, dim="a"),
            same=lambda m, x, v: m.searchsorted(m.sort(x)[0] if m.__name__ == "torch" else m.sort(x), v),
        )


def _updates(what: str, args: tuple[Arg, Arg, Arg]) -> Iterator[Case]:
    """Updates along the first dim."""
    for kind in _KINDS:
        yield case(
            f"{kind} at {what} of",
            args,
            ours=lambda xt, x, i, v, kind=kind: getattr(x.at(a=i), kind)(v),
            jax=_rows_set(kind),
            torch=_torch_rows(kind),
        )


def _jax_gather_gradient(m: Any, x: Any, i: Any, v: Any) -> Any:
    import jax

    return jax.grad(lambda x: m.sum(m.take(x, i, axis=1, mode="clip") * v))(x)


def _torch_columns(kind: str) -> Function:
    if kind == "add":
        return lambda m, x, i, v: x.index_add(1, i, v)
    if kind == "set":
        return lambda m, x, i, v: x.index_copy(1, i.long(), v)
    return lambda m, x, i, v: x.index_reduce(1, i, v, _KINDS[kind])


def _torch_rows(kind: str) -> Function:
    if kind == "add":
        return lambda m, x, i, v: x.index_add(0, i, v)
    if kind == "set":
        return lambda m, x, i, v: x.index_copy(0, i.long(), v)
    return lambda m, x, i, v: x.index_reduce(0, i, v, _KINDS[kind])


def _numpy_columns(kind: str) -> Function:
    def call(m: Any, x: Any, i: Any, v: Any) -> Any:
        y = x.copy()
        if kind == "set":
            y[:, i] = v
        else:
            {"add": m.add, "max": m.maximum}[kind].at(y, (slice(None), i), v)
        return y

    return call


_SORTED = (
    ((1000, 1000), 1),
    ((1000, 1000), 0),
    ((1 << 20,), 0),
    ((100_000, 8), 1),
    ((100_000, 32), 1),
    ((10_000, 100), 1),
)  # sizes, and the axis that is sorted


def sorting() -> Iterator[Case]:
    for sizes, k in (((1000, 1000), 10), ((1 << 20,), 10), ((10_000, 100), 10), ((100, 10_000), 100)):
        for dtype in ("f4", "bf16"):
            yield case(
                f"top {k}",
                Arg(sizes, dtype),
                ours=lambda xt, x, k=k: xt.top_k(x, k, dim=x.dims[-1]),
                jax=lambda m, x, k=k: lax().top_k(x, k),
                torch=lambda m, x, k=k: m.topk(x, k),
            )
    for sizes, axis in _SORTED:
        dim = "ab"[axis]
        yield case(
            f"sort {dim}",
            Arg(sizes),
            ours=lambda xt, x, dim=dim: xt.sort(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.sort(x, axis=axis),
            torch=lambda m, x, axis=axis: m.sort(x, axis)[0],
        )
        yield case(
            f"median {dim}",
            Arg(sizes),
            ours=lambda xt, x, dim=dim: xt.median(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.median(x, axis=axis),
            torch=lambda m, x, axis=axis: m.quantile(x, 0.5, axis) if x.numel() < 1 << 20 else m.median(x, axis)[0],
        )
