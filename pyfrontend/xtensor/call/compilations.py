"""Compilations: what was compiled, for what, how long it took, and why again. `xt.option(log="compile")` tells each.

The one place that compares what two programs are compiled for. It runs once per compilation, and never when a call
finds its program.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ..base import tree
from ..base.calls import check_methods, shown
from ..base.dims import describe
from ..base.errors import in_package, user_line
from ..base.latest import Latest
from ..values.options import Options, logged
from ..values.spec import Spec
from .arguments import Static, signature_of

if TYPE_CHECKING:
    from ..trace.program import Program

# Compilations that are remembered of one function, those of them that a new one is compared with, and lines of
# functions whose latest ones are remembered.
KEPT, _COMPARED, _MOST_LINES = 256, 32, 1024
_SOURCES = {"disk": "from the cache on disk", "carried": "came with the function", "memory": "loaded already"}
_LEAF = tree.structure(0)
_NUMBER = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?")


@dataclass(frozen=True)
class Compilation:
    """One compilation of a function.

    function: its name. defined, called: FILE:LINE of the function, and of the call that needed the program; None where
    these are not known. arguments: the type of each array, as text. device: where the program runs.
    source: "compiled", "disk" (the cache), "carried" (the code came with a pickled function) or "memory" (an equal
    program was there already).
    seconds: how long each part took, in seconds: "trace", the phases in order, "asm" and "link".
    reasons: why the programs that were there could not be used; empty for the first one.
    """

    function: str
    defined: str | None
    called: str | None
    arguments: tuple[str, ...]
    device: str
    source: str
    seconds: Mapping[str, float]
    reasons: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """All of `seconds` together."""
        return sum(self.seconds.values())

    def __repr__(self) -> str:
        how = f", {_SOURCES[self.source]}" if self.source in _SOURCES else ""
        again = f"; again, because {'; '.join(self.reasons)}" if self.reasons else ""
        return f"<{self.function} for ({', '.join(self.arguments)}): {self.total:.3f} s{how}{again}>"

    def text(self) -> str:
        """Several lines, as the log has them."""
        how = _SOURCES.get(self.source, "compiled")
        where = f", defined at {self.defined}" if self.defined else ""
        where += f", called at {self.called}" if self.called else ""
        longest = sorted(self.seconds.items(), key=lambda part: -part[1])
        phases = ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in longest if s >= 1e-4)
        lines = [
            f"{how}: {self.function} on {self.device} in {self.total:.3f} s{where}",
            f"  for    {', '.join(self.arguments) or 'no arrays'}",
            f"  time   {phases or 'below 0.1 ms'}",
        ]
        return "\n".join(lines + [f"  again  {reason}" for reason in self.reasons])


@dataclass(frozen=True)
class Key:
    """What a program is compiled for, without the objects that it is compiled for: they may go. specs: the arrays;
    names: what each is called. static: what is not an array, by its name: a text, its class, and what tells it from
    others. nodes: dicts, lists and classes around these. given: the arguments of the call, and how each was given.
    labels: those of the arguments, where the function reads them. is_jitted: dynamic_dims= is an option of the
    function. weak: the numbers of the specs that weak arrays have; the other weak ones are of Python numbers."""

    options: Options
    device: str
    specs: tuple[Spec, ...]
    names: tuple[str, ...]
    static: Mapping[str, tuple[str, type, Any]] = field(default_factory=dict)
    nodes: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    is_labelled: bool = False
    labels: Any = None
    is_jitted: bool = True
    weak: frozenset[int] = frozenset()

    def kinds(self) -> list[str]:
        """What each of `specs` is of, without its dims and sizes."""
        return [_kind(s, i in self.weak) for i, s in enumerate(self.specs)]


# -- names of arguments -----------------------------------------------------------------------------------------------


def _places(s: tree.TreeDef, path: str) -> Iterator[tuple[str, str, Any]]:
    """(name, what it is, text and what tells it from others) of each array, static argument and node from `path`."""
    if s == _LEAF:
        yield path, "array", None
    elif s.kind is Static:
        value = s.meta.value  # type: ignore[attr-defined]
        yield path, "static", static_of(value, s.meta)
    else:
        meta: Any = s.meta
        by_key = isinstance(meta, tuple) and len(meta) == len(s.children)
        yield path, "node", (s.kind.__name__, 0 if by_key else hash(meta))
        for step, child in zip(s.steps(), s.children, strict=True):
            yield from _places(child, path + step)


def static_of(value: Any, key: Any) -> tuple[str, type, Any]:
    """What a `Key` has of an argument that is not an array; `key` compares as the argument does."""
    text = repr(value)
    return f"{text:.40}", type(value), hash((key, text))  # the hashes of -1 and -2 are equal, so with the text


def key_of(
    fn: Callable[..., Any],
    options: Options,
    device: str,
    structure: tree.TreeDef,
    specs: Sequence[Spec],
    is_labelled: bool,
    labels: Any = None,
    weak: frozenset[int] = frozenset(),
) -> Key:
    """The key of a call of `fn`, with the names of its parameters."""
    found, given = _arguments(fn, structure)
    names = tuple(name for name, what, _ in found if what == "array")
    static, nodes = ({name: x for name, what, x in found if what == kind} for kind in ("static", "node"))
    return Key(options, device, tuple(specs), names, static, nodes, given, is_labelled, labels, weak=weak)


def argument_names(fn: Callable[..., Any], structure: tree.TreeDef) -> list[str]:
    """What the user calls each array of a call, as "p['w']"."""
    return [name for name, what, _ in _arguments(fn, structure)[0] if what == "array"]


def _arguments(fn: Callable[..., Any], structure: tree.TreeDef) -> tuple[list[tuple[str, str, Any]], dict[str, str]]:
    """What `_places` tells of each part of the arguments, and how each argument was given."""
    signature = signature_of(fn)
    known = [p for p in (signature.parameters.values() if signature else ()) if p.kind < p.VAR_POSITIONAL]
    positional, named = structure.children
    found: list[tuple[str, str, Any]] = []
    given: dict[str, str] = {}
    for i, child in enumerate(positional.children):
        name = known[i].name if i < len(known) else str(i)
        given[name] = "by position"
        found += _places(child, name)
    keywords: Any = named.meta
    for k, child in zip(keywords, named.children, strict=True):
        given[k] = "by keyword"
        found += _places(child, k)
    return found, given


# -- why again --------------------------------------------------------------------------------------------------------


def _number(dtype: Any) -> str:
    """The class of Python numbers that a weak dtype stands for."""
    return {"b": "bool", "i": "int", "c": "complex"}.get(dtype.kind, "float")


def _kind(s: Spec, is_weak_array: bool) -> str:
    if is_weak_array:
        return f"a weak array of {s.dtype.name}"
    return f"a Python {_number(s.dtype)}" if s.weak else f"an array of {s.dtype.name}"


def _argument(name: str, s: Spec, is_weak_array: bool) -> str:
    what = f"{s.dtype.name} {describe(s.dims, s.shape)}"
    if is_weak_array:
        what = f"weak {what}"
    elif s.weak:
        what = f"Python {_number(s.dtype)}"
    return f"{name}: {what}"


def why(new: Key, old: Key, dynamic: frozenset[str] = frozenset()) -> list[str]:
    """What distinguishes what a program is compiled for from what an earlier one was. `dynamic`: the dims that
    ``dynamic_dims=`` names."""
    found = [*_around(new, old), *_given(new, old)]
    is_alike = _alike(new, old)
    if not is_alike:
        found = found + _structures(new, old) or [_REORDERED]
    found += _statics(new, old, is_alike)
    was = dict(zip(old.names, zip(old.specs, old.kinds(), strict=True), strict=True))
    sizes: dict[tuple[str, Any, Any], list[str]] = {}
    for name, b, kind in zip(new.names, new.specs, new.kinds(), strict=True):
        a, before = was.get(name, (b, kind))  # what only one of them has is told of already
        if a == b and before == kind:
            continue
        if before != kind and (a.weak or b.weak):
            found.append(f"argument {name}: was {before}, now {kind}")
            if a == b:
                found[-1] += "; an array from the start, as xt.array(1.0) is, would keep one program"
        elif a.dtype != b.dtype:
            found.append(f"argument {name}: dtype was {a.dtype.name}, now {b.dtype.name}")
        if set(a.dims) != set(b.dims):
            found.append(f"argument {name}: dims were {_names(a.dims)}, now {_names(b.dims)}")
            continue
        if a.dims != b.dims:
            found.append(f"argument {name}: the order of dims was {_names(a.dims)}, now {_names(b.dims)}")
        for d, n in b.sizes.items():
            if a.sizes[d] != n:
                sizes.setdefault((d, a.sizes[d], n), []).append(name)
    more = [
        f"argument{'s' * (len(names) > 1)} {', '.join(names)}: dim {d} was {_size(m)}, now {_size(n)}"
        for (d, m, n), names in sizes.items()
    ]
    if more and not found and new.is_jitted:
        dims = sorted({d for d, *_ in sizes} | dynamic)
        listed = ", ".join(f'"{d}"' for d in dims) + "," * (len(dims) == 1)
        more[-1] += f"; dynamic_dims=({listed}) would keep one program"
    found += more
    orders = ([[*x] for x in (key.given, key.static, key.nodes)] for key in (new, old))
    return found or [_REORDERED] * (next(orders) != next(orders))


_REORDERED = "the arguments are in another order"


def _alike(new: Key, old: Key) -> bool:
    """Whether both have the same arrays and static arguments."""
    return new.names == old.names and new.static.keys() == old.static.keys()


def nearest(new: Key, known: Sequence[Key], dynamic: frozenset[str]) -> list[str]:
    """What distinguishes `new` from the most similar one that is known. Arguments of the same structure are more
    similar than any others; among these the fewest reasons count, and then the latest."""

    def distance(old: Key) -> tuple[bool, int]:
        was, now = ({name: kind for name, (kind, _) in key.nodes.items()} for key in (old, new))
        is_alike = _alike(new, old) and new.given == old.given and was == now
        return not is_alike, len(reasons[id(old)])

    reasons = {id(old): why(new, old, dynamic) for old in known}
    return reasons[id(min(reversed(known), key=distance))]


def _size(n: int | None) -> str:
    return "open" if n is None else str(n)


def _names(dims: Sequence[str]) -> str:
    return f"({', '.join(dims)})"


def _around(new: Key, old: Key) -> list[str]:
    """What is about the call as a whole."""
    found = []
    for f in fields(Options):
        was, now = getattr(old.options, f.name), getattr(new.options, f.name)
        if was != now and f.name == "profile":
            inside, outside = "in a block of xt.profile, whose programs call a clock", "outside of blocks of xt.profile"
            found.append(f"it ran {inside if was else outside}, now {inside if now else outside}")
        elif was != now:
            was, now = (getattr(x, "name", x) for x in (was, now))
            found.append(f"option {f.name} was {was!r}, now {now!r}")
    if old.device != new.device:
        found.append(f"it ran on {old.device!r}, now on {new.device!r}")
    if old.is_labelled != new.is_labelled:
        found.append("an argument has labels now" if new.is_labelled else "no argument has labels now")
    elif old.labels != new.labels:
        found.append("the arguments have other labels, and the function reads these")
    return found


def _given(new: Key, old: Key) -> list[str]:
    """Arguments that have another spelling in the call, or are left to their defaults."""
    found = []
    for name in {**old.given, **new.given}:
        was, now = old.given.get(name), new.given.get(name)
        if was is None:
            found.append(f"argument {name} is given now, and was left out")
        elif now is None:
            found.append(f"argument {name} is left out now, and was given")
        elif was != now:
            found.append(f"argument {name} is given {now} now, and was given {was}")
    return found


def _structures(new: Key, old: Key) -> list[str]:
    """Arrays and static arguments that are in one of the calls only, beside those of `_given`."""
    was, now = ({*k.names, *k.static} for k in (old, new))
    told = {*old.given} ^ {*new.given}
    gone, more = ([name for name in sorted(x) if _head(name) not in told] for x in (was - now, now - was))
    became = [f"argument {name} is an array now, and was static" for name in new.names if name in old.static]
    became += [f"argument {name} is static now, and was an array" for name in new.static if name in old.names]
    if not gone and not more:
        return became[:1]
    parts = [f"with {', '.join(more)}"] * bool(more) + [f"without {', '.join(gone)}"] * bool(gone)
    return [f"the structure of the arguments changed: now {' and '.join(parts)}"]


def _head(name: str) -> str:
    """The argument of the call that an array is in."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def _statics(new: Key, old: Key, is_alike: bool) -> list[str]:
    """Static arguments of both calls that differ; `is_alike`: and nodes, where both have the same arguments."""
    found = []
    for name, (text, cls, what) in new.static.items():
        was, its_cls, before = old.static.get(name, (text, cls, what))
        if what == before:
            continue
        found.append(f"argument {name} was {was}, now {text}")
        if new.is_jitted and cls is its_cls and _NUMBER.fullmatch(was) and _NUMBER.fullmatch(text):
            found[-1] += "; as an argument that is not static it would not compile again"
    for name, (kind, what) in new.nodes.items() if is_alike else ():
        was, before = old.nodes.get(name, (kind, what))
        if was != kind:
            found.append(f"argument {name} was a {was}, now a {kind}")
        elif what != before:
            found.append(f"argument {name}: the {kind} holds other values beside its arrays")
    return found


