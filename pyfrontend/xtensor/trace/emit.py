"""Ops of the dialect on tracers as they are: a complex array is its pairs, a real array with one more dim.

The dialect infers result types. The caller casts operands. Each op, and each error of the dialect, gets the line of
the user's program.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..base.errors import SizeError, operands_among
from ..ir import context as c
from ..ir import location
from ..values.spec import Spec
from .scope import check_alive, current, local
from .tracer import DynamicSize, Tracer

if TYPE_CHECKING:
    from ..mlir import ir

# Ops that may fail when they run: positions, and dynamic sizes that should be equal.
FAILING = {"cholesky", "eigh", "gather", "lu", "scatter", "solve", "triangular_solve"}
# Further ops whose places the key of a program holds (compiler/Compiler.cpp): they have the same whenever it is traced.
TOLD = {"accumulate", "complex_factor", "triangular_contract"}


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
    where = here = location.of_user()
    if name not in TOLD:
        where = location.of_function(here, local.op, local.is_rule)
    if name in FAILING:
        scope.root.failing += 1
        where = location.of_failing(here, told := f"{local.op or name}#{scope.root.failing}")
        if local.arguments:
            scope.root.operands[told] = operands_among(local.arguments)
    scope.root.functions[id(here), local.op] = here
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


def one(
    name: str,
    operands: Sequence[Tracer],
    attributes: dict[str, ir.Attribute] | None = None,
    results: Sequence[ir.Type] | None = None,
) -> Tracer:
    y = Tracer(emit(name, operands, attributes, results).result)
    if dtypes.is_complex(y.dtype) and y.value.type != (wanted := c.array_type(y.spec)):
        # The op's result has the dims in order of appearance.
        y = Tracer(emit("broadcast", (y,), None, [wanted]).result)
    return y


def unary(op: str, x: Tracer) -> Tracer:
    """abs, exp, not, isnan ... of `x`: its dims."""
    return one(op, (x,))


def binary(op: str, x: Tracer, y: Tracer) -> Tracer:
    """add, mul, maximum, and ... of two arrays of one dtype: the union of their dims."""
    return one(op, (x, y))


def compare(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """eq, ne, lt, le, gt or ge: bools with the union of the dims."""
    return one("compare", (x, y), {"predicate": c.enum_attribute("ComparePredicate", predicate)})


def select(condition: Tracer, x: Tracer, y: Tracer) -> Tracer:
    """`x` where the condition holds, else `y`: the union of the three's dims."""
    return one("select", (condition, x, y))


def cast(x: Tracer, dtype: dtypes.DType) -> Tracer:
    return one("cast", (x,), {"to": c.mlir().TypeAttr.get(c.element_type(dtype), context=c.context())})


def stop_gradient(x: Tracer) -> Tracer:
    return one("stop_gradient", (x,))


def constant(value: Any, dims: Sequence[str] = (), dtype: dtypes.DType | None = None) -> Tracer:
    """An array known now. `value`: NumPy array or scalar with one axis per dim."""
    array = np.asarray(value, dtype)
    spec = Spec._of(dims, array.shape, dtypes.as_dtype(array.dtype))
    if dtypes.is_complex(spec.dtype):
        array = np.ascontiguousarray(array).view(dtypes.real_of(spec.dtype)).reshape(*array.shape, 2)
    return one("constant", (), {"value": elements(array)}, [c.array_type(spec)])


def elements(array: np.ndarray[Any, Any]) -> ir.Attribute:
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


def size(x: Tracer, dim: str) -> Tracer:
    """The size of a dim as an int64 array without dims."""
    return one("size", (x,), {"dim": c.string_attribute(dim)})


def as_size(n: int | Tracer | DynamicSize, of: str | None = None) -> Tracer:
    """A size as an int64 array without dims; `of`: the new dim that has it."""
    if isinstance(n, DynamicSize):
        n = size(n.tracer, n.dim)
    if of is not None and isinstance(n, Tracer) and getattr(n.value.owner, "name", "") == "xtensor.size":
        current().root.same_size(of, n.value.owner.attributes["dim"].value)
    return n if isinstance(n, Tracer) else constant(np.int64(n))


def reduce(kind: str, x: Tracer, dims: Sequence[str]) -> Tracer:
    """sum prod max min any all argmax argmin over `dims`: the other dims."""
    return one("reduce", (x,), {"kind": c.enum_attribute("ReduceKind", kind), "dims": c.names_attribute(tuple(dims))})


def contract(xs: Sequence[Tracer], over: Sequence[str], order: Sequence[str] | None = None) -> Tracer:
    """The product of `xs` summed over the dims `over`."""
    attributes = {"over": c.names_attribute(tuple(over))}
    if order is not None:
        attributes["order"] = c.names_attribute(tuple(order))
    return one("contract", tuple(xs), attributes)


def broadcast(x: Tracer, dims: Sequence[str], sizes: Mapping[str, int | Tracer | DynamicSize] | None = None) -> Tracer:
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
    return one("broadcast", (x, *dynamic), None, [c.array_type(Spec._of(dims, shape, x.dtype))])


def squeeze(x: Tracer, dims: Sequence[str]) -> Tracer:
    """`x` without the dims `dims`, which have size 1."""
    return one("squeeze", (x,), {"dims": c.names_attribute(tuple(dims))})


def slice(x: Tracer, parts: Mapping[str, tuple[int, int, int]]) -> Tracer:
    """Along each dim of `parts`: (offset, size, stride)."""
    offsets, sizes, strides = (tuple(int(v) for v in column) for column in zip(*parts.values(), strict=True))
    return one(
        "slice",
        (x,),
        {
            "dims": c.names_attribute(tuple(parts)),
            "offsets": c.integers_attribute(offsets),
            "sizes": c.integers_attribute(sizes),
            "strides": c.integers_attribute(strides),
        },
    )
