"""Writes ops of StableHLO as text. Each value has the dims of the named array that it stands for, axis by axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

INFINITY = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}
_MINUS_INFINITY = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}
_BODIES = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


@dataclass(frozen=True)
class Value:
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.element}>"

    def size(self, dim: str) -> int:
        return self.shape[self.dims.index(dim)]

    @property
    def is_float(self) -> bool:
        return "f" in self.element

    @property
    def is_unsigned(self) -> bool:
        return self.element.startswith("ui")


def numbers(values: Iterable[int]) -> str:
    return f"[{', '.join(map(str, values))}]"


def array(values: Sequence[int]) -> str:
    """An attribute of integers."""
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


class Writer:
    """The body of a function, op by op."""

    def __init__(self, count: int = 0) -> None:
        self.lines: list[str] = []
        self.count = count

    def fresh(self) -> str:
        self.count += 1
        return f"%{self.count - 1}"

    def op(self, text: str, like: Value, *, dims: Sequence[str] | None = None, shape: Sequence[int] | None = None,
           element: str | None = None) -> Value:  # fmt: skip
        """One op. The result is like `like`, apart from what is given."""
        made = Value(
            self.fresh(),
            like.dims if dims is None else tuple(dims),
            like.shape if shape is None else tuple(shape),
            like.element if element is None else element,
        )
        self.lines.append(f"{made.name} = {text}".replace("$type", made.type))
        return made

    # -- constants

    def constant(self, text: str, element: str, like: Value | None = None) -> Value:
        """A number in all elements of a value like `like`."""
        start = Value("", (), (), element) if like is None else like
        return self.op(f"stablehlo.constant dense<{text}> : $type", start, element=element)

    def number(self, value: float, like: Value) -> Value:
        """The same of the dtype of `like`."""
        return self.constant(repr(float(value)) if like.is_float else str(int(value)), like.element, like)

    def scalar(self, value: float, element: str) -> Value:
        return self.number(value, Value("", (), (), element))

    def identity(self, kind: str, element: str) -> Value:
        """What a reduction starts with."""
        if kind in ("any", "all"):
            return self.constant("true" if kind == "all" else "false", element)
        if kind in ("sum", "prod"):
            return self.scalar(int(kind == "prod"), element)
        if element in INFINITY:
            return self.constant((INFINITY if kind == "min" else _MINUS_INFINITY)[element], element)
        bits = int(element.lstrip("ui"))
        least, most = (0, 2**bits - 1) if element.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return self.constant(str(most if kind == "min" else least), element)

    def iota(self, like: Value, dim: str) -> Value:
        """Positions along `dim`, as i64, in all elements of a value like `like`."""
        return self.op(f"stablehlo.iota dim = {like.dims.index(dim)} : $type", like, element="i64")

    # -- elementwise

    def unary(self, op: str, x: Value) -> Value:
        if op.startswith("chlo."):
            return self.op(f"{op} {x.name} : {x.type} -> $type", x)
        return self.op(f"stablehlo.{op} {x.name} : $type", x)

    def binary(self, op: str, x: Value, y: Value) -> Value:
        if op.startswith("chlo."):
            return self.op(f"{op} {x.name}, {y.name} : {x.type}, {y.type} -> $type", x)
        return self.op(f"stablehlo.{op} {x.name}, {y.name} : $type", x)

    def compare(self, predicate: str, x: Value, y: Value) -> Value:
        text = f"stablehlo.compare {predicate}, {x.name}, {y.name} : ({x.type}, {y.type}) -> $type"
        return self.op(text, x, element="i1")

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.op(f"stablehlo.select {condition.name}, {x.name}, {y.name} : {condition.type}, $type", x)

    def convert(self, x: Value, element: str) -> Value:
        if element == x.element:
            return x
        if element == "i1":
            return self.compare("NE", x, self.number(0, x))
        return self.op(f"stablehlo.convert {x.name} : ({x.type}) -> $type", x, element=element)

    # -- axes

    def reshape(self, x: Value, dims: Sequence[str], shape: Sequence[int]) -> Value:
        if tuple(shape) == x.shape:
            return Value(x.name, tuple(dims), x.shape, x.element)
        return self.op(f"stablehlo.reshape {x.name} : ({x.type}) -> $type", x, dims=dims, shape=shape)

    def renamed(self, x: Value, dims: Sequence[str]) -> Value:
        return Value(x.name, tuple(dims), x.shape, x.element)

    def transpose(self, x: Value, dims: Sequence[str]) -> Value:
        """The axes in the order of `dims`."""
        if tuple(dims) == x.dims:
            return x
        order = [x.dims.index(d) for d in dims]
        text = f"stablehlo.transpose {x.name}, dims = {numbers(order)} : ({x.type}) -> $type"
        return self.op(text, x, dims=dims, shape=[x.shape[i] for i in order])

    def align(self, x: Value, dims: Sequence[str], shape: Sequence[int]) -> Value:
        """The same with these axes, which are more than those of `x`, or the same in another order."""
        x = self.transpose(x, [d for d in dims if d in x.dims])
        if x.dims == tuple(dims):
            return x
        axes = [list(dims).index(d) for d in x.dims]
        text = f"stablehlo.broadcast_in_dim {x.name}, dims = {numbers(axes)} : ({x.type}) -> $type"
        return self.op(text, x, dims=dims, shape=shape)

    def slice(self, x: Value, parts: dict[str, tuple[int, int, int]]) -> Value:
        """Along each dim of `parts`: (offset, size, stride)."""
        whole = [parts.get(d, (0, n, 1)) for d, n in zip(x.dims, x.shape, strict=True)]
        ranges = [f"{o}:{o + (n - 1) * s + 1 if n else o}:{s}" for o, n, s in whole]
        text = f"stablehlo.slice {x.name} [{', '.join(ranges)}] : ({x.type}) -> $type"
        return self.op(text, x, shape=[n for _, n, _ in whole])

    def pad(self, x: Value, value: Value, amounts: dict[str, tuple[int, int, int]]) -> Value:
        """Along each dim of `amounts`: (low, high, interior)."""
        every = [amounts.get(d, (0, 0, 0)) for d in x.dims]
        low, high, interior = (numbers(column) for column in zip(*every, strict=True))
        shape = [n + a + b + max(n - 1, 0) * c for n, (a, b, c) in zip(x.shape, every, strict=True)]
        text = (
            f"stablehlo.pad {x.name}, {value.name}, low = {low}, high = {high}, interior = {interior} : "
            f"({x.type}, {value.type}) -> $type"
        )
        return self.op(text, x, shape=shape)

    def shift(self, x: Value, value: Value, dim: str, by: int) -> Value:
        """Element t is element t - by, and `value` where there is no such element."""
        return self.pad(x, value, {dim: (by, -by, 0)})

    def concat(self, xs: Sequence[Value], dim: str) -> Value:
        first, axis = xs[0], xs[0].dims.index(dim)
        xs = [first, *(self.transpose(x, first.dims) for x in xs[1:])]
        shape = list(first.shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        names, types = ", ".join(x.name for x in xs), ", ".join(x.type for x in xs)
        return self.op(f"stablehlo.concatenate {names}, dim = {axis} : ({types}) -> $type", first, shape=shape)

    def reverse(self, x: Value, dims: Sequence[str]) -> Value:
        return self.op(f"stablehlo.reverse {x.name}, dims = {numbers(x.dims.index(d) for d in dims)} : $type", x)

    # -- combinations

    def reduce(self, kind: str, x: Value, dims: Sequence[str]) -> Value:
        if not dims:
            return x
        start = self.identity(kind, x.element)
        kept = [(d, n) for d, n in zip(x.dims, x.shape, strict=True) if d not in dims]
        text = (
            f"stablehlo.reduce({x.name} init: {start.name}) applies stablehlo.{_BODIES[kind]} across dimensions = "
            f"{numbers(x.dims.index(d) for d in dims)} : ({x.type}, {start.type}) -> $type"
        )
        return self.op(text, x, dims=[d for d, _ in kept], shape=[n for _, n in kept])

    def position(self, kind: str, x: Value, dim: str) -> Value:
        """The first position of the largest or smallest element along `dim`; NaN counts as such an element."""
        at, start = self.iota(x, dim), self.identity(kind.removeprefix("arg"), x.element)
        zero = self.scalar(0, "i64")
        kept = [(d, n) for d, n in zip(x.dims, x.shape, strict=True) if d != dim]
        dims, shape = [d for d, _ in kept], [n for _, n in kept]
        best = Value("", tuple(dims), tuple(shape), x.element)
        a, b, i, j = (Value(self.fresh(), (), (), e) for e in (x.element, x.element, "i64", "i64"))
        inner = Writer(self.count)
        better = inner.compare("GT" if kind == "argmax" else "LT", a, b)
        if x.is_float:
            better = inner.binary("or", better, inner.compare("NE", a, a))
        sooner = inner.binary("and", inner.compare("EQ", a, b), inner.compare("LT", i, j))
        taken, place = inner.select(better, a, b), inner.select(inner.binary("or", better, sooner), i, j)
        self.count = inner.count
        made = self.fresh()
        found = Value(f"{made}#1", tuple(dims), tuple(shape), "i64")
        self.lines += [
            f"{made}:2 = stablehlo.reduce({x.name} init: {start.name}), ({at.name} init: {zero.name}) across "
            f"dimensions = [{x.dims.index(dim)}] : ({x.type}, {at.type}, {start.type}, {zero.type}) -> "
            f"({best.type}, {found.type})",
            f" reducer({a.name}: {a.type}, {b.name}: {b.type}) ({i.name}: {i.type}, {j.name}: {j.type}) {{",
            *(f"  {line}" for line in inner.lines),
            f"  stablehlo.return {taken.name}, {place.name} : {taken.type}, {place.type}",
            "}",
        ]
        return found

    def body(self, op: str, element: str) -> list[str]:
        """The region of an op that combines two elements; `second` keeps the second one."""
        a, b = (Value(self.fresh(), (), (), element) for _ in range(2))
        inner = Writer(self.count)
        y = b if op == "second" else inner.binary(op, a, b)
        self.count = inner.count
        return [
            f"^bb0({a.name}: {a.type}, {b.name}: {b.type}):",
            *(f"  {line}" for line in inner.lines),
            f"  stablehlo.return {y.name} : {y.type}",
        ]

    def cumulative(self, kind: str, x: Value, dim: str, reverse: bool) -> Value:
        start, n = self.identity(kind, x.element), x.size(dim)
        windows = [n if d == dim else 1 for d in x.dims]
        padding = ", ".join(str([0, n - 1] if reverse else [n - 1, 0]) if d == dim else "[0, 0]" for d in x.dims)
        attributes = f"padding = dense<[{padding}]> : tensor<{len(x.dims)}x2xi64>, window_dimensions = {array(windows)}"
        region = self.body(_BODIES[kind], x.element)
        made = self.op(f'"stablehlo.reduce_window"({x.name}, {start.name}) <{{{attributes}}}> ({{', x)
        self.lines += [*region, f"}}) : ({x.type}, {start.type}) -> {made.type}"]
        return made

    def dot(self, x: Value, y: Value, over: Sequence[str]) -> Value:
        """The product of two arrays, summed over `over`, which both have. The dims that both have come first."""
        both = [d for d in x.dims if d in y.dims and d not in over]
        free = [[d for d in v.dims if d not in both and d not in over] for v in (x, y)]
        dims = [*both, *free[0], *free[1]]
        sizes = dict(zip((*x.dims, *y.dims), (*x.shape, *y.shape), strict=True))

        def at(v: Value, dims: Sequence[str]) -> str:
            return numbers(v.dims.index(d) for d in dims)

        batch = f"batching_dims = {at(x, both)} x {at(y, both)}, " if both else ""
        text = (
            f"stablehlo.dot_general {x.name}, {y.name}, {batch}contracting_dims = {at(x, over)} x {at(y, over)} : "
            f"({x.type}, {y.type}) -> $type"
        )
        return self.op(text, x, dims=dims, shape=[sizes[d] for d in dims])

    # -- by position

    def gather(self, x: Value, at: Value, along: Sequence[str], paired: Sequence[str]) -> Value:
        """Elements of `x` at positions along `along`, which lie along the last axis of `at`. Along the dims `paired`,
        `x` and `at` go together. First the dims of `at`, then those that stay."""
        stay = [d for d in x.dims if d not in along and d not in paired]
        batch = at.dims[:-1]
        window = range(len(batch), len(batch) + len(stay))
        numbering = _dim_numbers("gather", x, at, along, paired, window)
        sizes = [n if d in stay else 1 for d, n in zip(x.dims, x.shape, strict=True)]
        text = (
            f'"stablehlo.gather"({x.name}, {at.name}) <{{dimension_numbers = {numbering}, '
            f"slice_sizes = {array(sizes)}}}> : ({x.type}, {at.type}) -> $type"
        )
        return self.op(text, x, dims=[*batch, *stay], shape=[*at.shape[:-1], *(x.size(d) for d in stay)])

    def scatter(
        self, op: str, x: Value, at: Value, updates: Value, along: Sequence[str], paired: Sequence[str]
    ) -> Value:
        """`x` with updates combined in, which have the dims of a gather."""
        window = range(len(at.dims) - 1, len(updates.dims))
        numbering = _dim_numbers("scatter", x, at, along, paired, window)
        region = self.body(op, x.element)
        head = f'"stablehlo.scatter"({x.name}, {at.name}, {updates.name}) <{{scatter_dimension_numbers = {numbering}}}>'
        made = self.op(f"{head} ({{", x)
        self.lines += [*region, f"}}) : ({x.type}, {at.type}, {updates.type}) -> {made.type}"]
        return made

    def argsort(self, x: Value, dim: str, descending: bool) -> Value:
        """The positions that sort `x` along `dim`, stable, NaN last."""
        at = self.iota(x, dim)
        a, b, i, j = (Value(self.fresh(), (), (), e) for e in (x.element, x.element, "i64", "i64"))
        inner = Writer(self.count)
        before = inner.compare("GT" if descending else "LT", a, b)
        if x.is_float:
            last = inner.binary("and", inner.compare("EQ", a, a), inner.compare("NE", b, b))
            before = inner.binary("or", before, last)
        self.count = inner.count
        made = self.fresh()
        self.lines += [
            f'{made}:2 = "stablehlo.sort"({x.name}, {at.name}) <{{dimension = {x.dims.index(dim)} : i64, '
            "is_stable = true}> ({",
            f"^bb0({', '.join(f'{v.name}: {v.type}' for v in (a, b, i, j))}):",
            *(f"  {line}" for line in inner.lines),
            f"  stablehlo.return {before.name} : {before.type}",
            f"}}) : ({x.type}, {at.type}) -> ({x.type}, {at.type})",
        ]
        return Value(f"{made}#1", x.dims, x.shape, "i64")

    # -- complex numbers: pairs of floats along a last dim of size 2

    def pair(self, z: Value, dim: str) -> Value:
        """A complex value as a pair."""
        element = z.element.removeprefix("complex<").removesuffix(">")
        parts = [self.op(f"stablehlo.{p} {z.name} : ({z.type}) -> $type", z, element=element) for p in ("real", "imag")]
        return self.concat([self.reshape(p, (*z.dims, dim), (*z.shape, 1)) for p in parts], dim)

    def complex(self, x: Value, dim: str) -> Value:
        """A pair as a complex value."""
        dims = [d for d in x.dims if d != dim]
        x = self.transpose(x, (*dims, dim))
        re, im = (self.reshape(self.slice(x, {dim: (i, 1, 1)}), dims, x.shape[:-1]) for i in range(2))
        return self.op(f"stablehlo.complex {re.name}, {im.name} : $type", re, element=f"complex<{re.element}>")

    def fft(self, kind: str, x: Value, lengths: Sequence[int], element: str, last: int) -> Value:
        """Of the last axes; `last`: the size of the last one of the result."""
        text = f"stablehlo.fft {x.name}, type = {kind}, length = {numbers(lengths)} : ({x.type}) -> $type"
        return self.op(text, x, shape=[*x.shape[:-1], last], element=element)


# Names of the parts of dimension numbers: of the window, of dims with one position, of dims that go together in x and
# in the positions, of dims that the positions are along.
_DIM_NUMBERS = {
    "gather": (
        "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
        "start_index_map",
    ),
    "scatter": (
        "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    ),
}  # fmt: skip


def _dim_numbers(
    op: str, x: Value, at: Value, along: Sequence[str], paired: Sequence[str], window: Sequence[int]
) -> str:
    """How a gather from `x`, or a scatter into it, goes by positions. window: axes of what moves that `at` has not."""
    batch, axes = at.dims[:-1], [x.dims.index(d) for d in along]
    together = [x.dims.index(d) for d in paired], [batch.index(d) for d in paired]
    parts = zip(_DIM_NUMBERS[op], (window, sorted(axes), *together, axes), strict=True)
    told = ", ".join(f"{name} = {numbers(part)}" for name, part in parts)
    return f"#stablehlo.{op}<{told}, index_vector_dim = {len(batch)}>"
