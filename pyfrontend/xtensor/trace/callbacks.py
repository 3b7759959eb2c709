"""Python functions that compiled code calls. A program names one by its number in this process."""

from __future__ import annotations

import functools
import itertools
import threading
import warnings
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import BuiltinMethodType, MethodType
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from .. import _native
from ..base import dtypes, tree
from ..base.errors import user_line
from ..base.identity import identity
from ..ir import context as c
from ..values.array import Array
from ..values.spec import Spec
from ..values.targets import placed
from . import emit
from .scope import current
from .tracer import Tracer

# Called with the position of the instance by vectorized dim, the arrays, and what its results are. Returns these as
# NumPy arrays.
Function: TypeAlias = Callable[[Mapping[str, int], list[Array], list[Spec]], Sequence[np.ndarray[Any, Any]]]


class _Known:
    """A function with its number. Programs that call it hold this, and their code does: it lives as long as they."""

    __slots__ = ("__weakref__", "function", "key", "number")

    def __init__(self, function: Function, number: int, key: Hashable) -> None:
        self.function, self.number, self.key = function, number, key


_by_number: WeakValueDictionary[int, _Known] = WeakValueDictionary()
_by_key: WeakValueDictionary[Hashable, _Known] = WeakValueDictionary()
_numbers = itertools.count()  # none is used again: code may be found by the text that has it
_lock = threading.Lock()


class _Local(threading.local):
    now = False  # exporting
    told: frozenset[str] = frozenset()  # warnings of this export: a body may be traced more than once
    before: tuple[_Known, ...] = ()  # what the program called when it was traced first, in order


_local = _Local()
# What a bundle does not have, and these calls need.
_LACKS = {
    "debug.print": "prints nothing: it has no Python to fill in the text",
    "debug.backward": "prints no cotangents: it has no Python to fill in the text",
    "debug.breakpoint": "stops nowhere: it has no Python whose debugger could open",
}


def exporting() -> bool:
    """Whether what is being traced becomes a bundle, which has no Python."""
    return _local.now


def left_out(op: str) -> bool:
    """Whether what is being traced becomes a bundle, which calls of `op` do not come into. Then warns of this one."""
    if not exporting():
        return False
    where = user_line()
    text = f"xt.{op} is left out of the bundle, which {_LACKS[op]}"
    if f"{text}{where}" in _local.told:
        return True
    _local.told |= {f"{text}{where}"}
    if where is None:
        warnings.warn(text, stacklevel=2)
        return True
    file, _, line = where.rpartition(":")
    warnings.warn_explicit(f"{text} (at {where})", UserWarning, file, int(line))
    return True


@contextmanager
def for_bundle() -> Iterator[None]:
    """What is traced meanwhile becomes a bundle."""
    before, _local.now, _local.told = _local.now, True, frozenset()
    try:
        yield
    finally:
        _local.now = before


def meaning(x: Any) -> Hashable:
    """Part of a key: equal for values of one meaning only. What cannot be hashed is equal to nothing."""
    try:
        return identity(x)
    except TypeError:
        return object()


def meanings(structure: tree.TreeDef) -> Hashable:
    """Part of a key: as `meaning`, of all keys and classes of a pytree."""
    return structure.kind, meaning(structure.meta), *map(meanings, structure.children)


class Which(NamedTuple):
    """Part of a key: equal for one function only, while the key is there."""

    identity: Hashable
    code: Hashable  # what functions that one line makes have in common


def which(f: Callable[..., Any]) -> Which:
    """Methods are made anew each time that they are read."""
    if isinstance(f, MethodType):
        return Which((id(f.__self__), f.__func__), _code_of(f))
    if isinstance(f, BuiltinMethodType):
        return Which((id(f.__self__), f.__name__), _code_of(f))
    return Which(id(f), _code_of(f))


def _code_of(f: Any) -> Hashable:
    if isinstance(f, functools.partial):
        return functools.partial, _code_of(f.func)
    if isinstance(f, MethodType):
        return MethodType, _code_of(f.__func__)
    if isinstance(f, BuiltinMethodType):
        return type(f.__self__), f.__name__
    return type(f), getattr(f, "__code__", None)


