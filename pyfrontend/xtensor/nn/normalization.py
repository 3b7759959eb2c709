"""Normalisation over named dims: layer_norm, rms_norm, batch_norm and group_norm. Moments of 16-bit floats are f4."""

from __future__ import annotations

from ..base.errors import ArgumentError, DimensionError, SizeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import dim_of, dims_of, fail, fresh, integer, number, reorder, static_size
from ..ops.operators import aligned
from ..ops.reductions import count
from ..ops.types import Array, ArrayLike, Dims
from ..trace import build
from ..trace.tracer import Tracer


def _average(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    return build.binary("div", build.reduce("sum", x, dims), count(x, dims, x.dtype))


def _over(name: str, x: Tracer, dim: Dims, example: str) -> tuple[str, ...]:
    dims = dims_of(name, x, dim)
    if not dims:
        raise fail(DimensionError, name, "no dim is given", x, instead=f"Write dim={example}")
    return dims


def _scale(name: str, variance: Tracer, eps: float) -> Tracer:
    return build.unary("rsqrt", build.binary("add", variance, p.constant(number(name, eps, "eps"), variance.dtype)))


def _standard(name: str, x: Tracer, dims: tuple[str, ...], eps: float) -> Tracer:
    """(x - mean) / sqrt(var + eps) over the dims, in the dtype of `x`."""
    wide = p.cast(x, p.accumulator(x.dtype))
    centred = build.binary("sub", wide, _average(wide, dims))
    variance = _average(build.binary("mul", centred, centred), dims)
    return p.cast(build.binary("mul", centred, _scale(name, variance, eps)), x.dtype)


def _affine(name: str, y: Tracer, weight: ArrayLike | None, bias: ArrayLike | None) -> Tracer:
    if weight is not None:
        y = build.binary("mul", *aligned(name, *p.promote(y, weight)))
    if bias is not None:
        y = build.binary("add", *aligned(name, *p.promote(y, bias)))
    return y


@op(joins=True)
def layer_norm(
    x: ArrayLike, /, dim: Dims, weight: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5
) -> Array:
    """Returns (x - mean) / sqrt(var + eps) over `dim`, times `weight`, plus `bias`.

    `weight` and `bias` align by name and may be left out. The result has the dims of `x`. With `dim` the dims of
    space, the function is instance normalisation.
    Source: Ba, Kiros and Hinton, "Layer normalization" (2016).

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.nn.layer_norm(xt.array([[1.0, 3.0], [5.0, 9.0]], ("sample", "feature")), "feature", eps=0.0)
    <xtensor.Array (sample: 2, feature: 2) float64>
    [[-1.  1.]
     [-1.  1.]]
    """
    x = p.as_float(x)
    dims = _over("layer_norm", x, dim, '"feature"')
    return _affine("layer_norm", _standard("layer_norm", x, dims, eps), weight, bias)


@op(joins=True)
def rms_norm(x: ArrayLike, /, dim: Dims, weight: ArrayLike | None = None, eps: float = 1e-6) -> Array:
    """Returns x / sqrt(mean(x^2) + eps) over `dim`, times `weight`, with the dims of `x`.

    Source: Zhang and Sennrich, "Root mean square layer normalization" (2019).

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.nn.rms_norm(xt.array([1.0, 7.0], "feature"), "feature", eps=0.0)
    <xtensor.Array (feature: 2) float64>
    [0.2 1.4]
    """
    x = p.as_float(x)
    dims = _over("rms_norm", x, dim, '"feature"')
    wide = p.cast(x, p.accumulator(x.dtype))
    scale = _scale("rms_norm", _average(build.binary("mul", wide, wide), dims), eps)
    return _affine("rms_norm", p.cast(build.binary("mul", wide, scale), x.dtype), weight, None)


@op(joins=True)
def batch_norm(
    x: ArrayLike, /, dim: Dims, weight: ArrayLike | None = None, bias: ArrayLike | None = None, *,
    mean: ArrayLike | None = None, var: ArrayLike | None = None, eps: float = 1e-5,
) -> Array:  # fmt: skip
    """Returns (x - mean) / sqrt(var + eps), times `weight`, plus `bias`, with the dims of `x`.

    The mean and the variance are taken over `dim`, the dims of instances (and of space), unless you pass both, as in
    inference. In training, keep running averages beside: m = 0.9 * m + 0.1 * x.mean(dim). The compiler computes
    x.mean(dim) once. Source: Ioffe and Szegedy, "Batch normalization" (2015).

    Raises:
        DimensionError: `x` does not have `dim`.
        ArgumentError: only one of `mean` and `var` is given.

    Example:
    >>> xt.nn.batch_norm(xt.array([[1.0, 2.0], [3.0, 6.0]], ("sample", "channel")), "sample", eps=0.0)
    <xtensor.Array (sample: 2, channel: 2) float64>
    [[-1. -1.]
     [ 1.  1.]]
    """
    x = p.as_float(x)
    dims = _over("batch_norm", x, dim, '("batch", "h", "w")')
    if (mean is None) != (var is None):
        raise fail(ArgumentError, "nn.batch_norm", "give both mean= and var=, or neither", x)
    if mean is None or var is None:
        return _affine("batch_norm", _standard("batch_norm", x, dims, eps), weight, bias)
    own = x.dtype
    wide, m, v = (p.cast(z, p.accumulator(own)) for z in p.promote(x, mean, var))
    aligned("batch_norm", wide, m, v)
    y = build.binary("mul", build.binary("sub", wide, m), _scale("batch_norm", v, eps))
    return _affine(
        "batch_norm", p.cast(reorder(y, (*x.dims, *(d for d in y.dims if d not in x.dims))), own), weight, bias
    )


@op(joins=True)
def group_norm(
    x: ArrayLike, groups: int, /, channel: str, dim: Dims = (), weight: ArrayLike | None = None,
    bias: ArrayLike | None = None, eps: float = 1e-5,
) -> Array:  # fmt: skip
    """Returns (x - mean) / sqrt(var + eps), times `weight`, plus `bias`, with the dims of `x`.

    The mean and the variance are those of each of `groups` equal groups of neighbours along `channel`, taken over `dim`
    (the dims of space), too. Source: Wu and He, "Group normalization" (2018).

    Raises:
        DimensionError: `x` does not have `channel` or `dim`.
        SizeError: the size of `channel` is not a multiple of `groups`.
        ArgumentError: `groups` is below 1.

    Example:
    >>> xt.nn.group_norm(xt.array([1.0, 3.0, 5.0, 9.0], "channel"), 2, "channel", eps=0.0)
    <xtensor.Array (channel: 4) float64>
    [-1.  1. -1.  1.]
    """
    x = p.as_float(x)
    channel = dim_of("group_norm", x, channel)
    over = dims_of("group_norm", x, dim)
    n, count_ = static_size("group_norm", x, channel), integer("nn.group_norm", groups, "groups", least=1)
    if n % count_:
        raise fail(SizeError, "nn.group_norm", f"{count_} groups do not divide dim {channel!r} of size {n}", x)
    group = fresh(x.dims, "group")
    parts = build.split(x, channel, {group: count_, channel: n // count_})
    parts = reorder(parts, [n for d in x.dims for n in ((group, d) if d == channel else (d,))])
    y = _standard("group_norm", parts, tuple(dict.fromkeys((*over, channel))), eps)
    y = build.labelled(reorder(build.merge(y, (group, channel), channel), x.dims), x)
    return _affine("group_norm", y, weight, bias)
