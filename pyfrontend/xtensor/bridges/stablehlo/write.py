"""Functions of named arrays as text of StableHLO: the ops of a differentiated program, one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...base.dims import describe
from ...base.errors import SizeError, UnsupportedError
from ...compiler.phases import phase_text
from ...ir import context as c
from ...trace import emit
from ...transforms.jit import Jitted, jit
from .write_elementwise import PREDICATES, operands, rule_of, zero_times
from .writer import Value, Writer

if TYPE_CHECKING:
    from ...mlir import ir
    from ...trace.program import Program

_REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
_SCATTERS = ("add", "second", "multiply", "maximum", "minimum")
_CLIP = 1  # of the modes of positions
_LOOPS = ("scan", "switch", "while")


def text(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The text of `f` at `args`, whose values do not count."""
    jitted = f if isinstance(f, Jitted) else jit(f)
    if jitted.layout is not None:
        raise UnsupportedError(
            f"xt.to_stablehlo: {jitted.__name__} has mesh= and split=, and a module is the program of one process. "
            "Export xt.jit(f) without them"
        )
    traced = jitted.trace(*args, **kwargs)
    return _Export(traced.program).module()


class _Export:
    def __init__(self, program: Program) -> None:
        self.program, self.name = program, program.name
        self.writer = Writer()
        self.values: dict[Any, Value] = {}

    def module(self) -> str:
        for s in self.program.all_inputs:
            self._sized(s.dims, s.shape, "")
        with c.diagnosed():
            main = c.mlir().Module.parse(phase_text(self.program, "differentiated", True), c.context())
        function = main.body.operations[0].operation
        block = function.regions[0].blocks[0]
        self._arguments(block)
        for op in block.operations:
            if op.operation.name == "func.return":
                results = [self._result(v) for v in op.operation.operands]
            else:
                self._op(op.operation)
        results = list(self.program.leaves(results))
        name = re.sub(r"\W", "_", self.name, flags=re.ASCII)
        types = ", ".join(v.type for v in results)
        given = self.inputs
        ends = [f"return {', '.join(v.name for v in results)} : {types}" if results else "return"]
        told = [f"// {v.name}: {describe(v.dims, v.shape)}" for v in given]
        told += [f"// result {i}: {describe(v.dims, v.shape)}" for i, v in enumerate(results)]
        return "\n".join(
            [
                *told,
                f"module @{name} {{",
                f"  func.func public @main({', '.join(f'{v.name}: {v.type}' for v in given)}) -> ({types}) {{",
                *(f"    {line}" for line in [*self.writer.lines, *ends]),
                "  }",
                "}",
                "",
            ]
        )

    def _sized(self, dims: Sequence[str], shape: Sequence[int | None], where: str) -> None:
        for d, n in zip(dims, shape, strict=True):
            if n is None or n < 0:
                raise SizeError(
                    f"xt.to_stablehlo({self.name}): the dim {d!r} has an open size, and a program of StableHLO has "
                    f"the sizes that it is made for. Give one: xt.spec({d}=64), or an array",
                    where or None,
                )

    # -- values

    def _arguments(self, block: Any) -> None:
        self.inputs: list[Value] = []
        captured = self.program.all_inputs[len(self.program.inputs) :]
        for i, argument in enumerate(block.arguments):
            known = self._value("", argument)
            if i >= len(self.program.inputs):
                array = self.program.captured[i - len(self.program.inputs)].to("cpu").values
                if captured[i - len(self.program.inputs)].dtype.kind == "c":
                    array = array.view(array.real.dtype).reshape(*array.shape, 2)
                value = self.writer.op(f"stablehlo.constant {self._elements(array)}", known)
            elif c.PAIR in known.dims:
                given = Value(f"%arg{i}", known.dims[:-1], known.shape[:-1], f"complex<{known.element}>")
                self.inputs.append(given)
                value = self.writer.pair(given, c.PAIR)
            else:
                value = Value(f"%arg{i}", known.dims, known.shape, known.element)
                self.inputs.append(value)
            self.values[argument] = value

    @staticmethod
    def _elements(array: Any) -> str:
        return str(emit.elements(array))

    def _value(self, name: str, value: Any, where: str = "") -> Value:
        dims, shape, element = c.compiler().array_parts(value.type)
        self._sized(dims, shape, where)
        return Value(name, tuple(dims), tuple(shape), str(element))

    def _result(self, value: Any) -> Value:
        x = self.values[value]
        return self.writer.complex(x, c.PAIR) if c.PAIR in x.dims else x

    # -- ops

    def _op(self, op: ir.Operation) -> None:
        name = op.name.removeprefix("xtensor.")
        where = c.file_line(op.location)
        like = self._value("", op.results[0], where) if len(op.results) == 1 else None
        xs = [self.values[v] for v in op.operands]
        rule = rule_of(name)
        structural, made = _RULES.get(name), None
        if rule is not None and like is not None:
            made = rule(self.writer, *operands(self.writer, xs, like.dims, like.shape))
        elif structural is not None:
            made = structural(self.writer, op.attributes, like, *xs)
        if made is None or like is None:
            raise self._lacking(name, op, where)
        self.values[op.results[0]] = self.writer.align(made, like.dims, like.shape)

    def _lacking(self, name: str, op: ir.Operation, where: str) -> UnsupportedError:
        told = ", ".join(describe(v.dims, v.shape) for v in (self.values[x] for x in op.operands))
        why = "StableHLO does not have such an op"
        if name in _LOOPS:
            why = "loops and branches are not exported. Export the function of one step, and write the loop in JAX"
        elif name == "callback":
            why = "a call of Python cannot be exported"
        return UnsupportedError(
            f"xt.to_stablehlo({self.name}): {c.written(name)} ({name}) of {told or 'no arrays'}: {why}", where or None
        )


