"""Errors where a program would change an array, its labels or its attributes in place, with what to write instead."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn

from ..base.errors import ArgumentTypeError, AttributeError_
from ..trace.tracer import Tracer

if TYPE_CHECKING:
    import xarray

_BY_NAMES = 'x.stack(z=("a", "b")) or x.unstack(z={"a": 2, "b": 3})'
_ATTRIBUTES = 'x = xt.as_array(x.to_xarray().assign_attrs(units="K"))'
_LABELS = "x = x.assign_coords({}=labels)"
_INSTEAD = {
    "name": 'x = xt.as_array(x.to_xarray().rename("heat"))', "attrs": _ATTRIBUTES,
    **dict.fromkeys(("coords", "indexes"), _LABELS.format("time")),
    **dict.fromkeys(("values", "data"), "x = xt.array(values, dims=x.dims)"),
    "dims": 'x = x.rename(old="new")', "dtype": 'x = x.astype("f4")', "device": 'x = x.to("cpu")',
    **dict.fromkeys(("shape", "sizes"), _BY_NAMES),
}  # fmt: skip
# Of traced arrays, which have neither values nor labels yet.
_TRACED = {
    "name": 'y = y.rename("heat"), of the DataArray that the call returns',
    "attrs": 'y = y.assign_attrs(units="K"), of the DataArray that the call returns',
    **dict.fromkeys(("values", "data"), "x = x.at(time=0).set(value), or xt.where(mask, value, x)"),
    "device": 'f(x.to("vulkan")), before the call',
}


def labels_instead(name: str) -> str:
    """What to write for x["month"] = labels."""
    return _LABELS.format(name) if name.isidentifier() else f"x = x.assign_coords({{{name!r}: labels}})"


def refusal(x: Any, name: str, what: str = "set") -> AttributeError_:
    """The error about x.name = value, or about `del x.name`."""
    if what == "deleted":
        instead = f"x = x.drop_vars({name!r})" if name in x.dims else "y = f(x), with what is left"
    else:
        instead = (_TRACED.get(name) if isinstance(x, Tracer) else None) or _INSTEAD.get(name, "")
    if not instead:
        instead = labels_instead(name) if name in x.dims else "x = f(x), with a name for the result"
    return AttributeError_(f"arrays do not change: {name!r} cannot be {what}. Write {instead}", name, x)


class Attributes(dict[Any, Any]):
    """The attributes of an array. A change would be lost, so it is an error."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ArgumentTypeError(f"the attributes of an array do not change. Write {_ATTRIBUTES}")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def coordinates(bare: xarray.DataArray) -> Any:
    """The coordinates of a DataArray, as an object that cannot be changed."""
    return _frozen(type(bare.coords))(bare)


@functools.cache
def _frozen(kind: type) -> type:
    def refuse(self: Any, key: object = "time", *_: object, **__: object) -> NoReturn:
        instead = labels_instead(key) if isinstance(key, str) else _LABELS.format("time")
        raise ArgumentTypeError(f"the coordinates of an array do not change. Write {instead}")

    def drop(self: Any, key: object) -> NoReturn:
        raise ArgumentTypeError(f"the coordinates of an array do not change. Write x = x.drop_vars({key!r})")

    def reduced(self: Any) -> tuple[Any, ...]:
        return kind, (self._data,)  # which a copy may change

    methods = {"__setitem__": refuse, "update": refuse, "__delitem__": drop, "__reduce__": reduced}
    return type(kind.__name__, (kind,), {"__slots__": (), "__doc__": kind.__doc__, **methods})
