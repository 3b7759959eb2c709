"""One function per op of the dialect, on tracers.

The dialect infers result types. The caller casts operands. Each op, and each error of the dialect, gets the line of
the user's program.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base.errors import SizeError
from ..base.ranges import does_not_fit, fits
from ..values.spec import Spec
from ..ir import context as c
from ..ir import location
from .scope import check_alive, current, local
from .tracer import DynamicSize, Tracer

if TYPE_CHECKING:
    from ..mlir import ir

# Ops that may fail when they run: positions, and dynamic sizes that should be equal.
FAILING = {"cholesky", "eigh", "gather", "lu", "scatter", "solve", "triangular_solve"}
_INT64 = np.dtype("int64")


def emit(
    name: str,
    operands: Sequence[Tracer],
    attributes: dict[str, ir.Attribute] | None = None,
    results: Sequence[ir.Type] | None = None,
) -> Any:
    """Adds `xtensor.<name>`; result types are inferred unless given. Returns the operation."""
    for x in operands:
        check_alive(x)
    scope = current()
    where = location.of_user()
    if name in FAILING:
        scope.root.failing += 1
        where = location.of_failing(local.op or name, scope.root.failing)
    values = [x.value for x in operands]
    try:
        return c.mlir().Operation.create(
            "xtensor." + name,
            results=results,
            operands=values,
            attributes=attributes,
            loc=where,
            ip=scope.ip,
            infer_type=results is None,
        )
    except c.mlir().MLIRError:
        raise c.refused("xtensor." + name, values, attributes or {}, where) from None
    except Exception as exc:
        raise c.error_from(exc) from None


def _one(
    name: str,
    operands: Sequence[Tracer],
    attributes: dict[str, ir.Attribute] | None = None,
    results: Sequence[ir.Type] | None = None,
) -> Tracer:
    return Tracer(emit(name, operands, attributes, results).result)


# -- element by element -----------------------------------------------------------------------------------------------


def labelled(y: Tracer, x: Tracer, steps: Mapping[str, Any] | None = None) -> Tracer:
    """`y`, whose coordinates are those of `x`, whatever was computed in between: an op that moves values but not labels.
    `steps` says what became of a dim's positions: ("slice", offset, size, stride), ("pad", low, high, mode) or
    ("take", positions, the dim that brings them where it is another one), positions None: as they are; ("lost",) leaves
    the dim's coordinates out."""
    if y.value != x.value:
        current().root.labels[y.value] = x.value, dict(steps or {})
    return y


def relabelled(y: Tracer, labels: Any) -> Tracer:
    """`y` with labels of its own (labels/xarray.py: `Labels`)."""
    root = current().root
    y = rename(y, {})  # another value: `y` itself may be that of an argument
    root.owned[y.value] = len(root.own)
    root.own.append(labels)
    return y


def followed(results: Sequence[Tracer], inputs: Sequence[Tracer], known: Any) -> None:
    """Results of a function of which it is known (labels/xarray.py: `Followed`) which coordinates they keep."""
    call = known, [x.value for x in inputs], [y.value for y in results]
    for y in results:
        current().root.followed[y.value] = call


def unary(op: str, x: Tracer) -> Tracer:
    """abs, exp, not, isnan ... of `x`: its dims."""
    return _one(op, (x,))


def binary(op: str, x: Tracer, y: Tracer) -> Tracer:
    """add, mul, maximum, and ... of two arrays of one dtype: the union of their dims."""
    return _one(op, (x, y))


def function(op: str, *operands: Tracer) -> Tracer:
    """gammainc_by_a, betainc .. of arrays of one dtype: the union of their dims."""
    return _one(op, operands)


