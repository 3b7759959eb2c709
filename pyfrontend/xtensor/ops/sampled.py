"""Functions that are given by samples or coefficients along a dim: interp, trapezoid, gradient, polyfit, polyval."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ..base.dims import check_name
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, SizeError
from ..call.dispatch import op
from ..labels.xarray import is_dataarray, labels_of
from ..trace import build
from ..trace.control import cond
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import (
    dim_of,
    dims_of,
    extend,
    fail,
    forbid_pairs,
    integer,
    is_inner,
    is_scalar,
    is_static,
    needs_lapack,
    number,
    paired_sizes,
    reorder,
    size_of,
    skips,
    union_sizes,
)  # fmt: skip
from .broadcasting import labelled_like
from .contraction import contract
from .dates import as_numbers, between
from .sorting import search
from .types import Array, ArrayLike, Dims

# -- interpolation ----------------------------------------------------------------------------------------------------


def _places_as_numbers(x: Any, xp: Any, *rest: Any, **keywords: Any) -> Any:
    period = rest[3] if len(rest) > 3 else keywords.get("period")  # fp, left and right come before
    return (*between("interp", x, xp, period), *rest), keywords


@op(static=_places_as_numbers)
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, /, left: ArrayLike | None = None, right: ArrayLike | None = None,
    period: float | None = None, *, dim: str | None = None,
) -> Array:  # fmt: skip
    """Returns at each `x` the value of the line through the points (xp, fp), which ascend along `dim`.

    `dim` may be left out if `xp` has one dim. The result has the dims of `x`, then the others of `xp` and `fp`, with
    equal names paired. Below the first point, the result is `left`, by default the first value; above the last point,
    `right`. With `period`, `x` and `xp` are taken modulo `period`, and the points need not be sorted. `x` may have a
    dim named `dim`, of any size. NaN gives NaN. `x` and `xp` may be DataArrays of dates. Differentiable with respect to
    `x`, `xp` and `fp`.

    Raises:
        DimensionError: `xp` or `fp` does not have `dim`.
        SizeError: a dim has two sizes.
        DTypeError: `x` or `xp` is complex.

    Example:
    >>> xt.interp(xt.array([0.5, 1.5], "place"), xt.array([0.0, 1.0, 2.0], "x"), xt.array([0.0, 10.0, 40.0], "x"))
    <xtensor.Array (place: 2) float64>
    [ 5. 25.]
    """
    places = [as_tracer(v) for v in between("interp", x, xp, period)]
    operands = [*places, as_tracer(fp)]
    build.ordered(*places)
    x, xp, fp = p.promote_mean(*places, fp)
    x, xp = build.real(x), build.real(xp)  # the values may be complex
    if dim is None and len(xp.dims) == 1:
        dim = xp.dims[0]
    dim = dim_of("interp", xp, dim, "xp")
    if not fp.dims:
        raise fail(
            DimensionError, "interp", f"fp has a value for each point of xp along {dim!r}, and no dims here", xp, fp,
            instead="The order is xt.interp(x, xp, fp)",
        )  # fmt: skip
    dim_of("interp", fp, dim, "fp")
    union_sizes("interp", (xp, fp))
    forbid_pairs("interp", (xp, fp), besides=(dim,))
    if is_static(xp, dim) and xp.sizes[dim] == 0:
        raise fail(SizeError, "interp", "there are no points", xp)
    union_sizes("interp", (x, xp, fp), besides=(dim,))
    one, zero = p.constant(1, p.I8), p.zero(p.I8)
    last = build.binary("sub", p.cast(size_of(xp, dim), p.I8), one)
    if period is not None:
        if left is not None or right is not None:
            raise fail(
                ArgumentError, "interp", "left= and right= do not go with period=: no place is outside of the points"
            )
        cycle = p.constant(number("interp", period, "period"), x.dtype)
        x, xp = build.binary("mod", x, cycle), build.binary("mod", xp, cycle)
        order = build.argsort(xp, dim)
        xp = _along(xp, dim, order)
        fp = _along(fp, dim, order)
    after = search(xp, dim, x, "right")
    if period is None:
        low = build.binary("maximum", build.binary("sub", after, one), zero)
        low = build.binary("maximum", build.binary("minimum", low, build.binary("sub", last, one)), zero)
        high = build.binary("minimum", build.binary("add", low, one), last)
        a, b = (build.gather("clip", xp, {dim: at}) for at in (low, high))
    else:
        low = build.binary("sub", after, one)
        first, end = (build.compare(how, at, edge) for how, at, edge in (("lt", low, zero), ("gt", after, last)))
        low, high = build.select(first, last, low), build.select(end, zero, after)
        a, b = (build.gather("clip", xp, {dim: at}) for at in (low, high))
        a = build.select(first, build.binary("sub", a, cycle), a)
        b = build.select(end, build.binary("add", b, cycle), b)
    f, g = (build.gather("clip", fp, {dim: at}) for at in (low, high))
    y = _on_line(x, a, b, f, g)
    if period is None:
        edges = [_end(v, dim, at) for v in (xp, fp) for at in (zero, last)]
        under, over = (p.cast(v, fp.dtype) if v is not None else e for v, e in ((left, edges[2]), (right, edges[3])))
        y = build.select(build.compare("lt", x, edges[0]), under, y)
        y = build.select(build.compare("gt", x, edges[1]), over, y)
    y = reorder(y, tuple(dict.fromkeys([*x.dims, *y.dims])))
    if not is_inner("interp"):  # the labels of new places along `dim` are others than those of the points
        along = [tuple(d for d in x.dims if d != dim), xp.dims, fp.dims]
        y.scope.root.join(y.value, "interp", operands, along=along)
    return y


def _along(x: Tracer, dim: str, positions: Tracer) -> Tracer:
    return build.gather("clip", x, {dim: positions})


def _end(x: Tracer, dim: str, position: Tracer) -> Tracer:
    return build.gather("clip", x, {dim: position})


def _on_line(x: Tracer, a: Tracer, b: Tracer, f: Tracer, g: Tracer) -> Tracer:
    """The line through (a, f) and (b, g) at x, in parts if f and g are complex; g where both points are one."""
    if p.is_complex(f.dtype):
        return build.complex_array(*(_on_line(x, a, b, part(f), part(g)) for part in (build.real, build.imag)))
    width = build.binary("sub", b, a)
    flat = build.compare("eq", width, p.zero(x.dtype))
    step = p.cast(build.select(flat, p.constant(1, x.dtype), width), f.dtype)
    slope = build.binary("div", build.binary("sub", g, f), step)
    y = build.binary("add", build.binary("mul", slope, p.cast(build.binary("sub", x, a), f.dtype)), f)
    # Where f or g is not finite, so is the slope: the points themselves keep their values, as in NumPy.
    finite = build.compare("eq", build.binary("sub", slope, slope), p.zero(f.dtype))
    back = build.binary("add", build.binary("mul", slope, p.cast(build.binary("sub", x, b), f.dtype)), g)
    other = build.select(build.compare("eq", y, y), y, build.select(build.compare("eq", f, g), f, back))
    for at, value in ((b, g), (a, f)):
        other = build.select(build.compare("eq", x, at), value, other)
    nothing = p.cast(build.binary("mul", p.zero(x.dtype), x), f.dtype)
    y = build.select(finite, y, build.binary("add", other, nothing))
    return build.select(flat, build.binary("add", g, nothing), y)


# -- integrals and differences ----------------------------------------------------------------------------------------


def _neighbours(x: Tracer, dim: str) -> tuple[Tracer, Tracer]:
    """The positions before and after each, at the ends itself."""
    at = build.iota(dim, size_of(x, dim), p.I8)
    one = p.constant(1, p.I8)
    last = build.binary("sub", p.cast(size_of(x, dim), p.I8), one)
    before = build.binary("maximum", build.binary("sub", at, one), p.zero(p.I8))
    return before, build.binary("minimum", build.binary("add", at, one), last)


def _samples_as_numbers(y: Any, x: Any = None, *rest: Any, **keywords: Any) -> Any:
    return (y, as_numbers(x, unit=None), *rest), keywords


@op(joins=True, static=_samples_as_numbers)
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, /, dx: ArrayLike = 1.0, *, dim: str | None = None) -> Array:
    """Returns the integral of `y` along `dim` by the trapezoidal rule, with the other dims of `y`, then those of `x`.

    `x` has the places of the samples along `dim`; without `x`, the samples lie `dx` apart. `dim` may be left out for an
    array with one dim. Integers give f8. `x` may be a DataArray of dates, whose unit is that of their dtype.

    Raises:
        DimensionError: `y` does not have `dim`.
        SizeError: `dim` has another size in `x`.

    Example:
    >>> xt.trapezoid(xt.array([0.0, 1.0, 4.0], "time"), dx=0.5)
    <xtensor.Array () float64 1.5>
    """
    if is_scalar(x) or (hasattr(x, "dtype") and getattr(x, "dims", ()) == () and not getattr(x, "shape", ())):
        raise fail(
            ArgumentTypeError, "trapezoid", "x has the places of the samples, not the distance between them",
            instead=f"Write dx= for the distance, xt.trapezoid(y, dx={x if is_scalar(x) else 0.1}, dim={dim!r})",
        )  # fmt: skip
    given = [as_tracer(y)] if x is None else [as_tracer(y), as_tracer(as_numbers(x, unit=None))]
    values = p.promote_mean(*given)
    dtype = values[0].dtype
    y, *places = (p.cast(v, p.accumulator(dtype)) for v in values)
    if dim is None and len(y.dims) == 1:
        dim = y.dims[0]
    dim = dim_of("trapezoid", y, dim, "y")
    paired_sizes("trapezoid", (y, *places))
    # A single sample bounds no area, whatever its value is.
    several = build.compare("gt", p.cast(size_of(y, dim), p.I8), p.constant(1, p.I8))
    y = build.select(several, y, p.zero(y.dtype))
    before, after = _neighbours(y, dim)
    half = p.constant(0.5, y.dtype)
    if places:
        dim_of("trapezoid", places[0], dim, "x")
        low, high = (_along(places[0], dim, at) for at in (before, after))
    else:
        low, high = p.cast(before, y.dtype), p.cast(after, y.dtype)
        step = as_tracer(dx)
        if step.dims or p.is_complex(step.dtype):
            raise fail(ArgumentTypeError, "trapezoid", "dx is a number", step, instead="x has the places of samples")
        half = build.binary("mul", half, p.cast(step, y.dtype))
    width = build.binary("mul", build.binary("sub", high, low), half)
    return p.cast(contract([y, width], (dim,), tuple(union_sizes("trapezoid", (y, width)))), dtype)


@op(joins=True)
def _gradient(x: ArrayLike, dim: str, spacing: ArrayLike, edge_order: int, /) -> Array:
    if is_scalar(spacing):
        x, places = p.as_mean(x), None
        step = p.cast(spacing, x.dtype)
    else:
        x, step = p.promote_mean(x, spacing)
        places = step if step.dims else None
    n = x.sizes[dim] if is_static(x, dim) else None
    if n is not None and n < edge_order + 1:
        raise fail(SizeError, "gradient", f"dim {dim!r} has size {n}; at least {edge_order + 1} elements are needed", x)
    if places is not None:
        dim_of("gradient", places, dim, "spacing")
        paired_sizes("gradient", (x, places))
    y = _slope(x, dim, places, step, edge_order)
    # Slopes lie where the samples do, but are computed from neighbours.
    return labelled_like(y, x, [] if places is None else [places])


def _slope(x: Tracer, dim: str, places: Tracer | None, step: Tracer, edge_order: int) -> Tracer:
    if edge_order == 1 and places is None:
        before, after = _neighbours(x, dim)
        steps = p.cast(build.binary("sub", after, before), x.dtype)
        rise = build.binary("sub", _along(x, dim, after), _along(x, dim, before))
        return reorder(build.binary("div", rise, build.binary("mul", steps, step)), x.dims)
    return _by_parabola(x, dim, places, step, edge_order)


def _by_parabola(x: Tracer, dim: str, places: Tracer | None, step: Tracer, edge_order: int) -> Tracer:
    """The slope of the parabola through three neighbours; at the ends with edge_order 1, that of the line through
    two."""
    one = p.constant(1, p.I8)
    at = build.iota(dim, size_of(x, dim), p.I8)
    last = build.binary("sub", p.cast(size_of(x, dim), p.I8), one)
    middle = build.binary("maximum", build.binary("minimum", at, build.binary("sub", last, one)), one)
    three = [build.binary("sub", middle, one), middle, build.binary("add", middle, one)]
    f = [_along(x, dim, i) for i in three]
    where = build.binary("mul", p.cast(at, x.dtype), step) if places is None else places
    t = [_along(where, dim, i) for i in three]
    sub, div = functools.partial(build.binary, "sub"), functools.partial(build.binary, "div")
    left, right = sub(t[1], t[0]), sub(t[2], t[1])
    # Of two samples, the third is the second once more.
    is_pair = build.compare("eq", last, one)
    right = build.select(is_pair, p.constant(1, right.dtype), right)
    d, e = div(sub(f[1], f[0]), left), div(sub(f[2], f[1]), right)
    # Newton's form: d + (e - d) share, as a sum of two products, since an infinite sample makes e - d infinite, too.
    share = div(build.binary("add", sub(where, t[0]), sub(where, t[1])), build.binary("add", left, right))
    rest = sub(p.constant(1, share.dtype), share)
    y = build.binary("add", build.binary("mul", d, rest), build.binary("mul", e, share))
    if places is None:  # then the slope inside does not depend on the sample there, which may be NaN
        central = div(sub(f[2], f[0]), build.binary("mul", p.constant(2, x.dtype), step))
        y = build.select(build.compare("eq", at, middle), central, y)
    if edge_order == 1:
        y = build.select(build.compare("eq", at, p.zero(p.I8)), d, y)
        y = build.select(build.compare("eq", at, last), build.select(is_pair, d, e), y)
    return reorder(y, tuple(dict.fromkeys([*x.dims, *y.dims])))


def gradient(x: ArrayLike, dim: Dims = None, spacing: Any = 1.0, *, edge_order: int = 1) -> Any:
    """Returns the slope of the samples `x` along `dim` by central differences, as numpy.gradient, with their dims.

    `spacing` is the distance between samples, or their places: an array with the dim. Places may be a DataArray of
    dates: slopes are per unit of their dtype. For several dims, or None for all dims, the result is a tuple with one
    array per dim. `spacing` is then one value for all, or a dict from dims. At the ends, edge_order=1 uses two samples,
    and 2 uses three. For the derivative of a function write `xt.grad`.

    Raises:
        DimensionError: `x` does not have `dim`.
        ArgumentError: `edge_order` is neither 1 nor 2, or `spacing` lacks a dim.
        SizeError: `dim` has too few samples.

    Example:
    >>> xt.gradient(xt.array([0.0, 1.0, 4.0, 9.0], "time"), "time", spacing=0.5)
    <xtensor.Array (time: 4) float64>
    [ 2.  4.  8. 10.]
    """
    if edge_order not in (1, 2):
        raise fail(ArgumentError, "gradient", f"edge_order is 1 or 2, not {edge_order!r}", x)
    x = x if hasattr(x, "dims") else as_tracer(x)
    dims = dims_of("gradient", x, dim)  # type: ignore[arg-type]
    by_dim = spacing if isinstance(spacing, dict) else dict.fromkeys(dims, spacing)
    missing = [d for d in dims if d not in by_dim]
    if missing:
        raise fail(ArgumentError, "gradient", f"there is no spacing for {missing[0]!r}", x)
    found = tuple(_gradient(x, d, as_numbers(by_dim[d], unit=None), edge_order) for d in dims)
    return found[0] if isinstance(dim, str) else found


# -- polynomials ------------------------------------------------------------------------------------------------------


def _fitted_as_numbers(x: Any, *rest: Any, **keywords: Any) -> Any:
    return (as_numbers(x), *rest), keywords


@op(joins=True, static=_fitted_as_numbers)
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int, /, dim: str | None = None, w: ArrayLike | None = None, *,
    degree_dim: str = "degree", skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the coefficients of the polynomial in `x` of degree `deg` that fits `y` along `dim` by least squares.

    They lie along the new first dim `degree_dim`, the highest power first, as in numpy.polyfit and xarray's polyfit.
    `dim` may be left out if `x` has one dim. `w` are weights of the residuals, not of their squares. The result has
    the other dims of `x`, then those of `y`. If several polynomials fit equally, their coefficients of least norm are
    returned. `x` may be a DataArray of dates, which count in nanoseconds since 1970, as in xarray.
    skipna: whether samples whose `y` is NaN are left out; by default, `xt.option(skipna=)` decides. Without samples,
    the coefficients are NaN.

    Raises:
        DimensionError: `x` or `y` does not have `dim`; options forbid outer products, and `w` has a dim of its own.
        SizeError: a dim has two sizes.
        ArgumentError: `deg` is negative.

    Example:
    >>> x = xt.array([0.0, 1.0, 2.0], "x")
    >>> xt.polyfit(x, 3.0 * x + 1.0, 1).values.round(6)
    array([3., 1.])
    """
    needs_lapack("polyfit")
    degree = integer("polyfit", deg, "deg", least=0)
    x, y, *rest = p.promote_mean(as_numbers(x), y, *([] if w is None else [w]))
    dtype = x.dtype
    x, y, *rest = (p.cast(v, p.accumulator(dtype)) for v in (x, y, *rest))
    if dim is None and len(x.dims) == 1:
        dim = x.dims[0]
    along = dim_of("polyfit", x, dim, "x")
    dim_of("polyfit", y, along, "y")
    sizes = paired_sizes("polyfit", (x, y, *rest))
    check_name(degree_dim)
    if degree_dim in sizes:
        raise fail(DimensionError, "polyfit", f"the new dim {degree_dim!r} is there already", x, y,
                   instead='Name it otherwise: degree_dim="power"')  # fmt: skip

    order = tuple(dict.fromkeys([degree_dim, *(d for v in (x, y, *rest) for d in v.dims if d != along)]))

    def of_all(x: Tracer, y: Tracer, *weights: Tracer) -> Tracer:
        return _fitted(x, y, weights, degree, along, degree_dim)

    def of_those(x: Tracer, y: Tracer, *weights: Tracer) -> Tracer:
        there = build.compare("eq", y, y)
        y, weight = (build.select(there, v, p.zero(v.dtype)) for v in (y, *(weights or [p.constant(1, y.dtype)])))
        found = _fitted(x, y, (weight,), degree, along, degree_dim)
        return reorder(
            build.select(build.reduce("any", there, (along,)), found, p.constant(np.nan, found.dtype)), order
        )

    found: Tracer
    if skips("polyfit", skipna):  # all series share one matrix, if they have all samples
        whole = build.reduce("all", build.compare("eq", y, y), y.dims)
        found = cond(whole, lambda *args: reorder(of_all(*args), order), of_those, (x, y, *rest))
    else:
        found = of_all(x, y, *rest)
    return p.cast(found, dtype)


