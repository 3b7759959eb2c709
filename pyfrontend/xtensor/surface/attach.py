"""Adds operators and methods to the classes of arrays, and hints to the modules of the package.

Both need the functions, and the functions need the classes.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from .. import debug, fft, linalg, nn, optim, random, signal, tree
from ..base.errors import ArgumentTypeError, trimmed
from ..base.named import Labelled, Named
from ..call.dispatch import plain
from ..trace.tracer import Tracer
from ..values.array import Array
from .by_label import ByLabelMethods
from .hints import module_lookup, torch_instead
from .methods import ArrayMethods, LabelMethods, numpy_called
from .notebook import SHOWN

_OF_THE_CLASS = frozenset({"__annotations__", "__dict__", "__doc__", "__module__", "__qualname__", "__slots__"})


def _values(x: Any) -> Any:
    """An argument of a function of NumPy, with NumPy arrays in place of named ones."""
    if isinstance(x, Array):
        return np.asarray(x)
    if type(x) in (list, tuple):
        return type(x)([_values(item) for item in x])
    return x


class _OfTheClass:
    """`Array.__array_function__`, for NumPy, which asks the class. Arrays themselves do not have it: xarray takes what
    has it for memory, and would hold an array, with dims of its own, in a DataArray.

    NumPy's functions work on the values of an array, without names. Its ufuncs are refused (`__array_ufunc__`)."""

    def __get__(self, array: Array | None, owner: type) -> _OfTheClass:
        if array is not None:
            raise AttributeError("__array_function__")
        return self

    def __call__(self, array: Array, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_values(args), **{k: _values(x) for k, x in kwargs.items()})


@trimmed
def _array_function(self: Tracer, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Functions of NumPy that need values get an error that says what to write."""
    try:
        return function._implementation(*args, **kwargs)
    except TypeError:
        raise numpy_called(function, self) from None


@trimmed
def _torch_function(cls: type, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Functions of PyTorch get an error that says what to write, also those in operators with a tensor on the left."""
    name = getattr(function, "__name__", str(function))
    raise ArgumentTypeError(f"torch.{name} of an array that xtensor traces: {torch_instead(name)}")


def attach() -> None:
    """Called once, when the package is imported."""
    for methods, base in ((ByLabelMethods, Named), (ArrayMethods, Named), (LabelMethods, Labelled)):
        for name, method in vars(methods).items():
            if name not in _OF_THE_CLASS:
                setattr(base, name, method)
    setattr(Array, "__array_function__", _OfTheClass())  # noqa: B010
    setattr(Tracer, "__array_function__", _array_function)  # noqa: B010 (type checkers know no such method)
    setattr(Tracer, "__torch_function__", classmethod(_torch_function))  # noqa: B010
    for cls, html_of in SHOWN.items():
        setattr(cls, "_repr_html_", html_of)  # noqa: B010 (it knows more than its class may)
    for module in (debug, fft, linalg, nn, optim, random, signal, tree):
        for name in module.__all__:
            if isinstance(function := getattr(module, name), FunctionType):
                setattr(module, name, plain(function, f"{module.__name__.partition('.')[2]}.{name}"))
        setattr(module, "__getattr__", module_lookup(module))  # noqa: B010 (else any attribute would pass)
