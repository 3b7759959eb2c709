"""Loops and branches of random programs, with blocks that read what is around them."""

from __future__ import annotations

from typing import Any

import named
import numpy as np
from maker import Maker, makes
from named import INTS, Named, UnknownError
from program import OPERATIONS, Block, Statement, Values, call, functions


class Scan:
    def text(self, s: Statement) -> str:
        (f,) = functions(s)
        reverse = ", reverse=True" if s.params["reverse"] else ""
        return f"xt.scan({f}, {s.args[0]}, {s.args[1]}, dim={s.params['dim']!r}{reverse})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        carry, xs = args
        dim = s.params["dim"]
        steps = range(xs.sizes[dim])
        rows = []
        for i in reversed(steps) if s.params["reverse"] else steps:
            carry, y = call(s.blocks[0], [carry, _row(xs, dim, i)], values)
            rows.append(y)
        if s.params["reverse"]:
            rows.reverse()
        if not rows:
            like = call(s.blocks[0], [carry, _nothing(xs, dim)], values)[1]
            empty = np.zeros((0, *like.value.shape), like.value.dtype)
            return carry, Named((dim, *like.dims), like.dtype, empty, np.zeros(empty.shape))
        value, error = np.stack([r.value for r in rows]), np.stack([r.error for r in rows])
        return carry, Named((dim, *rows[0].dims), rows[0].dtype, value, error)


def _row(xs: Named, dim: str, i: int) -> Named:
    return named.moved(lambda a: a.take(i, xs.axis(dim)), xs, [d for d in xs.dims if d != dim])


def _nothing(xs: Named, dim: str) -> Named:
    dims = [d for d in xs.dims if d != dim]
    shape = [xs.sizes[d] for d in dims]
    return Named(tuple(dims), xs.dtype, np.zeros(shape, xs.value.dtype), np.zeros(shape))


def _first(g: Maker, x: str, dim: str) -> Named:
    a = g.values[x]
    return _row(a, dim, 0) if a.sizes[dim] else _nothing(a, dim)


def _state(g: Maker) -> str | None:
    return g.pick_float() if g.kind.smooth else g.pick(lambda a: a.dtype != "bool" and a.value.size < 500)


@makes(3, control=True)
def _make_scan(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: a.dtype != "bool" and all(n < 20 for n in a.sizes.values()))
    if found is None:
        return None
    xs, dim = found
    carry = g.pick(
        lambda a: (
            dim not in a.dims
            and a.dtype in (named.FLOATS if g.kind.smooth else (*named.FLOATS, *INTS))
            and a.value.size < 200
        )
    )
    if carry is None:
        return None
    # The dim itself is not to be had inside: ys have it, too.
    hidden = {n: a for n, a in g.values.items() if dim in a.dims}
    with g.block([g.values[carry], _first(g, xs, dim)]) as (names, statements):
        for n in hidden:
            g.values.pop(n, None)
        g.some_steps()
        after = g.joined(names[0], g.pick())
        y = g.pick(lambda a: dim not in a.dims and (not g.kind.smooth or named.is_float(a.dtype)))
        made = Block(names, tuple(statements), (after, y)) if after and y else None
    return (
        g.add("control_scan", [carry, xs], {"dim": dim, "reverse": g.rng.random() < 0.3}, [made], 2) if made else None
    )


class Fori:
    def text(self, s: Statement) -> str:
        return f"xt.fori_loop({s.params['lo']}, {s.params['hi']}, {functions(s)[0]}, {s.args[0]})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        (carry,) = args
        for i in range(s.params["lo"], s.params["hi"]):
            (carry,) = call(s.blocks[0], [named.exact(i, (), "int64"), carry], values)
        return (carry,)


@makes(1.5, control=True)
def _make_fori(g: Maker) -> Any:
    carry = _state(g)
    if carry is None:
        return None
    with g.block([named.exact(1, (), "int64"), g.values[carry]]) as (names, statements):
        index = g.values.pop(names[0])  # stands for a Python int: it gives way to other dtypes
        del index
        g.some_steps()
        after = g.joined(names[1], g.pick())
        made = Block(names, tuple(statements), (after,)) if after else None
    lo = g.rng.randint(0, 2)
    return g.add("control_fori", [carry], {"lo": lo, "hi": lo + g.rng.randint(0, 4)}, [made]) if made else None


