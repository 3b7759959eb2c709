"""Which programs public functions keep, and which of them serve every size and every amount.

A function that meets new sizes is compiled for them twice. After that one program serves all sizes of the dims that
vary, and all of the numbers that only say how far or how much (`Amount`).
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _native

if TYPE_CHECKING:
    from .entry import Entry

# Programs of all public functions together: about 20 kB each.
MOST = 1024
# What is remembered of how sizes vary: about 1 kB each.
MOST_FAMILIES = 4096
# How many times a family is compiled for the sizes and the numbers of a call.
APART = 2


class Amount:
    """A number that is an argument of the program: `number` is its value, or stands for it while tracing."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number


class Programs:
    """The compiled programs of public functions. Those go that were not called since they were last looked at."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.entries: dict[Any, Entry] = {}
        self.adding = threading.RLock()

    def add(self, key: Any, function: Any, entry: Entry) -> None:
        """`function` may call the entry without asking here."""
        entry.caller = function
        entry.used = True
        with self.adding:
            self.entries[key] = entry
            while len(self.entries) > self.most:
                oldest = next(iter(self.entries))
                gone = self.entries.pop(oldest)
                called = gone.caller.retire(gone.executable)
                if called or gone.used or gone is entry:
                    gone.used = False
                    self.entries[oldest] = gone


class Family:
    """Calls that differ in sizes of dims and in amounts alone."""

    __slots__ = ("arrivals", "first", "first_numbers", "program", "refused", "varying", "varying_numbers")

    def __init__(self) -> None:
        self.arrivals = 0  # calls that no program was there for
        self.refused = False  # the function needs to know its sizes, or its numbers
        self.first: dict[str, int] = {}  # the sizes of the first call
        self.first_numbers: list[Any] = []
        self.varying: frozenset[str] = frozenset()
        self.varying_numbers: frozenset[int] = frozenset()
        self.program: Any = None  # what varies, and what does not: the key of the program for all of them

    def meet(self, sizes: Mapping[str, int], numbers: Sequence[Any]) -> None:
        self.arrivals += 1
        if self.arrivals == 1:
            self.first, self.first_numbers = dict(sizes), list(numbers)
            return
        differ = {d for d, n in sizes.items() if self.first[d] != n}
        others = {i for i, n in enumerate(numbers) if self.first_numbers[i] != n}
        if differ <= self.varying and others <= self.varying_numbers:
            return
        self.varying |= differ
        self.varying_numbers |= others
        same = tuple([(d, n) for d, n in self.first.items() if d not in self.varying])
        same_numbers = tuple([n for i, n in enumerate(self.first_numbers) if i not in self.varying_numbers])
        self.program = self.varying, self.varying_numbers, same, same_numbers

    @property
    def is_open(self) -> bool:
        return self.program is not None and self.arrivals > APART and not self.refused


class Families:
    """What is known of the families that were met last."""

    def __init__(self) -> None:
        self.known: OrderedDict[Any, Family] = OrderedDict()

    def get(self, key: Any) -> Family:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Family()
            if len(self.known) > MOST_FAMILIES:
                self.known.popitem(last=False)
        return found


def generic(key: Sequence[Any], at: Sequence[int]) -> tuple[tuple[Any, ...], dict[str, int]] | None:
    """A call's key without sizes above 1 and amounts, which are `at` there, and the sizes; None where one name has
    several."""
    found = list(key)
    sizes: dict[str, int] = {}
    for i in at:
        found[i] = Amount, found[i][0]
    for i, what in enumerate(found):
        if not isinstance(what, _native.ArrayType) or not what.dims:
            continue
        for dim, size in zip(what.dims, what.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                return None
        found[i] = what.dtype, what.weak, what.dims, tuple([min(n, 2) for n in what.shape])
    return tuple(found), {d: n for d, n in sizes.items() if n > 1}


def is_wide(x: Any) -> bool:
    """Whether `x` is an int beyond 64 bits with sign, which some dtypes hold: part of the program, no argument."""
    return isinstance(x, int) and not -(2**63) <= x < 2**63


IsAmount: TypeAlias = Callable[[Any], bool]


def with_amounts(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    amounts: tuple[Sequence[IsAmount | None], Mapping[str, IsAmount]],
    which: frozenset[int],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with an `Amount` in place of each number of `which`, counted as `_Arguments.scan` meets them."""
    count = itertools.count()

    def replaced(x: Any, is_amount: IsAmount | None) -> Any:
        if is_amount is None:
            return x
        if type(x) in (int, float):
            return Amount(x) if not is_wide(x) and is_amount(x) and next(count) in which else x
        if type(x) in (tuple, list):
            return type(x)([replaced(item, is_amount) for item in x])
        if isinstance(x, dict):
            return {k: replaced(v, is_amount) for k, v in x.items()}
        return x

    new = tuple([replaced(x, a) for x, a in zip(args, amounts[0], strict=True)])
    return new, {k: replaced(x, amounts[1].get(k)) for k, x in kwargs.items()}
