"""Arguments of a transformed function: which are static, which arrays there are, how they are spelled to tracing."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import _native
from ..base import tree
from ..base.calls import shown, with_article
from ..base.dims import describe, describe_array, suggestion
from ..base.errors import ArgumentError, ArgumentTypeError, SizeError
from ..base.identity import identity
from ..base.refusals import not_an_array, unnamed
from ..trace.lift import as_tracer
from ..trace.scope import check_alive
from ..trace.tracer import Tracer
from ..values import targets
from ..values.kinds import Gathered, kind_of
from ..values.spec import Spec, spec_of_type

# Values that cannot be arrays, and that everyone means as a choice: static without being declared.
_CHOICES = (str, bytes, np.dtype, type, type(...))


def name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def place_of(fn: Any) -> str:
    """ " (FILE:LINE)", where the user wrote the function, if that is known."""
    fn = inspect.unwrap(fn)
    while isinstance(fn, functools.partial):
        fn = inspect.unwrap(fn.func)
    code = getattr(fn, "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


def needs_function(transform: str, fn: Any) -> None:
    if not callable(fn):
        raise ArgumentTypeError(f"xt.{transform} needs a function, got {shown(fn)}")


def signature_of(fn: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


class Static:
    """A static argument's place in the structure of a call; compares by what the value means (`identity`)."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = identity(value)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key


def _value(s: Any, _: Any) -> Any:
    return s.value


tree.register(Static, lambda s: ((), s), _value)