# -- what attributes say


def _names(attribute: Any) -> list[str]:
    return [a.value for a in attribute]


def _integers(attribute: Any) -> list[int]:
    return list(attribute)


def _sizes(x: Value) -> dict[str, int]:
    return dict(zip(x.dims, x.shape, strict=True))


# -- constants and axes


def _constant(w: Writer, a: Any, like: Value) -> Value:
    return w.op(f"stablehlo.constant {a['value']}", like)


def _iota(w: Writer, a: Any, like: Value, *size: Value) -> Value:
    return w.op("stablehlo.iota dim = 0 : $type", like)


def _size(w: Writer, a: Any, like: Value, x: Value) -> Value:
    return w.number(x.size(a["dim"].value), like)


def _cast(w: Writer, a: Any, like: Value, x: Value) -> Value:
    if x.is_float and not like.is_float and like.element != "i1":
        x = w.select(w.compare("EQ", x, x), x, w.number(0, x))  # NaN becomes 0
    return w.convert(w.transpose(x, like.dims), like.element)


def _compare(w: Writer, a: Any, like: Value, x: Value, y: Value) -> Value:
    x, y = operands(w, (x, y), like.dims, like.shape)
    return w.compare(PREDICATES[a["predicate"].value], x, y)


def _same(w: Writer, a: Any, like: Value, x: Value, *others: Value) -> Value:
    return x


def _rename(w: Writer, a: Any, like: Value, x: Value) -> Value:
    names = dict(zip(_names(a["from"]), _names(a["to"]), strict=True))
    return w.renamed(x, [names.get(d, d) for d in x.dims])


def _barrier(w: Writer, a: Any, like: Value, x: Value) -> Value:
    return w.op(f"stablehlo.optimization_barrier {x.name} : $type", x)


def _squeeze(w: Writer, a: Any, like: Value, x: Value) -> Value:
    kept = [(d, n) for d, n in zip(x.dims, x.shape, strict=True) if d not in _names(a["dims"])]
    return w.reshape(x, [d for d, _ in kept], [n for _, n in kept])


def _slice(w: Writer, a: Any, like: Value, x: Value) -> Value:
    numbers = zip(*(_integers(a[k]) for k in ("offsets", "sizes", "strides")), strict=True)
    return w.slice(x, dict(zip(_names(a["dims"]), numbers, strict=True)))


def _pad(w: Writer, a: Any, like: Value, x: Value, value: Value) -> Value:
    numbers = zip(*(_integers(a[k]) for k in ("low", "high", "interior")), strict=True)
    return w.pad(x, value, dict(zip(_names(a["dims"]), numbers, strict=True)))


def _concat(w: Writer, a: Any, like: Value, *xs: Value) -> Value:
    return w.concat(xs, a["dim"].value)


def _merge(w: Writer, a: Any, like: Value, x: Value) -> Value:
    dims = _names(a["dims"])
    return w.reshape(w.transpose(x, [*(d for d in x.dims if d not in dims), *dims]), like.dims, like.shape)


def _split(w: Writer, a: Any, like: Value, x: Value) -> Value:
    dim = a["dim"].value
    return w.reshape(w.transpose(x, [*(d for d in x.dims if d != dim), dim]), like.dims, like.shape)


