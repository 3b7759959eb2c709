"""Reductions over named dims.

`dim` is None or `...` (all dims), one name, or several. NaN propagates unless `skipna=True`. xarray skips NaN of
floats by default; a program that is differentiated must not hide it. Sums of integers and bools widen to 64 bits,
and their means are f8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _native
from ..base.dims import brief
from ..base.dtypes import real_of
from ..base.errors import ArgumentError, ArgumentTypeError, SizeError
from ..call.dispatch import op
from ..call.opened import Amount, any_number
from ..labels.xarray import is_dataarray, labels_at
from ..trace import build
from ..trace.control import scan
from ..trace.lift import as_tracer
from ..trace.scope import current, local
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import dim_of, dims_of, fail, flat_name, is_static, number, size_of, skips
from .types import Array, ArrayLike, Dims


def _reduce(kind: str, x: Tracer, dims: tuple[str, ...]) -> Tracer:
    return build.reduce(kind, x, dims) if dims else x


def _add_up(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    """The sum in the dtype of `x`; 16-bit floats are added up in f4."""
    wide = p.accumulator(x.dtype)
    return p.cast(_reduce("sum", p.cast(x, wide), dims), x.dtype)


def without_nan(y: Tracer, value: float, skipna: bool | None, x: Tracer | None = None) -> Tracer:
    """`y` with `value` where `x`, by default `y`, is NaN, if NaN is to be skipped and there can be any."""
    x = y if x is None else x
    if not skipna or not p.is_inexact(x.dtype):
        return y
    return build.select(build.unary("isnan", x), p.constant(value, y.dtype), y)


def count(x: Tracer, dims: tuple[str, ...], dtype: np.dtype) -> Tracer:
    """How many elements the dims have, as a scalar of `dtype`."""
    known = math.prod(int(x.sizes[d]) for d in dims if is_static(x, d))
    total = p.constant(known, dtype)
    for d in dims:
        if not is_static(x, d):
            total = build.binary("mul", total, build.cast(build.size(x, d), dtype))
    return total


def _present(x: Tracer, dims: tuple[str, ...], dtype: np.dtype) -> Tracer:
    """How many elements are not NaN."""
    there = build.cast(build.compare("eq", x, x), dtype)
    return _reduce("sum", there, dims)


def _number_of(x: Tracer, dims: tuple[str, ...], dtype: np.dtype, skipna: bool | None) -> Tracer:
    if skipna and p.is_inexact(x.dtype):
        return _present(x, dims, dtype)
    return count(x, dims, dtype)


@op
def sum(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the sum over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. The sum of no elements is 0. Integers and bools widen to 64
    bits. `skipna=True` leaves NaN out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.sum(xt.array([[1, 5], [7, 2]], ("a", "b")), "a")
    <xtensor.Array (b: 2) int64>
    [8 7]
    """
    x = as_tracer(x)
    dims, skipna = dims_of("sum", x, dim), skips("sum", skipna)
    return _add_up(without_nan(p.cast(x, p.sum_dtype(x.dtype)), 0, skipna), dims)


