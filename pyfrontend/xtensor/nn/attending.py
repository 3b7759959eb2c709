"""attention, which does not keep the weights of all pairs where they are many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.errors import ArgumentTypeError, DimensionError, DTypeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import dims_of, extend, fail, forbid_pairs, integer, names_of, reorder, size_of, union_sizes
from ..ops.contraction import contract
from ..ops.operators import aligned
from ..ops.reductions import any_empty, shift_of
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.checkpoint import checkpoint
from ..transforms.control import map as each
from .functions import softmax_over

# The most weights that are computed at once. If there are more, each block of queries has about this many weights.
AT_ONCE = 1 << 22
# The most parts into which queries are divided if each of them attends to some keys only.
MOST_PARTS = 16


@op(joins=True)
def attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, /, dims: tuple[str, str, str], mask: ArrayLike | None = None, *,
    causal: bool = False, window: int | tuple[int, int] | None = None,
) -> Array:  # fmt: skip
    """Returns softmax(q . k / sqrt(size of feature)) . v, scaled dot-product attention.

    dims=(query, key, feature): `q` has query and feature, `k` has key and feature, `v` has key. Their other dims
    are paired by name. The result has the dims of `q`, then of `v`, without key and feature. A query does not
    attend to a key where the bool array `mask` is False; the mask has key or query, or both, and may have more dims,
    which the result has, too. A query that may not attend to any key gives 0.

    With `causal=True` the query at position i attends to the keys 0 to i; with window=(before, after), or one number
    for both, to the keys i - before to i + after. Keys that no query of a block attends to are not read.

    If there are more than 4 million weights, and sizes are known while tracing, the queries are processed in blocks. No
    array then holds the weights of all blocks, and derivatives compute the weights again. Source: Vaswani et al.,
    "Attention is all you need" (2017).

    Raises:
        DimensionError: an array lacks one of `dims`.
        SizeError: a dim has two sizes.
        DTypeError: an array is complex, or `mask` does not hold bools.
        ArgumentError: a side of `window` is negative.

    Example:
    >>> q, k, v = xt.ones(query=4, feature=8), xt.ones(key=5, feature=8), xt.ones(key=5, value=3)
    >>> xt.nn.attention(q, k, v, dims=("query", "key", "feature")).sizes
    {'query': 4, 'value': 3}
    """
    names = names_of("nn.attention", dims)
    if len(names) != 3 or isinstance(dims, str):
        raise fail(
            DimensionError, "attention", f"dims are a tuple of three, (query, key, feature), not {dims!r}",
            instead='Write dims=("query", "key", "feature") with the names that your arrays have',
        )  # fmt: skip
    query, key, feature = names
    q, k, v = p.promote_float(q, k, v)
    for x, needed in ((q, (query, feature)), (k, (key, feature)), (v, (key,))):
        dims_of("attention", x, needed)
    for x, foreign in ((q, key), (k, query), (v, query)):
        if foreign in x.dims:
            raise fail(DimensionError, "attention", f"this operand must not have dim {foreign!r}", x)
    sizes = union_sizes("attention", (q, k))
    forbid_pairs("attention", (q, k), besides=names)
    scores = tuple(d for d in sizes if d != feature)
    allowed = None if mask is None else _checked(mask, q, k, v, names)
    weights = [extend(p.zero(q.dtype), sizes, scores), *([] if allowed is None else [allowed])]
    order = tuple(union_sizes("dot", [*weights, v]))
    order = tuple(d for d in order if d != key)
    found = _Attention(names, _reach(causal, window), order).of(q, k, v, allowed)
    return reorder(found, order)


def _reach(causal: bool, window: Any) -> tuple[int | None, int | None]:
    """How far before and after its own position a query sees; None: to the end."""
    before, after = None, None
    if window is not None:
        pair = window if isinstance(window, tuple) else (window, window)
        if len(pair) != 2:
            raise fail(ArgumentTypeError, "nn.attention", f"window is (before, after), or one number, not {window!r}")
        before, after = (integer("nn.attention", n, "a side of the window", least=0) for n in pair)
    return (before, 0) if causal else (before, after)


class _Attention:
    """Attention of some queries to some keys."""

    def __init__(self, names: tuple[str, ...], reach: tuple[int | None, int | None], order: tuple[str, ...]) -> None:
        self.query, self.key, self.feature = names
        self.before, self.after = reach
        self.order = order

    def of(self, q: Tracer, k: Tracer, v: Tracer, mask: Tracer | None) -> Tracer:
        at = self.positions(q, self.query)
        sizes = union_sizes("", [q, k, *([] if mask is None else [mask])])
        weights = {d: n for d, n in sizes.items() if d != self.feature}
        known = [n for n in weights.values() if isinstance(n, int)]
        if len(known) < len(weights) or math.prod(known) <= AT_ONCE or known[list(weights).index(self.query)] < 2:
            return self.at_once(q, k, v, mask, at, self.positions(k, self.key))
        n, m = int(q.sizes[self.query]), int(k.sizes[self.key])
        row = math.prod(known) // n
        parts = self.parts(n, m)
        found = []
        for start, end in parts:
            low = 0 if self.before is None else max(0, start - self.before)
            high = m if self.after is None else min(m, end + self.after)
            if low >= high:  # no key is in reach: the mask says so of any key
                low, high = (0, 1) if m else (0, 0)
            here = _cut({self.query: (start, end)}, q, mask, at)
            there = _cut({self.key: (low, high)}, k, v, here[1], self.positions(k, self.key))
            block = max(1, AT_ONCE // max(1, row * (high - low) // max(m, 1)))
            found.append(self.in_blocks(here[0], there[0], there[1], there[2], here[2], there[3], block))
        return found[0] if len(found) == 1 else build.concat(found, self.query)

    def parts(self, n: int, m: int) -> list[tuple[int, int]]:
        """The queries in parts, if each of them sees other keys."""
        if self.before is None and self.after is None:
            return [(0, n)]
        seen = m if self.before is None or self.after is None else self.before + self.after + 1
        count = min(MOST_PARTS, n, max(4, n // max(seen, 1)))
        edges = [n * i // count for i in range(count + 1)]
        return [(a, b) for a, b in itertools.pairwise(edges) if a < b]

    def positions(self, x: Tracer, dim: str) -> Tracer | None:
        """The positions along a dim, if it matters where a query and a key lie."""
        if self.before is None and self.after is None:
            return None
        return build.iota(dim, size_of(x, dim), p.I8)

    def in_blocks(
        self, q: Tracer, k: Tracer, v: Tracer, mask: Tracer | None, at: Tracer | None, places: Tracer | None, block: int
    ) -> Tracer:
        """One block of queries after the other. What a block computes is not kept for its derivative."""
        n = int(q.sizes[self.query])
        count = -(-n // block)
        block = -(-n // count)
        if count == 1:
            return checkpoint(lambda q, k, v: self.at_once(q, k, v, mask, at, places))(q, k, v)
        taken = {*q.dims, *v.dims, *(mask.dims if mask is not None else ())}
        dim = next(name for i in itertools.count() if (name := f"block {i} of {self.query}") not in taken)

        def split(x: Tracer) -> Tracer:
            more = count * block - n
            x = build.pad(x, p.zero(x.dtype), {self.query: (0, more, 0)}) if more else x
            return reorder(build.split(x, self.query, {dim: count, self.query: block}), (dim, *x.dims))

        with_query = mask is not None and self.query in mask.dims
        parts: dict[str, Any] = {"q": split(q)}
        if with_query:
            parts["mask"] = split(mask)  # type: ignore[arg-type]
        if at is not None:
            parts["at"] = split(at)

        @checkpoint
        def one(x: dict[str, Any], k: Any, v: Any) -> Any:
            found = self.at_once(x["q"], k, v, x.get("mask", mask), x.get("at"), places)
            return reorder(found, tuple(d for d in self.order if d in found.dims))

        found = each(lambda x: one(x, k, v), parts, dim)
        y = build.merge(found, (dim, self.query), self.query)
        return build.slice(y, {self.query: (0, n, 1)}) if count * block > n else y

    def at_once(
        self, q: Tracer, k: Tracer, v: Tracer, mask: Tracer | None, at: Tracer | None, places: Tracer | None
    ) -> Tracer:
        # The scores, not the query, are scaled: the softmax's loops do it on the way. Those of 16-bit floats stay in f4
        # until they are weights: before they are scaled, they may be too large for f2.
        sizes, wide = union_sizes("attention", (q, k)), p.accumulator(q.dtype)
        scores = contract([p.cast(q, wide), p.cast(k, wide)], (self.feature,), tuple(sizes))
        scores = build.binary("mul", scores, _inverse_root(size_of(q, self.feature), wide))
        if at is not None and places is not None:
            mask = self.seen(mask, at, places)
        if any_empty(k, (self.key,)):
            weights = scores  # of no keys
        elif mask is None:
            weights = softmax_over(scores, (self.key,))
        else:
            weights = _masked_softmax(scores, mask, self.key)
        weights = p.cast(weights, q.dtype)
        return contract([weights, v], (self.key,), tuple(union_sizes("attention", (weights, v))))

    def seen(self, mask: Tracer | None, at: Tracer, places: Tracer) -> Tracer:
        """Which keys are in reach."""
        ahead = build.binary("sub", places, at)
        if self.after is not None:
            near = build.compare("le", ahead, p.constant(self.after, p.I8))
            mask = near if mask is None else build.binary("and", mask, near)
        if self.before is not None:
            near = build.compare("ge", ahead, p.constant(-self.before, p.I8))
            mask = near if mask is None else build.binary("and", mask, near)
        assert mask is not None
        return mask


def _cut(parts: Mapping[str, tuple[int, int]], *xs: Tracer | None) -> list[Any]:
    """The parts of the arrays that have the dim."""

    def cut(x: Tracer | None) -> Tracer | None:
        if x is None:
            return None
        there = {d: (a, b - a, 1) for d, (a, b) in parts.items() if d in x.dims and (a, b) != (0, x.sizes[d])}
        return build.slice(x, there) if there else x

    return [cut(x) for x in xs]


def _checked(mask: ArrayLike, q: Tracer, k: Tracer, v: Tracer, names: Sequence[str]) -> Tracer:
    """The mask, which has the dims of keys or queries, or both."""
    mask = as_tracer(mask)
    if mask.dtype != p.BOOL:
        raise fail(DTypeError, "attention", "the mask is bool: True where a query may attend", mask)
    key = names[1]
    others = {*q.dims, *k.dims, *v.dims}
    foreign = [d for d in mask.dims if d not in others]
    if foreign and key not in mask.dims:
        raise fail(
            DimensionError, "attention", f"the mask has dim {foreign[0]!r}, which no other argument has, and lacks the "
            f"dim {key!r} of the keys", mask, instead=f"Rename it: mask.rename({foreign[0]}={key!r})",
        )  # fmt: skip
    sizes = union_sizes("attention", (q, k, mask))
    aligned("attention", extend(p.zero(q.dtype), sizes, tuple(d for d in sizes if d in {*q.dims, *k.dims})), mask)
    return mask


def _inverse_root(size: Any, dtype: np.dtype) -> Tracer:
    if isinstance(size, int):
        return p.constant(1 / math.sqrt(max(size, 1)), dtype)
    size = build.binary("maximum", p.cast(size, dtype), p.constant(1, dtype))
    return build.unary("rsqrt", size)


def _masked_softmax(scores: Tracer, mask: Tracer, key: str) -> Tracer:
    """The softmax over what the mask lets through; 0 everywhere where it lets nothing through."""
    sizes = union_sizes("attention", (scores, mask))
    mask = extend(mask, sizes, tuple(sizes))
    lowest = p.constant(-np.inf, scores.dtype)
    scores = build.select(mask, scores, lowest)
    e = build.unary("exp", build.binary("sub", scores, shift_of(scores, (key,))))
    total = build.reduce("sum", e, (key,))
    one = p.constant(1, scores.dtype)
    some = build.select(build.compare("gt", total, p.zero(scores.dtype)), total, one)
    return build.binary("div", e, some)
