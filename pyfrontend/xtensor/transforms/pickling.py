"""Pickles of transformed functions: by name if they have one, else by what they were made from.

A pickle also has the compiled code of the function (compiler/carried.py).

Pickle refers to a decorated function by its name. Picklers that carry the functions of `__main__` by value
(cloudpickle, and with it joblib and Dask) do this for plain functions only. So a copy of the inner function, with
its own name `f._body`, represents a named one. Plain pickle refers to that copy, and the other picklers carry it.
A function that plain pickle cannot find, such as a lambda, is an error here, which says what to write.
"""

from __future__ import annotations

import functools
import gc
import pickle
import sys
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from ..base.errors import ArgumentTypeError, Error, users_frames
from ..compiler.carried import Carried
from .received import shared

_BODY = "_body"


class Pickled:
    """What `self._made()` says, (function, maker, more), gives it again as ``maker(function, *more)``."""

    __slots__ = ()

    if TYPE_CHECKING:
        __qualname__: str

    def _made(self) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
        raise NotImplementedError

    def _carried(self) -> Carried | None:
        """The programs that were compiled for the function."""
        return None

    def _receive(self, carried: Carried) -> None:
        """Takes note of what came beside the function: its own pickles have it, too."""

    @property
    def _body(self) -> Any:
        """The function inside, under a name of its own; it knows what is made of it."""
        fn, make, more = self._made()
        if not isinstance(fn, FunctionType):
            raise AttributeError(_BODY)
        kept = self.__dict__.get(_BODY)
        if kept is None:
            kept = self.__dict__.setdefault(_BODY, _renamed(fn, f"{self.__qualname__}.{_BODY}"))
        kept.__dict__["_made"] = (make, more)
        return kept

    def __reduce_ex__(self, protocol: Any) -> Any:
        fn, make, more = self._made()
        carried = self._carried()
        if _found(self.__module__, getattr(self, "__qualname__", "")) is not self:
            check_found(fn)
            return (make, (fn, *more)) if carried is None else (remade, (carried, make, fn, *more))
        if protocol < 4 or not isinstance(fn, FunctionType):  # no names with dots, no copy
            return self.__qualname__
        return again, (self._body,) if carried is None else (self._body, carried)

    def __dask_tokenize__(self) -> Any:
        """What tells the function from others, for Dask: without the code, which differs from call to call."""
        from dask.base import normalize_token

        return normalize_token((type(self).__name__, *self._made()))


def remade(carried: Carried, make: Callable[..., Any], fn: Callable[..., Any], *more: Any) -> Any:
    """The function, once its code is there."""
    return _known_by(carried, make(fn, *more))


def _known_by(carried: Carried | None, made: Any) -> Any:
    """`made`, or the object of an earlier pickle of the same function."""
    if carried is None or not carried.is_received:
        return made
    found = shared(carried.token, made)
    found._receive(carried)
    return found


def again(body: Any, carried: Carried | None = None) -> Any:
    """The function whose `_body` this is; another one made of it, where it was carried by value. carried: its code,
    which is there now."""
    name = body.__qualname__.removesuffix(f".{_BODY}")
    there = _found(body.__module__, name)
    if isinstance(there, Pickled) and there.__dict__.get(_BODY) is body:
        return there
    if "_made" not in body.__dict__:
        return _Later(body)
    if "_is" not in body.__dict__:
        make, more = body.__dict__["_made"]
        fn = _renamed(body, name)
        del fn.__dict__["_made"]
        body.__dict__["_is"] = _known_by(carried, make(fn, *more))
    return body.__dict__["_is"]


class _Later:
    """Stands for a function that is being read: something inside of it, as a rule, refers to it."""

    def __init__(self, body: Any) -> None:
        self.__dict__["_stands_for"] = body

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return again(self._stands_for)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_stands_for" or "_made" not in self._stands_for.__dict__:
            raise AttributeError(name)
        return getattr(again(self._stands_for), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return again(self._stands_for).__reduce_ex__(protocol)


class InProcess:
    """A function that holds code and values of this process. Its errors do not show frames of this package. `op`: the
    public function that returns it; `instead`: how another process gets it."""

    def __init__(self, fn: Callable[..., Any], op: str, instead: str) -> None:
        functools.update_wrapper(self, fn)
        self._fn, self._op, self._instead = fn, op, instead

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._fn(*args, **kwargs)
        except Error as error:
            raise error.with_traceback(users_frames(error.__traceback__)) from None

    def __repr__(self) -> str:
        return f"<function {self._fn.__name__} of xt.{self._op}>"

    def __copy__(self) -> InProcess:
        return self

    def __deepcopy__(self, memo: object) -> InProcess:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"xt.{self._op}: the function {self._fn.__name__!r} cannot be pickled: it holds code and values of this "
            f"process. Pickle f and its arguments, and write {self._instead} in the other process"
        )


def check_found(fn: Any) -> None:
    """An error if pickle is about to store a function by its name, and would not find it by that name."""
    if not isinstance(fn, FunctionType) or _found(fn.__module__, fn.__qualname__) is fn or _is_by_value():
        return
    where = f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
    if fn.__name__ == "<lambda>":
        what, why, name = "a lambda", "it has none", "f"
    else:
        what, name = f"the function {fn.__name__!r}", fn.__name__
        inside = "<locals>" in fn.__qualname__
        why = "this one is inside of another function" if inside else "its module has another object by this name"
    raise ArgumentTypeError(
        f"{what} ({where}) cannot be pickled: pickle stores the name of a function, and {why}. Write def {name}(..) at "
        "the top level of a module, or use cloudpickle.dumps, which stores the code"
    )


def _is_by_value() -> bool:
    """Whether the pickler at work may store functions in its own way, as that of cloudpickle does. Pickle does not say
    which pickler calls: its methods are on the stack, or one is there of a class that someone derived."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if any(isinstance(x, (pickle.Pickler, pickle._Pickler)) for x in frame.f_locals.values()):
            return True
        frame = frame.f_back
    own = tuple(
        kind
        for kind in _derived(pickle.Pickler)
        if "cloudpickle" not in kind.__module__ and ("reducer_override" in vars(kind) or "persistent_id" in vars(kind))
    )
    return bool(own) and any(issubclass(type(x), own) for x in gc.get_objects())


def _derived(kind: type[Any]) -> Iterator[type[Any]]:
    below: type[Any]
    for below in kind.__subclasses__():
        yield below
        yield from _derived(below)


def _found(module: Any, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _renamed(fn: FunctionType, name: str) -> FunctionType:
    new = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    new.__dict__.update(fn.__dict__)
    new.__kwdefaults__ = fn.__kwdefaults__
    new.__annotations__ = fn.__annotations__
    new.__module__, new.__qualname__, new.__doc__ = fn.__module__, name, fn.__doc__
    return new
