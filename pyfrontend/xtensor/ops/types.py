"""The types of arguments and results of public functions, for type checkers."""

from __future__ import annotations

from collections.abc import Iterable
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

import numpy as np

from ..values.kinds import TAKES_ARRAYS

if TYPE_CHECKING:
    import xarray

    from ..trace.tracer import Tracer
    from ..values.array import Array as _Array

    # Inside a traced function the same names stand for traced arrays.
    Array: TypeAlias = _Array
    ArrayLike: TypeAlias = _Array | Tracer | xarray.DataArray | np.generic | np.ndarray | bool | int | float | complex
else:
    Array = object
    ArrayLike = Annotated[object, TAKES_ARRAYS]


class Elementwise(Protocol):
    """A public function of one array."""

    __name__: str
    __qualname__: str

    def __call__(self, x: ArrayLike, /) -> Array: ...


class Elementwise2(Protocol):
    """A public function of two arrays."""

    __name__: str
    __qualname__: str

    def __call__(self, x: ArrayLike, y: ArrayLike, /) -> Array: ...


# What a dim argument may be: nothing or `...` for all dims, one name, or several.
Dims: TypeAlias = str | Iterable[str] | EllipsisType | None

__all__ = ["Array", "ArrayLike", "Dims", "Elementwise", "Elementwise2"]


NOT_AN_ARRAY = "ArgumentTypeError: `x` is not an array or a number."
IS_COMPLEX = "DTypeError: `x` is complex."
ONE_IS_COMPLEX = "DTypeError: an array is complex."
TWO_SIZES = "SizeError: a dim has two sizes."


def raises(*errors: str) -> str:
    """The section of a docstring that says which errors a function raises."""
    return "\n\nRaises:\n    " + "\n    ".join(errors)


def example(name: str, x: str, gives: str, dtype: str = "float64", y: str | None = None) -> str:
    """The end of a docstring that a table makes: what `name` gives for the list `x`, and the list or number `y`."""
    arguments = [f'xt.array({each}, "i")' if each[0] == "[" else each for each in (x, y) if each is not None]
    shape = f"(i: {x.count(',') + 1})"
    return f"\n\nExample:\n>>> xt.{name}({', '.join(arguments)})\n<xtensor.Array {shape} {dtype}>\n{gives}"