def _reverse(w: Writer, a: Any, like: Value, x: Value) -> Value:
    return w.reverse(x, _names(a["dims"]))


# -- combinations


def _reduce(w: Writer, a: Any, like: Value, x: Value) -> Value:
    kind, dims = _REDUCTIONS[a["kind"].value], _names(a["dims"])
    return w.position(kind, x, dims[0]) if kind.startswith("arg") else w.reduce(kind, x, dims)


def _contract(w: Writer, a: Any, like: Value, *xs: Value) -> Value:
    """Two at a time. A dim is summed as soon as no other operand has it."""
    over, left = set(_names(a["over"])), list(xs)

    def alone(x: Value, others: Sequence[Value]) -> Value:
        own = [d for d in x.dims if d in over and not any(d in y.dims for y in others)]
        return w.reduce("sum", x, own)

    made = alone(left.pop(0), xs[1:])
    while left:
        other = alone(left.pop(0), [made, *left])
        shared = [d for d in made.dims if d in other.dims and d in over and not any(d in y.dims for y in left)]
        if not made.dims or not other.dims:
            sizes = _sizes(made) | _sizes(other)
            made = w.binary("multiply", *operands(w, (made, other), list(sizes), list(sizes.values())))
        else:
            made = w.dot(made, other, shared)
    return made


def _cumulative(w: Writer, a: Any, like: Value, x: Value) -> Value:
    kind, dim, reverse = _REDUCTIONS[a["kind"].value], a["dim"].value, "reverse" in a
    made = w.cumulative(kind, x, dim, reverse)
    if "exclusive" in a:
        made = w.shift(made, w.identity(kind, x.element), dim, -1 if reverse else 1)
    return made


