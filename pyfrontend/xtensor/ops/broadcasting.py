"""Functions that give arrays each other's dims: broadcast, broadcast_like and meshgrid. Labels must agree."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.errors import DimensionError
from ..call.dispatch import op
from ..labels.xarray import POINTS, WHOLE, Followed
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from .arguments import Size, extend, fail, names_of, union_sizes
from .types import Array, ArrayLike, Dims


@op
def broadcast(*arrays: ArrayLike, exclude: Dims = ()) -> tuple[Array, ...]:
    """Returns the arrays, each with the union of their dims.

    Each array keeps its own `exclude`d dims, which come last.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> x, y = xt.broadcast(xt.zeros(a=2), xt.zeros(b=3))
    >>> x.sizes, y.sizes
    ({'a': 2, 'b': 3}, {'a': 2, 'b': 3})
    """
    xs = [as_tracer(x) for x in arrays]
    ys = _broadcast_to("broadcast", xs, xs, exclude)
    ys = [labelled_like(y, x, [o for o in xs if o is not x]) for x, y in zip(xs, ys, strict=True)]
    return (*(_joined("broadcast", y, xs, exclude) for y in ys[:1]), *ys[1:])


@op
def meshgrid(*arrays: ArrayLike) -> tuple[Array, ...]:
    """Returns the arrays, each with one dim of its own, broadcast over all these dims in their order.

    meshgrid(xs, ys) for xs(x), ys(y) gives two arrays with dims (x, y). In arithmetic, xs + ys is the grid already.

    Raises:
        DimensionError: an array does not have one dim, or two have the same.

    Example:
    >>> xs, ys = xt.meshgrid(xt.array([1, 2], "x"), xt.array([10, 20], "y"))
    >>> ys
    <xtensor.Array (x: 2, y: 2) int64>
    [[10 20]
     [10 20]]
    """
    xs = [as_tracer(x) for x in arrays]
    dims = [x.dims for x in xs]
    several = next((x for x in xs if len(x.dims) != 1), None)
    if several is not None or len(set(dims)) < len(dims):
        raise fail(
            DimensionError, "meshgrid", "takes arrays with one dim each, all with different names", *xs,
            instead="xt.broadcast takes all others",
        )  # fmt: skip
    ys = _broadcast_to("meshgrid", xs, xs, ())
    return tuple(labelled_like(y, x, [o for o in xs if o is not x]) for x, y in zip(xs, ys, strict=True))


@op
def broadcast_like(x: ArrayLike, other: ArrayLike, /, *, exclude: Dims = ()) -> Array:
    """Returns `x` with the dims of `other` first, then its own other dims.

    `exclude`d dims are not added, and come last.

    Raises:
        SizeError: a dim has two sizes.

    Example:
    >>> xt.broadcast_like(xt.zeros(a=2), xt.zeros(b=3)).sizes
    {'b': 3, 'a': 2}
    """
    x, other = as_tracer(x), as_tracer(other)
    y = _broadcast_to("broadcast_like", [x], [other, x], exclude)[0]
    return _joined("broadcast_like", labelled_like(y, x, [other]), [other, x], exclude)


def _joined(name: str, y: Tracer, xs: Sequence[Tracer], exclude: Dims) -> Tracer:
    """`y`, for which coordinates of the arrays along their other dims must agree."""
    left_out = () if exclude is None else names_of(name, exclude)
    y = build.rename(y, {}) if any(y.value == x.value for x in xs) else y
    y.scope.root.join(y.value, name, xs, along=[tuple(d for d in x.dims if d not in left_out) for x in xs])
    return y


def labelled_like(y: Tracer, x: Tracer, others: Sequence[Tracer]) -> Tracer:
    """`y`, which is `x` with more dims: those have the labels of the others, and none of their other coordinates."""
    if y.value != x.value:
        arrays = [x, *others]
        only = (("only",),)
        places = {d: frozenset((i, d, only if i else ()) for i, v in enumerate(arrays) if d in v.dims) for d in y.dims}
        build.followed([y], arrays, Followed([places | {d: frozenset([(0, d, ())]) for d in (POINTS, WHOLE)}], []))
    return y


def _broadcast_to(name: str, xs: list[Tracer], like: list[Tracer], exclude: Dims) -> list[Tracer]:
    left_out = () if exclude is None else names_of(name, exclude)
    sizes: dict[str, Size] = union_sizes(name, like, besides=left_out)
    order = tuple(d for x in like for d in x.dims if d not in left_out)
    order = tuple(dict.fromkeys(order))
    return [extend(x, sizes, order + tuple(d for d in left_out if d in x.dims)) for x in xs]