# -- functions --------------------------------------------------------------------------------------------------------


def code_of(fn: Any) -> CodeType | None:
    """The code of the user's function in `fn`."""
    while not isinstance(fn, FunctionType) or "__wrapped__" in fn.__dict__:
        inner = getattr(fn, "__wrapped__", None) or getattr(fn, "__func__", None)
        inner = inner or (fn.func if isinstance(fn, functools.partial) else None)
        if inner is None:
            return None
        fn = inner
    return fn.__code__


def outside(fn: Any) -> dict[str, tuple[str, Any]]:
    """The numbers, texts and arrays that a function reads from around it: a text, and what tells it from others."""
    if not isinstance(fn, FunctionType):
        return {}
    values = {name: fn.__globals__[name] for name in fn.__code__.co_names if name in fn.__globals__}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet
            values[name] = cell.cell_contents
    found: dict[str, tuple[str, Any]] = {}
    for name, x in values.items():
        if x is None or isinstance(x, (bool, int, float, complex, str)):
            found[name] = shown(x), repr(x)
        elif hasattr(x, "dims") and hasattr(x, "dtype"):
            found[name] = shown(x), id(x)
    return found


def changes(was: Mapping[str, tuple[str, Any]], now: Mapping[str, tuple[str, Any]]) -> list[str]:
    """What a function reads from outside that is another value now."""
    return [
        f"{name}, which it reads from outside, was {was[name][0]}, now {text}"
        if was[name][0] != text
        else f"{name}, which it reads from outside, is another object"
        for name, (text, what) in now.items()
        if name in was and was[name][1] != what
    ]


