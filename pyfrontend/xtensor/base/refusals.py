"""Errors about values that are not arrays, or that do not have names, with what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Set, ValuesView
from numbers import Number
from typing import Any, NoReturn

from .calls import in_words, with_article
from .dims import brief
from .errors import ArgumentTypeError, DimensionError, Error


def unnamed(x: Any, what: str = "an array", read: str = "") -> DimensionError:
    """The error about a bare array, as of NumPy; it says how to name its axes. `read`: what gives its values."""
    shape = tuple(x.shape)
    names = ", ".join(f'"{n}"' for n in ("row", "col", "depth", "time", "batch")[: len(shape)])
    comma = "," if len(shape) == 1 else ""
    read = read or (".filled(value)" if hasattr(x, "mask") and hasattr(x, "filled") else "")
    instead = f"xt.array(x{read}, dims=({names}{comma}))"
    passes = _passes_bare()
    if passes:
        dims = f"({names}{comma})" if shape else "()"
        instead = (
            f"{passes} passes arrays without names, so pass it xt.named(f, dims=[{dims}]) for f, or xt.named(f) "
            "if f works element by element. Or call f(da) itself"
        )
    return DimensionError(f"{what} of shape {shape} has no named dims. Name its axes: {instead}")


class NoArithmetic:
    """Operators on it raise the error of `_refuse`, which a subclass has."""

    __slots__ = ()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError

    def _operator(self, *other: object) -> NoReturn:
        self._refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _operator
    __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _operator


class Unfinished(NoArithmetic):
    """A step on the way to an array, such as x.rolling(time=3). Operators on it say which call completes it."""

    __slots__ = ()
    _completed = ".mean()"

    def _refuse(self) -> NoReturn:
        of = f"x.{type(self).__name__.lower()}(..)"
        raise ArgumentTypeError(f"{of} is not an array yet. Write {of}{self._completed}, or another of its methods")

    __getitem__ = __iter__ = __len__ = __array__ = NoArithmetic._operator


def _passes_bare() -> str:
    """What called a function with bare arrays: xarray's apply_ufunc, or Dask, of which it is a task. Else ""."""
    frame: Any = sys._getframe(2)
    is_direct = True  # no function of the user's between
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "apply_ufunc" and module.startswith("xarray."):
            return "xr.apply_ufunc"
        if is_direct and module.startswith("dask."):
            return "Dask"
        is_direct = is_direct and module.partition(".")[0] in ("xtensor", "numpy")
        frame = frame.f_back
    return ""


def of_others(x: Any, what: str) -> Error | None:
    """The error about what another library computes later; None for anything else."""
    library = type(x).__module__.partition(".")[0]
    if library == "dask" and hasattr(x, "__dask_graph__"):
        kind = type(x).__name__
        instead = ", or name its dims by xr.DataArray(x, dims=..) for xt.blocks(f)(x)" if kind == "Array" else ""
        return ArgumentTypeError(f"{what}a dask.{kind.lower()} has no values yet. Write x.compute(){instead}")
    if library == "jax" and type(x).__name__.endswith("Tracer"):
        return ArgumentTypeError(
            f"{what}a traced array of JAX, of shape {tuple(x.shape)}, has no values yet, and its dims have no names. "
            "Write g = xt.to_jax(f, args) for a function f of named arrays, and call g in the function that JAX traces"
        )
    if library == "pytensor" and hasattr(x, "owner"):
        return ArgumentTypeError(
            f"{what}the variable {x} of PyTensor has no values yet. Write g = xt.to_pytensor(f) for a function f of "
            "named arrays, and call g with variables"
        )
    return None


def not_an_array(x: Any, what: str = "") -> Error:
    """The error about an object that cannot be made an array."""
    if found := of_others(x, what):
        return found
    name = with_article(type(x).__name__)
    if isinstance(x, (list, tuple)):
        if x and all(getattr(item, "dims", None) == () for item in x):
            instead = (
                'xt.concat([x, y], "new") makes one of arrays; in place of a list of numbers, pass '
                'xt.array([1.0, 2.0], dims="i") to your function'
            )
        elif any(hasattr(item, "dims") for item in x):
            instead = 'A list of arrays becomes one by xt.concat([x, y], "new"), along a dim of that name'
        else:
            text = brief(x)
            instead = f"Name its dims: xt.array({text if len(text) <= 60 else 'x'}, dims=...)"
        return ArgumentTypeError(f"{what}{name} is not an array. {instead}")
    if type(x).__module__.startswith("xarray.") and type(x).__name__ in ("Variable", "IndexVariable"):
        return ArgumentTypeError(
            f"{what}{name} of xarray is not an array here. Write xr.DataArray(v), or xt.array(v, dims=v.dims)"
        )
    if type(x).__name__ == "Variables":
        return ArgumentTypeError(
            f"{what}a Dataset holds several arrays. Take one by its name, ds[name], or go through all of "
            "them: ds.map(f)"
        )
    if isinstance(x, Unfinished):
        x._refuse()
    if type(x).__name__ == "Dataset":
        return ArgumentTypeError(
            f"{what}a Dataset holds several arrays. Take one by its name, dataset[name], or go "
            "through all of them: xt.tree.map(f, dataset)"
        )
    kind = f"{type(x).__module__}.{type(x).__qualname__}"
    if kind.startswith("pandas.") and hasattr(x, "shape"):
        return unnamed(x, f"{what}{with_article(kind)}", ".values")
    if hasattr(x, "__dlpack__") and not isinstance(x, type):
        return unnamed(x, f"{what}{with_article(kind)}")
    if hasattr(x, "__next__") or isinstance(x, (range, Set, ValuesView)):
        return ArgumentTypeError(f"{what}{name} is not an array. Write xt.array(list(..), dims=...)")
    if type(x).__name__ == "Spec" and hasattr(x, "dims"):
        return ArgumentTypeError(f"{what}{x!r} has no values. Give an array, or pass it to xt.jit(f).lower(..)")
    instead = ""
    if x is None:
        instead = ". A function without return gives None"
    elif isinstance(x, Number):  # a Fraction or a Decimal
        instead = ". Write float(x)"
    elif isinstance(x, str):
        instead = ". Write float(text) for the number in a text"
    return ArgumentTypeError(f"{what}expected an array, a DataArray or a number, got {in_words(x)}{instead}")
