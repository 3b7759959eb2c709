"""Ops on batches of small matrices."""

from __future__ import annotations

from collections.abc import Iterator

from cells.case import Arg, Case, case


def matrices() -> Iterator[Case]:
    for count, n in ((100_000, 2), (100_000, 3), (10_000, 8), (1000, 32)):
        for dtype in ("f4", "f8"):
            a = Arg((count, n, n), dtype, "nij", spd=True)
            for name in ("slogdet", "inv", "cholesky", "det"):
                yield case(
                    name,
                    a,
                    ours=lambda xt, a, name=name: getattr(xt.linalg, name)(a, dims=("i", "j")),
                    same=lambda m, a, name=name: getattr(m.linalg, name)(a),
                )
            yield case(
                "solve",
                (a, Arg((count, n), dtype, "ni")),
                ours=lambda xt, a, b: xt.linalg.solve(a, b, dims=("i", "j")),
                jax=lambda m, a, b: m.linalg.solve(a, b[..., None]),
                torch=lambda m, a, b: m.linalg.solve(a, b[..., None]),
                numpy=lambda m, a, b: m.linalg.solve(a, b[..., None]),
            )
            yield case(
                "eigh",
                a,
                ours=lambda xt, a: xt.linalg.eigh(a, dims=("i", "j")),
                same=lambda m, a: tuple(m.linalg.eigh(a)),
            )
            yield case(
                "qr",
                a,
                ours=lambda xt, a: xt.linalg.qr(a, dims=("i", "j")),
                same=lambda m, a: tuple(m.linalg.qr(a)),
            )
            yield case(
                "svd",
                a,
                ours=lambda xt, a: xt.linalg.svd(a, dims=("i", "j")),
                same=lambda m, a: tuple(m.linalg.svd(a)),
            )
