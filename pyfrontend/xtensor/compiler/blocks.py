"""Blocks of a program as programs that give all of their values, for a second run that looks at each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base import dtypes, tree
from ..ir import context as c
from ..ir import location
from ..trace.program import Program
from ..values.spec import Spec
from .executable import load
from .origins import inside, main_of

if TYPE_CHECKING:
    from ..mlir import ir

# The place of a block: (number of the op, number of its region) from the function inwards. A value is (block, number of
# the op that gives it, number of the result); an argument of a block has -1 for the op.
Place = tuple[tuple[int, int], ...]
Name = tuple[Place, int, int]
Values = dict[Name, Any]

MAIN: Place = ()
_MOST_OPS = 256  # of one program


def _held(type_: ir.Type) -> ir.Type:
    """The type that arrays outside of a program have for values of a type: the parts of complex numbers lie beside each
    other, and one part alone has no dim for it."""
    dims, shape, _ = c.compiler().array_parts(type_)
    spec = c.spec_of(type_)
    if not dtypes.is_complex(spec.dtype):
        return type_
    is_whole = shape[list(dims).index(c.PAIR)] == 2
    return c.array_type(spec if is_whole else Spec._of(spec.dims, spec.shape, dtypes.real_of(spec.dtype)))


def _as_type(value: Any, type_: ir.Type, end: Any) -> Any:
    """A value with the dims of another type: in another order, or with or without the dim of one part."""
    if value.type == type_:
        return value
    fewer = len(value.type.dims) > len(type_.dims)
    name, named = ("xtensor.squeeze", {"dims": c.names_attribute((c.PAIR,))}) if fewer else ("xtensor.broadcast", {})
    op = c.mlir().Operation.create(
        name, results=[type_], operands=[value], attributes=named, loc=location.unknown(), ip=end
    )
    return op.results[0]


class Names:
    """Names for the blocks and the values of a module. Nothing of it is moved or erased while these are there."""

    def __init__(self, module: ir.Module) -> None:
        self.blocks: dict[Place, ir.Block] = {}
        self.names: dict[Any, Name] = {}
        self._visit(main_of(module), MAIN)

    def _visit(self, block: ir.Block, place: Place) -> None:
        self.blocks[place] = block
        for i, argument in enumerate(block.arguments):
            self.names[argument] = (place, -1, i)
        for i, view in enumerate(block.operations):
            op = view.operation
            for k, result in enumerate(op.results):
                self.names[result] = (place, i, k)
            for r, region in enumerate(op.regions):
                for inner in region.blocks:
                    self._visit(inner, (*place, (i, r)))

    def captured(self, place: Place) -> list[Any]:
        """What a block reads from outside of it, in order."""
        return self.read([view.operation for view in self.blocks[place].operations], place, -1)

    def read(self, ops: Sequence[ir.Operation], place: Place, first: int) -> list[Any]:
        """What ops of a block read from outside of it and from ops before number `first`, in order."""
        found: dict[Any, None] = {}
        for op in ops:
            for x in (x for each in (op, *inside(op)) for x in each.operands):
                where, number, _ = self.names[x]
                if where[: len(place)] != place or (where == place and number < first):
                    found[x] = None
        return [*found]


class Block:
    """A block of a program, as programs that give all of its values: one for each few hundred ops, because the compiler
    takes longer than in proportion for many results."""

    def __init__(self, all_names: Names, place: Place, name: str, called: frozenset[Any]) -> None:
        names = all_names.names
        *ops, last = (view.operation for view in all_names.blocks[place].operations)
        self.yields = [names[x] for x in last.operands]
        self.parts = [
            _Part(ops[i : i + _MOST_OPS], all_names.read(ops[i : i + _MOST_OPS], place, i), names, name, called)
            for i in range(0, len(ops), _MOST_OPS)
        ]

    def run(self, known: Mapping[Name, Any]) -> Values:
        """All values of the block."""
        found: Values = {}
        for part in self.parts:
            found.update(part.run({**known, **found}))
        return found


class _Part:
    """Ops of a block that come one after the other, as a program."""

    def __init__(
        self,
        ops: Sequence[ir.Operation],
        inputs: Sequence[Any],
        names: Mapping[Any, Name],
        name: str,
        called: frozenset[Any],
    ) -> None:
        results = [x for op in ops for x in op.results]
        self.inputs, self.results = [names[x] for x in inputs], [names[x] for x in results]
        self.program = self._made(ops, inputs, results, name)
        self.program.called = called
        self.executable: Any = None

    @staticmethod
    def _made(ops: Sequence[ir.Operation], inputs: Sequence[Any], results: Sequence[Any], name: str) -> Program:
        mlir, ctx = c.mlir(), c.context()
        types, outs = [_held(x.type) for x in inputs], [_held(x.type) for x in results]
        made = mlir.Module.create(location.unknown())
        function = mlir.Operation.create(
            "func.func",
            attributes={
                "sym_name": mlir.StringAttr.get("main", context=ctx),
                "function_type": mlir.TypeAttr.get(mlir.FunctionType.get(types, outs, context=ctx), context=ctx),
            },
            regions=1,
            loc=location.unknown(),
            ip=mlir.InsertionPoint(made.body),
        )
        body = mlir.Block.create_at_start(function.regions[0], types, [location.unknown()] * len(types))
        end = mlir.InsertionPoint(body)
        new = {x: _as_type(held, x.type, end) for x, held in zip(inputs, body.arguments, strict=True)}
        for op in ops:
            if not only_acts(op):
                _replace(op, op.clone(ip=end).operation, new)
        given = [_as_type(new[x], out, end) for x, out in zip(results, outs, strict=True)]
        mlir.Operation.create("func.return", operands=given, loc=location.unknown(), ip=end)
        specs = tuple(c.spec_of(t) for t in types), tuple(c.spec_of(t) for t in outs)
        return Program(made, *specs, (), tree.structure([0] * len(outs)), name)

    def run(self, known: Mapping[Name, Any]) -> Values:
        """All values of these ops."""
        if not self.results:
            return {}
        if self.executable is None:
            self.executable = load(self.program)
        given = [known[name] for name in self.inputs]
        return dict(zip(self.results, self.executable.run(given), strict=True))


def _replace(old: ir.Operation, copy: ir.Operation, new: dict[Any, Any]) -> None:
    """Gives the copy of an op the operands that are there in place of the op's, and remembers what stands for what."""
    for i, x in enumerate(old.operands):
        copy.operands[i] = new[x]
    new.update(zip(old.results, copy.results, strict=True))
    for region, other in zip(old.regions, copy.regions, strict=True):
        for block, its in zip(region.blocks, other.blocks, strict=True):
            new.update(zip(block.arguments, its.arguments, strict=True))
            for a, b in zip([*block.operations], [*its.operations], strict=True):
                if only_acts(a.operation):
                    b.operation.erase()
                else:
                    _replace(a.operation, b.operation, new)


def only_acts(op: ir.Operation) -> bool:
    """Whether an op gives nothing, as a print: the second run does without."""
    return op.name == "xtensor.callback" and not len(op.results)
