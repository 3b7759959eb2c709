"""softmax, log_softmax and cross_entropy."""

from __future__ import annotations

import numpy as np

from ..base.errors import ArgumentError, DimensionError, DTypeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import dim_of, dims_of, extend, fail, union_sizes
from ..ops.indexing import _read
from ..ops.operators import aligned
from ..ops.reductions import any_empty, count, log_of_sum, shift_of
from ..ops.types import Array, ArrayLike, Dims
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.options import current


@op
def softmax(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns exp(x) divided by its sum along `dim`, without overflow, with the dims of `x`.

    `dim` is one name or several, or None for all dims. The result is NaN if all elements are -inf.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.nn.softmax(xt.array([[0.0, 0.0], [0.0, 800.0]], ("sample", "class")), "class")
    <xtensor.Array (sample: 2, class: 2) float64>
    [[0.5 0.5]
     [0.  1. ]]
    """
    x = p.as_float(x)
    dims = dims_of("softmax", x, dim)
    if not dims or any_empty(x, dims):
        return build.unary("exp", build.binary("sub", x, x))
    return p.rounded_once(lambda x: softmax_over(x, dims), x)


def softmax_over(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    e = build.unary("exp", build.binary("sub", x, shift_of(x, dims, finite=False)))
    return build.binary("div", e, build.reduce("sum", e, dims))


@op
def log_softmax(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns log(softmax(x, dim)), accurate for values far apart, with the dims of `x`.

    `dim` is as for `softmax`.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.nn.log_softmax(xt.array([0.0, 800.0], "class"))
    <xtensor.Array (class: 2) float64>
    [-800.    0.]
    """
    x = p.as_float(x)
    dims = dims_of("log_softmax", x, dim)
    if not dims or any_empty(x, dims):
        return build.binary("sub", x, x)
    return p.rounded_once(lambda x: _log_softmax(x, dims), x)


def _log_softmax(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    shifted = build.binary("sub", x, shift_of(x, dims, finite=False))
    return build.binary("sub", shifted, build.unary("log", build.reduce("sum", build.unary("exp", shifted), dims)))


@op(joins=True)
def cross_entropy(logits: ArrayLike, labels: ArrayLike, /, dim: str) -> Array:
    """Returns -log(softmax(logits)) along `dim` at the labels, for each of the other dims; it does not average.

    Labels are integers without `dim`, or probabilities (floats) with `dim`.

    Raises:
        IndexError: a label is not in 0 to size - 1.
        DimensionError: `logits`, or labels that are probabilities, lack `dim`.
        SizeError: a dim has two sizes.
        DTypeError: `logits` is complex, or `labels` holds bools.

    Example:
    >>> logits = xt.array([[0.0, 0.0], [0.0, 800.0]], ("sample", "class"))
    >>> xt.nn.cross_entropy(logits, xt.array([0, 1], "sample"), "class")
    <xtensor.Array (sample: 2) float64>
    [0.69314718 0.        ]
    """
    x = p.as_float(logits)
    labels = as_tracer(labels)
    if isinstance(dim, str) and dim not in x.dims and dim in labels.dims:
        raise fail(
            DimensionError, "nn.cross_entropy", f"the first argument is the logits, and has no dim {dim!r}; the second "
            "one has it", x, labels, instead=f"Write xt.nn.cross_entropy(logits, labels, {dim!r})",
        )  # fmt: skip
    dim = dim_of("cross_entropy", x, dim)
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
