"""Which parameters of a public function take arrays: those annotated with ArrayLike of `ops/types.py`."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from ..base.refusals import not_an_array
from ..values.kinds import TAKES_ARRAYS


class Takes(enum.IntEnum):
    """Whether a parameter takes arrays."""

    NONE = 0
    ONE = 1
    SEVERAL = 2

    @classmethod
    def of(cls, hint: Any) -> Takes:
        """By an annotation: ArrayLike, a union with it, or a collection of it."""
        if TAKES_ARRAYS in getattr(hint, "__metadata__", ()):
            return cls.ONE
        inner = max(map(cls.of, get_args(hint)), default=cls.NONE)
        return inner if not inner or get_origin(hint) in (Union, UnionType) else cls.SEVERAL

    def check(self, x: Any) -> None:
        """Lists are refused here: later their numbers are arrays."""
        if self is Takes.ONE and type(x) in (list, tuple, dict):
            raise not_an_array(x)


_code = functools.cache(functools.partial(compile, filename="<annotation>", mode="eval"))


@functools.cache
def _takes(annotation: str, module: str) -> Takes:
    """By an annotation in a module: what its names mean there."""
    return Takes.of(eval(_code(annotation), vars(sys.modules[module])))


class Parameters:
    """The parameters of a public function, by position and by name."""

    __slots__ = ("by_name", "positional", "rest", "take_lists")

    def __init__(self, fn: Callable[..., Any]) -> None:
        # The code object says at once what `inspect.signature` takes long to find out.
        code = fn.__code__
        takes = {k: _takes(hint, fn.__module__) for k, hint in fn.__annotations__.items() if k != "return"}
        names, named = code.co_varnames, code.co_argcount + code.co_kwonlyargcount
        self.by_name = {name: takes.get(name, Takes.NONE) for name in names[:named]}
        self.positional = [(name, self.by_name[name]) for name in names[: code.co_argcount]]
        has_rest = code.co_flags & inspect.CO_VARARGS
        self.rest = takes.get(names[named], Takes.NONE) if has_rest else Takes.NONE
        self.take_lists = any(t is Takes.SEVERAL for _, t in self.positional)

    def given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[str, Takes, Any]]:
        """The arguments of a call, each with the name of its parameter, "" where it has none of its own."""
        more = [("", self.rest)] * (len(args) - len(self.positional))
        found = [(name, takes, x) for (name, takes), x in zip([*self.positional, *more], args, strict=False)]
        return found + [(k, self.by_name.get(k, Takes.NONE), x) for k, x in kwargs.items()]
