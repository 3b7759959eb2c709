"""The arrays, numbers and amounts among the arguments of a call of an op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.identity import identity
from ..base.refusals import not_an_array, unnamed
from ..trace.scope import check_alive
from ..trace.tracer import Tracer
from ..values.kinds import Gathered, kind_in
from ..values.spec import Spec
from .opened import Amount, Within, is_wide

_LITERALS = frozenset({str, type(None), type(...), bytes, type, np.dtype})


class Scanned(Gathered):
    """Finds the arrays among the arguments of a call: `key` tells everything but their values. `written`: (args,
    kwargs) as the user wrote them, `args` and `kwargs` what the function gets; `options`: those of programs."""

    __slots__ = (
        "amount",
        "args",
        "at",
        "key",
        "kwargs",
        "limits",
        "numbers",
        "options",
        "owner",
        "plain",
        "specs",
        "written",
    )

    def __init__(
        self,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        written: tuple[Sequence[Any], Mapping[str, Any]] = ((), {}),
        options: Any = None,
    ) -> None:
        super().__init__()
        self.owner: Any = None  # whose call is written, if it is not that of the function with these arguments
        self.args, self.kwargs, self.written, self.options = tuple(args), dict(kwargs or {}), written, options
        self.key: list[Any] = []
        self.amount: Within | None = None  # which numbers of what is scanned are amounts
        self.numbers: list[Any] = []  # the amounts, as `key` has them
        self.at: list[int] = []  # where in `key` they are
        self.limits: list[tuple[Any, ...]] = []  # (place, least, most) of each `Amount` that is not any number
        self.specs: list[Spec] = []
        self.plain = True

    def scan(self, x: Any, is_array: bool) -> None:
        kind = kind_in(x, is_array)
        if is_wide(x):
            self.key.append((int, x))
            self.plain = False
        elif kind is not None:
            self.key.append(self.gather(x, kind))
            self.specs.append(self.key[-1])
        elif self.amount is not None and type(x) in (int, float) and x in self.amount:
            self.at.append(len(self.key))
            self.key.append(self.static(x))
            self.numbers.append(self.key[-1])
        else:
            self.plain = False
            self.other(x, is_array)

    def other(self, x: Any, is_array: bool) -> None:
        """What is not one array."""
        if type(x) in (tuple, list):
            self.key.append((type(x), len(x)))
            for item in x:
                self.scan(item, is_array)
        elif isinstance(x, dict):
            self.key.append((dict, *x))
            for item in x.values():
                self.scan(item, is_array)
        elif isinstance(x, np.ndarray):
            if is_array:
                raise unnamed(x)
            self.key.append((x.dtype.str, x.shape, x.tobytes()))
        elif type(x) is Amount:
            if self.amount is not None and (limits := self.amount.range(x.number)):
                self.limits.append((len(self.specs), *limits))
            self.scan(x.number, True)
        elif isinstance(x, slice):
            self.key.append(slice)
            for part in (x.start, x.stop, x.step):
                self.scan(part, False)
        elif isinstance(x, Tracer):
            check_alive(x)
        elif is_array and type(x) not in _LITERALS:
            raise not_an_array(x)
        else:
            self.key.append(self.static(x))

    def same(self) -> tuple[int, ...]:
        """Of each array the first one that is the same."""
        first: dict[int, int] = {}
        return tuple(first.setdefault(id(self.labelled.get(i, a)), i) for i, a in enumerate(self.arrays))

    @staticmethod
    def static(x: Any) -> Any:
        try:
            return identity(x)
        except TypeError:  # unhashable: the look-up says which argument it is
            return x


def items(x: Any) -> Iterator[Any]:
    """`x`, and what is in it."""
    yield x
    for item in x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ():
        yield from items(item)


def with_tracers(x: Any, is_array: bool, tracers: Iterator[Tracer]) -> Any:
    """The arguments again, with tracers where `Scanned.scan` found arrays."""
    if kind_in(x, is_array) is not None and not is_wide(x):
        return next(tracers)
    if type(x) is Amount:
        return Amount(next(tracers))
    if type(x) in (tuple, list):
        return type(x)([with_tracers(item, is_array, tracers) for item in x])
    if isinstance(x, dict):
        return {k: with_tracers(v, is_array, tracers) for k, v in x.items()}
    if isinstance(x, slice):
        return slice(*(with_tracers(p, False, tracers) for p in (x.start, x.stop, x.step)))
    return x
