"""What the functions that draw have in common: their sizes, their dtypes, and the loops of those that reject."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import as_dtype
from ..base.errors import ArgumentError, DTypeError, SizeError
from ..ops import promotion as p
from ..ops.arguments import Size, extend, fail, forbid_pairs
from ..ops.creation import sizes_of, traced_sizes
from ..ops.shape import check_bytes
from ..trace import build, control
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import threefry as t
from .keys import has_dim

Sizes = Mapping[str, int] | None


def sizes_last(
    name: str, sizes: Any, keywords: Mapping[str, Any], *given: tuple[Any, Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Sizes and parameters of a call. A dict of sizes may come before parameters that have defaults: `given` are pairs
    of value and default."""
    values = [value for value, _ in given]
    for i, (value, default) in enumerate(given):
        if isinstance(value, Mapping):
            if sizes is not None or any(v is not d for v, d in given[i + 1 :]):
                raise fail(ArgumentError, f"random.{name}", "sizes come last, after the parameters")
            sizes, values[i] = value, default
    return sizes_of(f"random.{name}", sizes, keywords), values


def float_dtype(name: str, dtype: Any, *parameters: Any) -> np.dtype:
    """The dtype that is asked for, else that of the parameters, else that of `xt.option(default_float=)`."""
    if dtype is not None:
        found = as_dtype(dtype)
        if not p.is_float(found):
            raise fail(DTypeError, f"random.{name}", f"gives floats, not {found}", instead='Write dtype="f4" or "f8"')
        return found
    arrays = [x.dtype for x in parameters if isinstance(x, Tracer) and not x.weak and p.is_float(x.dtype)]
    return p.result_type(*arrays) if arrays else p.default_float()


class Plan:
    """The dims of one draw. `counted`: those along which elements count, which are the asked-for ones and those of the
    parameters, but not those of the keys. `order`: all dims of the result."""

    def __init__(
        self, name: str, words: Any, sizes: Mapping[str, Any], parameters: Sequence[Any] = (), dtype: Any = None
    ) -> None:
        self.name = name
        keys = as_tracer(words)
        self.key = t.stream_of(keys)
        self.parameters = [as_tracer(x) for x in parameters]
        self.counted: dict[str, Any] = traced_sizes(sizes)
        for d in sizes:
            if d in keys.dims:
                raise has_dim(name, d, keys)
        self.sizes: dict[str, Size] = {**traced_sizes(keys.sizes), **self.counted}
        for x in self.parameters:
            for d, n in traced_sizes(x.sizes).items():
                have = self.sizes.setdefault(d, n)
                if isinstance(have, int) and isinstance(n, int) and have != n:
                    raise fail(
                        SizeError, f"random.{name}", f"dim {d!r} has size {have} here and {n} there", x,
                        instead=f"Leave {d}= out: the numbers have all dims of the parameters",
                    )  # fmt: skip
                if d not in keys.dims:
                    self.counted.setdefault(d, n)
        forbid_pairs(name, self.parameters)
        self.order = tuple(self.sizes)
        self.dtype = p.F8 if dtype is None else dtype
        self.wide = p.accumulator(self.dtype)
        check_bytes(f"random.{name}", self.sizes, self.dtype)

    @classmethod
    def of_floats(cls, name: str, words: Any, sizes: Mapping[str, Any], parameters: Sequence[Any], dtype: Any) -> Plan:
        read = [as_tracer(x) for x in parameters]
        return cls(name, words, sizes, read, float_dtype(name, dtype, *read))

    def read(self) -> list[Tracer]:
        """The parameters in the dtype that is computed in."""
        return [p.cast(x, self.wide) for x in self.parameters]

    def draw(self) -> t.Draw:
        """Bits for one number of each element."""
        return t.draws(self.key, self.counted, 1, self.wide)[0]

    def part(self, number: int) -> t.Draw:
        """The same for another number, of which the function that draws has several."""
        return t.draws(t.substream(self.key, number), self.counted, 1, self.wide)[0]

    def spread(self, x: Tracer) -> Tracer:
        """`x` with all dims of the result, in their order."""
        return extend(x, self.sizes, self.order)

    def result(self, x: Tracer, dtype: np.dtype | None = None) -> Tracer:
        """`x` as the result: all dims, in its dtype."""
        return self.spread(p.cast(x, dtype or self.dtype))

    def repeat(
        self,
        number: int,
        attempt: Callable[[t.Stream], tuple[Tracer, Tracer]],
        done: Tracer,
        otherwise: Tracer,
    ) -> Tracer:
        """Attempts again until each element has accepted one. `attempt` is given the key of a round, and returns values
        and whether they are accepted. `done`: elements for which `otherwise` stands from the start. `number` tells
        the loops of one function apart."""
        first = self.spread(otherwise), self.spread(done)

        def keep_on(carry: Any) -> Tracer:
            return build.unary("not", build.reduce("all", carry[2], carry[2].dims))

        def body(carry: Any) -> Any:
            count, value, done = carry
            new, accepted = attempt(t.substream(self.key, number, count))
            value = build.select(done, value, new)
            done = build.binary("or", done, accepted)
            return t.add(count, t.word(1)), self.spread(value), self.spread(done)

        found: Tracer = control.while_loop(keep_on, body, (t.word(0), *first), None)[1]
        return found


# -- arithmetic of tracers of one dtype with numbers -------------------------------------------------------------------


def _other(y: Any, dtype: np.dtype) -> Tracer:
    return y if isinstance(y, Tracer) else p.constant(y, dtype)


def _pair(x: Any, y: Any) -> tuple[Tracer, Tracer]:
    dtype = x.dtype if isinstance(x, Tracer) else y.dtype
    return _other(x, dtype), _other(y, dtype)


def add(x: Any, y: Any) -> Tracer:
    return build.binary("add", *_pair(x, y))


def sub(x: Any, y: Any) -> Tracer:
    return build.binary("sub", *_pair(x, y))


def mul(x: Any, y: Any) -> Tracer:
    return build.binary("mul", *_pair(x, y))


def div(x: Any, y: Any) -> Tracer:
    return build.binary("div", *_pair(x, y))


def maximum(x: Any, y: Any) -> Tracer:
    return build.binary("maximum", *_pair(x, y))


def minimum(x: Any, y: Any) -> Tracer:
    return build.binary("minimum", *_pair(x, y))


def compare(predicate: str, x: Any, y: Any) -> Tracer:
    return build.compare(predicate, *_pair(x, y))


def where(condition: Tracer, x: Any, y: Any) -> Tracer:
    return build.select(condition, *_pair(x, y))


def both(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("and", x, y)


def either(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("or", x, y)


def square(x: Tracer) -> Tracer:
    return build.binary("mul", x, x)


def neg(x: Tracer) -> Tracer:
    return build.unary("neg", x)


def exp(x: Tracer) -> Tracer:
    return build.unary("exp", x)


def log(x: Tracer) -> Tracer:
    return build.unary("log", x)


def log1p(x: Tracer) -> Tracer:
    return build.unary("log1p", x)


def root(x: Tracer) -> Tracer:
    return build.unary("sqrt", x)


def either_sign(x: Tracer, lower: Tracer) -> Tracer:
    """`x`, negated where `lower` holds."""
    return build.select(lower, build.unary("neg", x), x)


SQRT2 = math.sqrt(2.0)
