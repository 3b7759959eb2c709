"""One function per op of the dialect, on tracers: what the public functions are made of.

The dialect infers result types. The caller casts operands. Complex arrays are handled here: complexes.py has their
arithmetic, and an op that is not defined for them is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base.ranges import does_not_fit, fits
from ..ir import context as c
from ..ir import location
from ..values.spec import Spec
from . import complex_functions, complexes
from . import emit as raw
from .emit import FAILING as FAILING
from .emit import as_size as as_size
from .emit import emit, one
from .emit import size as size
from .scope import current
from .tracer import DynamicSize, Tracer, as_weak

if TYPE_CHECKING:
    from ..mlir import ir

_INT64 = np.dtype("int64")
_ORDER = "complex numbers have no order. Take a real number of each: xt.abs(z), z.real or z.imag"


def _real(*xs: Tracer, why: str = "") -> None:
    """Refuses complex arrays."""
    for x in xs:
        if x.dtype.kind == "c":
            complexes.refuse(why)


def ordered(*xs: Tracer) -> None:
    """Refuses arrays whose elements have no order."""
    _real(*xs, why=_ORDER)


# -- element by element -----------------------------------------------------------------------------------------------


def labelled(y: Tracer, x: Tracer, steps: Mapping[str, Any] | None = None) -> Tracer:
    """`y`, whose coordinates are those of `x`, whatever was computed in between: an op that moves values but not labels.
    `steps` says what became of a dim's positions: ("slice", offset, size, stride), ("pad", low, high, mode) or
    ("take", positions, the dim that brings them where it is another one), positions None: as they are; ("lost",) leaves
    the dim's coordinates out."""
    if y.value != x.value:
        current().root.labels[y.value] = x.value, dict(steps or {})
    return y


def relabelled(y: Tracer, labels: Any, x: Tracer | None = None) -> Tracer:
    """`y` with labels of its own (labels/xarray.py: `Labels`); along dynamic dims, with those of `x`."""
    root = current().root
    y = as_weak(rename(y, {}), y.weak)  # another value: `y` itself may be that of an argument
    root.owned[y.value] = len(root.own), None if x is None else x.value
    root.own.append(labels)
    return y


def followed(results: Sequence[Tracer], inputs: Sequence[Tracer], known: Any) -> None:
    """Results of a function of which it is known (labels/xarray.py: `Followed`) which coordinates they keep."""
    call = known, [x.value for x in inputs], [y.value for y in results]
    for y in results:
        current().root.followed[y.value] = call


def unary(op: str, x: Tracer) -> Tracer:
    """abs, exp, not, isnan ... of `x`: its dims."""
    return complex_functions.unary(op, x) if x.dtype.kind == "c" else raw.unary(op, x)


def binary(op: str, x: Tracer, y: Tracer) -> Tracer:
    """add, mul, maximum, and ... of two arrays of one dtype: the union of their dims."""
    return complex_functions.binary(op, x, y) if x.dtype.kind == "c" else raw.binary(op, x, y)


def function(op: str, *operands: Tracer) -> Tracer:
    """gammainc_by_a, betainc .. of arrays of one dtype: the union of their dims."""
    return one(op, operands)