class StaticNames:
    """Which arguments of `fn` an option of `xt.jit` names, `static` or `donate`: by position, by name, or both."""

    def __init__(self, fn: Callable[..., Any], static: Any, option: str = "static") -> None:
        if not isinstance(static, (str, int, Iterable)):
            raise ArgumentTypeError(f"{option}= takes names or positions of parameters, got {static!r}")
        given = (static,) if isinstance(static, (str, int)) else tuple(static)
        self.positions: set[int] = set()
        self.names: set[str] = set()
        self.fn = fn
        signature = signature_of(fn)
        parameters = list(signature.parameters.values()) if signature else []
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.positional = positional = [p.name for p in parameters if p.kind in kinds]
        known = {p.name for p in parameters}
        takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters) or signature is None
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters) or signature is None
        for which in given:
            if isinstance(which, str):
                if which not in known and not takes_any:
                    raise ArgumentError(
                        f"xt.jit({option}={static!r}): {name_of(fn)} has no parameter {which!r}; it has "
                        f"{', '.join(repr(p.name) for p in parameters) or 'none'}{suggestion(which, sorted(known))}"
                    )
                self.names.add(which)
                if which in positional:
                    self.positions.add(positional.index(which))
            elif isinstance(which, int) and not isinstance(which, bool):
                if not takes_more and not -len(positional) <= which < len(positional):
                    raise ArgumentError(
                        f"xt.jit({option}={static!r}): {name_of(fn)} has no parameter {which}; it has "
                        f"{len(positional)} ({', '.join(positional)})"
                    )
                if which < 0 and takes_more:
                    raise ArgumentError(
                        f"xt.jit({option}={static!r}): the last argument of {name_of(fn)} varies: name it"
                    )
                which %= max(len(positional), which + 1)
                self.positions.add(which)
                if 0 <= which < len(positional):
                    self.names.add(positional[which])
            else:
                raise ArgumentTypeError(f"{option}= takes names or positions of parameters, got {which!r}")

    def __bool__(self) -> bool:
        return bool(self.positions or self.names)

    def after(self, given: int) -> tuple[int | str, ...]:
        """The same parameters, for a function whose first `given` arguments are there already."""
        unnamed = (i - given for i in self.positions if i >= max(given, len(self.positional)))
        return (*sorted(unnamed), *sorted(self.names.difference(self.positional[:given])))

    def mark(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with the static ones in a `Static`."""
        new = tuple(self._wrap(x, str(i)) if i in self.positions else x for i, x in enumerate(args))
        return new, {k: self._wrap(v, k) if k in self.names else v for k, v in kwargs.items()}

    def leaves(self, structure: tree.TreeDef) -> tuple[int, ...]:
        """The numbers of the arrays in the arguments that are named, for the structure of (args, kwargs)."""
        given, keywords = structure.children
        named: list[tuple[bool, int]] = [(i in self.positions, c.size) for i, c in enumerate(given.children)]
        keys: Any = keywords.meta
        named += [(k in self.names, c.size) for k, c in zip(keys, keywords.children, strict=True)]
        numbers: list[int] = []
        first = 0
        for is_named, size in named:
            numbers += range(first, first + size) if is_named else ()
            first += size
        return tuple(numbers)

    def _wrap(self, x: Any, which: str) -> Static:
        try:
            return Static(x)
        except TypeError:
            raise ArgumentTypeError(
                f"static argument {which} of {name_of(self.fn)} must be hashable, got {with_article(type(x).__name__)}"
                f"{_HASHABLE.get(type(x), '')}"
            ) from None


# What to pass in place of what cannot be hashed.
_HASHABLE: dict[type, str] = {
    list: ". Pass a tuple",
    dict: ". Pass a tuple of its items, tuple(options.items())",
    set: ". Pass a frozenset",
}


class Call(Gathered):
    """The arrays of one call, and the key that everything else about it makes."""

    __slots__ = ("fn", "key", "plain", "shapes", "specs", "structure")

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        fn: Callable[..., Any],
        static: StaticNames | None = None,
        dynamic_dims: frozenset[str] = frozenset(),
        abstract: bool = False,
    ) -> None:
        super().__init__()
        if static:
            args, kwargs = static.mark(args, kwargs)
        leaves, self.structure = tree.flatten((args, kwargs))
        self.plain = not kwargs and not static and len(leaves) == len(args)
        self.plain = self.plain and all(x is y for x, y in zip(leaves, args, strict=True))
        self.fn = fn
        self.specs: list[Spec] = []
        types: list[Any] = []
        fixed: list[tuple[int, Static]] = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, np.ndarray) and leaf.ndim:
                raise unnamed(leaf, f"{name_of(fn)}: argument {_path(args, kwargs, i)}, a NumPy array")
            found = self._array(leaf, abstract)
            if found is None:
                if not is_choice(leaf):
                    raise self._refuse(leaf, fn, args, kwargs, i)
                fixed.append((i, Static(leaf)))
                self.plain = False
            else:
                types.append(found)
        if fixed:
            chosen = dict(fixed)
            replaced = [chosen.get(i, x) for i, x in enumerate(leaves)]
            self.structure = tree.structure(_open(self.structure, replaced))
        self.specs = [t if isinstance(t, Spec) else spec_of_type(t) for t in types] if dynamic_dims or abstract else []
        self.shapes = (
            [s.shape for s in self.specs] if abstract else []
        )  # with the sizes of dynamic dims, where a Spec has them
        if dynamic_dims:
            _check_equal(self.specs if abstract else self.arrays, dynamic_dims)
            self.specs = [_with_dynamic(s, dynamic_dims) for s in self.specs]
            self.key = (self.structure, *(s if s.is_dynamic else t for s, t in zip(self.specs, types, strict=True)))
        else:
            self.key = (self.structure, *types)
            if not self.specs:
                self.specs = types

    def device(self) -> _native.Device | None:
        """Where the call runs: where its arrays are. None: the CPU."""
        return targets.where(self.arrays, self.free, self._argument)

    @property
    def is_placed(self) -> bool:
        """Whether any argument has a place of its own."""
        return len(self.free) < len(self.arrays)

    def _argument(self, i: int) -> str:
        paths = tree.paths(self.structure.unflatten(range(len(self.arrays))))
        path = paths[i].removeprefix("[0]") if paths[i].startswith("[0]") else paths[i].removeprefix("[1]")
        return f"argument {path} of {name_of(self.fn)}"

    def full_specs(self) -> list[Spec]:
        return [t if isinstance(t, Spec) else spec_of_type(t) for t in self.specs]

    def weak_arrays(self) -> frozenset[int]:
        """The numbers of the arrays that are weak, and not Python numbers."""
        return weak_arrays(self.key[1:])

    def _array(self, x: Any, abstract: bool) -> Any:
        """Adds `x` to the arrays; returns its type, or None if it is not an array."""
        kind = None if _is_enum(x) else kind_of(x)
        if kind is not None:
            return self.gather(x, kind)
        if isinstance(x, Spec):
            if not abstract:
                raise ArgumentTypeError(
                    "a Spec has no values. Pass it to f.trace(..) or f.lower(..), and arrays to f(..)"
                )
            self.told = None
            self.free.add(len(self.arrays))
            self.arrays.append(None)
            return x
        if isinstance(x, Tracer):
            check_alive(x)
        return None

    @staticmethod
    def _refuse(leaf: Any, fn: Callable[..., Any], args: Any, kwargs: Any, i: int) -> Exception:
        what = f"argument {_path(args, kwargs, i)} of {name_of(fn)}"
        if isinstance(leaf, Tracer):
            return ArgumentTypeError(
                f"{what} is a traced array, {describe_array(leaf)}, which has no values. To look into a function, give "
                "the type: xt.Spec(x.dims, x.shape, x.dtype)"
            )
        error = not_an_array(leaf, f"{what}: ")
        if "expected an array" in str(error):
            return ArgumentTypeError(f"{str(error).splitlines()[0]}. {_for_object(leaf, fn, args, i)}")
        return error


def _for_object(leaf: Any, fn: Callable[..., Any], args: Any, i: int) -> str:
    """What to write for an argument that is no array: one with arrays is a dataclass, another one is static."""
    holds = [] if callable(leaf) else tree.leaves(getattr(leaf, "__dict__", {}))
    if any(hasattr(x, "dtype") for x in holds):
        return "Make its class a dataclass, whose arrays are arguments"
    name = next(iter(inspect.signature(fn).parameters), "") if i == 0 and args and leaf is args[0] else ""
    if name in ("self", "cls"):
        return f'If it does not change, declare it static: @xt.jit(static="{name}")'
    return f"If it does not change, declare it static: xt.jit(f, static={repr(name) if name else '..'})"


def weak_arrays(types: Iterable[Any]) -> frozenset[int]:
    """Which of the keys of arrays are of weak arrays. Those of Python numbers are Specs."""
    return frozenset(i for i, t in enumerate(types) if not isinstance(t, Spec) and t.weak)


def _path(args: Any, kwargs: Any, i: int) -> str:
    """Where leaf `i` of a call stands: [1]["w"] is in the second argument."""
    path = tree.paths((args, kwargs))[i]
    return path.removeprefix("[0]") if path.startswith("[0]") else path.removeprefix("[1]")


def _open(structure: tree.TreeDef, leaves: Sequence[Any]) -> Any:
    """The tree with array leaves as placeholders and static ones as `Static` nodes."""
    return structure.unflatten([x if isinstance(x, Static) else 0 for x in leaves])


def is_choice(x: Any) -> bool:
    """Whether `x` is static without being declared so, because it cannot be an array."""
    return isinstance(x, _CHOICES) or _is_enum(x)


def as_leaf(x: Any, numbers: tuple[type, ...] = (bool, int, float, complex)) -> Any:
    """A leaf of an argument as a tracer; what cannot be an array, and Python numbers of these classes, as they are."""
    return x if is_choice(x) or type(x) in numbers else as_tracer(x)


def without_static(structure: tree.TreeDef, leaves: Iterable[Any]) -> tuple[Any, ...]:
    """Arguments with these leaves, None for the static ones."""
    parts = zip(structure.children, structure.unflatten(leaves), strict=True)
    return tuple(None if s.kind is Static else x for s, x in parts)


def _is_enum(x: Any) -> bool:
    return isinstance(x, enum.Enum)


def _with_dynamic(spec: Spec, dynamic: frozenset[str]) -> Spec:
    if not dynamic.intersection(spec.dims):
        return spec
    shape = [None if d in dynamic else n for d, n in zip(spec.dims, spec.shape, strict=True)]
    return Spec._of(spec.dims, shape, spec.dtype, spec.weak)


def _check_equal(arrays: Sequence[Any], dynamic: frozenset[str]) -> None:
    seen: dict[str, Any] = {}
    for a in arrays:
        if a is None:
            continue
        for d, n in zip(a.dims, a.shape, strict=True):
            if d in dynamic and n is not None and seen.setdefault(d, a).sizes[d] != n:
                other = seen[d]
                raise SizeError(
                    f"dim {d!r} has size {other.sizes[d]} in {describe(other.dims, other.shape)} and {n} in "
                    f"{describe(a.dims, a.shape)}; equal names have equal sizes, dynamic dims too"
                )
