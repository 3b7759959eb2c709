"""Building blocks of neural networks: `xt.nn`.

They are compositions of ops in numerically stable form, so they do not need derivative rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base.errors import ArgumentError, DimensionError, DTypeError
from .call.dispatch import op
from .ops import promotion as p
from .ops.arguments import dim_of, dims_of, extend, fail, names_of, number, size_of, union_sizes
from .ops.contraction import contract
from .ops.convolution import avg_pool, conv, max_pool
from .ops.indexing import _read, one_hot
from .ops.operators import aligned
from .ops.reductions import any_empty, count, log_of_sum, shift_of
from .ops.types import Array, ArrayLike, Dims
from .trace import build
from .trace.lift import as_tracer
from .trace.tracer import Tracer
from .values.options import current

__all__ = [
    "attention",
    "avg_pool",
    "conv",
    "cross_entropy",
    "layer_norm",
    "log_softmax",
    "max_pool",
    "one_hot",
    "softmax",
]


def __dir__() -> list[str]:
    return sorted(__all__)


@op
def softmax(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns exp(x) divided by its sum along `dim`, without overflow, with the dims of `x`.

    `dim` is one name or several, or None for all dims. The result is NaN if all elements are -inf.
    """
    x = p.as_float(x)
    dims = dims_of("softmax", x, dim)
    if not dims or any_empty(x, dims):
        return build.unary("exp", build.binary("sub", x, x))
    return p.rounded_once(lambda x: _softmax(x, dims), x)


