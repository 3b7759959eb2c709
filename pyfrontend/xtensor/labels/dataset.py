"""Datasets of xarray as pytrees: their variables are the leaves.

Traced arrays cannot stand in a Dataset. A traced function gets `Variables` in its place, which become a Dataset again
when the call returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..base import tree
from ..base.dims import suggestion
from ..base.errors import ArgumentTypeError, DimensionError, Error, LabelError, SizeError
from ..base.identity import identity
from ..base.lacking import lacks
from ..base.refusals import NoArithmetic
from .xarray import is_dataarray

if TYPE_CHECKING:
    import xarray


class _Names(tuple[str, ...]):
    """The names of variables, with the attributes of the Dataset, which count where two are compared."""

    attrs: Mapping[Any, Any]
    key: Any

    @classmethod
    def of(cls, names: Any, attrs: Mapping[Any, Any]) -> _Names:
        made = cls(names)
        made.attrs = dict(attrs)
        made.key = _key(attrs)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Names) and tuple.__eq__(self, other) and self.key == other.key

    def __hash__(self) -> int:
        return hash((tuple.__hash__(self), self.key))


def _key(attrs: Mapping[Any, Any]) -> Any:
    try:
        return identity(tuple(attrs.items()))
    except TypeError:  # lists and arrays
        return repr(attrs)


class Variables(NoArithmetic, Mapping[str, Any]):
    """The arrays of a Dataset inside of a traced function: ds["heat"], ds.heat, ds.items(). It is a pytree."""

    __slots__ = ("_arrays", "attrs")

    _arrays: dict[str, Any]
    attrs: dict[Any, Any]

    def __init__(self, arrays: Mapping[str, Any], attrs: Mapping[Any, Any] | None = None) -> None:
        object.__setattr__(self, "_arrays", dict(arrays))
        object.__setattr__(self, "attrs", dict(attrs or {}))

    def __getitem__(self, name: str) -> Any:
        if isinstance(name, (list, tuple)):
            raise ArgumentTypeError(
                f"the variables of a Dataset are read one by one inside of a function, not by {name!r:.60}. Write "
                "{k: ds[k] for k in names}"
            )
        if name not in self._arrays:
            there = ", ".join(map(repr, self._arrays)) or "none"
            near = suggestion(name, self._arrays) if isinstance(name, str) else ""
            raise LabelError(f"the Dataset has no variable {name!r:.60}; it has {there}{near}")
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._arrays:
            return self._arrays[name]
        if name.startswith("_"):
            raise lacks(self, name, None)
        if name in self.sizes:
            of = f"a variable has its size, ds[{next(iter(self._arrays))!r}].sizes[{name!r}]"
        else:
            of = f"write ds.map(lambda x: x.{name}(..)) for a method of arrays"
        near = suggestion(name, self._arrays)
        raise lacks(
            self, name, f"inside of a function, a Dataset has {', '.join(self._arrays)}, assign and map: {of}{near}"
        )

    def _refuse(self) -> NoReturn:
        raise ArgumentTypeError(
            "inside of a function, a Dataset has no arithmetic of its own. Write ds.map(lambda x: 2 * x), or "
            'ds.assign(heat=2 * ds["heat"])'
        )

    def __setitem__(self, name: object, value: object) -> NoReturn:
        instead = f"{name}=value" if isinstance(name, str) and name.isidentifier() else f"{{{name!r}: value}}"
        raise ArgumentTypeError(f"inside of a function, a Dataset does not change. Write ds = ds.assign({instead})")

    def __delitem__(self, name: object) -> NoReturn:
        raise ArgumentTypeError(
            "inside of a function, a Dataset does not change. Write {k: x for k, x in ds.items() if k != "
            f"{name!r}}}, a dict of the others"
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self[name] = value

    def __delattr__(self, name: str) -> NoReturn:
        del self[name]

    def __repr__(self) -> str:
        return f"Variables({self._arrays!r})"

    @property
    def data_vars(self) -> Mapping[str, Any]:
        """The arrays by name."""
        return self

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes of all dims."""
        return {d: n for x in self._arrays.values() for d, n in x.sizes.items()}

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of all dims."""
        return tuple(self.sizes)

    def assign(self, arrays: Mapping[str, Any] | None = None, /, **keywords: Any) -> Variables:
        """Returns the arrays with these besides or in place of others, as `Dataset.assign`."""
        return Variables({**self._arrays, **(arrays or {}), **keywords}, self.attrs)

    def map(self, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Variables:
        """Returns `function` of each array, as `Dataset.map`."""
        return Variables({k: function(x, *args, **keywords) for k, x in self._arrays.items()}, self.attrs)


def is_dataset(cls: type) -> bool:
    """Does not import xarray: a program that has a Dataset has imported it."""
    module = sys.modules.get("xarray")
    return module is not None and issubclass(cls, module.Dataset)


def _flatten(x: Any) -> tuple[list[Any], _Names]:
    if isinstance(x, Variables):
        return list(x.values()), _Names.of(x, x.attrs)
    names = list(x.data_vars)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"the name of a Dataset's variable is a string, not {name!r}; rename it")
    return [x[name] for name in names], _Names.of(names, x.attrs)


def _unflatten(names: Any, arrays: Any) -> Any:
    by_name = dict(zip(names, arrays, strict=True))
    if arrays and all(map(is_dataarray, arrays)):
        return combined(_own_dims_first(by_name), names.attrs, _cannot_return)
    return Variables(by_name, names.attrs)


def _own_dims_first(arrays: Mapping[str, xarray.DataArray]) -> dict[str, xarray.DataArray]:
    """Without labels of one position along a dim whose labels another array brings, as by `Dataset.assign`."""
    labels = {c for x in arrays.values() for c in x.coords if c in x.dims}
    found = {}
    for name, x in arrays.items():
        gone = [c for c in x.coords if c in labels and c not in x.dims]
        found[name] = x.drop_vars(gone) if gone else x
    return found


def _cannot_return(kind: type[Error], problem: str) -> Error:
    return kind(f"the variables of a Dataset do not go together: {problem}. Return a dict of arrays in its place")


def combined(
    arrays: Mapping[str, xarray.DataArray], attrs: Mapping[Any, Any], refuse: Callable[[type[Error], str], Error]
) -> xarray.Dataset:
    """The Dataset of arrays that go together as they are. xarray would also align their labels, which fills with NaN,
    and would take an array for the coordinate that has its name."""
    import xarray

    sizes: dict[Any, tuple[str, int]] = {}
    coords: dict[Any, tuple[str, xarray.Variable]] = {}
    for name, x in arrays.items():
        for d, n in x.sizes.items():
            other, size = sizes.setdefault(d, (name, n))
            if size != n:
                raise refuse(SizeError, f"dim {d!r} has size {size} in {other!r} and {n} in {name!r}")
        for c, variable in x.coords.variables.items():
            other, first = coords.setdefault(c, (name, variable))
            if first is not variable and not first.equals(variable):  # type: ignore[no-untyped-call]
                what = f"the labels of dim {c!r}" if c in x.dims else f"the coordinates {c!r}"
                raise refuse(DimensionError, f"{what} differ between {other!r} and {name!r}")
    for name in arrays:
        if name in sizes or name in coords:
            what = "a dim, whose labels it" if name in sizes else f"a coordinate of {coords[name][0]!r}, which it"
            raise refuse(DimensionError, f"the array {name!r} has the name of {what} would become")
    return xarray.Dataset({k: x.rename(None) for k, x in arrays.items()}, attrs=attrs)


tree.register(Variables, _flatten, _unflatten)
tree.register_others(is_dataset, Variables)
