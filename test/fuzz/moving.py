"""Ops of random programs that move elements: views, reads and updates by position, names and order of dims."""

from __future__ import annotations

from typing import Any

import named
import numpy as np
from maker import Maker, makes
from named import INTS, Named, RefusedError, aligned, elementwise, is_float, moved
from operations import op


def _index(x: Named, dim: str, at: Any) -> tuple[Any, ...]:
    return tuple(at if d == dim else slice(None) for d in x.dims)


def closed(g: Maker) -> Any:
    """A value and a dim of it whose size the program knows."""
    found = g.pick_with_dim()
    return found if found and found[1] not in g.open else None


@op("slice", lambda x, dim, start, stop, step: f"{x}.isel({dim}=slice({start}, {stop}, {step}))")
def _slice(x: Named, dim: str, start: Any, stop: Any, step: int) -> Named:
    return moved(lambda a: a[_index(x, dim, slice(start, stop, step))], x, x.dims)


@op("rename", lambda x, old, new: f"{x}.rename({old}={new!r})")
def _rename(x: Named, old: str, new: str) -> Named:
    return moved(lambda a: a, x, [new if d == old else d for d in x.dims])


def renamed(g: Maker, x: str | None, dim: str) -> str | None:
    """`x`, whose `dim` changed its size, under a name that has this size."""
    if x is None:
        return None
    size = g.values[x].sizes[dim]
    if g.sizes[dim] == size:
        return x
    new = g.new_dim(size)
    while new in g.values[x].dims:
        new = f"d{len(g.sizes)}"
        g.sizes[new] = size
    return g.add("rename", [x], {"old": dim, "new": new})


