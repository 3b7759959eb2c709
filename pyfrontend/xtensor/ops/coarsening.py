"""Blocks of neighbours along dims, each reduced to one element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _native
from ..base.calls import call_with, check_methods
from ..base.dims import brief, check_name
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, SizeError
from ..call.dispatch import op
from ..call.opened import apart, renamed, room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from . import reductions
from .arguments import by_dim, fail, fresh, reorder, size_of, skips, static_size
from .elementwise import astype
from .moving import spans
from .quantiles import median
from .types import Array, ArrayLike
from .windows import Reductions, array_of, blocks, checked, in_full, inside_of, narrow, reduced


def _coarsened_plan(
    kind: str, x: Any, sizes: dict[str, int], boundary: str, side: dict[str, str], skipna: bool | None, /
) -> Any:
    if not isinstance(x, _native.Array):
        return None
    counts = {d: divmod(x.sizes[d], n) for d, n in sizes.items()}
    if any(not n or (rest and boundary == "exact") for n, rest in counts.values()):
        return None
    rooms = [room(d, n, x._device) for d, (n, _) in counts.items()]
    inner = [room(apart("block", i), n, x._device) for i, n in enumerate(sizes.values())]
    amounts = {d: [rest if side[d] == "right" else 0, sizes[d]] for d, (_, rest) in counts.items()}
    return kind, renamed(x, {d: apart(d) for d in sizes}), rooms, inner, amounts, skipna


def _coarsened_wide(
    kind: str, x: ArrayLike, rooms: Sequence[ArrayLike], inner: Sequence[ArrayLike], amounts: dict[str, Any],
    skipna: bool | None, /,
) -> Array:  # fmt: skip
    x = _to_coarsen(kind, as_tracer(x))
    own = {apart(d): d for d in amounts}
    order, names = [own.get(d, d) for d in x.dims], []
    for space, block, (d, (start, step)) in zip(rooms, map(as_tracer, inner), amounts.items(), strict=True):
        names.append(block.dims[0])
        x = spans(x, d, names[-1], space, size_of(block, names[-1]), start, step)
    return reorder(_of_blocks(kind, x, tuple(names), skipna), order)


def _to_coarsen(kind: str, x: Tracer) -> Tracer:
    """In the dtype of the result."""
    x = p.as_mean(x) if kind in ("mean", "var", "std") else x
    return p.cast(x, p.sum_dtype(x.dtype)) if kind in ("sum", "prod") else x


def _of_blocks(kind: str, y: Tracer, names: tuple[str, ...], skipna: bool | None) -> Tracer:
    if skips("coarsen", skipna):
        return as_tracer(getattr(reductions, kind)(y, names, skipna=True))
    return p.cast(reduced(kind, in_full(kind, y), names), narrow(kind, y))


@op(name="coarsen", wide=(_coarsened_plan, _coarsened_wide))
def _coarsened(
    kind: str, x: ArrayLike, sizes: dict[str, int], boundary: str, side: dict[str, str], skipna: bool | None, /
) -> Array:
    x = _to_coarsen(kind, as_tracer(x))
    y, names = _cut(x, sizes, boundary, side)
    y = reorder(_of_blocks(kind, y, names, skipna), x.dims)
    return build.labelled(y, x, {d: ("coarsen", n, boundary, side[d]) for d, n in sizes.items()})


def _cut(x: Tracer, sizes: dict[str, int], boundary: str, side: dict[str, str]) -> tuple[Tracer, tuple[str, ...]]:
    names = []
    for dim, size in sizes.items():
        rest = static_size("coarsen", x, dim) % size
        if rest and boundary == "exact":
            raise fail(
                SizeError, "coarsen", f"blocks of {size} do not divide dim {dim!r} of size {x.sizes[dim]}", x,
                instead='Write boundary="trim" to leave out the rest',
            )  # fmt: skip
        if rest:
            length = static_size("coarsen", x, dim) - rest
            x = build.slice(x, {dim: (rest if side[dim] == "right" else 0, length, 1)})
        names.append(fresh(x.dims, "block"))
        x = blocks(x, dim, size, names[-1])
    return x, tuple(names)


@op(name="coarsen")
def _blocks(
    x: ArrayLike, names: dict[str, tuple[str, str]], sizes: dict[str, int], boundary: str, side: dict[str, str], /
) -> Array:
    x = as_tracer(x)
    y, inside = _cut(x, sizes, boundary, side)
    places = dict(zip(sizes, inside, strict=True))
    order = [n for d in x.dims for n in ((d, places[d]) if d in sizes else (d,))]
    new = {d: names[d][0] for d in sizes} | {places[d]: names[d][1] for d in sizes}
    return build.rename(reorder(y, order), {a: b for a, b in new.items() if a != b})


@op(name="coarsen")
def _labelled(y: ArrayLike, x: ArrayLike, sizes: dict[str, int], boundary: str, side: dict[str, str], /) -> Array:
    """`y`, made of blocks of `x`, with the labels of the blocks."""
    steps = {d: ("coarsen", n, boundary, side[d]) for d, n in sizes.items()}
    return build.labelled(build.rename(as_tracer(y), {}), as_tracer(x), steps)


class Coarsen(Reductions):
    """Blocks of neighbours along dims; a reduction makes each block one element."""

    __slots__ = ("_array", "_boundary", "_side", "_sizes")

    def __init__(self, x: Any, sizes: dict[str, int], boundary: str, side: dict[str, str]) -> None:
        self._array, self._sizes, self._boundary, self._side = x, sizes, boundary, side

    def __repr__(self) -> str:
        blocks = ", ".join(f"{d}={n}" for d, n in self._sizes.items())
        return f"Coarsen({blocks}) of {brief(self._array)}"

    def _reduce(self, kind: str, skipna: bool | None = None) -> Any:
        return _coarsened(kind, self._array, self._sizes, self._boundary, self._side, skipna)

    def sum(self, *, skipna: bool | None = None) -> Any:
        """Returns the sum of each block, with the dims of the array. Integers widen to 64 bits."""
        return self._reduce("sum", skipna)

    def mean(self, *, skipna: bool | None = None) -> Any:
        """Returns the mean of each block, with the dims of the array."""
        return self._reduce("mean", skipna)

    def max(self, *, skipna: bool | None = None) -> Any:
        """Returns the largest value of each block, with the dims of the array. Ties share the gradient."""
        return self._reduce("max", skipna)

    def min(self, *, skipna: bool | None = None) -> Any:
        """Returns the smallest value of each block, with the dims of the array. Ties share the gradient."""
        return self._reduce("min", skipna)

    def prod(self, *, skipna: bool | None = None) -> Any:
        """Returns the product of each block, with the dims of the array. Integers widen to 64 bits."""
        return self._reduce("prod", skipna)

    def var(self, *, skipna: bool | None = None) -> Any:
        """Returns the variance of each block, with the dims of the array."""
        return self._reduce("var", skipna)

    def std(self, *, skipna: bool | None = None) -> Any:
        """Returns the standard deviation of each block, with the dims of the array; its derivative is 0 if all elements
        are equal."""
        return self._reduce("std", skipna)

    def median(self, *, skipna: bool | None = None) -> Any:
        """Returns the median of each block, with the dims of the array."""
        return self.reduce(lambda blocks, dim: median(blocks, dim, skipna=skipna))

    def count(self) -> Any:
        """Returns how many elements of each block are not NaN: i8, with the dims of the array."""
        x = self._array
        return _coarsened("sum", astype(x == x, "i8"), self._sizes, self._boundary, self._side, False)

    def any(self) -> Any:
        """Tells whether an element of each block differs from 0, with the dims of the array."""
        return _coarsened("max", self._array != 0, self._sizes, self._boundary, self._side, False)

    def all(self) -> Any:
        """Tells whether every element of each block differs from 0, with the dims of the array."""
        return _coarsened("min", self._array != 0, self._sizes, self._boundary, self._side, False)

    def construct(self, window_dim: Mapping[str, tuple[str, str]] | None = None, /, **keywords: tuple[str, str]) -> Any:
        """Returns the blocks: construct(t=("block", "inside")) replaces `t` by two dims.

        The first counts the blocks, the second the positions inside of each.
        """
        names = by_dim("coarsen.construct", window_dim, keywords, "names")
        for dim, pair in names.items():
            if isinstance(pair, str) or not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise fail(
                    ArgumentTypeError, "coarsen.construct", f"{dim!r} becomes two dims, not {brief(pair)}", self._array,
                    instead=f'Write construct({dim}=("block", "inside"))',
                )  # fmt: skip
        lacking = [d for d in self._sizes if d not in names]
        if lacking or len(names) > len(self._sizes):
            raise fail(
                ArgumentError, "coarsen.construct", f"two names per dim {tuple(self._sizes)} are needed, not {names}"
            )
        new = [check_name(n, "coarsen.construct") for pair in names.values() for n in pair]
        kept = [d for d in self._array.dims if d not in names]
        twice = [n for n in new if [*kept, *new].count(n) > 1]
        if twice:
            raise fail(DimensionError, "coarsen.construct", f"two dims would be named {twice[0]!r}", self._array)
        return _blocks(self._array, {d: tuple(p) for d, p in names.items()}, self._sizes, self._boundary, self._side)

    def reduce(self, function: Callable[..., Any], /, **keywords: Any) -> Any:
        """Returns `function(blocks, dim)`, which reduces each block over `dim`, with the dims of the array."""
        inside = {d: inside_of(self._array, f"block_{d}") for d in self._sizes}
        over = tuple(inside.values())
        y = _blocks(
            self._array, {d: (d, inside[d]) for d in self._sizes}, self._sizes, self._boundary, self._side
        )  # fmt: skip
        given = [y, over if len(over) > 1 else over[0]]
        y = call_with("coarsen.reduce", function, given, keywords, roles=("blocks", "dim"))
        return _labelled(y, self._array, self._sizes, self._boundary, self._side)


check_methods(Coarsen, "coarsen")


def coarsen(
    x: ArrayLike,
    blocks: Mapping[str, int] | None = None,
    /,
    boundary: str = "exact",
    side: str | Mapping[str, str] = "left",
    **keywords: int,
) -> Coarsen:
    """Returns blocks of neighbours along dims, to be reduced to one element each: coarsen(x, a=2).mean().

    The result has the methods mean, sum, max, min, prod, var, std, median, count, any, all, reduce(function) and
    construct(names).
    `mean(skipna=True)` and its like leave NaN out; by default `xt.option(skipna=)` decides. Blocks divide the size of
    the dim (SizeError), or boundary="trim" drops the rest: at the end, or at the start with side="right".

    Raises:
        DimensionError: `x` does not have a dim that is named.
        SizeError: blocks do not divide the size of the dim, with boundary="exact".
        ArgumentError: a block is below 1, or `boundary` or `side` is another word.

    Example:
    >>> xt.coarsen(xt.array([1.0, 3.0, 5.0, 9.0], "time"), time=2).mean()
    <xtensor.Array (time: 2) float64>
    [2. 7.]
    """
    array = array_of(x)
    sizes = checked("coarsen", array, by_dim("coarsen", blocks, keywords, "blocks"), "block")
    if boundary not in ("exact", "trim"):
        raise fail(ArgumentError, "coarsen", f"boundary is 'exact' or 'trim', not {boundary!r}", array)
    sides = dict(side) if isinstance(side, Mapping) else dict.fromkeys(sizes, side)
    sides = {d: sides.get(d, "left") for d in sizes}
    if not set(sides.values()) <= {"left", "right"}:
        raise fail(ArgumentError, "coarsen", f"side is 'left' or 'right', not {side!r}", array)
    return Coarsen(x, sizes, boundary, sides)
