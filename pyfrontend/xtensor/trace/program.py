"""Program: a traced function, with what is needed to compile and call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core import tree
from ..core.errors import ArgumentTypeError, Error
from ..core.spec import Spec
from .context import diagnosed, lock, spec_of
from .scope import Root
from .tracer import Tracer, as_tracer

if TYPE_CHECKING:
    from ..core.array import Array
    from ..mlir import ir


@dataclass
class Program:
    """IR of one function `@main`. Its last inputs are the arrays that the function captured."""

    module: ir.Module
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    captured: tuple[Array, ...]
    tree: tree.TreeDef
    name: str = "f"
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def all_inputs(self) -> tuple[Spec, ...]:
        return self.inputs + tuple(Spec(a.dims, a.shape, a.dtype) for a in self.captured)

    @property
    def main(self) -> ir.Operation:
        return self.module.body.operations[0].operation


def result_leaves(result: Any, name: str) -> tuple[list[Tracer], tree.TreeDef]:
    """What a traced function returned, as tracers and a structure."""
    leaves, structure = tree.flatten(result)
    tracers = []
    for leaf, path in zip(leaves, tree.paths(result), strict=True):
        try:
            tracers.append(as_tracer(leaf))
        except ArgumentTypeError:
            raise ArgumentTypeError(
                f"{name} returned {type(leaf).__name__} {leaf!r:.60}{f' at result{path}' if path else ''}; a traced "
                "function returns arrays, numbers, None, and dicts, lists, tuples or dataclasses of them"
            ) from None
    return tracers, structure


def trace(
    fn: Callable[[list[Tracer]], Any],
    specs: Sequence[Spec],
    name: str = "f",
    names: Sequence[str] | None = None,
) -> Program:
    """Runs `fn` on tracers of `specs`, once."""
    with lock, diagnosed(Error):
        with Root(specs, names) as root:
            arguments = [
                Tracer(v, weak=s.weak, scope=root, spec=s) for v, s in zip(root.block.arguments, specs, strict=True)
            ]
            results, structure = result_leaves(fn(arguments), name)
            root.finish(results)
        root.module.operation.verify()
    return Program(
        root.module,
        tuple(specs),
        tuple(spec_of(r.value.type) for r in results),
        tuple(a for a, _ in root.captured.values()),
        structure,
        name,
    )
