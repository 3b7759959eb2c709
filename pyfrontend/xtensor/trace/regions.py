"""Ops with regions: traces functions into the regions, and makes the op once their results are known."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..ir import context as c
from ..ir import location
from ..values.spec import Spec
from .scope import Scope, current
from .tracer import Tracer

if TYPE_CHECKING:
    from ..mlir import ir

P = ParamSpec("P")
T = TypeVar("T")


class Regions:
    """The regions of an op to be. An op is made with its result types, which the regions decide: a placeholder holds
    them until then. It stands in the function, so that all goes away together when a traced function raises. The
    functions that make some are `discarding`. `always`: they run whenever the op does."""

    def __init__(self, count: int, always: bool = False) -> None:
        self.scope = current()
        self.always = always
        self.here = location.of_user()
        self.scopes: list[Scope | None] = [None] * count
        self.noted = [len(notes) for notes in self._notes()]
        self.placeholder = c.mlir().Operation.create("builtin.module", regions=count, loc=self.here, ip=self.scope.ip)
        self.scope.root.open.append(self)

    def trace(
        self,
        i: int,
        specs: Sequence[Spec],
        fn: Callable[[list[Tracer]], T],
        fed: Sequence[Tracer | None] | None = None,
        names: Callable[[], Sequence[str]] | None = None,
    ) -> T:
        """`fn` on arguments of `specs`, into region `i`. More calls add to the same region, without arguments.
        `fed`: what the arguments are outside of the region, where that does not change. names: what the user calls
        them, asked where `location.naming`."""
        scope = self.scopes[i]
        if scope is None:
            types = [c.array_type(s) for s in specs]
            locs = [self.here] * len(types)
            if names is not None and location.is_naming():
                locs = [location.named_by(name, self.here) for name in names()]
            block = c.mlir().Block.create_at_start(self.placeholder.regions[i], types, locs)
            scope = self.scopes[i] = Scope(block, self.scope, self.always)
            if fed is not None:
                scope.root.feed(block.arguments, fed)
        with scope:
            values = scope.block.arguments if specs else ()
            arguments = [Tracer(v, weak=s.weak, scope=scope, spec=s) for v, s in zip(values, specs, strict=True)]
            return fn(arguments)

    def hands_on(self, i: int, values: Sequence[Tracer]) -> bool:
        """Whether `values` are the arguments of region `i`, as they are."""
        scope = self.scopes[i]
        assert scope is not None
        return [x.value for x in values] == list(scope.block.arguments)

    def _notes(self) -> list[dict[Any, Any]]:
        root = self.scope.root
        return [root.labels, root.followed, root.joined, root.owned, root.fed]

    def discard(self) -> None:
        """Gives up what was traced, and what is remembered of its values: others may come to stand where they were."""
        for notes, count in zip(self._notes(), self.noted, strict=True):
            for value in list(notes)[count:]:
                del notes[value]
        self._close()

    def finish(
        self,
        name: str,
        results: Sequence[ir.Type],
        operands: Sequence[Tracer],
        attributes: dict[str, ir.Attribute],
        yields: Sequence[Sequence[Tracer]],
        function: str = "",
    ) -> list[ir.Value]:
        """`xtensor.<name>` with these regions, each yielding its part of `yields`. function: the public one."""
        op = c.mlir().Operation.create(
            "xtensor." + name,
            results=list(results),
            operands=[x.value for x in operands],
            attributes=attributes,
            regions=len(self.scopes),
            loc=location.named_by(function, self.here),
            ip=self.scope.ip,
        )
        for i, scope in enumerate(self.scopes):
            if scope is None:
                continue  # an optional region that is not there
            c.mlir().Operation.create(
                "xtensor.yield", operands=[x.value for x in yields[i]], loc=self.here, ip=scope.ip
            )
            scope.block.append_to(op.regions[i])
        self._close()
        return list(op.results)

    def _close(self) -> None:
        self.placeholder.erase()
        self.scope.root.open.remove(self)


def discarding(fn: Callable[P, T]) -> Callable[P, T]:
    """`fn`, without what is left of its regions if it raises: user's code may catch the exception and trace on."""

    @functools.wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        opened = current().root.open
        before = len(opened)
        try:
            return fn(*args, **kwargs)
        except BaseException:
            while len(opened) > before:
                opened[-1].discard()
            raise

    return call