def _fitted(x: Tracer, y: Tracer, weights: Sequence[Tracer], degree: int, dim: str, degree_dim: str) -> Tracer:
    """The coefficients of the polynomial that fits all samples."""
    columns = [extend(p.constant(1, x.dtype), {d: size_of(x, d) for d in x.dims}, x.dims)]
    for _ in range(degree):
        columns.append(build.binary("mul", columns[-1], x))
    parts = [extend(c, {degree_dim: 1}, (degree_dim, *x.dims)) for c in reversed(columns)]
    matrix = parts[0] if len(parts) == 1 else build.concat(parts, degree_dim)
    for weight in weights:
        matrix, y = build.binary("mul", matrix, weight), build.binary("mul", y, weight)
    # Columns of one length make the tolerance of the inverse that of the polynomial, whatever the unit of x.
    length = build.unary("sqrt", build.reduce("sum", build.binary("mul", matrix, matrix), (dim,)))
    length = build.select(build.compare("eq", length, p.zero(x.dtype)), p.constant(1, x.dtype), length)
    (inverse,) = build.factor("pinv", build.binary("div", matrix, length), (dim, degree_dim))
    order = dict.fromkeys([degree_dim, *matrix.dims, *y.dims])
    found = contract([inverse, y], (dim,), tuple(order))
    order = dict.fromkeys([degree_dim, *(d for d in order if d != dim)])
    return reorder(build.binary("div", found, length), tuple(order))


