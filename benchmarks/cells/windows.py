"""Reductions of moving windows, scans, and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cells.case import Arg, Case, case
from cells.peers import lax


def jax_window(name: str, axis: int, size: int) -> Any:
    """The mean or the maximum of windows, of JAX."""

    def call(m: Any, x: Any) -> Any:
        window = tuple(size if a == axis else 1 for a in range(x.ndim))
        first, combine = (0.0, lax().add) if name == "mean" else (-m.inf, lax().max)
        y = lax().reduce_window(x, x.dtype.type(first), combine, window, (1,) * x.ndim, "VALID")
        return y / size if name == "mean" else y

    return call


def _sliding(name: str, axis: int, size: int) -> Any:
    from numpy.lib.stride_tricks import sliding_window_view

    return lambda m, x: getattr(m, name)(sliding_window_view(x, size, axis), axis=-1)


def windows() -> Iterator[Case]:
    """Moving windows in which all elements are there."""
    shapes = (((1 << 20,), 0), ((1 << 14, 64), 0), ((64, 1 << 14), 1), ((64, 256, 64), 1), ((1000,), 0))
    for dtype in ("f4", "f8"):
        for sizes, axis in shapes:
            x, dim = Arg(sizes, dtype), "abc"[axis]
            for size in (3, 30, 200):
                for name in ("mean", "max", "var", "std", "median"):
                    if name == "median" and size * x.count > 1 << 23:
                        continue
                    torch = {"max": "amax", "median": "nanmedian"}.get(name, name)
                    extra: dict[str, Any] = {"correction": 0} if name in ("var", "std") else {}
                    yield case(
                        f"rolling {name} of {size} along {dim}",
                        x,
                        ours=lambda xt, x, dim=dim, size=size, name=name: getattr(
                            xt.rolling(x, {dim: size}, min_periods=size), name
                        )(),
                        torch=lambda m, x, axis=axis, size=size, name=torch, extra=extra: getattr(m, name)(
                            x.unfold(axis, size, 1), -1, **extra
                        ),
                        numpy=_sliding(name, axis, size),
                        **({"jax": jax_window(name, axis, size)} if name in ("mean", "max") else {}),
                    )


def scans() -> Iterator[Case]:
    """Running sums and their like."""
    for dtype in ("f4", "f8"):
        for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0), ((350_000, 3), 1), ((1 << 20,), 0), ((1000,), 0)):
            x, dim = Arg(sizes, dtype), "ab"[axis]
            for name in ("cumsum", "cumprod"):
                yield case(
                    f"{name} {dim}",
                    x,
                    ours=lambda xt, x, dim=dim, name=name: getattr(xt, name)(x, dim=dim),
                    numpylike=lambda m, x, axis=axis, name=name: getattr(m, name)(x, axis=axis),
                    torch=lambda m, x, axis=axis, name=name: getattr(m, name)(x, axis),
                )
            yield case(
                f"cummax {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.cummax(x, dim=dim),
                jax=lambda m, x, axis=axis: lax().cummax(x, axis),
                torch=lambda m, x, axis=axis: m.cummax(x, axis)[0],
                numpy=lambda m, x, axis=axis: m.maximum.accumulate(x, axis),
            )
            yield case(
                f"cumlogsumexp {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.cumlogsumexp(x, dim=dim),
                jax=lambda m, x, axis=axis: lax().cumlogsumexp(x, axis),
                torch=lambda m, x, axis=axis: m.logcumsumexp(x, axis),
            )
            yield case(
                f"diff {dim}",
                x,
                ours=lambda xt, x, dim=dim: xt.diff(x, dim),
                numpylike=lambda m, x, axis=axis: m.diff(x, axis=axis),
                torch=lambda m, x, axis=axis: m.diff(x, dim=axis),
            )


def products() -> Iterator[Case]:
    """Products of matrices and vectors."""
    shapes = [(n, n, n) for n in (8, 64, 256, 1024)]
    shapes += [(4096, 16, 64), (64, 4096, 64), (16, 16, 65_536), (4096, 1024, 1), (1, 1024, 4096), (513, 65, 129)]
    for dtype in ("f4", "f8", "bf16", "i4", "i1"):
        for rows, inner, columns in shapes:
            below = 10 if dtype == "i1" else 100
            a, b = Arg((rows, inner), dtype, "ik", below), Arg((inner, columns), dtype, "kj", below)
            if dtype[0] == "i" and rows * inner * columns > 1 << 24:
                continue
            yield case(
                f"product with {columns} columns",
                (a, b),
                ours=lambda xt, x, y: xt.dot(x, y, dim="k"),
                same=lambda m, x, y: m.matmul(x, y),
            )
        if dtype[0] == "i":
            continue
        turned = Arg((512, 512), dtype, "ki"), Arg((512, 512), dtype, "kj")
        yield case(
            "product of the first dims",
            turned,
            ours=lambda xt, x, y: xt.dot(x, y, dim="k"),
            same=lambda m, x, y: m.matmul(x.T, y),
        )
        for count, n in ((10_000, 4), (1500, 12), (1000, 16), (100, 64)):
            yield case(
                "batch of products",
                (Arg((count, n, n), dtype, "nik"), Arg((count, n, n), dtype, "nkj")),
                ours=lambda xt, x, y: xt.dot(x, y, dim="k"),
                same=lambda m, x, y: m.matmul(x, y),
            )
        if dtype != "bf16":
            yield case(
                "batch of products of rows",
                (Arg((1500, 12, 12), dtype, "nik"), Arg((1500, 12, 12), dtype, "njk")),
                ours=lambda xt, x, y: xt.dot(x, y, dim="k"),
                same=lambda m, x, y: m.matmul(x, m.swapaxes(y, 1, 2)),
            )