def _recurrence(w: Writer, a: Any, like: Value, decay: Value, x: Value) -> Value:
    """In steps of 1, 2, 4 .. elements: each doubles how many elements before it an element has seen."""
    dim = a["dim"].value
    decay, x = operands(w, (decay, x), like.dims, like.shape)
    if "reverse" in a:
        decay, x = w.reverse(decay, [dim]), w.reverse(x, [dim])
    zero = w.scalar(0, x.element)
    if "late" in a:
        decay = w.shift(decay, zero, dim, 1)
    step, n = 1, like.size(dim)
    while step < n:
        x = w.binary("add", x, zero_times(w, w.shift(x, zero, dim, step), decay))
        step *= 2
        if step < n:
            decay = zero_times(w, w.shift(decay, zero, dim, step // 2), decay)
    if "exclusive" in a:
        x = w.shift(x, zero, dim, 1)
    return w.reverse(x, [dim]) if "reverse" in a else x


# -- by position


def _windows(w: Writer, a: Any, dim: str, into: str, counts: tuple[int, int]) -> Value:
    """The positions t * stride + w * dilation, with a last axis for the one dim that they are of."""
    like = Value("", (dim, into), counts, "i64")
    starts = w.binary("multiply", w.iota(like, dim), w.number(a["stride"].value, like))
    inside = w.binary("multiply", w.iota(like, into), w.number(a["dilation"].value, like))
    return w.reshape(w.binary("add", starts, inside), (dim, into, _LAST), (*counts, 1))


_LAST = "position~"  # the axis along which the positions of one element lie


def _window(w: Writer, a: Any, like: Value, x: Value) -> Value:
    dim, into = a["dim"].value, a["into"].value
    at = _windows(w, a, dim, into, (like.size(dim), like.size(into)))
    source = f"{dim}~source"
    return w.gather(w.renamed(x, [source if d == dim else d for d in x.dims]), at, [source], [])


def _overlap_add(w: Writer, a: Any, like: Value, x: Value) -> Value:
    dim, inside = a["dim"].value, a["from"].value
    at = _windows(w, a, dim, inside, (x.size(dim), x.size(inside)))
    target, source = w.number(0, like), f"{dim}~source"
    updates = w.transpose(x, (dim, inside, *(d for d in like.dims if d != dim)))
    target = w.renamed(target, [source if d == dim else d for d in like.dims])
    made = w.scatter("add", target, at, updates, [source], [])
    return w.renamed(made, like.dims)


def _positions(
    w: Writer, x: Value, indices: Sequence[Value], along: Sequence[str], in_order: bool, clip: bool
) -> tuple[Value, list[str]]:
    """Positions in `x`, as one array with a last axis, and the dims that they share with it."""
    sizes: dict[str, int] = {}
    for i in indices:
        sizes |= _sizes(i)
    dims = sorted(sizes) if in_order else list(sizes)
    shape = [sizes[d] for d in dims]
    found = []
    for i, d in zip(indices, along, strict=True):
        at, n = w.align(w.convert(i, "i64"), dims, shape), w.scalar(x.size(d), "i64")
        n, zero = w.align(n, dims, shape), w.number(0, at)
        at = w.select(w.compare("LT", at, zero), w.binary("add", at, n), at)
        if clip:
            last = w.number(x.size(d) - 1, at)
            at = w.binary("minimum", w.binary("maximum", at, zero), last)
        found.append(w.reshape(at, (*dims, _LAST), (*shape, 1)))
    joined = found[0] if len(found) == 1 else w.concat(found, _LAST)
    return joined, [d for d in x.dims if d in sizes and d not in along]


def _apart(x: Value, along: Sequence[str]) -> dict[str, str]:
    """Names for the dims that are read, which those of positions may have, too."""
    return {d: f"{d}~source" for d in along}


def _gather(w: Writer, a: Any, like: Value, x: Value, *indices: Value) -> Value | None:
    along = _names(a["along"])
    if 0 in (x.size(d) for d in along):
        return None if 0 not in like.shape else w.number(0, like)
    at, paired = _positions(w, x, indices, along, False, False)
    names = _apart(x, along)
    return w.gather(w.renamed(x, [names.get(d, d) for d in x.dims]), at, [names[d] for d in along], paired)


def _scatter(w: Writer, a: Any, like: Value, x: Value, *others: Value) -> Value:
    *indices, updates = others
    along = _names(a["along"])
    at, paired = _positions(w, x, indices, along, True, a["mode"].value == _CLIP)
    stay = [d for d in x.dims if d not in along and d not in paired]
    updates = w.align(updates, (*at.dims[:-1], *stay), (*at.shape[:-1], *(x.size(d) for d in stay)))
    names = _apart(x, along)
    target = w.renamed(x, [names.get(d, d) for d in x.dims])
    made = w.scatter(_SCATTERS[a["kind"].value], target, at, updates, [names[d] for d in along], paired)
    return w.renamed(made, x.dims)


def _argsort(w: Writer, a: Any, like: Value, x: Value) -> Value:
    return w.argsort(x, a["dim"].value, "descending" in a)


# -- matrices and transforms


def _matrix(w: Writer, x: Value, row: str, col: str) -> Value:
    return w.transpose(x, (*(d for d in x.dims if d not in (row, col)), row, col))


def _cholesky(w: Writer, a: Any, like: Value, x: Value) -> Value:
    row, col = _names(a["dims"])
    x = _matrix(w, x, row, col)
    flipped = w.renamed(w.transpose(x, (*x.dims[:-2], col, row)), x.dims)
    half = w.binary("multiply", w.binary("add", x, flipped), w.number(0.5, x))
    made = w.op(f"stablehlo.cholesky {half.name}, lower = true : $type", half)
    below = w.compare("GE", w.iota(made, row), w.iota(made, col))
    return w.select(below, made, w.number(0, made))


def _triangular_solve(w: Writer, a: Any, like: Value, x: Value, b: Value) -> Value | None:
    row, col = _names(a["dims"])
    return None if "pair" in a else _solved(w, x, b, row, col, "upper" in a, "unit" in a)


def _solved(w: Writer, x: Value, b: Value, row: str, col: str, upper: bool, unit: bool = False) -> Value:
    """y with x y = b, for a triangle of `x`. `b` has the dim `row`, and y the dim `col`."""
    sizes = {d: n for d, n in (_sizes(x) | _sizes(b)).items() if d not in (row, col)}
    batch = {d: n for d, n in sizes.items() if d in x.dims}
    free = {d: n for d, n in sizes.items() if d not in x.dims}
    n = x.size(row)
    x = w.align(x, (*batch, row, col), (*batch.values(), n, n))
    b = w.align(b, (*batch, row, *free), (*batch.values(), n, *free.values()))
    columns = w.reshape(b, (*batch, row, _LAST), (*batch.values(), n, math.prod(free.values())))
    attributes = (
        f"left_side = true, lower = {str(not upper).lower()}, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, "
        f"unit_diagonal = {str(unit).lower()}"
    )
    text = f'"stablehlo.triangular_solve"({x.name}, {columns.name}) <{{{attributes}}}> : ({x.type}, {columns.type})'
    return w.reshape(w.op(f"{text} -> $type", columns), (*batch, col, *free), b.shape)


def _triangle(w: Writer, x: Value, row: str, col: str, strict: bool = False, diagonal: float = 1.0) -> Value:
    """The elements of `x` on and below the diagonal, those on it times `diagonal`."""
    at = w.iota(x, row), w.iota(x, col)
    if diagonal != 1.0:
        x = w.select(w.compare("EQ", *at), w.binary("multiply", x, w.number(diagonal, x)), x)
    return w.select(w.compare("GT" if strict else "GE", *at), x, w.number(0, x))


def _triangular_contract(w: Writer, a: Any, like: Value, x: Value, y: Value) -> Value:
    (row, col), over, strict = _names(a["dims"]), _names(a["over"]), "strict" in a
    x, y = (_triangle(w, v, row, col, strict) if {row, col} <= {*v.dims} else v for v in (x, y))
    made = w.dot(x, y, over)
    return _triangle(w, made, row, col, strict) if {row, col} <= {*made.dims} else made


def _cholesky_tangent(w: Writer, a: Any, like: Value, factor: Value, t: Value) -> Value:
    """Forward L low(L^-1 T L^-T), and its transpose, L^-T low(L^T T) L^-1 made symmetric, where low() keeps the lower
    triangle and half of the diagonal (Murray 2016, arXiv:1602.07527)."""
    row, col = _names(a["dims"])
    t = w.align(t, like.dims, like.shape)
    other = f"{row}~other"

    def named(x: Value, first: str, second: str) -> Value:
        return w.renamed(x, [{row: first, col: second}.get(d, d) for d in x.dims])

    def symmetric(x: Value) -> Value:
        flipped = w.align(named(x, col, row), x.dims, x.shape)
        return w.binary("multiply", w.binary("add", x, flipped), w.number(0.5, x))

    def solved(x: Value, dim: str) -> Value:
        """L^-1 or, of the transpose, L^-T times the vectors along `dim` of `x`."""
        rows, columns = (other, dim) if "transposed" in a else (dim, other)
        made = _solved(w, named(factor, rows, columns), x, dim, other, "transposed" in a)
        return w.renamed(made, [dim if d == other else d for d in made.dims])

    if "transposed" in a:
        inner = w.dot(named(factor, other, row), named(_triangle(w, t, row, col), other, col), [other])
        inner = _triangle(w, inner, row, col, diagonal=0.5)
        return symmetric(solved(solved(inner, row), col))
    inner = _triangle(w, solved(solved(symmetric(t), row), col), row, col, diagonal=0.5)
    return w.dot(named(factor, row, other), named(inner, other, col), [other])


def _fourier(w: Writer, a: Any, like: Value, x: Value) -> Value | None:
    kind, dims, pair = a["kind"].value, _names(a["dims"]), a["pair"].value
    if len(dims) > 3:
        return None
    stay = [d for d in x.dims if d not in dims and d != pair]
    x = w.transpose(x, (*stay, *dims)) if kind == 2 else w.complex(w.transpose(x, (*stay, *dims, pair)), pair)
    lengths = [x.size(d) for d in dims]
    element = x.element
    if kind == 3:
        lengths[-1] = a["size"].value
        element = element.removeprefix("complex<").removesuffix(">")
    if kind == 2:
        element = f"complex<{element}>"
    last = lengths[-1] // 2 + 1 if kind == 2 else lengths[-1]
    made = w.fft(("FFT", "IFFT", "RFFT", "IRFFT")[kind], x, lengths, element, last)
    factor = a["scale"].value if "scale" in a else 1.0
    if kind in (1, 3):  # StableHLO's divide by the number of elements
        factor *= math.prod(lengths)
    if kind != 3:
        made = w.pair(made, pair)
    return made if factor == 1.0 else w.binary("multiply", made, w.number(factor, made))


_RULES: dict[str, Callable[..., Value | None]] = {
    "argsort": _argsort,
    "barrier": _barrier,
    "broadcast": _same,
    "cast": _cast,
    "cholesky": _cholesky,
    "cholesky_tangent": _cholesky_tangent,
    "compare": _compare,
    "concat": _concat,
    "constant": _constant,
    "contract": _contract,
    "cumulative": _cumulative,
    "fourier": _fourier,
    "gather": _gather,
    "iota": _iota,
    "merge": _merge,
    "overlap_add": _overlap_add,
    "pad": _pad,
    "recurrence": _recurrence,
    "reduce": _reduce,
    "rename": _rename,
    "reverse": _reverse,
    "scatter": _scatter,
    "size": _size,
    "slice": _slice,
    "sized": _same,
    "split": _split,
    "squeeze": _squeeze,
    "triangular_contract": _triangular_contract,
    "triangular_solve": _triangular_solve,
    "window": _window,
}
