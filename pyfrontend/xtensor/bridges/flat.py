"""Functions of a list of arrays as values: equal ones are one function, and pickles hold what they were made from.

Each takes and gives arrays or tracers. What is derived of a function is such a function again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..base import dtypes, tree
from ..base.calls import call_with
from ..call.arguments import Call, name_of
from ..trace.inline import inline
from ..trace.lift import as_tracer
from ..trace.program import result_leaves
from ..transforms.derivative import Pullback as PullbackRequest
from ..transforms.jvp import jvp
from ..transforms.split import Split
from ..transforms.vectorize import traced as vectorized
from ..transforms.vjp import vjp
from ..values.spec import Spec


class Flat(Protocol):
    @property
    def name(self) -> str: ...

    def __call__(self, *arrays: Any) -> list[Any]: ...


@dataclass(frozen=True)
class OfPytrees:
    """`f(*args, **kwargs)` of what `structure` says. `constants`: the leaves that are not arrays, as (number, type,
    value): 1, 1.0 and True are equal in Python, and mean different programs."""

    bridge: str
    f: Callable[..., Any]
    structure: tree.TreeDef
    constants: tuple[tuple[int, type, Any], ...]
    results: list[tree.TreeDef] = field(default_factory=list, compare=False)  # the structure, once it was traced

    @property
    def name(self) -> str:
        return name_of(self.f)

    def __call__(self, *arrays: Any) -> list[Any]:
        known, given = {i: value for i, _, value in self.constants}, iter(arrays)
        args, kwargs = self.structure.unflatten([known[i] if i in known else next(given) for i in range(self._count)])
        out, shape = result_leaves(call_with(self.bridge, self.f, args, kwargs), self.name)
        self.results[:] = [shape]
        return out

    @property
    def _count(self) -> int:
        return self.structure.size


@dataclass(frozen=True)
class Named:
    """A function of arrays that has no name of its own."""

    name: str
    f: Callable[..., list[Any]]

    def __call__(self, *arrays: Any) -> list[Any]:
        return self.f(*arrays)


@dataclass(frozen=True)
class Pullback:
    """The arguments of `base` and cotangents of its results `of`, to gradients by the arguments that are floats.
    valued: the results of `base` come first."""

    base: Flat
    count: int  # of the arguments
    of: tuple[int, ...]
    valued: bool = False

    @property
    def name(self) -> str:
        return f"{self.base.name}.back"

    def __call__(self, *arrays: Any) -> list[Any]:
        found, back = vjp(lambda *xs: list(self.base(*xs)), *arrays[: self.count])
        given = dict(zip(self.of, arrays[self.count :], strict=True))
        gradients = [g for g in back([given.get(i) for i in range(len(found))]) if g is not None]
        return [*found, *gradients] if self.valued else gradients


@dataclass(frozen=True)
class Pushforward:
    """The arguments of `base` and tangents of the arguments `wrt`, to tangents of the results that are floats. valued:
    the results of `base` come first."""

    base: Flat
    count: int
    wrt: tuple[int, ...]
    valued: bool = False

    @property
    def name(self) -> str:
        return f"{self.base.name}.push"

    def __call__(self, *arrays: Any) -> list[Any]:
        given = dict(zip(self.wrt, arrays[self.count :], strict=True))
        tangents = [given.get(i) for i in range(self.count)]
        found, moved = jvp(lambda *xs: list(self.base(*xs)), arrays[: self.count], tangents)
        moved = [t for t in moved if t is not None]
        return [*found, *moved] if self.valued else moved


@dataclass(frozen=True)
class Kept:
    """`base` with the results `which` alone."""

    base: Flat
    which: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.base.name

    def __call__(self, *arrays: Any) -> list[Any]:
        found = self.base(*arrays)
        return [found[i] for i in self.which]


@dataclass(frozen=True)
class Batched:
    """`base` for each instance along `dims`, which the arrays have or have not. All results have them first."""

    base: Flat
    dims: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.base.name

    def __call__(self, *arrays: Any) -> list[Any]:
        return list(vectorized(lambda *xs: list(self.base(*xs)), self.dims, arrays, {}))


@dataclass(frozen=True)
class Parts:
    """`base` at these types, in two parts: its results with residuals, and gradients by the arguments `wrt`."""

    base: Flat
    specs: tuple[Spec, ...]
    wrt: tuple[int, ...]

    @functools.cached_property
    def split(self) -> Split:
        call = Call(self.specs, {}, self.base, abstract=True)
        return Split(lambda *xs: list(self.base(*xs)), call, None, PullbackRequest, self.wrt)

    @property
    def moving(self) -> list[int]:
        """The results that have cotangents."""
        return [i for i, _ in self.split.cotangents]

    @property
    def residuals(self) -> list[int]:
        """Where each is that `Backward` takes: a result of `Forward` by its number, or an argument by -1 - its
        number. The others are arrays that the function reads from outside."""
        return [i for i in self.split.residuals if -1 - i < len(self.specs)]

    def __reduce__(self) -> Any:
        return Parts, (self.base, self.specs, self.wrt)


@dataclass(frozen=True)
class Forward:
    """The results of `base`, and the residuals."""

    parts: Parts

    @property
    def name(self) -> str:
        return self.parts.base.name

    @property
    def specs(self) -> tuple[Spec, ...]:
        return self.parts.specs

    def __call__(self, *arrays: Any) -> list[Any]:
        split = self.parts.split
        return list(inline(split.forward_program, [*arrays, *map(as_tracer, split.captured)]))


@dataclass(frozen=True)
class Backward:
    """The arrays that `residuals` tells of, and cotangents, to gradients."""

    parts: Parts

    @property
    def name(self) -> str:
        return f"{self.parts.base.name}.back"

    @property
    def specs(self) -> tuple[Spec, ...]:
        split, given = self.parts.split, len(self.parts.specs)
        known = [s for i, s in zip(split.residuals, split.backward_program.inputs, strict=False) if -1 - i < given]
        return (*known, *split.backward_program.inputs[len(split.residuals) :])

    def __call__(self, *arrays: Any) -> list[Any]:
        split, given, rest = self.parts.split, len(self.parts.specs), iter(arrays)
        residuals = [
            next(rest) if -1 - i < given else as_tracer(split.captured[-1 - i - given]) for i in split.residuals
        ]
        return list(inline(split.backward_program, [*residuals, *rest]))


def floats(specs: Sequence[Spec]) -> tuple[int, ...]:
    """The numbers of the arrays that have derivatives."""
    return tuple(i for i, s in enumerate(specs) if dtypes.is_float(s.dtype))
