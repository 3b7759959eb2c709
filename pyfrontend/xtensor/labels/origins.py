"""Follows each dim of the results of a program back through all ops to the arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base import dtypes
from ..ir.context import file_line, is_array, spec_of
from .relabel import Relabel, reads
from .xarray import (
    AS_CONDITION,
    AS_INDEX,
    OWNER,
    POINTS,
    WHOLE,
    Followed,
    Given,
    Labels,
    Meeting,
    Origin,
    digests,
    labels_of,
)

if TYPE_CHECKING:
    from ..trace.program import Program

LOST = ("lost",)  # the step of what is left out
_RAISES = 0  # the mode of a gather that takes no position out of range
_LOST = frozenset({"xtensor.iota", "xtensor.constant", "xtensor.size"})


class Origins:
    """For each value of a program, where its dims come from."""

    def __init__(self, program: Program) -> None:
        self.known: dict[Any, dict[str, frozenset[Origin]]] = {}
        self.free: set[Any] = set()  # values that no argument has a part in
        self.maps: dict[Any, tuple[list[Any], list[Any]]] = {}  # of a handle: what it gives, what it takes
        self.arguments: dict[Any, int] = {}  # values that are an argument, in regions too
        self.instances: set[Any] = set()  # of these, those that are one instance of it: each has other values
        self.kept = program.labels
        self.joined = program.joined
        self.fed = program.fed
        self.owned = program.owned
        self.called = program.followed
        self.meetings: dict[Any, Meeting] = {}
        block = program.main.regions[0].blocks[0]
        for i, argument in enumerate(block.arguments):
            self.known[argument] = {d: frozenset({(i, d, ())}) for d in (*self._dims(argument), WHOLE)}
            self.arguments[argument] = i
        self.last = self._block(block)

    @staticmethod
    def _dims(value: Any) -> tuple[str, ...]:
        return spec_of(value.type).dims if is_array(value.type) else ()

    def _block(self, block: Any) -> Any:
        for view in block.operations:
            self._operation(view.operation)
            for result in view.operation.results if self.called or self.joined else ():
                if result in self.called:
                    self._called(*self.called[result])
                for number, joined in enumerate(self.joined.get(result, ())):
                    self._meet(view.operation, (result, "joined", number), *joined)
        ops = list(block.operations)
        return ops[-1].operation if ops else None

    def _either(self, values: Iterable[Any]) -> dict[str, frozenset[Origin]]:
        """Of a value that is one of these: as of their sum, but a dim that is lost in one of them is lost. One that
        no argument has a part in goes with any other."""
        found = [self.known.get(v, {}) for v in values if v not in self.free]
        empty: frozenset[Origin] = frozenset()
        dims = dict.fromkeys(d for f in found for d in f)
        return {
            d: empty.union(*(f.get(d, empty) for f in found)) if all(f.get(d) for f in found) else empty for d in dims
        }

    def _choice(self, o: Any) -> None:
        ends = [self._block(region.blocks[0]) for region in o.regions]
        for i, result in enumerate(o.results):
            self.known[result] = self._either([end.operands[i] for end in ends])

    def _loop(self, o: Any) -> None:
        """A carry is its first value or any next one."""
        operands, body = list(o.operands), o.regions[len(o.regions) - 1].blocks[0]
        carries, along = operands, ""
        if o.name == "xtensor.scan":
            along = o.attributes["dim"].value
            sizes = o.attributes["operandSegmentSizes"]
            carries, over = operands[: sizes[0]], operands[sizes[0] : sizes[0] + sizes[1]]
            for argument, x in zip(list(body.arguments)[len(carries) :], over, strict=True):
                self.known[argument] = {d: f for d, f in self.known.get(x, {}).items() if d != along}
            places: frozenset[Origin] = frozenset().union(
                *(self.known.get(x, {}).get(along, frozenset()) for x in over)
            )
        arguments = list(body.arguments)[: len(carries)]
        for argument, first in zip(arguments, carries, strict=True):
            self.known[argument] = self.known.get(first, {})
            if first in self.free:
                self.free.add(argument)
        for left in itertools.count(3, -1):
            ends = list(self._block(body).operands)
            found = [self._either(pair) for pair in zip(carries, ends[: len(carries)], strict=True)]
            if left < 2:  # what has moved once more moves at every step
                found = [_still(self.known[a], f) for a, f in zip(arguments, found, strict=True)]
            settled = all(self.known[a] == f for a, f in zip(arguments, found, strict=True))
            for argument, f, end in zip(arguments, found, ends, strict=False):
                self.known[argument] = f
                if end not in self.free:
                    self.free.discard(argument)
            if settled:
                break
        for result, f in zip(o.results, found, strict=False):
            self.known[result] = f
        for result, y in zip(list(o.results)[len(carries) :], ends[len(carries) :], strict=True):
            self.known[result] = {**self.known.get(y, {}), along: places}

    def _operation(self, o: Any) -> None:
        operands = list(o.operands)
        if o.name == "builtin.module":
            self._unfinished(o)
            return
        if o.name == "xtensor.switch":
            self._choice(o)
            return
        if o.name in ("xtensor.scan", "xtensor.while"):
            self._loop(o)
            return
        names = [d.value for d in o.attributes["names"]] if o.name == "xtensor.vectorize" else []
        # Of a custom derivative, the primal tells.
        for region in [o.regions[0]] if o.name == "xtensor.custom_derivative" else o.regions:
            for block in region.blocks:
                for argument, operand in zip(block.arguments, operands, strict=False):
                    self.known[argument] = self.known.get(operand, {})
                    if operand in self.arguments:
                        self.arguments[argument] = self.arguments[operand]
                        if operand in self.instances or {*names} & {*self._dims(operand)}:
                            self.instances.add(argument)
                terminator = self._block(block)
                for result, value in zip(o.results, terminator.operands, strict=False):
                    self.known[result] = self.known.get(value, {})
        if o.name == "xtensor.vectorize":
            froms = [self.known.get(x, {}) for x in operands]
            batch = {d: frozenset().union(*(f.get(d, frozenset()) for f in froms)) for d in names}
            for result in o.results:
                self.known[result] = {**self.known.get(result, {}), **batch}
        if o.name in ("xtensor.pullback", "xtensor.pushforward"):
            yielded = list(terminator.operands)
            moved = [v for v in yielded if dtypes.is_inexact(spec_of(v.type).dtype)]
            if o.name == "xtensor.pullback":
                wrt = [operands[int(i)] for i in o.attributes["wrt"]]
                self.maps[o.results[len(o.results) - 1]] = (wrt, moved)
            else:
                for result, value in zip(list(o.results)[len(yielded) :], moved, strict=True):
                    self.known[result] = self.known.get(value, {})
        if o.regions:
            return
        if o.name == "xtensor.transposed":
            self.maps[o.result] = self.maps.get(operands[0], ([], []))[::-1]
            return
        if o.name == "xtensor.apply":
            for result, source in zip(o.results, self.maps.get(operands[0], ([], []))[0], strict=False):
                self.known[result] = self.known.get(source, {})
                if source in self.arguments:
                    owner = frozenset({(self.arguments[source], "", ())})
                    self.known[result] = {**self.known[result], OWNER: owner}
            return
        for result in o.results:
            self.known[result] = self._through(o, operands, self._dims(result))
            if all(x in self.free for x in operands):
                self.free.add(result)
            if result in self.kept:
                source, steps = self.kept[result]
                origins = self.known.get(source, {})
                left = {d: f for d, f in origins.items() if steps.get(d) != LOST}
                stepped = {_put(d, steps.get(d)): _stepped(f, steps.get(d)) for d, f in left.items()}
                there = {*self._dims(result), POINTS, WHOLE, OWNER}
                self.known[result] = {d: f for d, f in stepped.items() if d in there}
            if result in self.owned:
                number, source = self.owned[result]
                behind = self.known.get(source, {}) if source is not None else {}
                open_dims = [d for d, n in spec_of(result.type).sizes.items() if n is None]
                own = {d: frozenset({(-1 - number, d, ())}) for d in (*self._dims(result), WHOLE)}
                self.known[result] = own | {d: behind.get(d, frozenset()) for d in open_dims}

    def _unfinished(self, o: Any) -> None:
        """What stands for an op while its regions are being traced."""
        for block in (block for region in o.regions for block in region.blocks):
            for argument in block.arguments:
                outer = self.fed.get(argument)
                if outer is not None:
                    there = {*self._dims(argument), POINTS, WHOLE}
                    self.known[argument] = {d: f for d, f in self.known.get(outer, {}).items() if d in there}
            self._block(block)

    def _meet(
        self, o: Any, key: Any, name: str, joined: Sequence[Any], along: Sequence[tuple[str, ...]] | None
    ) -> None:
        specs = [spec_of(v.type) for v in joined]
        along = [s.dims for s in specs] if along is None else along
        parts = zip(specs, joined, along, strict=True)
        operands = tuple((s, _only(self.known.get(v, {}), dims)) for s, v, dims in parts)
        self.meetings.pop(key, None)  # of a loop's body, the last round tells
        for d in {d for dims in along for d in dims}:
            if len({where[d] for _, where in operands if where.get(d)}) > (len(operands) > 1):
                self.meetings[key] = Meeting(name, file_line(o.location) or None, operands)

    def _through(self, o: Any, operands: list[Any], dims: Sequence[str]) -> dict[str, frozenset[Origin]]:
        name, a = o.name, o.attributes
        if name in _LOST:
            return {}
        if name == "xtensor.rename":
            back = {t.value: f.value for f, t in zip(a["from"], a["to"], strict=True)}
            source = self.known.get(operands[0], {})
            return {d: source.get(back.get(d, d), frozenset()) for d in (*dims, POINTS, WHOLE)}
        if name in ("xtensor.scatter", "xtensor.accumulate"):
            operands = operands[:1]
        sources = [self.known.get(x, {}) for x in operands]
        joined = {d: frozenset().union(*(s.get(d, frozenset()) for s in sources)) for d in (*dims, POINTS, WHOLE)}
        if name == "xtensor.select":
            of_condition = _stepped(sources[0].get(WHOLE, frozenset()), AS_CONDITION)
            joined[WHOLE] = of_condition.union(*(s.get(WHOLE, ()) for s in sources[1:]))
        if name == "xtensor.squeeze":
            gone = (sources[0].get(d.value, frozenset()) for d in a["dims"])
            joined[POINTS] = joined[POINTS].union(*gone)
        touched: dict[str, Any] = {}
        if name == "xtensor.slice":
            parts = zip(a["dims"], a["offsets"], a["sizes"], a["strides"], strict=True)
            touched = {d.value: ("slice", int(i), int(n), int(s)) for d, i, n, s in parts}
        elif name == "xtensor.reverse":
            touched = {d.value: ("slice", -1, None, -1) for d in a["dims"]}
        elif name == "xtensor.pad":
            parts = zip(a["dims"], a["low"], a["high"], a["interior"], strict=True)
            touched = {
                d.value: None if int(i) else ("pad", int(low), int(high), "constant") for d, low, high, i in parts
            }
        elif name == "xtensor.concat":
            d = a["dim"].value
            return {**joined, d: _in_a_row([s.get(d, frozenset()) for s in sources])}
        elif name == "xtensor.window":
            size, stride, dilation = (int(a[n]) for n in ("size", "stride", "dilation"))
            touched = {a["dim"].value: ("windows", (size - 1) * dilation) if stride == 1 else None}
        elif name == "xtensor.overlap_add":
            touched = {a["dim"].value: None}
        elif name == "xtensor.merge":
            return {**joined, a["into"].value: self._merged(o, sources[0])}
        elif name == "xtensor.split":
            return {**joined, **_split(o, sources[0])}
        elif name == "xtensor.lu":
            touched = {a["dims"][0].value: None}  # rows change places
        elif name == "xtensor.gather":
            return self._gathered(o, operands, dims)
        elif name == "xtensor.accumulate" and int(a["kind"]) == 1:
            touched = {d.value: None for d in a["along"]}
        elif name == "xtensor.argsort":
            touched = {a["dim"].value: None}
        elif name == "xtensor.fourier":
            touched = {d.value: None for d in a["dims"]}
        for d, step in touched.items():
            if d in joined:
                joined[d] = _stepped(joined[d], step) if step else frozenset()
        return joined

    def _merged(self, o: Any, source: Mapping[str, frozenset[Origin]]) -> frozenset[Origin]:
        """Of several dims in one: each of them is a level of its labels."""
        sizes = spec_of(o.operands[0].type).sizes
        names = [d.value for d in o.attributes["dims"]]
        if any(sizes[d] is None for d in names):
            return frozenset()
        levels = tuple((d, sizes[d]) for d in names)
        return frozenset[Origin]().union(*(_stepped(source.get(d, frozenset()), ("stack", levels, d)) for d in names))

    def _gathered(self, o: Any, operands: list[Any], dims: Sequence[str]) -> dict[str, frozenset[Origin]]:
        """A dim that is read at positions of one dim, or at one position, has the labels that are there."""
        along = [d.value for d in o.attributes["along"]]
        source = self.known.get(operands[0], {})
        left = [{d: f for d, f in self.known.get(x, {}).items() if d not in along} for x in operands]
        joined = {d: frozenset[Origin]().union(*(s.get(d, ()) for s in left)) for d in (*dims, POINTS, WHOLE)}
        read = frozenset[Origin]().union(*(s.get(WHOLE, ()) for s in left[1:]))
        joined[WHOLE] = left[0].get(WHOLE, frozenset()) | _stepped(read, AS_INDEX)
        for d, index in zip(along, operands[1:], strict=True):
            there, where = self._dims(index), self._positions(index)
            if where is None or len(there) > 1 or int(o.attributes["mode"]) != _RAISES:
                continue
            to = there[0] if there else POINTS
            step = ("take", where, None if to in (d, POINTS) else to)
            joined[to] = joined[to] | _stepped(source.get(d, frozenset()), step)
        return joined

    def _called(self, function: Followed, inputs: list[Any], results: list[Any]) -> None:
        """Results of a function that was followed before."""

        def there(origin: Origin) -> frozenset[Origin]:
            """An origin among the function's arguments as one among ours."""
            i, d, steps = origin
            found = self.known.get(inputs[i], {}).get(d, frozenset())
            for step in steps:
                if step[0] == "concat":
                    found = _in_a_row([there(o) for o in step[1]])
                    continue
                if step[0] == "take" and isinstance(step[1], int):
                    where = self._positions(inputs[step[1]])
                    step = ("take", where, step[2])
                    if where is None:
                        return frozenset()
                found = _stepped(found, step)
            return found

        def all_there(where: Mapping[str, frozenset[Origin]]) -> dict[str, frozenset[Origin]]:
            found = {d: frozenset[Origin]().union(*map(there, froms)) for d, froms in where.items() if d != OWNER}
            owners = {inputs[i] for i, _, _ in where.get(OWNER, ())}
            owned = frozenset((self.arguments[x], "", ()) for x in owners if x in self.arguments)
            return {**found, OWNER: owned} if owned and len(owned) == len(owners) else found

        for result, where in zip(results, function.results, strict=True):
            self.known[result] = all_there(where)
        for number, m in enumerate(function.meetings):
            operands = tuple((spec, all_there(where)) for spec, where in m.operands)
            self.meetings[results[0], number] = Meeting(m.op, m.line, operands)

    def _positions(self, index: Any) -> Any:
        """Where the values of an index are known: the number of an argument, or they themselves."""
        if index in self.instances:
            return None
        if index in self.arguments:
            return self.arguments[index]
        owner = index.owner
        if getattr(owner, "name", None) != "xtensor.constant":
            return None
        return tuple(int(i) for i in owner.attributes["value"])


