"""Where a NaN or an infinity comes from, for `xt.option(nan="raise")`: a second run of a program, on the CPU.

The second run gives every value of a block. The search begins at elements of a result that are not finite. It goes back
to such elements of operands, until an op made one of finite operands. Loops and branches are entered, and loops run
step by step.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..base import dtypes
from ..base.dims import describe
from ..base.errors import Error, NonFiniteError
from ..ir import context as c
from ..trace.program import Program
from .blocks import MAIN, Block, Name, Names, Place, Values, only_acts
from .origins import (
    Source,
    copy_of,
    function_of,
    inside,
    is_named_alike,
    is_public,
    main_of,
    ops_in,
    source_at,
    source_of,
)  # fmt: skip

if TYPE_CHECKING:
    from ..mlir import ir

_LOOPS = ("xtensor.scan", "xtensor.while", "xtensor.switch")  # ops with regions that this module runs itself
_PASSES = "builtin.module(xtensor-simplify,xtensor-differentiate)"
# Elementwise ops that make NaN or infinities of finite operands.
_MAKERS = {
    "acos", "acosh", "add", "asin", "atanh", "cast", "cosh", "digamma", "div", "erfcinv", "erfcx", "erfinv", "exp",
    "exp2", "expm1", "floor_div", "i0", "i1", "lgamma", "log", "log10", "log1p", "log2", "mod", "mul", "polygamma",
    "pow", "rsqrt", "scale", "sinh", "sqrt", "sub", "tan", "y0", "y1",
}  # fmt: skip
# Functions that choose NaN or infinities themselves, as the power of complex numbers does.
_WITH_CONSTANTS = {c.written(op) for op in _MAKERS}
_AROUND = 2  # elements on each side of the one that is told


def values_of(x: Any) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = _native.as_numpy(x)
    return found


def is_finite(x: Any) -> bool:
    """Whether no element is NaN or infinite."""
    return not dtypes.is_inexact(dtypes.BY_NAME[x.type.dtype]) or bool(np.isfinite(values_of(x)).all())


def copied(x: Any) -> Any:
    """An array with memory of its own, on the CPU."""
    return _native.from_buffer(np.array(values_of(x)), x.dims)


def has_effects(program: Program) -> bool:
    """Whether a second run would repeat what calls do beside their results: those with ``ordered=True``."""
    ops = ops_in(main_of(program.module))
    return any(op.name == "xtensor.callback" and "ordered" in op.attributes and not only_acts(op) for op in ops)


def has_calls(program: Program) -> bool:
    """Whether values of a program are what functions of Python return."""
    return any(op.name == "xtensor.callback" and len(op.results) for op in ops_in(main_of(program.module)))


def search(program: Program, arrays: Sequence[Any]) -> tuple[NonFiniteError | None, bool]:
    """The error about the op that makes the first NaN or infinity of finite operands, or else the first NaN of infinite
    ones; None if what is not finite comes from arguments or constants; and whether the second run has any. `arrays`:
    the arguments, and what the function captured."""
    given = [_native.to_device(x, None) for x in arrays]
    with c.diagnosed(Error):
        found, is_there = _Search(program).find(given)
    return None if found is None else found.error(), is_there


@dataclass(frozen=True)
class Finding:
    """An op that made something that is not finite."""

    op: str  # as a user writes it
    where: str
    source: Source
    result: Any
    operands: tuple[tuple[str, Any], ...]
    bad: np.ndarray[Any, Any]  # where it made that
    steps: tuple[str, ...] = ()
    is_chosen: bool = False  # a function of the user's gave it as a constant
    is_of_infinite: bool = False  # infinities among the operands are given, or constants

    def error(self) -> NonFiniteError:
        values = values_of(self.result)
        bad = self.bad
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        dims = self.result.dims
        place = dict(zip(dims, at, strict=True))
        made = "nan" if np.isnan(values[at]) else str(values[at])
        op = self.op if is_public(self.op) else self.source.function or self.op
        text = f"{op} made {made} of {'operands that hold infinities' if self.is_of_infinite else 'finite operands'}"
        if self.source.is_derived:
            text = f"in the derivative of {self.source.function or 'an op'}, {text}"
        elif self.source.function and not is_named_alike(self.source.function, op):
            text = f"in {self.source.function}, {text}"
        if dims:
            listed = ", ".join(f"{_name(d)}={i}" for d, i in place.items())
            text += f" at {listed} ({int(bad.sum())} of {values.size} elements of {_described(self.result)})"
        lines = [text, *(f"  {step}" for step in self.steps)]
        lines += [f"  {name}: {_around(x, place)}" for name, x in self.operands]
        lines.append(f"  result: {_around(self.result, place)}")
        return NonFiniteError("\n".join(lines), self.where or None)


def _name(dim: str) -> str:
    """A dim without what tells it from another one of the program."""
    return dim.partition("~")[0]


def _described(x: Any) -> str:
    """The dims of an array. A second dim of one name has a prime: (i: 2, i': 2)."""
    names: list[str] = []
    for d in x.dims:
        name = _name(d)
        while name in names:
            name += "'"
        names.append(name)
    return describe(names, x.shape)


def _around(x: Any, place: Mapping[str, int]) -> str:
    """The type of an array, its element at a place, and those beside it."""
    values = values_of(x)
    kind = f"{values.dtype.name} {_described(x)}"
    if not set(x.dims) <= place.keys() or any(place[d] >= n for d, n in zip(x.dims, x.shape, strict=True)):
        known = values[np.isfinite(values)] if values.dtype.kind in "fc" else values
        between = f", {known.min():.6g} to {known.max():.6g}" if known.size and known.dtype.kind in "fiu" else ""
        return kind + between
    at = tuple(place[d] for d in x.dims)
    text = f"{kind}, {values[at]:.6g}" if values.dtype.kind in "fiu" else f"{kind}, {values[at]}"
    if not x.dims or values.shape[-1] == 1:
        return text
    first, last = max(at[-1] - _AROUND, 0), min(at[-1] + _AROUND + 1, values.shape[-1])
    beside = ", ".join(f"{v:.6g}" if values.dtype.kind in "fiu" else str(v) for v in values[at[:-1]][first:last])
    return f"{text}; {_name(x.dims[-1])}={first} to {last - 1}: {beside}"


@dataclass(frozen=True)
class _Mask:
    """Elements of an array: a bool for each, along dims. The parts of complex numbers are a dim of their own."""

    dims: tuple[str, ...]
    at: np.ndarray[Any, Any]

    def over(self, dims: Sequence[str]) -> np.ndarray[Any, Any]:
        """For arrays with these dims: any along those that they lack, and size 1 along those that the mask lacks."""
        lacking = tuple(i for i, d in enumerate(self.dims) if d not in dims)
        kept = [d for d in self.dims if d in dims]
        order = [kept.index(d) for d in dims if d in kept]
        index: Any = tuple(slice(None) if d in kept else None for d in dims)
        return np.asarray(self.at.any(axis=lacking)).transpose(order)[index]

    def along(self, dims: Collection[str]) -> _Mask:
        """Any along the other dims."""
        kept = tuple(d for d in self.dims if d in dims)
        return _Mask(kept, self.over(kept))

    def __or__(self, other: _Mask) -> _Mask:
        dims = (*self.dims, *(d for d in other.dims if d not in self.dims))
        return _Mask(dims, self.over(dims) | other.over(dims))


_ALL = _Mask((), np.asarray(True))


def _real(x: Any) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """The dims and the values; of complex numbers those of the pairs."""
    values = values_of(x)
    if values.dtype.kind != "c":
        return x.dims, values
    pairs = np.array(values, order="C")[..., None].view(dtypes.real_of(values.dtype))
    return (*x.dims, c.PAIR), pairs


def _bad(x: Any, wanted: _Mask = _ALL) -> _Mask:
    """The wanted elements that are not finite."""
    dims, values = _real(x)
    return _Mask(dims, ~np.isfinite(values) & wanted.over(dims))


class _Search:
    def __init__(self, program: Program) -> None:
        self.name, self.functions = program.name, program.called
        self.module = copy_of(program.module)
        if _needs_passes(self.module):
            c.run_passes(self.module, _PASSES)
        self.copy = Names(self.module)
        self.blocks: dict[Place, Block] = {}
        self.operations: dict[Place, list[ir.Operation]] = {}

    def block(self, place: Place) -> Block:
        if place not in self.blocks:
            self.blocks[place] = Block(self.copy, place, self.name, self.functions)
        return self.blocks[place]

    def find(self, arrays: Sequence[Any]) -> tuple[Finding | None, bool]:
        known: Values = {(MAIN, -1, i): x for i, x in enumerate(arrays)}
        found = {**known, **self.block(MAIN).run(known)}
        bad = [name for name in self.block(MAIN).yields if not is_finite(found[name])]
        return self.back(MAIN, found, dict.fromkeys(bad, _ALL)), bool(bad)

    def inside(self, place: Place, known: Values, wanted: _Mask, result: int | None = None) -> Finding | None:
        """What made a wanted element that the block yields not finite. `known`: its arguments, and what it reads from
        above. result: the number of the value; None: any."""
        block = self.block(place)
        found = {**known, **block.run(known)}
        names = block.yields if result is None else [block.yields[result]]
        return self.back(place, found, dict.fromkeys(names, wanted))

    def back(self, place: Place, known: Values, wanted: Mapping[Name, _Mask]) -> Finding | None:
        """What made one of the wanted elements of values of a block not finite: the first op that did.

        It goes through the ops from the last one to the first, so that all that uses a value was there before it."""
        masks: dict[Name, _Mask] = {}
        queue: list[int] = []  # numbers of ops, the last one first
        queued: set[int] = set()
        makers: list[Callable[[], Finding | None]] = []

        def want(name: Name, mask: _Mask) -> None:
            bad = _bad(known[name], mask)
            if name[0] != place or name[1] < 0 or not bad.at.any():
                return  # given from outside, or nothing is wrong
            masks[name] = masks[name] | bad if name in masks else bad
            if name[1] not in queued:
                queued.add(name[1])
                heapq.heappush(queue, -name[1])

        for name, mask in wanted.items():
            want(name, mask)
        while queue:
            number = -heapq.heappop(queue)
            op = self.ops(place)[number]
            for k in range(len(op.results)):
                if (name := (place, number, k)) in masks:
                    makers += self.visited(op, name, known, masks, want)
        found = next((finding for maker in reversed(makers) if (finding := maker()) is not None), None)
        return self.outermost(found, place, known, masks) if found is not None and found.is_chosen else found

    def visited(
        self, op: ir.Operation, name: Name, known: Values, masks: Mapping[Name, _Mask], want: Callable[..., None]
    ) -> list[Callable[[], Finding | None]]:
        """Wants what the wanted elements of a value were made of. Gives what may find that its op made them; at most
        one."""
        place, number, k = name
        value, wanted = known[name], masks[name]
        operands = [(self.copy.names[x], x) for x in op.operands]
        elements: dict[Name, _Mask] = {}
        passed = _passed(op)
        for i, (n, _) in enumerate(operands):
            some = _wanted_of(op, i, passed, known[n], known[operands[0][0]], wanted)
            elements[n] = elements[n] | some if n in elements else some  # an operand may be there twice
        inner = [(*place, (number, r)) for r in range(len(op.regions))]
        for x in (x for p in inner for x in self.copy.captured(p)):
            elements.setdefault(self.copy.names[x], wanted.along(passed))
        bad = [n for n, some in elements.items() if _bad(known[n], some).at.any()]
        for n in bad:
            want(n, elements[n])
        if op.name == "xtensor.switch":
            selector = int(values_of(known[operands[0][0]]))
            taken = inner[min(max(selector, 0), len(inner) - 1)]
            return [lambda: self.inside(taken, known, wanted, k)]
        if op.regions:
            return [lambda: self.enter(op, inner[0], known, wanted.along(passed))]
        made = _made_here(op, wanted, [known[n] for n, _ in operands])
        if made.at.any():
            return [lambda: self.finding(op, value, operands, known, made)]
        if _may_choose(op) and all(self.is_constant(n) for n in bad):
            return [lambda: self.chosen(op, value, operands, known, wanted)]
        if not operands:
            return []  # a constant
        if not bad:
            return [lambda: self.finding(op, value, operands, known, wanted)]
        born = _born_here(op, value, wanted, [known[n] for n in bad])
        if not born.at.any():
            return []  # handed on
        return [lambda: replace(self.finding(op, value, operands, known, born), is_of_infinite=True)]

    def ops(self, place: Place) -> list[ir.Operation]:
        if place not in self.operations:
            self.operations[place] = [view.operation for view in self.copy.blocks[place].operations]
        return self.operations[place]

    def chosen(self, op: ir.Operation, *about: Any) -> Finding:
        """The finding that a function chose a constant."""
        return replace(self.finding(op, *about), op=source_of(op).function, is_chosen=True)

    def outermost(self, found: Finding, place: Place, known: Values, masks: Mapping[Name, _Mask]) -> Finding:
        """Of a function that chose a constant, the op whose elements are those of its result."""
        for name in sorted(masks, key=lambda name: name[1]):
            op = self.ops(place)[name[1]]
            is_alike = source_of(op) == found.source and c.file_line(op.location) == found.where
            operands = [(self.copy.names[x], x) for x in op.operands]
            if is_alike and op.name == "xtensor.select" and any(known[n] is found.result for n, _ in operands):
                found = self.chosen(op, known[name], operands, known, masks[name])
        return found

    def is_constant(self, name: Name) -> bool:
        place, number, _ = name
        return number >= 0 and self.ops(place)[number].name == "xtensor.constant"

    def finding(
        self, op: ir.Operation, value: Any, operands: Sequence[tuple[Name, Any]], known: Values, bad: _Mask
    ) -> Finding:
        named = tuple((f"operand {i}, {self.called(n, x)}", known[n]) for i, (n, x) in enumerate(operands))
        at = np.broadcast_to(bad.over(value.dims), value.shape)
        return Finding(function_of(op), c.file_line(op.location), source_of(op), value, named, at)

    def called(self, name: Name, x: Any) -> str:
        """What an operand is called: a parameter's name, or the op that gives it."""
        place, number, k = name
        if number < 0:
            return _parameter(x) or _kept(x) or (f"argument {k} of the body" if place else f"argument {k}")
        giver = x.owner
        if giver.name == "xtensor.constant":
            return "a constant"
        if (whole := _parts_of(giver)) is not None:
            return f"a part of {self.called(self.copy.names[whole], whole).removeprefix('of ')}"
        source, of = source_of(giver), function_of(giver)
        if source.is_derived:
            of = f"the derivative of {source.function or 'an op'}"
        elif source.function and not is_named_alike(source.function, of):
            of = f"{of} inside of {source.function}"
        return f"of {of}{_in_line(giver.location)}"

    # -- loops and branches -------------------------------------------------------------------------------------------

    def enter(self, op: ir.Operation, place: Place, known: Values, wanted: _Mask) -> Finding | None:
        kind = op.name
        steps = self.scan(op, place, known) if kind == "xtensor.scan" else self.loop(op, place, known)
        where = c.file_line(op.location)
        for number, inner, given in steps:
            found = self.inside(inner, given, wanted)
            if found is not None:
                loop = source_of(op).function or c.written(kind.removeprefix("xtensor."))
                told = f"in step {number} of {loop}"
                return replace(found, steps=(f"{told} at {where}" if where else told, *found.steps))
        return None

    def advance(self, place: Place, known: Values, count: int) -> list[Any]:
        """The next carry."""
        block = self.block(place)
        found = {**known, **block.run(known)}
        return [found[name] for name in block.yields[:count]]

    def scan(self, op: ir.Operation, place: Place, known: Values) -> Iterator[tuple[int, Place, Values]]:
        """The steps of a scan: (position, block, values)."""
        carries, count, _ = op.attributes["operandSegmentSizes"]
        operands = [known[self.copy.names[x]] for x in op.operands]
        carry, xs = operands[:carries], operands[carries : carries + count]
        dim = op.attributes["dim"].value
        if xs:
            length = xs[0].shape[xs[0].dims.index(dim)]
        elif len(operands) > carries + count:
            length = int(values_of(operands[-1]))
        else:
            length = op.attributes["length"].value
        order = range(length - 1, -1, -1) if "reverse" in op.attributes else range(length)
        for i in order:
            given = [*carry, *(_element(x, dim, i) for x in xs)]
            here = {**known, **{(place, -1, k): x for k, x in enumerate(given)}}
            yield i, place, here
            carry = self.advance(place, here, carries)

    def loop(self, op: ir.Operation, place: Place, known: Values) -> Iterator[tuple[int, Place, Values]]:
        """The steps of a while loop."""
        carry = [known[self.copy.names[x]] for x in op.operands]
        most = op.attributes["max_steps"].value if "max_steps" in op.attributes else None
        condition, body = place, (*place[:-1], (place[-1][0], 1))
        i = 0
        while most is None or i < most:
            asked = {**known, **{(condition, -1, k): x for k, x in enumerate(carry)}}
            if not bool(values_of(self.advance(condition, asked, 1)[0])):
                return
            here = {**known, **{(body, -1, k): x for k, x in enumerate(carry)}}
            yield i, body, here
            carry = self.advance(body, here, len(carry))
            i += 1


def _made_here(op: ir.Operation, wanted: _Mask, operands: Sequence[Any]) -> _Mask:
    """Where an elementwise op made what is not finite of finite elements. Elsewhere, an operand may have it already."""
    if op.name.removeprefix("xtensor.") not in _MAKERS:
        return _Mask((), np.asarray(False))
    made = wanted.at
    for x in operands:
        made = made & ~_bad(x).over(wanted.dims)
    return _Mask(wanted.dims, made)


def _born_here(op: ir.Operation, value: Any, wanted: _Mask, operands: Sequence[Any]) -> _Mask:
    """Where an op made NaN of infinities: an elementwise one where no operand has NaN, another one if none has any."""
    dims, values = _real(value)
    born = np.isnan(values) & wanted.over(dims)
    for x in operands:
        names, given = _real(x)
        has = _Mask(names, np.isnan(given))
        born = born & ~(has.over(dims) if op.name.removeprefix("xtensor.") in _MAKERS else has.at.any())
    return _Mask(dims, born)


def _names_in(op: ir.Operation) -> set[str]:
    """The names in attributes of an op, and of ops inside of it."""
    mlir, found = c.mlir(), set[str]()
    for each in (op, *inside(op)):
        for name in each.attributes:
            attribute = each.attributes[name]
            if isinstance(attribute, mlir.StringAttr):
                found.add(attribute.value)
            elif isinstance(attribute, mlir.ArrayAttr) and name != "order":  # of dims that an op hands on
                found |= {x.value for x in attribute if isinstance(x, mlir.StringAttr)}
    return found


def _passed(op: ir.Operation) -> set[str]:
    """The dims of results along which an element is made of those of operands at the same position. Where an op mixes
    positions of a dim, an attribute names it: that is how xt.vectorize can add dims to each op."""
    dims = {d for x in op.results for d in c.compiler().array_parts(x.type)[0]}
    return dims - _names_in(op)


def _wanted_of(op: ir.Operation, i: int, passed: set[str], operand: Any, condition: Any, wanted: _Mask) -> _Mask:
    """The elements of operand `i` that the wanted ones of the result are made of."""
    if op.name == "xtensor.select" and i:
        dims, holds = _real(condition)
        chosen = _Mask(dims, holds.astype(bool) if i == 1 else ~holds.astype(bool))
        wanted = _Mask(wanted.dims, wanted.at & chosen.over(wanted.dims))
    some = wanted.along(passed)
    if op.name == "xtensor.select" or op.name.removeprefix("xtensor.") in _MAKERS:
        return some
    # What names the dims that an op mixes may be missing here: then all elements count.
    return some if _bad(operand, some).at.any() else _ALL


def _may_choose(op: ir.Operation) -> bool:
    """Whether an op is how a function of the user's gives a constant of its own."""
    return op.name == "xtensor.select" and source_of(op).function in _WITH_CONSTANTS


def _element(x: Any, dim: str, i: int) -> Any:
    at = x.dims.index(dim)
    values = np.array(np.take(values_of(x), i, axis=at), order="C")
    return _native.from_buffer(values, (*x.dims[:at], *x.dims[at + 1 :]))


def _needs_passes(module: ir.Module) -> bool:
    """Whether there are ops that this module cannot run: derivatives, instances, rules."""
    return any(len(op.regions) and op.name not in _LOOPS for op in ops_in(main_of(module)))


def _parts_of(op: ir.Operation) -> Any:
    """The complex array whose real or imaginary part an op gives; None if it does not."""
    if op.name != "xtensor.squeeze":
        return None
    slice_ = op.operands[0].owner  # a block has no name
    is_part = getattr(slice_, "name", "") == "xtensor.slice" and _names_in(op) == {c.PAIR}
    return slice_.operands[0] if is_part else None


def _parameter(x: Any) -> str:
    """The name of a parameter; empty if it has none."""
    where = getattr(x, "location", None)
    if where is None or not where.is_a_name():
        return ""
    return "" if where == x.owner.owner.location else where.name_str  # of a pass, which names its op


def _kept(x: Any) -> str:
    """The op of the forward loop whose value an argument of the derivative's loop is; empty if it is another one."""
    where = getattr(x, "location", None)
    if where is None or not str(where).startswith('loc(fused<"residual">'):
        return ""
    source = source_at(where.locations[0])
    of = f"the derivative of {source.function or 'an op'}" if source.is_derived else source.function
    return f"of {of}{_in_line(where)}" if of else ""


def _in_line(where: ir.Location) -> str:
    line = c.file_line(where).rpartition(":")[2]
    return f" in line {line}" if line else ""
