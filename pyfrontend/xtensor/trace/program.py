"""Program: a traced function, with everything that compiling and calling it needs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import tree
from ..base.dims import brief, describe_array
from ..base.errors import ArgumentTypeError, Error
from ..base.ranges import Range
from ..base.refusals import unnamed
from ..ir.context import diagnosed, mark_distributed, verify
from ..values.mesh import Layout, hash_of
from ..values.spec import Spec
from ..values.targets import CPU, Target
from .lift import as_tracer
from .scope import Joined, Root
from .tracer import Tracer, spec

if TYPE_CHECKING:
    from ..mlir import ir
    from ..values.array import Array


@dataclass
class Program:
    """IR of one function `@main`. Its last inputs are the arrays that the function captured."""

    module: ir.Module
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    captured: tuple[Array, ...]
    tree: tree.TreeDef
    name: str = "f"
    places: tuple[int, ...] | None = None  # of each leaf among the outputs, where these are fewer
    ranges: tuple[Range, ...] = ()  # of the arguments that are Python ints
    labels: Mapping[Any, tuple[Any, Mapping[str, Any]]] = field(default_factory=dict)  # as Root has them
    joined: Mapping[Any, list[Joined]] = field(default_factory=dict)  # as Root has them
    followed: Mapping[Any, tuple[Any, list[Any], list[Any]]] = field(default_factory=dict)  # as Root has them
    fed: Mapping[Any, Any] = field(default_factory=dict)  # as Root has them
    own: Sequence[Any] = ()  # as Root has them
    owned: Mapping[Any, tuple[int, Any]] = field(default_factory=dict)  # as Root has them
    consulted: bool = False  # whether the labels of the call's arguments are a part of what this was made for
    consulted_of: Mapping[int, Any] = field(default_factory=dict)  # as Root has them
    donated: tuple[int, ...] = ()  # inputs that a call takes over
    layout: Layout | None = None  # over several processes, each of which has a part of the inputs and outputs
    text: str = ""  # of a program with a layout, before it is distributed: equal in all processes
    seconds: dict[str, float] = field(default_factory=dict)  # how long it took to make: "trace", then each phase
    key: str = ""  # of its code: equal for programs that are equal; empty before it is compiled
    source: str = "compiled"  # where its code is from: "compiled", "disk", "carried" or "memory"
    told: str = ""  # what calls it, for messages of other processes
    arguments: Sequence[str] = ()  # their names, of a program with a layout
    hashes: Sequence[str] = ()  # of the arrays that it captured, likewise
    called: frozenset[Any] = frozenset()  # as Root has them; they live as long as a program or its code

    functions: Mapping[tuple[int, str], Any] = field(default_factory=dict)  # as Root has them
    operands: Mapping[str, str] = field(default_factory=dict)  # as Root has them

    def leaves(self, results: Sequence[Any]) -> Sequence[Any]:
        """One result per leaf; a value that is returned twice is computed and stored once."""
        return results if self.places is None else [results[i] for i in self.places]

    @property
    def all_inputs(self) -> tuple[Spec, ...]:
        return self.inputs + tuple(Spec._of(a.dims, a.shape, a.dtype, a.weak) for a in self.captured)

    @property
    def given(self) -> tuple[Spec, ...]:
        """What a call gets: of a program of several processes the parts, and the whole of what it captured."""
        if self.layout is None:
            return self.all_inputs
        captured = self.all_inputs[len(self.inputs) :]
        return (*map(self.layout.part, self.inputs), *captured)

    @property
    def results(self) -> tuple[Spec, ...]:
        """What a call returns."""
        return self.outputs if self.layout is None else tuple(map(self.layout.part, self.outputs))

    def distribute(self, layout: Layout, place: str, names: Sequence[str] | None) -> None:
        """From now on this is the program of each of several processes. place: where its function is; names: of its
        arguments."""
        for x in self.captured:
            layout.check_whole(f"{self.name}: an array that it reads from outside", x.dims, x.shape)
        leaves = self.leaves(self.outputs)
        for path, s in zip(tree.paths(self.tree.unflatten(range(len(leaves)))), leaves, strict=True):
            layout.check_whole(f"{self.name}: result{path}", s.dims, s.shape)
        self.layout = layout
        self.text = str(self.module)
        self.told = f"{self.name}{place} of {', '.join(map(describe_array, self.given)) or 'no arrays'}"
        self.arguments = names or [f"argument {i}" for i in range(len(self.inputs))]
        if self.captured and layout.mesh.size > 1:
            self.hashes = [hash_of(x.values) for x in self.captured]
            told = (f"{describe_array(x)} {h}" for x, h in zip(self.captured, self.hashes, strict=True))
            self.told += f", which reads {', '.join(told)} from outside"
        whole = range(len(self.inputs), len(self.all_inputs))
        mark_distributed(self.main, layout.numbers, layout.split, whole, layout.blocks)

    @property
    def together(self) -> Any:
        """What the processes compare at a call; None: nothing."""
        if self.layout is None:
            return None
        mesh, equal = self.layout.mesh, []
        for i, s in enumerate(self.inputs):
            is_number = s.weak and not s.dims
            if s.is_dynamic or not self.layout.split.keys().isdisjoint(s.dims):
                continue
            if is_number or mesh.checks == "arguments":
                count = math.prod(n for n in s.shape if n is not None)
                equal.append((i, self.arguments[i], s.dtype.name, s.dtype.itemsize * count))
        return mesh.together(self.agreed, self.told, tuple(equal))

    @property
    def agreed(self) -> str:
        """Of a program with a layout: what is equal in all processes that run it."""
        assert self.layout is not None
        return self.layout.key(f"{self.text} {self.hashes}")

    @property
    def main(self) -> ir.Operation:
        return self.module.body.operations[0].operation


def result_leaves(result: Any, name: str, lift: Callable[[Any], Any] = as_tracer) -> tuple[list[Any], tree.TreeDef]:
    """What a function returned, as a structure and tracers, or what `lift` makes of each leaf."""
    leaves, structure = tree.flatten(result)
    tracers = []
    for leaf, path in zip(leaves, tree.paths(result), strict=True):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            raise unnamed(leaf, f"result{path} of {name}, a NumPy array")
        try:
            tracers.append(lift(leaf))
        except ArgumentTypeError:
            raise ArgumentTypeError(
                f"{name} returned {type(leaf).__name__} {brief(leaf):.60}{f' at result{path}' if path else ''}; a "
                "traced function returns arrays, numbers, None, and dicts, lists, tuples or dataclasses of them"
            ) from None
    return tracers, structure


def _unique(results: list[Tracer]) -> tuple[list[Tracer], tuple[int, ...] | None]:
    """Each value once, and where each result is among them (None: as they come)."""
    first: dict[Any, int] = {}
    places = tuple(first.setdefault((r.value, r.weak), len(first)) for r in results)
    if len(first) == len(results):
        return results, None
    return [results[places.index(i)] for i in range(len(first))], places


def trace(
    fn: Callable[[list[Tracer]], Any],
    specs: Sequence[Spec],
    name: str = "f",
    names: Sequence[str] | None = None,
    target: Target = CPU,
    given: Mapping[int, Any] | None = None,
    donated: tuple[int, ...] = (),
) -> Program:
    """Runs `fn` on tracers of `specs`, once. `target`: where it will run. `given`: arguments that have labels, by
    number. `donated`: inputs that a call takes over."""
    begin = time.perf_counter()
    with diagnosed(Error):
        with Root(specs, names, target) as root:
            root.given = given or {}
            values = zip(root.block.arguments, root.specs, strict=True)
            arguments = [Tracer(v, weak=s.weak, scope=root, spec=s) for v, s in values]
            results, structure = result_leaves(fn(arguments), name)
            unique, places = _unique(results)
            root.finish([r.value for r in unique], donated)
        verify(root.module)
        captured = root.release()
    return Program(
        root.module,
        tuple(root.specs),
        tuple(spec(r) for r in unique),
        captured,
        structure,
        name,
        places,
        tuple(root.ranges.values()),
        root.labels,
        root.joined,
        root.followed,
        root.fed,
        root.own,
        root.owned,
        root.consulted,
        root.consulted_of,
        donated,
        seconds={"trace": time.perf_counter() - begin},
        called=frozenset(root.called),
        functions=root.functions,
        operands=root.operands,
    )
