"""Converts arrays, numbers, sizes and DataArrays to tracers of the function that is being traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..base import dtypes
from ..base.ranges import too_wide
from ..base.refusals import not_an_array, unnamed
from ..ir import location
from ..ir.context import array_type
from ..values.array import Array
from ..values.donation import in_use
from ..values.kinds import NUMBER, NUMPY, kind_of
from ..values.spec import Spec
from . import build
from .scope import check_alive, current
from .tracer import DynamicSize, Tracer


def as_tracer(x: Any) -> Tracer:
    """Anything array-like as a tracer of the function that is being traced. A Python scalar gives a weak constant,
    a concrete array becomes a hidden argument."""
    cls = type(x)
    if cls is Tracer:
        check_alive(x)
        return x
    if isinstance(x, _native.Array):
        return capture(x)  # type: ignore[arg-type]
    if cls is DynamicSize:
        size = build.size(x.tracer, x.dim)
        return Tracer(size.value, weak=True, scope=size.scope, spec=Spec._of((), (), size.dtype, weak=True))
    kind = kind_of(x)
    if kind is NUMBER:
        return scalar(x)
    if kind is NUMPY:
        return build.constant(np.asarray(x, dtypes.as_dtype(x.dtype)))
    if kind is not None:
        return capture(kind.array(x))
    raise unnamed(x) if isinstance(x, np.ndarray) else not_an_array(x)


def scalar(x: Any) -> Tracer:
    dtype = np.dtype("bool" if isinstance(x, bool) else "int64") if isinstance(x, int) else current().root.weak_float
    if isinstance(x, complex):
        dtype = dtypes.complex_of(dtype)
    try:
        tracer = build.constant(np.asarray(x, dtype))
    except OverflowError:
        raise too_wide(int(x)) from None
    spec = Spec._of((), (), dtype, weak=True)
    return Tracer(tracer.value, weak=True, scope=tracer.scope, spec=spec, known=x, parts=tracer.parts)


def capture(array: Array) -> Tracer:
    """The hidden argument that stands for a concrete array."""
    in_use(array)
    root = current().root
    found = root.captured.get(id(array))
    if found is None:
        spec = Spec._of(array.dims, array.shape, array.dtype, array.weak)
        value = root.block.add_argument(array_type(spec), location.of_user())
        found = root.captured[id(array)] = Tracer(value, weak=spec.weak, scope=root, spec=spec)
        root.hidden.append((value.arg_number, array))
    return found


def _forward(name: str) -> Any:
    def method(self: DynamicSize, *others: Any) -> Any:
        return getattr(as_tracer(self), name)(*others)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _prefix in ("", "r"):
        setattr(DynamicSize, f"__{_prefix}{_name}__", _forward(f"__{_prefix}{_name}__"))
for _name in ("neg", "abs", "lt", "le", "gt", "ge"):
    setattr(DynamicSize, f"__{_name}__", _forward(f"__{_name}__"))