class While:
    def text(self, s: Statement) -> str:
        f, (x, n) = functions(s)[0], s.args
        return (
            f"xt.while_loop(lambda s: s[0] < {n}, lambda s: (s[0] + 1, {f}(s[1])), "
            f"(xt.zeros(dtype={s.params['dtype']!r}), {x}), max_steps=4)[1]"
        )

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        carry, n = args
        for _ in range(min(int(n.known().value), 4)):
            (carry,) = call(s.blocks[0], [carry], values)
        return (carry,)


@makes(1, control=True)
def _make_while(g: Maker) -> Any:
    carry, n = _state(g), g.pick(lambda a: not a.dims and a.dtype in INTS)
    if n is None:
        long = g.pick_with_dim(lambda a: a.dtype in INTS)
        n = g.add("reduce", [long[0]], {"kind": "sum", "dim": long[1]}) if long else None
    if carry is None or n is None or g.values[n].dims:
        return None
    with g.block([g.values[carry]]) as (names, statements):
        g.some_steps()
        after = g.joined(names[0], g.pick())
        made = Block(names, tuple(statements), (after,)) if after else None
    return g.add("control_while", [carry, n], {"dtype": g.values[n].dtype}, [made]) if made else None


class Cond:
    def text(self, s: Statement) -> str:
        yes, no = functions(s)
        return f"xt.cond({s.args[0]}, {yes}, {no}, {s.args[1]})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        chosen = s.blocks[0 if args[0].known().value else 1]
        return tuple(call(chosen, args[1:], values))


class Switch:
    def text(self, s: Statement) -> str:
        return f"xt.switch({s.args[0]}, [{', '.join(functions(s))}], {s.args[1]})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        at = min(max(int(args[0].known().value), 0), len(s.blocks) - 1)
        return tuple(call(s.blocks[at], args[1:], values))


def _branch(g: Maker, x: str) -> Block | None:
    with g.block([g.values[x]]) as (names, statements):
        g.some_steps()
        result = g.joined(names[0], g.pick())
        return Block(names, tuple(statements), (result,)) if result else None


@makes(3, control=True)
def _make_cond(g: Maker) -> Any:
    x = _state(g)
    if x is None:
        return None
    chooses = g.pick(lambda a: not a.dims and a.dtype == "bool")
    if chooses is None:
        other = g.pick(lambda a: not a.dims and a.dtype != "bool")
        if other is None:
            long = g.pick_with_dim()
            other = g.add("reduce", [long[0]], {"kind": "sum", "dim": long[1]}) if long else None
        if other is None or g.values[other].dims:
            return None
        chooses = g.add("scalar", [other], {"op": ">=", "number": 0, "left": False})
    branches = [_branch(g, x), _branch(g, x)]
    return g.add("control_cond", [chooses, x], {}, branches) if chooses and all(branches) else None  # type: ignore[arg-type]


@makes(1, control=True)
def _make_switch(g: Maker) -> Any:
    x, at = _state(g), g.pick(lambda a: not a.dims and a.dtype in ("int64", "int32"))
    if x is None or at is None:
        return None
    branches = [_branch(g, x) for _ in range(g.rng.randint(1, 3))]
    return g.add("control_switch", [at, x], {}, branches) if all(branches) else None  # type: ignore[arg-type]


class Map:
    def text(self, s: Statement) -> str:
        return f"xt.map({functions(s)[0]}, {s.args[0]}, {s.params['dim']!r})"

    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]:
        xs, dim = args[0], s.params["dim"]
        rows = [call(s.blocks[0], [_row(xs, dim, i)], values)[0] for i in range(xs.sizes[dim])]
        if not rows:
            raise UnknownError
        value, error = np.stack([r.value for r in rows]), np.stack([r.error for r in rows])
        return (Named((dim, *rows[0].dims), rows[0].dtype, value, error),)


@makes(1, control=True)
def _make_map(g: Maker) -> Any:
    found = g.pick_with_dim(
        lambda a: all(n < 20 for n in a.sizes.values()) and (named.is_float(a.dtype) or not g.kind.smooth)
    )
    if found is None or g.values[found[0]].sizes[found[1]] == 0:
        return None
    xs, dim = found
    with g.block([_first(g, xs, dim)]) as (names, statements):
        for n in [n for n, a in g.values.items() if dim in a.dims]:
            g.values.pop(n)
        g.some_steps()
        y = g.pick(lambda a: dim not in a.dims)
        made = Block(names, tuple(statements), (y,)) if y else None
    return g.add("control_map", [xs], {"dim": dim}, [made]) if made else None


OPERATIONS.update(
    control_scan=Scan(),
    control_fori=Fori(),
    control_while=While(),
    control_cond=Cond(),
    control_switch=Switch(),
    control_map=Map(),
)
