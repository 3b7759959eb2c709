"""xarray: DataArrays go in wherever arrays do and come out where one went in. Which coordinates still apply to a
result is read off the program: each of its dims is followed back to the arguments (`Origins`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core import dtypes
from ..core.dims import describe
from ..core.errors import DimensionError, DTypeError

if TYPE_CHECKING:
    import xarray

    from ..core.array import Array
    from ..core.spec import Spec
    from ..trace.program import Program


def is_dataarray(x: Any) -> bool:
    """Without importing xarray: who has a DataArray has imported it."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(x, module.DataArray)


@dataclass(frozen=True)
class Labels:
    """What a DataArray has besides its data; travels on `Array.meta`."""

    coords: Mapping[str, xarray.Variable] = field(default_factory=dict)
    name: Any = None
    attrs: Mapping[Any, Any] = field(default_factory=dict)


def labels_of(x: Any) -> Labels:
    if is_dataarray(x):
        return Labels({str(k): v.variable for k, v in x.coords.items()}, x.name, dict(x.attrs))
    return x.meta if isinstance(x.meta, Labels) else Labels()


def from_xarray(x: xarray.DataArray) -> Array:
    """The array over a DataArray's memory; coordinates, name and attributes travel along."""
    from ..core.array import array

    for d in x.dims:
        if not isinstance(d, str):
            raise DimensionError(f"the DataArray's dim {d!r} is no string; rename it")
    if x.dtype.kind not in "biufV":
        raise DTypeError(f"a DataArray of {x.dtype} cannot become an array; arrays hold bools, ints and floats")
    made = array(x.values, tuple(x.dims))
    labels = labels_of(x)
    if not labels.coords and labels.name is None and not labels.attrs:
        return made
    return made._with_meta(labels)


def to_xarray(x: Array) -> xarray.DataArray:
    """A DataArray over the memory of `x`, with what came along from another one."""
    import xarray

    labels = labels_of(x)
    return xarray.DataArray(
        x.values,
        dims=x.dims,
        coords=dict(labels.coords),
        name=labels.name,
        attrs=dict(labels.attrs),
    )


# -- which coordinates still apply ------------------------------------------------------------------------------------

# A dim of a value comes from a dim of an argument, unchanged or through steps: (argument, dim, steps).
Origin = tuple[int, str, tuple[Any, ...]]
_LOST = frozenset({"xtensor.iota", "xtensor.constant", "xtensor.size"})
_POINTS = "~points"  # under this name: dims that an int picked one position of
_OWNER = "~owner"  # under this name: the argument that a gradient is by


@dataclass(frozen=True)
class Meeting:
    """Where a public function joined arrays whose positions come from different places: their coordinates have to
    agree, which only a call can tell."""

    op: str
    line: str | None
    operands: tuple[tuple[Spec, dict[str, frozenset[Origin]]], ...]

    def check(self, labels: Mapping[int, Labels]) -> None:
        """Refuses coordinates that differ along a dim."""
        found: dict[str, xarray.Variable] = {}
        for spec, where in self.operands:
            coords = _coordinates(where, spec.sizes, labels)
            for d in spec.dims:
                if d in coords and not found.setdefault(d, coords[d]).equals(coords[d]):  # type: ignore[no-untyped-call]
                    operands = ", ".join(f"{s.dtype.name} {describe(s.dims, s.shape)}" for s, _ in self.operands)
                    raise DimensionError(f"xt.{self.op}: {_differ(d)} (operands: {operands})", self.line)


def _differ(dim: str) -> str:
    return (
        f"the coordinates of dim {dim!r} differ between the operands. Align them first: "
        f'xarray.align(a, b, join="inner"), or leave them out: a.drop_vars({dim!r})'
    )


@dataclass(frozen=True)
class Followed:
    """Of a program: for each result, where its dims come from; and the meetings on the way."""

    results: list[dict[str, frozenset[Origin]]]
    meetings: list[Meeting]