def _degree_instead(dim: str, places: Sequence[str], coefficients: Sequence[str]) -> str:
    """What to write where the coefficients lack their dim."""
    if dim in places:
        return "Write xt.polyval(x, coefficients): the places come first, as in xarray"
    if not coefficients:
        return f"Write xt.array([2.0, 1.0], dims={dim!r}) for 2 x + 1"
    own = [d for d in coefficients if d not in places]
    if own:
        return f"Name the dim along which the powers lie: degree_dim={own[0]!r}"
    return f"Rename the dim along which the powers lie: coeffs.rename({{{coefficients[0]!r}: {dim!r}}})"


@op(joins=True)
def _polyval(coord: ArrayLike, coeffs: ArrayLike, degree_dim: str, /) -> Array:
    x, c = p.promote_mean(coord, coeffs)
    if isinstance(degree_dim, str) and degree_dim not in c.dims:
        raise fail(
            DimensionError, "polyval", f"the coefficients have no dim {degree_dim!r}", x, c,
            instead=_degree_instead(degree_dim, x.dims, c.dims),
        )  # fmt: skip
    dim_of("polyval", c, degree_dim, "the array of coefficients")
    if degree_dim in x.dims:
        raise fail(
            DimensionError, "polyval", f"the coefficients' dim {degree_dim!r} is one of the places, too", x, c,
            instead="xt.polyval(x, coefficients): the places come first, as in xarray",
        )  # fmt: skip
    sizes = paired_sizes("polyval", (x, c), besides=(degree_dim,))
    if not is_static(c, degree_dim):
        raise fail(DimensionError, "polyval", f"the size of {degree_dim!r} must be known here", c)
    n = int(c.sizes[degree_dim])
    y = extend(p.zero(x.dtype), sizes, tuple(sizes))
    for i in range(n):
        coefficient = build.squeeze(build.slice(c, {degree_dim: (i, 1, 1)}), (degree_dim,))
        y = build.binary("add", build.binary("mul", y, x), coefficient) if i else coefficient
    return extend(y, sizes, tuple(sizes))


