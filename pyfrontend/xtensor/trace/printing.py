"""Prints values of compiled code: a text with fields, filled in when the program gets there."""

from __future__ import annotations

import builtins
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.dims import batched, describe
from ..base.errors import ArgumentError, ArgumentTypeError, Error, user_line
from ..labels.xarray import is_dataarray, values_of
from ..values.array import Array, from_values
from ..values.spec import Spec
from . import callbacks
from .lift import as_tracer
from .scope import tracing
from .tracer import DynamicSize, Tracer


def show(text: str, args: tuple[Any, ...], kwargs: dict[str, Any], op: str) -> None:
    """Prints `text` with its fields filled in: now, or each time that the program being traced gets here."""
    if any(map(is_dataarray, tree.leaves((args, kwargs)))):
        args, kwargs = tree.map(_bare, (args, kwargs))
    _check(text, args, kwargs, op)
    leaves, structure = tree.flatten((args, kwargs))
    if not tracing():
        _Print(op, text, structure, leaves)({}, [], [])
        return
    if callbacks.left_out(op):
        return
    places = [i for i, x in enumerate(leaves) if isinstance(x, (Tracer, DynamicSize))]
    arrays = [as_tracer(leaves[i]) for i in places]
    for i in places:
        leaves[i] = None
    line = user_line()
    function = _Print(op, text, structure, leaves, places, line)
    key = (_Print, op, text, line, callbacks.meanings(structure), *places, *map(callbacks.meaning, leaves))
    callbacks.call(text, function, key, arrays, ordered=True)


def _bare(x: Any) -> Any:
    """A DataArray is printed as it is in compiled code, which has its values."""
    return values_of(x) if is_dataarray(x) else x


class _Print:
    """The leaves at `places` are those that a call gets. line: of the user's program; by default that of the call."""

    def __init__(
        self,
        op: str,
        text: str,
        structure: tree.TreeDef,
        leaves: Sequence[Any],
        places: Sequence[int] = (),
        line: str | None = None,
    ) -> None:
        self.line = line
        self.op, self.text, self.structure, self.leaves, self.places = op, text, structure, leaves, places

    def __call__(self, where: Mapping[str, int], arrays: Sequence[Array], _: Sequence[Spec]) -> Sequence[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.places, arrays, strict=True):
            leaves[i] = x
        args, kwargs = self.structure.unflatten(leaves)
        try:
            line = _Formatter().vformat(self.text, args, kwargs)
        except _OF_FORMATS as error:  # one that only the values show
            raise _does_not_fit(self.op, self.text, error, self.line) from None
        where = {**batched.instance, **where}
        if where:
            line = f"[{', '.join(f'{name}: {at}' for name, at in where.items())}] {line}"
        builtins.print(line)
        return ()


class _Shown:
    """An array in a pytree, on one line."""

    def __init__(self, x: Any) -> None:
        self.text = _text(x, "") if isinstance(x, Array) else repr(x)

    def __repr__(self) -> str:
        return self.text


def _text(x: Array, form: str) -> str:
    if not x.dims:
        return format(x.item(), form)
    values = x.values.astype(np.float32) if x.dtype == dtypes.bfloat16 else x.values
    each: Any = {"all": lambda element: format(element, form)} if form else None
    return f"{np.array2string(values, formatter=each, threshold=200)} {describe(x.dims, x.shape)}"


class _Formatter(string.Formatter):
    """As str.format, but that a format is one of the elements of an array with dims."""

    def __init__(self) -> None:
        self._next = 0

    def parse(self, text: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
        """Gives fields their numbers. Python before 3.14 does not know those of parts, as {.dims}."""
        for literal, name, form, conversion in super().parse(text):
            if name is not None and not _head(name):
                name, self._next = f"{self._next}{name}", self._next + 1
            yield literal, name, form, conversion

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Array):
            return _text(value, format_spec)
        if (
            not format_spec
            and not isinstance(value, _Trial)
            and any(isinstance(x, (Array, _Trial)) for x in tree.leaves(value))
        ):
            value = tree.map(_Shown, value)
        return str(super().format_field(value, format_spec))