class Origins:
    """For each value of a program, where its dims come from."""

    def __init__(self, program: Program) -> None:
        self.known: dict[Any, dict[str, frozenset[Origin]]] = {}
        self.free: set[Any] = set()  # values that no argument has a part in
        self.maps: dict[Any, tuple[list[Any], list[Any]]] = {}  # of a handle: what it gives, what it takes
        self.arguments: dict[Any, int] = {}  # values that are an argument, in regions too
        self.kept = program.labels
        self.joined = program.joined
        self.meetings: dict[Any, Meeting] = {}
        block = program.main.regions[0].blocks[0]
        for i, argument in enumerate(block.arguments):
            self.known[argument] = {d: frozenset({(i, d, ())}) for d in self._dims(argument)}
            self.arguments[argument] = i
        self._block(block)
        returned = list(block.operations)[-1].operation.operands
        self.results = [self.known.get(v, {}) for v in returned]

    @staticmethod
    def _dims(value: Any) -> tuple[str, ...]:
        from ..trace.context import spec_of

        return spec_of(value.type).dims if str(value.type).startswith("!xtensor.array") else ()

    def _block(self, block: Any) -> Any:
        for view in block.operations:
            self._operation(view.operation)
        return list(block.operations)[-1].operation

    def _either(self, values: Iterable[Any]) -> dict[str, frozenset[Origin]]:
        """Of a value that is one of these: as of their sum, but a dim that is moved in one of them is lost. One that
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
        for left in (3, 2, 1, 0):
            ends = list(self._block(body).operands)
            found = [self._either(pair) for pair in zip(carries, ends[: len(carries)], strict=True)]
            if left == 1:  # moved at every step: nothing is left to follow
                found = [{} for _ in carries]
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
        if o.name == "xtensor.switch":
            self._choice(o)
            return
        if o.name in ("xtensor.scan", "xtensor.while"):
            self._loop(o)
            return
        # Of a custom derivative, the primal tells.
        for region in [o.regions[0]] if o.name == "xtensor.custom_derivative" else o.regions:
            for block in region.blocks:
                for argument, operand in zip(block.arguments, operands, strict=False):
                    self.known[argument] = self.known.get(operand, {})
                    if operand in self.arguments:
                        self.arguments[argument] = self.arguments[operand]
                terminator = self._block(block)
                for result, value in zip(o.results, terminator.operands, strict=False):
                    self.known[result] = self.known.get(value, {})
        if o.name == "xtensor.vectorize":
            froms = [self.known.get(x, {}) for x in operands]
            names = [d.value for d in o.attributes["names"]]
            batch = {d: frozenset().union(*(f.get(d, frozenset()) for f in froms)) for d in names}
            for result in o.results:
                self.known[result] = {**self.known.get(result, {}), **batch}
        if o.name in ("xtensor.pullback", "xtensor.pushforward"):
            from ..trace.context import spec_of

            yielded = list(terminator.operands)
            moved = [v for v in yielded if dtypes.is_float(spec_of(v.type).dtype)]
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
                    self.known[result] = {**self.known[result], _OWNER: owner}
            return
        for result in o.results:
            self.known[result] = self._through(o, operands, self._dims(result))
            if all(x in self.free for x in operands):
                self.free.add(result)
            if result in self.kept:
                source, steps = self.kept[result]
                self.known[result] = {d: _stepped(f, steps.get(d)) for d, f in self.known.get(source, {}).items()}
            if result in self.joined:
                self._meet(o, result)

    def _meet(self, o: Any, result: Any) -> None:
        from ..trace.context import file_line, spec_of

        name, values = self.joined[result]
        operands = tuple((spec_of(v.type), self.known.get(v, {})) for v in values)
        self.meetings.pop(result, None)  # of a loop's body, the last round tells
        for d in self._dims(result):
            if len({where[d] for _, where in operands if where.get(d)}) > 1:
                self.meetings[result] = Meeting(name, file_line(str(o.location)) or None, operands)

    def _through(self, o: Any, operands: list[Any], dims: Sequence[str]) -> dict[str, frozenset[Origin]]:
        name, a = o.name, o.attributes
        if name in _LOST:
            return {}
        if name == "xtensor.rename":
            back = {t.value: f.value for f, t in zip(a["from"], a["to"], strict=True)}
            source = self.known.get(operands[0], {})
            return {d: source.get(back.get(d, d), frozenset()) for d in (*dims, _POINTS)}
        if name in ("xtensor.scatter", "xtensor.accumulate"):
            operands = operands[:1]
        sources = [self.known.get(x, {}) for x in operands]
        joined = {d: frozenset().union(*(s.get(d, frozenset()) for s in sources)) for d in (*dims, _POINTS)}
        if name == "xtensor.squeeze":
            gone = (sources[0].get(d.value, frozenset()) for d in a["dims"])
            joined[_POINTS] = joined[_POINTS].union(*gone)
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
            touched = {a["into"].value: None}
        elif name == "xtensor.split":
            touched = {d.value: None for d in a["into"]}
        elif name == "xtensor.lu":
            touched = {a["dims"][0].value: None}  # rows change places
        elif name == "xtensor.gather" or (name == "xtensor.accumulate" and int(a["kind"]) == 1):
            touched = {d.value: None for d in a["along"]}
        elif name == "xtensor.argsort":
            touched = {a["dim"].value: None}
        for d, step in touched.items():
            if d in joined:
                joined[d] = _stepped(joined[d], step) if step else frozenset()
        return joined


def _stepped(origins: frozenset[Origin], step: Any) -> frozenset[Origin]:
    return frozenset((i, x, _after(steps, step)) for i, x, steps in origins) if step else origins


def _after(steps: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
    """A dim that shrinks to its whole windows and is padded by as much, or the other way, has its old positions."""
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
    found = Origins(program)
    return Followed(found.results, list(found.meetings.values()))


def _take(
    name: str, variable: xarray.Variable, dim: str, steps: tuple[Any, ...], labels: Mapping[int, Labels]
) -> xarray.Variable | None:
    """What the steps make of a coordinate along `dim`; None if it has no place or an array lacks what they need."""
    import xarray

    for kind, *parameters in steps:
        if kind == "concat":
            pieces = [_piece(name, variable, dim, piece, labels) for piece in parameters[0]]
            if any(p is None for p in pieces):
                return None
            variable = xarray.Variable.concat([p for p in pieces if p is not None], dim)  # type: ignore[no-untyped-call]
            continue
        if kind == "windows":
            return None
        if kind == "pad":
            low, high, mode = parameters
            variable = variable.pad({dim: (low, high)}, mode=mode)
            continue
        offset, n, stride = parameters
        where = (
            slice(None, None, -1)
            if n is None
            else slice(offset, offset + (n - 1) * stride + 1 if n else offset, stride)
        )
        variable = variable.isel({dim: where})
    return variable


def _piece(
    name: str, like: xarray.Variable, dim: str, origin: Origin, labels: Mapping[int, Labels]
) -> xarray.Variable | None:
    """The coordinate of one of the arrays in a row."""
    i, x, steps = origin
    found = labels[i].coords.get(x if name == dim else name) if i in labels else None
    if found is None or found.ndim != like.ndim:
        return None
    found = _renamed(found, x, dim)
    return _take(name, found, dim, steps, labels) if set(found.dims) == set(like.dims) else None


def _renamed(variable: xarray.Variable, old: str, new: str) -> xarray.Variable:
    """`variable` as no index, with one dim under another name."""
    import xarray

    return xarray.Variable([new if d == old else d for d in variable.dims], variable.data, variable.attrs)


_Place = tuple[str, tuple[Any, ...]]  # a dim of the result, and how it came there


def _places(origins: Mapping[str, frozenset[Origin]], argument: int) -> dict[str, set[_Place]]:
    """For each dim of an argument, the dims of the result that it became."""
    places: dict[str, set[_Place]] = {}
    for d, froms in origins.items():
        for j, x, steps in froms:
            if j == argument:
                places.setdefault(x, set()).add((d, steps))
    return places


def _ways(variable: xarray.Variable, places: Mapping[str, set[_Place]]) -> list[dict[str, _Place]]:
    """Where the dims of a coordinate are in the result: none, or one way; of a coordinate of one dim, all of them."""
    dims = [str(d) for d in variable.dims]
    if len(dims) == 1:
        # What one dim became twice has different names there, as those of x * x.rename(t="u").
        found = sorted(places.get(dims[0], ()), key=repr)
        return [{dims[0]: place} for place in found] if len({d for d, _ in found}) == len(found) else []
    if any(len(places.get(d, ())) != 1 for d in dims):
        return []
    return [{d: next(iter(places[d])) for d in dims}]


def _moved(
    name: str, variable: xarray.Variable, here: Mapping[str, tuple[str, tuple[Any, ...]]], labels: Mapping[int, Labels]
) -> xarray.Variable | None:
    """A coordinate of an argument as one of the result."""
    import xarray

    dims: list[str] = []
    for d in map(str, variable.dims):
        new, steps = here[d]
        taken = _take(name, variable, d, steps, labels)
        if taken is None:
            return None
        variable = taken.isel({d: 0}) if new == _POINTS else taken
        if new != _POINTS:
            dims.append(new)
    return xarray.Variable(dims, variable.data, variable.attrs)


def _coordinates(
    origins: Mapping[str, frozenset[Origin]], sizes: Mapping[str, int | None], labels: Mapping[int, Labels]
) -> dict[str, xarray.Variable]:
    found: dict[str, xarray.Variable] = {}
    conflicting: set[str] = set()
    touched: set[str] = set()
    for i, label in labels.items():
        places = _places(origins, i)
        for name, variable, here in ((n, v, way) for n, v in label.coords.items() for way in _ways(v, places)):
            moved = _moved(name, variable, here, labels)
            if moved is None:
                continue
            new_dims = list(map(str, moved.dims))
            if any(here[str(d)][1] for d in variable.dims):
                touched.add(name)
            if any(sizes[d] not in (None, moved.sizes[d]) for d in new_dims):
                continue
            new = here[name][0] if name in variable.dims and here[name][0] != _POINTS else name
            other = found.setdefault(new, moved)
            if other.equals(moved):  # type: ignore[no-untyped-call]
                continue
            if new in new_dims and name not in touched:
                raise DimensionError(_differ(new))
            conflicting.add(new)
    return {k: v for k, v in found.items() if k not in conflicting}


# Functions for which xarray keeps attributes although it drops them in arithmetic.
_KEEP = frozenset([
    "abs", "neg", "isel", "head", "tail", "thin", "transpose", "rename", "swap_dims", "expand_dims",
    "squeeze", "stack", "unstack", "broadcast_like", "pad", "roll", "shift", "flip", "astype",
    "clip", "round", "where", "cumsum", "cumprod", "sort", "real", "imag", "conj",
])  # fmt: skip


def relabel(
    origins: Followed,
    results: Sequence[Array],
    sources: Mapping[int, Any],
    op: str = "",
) -> list[Any]:
    """Results as DataArrays where one went in (else as Arrays with labels), with the coordinates that still apply."""
    every = {i: labels_of(x) for i, x in sources.items()}
    for meeting in origins.meetings:
        meeting.check(every)
    out: list[Any] = []
    for result, where in zip(results, origins.results, strict=True):
        # A gradient is labelled as the argument that it is by, anything else as all of them together.
        owners = {i for i, _, _ in where.get(_OWNER, ())}
        labels = {i: label for i, label in every.items() if i in owners} if len(owners) == 1 else every
        if not labels:
            out.append(result)
            continue
        first = next(iter(labels.values()))
        name = first.name if all(_same(label.name, first.name) for label in labels.values()) else None
        attrs = _attributes(labels.values()) if keeps_attrs(op) else {}
        made = result._with_meta(Labels(_coordinates(where, result.sizes, labels), name, attrs))
        out.append(to_xarray(made) if any(is_dataarray(sources[i]) for i in labels) else made)
    return out


def _attributes(labels: Iterable[Labels]) -> dict[Any, Any]:
    """All attributes but those that differ."""
    kept: dict[Any, Any] = {}
    differing: set[Any] = set()
    for label in labels:
        for key, value in label.attrs.items():
            if key in kept and not _same(kept[key], value):
                differing.add(key)
            kept.setdefault(key, value)
    return {k: v for k, v in kept.items() if k not in differing}


def _same(a: Any, b: Any) -> bool:
    try:
        return a is b or bool(a == b)
    except ValueError:  # arrays as attributes
        return False


def keeps_attrs(op: str) -> bool:
    """As xarray is set: by default it keeps attributes always (2025.11 and later), or for some functions only."""
    import xarray

    option = xarray.get_options().get(  # type: ignore[no-untyped-call]
        "keep_attrs", "default"
    )
    if option != "default":
        return bool(option)
    version = tuple(int(p) for p in xarray.__version__.split(".")[:2])
    return op in _KEEP or version >= (2025, 11)