def polyval(coord: ArrayLike, coeffs: ArrayLike, degree_dim: str = "degree") -> Array:
    """Returns the polynomial with the coefficients `coeffs` along `degree_dim` at the places `coord`.

    The arguments are those of xarray.polyval. Labels along `degree_dim` are the powers, as in xarray; without labels
    the highest power comes first, as in numpy.polyval. The result has the dims of both, without `degree_dim`. `coord`
    may be a DataArray of dates, as that of `xt.polyfit`.

    Raises:
        DimensionError: `coeffs` does not have `degree_dim`.

    Example:
    >>> xt.polyval(xt.array([1.0, 2.0], "x"), xt.array([3.0, 0.0, 1.0], "degree"))
    <xtensor.Array (x: 2) float64>
    [ 4. 13.]
    """
    labelled = is_dataarray(coeffs) or (isinstance(coeffs, _native.Array) and coeffs.meta is not None)
    if labelled:
        coeffs = _highest_first(coeffs, degree_dim)
    return _polyval(as_numbers(coord), coeffs, degree_dim)


def _highest_first(coeffs: Any, dim: str) -> Any:
    """Coefficients in the order of the powers that their labels are, with 0 for those that are not there."""
    variable = labels_of(coeffs).coords.get(dim) if dim in coeffs.dims else None
    if variable is None:
        return coeffs
    powers = np.asarray(variable.values)
    if powers.dtype.kind not in "iu" or len(powers) == 0 or powers.min() < 0 or len(set(powers)) < len(powers):
        raise fail(ArgumentError, "polyval", f"labels along {dim!r} are different powers, 0 or more", coeffs)
    order = [int(np.argmax(powers == k)) for k in sorted(powers, reverse=True)]
    missing = sorted(set(range(int(powers.max()) + 1)) - {int(k) for k in powers})
    if missing:
        raise fail(ArgumentError, "polyval", f"the power {missing[0]} is missing along {dim!r}", coeffs,
                   instead="Give it the coefficient 0")  # fmt: skip
    return coeffs.isel({dim: order})