def compare(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """eq, ne, lt, le, gt or ge: bools with the union of the dims."""
    return _one("compare", (x, y), {"predicate": c.enum_attribute("ComparePredicate", predicate)})


def select(condition: Tracer, x: Tracer, y: Tracer) -> Tracer:
    """`x` where the condition holds, else `y`: the union of the three's dims."""
    return _one("select", (condition, x, y))


def cast(x: Tracer, dtype: dtypes.DType) -> Tracer:
    return _one("cast", (x,), {"to": c.mlir().TypeAttr.get(c.element_type(dtype), context=c.context())})


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


def stop_gradient(x: Tracer) -> Tracer:
    return _one("stop_gradient", (x,))


# -- constants and sizes ----------------------------------------------------------------------------------------------


def constant(value: Any, dims: Sequence[str] = (), dtype: dtypes.DType | None = None) -> Tracer:
    """An array known now. `value`: NumPy array or scalar with one axis per dim."""
    array = np.asarray(value, dtype)
    spec = Spec(dims, array.shape, dtypes.as_dtype(array.dtype))
    return _one("constant", (), {"value": _elements(array)}, [c.array_type(spec)])


def _elements(array: np.ndarray[Any, Any]) -> ir.Attribute:
    if array.size <= 16:
        return _small_elements(array.dtype, array.shape, array.tobytes())
    return _dense(array)


@functools.lru_cache(maxsize=4096)
def _small_elements(dtype: dtypes.DType, shape: tuple[int, ...], data: bytes) -> ir.Attribute:
    return _dense(np.frombuffer(data, dtype).reshape(shape))


def _dense(array: np.ndarray[Any, Any]) -> ir.Attribute:
    ir, ctx = c.mlir(), c.context()
    element = c.element_type(array.dtype)
    shaped = ir.RankedTensorType.get(array.shape, element, loc=location.unknown())
    if array.size == 0:
        return ir.Attribute.parse(f"dense<> : {shaped}", ctx)
    if array.size == 1 and dtypes.is_float(array.dtype):
        scalar = ir.FloatAttr.get(element, float(array.reshape(-1)[0]), loc=location.unknown())
        return ir.DenseElementsAttr.get_splat(shaped, scalar)
    if dtypes.is_bool(array.dtype):
        values = [ir.BoolAttr.get(bool(v), context=ctx) for v in array.reshape(-1)]
        return ir.DenseElementsAttr.get(values, shaped, context=ctx)
    raw = np.ascontiguousarray(array)
    if array.dtype == dtypes.bfloat16:
        raw = raw.view(np.uint16)
    return ir.DenseElementsAttr.get(raw, type=element, shape=list(array.shape), context=ctx)


def iota(dim: str, size: int | Tracer | DynamicSize, dtype: dtypes.DType = _INT64) -> Tracer:
    """0, 1, 2 ... along `dim`."""
    if isinstance(size, (Tracer, DynamicSize)):
        return _one("iota", (as_size(size, dim),), None, [c.array_type(Spec((dim,), (None,), dtype))])
    return _one("iota", (), None, [c.array_type(Spec((dim,), (int(size),), dtype))])


def size(x: Tracer, dim: str) -> Tracer:
    """The size of a dim as an int64 array without dims."""
    return _one("size", (x,), {"dim": c.string_attribute(dim)})


def as_size(n: int | Tracer | DynamicSize, of: str | None = None) -> Tracer:
    """A size as an int64 array without dims; `of`: the new dim that has it."""
    if isinstance(n, DynamicSize):
        n = size(n.tracer, n.dim)
    if of is not None and isinstance(n, Tracer) and getattr(n.value.owner, "name", "") == "xtensor.size":
        current().root.same_size(of, n.value.owner.attributes["dim"].value)
    return n if isinstance(n, Tracer) else constant(np.int64(n))


# -- fewer dims -------------------------------------------------------------------------------------------------------


def reduce(kind: str, x: Tracer, dims: Sequence[str]) -> Tracer:
    """sum prod max min any all argmax argmin over `dims`: the other dims."""
    return _one(
        "reduce", (x,), {"kind": c.enum_attribute("ReduceKind", kind), "dims": c.names_attribute(tuple(dims))}
    )


def cumulative(kind: str, x: Tracer, dim: str, *, reverse: bool = False, exclusive: bool = False) -> Tracer:
    """Running sum, prod, max or min along `dim`: the dims of `x`."""
    flags = _flags(reverse=reverse, exclusive=exclusive)
    return _one(
        "cumulative", (x,), {"kind": c.enum_attribute("CumulativeKind", kind), "dim": c.string_attribute(dim), **flags}
    )


def recurrence(decay: Tracer, x: Tracer, dim: str, *, reverse: bool = False, exclusive: bool = False) -> Tracer:
    """y[t] = decay[t] * y[t - 1] + x[t] along `dim`, from 0: the union of the dims."""
    flags = _flags(reverse=reverse, exclusive=exclusive)
    return _one("recurrence", (decay, x), {"dim": c.string_attribute(dim), **flags})


def _flags(**flags: bool) -> dict[str, ir.Attribute]:
    """Unit attributes for those that are set."""
    return {name: c.mlir().UnitAttr.get(context=c.context()) for name, on in flags.items() if on}


def contract(xs: Sequence[Tracer], over: Sequence[str], order: Sequence[str] | None = None) -> Tracer:
    """The product of `xs` summed over the dims `over`."""
    attributes = {"over": c.names_attribute(tuple(over))}
    if order is not None:
        attributes["order"] = c.names_attribute(tuple(order))
    return _one("contract", tuple(xs), attributes)


# -- matrices ---------------------------------------------------------------------------------------------------------


def factor(op: str, x: Tracer, dims: Sequence[str], inner: str | None = None) -> tuple[Tracer, ...]:
    """cholesky, eigh, lu, pinv, qr or svd of the matrix with row and column dim `dims`: its factors."""
    attributes = {"dims": c.names_attribute(tuple(dims))}
    if inner is not None:
        attributes["inner"] = c.string_attribute(inner)
    return tuple(Tracer(v) for v in emit(op, (x,), attributes).results)


def solve(a: Tracer, b: Tracer, dims: Sequence[str], transposed: bool = False) -> Tracer:
    """x with a x = b: the column dim instead of the row dim of `b`; `transposed`: the other way around."""
    attributes = {"dims": c.names_attribute(tuple(dims))}
    if transposed:
        attributes["transposed"] = c.unit_attribute()
    return _one("solve", (a, b), attributes)


def triangular_solve(a: Tracer, b: Tracer, dims: Sequence[str], upper: bool, unit: bool) -> Tracer:
    """The same, of one triangle of `a`."""
    attributes = {"dims": c.names_attribute(tuple(dims))}
    flags = {"upper": upper, "unit": unit}
    return _one("triangular_solve", (a, b), attributes | {n: c.unit_attribute() for n, on in flags.items() if on})


# -- dims -------------------------------------------------------------------------------------------------------------


def rename(x: Tracer, names: Mapping[str, str]) -> Tracer:
    """Dims under other names, all changed at once."""
    for old, new in names.items():
        if x.spec.sizes[old] is None:
            current().root.same_size(new, old)
    return _one(
        "rename", (x,), {"from": c.names_attribute(tuple(names)), "to": c.names_attribute(tuple(names.values()))}
    )


def broadcast(
    x: Tracer, dims: Sequence[str], sizes: Mapping[str, int | Tracer | DynamicSize] | None = None
) -> Tracer:
    """`x` with the dims `dims` in this order; `sizes` gives those of the new ones."""
    dims = tuple(dims)
    if dims == x.dims:
        return x
    have = x.spec.sizes
    shape: list[int | None] = []
    dynamic: list[Tracer] = []
    for d in dims:
        n: Any = have[d] if d in have else (sizes or {}).get(d)
        if d not in have:
            if n is None:
                raise SizeError(f"broadcast: no size was given for the new dim {d!r}")
            if isinstance(n, (Tracer, DynamicSize)):
                dynamic.append(as_size(n, d))
                n = None
        shape.append(n)
    return _one("broadcast", (x, *dynamic), None, [c.array_type(Spec(dims, shape, x.dtype))])


def squeeze(x: Tracer, dims: Sequence[str]) -> Tracer:
    """`x` without the dims `dims`, which have size 1."""
    return _one("squeeze", (x,), {"dims": c.names_attribute(tuple(dims))})


def slice(x: Tracer, parts: Mapping[str, tuple[int, int, int]]) -> Tracer:  # noqa: A001 (the op's name)
    """Along each dim of `parts`: (offset, size, stride)."""
    offsets, sizes, strides = (tuple(int(v) for v in column) for column in zip(*parts.values(), strict=True))
    return _one(
        "slice",
        (x,),
        {
            "dims": c.names_attribute(tuple(parts)),
            "offsets": c.integers_attribute(offsets),
            "sizes": c.integers_attribute(sizes),
            "strides": c.integers_attribute(strides),
        },
    )


def pad(x: Tracer, value: Tracer, amounts: Mapping[str, tuple[int, int, int]]) -> Tracer:
    """Along each dim of `amounts`: (low, high, interior) more elements of `value`."""
    low, high, interior = (tuple(int(v) for v in column) for column in zip(*amounts.values(), strict=True))
    return _one(
        "pad",
        (x, value),
        {
            "dims": c.names_attribute(tuple(amounts)),
            "low": c.integers_attribute(low),
            "high": c.integers_attribute(high),
            "interior": c.integers_attribute(interior),
        },
    )


def concat(xs: Sequence[Tracer], dim: str) -> Tracer:
    """Arrays of the same dims one after another along `dim`."""
    return _one("concat", tuple(xs), {"dim": c.string_attribute(dim)})


def merge(x: Tracer, dims: Sequence[str], into: str) -> Tracer:
    """`dims` as one new last dim, the last one given running fastest."""
    return _one("merge", (x,), {"dims": c.names_attribute(tuple(dims)), "into": c.string_attribute(into)})


def split(x: Tracer, dim: str, sizes: Mapping[str, int]) -> Tracer:
    """`dim` as several new last dims, the last one running fastest."""
    return _one(
        "split",
        (x,),
        {
            "dim": c.string_attribute(dim),
            "into": c.names_attribute(tuple(sizes)),
            "sizes": c.integers_attribute(tuple(int(n) for n in sizes.values())),
        },
    )


def window(x: Tracer, dim: str, into: str, size: int, stride: int = 1, dilation: int = 1) -> Tracer:
    """The windows along `dim`, which they replace; the places inside of each are a new last dim."""
    numbers = {"size": size, "stride": stride, "dilation": dilation}
    return _one(
        "window",
        (x,),
        {
            "dim": c.string_attribute(dim),
            "into": c.string_attribute(into),
            **{name: c.integer_attribute(n) for name, n in numbers.items()},
        },
    )


def overlap_add(x: Tracer, dim: str, from_: str, length: int, stride: int = 1, dilation: int = 1) -> Tracer:
    """Windows along `dim`, their places along `from_`, added up where they lie in `length` elements."""
    numbers = {"length": length, "stride": stride, "dilation": dilation}
    return _one(
        "overlap_add",
        (x,),
        {
            "dim": c.string_attribute(dim),
            "from": c.string_attribute(from_),
            **{name: c.integer_attribute(n) for name, n in numbers.items()},
        },
    )


def reverse(x: Tracer, dims: Sequence[str]) -> Tracer:
    return _one("reverse", (x,), {"dims": c.names_attribute(tuple(dims))})


# -- by position ------------------------------------------------------------------------------------------------------


def gather(mode: str, x: Tracer, indices: Mapping[str, Tracer]) -> Tracer:
    """Elements of `x` at integer positions along each dim of `indices`; mode: raise or clip."""
    return _one(
        "gather",
        (x, *indices.values()),
        {"mode": c.enum_attribute("IndexMode", mode), "along": c.names_attribute(tuple(indices))},
    )


def scatter(kind: str, mode: str, target: Tracer, indices: Mapping[str, Tracer], updates: Tracer) -> Tracer:
    """`target` with `updates` combined in at integer positions; kind: add, set, mul, max or min; mode: raise, clip
    or drop."""
    return _one(
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
    attributes = {"dim": c.string_attribute(dim)}
    if descending:
        attributes["descending"] = c.mlir().UnitAttr.get(c.context())
    return _one("argsort", (x,), attributes)
