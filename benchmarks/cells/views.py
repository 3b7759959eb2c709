"""Ops on views: every second element, elements in reverse, and transposed arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cells.case import Arg, Case, case

View = dict[str, Callable[[Any, Any], Any]]
EVERY_SECOND: View = {
    "ours": lambda xt, x: x.isel({x.dims[-1]: slice(None, None, 2)}),
    "same": lambda m, x: x[..., ::2],
}
ROWS: View = {"ours": lambda xt, x: x.isel({x.dims[0]: slice(None, None, 2)}), "same": lambda m, x: x[::2]}
REVERSED: View = {
    "ours": lambda xt, x: xt.flip(x, dim=x.dims[-1]),
    "numpylike": lambda m, x: x[..., ::-1],
    "torch": lambda m, x: x.flip(-1),
}
TRANSPOSED: View = {"ours": lambda xt, x: xt.transpose(x, *x.dims[::-1]), "same": lambda m, x: x.T}


VIEWS = {"every 2nd": EVERY_SECOND, "rows": ROWS, "reversed": REVERSED, "turned": TRANSPOSED}


def views() -> Iterator[Case]:
    for dtype in ("f4", "f8", "bf16", "u1"):
        for sizes in ((1 << 20,), (1024, 1024), (350_000, 3)):
            x = Arg(sizes, dtype)
            for name, view in VIEWS.items():
                if name in ("rows", "turned") and len(sizes) == 1:
                    continue
                yield case(f"twice of {name}", x, **_after(view, lambda m, x: x + x))
                yield case(f"sum of {name}", x, **_after(view, lambda m, x: m.sum(x)))
                if len(sizes) == 2:
                    yield case(
                        f"sum of last of {name}",
                        x,
                        **_after(view, lambda m, x: x.sum(x.dims[-1]) if m.__name__ == "xtensor" else x.sum(-1)),
                    )


def _after(view: View, op: Callable[[Any, Any], Any]) -> View:
    return {peer: lambda m, x, of=of: op(m, of(m, x)) for peer, of in view.items()}  # type: ignore[misc]
