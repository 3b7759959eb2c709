"""`op`: what makes a function over tracers a public one. Inside a trace it runs inline; on concrete arrays it is
traced and compiled once per argument types, and from then on found by C++ without any Python."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
import pickle
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np

from .. import _native
from ..base.calls import Flags, checked, misfit
from ..base.dims import brief, ordered
from ..base.errors import ArgumentTypeError, Error
from ..base.lacking import lacks, ufunc_method_instead
from ..trace.lift import as_tracer
from ..trace.program import Program, trace
from ..trace.scope import local, tracing
from ..trace.tracer import Tracer, as_weak
from ..values import options, targets
from ..values.kinds import kind_in
from ..values.spec import Spec, spec_of_type
from .arguments import weak_arrays
from .checked import check
from .compilations import History, Key, static_of
from .entry import Entry, Function
from .opened import (
    LARGEST,
    Families,
    Family,
    Follows,
    FollowsInOrder,
    InOrder,
    Opened,
    Programs,
    Within,
    any_number,
    apart,
    generic,
    room,
    with_amounts,
)
from .parameters import Parameters
from .scanned import Scanned, items, with_tracers
from .spelling import spelling_of_op

__all__ = ["Op", "as_tracer", "op", "tracing"]

P = ParamSpec("P")
R = TypeVar("R")


class Op(Function):
    """A public function over arrays."""

    __name__: str

    def __repr__(self) -> str:
        return f"<function xtensor.{self.__name__}>"

    def __reduce__(self) -> Any:
        here = ("linalg", "nn", "random", "signal", "testing", "tree")
        rooms = ("xtensor", *(f"xtensor.{room}" for room in here), self.__module__)
        for place in rooms:
            if getattr(sys.modules.get(place), self.__name__, None) is self:
                return _public, (place, self.__name__)
        raise pickle.PicklingError(f"{self!r} is not found by its name in any of {', '.join(rooms)}")

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, ufunc_method_instead(self.__name__, name))


def _public(room: str, name: str) -> Any:
    """A function of ours that was pickled."""
    return getattr(importlib.import_module(room), name)


# The parameters of the wide forms of functions (`op(wide=)`) whose numbers are amounts.
_NUMBERS = frozenset({"amounts", "constant_values"})

# Elements along new dims that a program for all sizes makes.
_LARGEST_NEW = 1 << 20
_OPTIONS, _DEVICE = 1, 2  # where the key of a call has them
_KEYS = 4  # where those of its arguments begin
_SPELLINGS = 4  # of one program, if calls are prepared: with a list, an array and so on
_programs = Programs()
_families = Families()


class _Eager:
    """Calls of a public function: inline while tracing, else through its compiled signatures."""

    __slots__ = (
        "amounts",
        "decide",
        "each_size",
        "flags",
        "fn",
        "function",
        "history",
        "joins",
        "name",
        "parameters",
        "sizes",
        "static",
        "wide",
    )

    def __init__(
        self,
        fn: Callable[..., Any],
        static: Callable[..., Any] | None,
        name: str | None,
        decide: Sequence[str] | None,
        amounts: Mapping[str, Within],
        each_size: bool,
        joins: bool,
        wide: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
        sizes: Collection[str] = (),
    ) -> None:
        self.fn = fn
        self.amounts = amounts
        self.sizes = sizes
        self.each_size = each_size
        self.parameters = Parameters(fn)
        self.flags = Flags(fn)
        self.name = name or fn.__name__.lstrip("_")
        room = fn.__module__.removeprefix("xtensor.")
        if room.partition(".")[0] in ("linalg", "nn", "signal") and fn.__module__ != room:
            self.name = f"{room.partition('.')[0]}.{self.name}"  # xt.nn.softmax
        self.static = static
        self.joins = joins
        self.function: Any = None
        self.history: History | None = None  # once a call is compiled
        self.decide = decide
        self.wide: tuple[Callable[..., Any], _Eager] | None = None
        if wide is not None:
            plan, body = wide
            inner = _Eager(body, None, self.name, decide, dict.fromkeys(_NUMBERS, any_number), False, joins)
            inner.name, inner.function = self.name, Op(inner)
            self.wide = plan, inner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if tracing():
                return self.inline(args, kwargs)
            return self.eager(args, kwargs)
        except Error as error:
            if error.of_value:  # perhaps of a traced array in the place of an option
                error = misfit(self.name, self.fn, args, kwargs) or error
            error.of(self.name, (*args, *kwargs.values()))
            raise error from None
        except (TypeError, ValueError, AttributeError):
            wrong = misfit(self.name, self.fn, args, kwargs)
            if wrong is None:
                raise
        raise wrong

    def of_memory(self, error: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Names the function in an error of a call that C++ made."""
        if isinstance(error, Error):
            error.of(self.name, (*args, *kwargs.values()))

    def inline(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The body, as a part of what is being traced."""
        before = local.op, local.arguments
        if self.flags.kinds:
            self.flags.check(self.name, args, kwargs)
        if not local.op:
            local.op, local.arguments = self.name, (*args, *kwargs.values())
        try:
            result = self.fn(*args, **kwargs)
        finally:
            local.op, local.arguments = before
        result = self.mark(result, args, kwargs)
        if self.joins and not before[0]:
            joined = [x for x in args if isinstance(x, Tracer)]
            if kwargs or self.parameters.take_lists:
                given = itertools.chain.from_iterable(map(items, (*args, *kwargs.values())))
                joined = [x for x in given if isinstance(x, Tracer)]
            if len(joined) > 1:
                first = result if isinstance(result, Tracer) else result[0]
                first.scope.root.join(first.value, self.name, joined)
        return result

    def mark(self, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What has no dims is weak where all that decides its dtype is."""
        several = isinstance(result, tuple)
        parts = list(result) if several else [result]
        scalars = [i for i, y in enumerate(parts) if isinstance(y, Tracer) and not y.spec.dims]
        if not scalars:
            return result
        weak = self.is_weak(args, kwargs)
        for i in scalars:
            parts[i] = as_weak(parts[i], weak)
        if not several:
            return parts[0]
        return result._make(parts) if hasattr(result, "_make") else tuple(parts)

    def is_weak(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether Python numbers alone, or what was computed from them, decide the result's dtype."""
        found = False
        for name, takes, x in self.parameters.given(args, kwargs):
            if self.decide is not None and name not in self.decide:
                continue
            for item in items(x):
                if isinstance(item, Tracer):
                    weak = item.weak
                elif (kind := kind_in(item, bool(takes))) is not None:
                    weak = kind.weak(item)
                else:
                    continue
                if not weak:
                    return False
                found = True
        return found

    def eager(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        written = args, kwargs
        if self.static is not None:
            args, kwargs = self.static(*args, **kwargs)
        result = self.result(self.scan(args, kwargs, written))
        if options.current().nan == "raise":
            found = self.scan(args, kwargs)
            check(result, found.arrays, lambda: (self.traced(found, None)[0], targets.CPU))
        return result

    def result(self, found: Scanned) -> Any:
        device = targets.where(found.arrays, found.free, lambda i: f"operand {i}")
        if self.sees_same:
            found.key.append(found.same())
        key = (self, options.current().of_programs, device, bool(found.labelled), *found.key)
        try:
            entry = _programs.entries.get(key)
        except TypeError:
            raise self.unhashable(found.args, found.kwargs) from None
        if entry is None:
            try:
                result = None if _families.is_often(key) else self.opened(key, found)
            except (Error, TypeError, ValueError):  # the program for these very sizes tells of it
                result = None
            if result is not None:
                return result
            entry = self.compile(found, device)
            _programs.add(key, self.function.retire, entry)
        else:
            entry.used = True
        self.register(entry, found, found.told)
        return entry.result(found.arrays, found.labelled)

    def register(self, entry: Entry, found: Scanned, types: Sequence[Any] | None, opened: bool = False) -> None:
        """From now on C++ finds the entry, which tells arrays apart by their types alone. Of a call with static
        arguments, it knows those of texts, numbers and tuples; where such a call fails, the slow path tells of it."""
        if found.told is None or self.sees_same:
            return
        if found.plain and found.told:
            if not entry.is_registered:
                entry.register(self.function, types, opened=opened, limits=found.limits, options=found.options)
            return
        owner, (args, kwargs) = found.owner or self, found.written
        if entry.spellings == (1 if owner.static is None else _SPELLINGS):
            return
        given, prepared = owner.parameters.given(args, kwargs), self.parameters.given(found.args, found.kwargs)
        if owner is not self:
            prepared = [(name, *rest) for (name, _, _), (_, *rest) in zip(given, prepared, strict=False)]
        spelled = spelling_of_op(given, len(args), given if owner.static is None else prepared)
        entry.spellings += spelled is not None or owner.static is None
        if spelled is not None:
            entry.register(owner.function, types, spelled, opened=True, limits=found.limits, options=found.options)

    @property
    def sees_same(self) -> bool:
        """Whether operands that are one array are one in the program, too: what outer="forbid" forbids needs it."""
        return self.name == "dot" and options.current().outer == "forbid"

    def scan(self, args: Sequence[Any], kwargs: Mapping[str, Any], written: Any = None) -> Scanned:
        """`written`: the call as the user wrote it, if the arguments are prepared."""
        found = Scanned(args, kwargs, written or (args, kwargs), options.current().of_programs)
        for i, (name, takes, x) in enumerate(self.parameters.given(args, kwargs)):
            if i >= len(args):
                found.key.append(name)
            if i >= len(args) or not takes:
                found.plain = False
            takes.check(x)
            found.amount = self.amounts.get(name)
            found.scan(x, bool(takes))
        return found

    def opened(self, call: tuple[Any, ...], found: Scanned) -> Any:
        """The result of a program that serves other sizes and amounts, too; None where there is no such program."""
        if self.wide is not None and not found.labelled:
            plan, inner = self.wide
            wider = plan(*found.args, **found.kwargs)
            scanned = None if wider is None else inner.scan(wider, {})
            if scanned is not None and isinstance(wider, Follows):
                scanned.owner, scanned.written = self, found.written
            large = isinstance(wider, (InOrder, FollowsInOrder))
            if scanned is not None and (large or all(x.size <= LARGEST for x in scanned.arrays)):
                key = (inner, call[_OPTIONS], call[_DEVICE], False, *scanned.key)
                return inner.opened(key, scanned)
        has_rooms = bool(self.sizes) and not found.labelled
        if has_rooms:
            found = self.scan(*self.with_rooms(found.args, found.kwargs, call[_DEVICE]))
            call = (*call[:_KEYS], *found.key)
        met = None if self.each_size else generic(call, [len(call) - len(found.key) + i for i in found.at])
        if met is None:
            return None
        key, sizes = met
        family, opened = _families.meet(key, sizes, found.numbers)
        if opened is None:
            return None
        if opened.varying_numbers:
            names = [name for name, _, _ in self.parameters.given(found.args, {})]
            amounts = [self.amounts.get(name) for name in names], self.amounts
            new = with_amounts(found.args, found.kwargs, amounts, opened.varying_numbers)
            owner, written = found.owner, found.written
            found = self.scan(*new, None if self.static is None and owner is None else written)
            found.owner = owner
        key = opened.key, key
        entry = _programs.entries.get(key)
        if entry is None:
            entry = self.open(family, opened, found, call[_DEVICE])
            if entry is None:
                return None
            _programs.add(key, (found.owner or self).function.retire, entry)
        else:
            entry.used = True
        if not has_rooms:
            types = [t if isinstance(t, type) else None for t in found.told or ()]
            self.register(entry, found, types if any(types) else None, opened=True)
        return entry.result(found.arrays, found.labelled)

    def with_rooms(self, args: Sequence[Any], kwargs: Mapping[str, Any], device: Any) -> Any:
        """The arguments of a call, with an array in place of each size of a new dim: its own size is the one."""

        def replaced(name: str, x: Any) -> Any:
            if name not in self.sizes:
                return x
            found = x if isinstance(x, dict) else {apart(name): x}
            if math.prod(n for n in found.values() if type(n) is int) > _LARGEST_NEW:
                return x
            new = {d: room(d, n, device) if type(n) is int and n > 1 else n for d, n in found.items()}
            return new if isinstance(x, dict) else new[apart(name)]

        new = [replaced(name, x) for name, _, x in self.parameters.given(args, kwargs)]
        return tuple(new[: len(args)]), dict(zip(kwargs, new[len(args) :], strict=True))

    def sized(self, name: str, x: Any) -> Any:
        """An argument of the body: the sizes that `with_rooms` told by arrays."""
        if name not in self.sizes:
            return x

        def size(dim: str, n: Any) -> Any:
            """An array that a caller gave for a size stays, and is an error."""
            return n.sizes[dim] if isinstance(n, Tracer) and n.dims == (dim,) and n.dtype == np.bool_ else n

        return {d: size(d, n) for d, n in x.items()} if isinstance(x, dict) else size(apart(name), x)

    def open(self, family: Family, opened: Opened, found: Scanned, device: _native.Device | None) -> Entry | None:
        """The program of a family, if the function needs not know what varies."""
        try:
            entry = self.compile(found, device, opened.varying)
        except (Error, TypeError, ValueError):
            family.refused = True
            raise
        # What a device tells later names the sizes of the program.
        family.refused = device is not None and bool(entry.executable.sites)
        return None if family.refused else entry

    def compile(self, found: Scanned, device: _native.Device | None, varying: frozenset[str] = frozenset()) -> Entry:
        """`varying`: dims of which the program serves every size."""
        program, specs = self.traced(found, device, varying)
        entry = Entry(program, bool(found.labelled), device, inline=True)
        key = self.key(specs, found, device)
        wide = (f"from now on one program serves every size of {', '.join(sorted(varying))}",) if varying else ()
        if self.history is None:
            self.history = History(self.name)
        self.history.add(program, key, (*self.history.reasons(key), *wide))
        return entry

    def traced(
        self, found: Scanned, device: _native.Device | None, varying: frozenset[str] = frozenset()
    ) -> tuple[Program, list[Spec]]:
        """The program of a call, and what it takes."""
        specs = [s if isinstance(s, Spec) else spec_of_type(s) for s in found.specs]
        if varying:
            sizes = [[None if d in varying else n for d, n in zip(s.dims, s.shape, strict=True)] for s in specs]
            specs = [Spec._of(s.dims, n, s.dtype, s.weak) for s, n in zip(specs, sizes, strict=True)]

        args, kwargs = found.args, found.kwargs
        same = found.same() if self.sees_same else range(len(specs))

        def body(tracers: list[Tracer]) -> Any:
            left = iter([tracers[i] for i in same])
            given = self.parameters.given(args, kwargs)
            new = [self.sized(name, with_tracers(x, bool(takes), left)) for name, takes, x in given]
            return self.inline(new[: len(args)], dict(zip(kwargs, new[len(args) :], strict=True)))

        local.alone, local.labelled = True, bool(found.labelled)
        try:
            return trace(body, specs, self.name, target=targets.target_of(device)), specs
        finally:
            local.alone = local.labelled = False

    def key(self, specs: Sequence[Spec], found: Scanned, device: _native.Device | None) -> Key:
        """What a program of a call is compiled for."""
        names: list[str] = []
        static: dict[str, tuple[str, type, Any]] = {}
        spelled: dict[str, str] = {}
        for i, (name, takes, x) in enumerate(self.parameters.given(found.args, found.kwargs)):
            here = Scanned()
            here.scan(x, bool(takes))
            count = len(here.specs)
            called = name or str(i)
            spelled[called] = "by position" if i < len(found.args) else "by keyword"
            names += [called] if count == 1 else [f"{called}[{j}]" for j in range(count)]
            if not count:
                static[called] = static_of(x, tuple(here.key))
        where = device.name if device else "cpu"
        how = found.options, where, tuple(specs), tuple(names), static
        weak = weak_arrays(found.specs)
        return Key(*how, given=spelled, is_labelled=bool(found.labelled), is_jitted=False, weak=weak)

    def unhashable(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Error:
        named = [
            *((f"argument {i}", x) for i, x in enumerate(args)),
            *((f"{k}=", x) for k, x in kwargs.items()),
        ]
        for what, x in named:
            try:
                hash(x)
            except TypeError:
                for item in items(x):
                    ordered(item)
                if not isinstance(x, (list, dict, slice, np.ndarray)):
                    return ArgumentTypeError(f"xt.{self.name}: {what} is an unhashable {type(x).__name__}: {brief(x)}")
        return ArgumentTypeError(f"xt.{self.name}: an argument that is not an array must be hashable")


@overload
def op(fn: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def op(
    *,
    static: Callable[..., Any] | None = None,
    name: str | None = None,
    decide: Sequence[str] | None = None,
    amounts: Mapping[str, Within] | None = None,
    each_size: bool = False,
    joins: bool = False,
    wide: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
    sizes: Collection[str] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def op(
    fn: Any = None,
    /,
    *,
    static: Any = None,
    name: str | None = None,
    decide: Any = None,
    amounts: Any = None,
    each_size: bool = False,
    joins: bool = False,
    wide: Any = None,
    sizes: Collection[str] = (),
) -> Any:
    """Makes a function over tracers a public one, for tracers and concrete arrays alike.

    Parameters annotated with ArrayLike take arrays; so does any argument that holds an Array. Everything else is
    static: hashable, and part of what is compiled for. `name` is how errors call the function, by default its own
    without underscores in front. A result without dims is weak where all arrays that are given are; `decide` names the
    parameters that count (none: it never is).

    static: `static(*args, **kwargs) -> (args, kwargs)` prepares the arguments of a call that is not traced, which
    parameters keep. What it makes of static arguments depends on these and on the types of arrays alone. An int64 array
    in the place of an int, of a list of ints or of a NumPy array holds these ints.

    amounts: parameters whose Python numbers only say how far or how much, each with the numbers that do. Where they
    vary, the function is traced with an `Amount` in place of a number.
    each_size: compiled once per size, because it knows too much of its sizes to serve others as well.
    joins: puts elements of several arrays together by name, so that their coordinates must agree.
    wide: (plan, body), for results whose sizes do not follow from those of the arguments. `plan` takes the arguments of
    a call, and gives those of `body`, or None. These have a dim of its own name for each size, and a `room` for each
    new size. `body` is traced in place of the function where sizes vary; its parameters `amounts` and
    `constant_values` hold amounts.
    sizes: parameters that are the size of a new dim, or a dict of sizes by name. Where they vary, the function is
    traced with a `DynamicSize` in place of each.
    """
    if fn is None:
        how = {
            "static": static,
            "name": name,
            "decide": decide,
            "amounts": amounts,
            "each_size": each_size,
            "joins": joins,
            "wide": wide,
            "sizes": sizes,
        }
        return functools.partial(_make, **how)
    return _make(fn, static, name, decide, amounts, each_size, joins, wide, sizes)


def plain(fn: Callable[P, R], name: str | None = None) -> Callable[P, R]:
    """A public function that calls others, with the errors and the short tracebacks that they have. `name`: what errors
    call it, by default its own."""
    found: Callable[P, R] = functools.update_wrapper(Op(checked(fn, trim=False, name=name)), fn, updated=())
    return found


def _make(
    fn: Any,
    static: Any,
    name: str | None,
    decide: Sequence[str] | None,
    amounts: Any = None,
    each_size: bool = False,
    joins: bool = False,
    wide: Any = None,
    sizes: Collection[str] = (),
) -> Any:
    slow = _Eager(fn, static, name, decide, amounts or {}, each_size, joins, wide, sizes)
    function = Op(slow)
    functools.update_wrapper(function, fn, updated=())
    slow.function = function
    return function
