"""Functions of named arrays as functions of NumPy arrays, as SciPy and scikit-learn call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import tree
from ..base.calls import call_with, shown
from ..base.dims import as_names
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError
from ..call.arguments import name_of, needs_function
from ..values.array import Array, from_values


def named(f: Callable[..., Any], dims: str | Sequence[Any]) -> Callable[..., Any]:
    """Returns `f` as a function of NumPy arrays, for libraries that know no names: named(f, dims=["state"]).

    dims: for each argument by position its dims, one name or a tuple of names, or None for what is not an array. A
    string is short for a list of one. Further arguments go on as they are, those by keyword, too.
    Arrays in the result, which may be a pytree, become NumPy arrays with their dims in order; one without dims becomes
    a number of NumPy. Arrays are shared, not copied: the results are read-only. To compile `f`, pass `xt.jit(f)`.
    Raises DimensionError for an array whose number of dims differs.

    >>> from scipy.optimize import minimize
    >>> loss = xt.jit(xt.value_and_grad(lambda x: ((x - 3.0) ** 2).sum()))
    >>> minimize(xt.named(loss, "x"), np.zeros(2), jac=True).x
    array([3., 3.])
    """
    needs_function("named", f)
    name = name_of(f)
    if not isinstance(dims, (str, list, tuple)):
        raise ArgumentTypeError(
            f'xt.named({name}): dims= is a list with the dims of each argument, not {shown(dims)}. Write dims=["x"]'
        )
    each = [d if d is None else as_names(d) for d in ([dims] if isinstance(dims, str) else dims)]

    def function(*args: Any, **keywords: Any) -> Any:
        if len(args) < len(each):
            raise ArgumentError(f"xt.named({name}): {len(args)} arguments by position, and dims= has {len(each)}")
        given = [_named(name, i, x, d) for i, (x, d) in enumerate(zip(args, each, strict=False))]
        arrays = [x.values for x in given if isinstance(x, Array)]
        leaves, structure = tree.flatten(call_with("named", f, (*given, *args[len(each) :]), keywords))
        return structure.unflatten([_bare(x, arrays) for x in leaves])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f.__doc__
    return function


def _named(name: str, number: int, x: Any, dims: tuple[str, ...] | None) -> Any:
    if dims is None or (not dims and isinstance(x, (bool, int, float, complex))):
        return x
    values = np.asarray(x)
    if values.ndim != len(dims):
        raise DimensionError(
            f"xt.named({name}): argument {number} has shape {values.shape}, and dims= names its dims {dims}"
        )
    return from_values(values, dims)


def _bare(x: Any, arguments: Sequence[np.ndarray[Any, Any]]) -> Any:
    if not isinstance(x, Array):
        return x
    values = x.values
    if any(np.may_share_memory(values, a) for a in arguments):
        values = values.copy()  # the caller may write to its array
    return values[()] if values.ndim == 0 else values
