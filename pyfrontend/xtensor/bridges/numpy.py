"""Functions of named arrays as functions of NumPy arrays, as SciPy and scikit-learn call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from ..base import tree
from ..base.calls import call_with, counted, in_words, with_article
from ..base.dims import as_names, describe_array
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, trimmed
from ..call.arguments import name_of, needs_function
from ..labels.xarray import is_dataarray
from ..ops.shape import transpose
from ..values.array import Array, from_values
from ..values.kinds import kind_of


def named(f: Callable[..., Any], dims: str | Sequence[Any] | EllipsisType = ...) -> Callable[..., Any]:
    """Returns `f` as a function of NumPy arrays, for libraries that know no names: named(f, dims=["state"]).

    dims: for each argument by position its dims, one name or a tuple of names, or None for what is not an array. A
    string is short for a list of one. In a tuple, `...` stands for any number of dims, which broadcast as NumPy's do.
    It is first, and these dims come first in the results: (..., "time"), as xarray.apply_ufunc needs it. Or it is last,
    and they come last: ("state", ...), as `vectorized=True` of SciPy needs it. Without dims=, all dims of all NumPy
    arrays are such, for functions that work element by element: named(xt.exp). Further arguments go on as they are,
    those by keyword, too. An array with names, such as a DataArray, is matched by name: it
    must have these dims, in any order. Arrays in the result, which may be a pytree, become NumPy arrays with their dims
    in order; one without dims becomes a number of NumPy. Arrays are shared, not copied: the results are read-only. To
    compile `f`, pass `xt.jit(f)`. An array of Dask is an ArgumentTypeError.

    Raises:
        DimensionError: an array has other dims, or another number of axes.
        ArgumentTypeError: `dims` is not a list, or an array is one of Dask, or an argument with dims is a Dataset.
        ArgumentError: `...` is first in one entry of `dims`, and last in another.

    Example:
    >>> from scipy.optimize import minimize
    >>> loss = xt.jit(xt.value_and_grad(lambda x: ((x - 3.0) ** 2).sum()))
    >>> minimize(xt.named(loss, "x"), np.zeros(2), jac=True).x
    array([3., 3.])
    """
    needs_function("named", f)
    name = name_of(f)
    if not isinstance(dims, (str, list, tuple)) and dims is not ...:
        raise ArgumentTypeError(
            f'xt.named({name}): dims= is a list with the dims of each argument, not {in_words(dims)}. Write dims=["x"]'
        )
    given_dims = () if dims is ... else [dims] if isinstance(dims, str) else dims
    known = [_Dims(name, i, d) for i, d in enumerate(given_dims)]
    if len({d.is_last for d in known if d.is_open}) > 1:
        raise ArgumentError(f"xt.named({name}): `...` is first in one entry of dims=, and last in another. Choose one")

    def function(*args: Any, **keywords: Any) -> Any:
        each = known
        if dims is ...:
            is_bare = [isinstance(x, np.ndarray) or hasattr(x, "__dask_graph__") for x in args]
            each = [_Dims(name, i, (...,) if bare else None) for i, bare in enumerate(is_bare)]
        is_open = any(d.is_open for d in each)
        if len(args) < len(each):
            have = counted(len(args), "argument")
            raise ArgumentError(f"xt.named({name}): {have} by position, and dims= has {len(each)}")
        given = [d.named(x) for d, x in zip(each, args, strict=False)]
        further = max((d.further(x) for d, x in zip(each, args, strict=False)), default=0) if is_open else 0
        is_last = any(d.is_last for d in each)
        arrays = [x.values for x in given if isinstance(x, Array)]
        leaves, structure = tree.flatten(call_with("named", f, (*given, *args[len(each) :]), keywords))
        return structure.unflatten([_bare(x, arrays, further, is_last) for x in leaves])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f.__doc__
    return trimmed(function)


def _further(count: int, is_last: bool) -> tuple[str, ...]:
    """The names of the dims for which `...` stands, counted from the last, as NumPy broadcasts."""
    return tuple(f"{'trailing' if is_last else 'leading'}_{i}" for i in range(count, 0, -1))


class _Dims:
    """The dims of one argument; `names` is None for what is not an array."""

    def __init__(self, name: str, number: int, dims: Any) -> None:
        self.what = f"xt.named({name}): argument {number}"
        given = dims if isinstance(dims, (tuple, list)) else ()
        places = [i for i, d in enumerate(given) if d is ...]
        if places and places not in ([0], [len(given) - 1]):
            raise ArgumentTypeError(
                f'{self.what} has `...` in its dims, which is first or last: write (..., "time") or ("time", ...)'
            )
        self.is_open = bool(places)
        self.is_last = self.is_open and places != [0]
        self.names = None if dims is None else as_names([d for d in given if d is not ...] if self.is_open else dims)

    def further(self, x: Any) -> int:
        return np.ndim(x) - len(self.names or ()) if self.is_open else 0

    def named(self, x: Any) -> Any:
        names = self.names
        if names is None or (not names and isinstance(x, (bool, int, float, complex))):
            return x
        if isinstance(x, Mapping):
            raise ArgumentTypeError(
                f"{self.what} is {with_article(type(x).__name__)}, and dims= names the dims of an array. Write "
                "xr.apply_ufunc(xt.named(f, dims), dataset, ..), or call the function of named arrays itself"
            )
        if hasattr(x, "__dask_graph__") and not is_dataarray(x):
            raise ArgumentTypeError(
                f"{self.what} is a dask.array, whose values would be computed here. Write x.compute(), or have Dask "
                'call the function by xr.apply_ufunc(f, .., dask="parallelized")'
            )
        x = self._in_order(x)
        values = np.asarray(x)
        count = values.ndim - len(names)
        if count < 0 or (count and not self.is_open):
            raise DimensionError(f"{self.what} has shape {values.shape}, and dims= names its dims {names}")
        # A dim of size 1 for which `...` stands broadcasts: by name, it is not there.
        further = _further(count, self.is_last)
        all_names = [*names, *further] if self.is_last else [*further, *names]
        kept = [i for i, d in enumerate(all_names) if d not in further or values.shape[i] != 1]
        try:
            return from_values(values.reshape([values.shape[i] for i in kept]), [all_names[i] for i in kept])
        except DTypeError as error:
            text, where = error.parts
            raise DTypeError(f"{self.what}: {text}", where) from None

    def _in_order(self, x: Any) -> Any:
        """An array with names of dims, whose dims are now in the order of these; any other as it is."""
        kind = kind_of(x)
        if kind is None or not kind.named:
            return x
        array, names = kind.values(x), self.names or ()
        if sorted(array.dims) != sorted(names):
            wanted = ", ".join(map(repr, names)) or "no dims"
            if self.is_open:
                wanted = f"any {'trailing' if self.is_last else 'leading'} dims, which have no names, and {wanted}"
            raise DimensionError(
                f"{self.what} is {describe_array(array)}, and dims= says {wanted}. Rename its dims, or call the "
                "function of named arrays itself"
            )
        return transpose(array, *names).values


def _bare(x: Any, arguments: Sequence[np.ndarray[Any, Any]], further: int, is_last: bool) -> Any:
    if not isinstance(x, Array):
        return x
    if further:
        given = _further(further, is_last)
        there = [d for d in given if d in x.dims]
        x = transpose(x, ..., *there) if is_last else transpose(x, *there, ...)
        broadcast, others = [x.sizes.get(d, 1) for d in given], [n for d, n in x.sizes.items() if d not in given]
        values = x.values.reshape(others + broadcast if is_last else broadcast + others)
    else:
        values = x.values
    if any(np.may_share_memory(values, a) for a in arguments):
        values = values.copy()  # the caller may write to its array
    return values[()] if values.ndim == 0 else values