def _softmax(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    e = build.unary("exp", build.binary("sub", x, shift_of(x, dims, finite=False)))
    return build.binary("div", e, build.reduce("sum", e, dims))


@op
def log_softmax(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns log(softmax(x, dim)), accurate for values far apart, with the dims of `x`."""
    x = p.as_float(x)
    dims = dims_of("log_softmax", x, dim)
    if not dims or any_empty(x, dims):
        return build.binary("sub", x, x)
    return p.rounded_once(lambda x: _log_softmax(x, dims), x)


def _log_softmax(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    shifted = build.binary("sub", x, shift_of(x, dims, finite=False))
    return build.binary("sub", shifted, build.unary("log", build.reduce("sum", build.unary("exp", shifted), dims)))


@op(joins=True)
def layer_norm(
    x: ArrayLike, /, dim: Dims, weight: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5
) -> Array:
    """Returns (x - mean) / sqrt(var + eps) over `dim`, times `weight`, plus `bias`.

    `weight` and `bias` align by name and may be left out. The result has the dims of `x`.
    Source: Ba, Kiros and Hinton, "Layer normalization" (2016).
    """
    x = p.as_float(x)
    dims = dims_of("layer_norm", x, dim)
    if not dims:
        raise fail(DimensionError, "layer_norm", "no dim is given", x, instead='Write dim="feature"')
    wide = p.cast(x, p.accumulator(x.dtype))
    centred = build.binary("sub", wide, _average(wide, dims))
    variance = _average(build.binary("mul", centred, centred), dims)
    scale = build.unary(
        "rsqrt", build.binary("add", variance, p.constant(number("layer_norm", eps, "eps"), wide.dtype))
    )
    y = p.cast(build.binary("mul", centred, scale), x.dtype)
    if weight is not None:
        y = build.binary("mul", *aligned("layer_norm", *p.promote(y, weight)))
    if bias is not None:
        y = build.binary("add", *aligned("layer_norm", *p.promote(y, bias)))
    return y


def _average(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    return build.binary("div", build.reduce("sum", x, dims), count(x, dims, x.dtype))


@op(joins=True)
def attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, /, dims: tuple[str, str, str], mask: ArrayLike | None = None
) -> Array:
    """Returns softmax(q . k / sqrt(size of feature)) . v, scaled dot-product attention.

    dims=(query, key, feature): `q` has query and feature, `k` has key and feature, `v` has key. Their other dims
    are paired by name. The result has the dims of `q`, then of `v`, without key and feature. A query does not
    attend to a key where the bool array `mask` is False; the mask has key or query, or both, and may have more dims,
    which the result has, too. A query that may not attend to any key gives 0.
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
            raise fail(DimensionError, "attention", f"dim {foreign!r} is on the wrong operand", x)
    sizes = union_sizes("attention", (q, k))
    # The scores, not the query, are scaled: the softmax's loops do it on the way.
    scores = contract([q, k], (feature,), tuple(sizes))
    scores = build.binary("mul", scores, _inverse_root(size_of(q, feature), q.dtype))
    if mask is None:
        weights = p.rounded_once(lambda scores: _softmax(scores, (key,)), scores)
    else:
        weights = p.rounded_once(lambda scores: _masked_softmax(scores, mask, key, (*sizes, *v.dims)), scores)
    order = tuple(union_sizes("attention", (weights, v)))
    return contract([weights, v], (key,), order)


def _inverse_root(size: Any, dtype: np.dtype) -> Tracer:
    if isinstance(size, int):
        return p.constant(1 / math.sqrt(max(size, 1)), dtype)
    size = build.binary("maximum", p.cast(size, dtype), p.constant(1, dtype))
    return build.unary("rsqrt", size)


def _masked_softmax(scores: Tracer, mask: ArrayLike, key: str, others: Sequence[str]) -> Tracer:
    """The softmax over what the mask lets through; 0 everywhere where it lets nothing through."""
    mask = as_tracer(mask)
    if mask.dtype != p.BOOL:
        raise fail(DTypeError, "attention", "the mask is bool: True where a query may attend", mask)
    foreign = [d for d in mask.dims if d not in others]
    if foreign and key not in mask.dims:
        raise fail(
            DimensionError, "attention", f"the mask has dim {foreign[0]!r}, which no other argument has, and lacks the "
            f"dim {key!r} of the keys", mask, instead=f"Rename it: mask.rename({foreign[0]}={key!r})",
        )  # fmt: skip
    aligned("attention", scores, mask)
    sizes = union_sizes("attention", (scores, mask))
    mask = extend(mask, sizes, tuple(sizes))
    lowest = p.constant(-np.inf, scores.dtype)
    scores = build.select(mask, scores, lowest)
    e = build.unary("exp", build.binary("sub", scores, shift_of(scores, (key,))))
    total = build.reduce("sum", e, (key,))
    one = p.constant(1, scores.dtype)
    some = build.select(build.compare("gt", total, p.zero(scores.dtype)), total, one)
    return build.binary("div", e, some)


@op(joins=True)
def cross_entropy(logits: ArrayLike, labels: ArrayLike, /, dim: str) -> Array:
    """Returns -log(softmax(logits)) along `dim` at the labels, for each of the other dims; it does not average.

    Labels are integers without `dim`, or probabilities (floats) with `dim`. Raises IndexError if a label is not in
    0 to size - 1.
    """
    x = p.as_float(logits)
    dim = dim_of("cross_entropy", x, dim)
    labels = as_tracer(labels)
    if p.is_integer(labels.dtype):
        return _label_entropy(x, labels, dim)
    if not p.is_float(labels.dtype):
        raise fail(DTypeError, "cross_entropy", f"labels are integers or probabilities, not {labels.dtype}", labels)
    if dim not in labels.dims:
        raise fail(
            DimensionError, "cross_entropy", f"there is no dim {dim!r} in float labels, which are probabilities", x,
            labels, instead='Classes are integers: labels.astype("i8")',
        )  # fmt: skip
    x, labels = aligned("cross_entropy", *p.promote(x, labels))
    return p.rounded_once(lambda x, labels: _expected_cost(x, labels, dim), x, labels)


def _expected_cost(x: Tracer, labels: Tracer, dim: str) -> Tracer:
    logs = as_tracer(log_softmax(x, dim))
    product = build.binary("mul", labels, logs)
    # A class of probability 0 costs nothing, even if its logit is -inf.
    free = build.binary("and", build.compare("eq", labels, p.zero(x.dtype)), build.unary("isinf", logs))
    product = build.select(free, p.zero(x.dtype), product)
    order = tuple(d for d in union_sizes("cross_entropy", (logs, labels)) if d != dim)
    return extend(build.unary("neg", build.reduce("sum", product, (dim,))), {}, order)


def _label_entropy(x: Tracer, labels: Tracer, dim: str) -> Tracer:
    if dim in labels.dims:
        raise fail(
            ArgumentError, "cross_entropy", f"integer labels lack dim {dim!r}", x, labels,
            instead="Give the class of each instance, or probabilities as floats",
        )  # fmt: skip
    aligned("cross_entropy", x, labels)
    chosen = as_tracer(_read(x, {dim: _counted(labels, x, dim)}, "cross_entropy", None))
    return p.rounded_once(
        lambda x, chosen: build.binary("sub", *aligned("cross_entropy", log_of_sum(x, (dim,)), chosen)), x, chosen
    )


def _counted(labels: Tracer, x: Tracer, dim: str) -> Tracer:
    """`labels`, where a negative one does not count from the end: it lies a size lower, outside, and what tells of it
    adds the size again."""
    if not np.issubdtype(labels.dtype, np.signedinteger):
        return labels
    if labels.dtype.itemsize < 4:
        labels = p.cast(labels, np.dtype("i4"))
    zero = p.zero(labels.dtype)
    below = build.compare("lt", labels, zero)
    if current().index == "clip":
        return build.select(below, zero, labels)
    return build.select(below, build.binary("sub", labels, count(x, (dim,), labels.dtype)), labels)