def compare(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """eq, ne, lt, le, gt or ge: bools with the union of the dims."""
    return complexes.compare(predicate, x, y) if x.dtype.kind == "c" else raw.compare(predicate, x, y)


def select(condition: Tracer, x: Tracer, y: Tracer) -> Tracer:
    """`x` where the condition holds, else `y`: the union of the three's dims."""
    return complexes.select(condition, x, y) if x.dtype.kind == "c" else raw.select(condition, x, y)


def cast(x: Tracer, dtype: dtypes.DType) -> Tracer:
    if x.dtype.kind == "c" or dtype.kind == "c":
        return complexes.cast(x, dtype)
    return raw.cast(x, dtype)


def meet(x: Tracer, dtype: dtypes.DType) -> Tracer:
    """`x` in the dtype of what it meets. A Python int must fit an integer one: ArgumentError, now or at the call."""
    if x.dtype == dtype:
        return x
    if x.weak and dtypes.is_integer(dtype):
        if x.known is not None and not fits(x.known, dtype):
            raise does_not_fit(x.known, dtype)
        for value in x.bounds or ():
            if not fits(value, dtype):
                raise does_not_fit(value, dtype, "The loop counts so far: cast the index or the array, i.astype(...)")
        if dtypes.is_integer(x.dtype):
            current().root.meets(x.value, dtype)
    return cast(x, dtype)


def real(x: Tracer) -> Tracer:
    return complexes.part(x, 0) if x.dtype.kind == "c" else x


def imag(x: Tracer) -> Tracer:
    return complexes.part(x, 1) if x.dtype.kind == "c" else complexes.zeros_like(x)


def conj(x: Tracer) -> Tracer:
    return complexes.conj(x) if x.dtype.kind == "c" else x


def angle(x: Tracer) -> Tracer:
    """Of a complex array."""
    return complex_functions.angle(x)


def complex_array(re: Tracer, im: Tracer) -> Tracer:
    """The complex array of two real ones of one dtype."""
    return complexes.pack(re, im)


def modulus(x: Tracer, y: Tracer) -> Tracer:
    """sqrt(x**2 + y**2) of two real arrays, without overflow, with derivative 0 at 0."""
    return complexes.modulus(x, y)


def stop_gradient(x: Tracer) -> Tracer:
    return complexes.each(x, raw.stop_gradient)


# -- constants and sizes ----------------------------------------------------------------------------------------------


def constant(value: Any, dims: Sequence[str] = (), dtype: dtypes.DType | None = None) -> Tracer:
    """An array known now. `value`: NumPy array or scalar with one axis per dim."""
    array = np.asarray(value, dtype)
    return complexes.constant(array, dims) if array.dtype.kind == "c" else raw.constant(array, dims)


def iota(dim: str, size: int | Tracer | DynamicSize, dtype: dtypes.DType = _INT64) -> Tracer:
    """0, 1, 2 ... along `dim`."""
    if isinstance(size, (Tracer, DynamicSize)):
        return one("iota", (as_size(size, dim),), None, [c.array_type(Spec._of((dim,), (None,), dtype))])
    return one("iota", (), None, [c.array_type(Spec._of((dim,), (int(size),), dtype))])


# -- fewer dims -------------------------------------------------------------------------------------------------------


def reduce(kind: str, x: Tracer, dims: Sequence[str]) -> Tracer:
    """sum prod max min any all argmax argmin over `dims`: the other dims."""
    if kind != "sum":
        _real(x, why=_ORDER if kind != "prod" else "")
    return complexes.each(x, lambda v: raw.reduce(kind, v, dims))


def cumulative(kind: str, x: Tracer, dim: str, *, reverse: bool = False, exclusive: bool = False) -> Tracer:
    """Running sum, prod, max or min along `dim`: the dims of `x`."""
    if kind != "sum":
        ordered(x)
    flags = _flags(reverse=reverse, exclusive=exclusive)
    attributes = {"kind": c.enum_attribute("CumulativeKind", kind), "dim": c.string_attribute(dim), **flags}
    return complexes.each(x, lambda v: one("cumulative", (v,), attributes))


def recurrence(decay: Tracer, x: Tracer, dim: str, *, reverse: bool = False, exclusive: bool = False) -> Tracer:
    """y[t] = decay[t] * y[t - 1] + x[t] along `dim`, from 0: the union of the dims."""
    _real(decay, x)
    flags = _flags(reverse=reverse, exclusive=exclusive)
    return one("recurrence", (decay, x), {"dim": c.string_attribute(dim), **flags})


def _flags(**flags: bool) -> dict[str, ir.Attribute]:
    """Unit attributes for those that are set."""
    return {name: c.mlir().UnitAttr.get(context=c.context()) for name, on in flags.items() if on}


def contract(xs: Sequence[Tracer], over: Sequence[str], order: Sequence[str] | None = None) -> Tracer:
    """The product of `xs` summed over the dims `over`. Of complex arrays, two at a time."""
    if xs[0].dtype.kind == "c" and len(xs) == 2:
        return complexes.contract(xs[0], xs[1], over, order)
    return raw.contract(xs, over, order)


# -- matrices ---------------------------------------------------------------------------------------------------------


def factor(op: str, x: Tracer, dims: Sequence[str], inner: str | None = None) -> tuple[Tracer, ...]:
    """cholesky, eigh, lu, pinv, qr or svd of the real matrix with row and column dim `dims`: its factors."""
    attributes = {"dims": c.names_attribute(tuple(dims))}
    if inner is not None:
        attributes["inner"] = c.string_attribute(inner)
    return tuple(Tracer(v) for v in emit(op, (x,), attributes).results)


def lu_tangent(packed: Tracer, t: Tracer, dims: Sequence[str]) -> Tracer:
    """How the factors `packed` that lu returns change if the matrix, its rows in their order, changes by `t`."""
    return one("lu_tangent", (packed, t), _of_system(packed, dims, transposed=False))


def complex_factor(kind: str, x: Tracer, dims: Sequence[str], inner: str) -> tuple[Tracer, ...]:
    """cholesky, eig, eigh, lu, qr or svd of a complex matrix, without a derivative (linalg/complex_factors.py)."""
    attributes = {
        "kind": c.enum_attribute("ComplexFactorKind", kind),
        "dims": c.names_attribute(tuple(dims)),
        "inner": c.string_attribute(inner),
        "pair": c.string_attribute(c.PAIR),
    }
    return tuple(Tracer(v) for v in emit("complex_factor", (x,), attributes).results)


def solve(a: Tracer, b: Tracer, dims: Sequence[str], transposed: bool = False) -> Tracer:
    """x with a x = b: the column dim instead of the row dim of `b`; `transposed`: the other way around, and of a
    complex matrix with the conjugate."""
    return one("solve", (a, b), _of_system(a, dims, transposed=transposed))


def triangular_solve(a: Tracer, b: Tracer, dims: Sequence[str], upper: bool, unit: bool) -> Tracer:
    """The same, of one triangle of `a`."""
    return one("triangular_solve", (a, b), _of_system(a, dims, upper=upper, unit=unit))


def _of_system(a: Tracer, dims: Sequence[str], **flags: bool) -> dict[str, ir.Attribute]:
    attributes = {"dims": c.names_attribute(tuple(dims)), **_flags(**flags)}
    return attributes | {"pair": c.string_attribute(c.PAIR)} if a.dtype.kind == "c" else attributes


# -- dims -------------------------------------------------------------------------------------------------------------


def rename(x: Tracer, names: Mapping[str, str]) -> Tracer:
    """Dims under other names, all changed at once."""
    for old, new in names.items():
        if x.spec.sizes[old] is None:
            current().root.same_size(new, old)
    attributes = {"from": c.names_attribute(tuple(names)), "to": c.names_attribute(tuple(names.values()))}
    return complexes.each(x, lambda v: one("rename", (v,), attributes))


def broadcast(
    x: Tracer, dims: Sequence[str], sizes: Mapping[str, int | Tracer | DynamicSize] | None = None
) -> Tracer:
    """`x` with the dims `dims` in this order; `sizes` gives those of the new ones."""
    return x if tuple(dims) == x.dims else complexes.each(x, lambda v: raw.broadcast(v, dims, sizes))


def squeeze(x: Tracer, dims: Sequence[str]) -> Tracer:
    """`x` without the dims `dims`, which have size 1."""
    return complexes.each(x, lambda v: raw.squeeze(v, dims))


def slice(x: Tracer, parts: Mapping[str, tuple[int, int, int]]) -> Tracer:  # noqa: A001 (the op's name)
    """Along each dim of `parts`: (offset, size, stride)."""
    return complexes.each(x, lambda v: raw.slice(v, parts))


def pad(x: Tracer, value: Tracer, amounts: Mapping[str, tuple[int, int, int]]) -> Tracer:
    """Along each dim of `amounts`: (low, high, interior) more elements of `value`."""
    low, high, interior = (tuple(int(v) for v in column) for column in zip(*amounts.values(), strict=True))
    attributes = {
        "dims": c.names_attribute(tuple(amounts)),
        "low": c.integers_attribute(low),
        "high": c.integers_attribute(high),
        "interior": c.integers_attribute(interior),
    }
    if x.dtype.kind == "c":
        re, im = (one("pad", (real_or_imag(x), real_or_imag(value)), attributes) for real_or_imag in (real, imag))
        return complexes.pack(re, im)
    return one("pad", (x, value), attributes)


def concat(xs: Sequence[Tracer], dim: str) -> Tracer:
    """Arrays of the same dims one after another along `dim`."""
    attributes = {"dim": c.string_attribute(dim)}
    return complexes.together(xs, lambda v: one("concat", tuple(v), attributes))


def merge(x: Tracer, dims: Sequence[str], into: str) -> Tracer:
    """`dims` as one new last dim, the last one given running fastest."""
    attributes = {"dims": c.names_attribute(tuple(dims)), "into": c.string_attribute(into)}
    return complexes.each(x, lambda v: one("merge", (v,), attributes))


def split(x: Tracer, dim: str, sizes: Mapping[str, int]) -> Tracer:
    """`dim` as several new last dims, the last one running fastest."""
    attributes = {
        "dim": c.string_attribute(dim),
        "into": c.names_attribute(tuple(sizes)),
        "sizes": c.integers_attribute(tuple(int(n) for n in sizes.values())),
    }
    return complexes.each(x, lambda v: one("split", (v,), attributes))


def window(x: Tracer, dim: str, into: str, size: int, stride: int = 1, dilation: int = 1) -> Tracer:
    """The windows along `dim`, which they replace; the places inside of each are a new last dim."""
    numbers = {"size": size, "stride": stride, "dilation": dilation}
    attributes = {
        "dim": c.string_attribute(dim),
        "into": c.string_attribute(into),
        **{name: c.integer_attribute(n) for name, n in numbers.items()},
    }
    return complexes.each(x, lambda v: one("window", (v,), attributes))


def overlap_add(x: Tracer, dim: str, from_: str, length: int, stride: int = 1, dilation: int = 1) -> Tracer:
    """Windows along `dim`, their places along `from_`, added up where they lie in `length` elements."""
    numbers = {"length": length, "stride": stride, "dilation": dilation}
    attributes = {
        "dim": c.string_attribute(dim),
        "from": c.string_attribute(from_),
        **{name: c.integer_attribute(n) for name, n in numbers.items()},
    }
    return complexes.each(x, lambda v: one("overlap_add", (v,), attributes))


def reverse(x: Tracer, dims: Sequence[str]) -> Tracer:
    attributes = {"dims": c.names_attribute(tuple(dims))}
    return complexes.each(x, lambda v: one("reverse", (v,), attributes))


def fourier(kind: str, x: Tracer, dims: Sequence[str], scale: float = 1.0, size: int | None = None) -> Tracer:
    """`scale` times the Fourier transform along `dims`. forward and backward: of a complex array. real: from a real
    array to the first half along the last one of `dims`. hermitian: from such a half to `size` real numbers."""
    ir = c.mlir()
    attributes = {
        "kind": c.enum_attribute("FourierKind", kind),
        "dims": c.names_attribute(tuple(dims)),
        "pair": c.string_attribute(c.PAIR),
        "scale": ir.FloatAttr.get(ir.F64Type.get(c.context()), scale, loc=location.unknown()),
    }
    if size is not None:
        attributes["size"] = c.integer_attribute(size)
    return one("fourier", (x,), attributes)


# -- by position ------------------------------------------------------------------------------------------------------


def gather(mode: str, x: Tracer, indices: Mapping[str, Tracer]) -> Tracer:
    """Elements of `x` at integer positions along each dim of `indices`; mode: raise or clip."""
    return one(
        "gather",
        (x, *indices.values()),
        {"mode": c.enum_attribute("IndexMode", mode), "along": c.names_attribute(tuple(indices))},
    )


def scatter(kind: str, mode: str, target: Tracer, indices: Mapping[str, Tracer], updates: Tracer) -> Tracer:
    """`target` with `updates` combined in at integer positions; kind: add, set, mul, max or min; mode: raise, clip
    or drop."""
    if kind not in ("add", "set"):
        _real(target, why=_ORDER if kind != "mul" else "")
    return one(
        "scatter",
        (target, *indices.values(), updates),
        {
            "kind": c.enum_attribute("ScatterKind", kind),
            "mode": c.enum_attribute("IndexMode", mode),
            "along": c.names_attribute(tuple(indices)),
        },
    )


# -- in order ---------------------------------------------------------------------------------------------------------


def argsort(x: Tracer, dim: str, descending: bool = False) -> Tracer:
    """The positions along `dim` in the order of their elements, stable, NaN last: int64 with the dims of `x`."""
    ordered(x)
    attributes = {"dim": c.string_attribute(dim)}
    if descending:
        attributes["descending"] = c.mlir().UnitAttr.get(c.context())
    return one("argsort", (x,), attributes)
