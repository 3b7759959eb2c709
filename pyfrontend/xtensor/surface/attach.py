"""Adds operators and methods to the classes of arrays, and hints to the modules of the package.

Both need the functions, and the functions need the classes.
"""

from __future__ import annotations

from typing import Any

from .. import fft, linalg, nn, optim, random, signal
from ..base.errors import trimmed
from ..base.named import Labelled, Named
from ..trace.tracer import Tracer
from .by_label import ByLabelMethods
from .hints import module_lookup
from .methods import ArrayMethods, LabelMethods, numpy_called

_OF_THE_CLASS = frozenset({"__annotations__", "__dict__", "__doc__", "__module__", "__qualname__", "__slots__"})


@trimmed
def _array_function(self: Tracer, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's other functions get an error that says what to write. `Array` has no such method: xarray takes what
    has one for memory, and would hold an array, with dims of its own, in a DataArray."""
    try:
        return function._implementation(*args, **kwargs)
    except TypeError:
        raise numpy_called(function, self) from None


def attach() -> None:
    """Called once, when the package is imported."""
    for methods, base in ((ByLabelMethods, Named), (ArrayMethods, Named), (LabelMethods, Labelled)):
        for name, method in vars(methods).items():
            if name not in _OF_THE_CLASS:
                setattr(base, name, method)
    setattr(Tracer, "__array_function__", _array_function)  # noqa: B010 (type checkers know no such method)
    for module in (fft, linalg, nn, optim, random, signal):
        setattr(module, "__getattr__", module_lookup(module))  # noqa: B010 (else any attribute would pass)