# By the code of functions and what was made of them: the histories of the latest function object.
_by_code = Latest(_MOST_LINES)


class History:
    """The compilations of one function, and what they were for."""

    def __init__(self, name: str, about: Sequence[CodeType | None] = (), dynamic: frozenset[str] = frozenset()) -> None:
        self.name = name
        self.about = tuple(code for code in about if code is not None)
        self.dynamic = dynamic
        self.records: deque[Compilation] = deque(maxlen=KEPT)
        self.keys: deque[Key] = deque(maxlen=_COMPARED)
        self.count = 0  # of all keys that came
        self.outside: dict[str, tuple[str, Any]] = {}

    def reasons(self, key: Key, fn: Any = None, begin: int | None = None) -> tuple[str, ...]:
        """Why no program that was there serves `key`, by the nearest one; and remembers it. `fn`: the function, where
        one may be made again from the same line. begin: `self.count` when the compilation began."""
        known = tuple(self.keys)  # another thread may add its own meanwhile
        if known:
            found = nearest(key, known, self.dynamic)
            if not found:
                found = ["a program for these types was compiled before, and had to make room for others"]
                if begin is not None and key in [*known][::-1][: self.count - begin]:
                    found = ["another thread compiled a program for these types at the same time"]
                if key not in known:
                    found = ["the arguments are not those of an earlier call"]
        else:
            found = self._made_again(key, fn)
        self.keys.append(key)
        self.count += 1
        return tuple(found)

    def _made_again(self, key: Key, fn: Any) -> list[str]:
        """The reasons of a function's first compilation: another function of the same line may have had one."""
        if not self.about or fn is None:
            return []
        self.outside = outside(fn)
        place = (self.name, self.about, *[code.co_filename for code in self.about])
        latest: list[History] = _by_code(place, lambda: [self])
        before, latest[0] = latest[0], self
        if before is self or not before.keys:
            return []
        found = [f"{change}: give it as an argument" for change in changes(before.outside, self.outside)]
        made = "it is another function object from the same line: make it once, outside of the loop that calls it"
        return [made, *found, *nearest(key, tuple(before.keys), self.dynamic)]

    def add(self, program: Program, key: Key, reasons: tuple[str, ...]) -> None:
        """Tells of a program that was compiled just now."""
        defined = f"{self.about[0].co_filename}:{self.about[0].co_firstlineno}" if self.about else None
        names = [*key.names, *(f"argument {i}" for i in range(len(key.names), len(key.specs)))]
        arguments = tuple(_argument(*of, i in key.weak) for i, of in enumerate(zip(names, key.specs, strict=True)))
        made = Compilation(
            program.name, defined, user_line(), arguments, key.device, program.source, dict(program.seconds), reasons
        )
        self.records.append(made)
        report(made)


# What is told of each compilation of the process (`xtensor explain`).
listeners: list[Callable[[Compilation], None]] = []


def is_internal(made: Compilation) -> bool:
    """Whether it is of a function of this package, as those by which `xt.profile` measures the machine."""
    return in_package(made.defined or "")


def report(made: Compilation) -> None:
    """Tells of a compilation where that is asked for."""
    for listener in listeners:
        listener(made)
    if logged() != "compile" or is_internal(made):
        return
    import logging

    logger = logging.getLogger("xtensor")
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info("%s", made.text())
    else:
        print(f"xtensor: {made.text()}", file=sys.stderr)


check_methods(Compilation, "Compilation")
