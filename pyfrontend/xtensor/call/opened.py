"""Which programs public functions keep, and which of them serve every size and every amount.

A function that meets new sizes is compiled for them twice. After that one program serves all sizes of the dims that
vary, and all of the numbers that only say how far or how much (`Amount`).
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from ..base.latest import Latest

if TYPE_CHECKING:
    from .entry import Entry

# Programs of all public functions together, of each jitted function, and of each that vjp and its like met: about
# 20 kB each.
MOST = 1024
# What is remembered of how sizes vary: about 1 kB each.
MOST_FAMILIES = 4096
# How many times a family is compiled for the sizes and the numbers of a call.
APART = 2
# How often Python finds the program of a family for one call. These calls take about as long as a compilation, so then
# the call gets a program of its own, which C++ finds.
OFTEN = 256
# Elements of an argument of a wide form (`op(wide=)`). To read more of them at computed positions takes longer than a
# compilation.
LARGEST = 1 << 16


class Amount:
    """A number that is an argument of the program: `number` is its value, or stands for it while tracing."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number


class Follows(tuple[Any, ...]):
    """Arguments of a wide form (`op(wide=)`) that follow from static arguments and the dims of arrays alone: one for
    each of the call, arrays in the place of arrays, whose dims may be `renamed`."""


class InOrder(tuple[Any, ...]):
    """Arguments of a wide form that copies slices, and reads nothing at computed positions: arrays may be large."""


class FollowsInOrder(Follows):
    """The same of arguments that follow."""


class Programs:
    """The compiled programs of all public functions, or of one jitted function. Those go that were not called since
    they were last looked at."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.entries: dict[Any, Entry] = {}
        self.adding = threading.RLock()

    def add(self, key: Any, retire: Callable[[Any], bool], entry: Entry) -> None:
        """`retire` is that of the function that may call the entry without asking here (`Function.retire`)."""
        entry.retire = retire
        with self.adding:
            self.entries[key] = entry
            while len(self.entries) > self.most:
                oldest = next(iter(self.entries))
                gone = self.entries.pop(oldest)
                # What stays must not be retired: C++ would not find it again.
                if gone.used or gone is entry or gone.retire(gone.executable):
                    gone.used = False
                    self.entries[oldest] = gone


class Opened(NamedTuple):
    """What the program of a family leaves open: dims, and amounts by number. `key` has what it does not, too."""

    varying: frozenset[str]
    varying_numbers: frozenset[int]
    key: Any


class Family:
    """Calls that differ in sizes of dims and in amounts alone."""

    __slots__ = ("arrivals", "first", "first_numbers", "opened", "refused")

    def __init__(self, sizes: Mapping[str, int], numbers: Sequence[Any]) -> None:
        self.arrivals = 0  # calls that no program was there for
        self.refused = False  # the function needs to know its sizes, or its numbers
        self.first = dict(sizes)  # of the first call
        self.first_numbers = list(numbers)
        self.opened: Opened | None = None  # None: nothing has varied

    def meet(self, sizes: Mapping[str, int], numbers: Sequence[Any]) -> Opened | None:
        """What varies, this call included; None: it is compiled for its own sizes and numbers."""
        self.arrivals += 1
        varying = {d for d, n in sizes.items() if self.first[d] != n}
        amounts = {i for i, n in enumerate(numbers) if self.first_numbers[i] != n}
        found = self.opened
        is_known = found is not None and varying <= found.varying and amounts <= found.varying_numbers
        if (varying or amounts) and not is_known:
            found = self.opened = self._open(varying, amounts)
        return found if self.arrivals > APART and not self.refused else None

    def _open(self, dims: Set[str], amounts: Set[int]) -> Opened:
        before = self.opened or Opened(frozenset(), frozenset(), None)
        varying, numbers = before.varying | dims, before.varying_numbers | amounts
        same = tuple([(d, n) for d, n in self.first.items() if d not in varying])
        same_numbers = tuple([n for i, n in enumerate(self.first_numbers) if i not in numbers])
        return Opened(varying, numbers, (varying, numbers, same, same_numbers))


class Families:
    """What is known of the families that were met last."""

    def __init__(self) -> None:
        self.latest = Latest(MOST_FAMILIES)
        self.calls = Latest(MOST_FAMILIES)
        self.meeting = threading.RLock()

    def is_often(self, call: Any) -> bool:
        """Whether the call with this key gets a program of its own, and none of a family."""
        count: Iterator[int] = self.calls(call, itertools.count)
        return next(count) >= OFTEN

    def meet(self, key: Any, sizes: Mapping[str, int], numbers: Sequence[Any]) -> tuple[Family, Opened | None]:
        """The family of a call, and what its program leaves open: other threads may open more meanwhile."""
        with self.meeting:
            found: Family = self.latest(key, lambda: Family(sizes, numbers))
            return found, found.meet(sizes, numbers)


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


def apart(dim: str, number: int = 0) -> str:
    """The name of a dim of an argument that may differ in size from that dim of the result."""
    return f"{dim}~{number}"


def renamed(x: Any, names: Mapping[str, str]) -> Any:
    """The same memory with other names for some dims, so that these may differ in size from those of a result."""
    kind = x.type
    return x._view(_native.ArrayType(kind.dtype, [names.get(d, d) for d in kind.dims], kind.shape, kind.weak))


def room(dim: str, size: int, device: _native.Device | None) -> Any:
    """An argument that tells a program the size of a dim of its result. The values are not read."""
    return _native.empty(_native.ArrayType("bool", (dim,), (size,)), device)


class Within(NamedTuple):
    """For `op(amounts=)`: the numbers of a parameter that are amounts. Between two ints, only ints are."""

    least: float
    most: float

    def __contains__(self, x: Any) -> bool:
        return (type(x) is int or type(self.least) is float) and self.least <= x <= self.most

    def range(self, x: Any) -> tuple[Any, ...]:
        """(least, most), which C++ asks for of numbers of the class of `x`; nothing where it takes all of them."""
        return () if self in (any_int, any_number) or type(x) is not type(self.least) else (self.least, self.most)


any_int = Within(-(2**63), 2**63 - 1)
any_number = Within(-math.inf, math.inf)


def with_amounts(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    amounts: tuple[Sequence[Within | None], Mapping[str, Within]],
    which: frozenset[int],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with an `Amount` in place of each number of `which`, counted as `Scanned.scan` meets them."""
    count = itertools.count()

    def replaced(x: Any, those: Within | None) -> Any:
        if those is None:
            return x
        if type(x) in (int, float):
            return Amount(x) if not is_wide(x) and x in those and next(count) in which else x
        if type(x) in (tuple, list):
            return type(x)([replaced(item, those) for item in x])
        if isinstance(x, dict):
            return {k: replaced(v, those) for k, v in x.items()}
        if isinstance(x, slice):
            return slice(*(replaced(part, those) for part in (x.start, x.stop, x.step)))
        return x

    new = tuple([replaced(x, a) for x, a in zip(args, amounts[0], strict=True)])
    return new, {k: replaced(x, amounts[1].get(k)) for k, x in kwargs.items()}