# What Python raises where a text does not fit to what it is filled with.
_OF_FORMATS = (ValueError, TypeError, LookupError, AttributeError, OverflowError)


def _does_not_fit(op: str, text: str, error: Exception, line: str | None = None) -> ArgumentError:
    why = error.parts[0] if isinstance(error, Error) else str(error)
    return ArgumentError(f"xt.{op}: {text!r:.60} cannot be filled in: {why or type(error).__name__}", line)


def _head(name: str) -> str:
    """The argument that a field is of."""
    return name.partition(".")[0].partition("[")[0]


class _Part:
    """A part of an array that is not known while the function is traced. It takes each format, and has no items."""

    def __getattr__(self, _: str) -> _Part:
        return self

    def __call__(self, *_: Any) -> _Part:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __getitem__(self, _: Any) -> _Part:
        return self

    def __format__(self, _: str) -> str:
        return ""


class _Trial:
    """Stands for an array while a text is filled in for trial: takes the formats that the array will take."""

    def __init__(self, x: Any) -> None:
        self._one = from_values(np.ones([1] * len(x.dims), x.dtype), x.dims)

    def __getattr__(self, name: str) -> _Part:
        if not hasattr(Array, name):
            raise AttributeError(f"an array has no attribute {name!r}")
        return _Part()

    def __getitem__(self, _: Any) -> _Part:
        return _Part()

    def __format__(self, form: str) -> str:
        return _text(self._one, form)


def _trial(x: Any) -> Any:
    if isinstance(x, DynamicSize):
        return 1
    return _Trial(x) if isinstance(x, (Tracer, Array)) else x


def _fields(text: str) -> Iterator[str]:
    for _, name, form, _ in string.Formatter().parse(text):
        if name is not None:
            yield name
            yield from _fields(form or "")


def _check(text: Any, args: tuple[Any, ...], kwargs: dict[str, Any], op: str) -> None:
    """Refuses a text whose fields are not those that are given, or whose formats are not those of their types."""
    if not isinstance(text, str):
        call = 'xt.debug.print("x: {}", x)' if op == "debug.print" else f'xt.{op}(x, "{{}}")'
        raise ArgumentTypeError(f"xt.{op}: the text is a string, not {type(text).__name__}. Write {call}")
    try:
        names = list(_fields(text))
    except ValueError as error:
        raise ArgumentError(
            f"xt.{op}: {text!r:.60} is not a text with fields: {error}. Write {{{{ for a brace"
        ) from None
    heads = [_head(name) for name in names]
    if "" in heads and any(h.isdigit() for h in heads):
        raise ArgumentError(f"xt.{op}: {text!r:.60} has fields with and without numbers. Write all of them alike")
    used: set[int | str] = {int(h) if h.isdigit() else h for h in heads if h} | set(range(heads.count("")))
    given: set[int | str] = {*range(len(args)), *kwargs}
    if missing := [repr(x) if isinstance(x, str) else x for x in used - given]:
        raise ArgumentError(f"xt.{op}: {text!r:.60} has a field for argument {missing[0]}, which is not given")
    if extra := [repr(x) if isinstance(x, str) else x for x in given - used]:
        field = "{}" if isinstance(extra[0], int) else f"{{{extra[0][1:-1]}}}"
        raise ArgumentError(
            f"xt.{op}: {text!r:.60} has no field for argument {extra[0]}. Write {field} where it is to stand"
        )
    try:
        positional, by_name = tree.map(_trial, (args, kwargs))
    except Exception:
        return  # a class of the user's that looks at its arrays: the line itself shows whether it fits
    try:
        _Formatter().vformat(text, positional, by_name)
    except _OF_FORMATS as error:
        raise _does_not_fit(op, text, error) from None
