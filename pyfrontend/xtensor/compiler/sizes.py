"""Dynamic sizes of a traced program: what each name's size is in terms of the inputs', and which names must agree.

A name is one size inside of a function. Where an op gives an array a dynamic dim whose name is there already (a
rename onto another dim, a merge), the two sizes are compared at every call, before anything runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import Error, SizeError, UnsupportedError
from ..trace.context import file_line, spec_of

if TYPE_CHECKING:
    from ..mlir import ir
    from ..trace.program import Program

# A product of ints and of names of the inputs' dynamic dims.
Product = list[int | str]


class Sizes:
    """The sizes of a program's dynamic dims; `equalities` are pairs that must agree, or sizes that must
    not be 0, with what raises otherwise."""

    def __init__(self, program: Program) -> None:
        self.known: dict[str, Product] = {}
        self.least: dict[str, Any] = {}  # the smaller of two sizes, which is no product: the op that has it
        self.equalities: list[tuple[Product, Product | None, Any]] = []
        for spec in program.all_inputs:
            for d, n in zip(spec.dims, spec.shape, strict=True):
                if n is None:
                    self.known[d] = [d]
        if self.known:
            for op in _operations(program.main.operation):
                self._visit(op)
        for (dim, _, _), error in program.nonempty.items():
            if dim in self.known:
                self.equalities.append((self.known[dim], None, _raising(error)))

    def of(self, spec: Any) -> list[Any]:
        """The sizes of an output: ints, and products that the call works out."""
        return [self._named(d) if n is None else n for d, n in zip(spec.dims, spec.shape, strict=True)]

    def _visit(self, op: Any) -> None:
        if op.name == "xtensor.rename":
            x = spec_of(op.operands[0].type)
            pairs = zip(op.attributes["from"], op.attributes["to"], strict=True)
            new = [(b.value, self._named(a.value)) for a, b in pairs if x.sizes[a.value] is None]
            for dim, size in new:
                self._introduce(op, dim, size)
        elif op.name == "xtensor.merge":
            x, into = spec_of(op.operands[0].type), op.attributes["into"].value
            if spec_of(op.results[0].type).sizes[into] is None:
                sizes = [x.sizes[d.value] for d in op.attributes["dims"]]
                names = [d.value for d, n in zip(op.attributes["dims"], sizes, strict=True) if n is None]
                product: Product = [math.prod(n for n in sizes if n is not None)]
                self._introduce(op, into, product + [p for d in names for p in self._named(d)])
        elif op.name == "xtensor.iota" and len(op.operands):
            (dim,) = spec_of(op.results[0].type).dims
            self._introduce(op, dim, self._value(op.operands[0]))
        elif op.name == "xtensor.scan" and op.attributes["operandSegmentSizes"][2]:
            self._introduce(op, op.attributes["dim"].value, self._value(op.operands[len(op.operands) - 1]))
        elif op.name in ("xtensor.qr", "xtensor.svd"):
            x, inner = spec_of(op.operands[0].type), op.attributes["inner"].value
            if any(x.sizes[d.value] is None for d in op.attributes["dims"]):
                self.least.setdefault(inner, op)
        elif op.name == "xtensor.eigh":
            row, inner = op.attributes["dims"][0].value, op.attributes["inner"].value
            if spec_of(op.operands[0].type).sizes[row] is None:
                self._introduce(op, inner, self._named(row))
        elif op.name == "xtensor.broadcast":
            have, spec = spec_of(op.operands[0].type), spec_of(op.results[0].type)
            dims = [d for d, n in zip(spec.dims, spec.shape, strict=True) if n is None and d not in have.dims]
            for d, operand in zip(dims, list(op.operands)[1:], strict=True):
                self._introduce(op, d, self._value(operand))

    def _introduce(self, op: Any, dim: str, size: Product) -> None:
        there = self.known.setdefault(dim, size)
        if _plain(there) != _plain(size):
            self.equalities.append((there, size, _refusal(op, dim)))

    def _named(self, dim: str) -> Product:
        if dim in self.known:
            return self.known[dim]
        if dim in self.least:
            op = self.least[dim]
            both = " and ".join(repr(d.value) for d in op.attributes["dims"])
            name = op.name.removeprefix("xtensor.")
            raise UnsupportedError(
                f"xt.linalg.{name}: dim {dim!r} of a result has the smaller size of {both}, "
                f"which only the call knows. Use it up inside of the function, as xt.dot(q, r, dim={dim!r}) does, or "
                f"leave {both} out of dynamic_dims=",
                file_line(str(op.location)),
            )
        raise UnsupportedError(
            f"the size of dim {dim!r} does not follow from the arguments' dynamic dims. Rename it to a dim that an "
            "argument has, or make its size static"
        )

    def _value(self, value: ir.Value) -> Product:
        owner: Any = value.owner
        if getattr(owner, "name", "") == "xtensor.size":
            dim = owner.attributes["dim"].value
            n = spec_of(owner.operands[0].type).sizes[dim]
            return self._named(dim) if n is None else [n]
        raise UnsupportedError("a size is computed from values; sizes follow from the arguments' dims only")


def _operations(parent: Any) -> Iterator[Any]:
    """Every op inside of `parent`, in program order."""
    for region in parent.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _operations(view.operation)


def _plain(size: Product) -> tuple[int, list[str]]:
    return math.prod(n for n in size if isinstance(n, int)), sorted(n for n in size if isinstance(n, str))


def _raising(error: Error) -> Any:
    def refuse(size: int, _: int) -> None:
        raise type(error)(str(error))

    return refuse


def _refusal(op: Any, dim: str) -> Any:
    """What raises when a call's sizes differ."""
    kind, where = op.name.removeprefix("xtensor."), file_line(str(op.location))

    def refuse(there: int, new: int) -> None:
        raise SizeError(
            f"{kind}: dim {dim!r} has size {there}, and a dim of size {new} is given this name; equal names have "
            "equal sizes, dynamic dims too. Use another name",
            where,
        )

    return refuse
