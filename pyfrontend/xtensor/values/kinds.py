"""Decides what is array-like, and what its key in a call is. No other module decides this.

Modules above add the kinds that they know with `register`, as labels/xarray.py does for DataArrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from ..base.ranges import too_wide
from .array import from_values
from .donation import in_use
from .spec import Spec

TAKES_ARRAYS = "takes arrays"  # what is annotated with this is one (ops/types.py); call/parameters.py reads it
NUMBERS: dict[type, str] = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
WEAK = {cls: Spec._of((), (), np.dtype(name), weak=True) for cls, name in NUMBERS.items()}


def number_class(x: Any) -> type:
    """The class of Python numbers that `x` is of, or is made from."""
    return type(x) if type(x) in NUMBERS else next(cls for cls in NUMBERS if isinstance(x, cls))


def scalar_array(x: Any) -> Any:
    """A Python number as an array without dims."""
    name = NUMBERS[number_class(x)]
    try:
        return _native.from_scalar(x, name)
    except OverflowError:
        raise too_wide(int(x)) from None


def type_of(x: Any, array: Any) -> Any:
    return array.type


def _weak(x: Any, array: Any) -> Spec:
    return WEAK[number_class(x)]


def _unknown(x: Any, array: Any) -> Any:
    return None


def _class(x: Any, array: Any) -> Any:
    # Not of an enum. C++ has no complex numbers among the arguments that it takes.
    return type(x) if type(x) in NUMBERS and type(x) is not complex else None


def _never(x: Any) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of array-like objects.

    array: the array that one is, with its labels. values: the same without labels, for calls, which label results by
    the object itself (`labelled`). key: what a program is compiled for, of the object and its `values`.
    told: what C++ finds a program by, of the object and its `values`: a type of arrays, or a class of Python numbers;
    None: only Python takes such an object.
    weak: its dtype gives way to others.
    named: it is an array in any argument; else only where arrays are meant. free: it goes to the device of others.
    """

    array: Callable[[Any], Any]
    values: Callable[[Any], Any]
    key: Callable[[Any, Any], Any] = type_of
    told: Callable[[Any, Any], Any] = _unknown
    labelled: Callable[[Any], bool] = _never
    weak: Callable[[Any], bool] = _never
    named: bool = True
    free: bool = True


def _on_cpu(x: Any) -> Any:
    return from_values(x, device="cpu")


ARRAY = Kind(in_use, in_use, told=type_of, labelled=lambda x: x.meta is not None, weak=lambda x: x.weak, free=False)
NUMBER = Kind(scalar_array, scalar_array, _weak, _class, weak=lambda x: True, named=False)
NUMPY = Kind(_on_cpu, _on_cpu, named=False)  # scalars, and arrays without dims

_registered: list[tuple[Callable[[Any], bool], Kind]] = []


def register(is_one: Callable[[Any], bool], kind: Kind) -> None:
    """Makes objects for which `is_one` holds array-like."""
    _registered.append((is_one, kind))


def kind_of(x: Any) -> Kind | None:
    """The kind of an object with values; None for what is not an array, or has dims without names."""
    if isinstance(x, _native.Array):
        return ARRAY
    if isinstance(x, (np.generic, np.ndarray)):
        return None if x.ndim else NUMPY
    if isinstance(x, (bool, int, float, complex)):
        return NUMBER
    for is_one, kind in _registered:
        if is_one(x):
            return kind
    return None


def kind_in(x: Any, takes_arrays: bool) -> Kind | None:
    """The kind of an object as an argument; None: it is not an array there. `takes_arrays`: the parameter does."""
    kind = kind_of(x)
    return kind if kind is not None and (kind.named or takes_arrays) else None


class Gathered:
    """The arrays of a call, in order. `free`: numbers of those that go to any device; `labelled`: what has labels;
    `told`: what C++ finds each by, or None if it does not take one of them."""

    __slots__ = ("arrays", "free", "labelled", "told")

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.free: set[int] = set()
        self.labelled: dict[int, Any] = {}
        self.told: list[Any] | None = []

    def gather(self, x: Any, kind: Kind) -> Any:
        """Adds `x`; returns its key."""
        number, values = len(self.arrays), kind.values(x)
        if kind.labelled(x):
            self.labelled[number] = x
        if self.told is not None:
            told = kind.told(x, values)
            if told is None:
                self.told = None
            else:
                self.told.append(told)
        if kind.free:
            self.free.add(number)
        self.arrays.append(values)
        return kind.key(x, values)
