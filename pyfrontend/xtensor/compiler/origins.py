"""Which ops of the user's program an op of a later phase is made of."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir import location
from ..ir.context import enum_attribute, mlir, written

if TYPE_CHECKING:
    from ..mlir import ir
    from ..trace.program import Program

_DERIVED = re.compile(r'loc\(fused<"(tangent|cotangent|residual)\b')
_MARK = re.compile(r'loc\(fused<"(tangent|cotangent|residual)\b(?: of (\w+))?')
_METHODS = {"at", "coarsen", "groupby", "resample", "rolling"}  # functions of what an array's method returns
# Ops that a user does not write as functions: no derivative is said to be theirs.
_NOT_OF_USERS = {
    "apply", "broadcast", "constant", "func.return", "pullback", "pushforward", "transposed", "vectorize", "yield",
}  # fmt: skip
# The functions of ops that have another name, or that an error calls by more words than a table has room for.
_FUNCTIONS = {
    "accumulate": "x.at(..).mul", "concat": "concat", "fourier": "fft", "iota": "arange", "merge": "stack",
    "reverse": "flip", "slice": "x.isel",
}  # fmt: skip
_COPIES = ("broadcast", "constant")
# Ops that stand for several functions: the attribute and the enum of their kind, what stands before the function's
# name, and the function of each kind, where it is not called like it.
_BY_KIND: dict[str, tuple[str, str, str, Mapping[str, str]]] = {
    "compare": ("predicate", "ComparePredicate", "", {
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}),
    "complex_factor": ("kind", "ComplexFactorKind", "", {k: k for k in ("cholesky", "eig", "eigh", "lu", "qr", "svd")}),
    "cumulative": ("kind", "CumulativeKind", "cum", {k: k for k in ("sum", "prod", "max", "min")}),
    "reduce": ("kind", "ReduceKind", "", {
        k: k for k in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")}),
    "scatter": ("kind", "ScatterKind", "x.at(..).", {k: k for k in ("add", "set", "mul", "max", "min")}),
}  # fmt: skip
# On truth values, and on the bits of integers.
_OF_BITS = {
    "and": ("logical_and", "bitwise_and"), "not": ("logical_not", "invert"), "or": ("logical_or", "bitwise_or"),
    "xor": ("logical_xor", "bitwise_xor"),
}  # fmt: skip


def ops_in(block: ir.Block) -> list[ir.Operation]:
    """The ops of a block, and those inside of them."""
    return [op for view in block.operations for op in (view.operation, *inside(view.operation))]


def inside(op: ir.Operation) -> list[ir.Operation]:
    """The ops in the regions of an op, and those inside of them."""
    return [inner for region in op.regions for block in region.blocks for inner in ops_in(block)]


def main_of(module: ir.Module) -> ir.Block:
    return module.body.operations[0].operation.regions[0].blocks[0]


def copy_of(module: ir.Module) -> ir.Module:
    """A copy of a traced program."""
    made = mlir().Module.create(location.unknown())
    module.body.operations[0].operation.clone(ip=mlir().InsertionPoint(made.body))
    return made


def derived(where: ir.Location) -> tuple[bool, ir.Location]:
    """Whether an op is a part of a derivative (passes/Autodiff/Linearize.cpp says so), and its place in the program."""
    is_derived = False
    while where.is_a_fused() or where.is_a_name():
        is_derived = is_derived or _DERIVED.match(str(where)) is not None
        where = where.locations[0] if where.is_a_fused() else where.child_loc
    return is_derived, where


class Source(NamedTuple):
    """What a user wrote that an op is a part of: the function, as "xt.log", empty if it is not known; and whether the
    op is a part of its derivative."""

    function: str
    is_derived: bool


def source_of(op: ir.Operation) -> Source:
    """The source of an op of a program that was traced with `location.naming()`."""
    return source_at(op.location)


def source_at(where: ir.Location) -> Source:
    is_derived, marked = False, ""
    while where.is_a_fused() or where.is_a_name():
        if where.is_a_name():
            name, is_rule = location.function_in(where.name_str)
            return Source(_public(name), is_derived or is_rule)
        if mark := _MARK.match(str(where)):
            is_derived, marked = True, mark[2] or marked
        where = where.locations[0]
    return Source(written(marked) if marked else "", is_derived)


def _public(name: str) -> str:
    """How a user writes what `local.op` names."""
    return f"x.{name}" if name.partition(".")[0] in _METHODS else f"xt.{name}"


def _written(name: str) -> str:
    """What `local.op` names as tables have it: "random.normal", "x.at(..).add"."""
    head, _, rest = name.partition(".")
    return f"x.{head}(..).{rest}" if head in _METHODS and rest else _public(name).removeprefix("xt.")


def _name(op: ir.Operation) -> str:
    return op.name.removeprefix("xtensor.")


def function_of(op: ir.Operation) -> str:
    """What a user writes for an op."""
    name = _function(op)
    return name if name.partition(" ")[0] in ("a", "the") or name.startswith("x.") else f"xt.{name}"


def is_public(op: str) -> bool:
    """Whether users can write this name of an op."""
    found: Any = sys.modules[__name__.partition(".")[0]]
    for part in op.removeprefix("xt.").split(".") if op.startswith("xt.") else ():
        found = getattr(found, part, None)
    return found is not None


def is_named_alike(function: str, op: str) -> bool:
    """Whether a function and an op are one to a user, as xt.isel and x.isel."""
    return function.removeprefix("xt.") == op.removeprefix("xt.").removeprefix("x.")


def _function(op: ir.Operation) -> str:
    """What a user writes for an op, without `xt.`."""
    name = _name(op)
    if name in _BY_KIND:
        attribute, enum, prefix, functions = _BY_KIND[name]
        value = op.attributes[attribute].value
        for kind, function in functions.items():
            if enum_attribute(enum, kind).value == value:
                return prefix + function
    if name in _OF_BITS:
        return _OF_BITS[name][not str(op.results[0].type).endswith(("<i1>", ", i1>"))]
    return _FUNCTIONS.get(name) or written(name).removeprefix("xt.")


def _copying(op: ir.Operation) -> str:
    """What a user writes for an op that only moves or repeats values."""
    result = op.results[0].type
    if _name(op) == "constant":
        return "full"
    return "transpose" if len(op.operands[0].type.dims) == len(result.dims) else "broadcast"


def ops_at(
    module: ir.Module, called: Callable[[ir.Operation], str] = _name, only: Collection[str] = ()
) -> dict[str, list[str]]:
    """The ops at each line and column; `only`: those with these names."""
    found: dict[str, list[str]] = {}
    for op in ops_in(main_of(module)):
        _, where = derived(op.location)
        name = _name(op)
        if name in only if only else name not in _NOT_OF_USERS:
            found.setdefault(str(where), []).append(called(op))
    return found


class Origins:
    """Tells of what the compiler says an op is made of: {"at": [[file, line, column]], "marks": ["cotangent"]}."""

    def __init__(self, program: Program) -> None:
        self.functions = ops_at(program.module, _function)
        self.copies = ops_at(program.module, _copying, _COPIES)
        public: dict[str, list[str]] = {}
        for (_, name), where in program.functions.items():
            if name:
                public.setdefault(str(where), []).append(_written(name))
        for found in (self.functions, self.copies):
            found.update((place, public[place]) for place in found.keys() & public.keys())

    def names(self, origin: Mapping[str, Any]) -> tuple[str, ...]:
        """Functions as a user writes them, in the order of the program's lines; of a place where no function added the
        ops, these themselves. Places where ops only repeat values are told where nothing else is."""
        places = [_key(*place) for place in sorted(map(tuple, origin["at"]))]
        functions = dict.fromkeys(name for place in places for name in self.functions.get(place, ()))
        return tuple(functions or dict.fromkeys(name for place in places for name in self.copies.get(place, ())))

    @staticmethod
    def lines(origin: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
        """(file, line), those of one file together."""
        return tuple(dict.fromkeys((file, line) for file, line, _ in sorted(map(tuple, origin["at"]))))

    @staticmethod
    def is_derivative(origin: Mapping[str, Any]) -> bool:
        return bool({"tangent", "cotangent"} & {*origin["marks"]})


def _key(file: str, line: int, column: int) -> str:
    return f'loc("{file}":{line}:{column})'


def where(lines: Sequence[tuple[str, int]]) -> str:
    """FILE:LINES, of the first file with the name alone."""
    if not lines:
        return ""
    file = lines[0][0]
    numbers = [line for f, line in lines if f == file]
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    text = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"{Path(file).name}:{text}"
