"""Options that change what programs mean or where they run, of the process and of a block:
`xt.option(outer="forbid")`.

The values in force are one object per combination, so that compiled calls are told apart by comparing pointers
(native/Function.cpp reads the same context variable).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from .. import _native
from ..base.calls import check_made
from ..base.dims import suggestion
from ..base.dtypes import FLOATS, DType, as_dtype, is_float
from ..base.environment import threads_advice
from ..base.errors import ArgumentError
from .devices import named

_F8 = FLOATS[-1]
_CHOICES: dict[str, tuple[object, object]] = {
    "outer": ("allow", "forbid"),
    "index": ("raise", "clip"),
    "deterministic": (False, True),
    "strict": (False, True),
    "skipna": (False, True),
    "copy": (False, True),
    "log": (None, "compile"),
    "jit": (True, False),
    "nan": ("allow", "raise"),
}
_READ = ("device", "default_float")  # what is not one of a few values
# What JAX has, some with `jax_` in front -> what to write.
_OF_OTHERS = {
    "debug_nans": 'nan="raise"', "debug_infs": 'nan="raise"', "disable_jit": "jit=False",
    "log_compiles": 'log="compile"', "explain_cache_misses": 'log="compile"',
    "enable_x64": 'default_float="f8"', "default_device": 'device="cpu"', "platform_name": 'device="cpu"',
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """outer: may a product of arrays, each without a dim of the other, be formed by accident?
    index: what reading at a position outside of a dim does.
    device: where new arrays are made; None: on the CPU.
    deterministic: do sums and products by position take the order of the indices on a device, too?
    default_float: the dtype of new floats where nothing else decides it.
    strict: is what is often meant otherwise an error: a product of an array with itself that keeps a dim, float64 that
    comes from float32?
    skipna: do reductions and running sums leave NaN out where they are not told?
    copy: have arrays memory of their own, also where they could share that of NumPy, DLPack or xarray?
    jit: do functions of `xt.jit` and `xt.vectorize`, loops and branches run as programs, and not op by op?
    nan: is a result that is not finite, of arguments that are, an error?
    profile: do programs tell when their kernels run? `xt.profile` sets it."""

    outer: str = "allow"
    index: str = "raise"
    device: _native.Device | None = None
    deterministic: bool = False
    default_float: DType = _F8
    strict: bool = False
    skipna: bool = False
    copy: bool = False
    jit: bool = True
    nan: str = "allow"
    profile: bool = False

    @functools.cached_property
    def of_programs(self) -> Options:
        """Those that change programs. A program is the same one under the others."""
        is_one = self.jit and self.nan == "allow"
        return self if is_one else _one(replace(self, jit=True, nan="allow"))


_combinations: dict[Options, Options] = {}


def _one(options: Options) -> Options:
    """The one object that stands for this combination."""
    return _combinations.setdefault(options, options)


_process = _one(Options())
_here: ContextVar[Options | None] = ContextVar("xtensor.option", default=None)
_native.set_options(_process, _here)


# What is logged is no part of `Options`: a program is the same one with it and without.
_NOT_SET: Any = object()
_process_log: str | None = None
_log_here: ContextVar[Any] = ContextVar("xtensor.option.log", default=_NOT_SET)


def logged() -> str | None:
    """What is logged here: "compile", or None."""
    found = _log_here.get()
    return _process_log if found is _NOT_SET else found


def current() -> Options:
    """The options in force here."""
    return _here.get() or _process


def _restore(options: Options | None, log: Any) -> None:
    _here.set(options)
    _log_here.set(log)


def _set_process(log: Any, **changes: Any) -> None:
    global _process, _process_log
    if log is not _NOT_SET:
        _process_log = log
    _process = _one(replace(_process, **changes))
    _native.set_options(_process, _here)


@contextmanager
def under(options: Options, **changes: Any) -> Iterator[None]:
    """These options with these changes are in force here."""
    before = _here.get()
    _here.set(_one(replace(options, **changes)))
    try:
        yield
    finally:
        _here.set(before)


def profiled(on: bool = True) -> AbstractContextManager[None]:
    """Whether programs that are called here tell when their kernels run."""
    return under(current(), profile=on)


def _float(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not is_float(found):
        raise ArgumentError(f'xt.option: default_float= is a dtype of floats, as "f4" or "f8", got {dtype!r}')
    return found


class option:  # noqa: N801 (used like a function)
    """Sets options: called as a function for the whole process, in a `with` statement for its block.

    * `outer="forbid"`: a broadcast in which each operand has a dim that the other does not have is an error.
    * `index="clip"`: reads out of range give the nearest element, and do not raise.
    * `device="vulkan"`: new arrays are made there, and programs without array arguments run there.
    * `deterministic=True`: devices add and multiply floats by position in the order of the indices. Then every run
      gives the same result, and takes longer. The CPU always does so.
    * `default_float="f4"`: new arrays are float32 where neither an array nor dtype= decides it.
    * `strict=True`: as outer="forbid". It also forbids a contraction of an array with itself that keeps a dim, and
      float32 arrays that become float64 because of others.
    * `skipna=True`: reductions leave NaN out, as in xarray, where a call does not give `skipna=`.
    * `copy=True`: arrays over memory of NumPy, DLPack and xarray are copies, which later writes do not change.
    * `jit=False`: functions of `xt.jit` and `xt.vectorize` run op by op, and bodies of loops and branches in Python, so
      that `print` and pdb see values. Functions that are differentiated are traced all the same.
    * `nan="raise"`: after each call the results are checked. For a NaN or an infinity that comes from finite
      arguments, a second run looks for the op that made it, in loops and derivatives too. NonFiniteError tells it.
    * `log="compile"`: the logger "xtensor" tells each compilation with its reason at level INFO, or on stderr where no
      logging is set up. `log=None` ends it. `f.compilations` has the same for one function.

    Other threads and tasks do not see the options of a block. A call outside of `with` holds here at once.
    Elsewhere it holds as soon as its result is dropped, which for a statement is at once.

    Raises:
        ArgumentError: an option does not exist, or has another value.

    Example:
    >>> with xt.option(default_float="f4"):
    ...     print(xt.zeros(time=2).dtype)
    float32
    """

    _entered = True  # until the arguments are read: there is nothing to set

    def __init__(self, **options: Any) -> None:
        if "device" in options:
            options["device"] = named(options["device"])
        if "default_float" in options:
            options["default_float"] = _float(options["default_float"])
        for name, value in options.items():
            if name in _READ:
                continue
            if name not in _CHOICES:
                have = (*_CHOICES, *_READ)
                meant = _OF_OTHERS.get(name.removeprefix("jax_"))
                advice = f". Write xt.option({meant})" if meant else threads_advice(name) or suggestion(name, have)
                raise ArgumentError(f"xt.option: there is no option {name!r}; options are {', '.join(have)}{advice}")
            if value not in _CHOICES[name]:
                allowed = " or ".join(map(repr, _CHOICES[name]))
                raise ArgumentError(f"xt.option: {name}= is {allowed}, got {value!r}")
        if "strict" in options:
            options.setdefault("outer", "forbid" if options["strict"] else "allow")
        self._log = options.pop("log", _NOT_SET)
        self._changes: dict[str, Any] = options
        self._before = [(_here.get(), _log_here.get())]
        self._thread = threading.get_ident()
        self._hold()
        self._entered = False

    def _hold(self) -> None:
        self._mine = _one(replace(current(), **self._changes))
        _here.set(self._mine)
        if self._log is not _NOT_SET:
            _log_here.set(self._log)

    def __enter__(self) -> Options:
        if self._entered or _here.get() is not self._mine:
            self._before.append((_here.get(), _log_here.get()))
            self._hold()
        self._entered = True
        return self._mine

    def __exit__(self, *exc: object) -> None:
        _restore(*self._before.pop())

    def __del__(self) -> None:
        if self._entered:
            return
        _set_process(self._log, **self._changes)
        if threading.get_ident() == self._thread and _here.get() is self._mine:
            # Outside of any block the process's options hold; inside of one the change stays until its end.
            outside = (None, _NOT_SET)
            _restore(*(outside if self._before == [outside] else (self._mine, _log_here.get())))


check_made(option, "option")
