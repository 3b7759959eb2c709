"""Elementwise ops."""

from __future__ import annotations

from collections.abc import Iterator

from cells.case import Arg, Case, case
from cells.peers import jax_nn


def elementwise() -> Iterator[Case]:
    unary = ["exp", "log", "tanh", "sin", "sqrt", "abs", "square", "sigmoid", "floor", "round", "sign", "exp2", "log1p"]
    unary += ["expm1", "isnan", "reciprocal"]
    for dtype in ("f4", "f8", "bf16"):
        for size in (1 << 14, 1 << 20):
            x = Arg((size,), dtype)
            for name in unary:
                function = lambda m, x, name=name: getattr(m, name)(x)  # noqa: E731
                ours = {"sigmoid": lambda xt, x: xt.sigmoid(x)}.get(name, function)
                if name == "sigmoid":
                    yield case(name, x, ours=ours, jax=lambda m, x: jax_nn().sigmoid(x), torch=function)
                else:
                    yield case(name, x, ours=ours, same=function)
            yield case(
                "gelu",
                x,
                ours=lambda xt, x: xt.gelu(x),
                jax=lambda m, x: jax_nn().gelu(x, approximate=False),
                torch=lambda m, x: m.nn.functional.gelu(x),
            )
    for dtype in ("f4", "f8", "bf16", "i4", "i1", "u1"):
        for size in (1 << 14, 1 << 20):
            args = (Arg((size,), dtype), Arg((size,), dtype))
            for name in ("add", "multiply", "maximum", "remainder", "floor_divide", "divide", "power"):
                if name == "power" and dtype[0] in "iu":
                    continue
                # The divisors of integers are not 0.
                one = 1 if dtype[0] in "iu" and name in ("remainder", "floor_divide") else 0
                function = lambda m, x, y, name=name, one=one: getattr(m, name)(x, y + one if one else y)  # noqa: E731
                if name == "power":
                    pow = lambda m, x, y: m.pow(x, y)  # noqa: E731
                    yield case(name, args, ours=pow, jax=function, torch=pow)
                else:
                    yield case(name, args, ours=function, same=function)


def sizes() -> Iterator[Case]:
    """The same ops on 100 to 30,000,000 elements."""
    for dtype in ("f4", "f8", "i4"):
        for size in (100, 1000, 100_000, 30_000_000):
            x = Arg((size,), dtype)
            yield case("twice", x, same=lambda m, x: x + x, ours=lambda xt, x: x + x)
            yield case("sum", x, same=lambda m, x: m.sum(x), ours=lambda xt, x: xt.sum(x))
            yield case("max", x, same=lambda m, x: m.max(x), ours=lambda xt, x: xt.max(x))
            if dtype[0] == "f":
                yield case("exp", x, same=lambda m, x: m.exp(x), ours=lambda xt, x: xt.exp(x))
                yield case("cos", x, same=lambda m, x: m.cos(x), ours=lambda xt, x: xt.cos(x))