def _alike(key: Any) -> Any:
    """A key without what is made anew each time that a function is traced."""
    if isinstance(key, Which):
        return key.code
    return tuple(map(_alike, key)) if type(key) is tuple else object if type(key) is object else key


@contextmanager
def as_before(called: Collection[Any]) -> Iterator[None]:
    """What is traced meanwhile was traced before, and calls these functions: one that a lambda makes again is the one
    that it made then. So an equal program is known as such, and calls what ran."""
    before, _local.before = _local.before, tuple(sorted(called, key=lambda known: known.number))
    try:
        yield
    finally:
        _local.before = before


def _known_before(key: Hashable) -> _Known | None:
    """The first function of before that is made by the same code as the one with this key, and not used yet."""
    found = next((known for known in _local.before if known.key == key), None)
    if found is None and _local.before:
        same = _alike(key)
        found = next((known for known in _local.before if _alike(known.key) == same), None)
        _local.before = tuple(known for known in _local.before if known is not found)
    return found


def _number_of(function: Function, key: Hashable) -> int:
    """The number of `function` in the program that is being traced. Functions with equal keys do the same, so that
    equal programs are compiled once."""
    with _lock:
        known = _known_before(key) or _by_key.get(key)
        if known is None:
            known = _Known(function, next(_numbers), key)
            _by_key[key] = _by_number[known.number] = known
    current().root.called.add(known)
    return known.number


def call(
    label: str,
    function: Function,
    key: Hashable,
    args: Sequence[Tracer],
    results: Sequence[Spec] = (),
    *,
    ordered: bool = False,
    together: bool = False,
) -> list[Tracer]:
    """Adds a call of `function`. ordered: it has effects. together: it takes all instances of a vectorize at once."""
    attributes = {
        "label": c.string_attribute(label),
        "number": c.integer_attribute(_number_of(function, key)),
        **({"ordered": c.unit_attribute()} if ordered else {}),
        **({"together": c.unit_attribute()} if together else {}),
    }
    op = emit.emit("callback", args, attributes, [c.array_type(s) for s in results])
    return [Tracer(v, spec=s) for v, s in zip(op.results, results, strict=True)]


def _view(
    memory: memoryview,
    dtype: str,
    dims: tuple[str, ...],
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> tuple[np.ndarray[Any, Any], tuple[str, ...]]:
    """The elements; the parts of complex numbers are last."""
    values: np.ndarray[Any, Any] = np.ndarray(sizes, dtypes.BY_NAME[dtype], memory, offset, strides)
    if c.PAIR in dims:
        at = dims.index(c.PAIR)
        values, dims = np.moveaxis(values, at, -1), (*dims[:at], *dims[at + 1 :], c.PAIR)
    return values, dims


def _array(values: np.ndarray[Any, Any], dims: tuple[str, ...]) -> Array:
    """A copy: the memory belongs to the call."""
    values = np.array(values, order="C")
    if dims[-1:] == (c.PAIR,):
        values, dims = values.view(dtypes.complex_of(values.dtype))[..., 0], dims[:-1]
    made: Array = placed(_native.from_buffer(values, dims), "cpu")  # dims may have names that users cannot write
    return made


def _spec(values: np.ndarray[Any, Any], dims: tuple[str, ...]) -> Spec:
    if dims[-1:] == (c.PAIR,):
        return Spec._of(dims[:-1], values.shape[:-1], dtypes.complex_of(values.dtype))
    return Spec._of(dims, values.shape, dtypes.as_dtype(values.dtype))


def _called(number: int, instances: tuple[str, ...], ins: int, arrays: tuple[Any, ...]) -> None:
    """What compiled code calls."""
    views = [_view(*x) for x in arrays]
    first = ins - len(instances)
    where = {name: int(values) for name, (values, _) in zip(instances, views[first:ins], strict=True)}
    given = [_array(*x) for x in views[:first]]
    results = _by_number[number].function(where, given, [_spec(*x) for x in views[ins:]])
    for (view, dims), y in zip(views[ins:], results, strict=True):
        if dims[-1:] == (c.PAIR,):
            view[..., 0], view[..., 1] = y.real, y.imag
        else:
            view[...] = y


_native.set_callback(_called)