def _split(o: Any, source: Mapping[str, frozenset[Origin]]) -> dict[str, frozenset[Origin]]:
    """Of one dim as several: where these are the dims that it was made of, they come from where those did."""
    into, sizes = [d.value for d in o.attributes["into"]], [int(n) for n in o.attributes["sizes"]]
    found: dict[str, set[Origin]] = {d: set() for d in into}
    for i, x, steps in source.get(o.attributes["dim"].value, ()):
        if steps and steps[-1][0] == "stack" and [n for _, n in steps[-1][1]] == sizes:
            level = [d for d, _ in steps[-1][1]].index(steps[-1][2])
            found[into[level]].add((i, x, steps[:-1]))
    return {d: frozenset(froms) for d, froms in found.items()}


def _still(
    before: Mapping[str, frozenset[Origin]], after: Mapping[str, frozenset[Origin]]
) -> dict[str, frozenset[Origin]]:
    """`after`, without the places of dims that had others before."""
    return {d: froms if d == WHOLE or before.get(d) == froms else frozenset() for d, froms in after.items()}


def _only(where: Mapping[str, frozenset[Origin]], dims: tuple[str, ...]) -> dict[str, frozenset[Origin]]:
    return {d: froms for d, froms in where.items() if d in dims}


def _put(dim: str, step: Any) -> str:
    """What a dim is called after a step."""
    return step[2] if step and step[0] == "take" and step[2] else dim