@op
def prod(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the product over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. The product of no elements is 1. Integers and bools widen to
    64 bits. `skipna=True` leaves NaN out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.prod(xt.array([[1, 5], [7, 2]], ("a", "b")), "a")
    <xtensor.Array (b: 2) int64>
    [ 7 10]
    """
    x = as_tracer(x)
    dims, skipna = dims_of("prod", x, dim), skips("prod", skipna)
    y = without_nan(p.cast(x, p.sum_dtype(x.dtype)), 1, skipna)
    if p.is_complex(y.dtype):
        for d in dims:
            y = complex_products(y, d)[0]
        return y
    return p.cast(_reduce("prod", p.cast(y, p.accumulator(y.dtype)), dims), y.dtype)


def complex_products(x: Tracer, dim: str, reverse: bool = False, exclusive: bool = False) -> tuple[Tracer, Tracer]:
    """The product of complex numbers along `dim`, and the running one with the dims of `x`: step by step."""
    rest = tuple(d for d in x.dims if d != dim)
    one = build.broadcast(p.constant(1, x.dtype), rest, {d: size_of(x, d) for d in rest})

    def step(product: Tracer, v: Tracer) -> tuple[Tracer, Tracer]:
        after = build.binary("mul", product, v)
        return after, product if exclusive else after

    product, running = scan(step, one, x, dim, reverse, None, local.op)
    return product, build.broadcast(running, x.dims)


def _wide(x: Tracer) -> Tracer:
    """`x` in the dtype in which moments are computed: 16-bit floats in f4, integers in f8."""
    return p.cast(x, p.accumulator(p.mean_dtype(x.dtype, x.weak)))


def _where_present(y: Tracer, present: Tracer, skipna: bool | None) -> Tracer:
    """`y`, NaN if 0 are `present` because others are skipped: to derivatives a NaN that depends on none of them."""
    if not skipna:
        return y
    nan = np.nan if p.is_float(y.dtype) else complex(np.nan, np.nan)
    return build.select(build.compare("eq", present, p.zero(present.dtype)), p.constant(nan, y.dtype), y)


def _mean(x: Tracer, dims: tuple[str, ...], skipna: bool | None) -> Tracer:
    total = _reduce("sum", without_nan(x, 0, skipna), dims)
    n = _number_of(x, dims, x.dtype, skipna)
    return _where_present(build.binary("div", total, n), n, skipna)


@op
def mean(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the mean over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. The mean of no elements is NaN. Integers and bools give f8.
    `skipna=True` leaves NaN out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.mean(xt.array([[1.0, 5.0], [7.0, 2.0]], ("a", "b")), "a")
    <xtensor.Array (b: 2) float64>
    [4.  3.5]
    """
    x = as_tracer(x)
    dims = dims_of("mean", x, dim)
    return p.cast(_mean(_wide(x), dims, skips("mean", skipna)), p.mean_dtype(x.dtype, x.weak))


def _spread(
    x: Tracer, dims: tuple[str, ...], ddof: float | Amount, skipna: bool | None, of: Callable[[Tracer], Tracer]
) -> Tracer:
    """A function of the variance."""
    # Beside infinities, deviations are NaN where `x` is not.
    deviations = without_nan(build.binary("sub", x, _mean(x, dims, skipna)), 0, skipna, x)
    total = _reduce("sum", p.size_squared(deviations), dims)
    n = _number_of(x, dims, total.dtype, skipna)
    if ddof:
        n = build.binary("sub", n, p.amount(ddof, n.dtype))
        n = build.binary("maximum", n, p.zero(n.dtype))
    # Without a degree of freedom, NaN as in NumPy's nanvar, and not inf.
    return _where_present(of(build.binary("div", total, n)), n, skipna)


def _ddof(name: str, ddof: Any) -> float | Amount:
    return ddof if isinstance(ddof, Amount) else number(name, ddof, "ddof")


@op(amounts={"ddof": any_number})
def var(x: ArrayLike, /, dim: Dims = None, *, ddof: float = 0, skipna: bool | None = None) -> Array:
    """Returns the variance over `dim`, divided by n - ddof, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. n counts the elements that are not skipped.
    Integers and bools give f8. `skipna=True` leaves NaN out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.var(xt.array([[1.0, 5.0], [7.0, 1.0]], ("a", "b")), "a")
    <xtensor.Array (b: 2) float64>
    [9. 4.]
    """
    x = as_tracer(x)
    y = _spread(_wide(x), dims_of("var", x, dim), _ddof("var", ddof), skips("var", skipna), lambda total: total)
    return p.cast(y, real_of(p.mean_dtype(x.dtype, x.weak)))


def _root(x: Tracer) -> Tracer:
    """The square root, with derivative 0 at 0 and at infinity."""
    return constant_at_ends(x, lambda total: build.unary("sqrt", total))


def constant_at_ends(total: Tracer, function: Callable[[Tracer], Tracer]) -> Tracer:
    """`function` of what was added up, a constant to derivatives where that is 0 or inf: its own derivative is infinite
    at one of them and 0 at the other, and what was added up may have the opposite there."""
    zero, inf = p.zero(total.dtype), p.constant(np.inf, total.dtype)
    ends = build.binary("or", build.compare("eq", total, zero), build.compare("eq", total, inf))
    return build.select(ends, function(build.stop_gradient(total)), function(total))


@op(amounts={"ddof": any_number})
def std(x: ArrayLike, /, dim: Dims = None, *, ddof: float = 0, skipna: bool | None = None) -> Array:
    """Returns the standard deviation over `dim`, the root of `var`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. If all elements are equal, the derivative is 0. Integers and
    bools give f8. `skipna=True` leaves NaN out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.std(xt.array([[1.0, 5.0], [7.0, 1.0]], ("a", "b")), "a")
    <xtensor.Array (b: 2) float64>
    [3. 2.]
    """
    x = as_tracer(x)
    y = _spread(_wide(x), dims_of("std", x, dim), _ddof("std", ddof), skips("std", skipna), _root)
    return p.cast(y, real_of(p.mean_dtype(x.dtype, x.weak)))


# ---- extrema ----------------------------------------------------------------


def no_empty(name: str, x: Tracer, dims: tuple[str, ...]) -> None:
    """SizeError where nothing is reduced: now, or at the call where only that knows the size."""
    for d in dims:
        if is_static(x, d) and x.sizes[d]:
            continue
        error = fail(
            SizeError, name, f"dim {d!r} has size 0, and the {name} of no elements is not defined", x,
            instead="Leave out the dim, or concat a value first",
        )  # fmt: skip
        if is_static(x, d):
            raise error
        if current().always:  # else a condition may see to it
            current().root.needs_elements(d, *error.parts)


def _extremum(name: str, x: Tracer, dim: Dims, skipna: bool | None) -> Tracer:
    dims = dims_of(name, x, dim)
    no_empty(name, x, dims)
    if x.dtype == p.BOOL:
        return _reduce("any" if name == "max" else "all", x, dims)
    least = -np.inf if name == "max" else np.inf
    y = _reduce(name, without_nan(x, least, skipna), dims)
    if not skipna or not p.is_float(x.dtype):
        return y
    nothing = _reduce("all", build.unary("isnan", x), dims)
    return build.select(nothing, p.constant(np.nan, x.dtype), y)


@op
def max(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the largest value over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. Ties share the derivative evenly. NaN wins, unless `skipna=True`
    leaves it out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.

    Example:
    >>> xt.max(xt.array([[1, 5], [7, 2]], ("a", "b")), "a")
    <xtensor.Array (b: 2) int64>
    [7 5]
    """
    return _extremum("max", as_tracer(x), dim, skips("max", skipna))


@op
def min(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the smallest value over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. Ties share the derivative evenly. NaN wins, unless `skipna=True`
    leaves it out; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.

    Example:
    >>> xt.min(xt.array([[1, 5], [7, 2]], ("a", "b")), "a")
    <xtensor.Array (b: 2) int64>
    [1 2]
    """
    return _extremum("min", as_tracer(x), dim, skips("min", skipna))


@op
def any(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Tells whether at least one element over `dim` differs from 0: bools with the other dims of `x`.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.any(xt.array([[1, 0], [0, 0]], ("a", "b")), "b")
    <xtensor.Array (a: 2) bool>
    [ True False]
    """
    y = p.as_bool(x)
    return _reduce("any", y, dims_of("any", y, dim))


@op
def all(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Tells whether every element over `dim` differs from 0: bools with the other dims of `x`.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.all(xt.array([[1, 0], [1, 1]], ("a", "b")), "b")
    <xtensor.Array (a: 2) bool>
    [False  True]
    """
    y = p.as_bool(x)
    return _reduce("all", y, dims_of("all", y, dim))


@op
def count_nonzero(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Counts the elements over `dim` that differ from 0: i8 with the other dims of `x`.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.count_nonzero(xt.array([[1, 0], [1, 1]], ("a", "b")), "b")
    <xtensor.Array (a: 2) int64>
    [1 2]
    """
    y = p.as_bool(x)
    return _reduce("sum", build.cast(y, p.I8), dims_of("count_nonzero", y, dim))


# ---- positions --------------------------------------------------------------


def _position(name: str, x: Tracer, dims: tuple[str, ...], skipna: bool | None) -> Tracer:
    """The first position of the extremum in the dims taken as one, in the order given."""
    no_empty(name, x, dims)
    if x.dtype == p.BOOL:
        x = build.cast(x, np.dtype("u1"))
    x = without_nan(x, -np.inf if name == "argmax" else np.inf, skipna)
    if len(dims) == 1:
        return build.reduce(name, x, dims)
    into = flat_name(dims)
    return build.reduce(name, build.merge(x, dims, into), (into,))


def _positions(name: str, x: Tracer, dim: Dims, skipna: bool | None) -> Any:
    if dim is None:
        if not x.dims:
            return p.zero(p.I8)
        return _position(name, x, x.dims, skipna)
    if isinstance(dim, str):
        return _position(name, x, (dim_of(name, x, dim),), skipna)
    dims = dims_of(name, x, dim)
    if not dims:
        return {}
    flat = _position(name, x, dims, skipna)
    found: dict[str, Tracer] = {}
    for d in reversed(dims):
        size = p.cast(size_of(x, d), p.I8)
        found[d] = build.binary("mod", flat, size)
        flat = build.binary("floor_div", flat, size)
    return {d: found[d] for d in dims}


@op
def argmax(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Any:
    """Returns the first position of the largest value along `dim`: i8 with the other dims of `x`.

    None counts through all dims, in their order. For several dims, or `...`, the result is a dict with one array per
    dim, which `isel` takes. NaN counts as the largest value, unless `skipna=True`.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.

    Example:
    >>> xt.argmax(xt.array([[1, 5], [7, 2]], ("a", "b")), "b")
    <xtensor.Array (a: 2) int64>
    [1 0]
    """
    return _positions("argmax", as_tracer(x), dim, skips("argmax", skipna))


@op
def argmin(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Any:
    """Returns the first position of the smallest value along `dim`: i8 with the other dims of `x`.

    `dim` and `skipna` are as for `argmax`. Without `skipna=True`, the position of the first NaN is returned.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.

    Example:
    >>> xt.argmin(xt.array([[1, 5], [7, 2]], ("a", "b")), "b")
    <xtensor.Array (a: 2) int64>
    [0 1]
    """
    return _positions("argmin", as_tracer(x), dim, skips("argmin", skipna))


def _label(name: str, x: Any, dim: str | None, skipna: bool | None) -> Any:
    if not hasattr(x, "dims"):
        raise fail(ArgumentTypeError, name, f"expected an array, not {brief(x)}")
    dims = tuple(x.dims)
    if dim is None:
        if len(dims) != 1:
            raise fail(ArgumentError, name, f"dim is needed, because the array does not have just one: {dims}", x)
        dim = dims[0]
    position = (argmax if name == "idxmax" else argmin)(x, dim, skipna=skipna)
    if isinstance(position, Tracer):
        # That the dim has no coordinates is for the call to see.
        position.scope.root.join(position.value, name, [as_tracer(x)], along=[(dim,)])
    labelled = is_dataarray(x) or (isinstance(x, _native.Array) and x.meta is not None)
    return labels_at(name, x, dim, position) if labelled else position


def idxmax(x: ArrayLike, /, dim: str | None = None, *, skipna: bool | None = None) -> Array:
    """Returns the label of the largest value along `dim`, or its position if `dim` has no coordinate.

    `dim` may be left out for an array with one dim. Compiled code does not know labels: inside `xt.jit`, a dim with
    labels is an error.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        UnsupportedError: the dim has labels, and the function is traced.

    Example:
    >>> heat = xr.DataArray([3.0, 6.0, 4.0], dims="lat", coords={"lat": [10, 20, 30]})
    >>> xt.idxmax(heat, "lat").item()
    20
    """
    return _label("idxmax", x, dim, skipna)


def idxmin(x: ArrayLike, /, dim: str | None = None, *, skipna: bool | None = None) -> Array:
    """Returns the label of the smallest value along `dim`, or its position if `dim` has no coordinate.

    `dim` may be left out for an array with one dim. Inside `xt.jit`, a dim with labels is an error.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        UnsupportedError: the dim has labels, and the function is traced.

    Example:
    >>> heat = xr.DataArray([3.0, 6.0, 4.0], dims="lat", coords={"lat": [10, 20, 30]})
    >>> xt.idxmin(heat, "lat").item()
    10
    """
    return _label("idxmin", x, dim, skipna)


# ---- norms and logarithms of sums -------------------------------------------


@op
def norm(x: ArrayLike, /, dim: Dims = None, *, ord: float = 2) -> Array:
    """Returns the vector norm `(sum |x|**ord)**(1/ord)` over `dim`, with the other dims of `x`.

    `dim` is one name or several, or None for all dims. ord=inf gives the largest absolute value, -inf the smallest.
    ord=0 counts the elements that differ from 0. The derivative at 0 is 0. Integers give f8.

    Raises:
        DimensionError: `x` does not have `dim`.
        ArgumentError: `ord` is not a number.

    Example:
    >>> xt.norm(xt.array([[3.0, 4.0], [0.0, 2.0]], ("a", "b")), "b")
    <xtensor.Array (a: 2) float64>
    [5. 2.]
    """
    x = as_tracer(x)
    dims = dims_of("norm", x, dim)
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise fail(ArgumentError, "norm", f"ord is a number, not {ord!r}", x)
    return p.cast(_norm(_wide(x), dims, float(ord)), real_of(p.mean_dtype(x.dtype, x.weak)))


def _norm(x: Tracer, dims: tuple[str, ...], ord: float) -> Tracer:
    if ord == 2:
        return _root(_reduce("sum", p.size_squared(x), dims))
    x = size = build.unary("abs", x)
    if ord == 1:
        return _reduce("sum", size, dims)
    if ord in (math.inf, -math.inf):
        name = "max" if ord > 0 else "min"
        return _extremum(name, size, dims, None)
    nought = p.zero(x.dtype)
    nonzero = build.compare("ne", x, nought)
    if ord == 0:
        return _reduce("sum", build.cast(nonzero, x.dtype), dims)
    if ord < 0:
        # One 0 makes the norm 0: kept out of the powers, whose derivatives are infinite there.
        kept = build.select(nonzero, size, p.constant(1, x.dtype))
        total = _reduce("sum", build.binary("pow", kept, p.constant(ord, x.dtype)), dims)
        root = build.binary("pow", total, p.constant(1 / ord, x.dtype))
        return build.select(_reduce("all", nonzero, dims), root, nought)
    powers = build.select(nonzero, build.binary("pow", size, p.constant(ord, x.dtype)), nought)
    total = _reduce("sum", powers, dims)
    return constant_at_ends(total, lambda total: build.binary("pow", total, p.constant(1 / ord, x.dtype)))


def shift_of(x: Tracer, dims: tuple[str, ...], finite: bool = True) -> Tracer:
    """The largest value over `dims`, as a constant to derivatives; 0 for an infinite one if `finite`."""
    top = build.stop_gradient(_reduce("max", x, dims))
    if not finite:
        return top
    return build.select(build.unary("isfinite", top), top, p.zero(x.dtype))


@op
def logsumexp(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns log(sum(exp(x))) over `dim` without overflow, with the other dims of `x`.

    The result is -inf if all elements are -inf, or if there are no elements.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.logsumexp(xt.array([800.0, 800.0], "a"))
    <xtensor.Array () float64 800.69314718>
    """
    x = p.as_float(x)
    dims = dims_of("logsumexp", x, dim)
    if not dims:
        return x
    rest = tuple(d for d in x.dims if d not in dims)
    if any_empty(x, dims):
        sizes = {d: size_of(x, d) for d in rest}
        return build.broadcast(p.constant(-np.inf, x.dtype), rest, sizes)
    return p.rounded_once(lambda x: log_of_sum(x, dims), x)


def log_of_sum(x: Tracer, dims: tuple[str, ...]) -> Tracer:
    """log(sum(exp(x))) over `dims`, with derivative 0 where every element is -inf or one is inf."""
    shift = shift_of(x, dims)
    total = _reduce("sum", build.unary("exp", build.binary("sub", x, shift)), dims)
    log = constant_at_ends(total, lambda total: build.unary("log", total))
    return build.binary("add", log, shift)


def any_empty(x: Tracer, dims: tuple[str, ...]) -> bool:
    """Whether one of the dims is known to have size 0."""
    return 0 in [x.sizes[d] for d in dims if is_static(x, d)]