@makes(3)
def _make_slice(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    x, dim = found
    n = g.values[x].sizes[dim]
    step = g.rng.choice((1, 1, 1, 2, 3, -1, -2))
    start = g.rng.choice((None, g.rng.randint(-n - 1, n + 1)))
    stop = g.rng.choice((None, None, g.rng.randint(-n - 1, n + 1)))
    return renamed(g, g.add("slice", [x], {"dim": dim, "start": start, "stop": stop, "step": step}), dim)


@makes(1)
def _make_rename(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    x, dim = found
    new = g.new_dim(g.values[x].sizes[dim])
    return g.add("rename", [x], {"old": dim, "new": new}) if new not in g.values[x].dims else None


@op("at", lambda x, dim, at: f"{x}.isel({dim}={at})")
def _at(x: Named, dim: str, at: int) -> Named:
    n = x.sizes[dim]
    if not -n <= at < n:
        raise RefusedError("an index out of range")
    return moved(lambda a: a[_index(x, dim, at)], x, [d for d in x.dims if d != dim])


@makes(1.5)
def _make_at(g: Maker) -> Any:
    found = closed(g)
    if not found or g.values[found[0]].sizes[found[1]] == 0:
        return None
    n = g.values[found[0]].sizes[found[1]]
    return g.add("at", [found[0]], {"dim": found[1], "at": g.rng.randint(-n, n - 1)})


@op("reverse", lambda x, dim: f"xt.flip({x}, {dim!r})")
def _reverse(x: Named, dim: str) -> Named:
    return moved(lambda a: a[_index(x, dim, slice(None, None, -1))], x, x.dims)


@op("roll", lambda x, dim, by: f"xt.roll({x}, {dim}={by})")
def _roll(x: Named, dim: str, by: int) -> Named:
    return moved(lambda a: np.roll(a, by, x.axis(dim)), x, x.dims)


@makes(1)
def _make_roll(g: Maker) -> Any:
    found = g.pick_with_dim()
    if not found:
        return None
    if g.rng.random() < 0.4:
        return g.add("reverse", [found[0]], {"dim": found[1]})
    return g.add("roll", [found[0]], {"dim": found[1], "by": g.rng.randint(-5, 5)})


@op("pad", lambda x, dim, before, after, number: f"xt.pad({x}, {dim}=({before}, {after}), constant_values={number})")
def _pad(x: Named, dim: str, before: int, after: int, number: Any) -> Named:
    widths = [(before, after) if d == dim else (0, 0) for d in x.dims]
    fill = np.asarray(number).astype(x.value.dtype)
    return Named(x.dims, x.dtype, np.pad(x.value, widths, constant_values=fill), np.pad(x.error, widths))


@makes(1)
def _make_pad(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    x, dim = found
    params = {"dim": dim, "before": g.rng.randint(0, 3), "after": g.rng.randint(0, 3), "number": g.rng.randint(0, 1)}
    return renamed(g, g.add("pad", [x], params), dim)


@op("concat", lambda x, y, dim: f"xt.concat([{x}, {y}], {dim!r})")
def _concat(x: Named, y: Named, dim: str) -> Named:
    dtype = named.promoted(x.dtype, y.dtype)
    x, y = (named.cast(a, dtype) if a.dtype != dtype else a for a in (x, y))
    order = [y.axis(d) for d in x.dims]
    value = np.concatenate([x.value, y.value.transpose(order)], x.axis(dim))
    return Named(x.dims, dtype, value, np.concatenate([x.error, y.error.transpose(order)], x.axis(dim)))


@makes(1)
def _make_concat(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    x, dim = found
    y = g.pick(lambda b: set(b.dims) == set(g.values[x].dims) and b.dtype == g.values[x].dtype)
    return renamed(g, g.add("concat", [x, y], {"dim": dim}), dim) if y else None


@op("transpose", lambda x, dims: f"{x}.transpose({', '.join(map(repr, dims))})")
def _transpose(x: Named, dims: tuple[str, ...]) -> Named:
    return moved(lambda a: a.transpose([x.axis(d) for d in dims]), x, dims)


@makes(1)
def _make_transpose(g: Maker) -> Any:
    x = g.pick(lambda a: len(a.dims) > 1)
    if x is None:
        return None
    dims = list(g.values[x].dims)
    g.rng.shuffle(dims)
    return g.add("transpose", [x], {"dims": tuple(dims)})


@op("stack", lambda x, dims, new: f"xt.stack({x}, {new}={dims!r})")
def _stack(x: Named, dims: tuple[str, ...], new: str) -> Named:
    rest = [d for d in x.dims if d not in dims]
    order = [x.axis(d) for d in (*rest, *dims)]
    shape = [*(x.sizes[d] for d in rest), int(np.prod([x.sizes[d] for d in dims]))]
    return moved(lambda a: a.transpose(order).reshape(shape), x, [*rest, new])


@makes(0.7)
def _make_stack(g: Maker) -> Any:
    x = g.pick(lambda a: sum(d not in g.open for d in a.dims) > 1)
    if x is None:
        return None
    dims = tuple(g.rng.sample([d for d in g.values[x].dims if d not in g.open], 2))
    size = int(np.prod([g.values[x].sizes[d] for d in dims]))
    new = f"d{len(g.sizes)}"
    g.sizes[new] = size
    return g.add("stack", [x], {"dims": dims, "new": new})


@op("unstack", lambda x, dim, sizes: f"xt.unstack({x}, {dim}={sizes!r})")
def _unstack(x: Named, dim: str, sizes: dict[str, int]) -> Named:
    rest = [d for d in x.dims if d != dim]
    order = [x.axis(d) for d in (*rest, dim)]
    shape = [*(x.sizes[d] for d in rest), *sizes.values()]
    return moved(lambda a: a.transpose(order).reshape(shape), x, [*rest, *sizes])


@makes(0.7)
def _make_unstack(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    x, dim = found
    n = g.values[x].sizes[dim]
    first = g.rng.choice([f for f in range(1, n + 1) if n % f == 0]) if n else g.rng.randint(1, 3)
    sizes: dict[str, int] = {}
    for size in (first, n // first):
        new = g.new_dim(size)
        while new in g.values[x].dims or new in sizes:
            new = f"d{len(g.sizes)}"
            g.sizes[new] = size
        sizes[new] = size
    return g.add("unstack", [x], {"dim": dim, "sizes": sizes})


@op("join", lambda x, y, new: f"xt.concat([{x}, {y}], {new!r})")
def _join(x: Named, y: Named, new: str) -> Named:
    order = [y.axis(d) for d in x.dims]
    value, error = np.stack([x.value, y.value.transpose(order)]), np.stack([x.error, y.error.transpose(order)])
    return Named((new, *x.dims), x.dtype, value, error)


@makes(0.7)
def _make_join(g: Maker) -> Any:
    x = g.pick()
    y = g.pick(lambda b: set(b.dims) == set(g.values[x].dims) and b.dtype == g.values[x].dtype) if x else None
    if x is None or y is None:
        return None
    new = g.new_dim(2)
    if new in g.values[x].dims:
        return None
    return g.add("join", [x, y], {"new": new})


@op(
    "copies",
    lambda x, dim, times, each: f"xt.repeat({x}, {times}, {dim!r})" if each else f"xt.tile({x}, {dim}={times})",
)
def _copies(x: Named, dim: str, times: int, each: bool) -> Named:
    axis = x.axis(dim)
    if each:
        return moved(lambda a: np.repeat(a, times, axis), x, x.dims)
    return moved(lambda a: np.concatenate([a] * times, axis), x, x.dims)


@makes(0.7)
def _make_copies(g: Maker) -> Any:
    found = closed(g)
    if not found:
        return None
    params = {"dim": found[1], "times": g.rng.randint(1, 3), "each": g.rng.random() < 0.5}
    return renamed(g, g.add("copies", [found[0]], params), found[1])


# By positions that are arrays.


@op("rows", lambda x, dim, at, new: f"{x}.isel({dim}=xt.array(np.array({list(at)!r}, int), {new!r}))")
def _rows(x: Named, dim: str, at: tuple[int, ...], new: str) -> Named:
    """Positions that the program holds itself."""
    if at and not all(-x.sizes[dim] <= i < x.sizes[dim] for i in at):
        raise RefusedError("an index out of range")
    positions = np.array(at, int)
    return moved(lambda a: a.take(positions, x.axis(dim)), x, [new if d == dim else d for d in x.dims])


@makes(1)
def _make_rows(g: Maker) -> Any:
    found = closed(g)
    if not found or g.values[found[0]].sizes[found[1]] == 0:
        return None
    x, dim = found
    n = g.values[x].sizes[dim]
    at = tuple(g.rng.randint(-n, n - 1) for _ in range(g.rng.choice((0, 1, 2, 5, 33))))
    new = g.new_dim(len(at))
    if new in g.values[x].dims:
        return None
    return g.add("rows", [x], {"dim": dim, "at": at, "new": new})


def wrapped(positions: Named, size: int) -> np.ndarray:
    at = positions.known().value.astype(object)
    at = np.where(at < 0, at + size, at)
    if at.size and not ((at >= 0) & (at < size)).all():
        raise RefusedError("an index out of range")
    return at.astype("int64")


@op("gather", lambda x, k, dim: f"{x}.isel({dim}={k})")
def _gather(x: Named, k: Named, dim: str) -> Named:
    """k's dims come in place of `dim`; a dim that x has, too, goes along."""
    at = wrapped(k, x.sizes[dim])
    new = [d for d in k.dims if d not in x.dims or d == dim]
    rest = [d for d in x.dims if d != dim]
    dims = [e for d in x.dims for e in (new if d == dim else [d])]
    full = [*rest, *new]
    sizes = {**x.sizes, **k.sizes}
    _, (spread,), _ = aligned([Named(k.dims, k.dtype, at, k.error)])
    grid = np.meshgrid(*(np.arange(sizes[d]) for d in full), indexing="ij", sparse=True) if full else []
    where = dict(zip(full, grid, strict=True))
    picked = spread[tuple(where[d] for d in k.dims)] if k.dims else spread
    index = tuple(picked if d == dim else where[d] for d in x.dims)

    def take(a: np.ndarray) -> np.ndarray:
        got = np.broadcast_to(a[index], [sizes[d] for d in full])
        return got.transpose([full.index(d) for d in dims])

    return moved(take, x, dims)


def positions(g: Maker, x: str, dim: str) -> str | None:
    """Positions along a dim: an input, or computed ones."""
    n = g.values[x].sizes[dim]
    if dim not in g.open and n > 0 and g.rng.random() < 0.4:
        k = g.pick(lambda a: a.dtype in INTS and len(a.dims) < 3 and dim not in a.dims and n < 100)
        return g.add("scalar", [k], {"op": "%", "number": n, "left": False}) if k else None
    others = [d for d in g.sizes if d not in (dim, *g.values[x].dims) and g.sizes[d] < 40]
    shared = [d for d in g.values[x].dims if d != dim and d in g.sizes]
    dims = []
    if shared and g.rng.random() < 0.25:
        dims.append(g.rng.choice(shared))
    if others and g.rng.random() < 0.5:
        dims.append(g.rng.choice(others))
    elif len(dims) == 0 or g.rng.random() < 0.3:
        name = f"d{len(g.sizes)}"
        g.sizes[name] = g.rng.choice((0, 1, 2, 5, 9))
        dims.append(name)
    if any(g.sizes[d] != g.values[x].sizes.get(d, g.sizes[d]) for d in dims):
        return None
    return g.position_input(dim, dims)


@makes(3)
def _make_gather(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: is_float(a.dtype) or not g.kind.smooth)
    if not found or g.sizes.get(found[1]) != g.values[found[0]].sizes[found[1]]:
        return None
    k = positions(g, *found)
    return g.add("gather", [found[0], k], {"dim": found[1]}) if k else None


@op("update", lambda x, k, v, dim, kind: f"{x}.at({dim}={k}).{kind}({v})")
def _update(x: Named, k: Named, v: Named, dim: str, kind: str) -> Named:
    """One update after the other, row-major over the positions' dims in the order of their names."""
    at = wrapped(k, x.sizes[dim])
    order = sorted(k.dims)
    at = at.transpose([k.axis(d) for d in order])
    value, error = x.value.copy(), x.error.copy()
    rest = [d for d in x.dims if d != dim and d not in k.dims]
    for place in np.ndindex(at.shape):
        here = dict(zip(order, place, strict=True))
        target = tuple(at[place] if d == dim else here.get(d, slice(None)) for d in x.dims)
        index = tuple(here.get(d, slice(None)) for d in v.dims)
        part = moved(lambda a, index=index: a[index], v, [d for d in v.dims if d not in here])  # type: ignore[misc]
        old = Named(tuple(rest), x.dtype, value[target], error[target])
        result = _updated(old, named.cast(part, x.dtype) if part.dtype != x.dtype else part, kind)
        value[target], error[target] = result.value, result.error
    return Named(x.dims, x.dtype, value, error)


def _updated(old: Named, v: Named, kind: str) -> Named:
    if kind == "set":
        _, values, errors = aligned([old, v])
        shape = old.value.shape
        return Named(old.dims, old.dtype, np.broadcast_to(values[1], shape), np.broadcast_to(errors[1], shape))
    functions = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}
    result = elementwise(functions[kind], [old, v], old.dtype, 0.0 if kind in ("max", "min") else 4.0)
    if kind not in ("add", "subtract") or not is_float(old.dtype) or not named.bounds:
        return result
    # Other orders of the same sum round otherwise: by the sizes of what is added.
    sizes = elementwise(lambda a, b: np.abs(a) + np.abs(b), [old, v], old.dtype)
    extra = named.made(result.dims, old.dtype, sizes.value, np.zeros(sizes.value.shape), 16.0)
    with np.errstate(all="ignore"):
        error = np.where(np.isfinite(result.value), result.error + extra.error, result.error)
    return Named(result.dims, old.dtype, result.value, error)


@makes(3)
def _make_update(g: Maker) -> Any:
    found = g.pick_with_dim(lambda a: a.dtype != "bool" and (is_float(a.dtype) or not g.kind.smooth))
    if not found or g.sizes.get(found[1]) != g.values[found[0]].sizes[found[1]]:
        return None
    x, dim = found
    k = positions(g, x, dim)
    if k is None or g.values[k].value.size > 500:  # the reference goes from one to the next
        return None
    v = g.pick(
        lambda b: (
            b.dtype == g.values[x].dtype
            and set(b.dims) <= {d for d in g.values[x].dims if d != dim} | set(g.values[k].dims)
        )
    )
    if v is None or g.rng.random() < 0.5:
        read = g.add("gather", [x, k], {"dim": dim})
        scalar = 2.0 if is_float(g.values[x].dtype) else 2
        v = g.add("scalar", [read], {"op": g.rng.choice("*-"), "number": scalar, "left": False}) if read else None
    if v is None or dim in g.values[v].dims:
        return None
    kinds = ("set", "add", "add", "subtract", "max", "min", "multiply")
    return g.add("update", [x, k, v], {"dim": dim, "kind": g.rng.choice(kinds)})