def _stepped(origins: frozenset[Origin], step: Any) -> frozenset[Origin]:
    return frozenset((i, x, _after(steps, step)) for i, x, steps in origins) if step else origins


def _after(steps: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
    """A dim that shrinks to its whole windows and is padded by as much, or the other way, has its old positions."""
    if step in (AS_CONDITION, AS_INDEX) and step in steps:  # once is enough: loops settle
        return steps
    if steps and {step[0], steps[-1][0]} == {"windows", "pad"}:
        windows, pad = (step, steps[-1]) if step[0] == "windows" else (steps[-1], step)
        if windows[1] == pad[1] + pad[2]:
            return steps[:-1]
    return (*steps, step)


def _in_a_row(parts: Sequence[frozenset[Origin]]) -> frozenset[Origin]:
    """Where the positions of pieces in a row come from: counted as those of the first piece, the others in its step."""
    if not all(parts):
        return frozenset()
    i, x, _ = first = min(parts[0], key=repr)
    return frozenset({(i, x, (("concat", (first, *(min(p, key=repr) for p in parts[1:]))),))})


def origins(program: Program) -> Followed:
    """Which coordinates results of a program keep."""
    found = Origins(program)
    results = [found.known.get(v, {}) for v in found.last.operands]
    own = {-1 - i: labels for i, labels in enumerate(program.own)}
    consulted = {i: digests(labels, dims) for i, (labels, dims) in program.consulted_of.items()}
    return Followed(results, list(found.meetings.values()), own, consulted)


def where_of(x: Any) -> Mapping[str, frozenset[Origin]]:
    """Where the positions of a traced array come from, as the program stands."""
    return Origins(x.scope.root).known.get(x.value, {})


def consult(x: Any, dims: Iterable[str], where: Mapping[str, frozenset[Origin]]) -> None:
    """Notes that labels of a traced array along these dims decide which positions are read."""
    root = x.scope.root
    for i, dim, _ in {origin for d in dims for origin in where.get(d, ())}:
        if i in root.given:
            root.consulted_of.setdefault(i, (labels_of(root.given[i]), set()))[1].add(dim)


def labels_of_traced(x: Any, where: Mapping[str, frozenset[Origin]]) -> Labels:
    """The labels that a traced array has in the call that it is traced for. They are a part of what the function is
    compiled for from now on."""
    root = x.scope.root
    captured = {i: a for i, a in root.hidden if a.meta is not None}
    given = {i: labels_of(a) for i, a in {**root.given, **captured}.items()}
    given |= {-1 - i: labels for i, labels in enumerate(root.own)}
    root.consulted = root.consulted or bool(root.given)
    known = {d: frozenset(o for o in froms if not reads(o)) for d, froms in where.items()}
    return Relabel(Followed([known], [])).of(0, x.spec.sizes, Given(given, ())) or Labels()
