"""Graphs whose sizes depend on elements of arrays, in stages: a program computes what sizes follow from, Python reads
it, and the next program has these sizes.

Such sizes come from the places where a mask holds, from `unique`, and from a scan that ends by a condition. They also
come from numbers that are used as sizes or as bounds of slices. The next program gets what Python read as arguments.
What more than one stage needs is computed in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.shape import shape as shape_of
from pytensor.tensor.subtensor import inc_subtensor
from pytensor.tensor.type import TensorType

from .graph import KNOWN, found
from .indexing import entries_of, mask_error
from .linker import Program, static_inputs
from .loops import Steps

_READS = ("AdvancedSubtensor", "AdvancedSubtensor1")
_COMPUTED = ("Nonzero", "Unique")  # by PyTensor itself, between two programs


@dataclass
class Stage:
    """What a program computes for the next ones: `give` makes the values of `made` of those of `needs`."""

    needs: list[Variable]
    made: list[Variable]
    give: Callable[..., Sequence[Any]]
    level: int


def program_of(fgraph: Any) -> Any:
    """A graph as a function of NumPy arrays."""
    return Staged(fgraph) if any(map(_Split(fgraph).needs_stage, fgraph.toposort())) else Program(fgraph)


def _name(node: Apply) -> str:
    return type(node.op).__name__


class _Split:
    """The graph once more, with arguments in place of what its sizes follow from."""

    def __init__(self, fgraph: Any) -> None:
        self.fgraph = fgraph
        fixed = {fgraph.inputs[i] for i in static_inputs(fgraph)}
        self.moving = {v for v in fgraph.inputs if v not in fixed}  # variables that depend on elements of arrays
        for node in fgraph.toposort():
            if _name(node) not in ("Shape", "Shape_i") and any(v in self.moving for v in node.inputs):
                self.moving.update(node.outputs)
        self.read = {m for node in fgraph.toposort() if _name(node) in _READS for _, m in self._masks(node, 1)}
        self.new: dict[Variable, Variable] = {v: v for v in fgraph.inputs}
        self.levels: dict[Variable, int] = dict.fromkeys(fgraph.inputs, 0)
        self.stages: list[Stage] = []
        self.known: dict[Variable, Variable] = {}

    def _masks(self, node: Apply, first: int) -> list[tuple[int, Variable]]:
        """The masks in an index that are computed, and their first axes."""
        found, axis = [], 0
        for e in entries_of(node.op, node, first):
            is_mask = isinstance(e, Variable) and getattr(e.type, "dtype", "") == "bool"
            if is_mask and e in self.moving:
                found.append((axis, e))
            axis += e.type.ndim if is_mask else 1
        return found

    def _sizes(self, node: Apply) -> list[Variable]:
        """What must be known of a node's inputs, and depends on elements of arrays."""
        known = found(KNOWN, node.op)
        every = known(node) if known and _name(node) not in _COMPUTED else []
        return [v for v in every if v in self.moving and np.dtype(getattr(v.type, "dtype", "f8")).kind in "biu"]

    def needs_stage(self, node: Apply) -> bool:
        name = _name(node)
        if name == "Unique" or (name == "Scan" and node.op.info.as_while):
            return True
        if name == "Nonzero":
            return any(v in self.moving for v in node.inputs)
        return bool((name in _READS and self._masks(node, 1)) or self._sizes(node))

    # -- the new graph

    def value(self, v: Variable) -> Variable:
        return v if isinstance(v, Constant) else self.new[v]

    def level(self, v: Variable) -> int:
        """The stages before the one that computes a new variable."""
        work, seen, most = [v], set(), 0
        while work:
            v = work.pop()
            if v in seen:
                continue
            seen.add(v)
            most = max(most, self.levels.get(v, 0))
            work += v.owner.inputs if v.owner else []
        return most

    def stage(self, needs: Sequence[Variable], types: Sequence[Any], give: Callable[..., Sequence[Any]]) -> Any:
        made = [t() for t in types]
        level = max((self.level(v) for v in needs), default=0) + 1
        self.levels |= dict.fromkeys(made, level)
        self.stages.append(Stage(list(needs), made, give, level))
        return made

    def run(self) -> list[Variable]:
        for node in self.fgraph.toposort():
            made = self.node(node)
            self.new |= dict(zip(node.outputs, made, strict=True))
        return [self.value(v) for v in self.fgraph.outputs]

    def node(self, node: Apply) -> Sequence[Variable]:
        name, inputs = _name(node), [self.value(v) for v in node.inputs]
        if name in _COMPUTED and self.needs_stage(node):
            return self._computed(node, inputs)
        for v in self._sizes(node):
            if v not in self.known:
                self.known[v] = self.stage([self.value(v)], [v.type], lambda x: [x])[0]
            inputs = [self.known[v] if old is v else x for old, x in zip(node.inputs, inputs, strict=True)]
        if name == "Scan" and node.op.info.as_while:
            steps = Steps(node.op)(*inputs)
            inputs = [*self.stage([steps], [inputs[0].type], lambda n: [n]), *inputs[1:]]
        if name in _READS and self._masks(node, 1):
            return [inputs[0][self._index(node, inputs, 1)]]
        if name == "AdvancedIncSubtensor" and any(m in self.read for _, m in self._masks(node, 2)):
            place = inputs[0][self._index(node, inputs, 2)]
            return [inc_subtensor(place, inputs[1], set_instead_of_inc=node.op.set_instead_of_inc)]
        outputs: Sequence[Variable] = node.clone_with_new_inputs(inputs, strict=False).outputs
        return outputs

    @staticmethod
    def _numpy(node: Apply) -> Callable[..., Sequence[Any]]:
        def give(*values: Any) -> Sequence[Any]:
            storage: list[list[Any]] = [[None] for _ in node.outputs]
            node.op.perform(node, list(values), storage)
            return [s[0] for s in storage]

        return give

    def _computed(self, node: Apply, inputs: Sequence[Variable]) -> Any:
        return self.stage(inputs, [v.type for v in node.outputs], self._numpy(node))

    def _index(self, node: Apply, inputs: Sequence[Variable], first: int) -> tuple[Any, ...]:
        """The index with positions in place of masks."""
        masks = {m: axis for axis, m in self._masks(node, first)}
        found: list[Any] = []
        for e in entries_of(node.op, node, first):
            if isinstance(e, Variable) and e in masks:
                found += self._positions(node, e, masks[e], inputs[0])
            elif isinstance(e, slice):
                bounds = (e.start, e.stop, e.step)
                found.append(slice(*(self._bound(b) for b in bounds)))
            else:
                found.append(self.value(e) if isinstance(e, Variable) else e)
        return tuple(found)

    def _bound(self, v: Any) -> Any:
        return self.known.get(v) or self.value(v) if isinstance(v, Variable) else v

    def _positions(self, node: Apply, mask: Variable, first: int, x: Variable) -> Any:
        def give(mask: Any, sizes: Any) -> Sequence[Any]:
            if mask.shape != tuple(sizes[first : first + mask.ndim]):
                raise mask_error(node, mask.shape, first, sizes.tolist())
            return np.nonzero(mask)

        types = [TensorType("int64", shape=(None,))] * mask.type.ndim
        return self.stage([self.value(mask), shape_of(x)], types, give)


class Staged:
    """A graph as several programs, one after another."""

    def __init__(self, fgraph: Any) -> None:
        split = _Split(fgraph)
        outputs, given = split.run(), list(fgraph.inputs)
        self.programs: list[tuple[Any, list[Stage]]] = []
        for level in range(1, max(s.level for s in split.stages) + 1):
            stages = [s for s in split.stages if s.level == level]
            needs = [v for s in stages for v in s.needs]
            self.programs.append((Program(FunctionGraph(given, needs)), stages))
            given = [*given, *(v for s in stages for v in s.made)]
        self.last = Program(FunctionGraph(given, outputs))

    def __call__(self, *inputs: Any) -> list[Any]:
        given = list(inputs)
        for program, stages in self.programs:
            values = iter(program(*given))
            for s in stages:
                given += [np.asarray(x) for x in s.give(*[next(values) for _ in s.needs])]
        found: list[Any] = self.last(*given)
        return found
