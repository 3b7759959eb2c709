"""Graphs of PyTensor as functions of named arrays: the table of ops, and the walk over a graph."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable

from ... import ops
from ...base.errors import ArgumentError, Error, UnsupportedError
from ...transforms.control import cond
from .values import cast, fit, is_array, named

# From the values of a node's inputs to those of its outputs: one, or a list.
Run = Callable[..., Any]

Implementation = Callable[[Any, Apply], Run]

# By the name of a class of PyTensor, whose place differs between versions.
_TABLE: dict[str, Implementation] = {}
# Of the inputs of an op, those that the program must know while it is traced: sizes, and positions of slices.
KNOWN: dict[str, Callable[[Apply], Sequence[Variable]]] = {}


def implements(
    *names: str, known: Callable[[Apply], Sequence[Variable]] | None = None
) -> Callable[[Implementation], Implementation]:
    """Adds a function (op, node) that returns what runs the node."""

    def add(f: Implementation) -> Implementation:
        for name in names:
            _TABLE[name] = f
            if known is not None:
                KNOWN[name] = known
        return f

    return add


def found(table: dict[str, Any], op: Any) -> Any:
    """What the table says of the class of an op, or of a class that it is derived from."""
    classes = (
        c.__name__ for c in type(op).__mro__ if c.__module__.partition(".")[0] in ("pytensor", "pymc", "xtensor")
    )
    return next((table[c] for c in classes if c in table), None)


def run_of(node: Apply) -> Run:
    """What runs a node on values."""
    make = found(_TABLE, node.op)
    if make is None:
        raise UnsupportedError(
            f'the mode "XTENSOR" has no {type(node.op).__name__}, by which {node.outputs[0]} is computed ({node.op}). '
            "Compile this graph in another mode"
        )
    run: Run = make(node.op, node)
    return run


def fixed(x: Any, what: str, node: Apply) -> Any:
    """A value that must be known while tracing."""
    if is_array(x):
        raise ArgumentError(
            f"{what} of {node.op}, by which {node.outputs[0]} is computed, depends on the elements of an array. The "
            'mode "XTENSOR" needs sizes that follow from integer arguments and from sizes of arrays'
        )
    return x


# ---- checks ----------------------------------------------------------------------------------------------------------

_local = threading.local()


class Checks:
    """While a graph, or a step of a loop, is traced: the conditions that hold if no error is to be raised, and these
    errors."""

    def __init__(self) -> None:
        self.conditions: list[Any] = []
        self.errors: list[Exception] = []

    def __enter__(self) -> Checks:
        self.outside = getattr(_local, "checks", None)
        _local.checks = self
        return self

    def __exit__(self, *error: object) -> None:
        _local.checks = self.outside


def check(conditions: Sequence[Any], error: Exception) -> None:
    checks = getattr(_local, "checks", None)
    for condition in conditions:
        if is_array(condition):
            if checks is not None:
                checks.conditions.append(condition)
                checks.errors.append(error)
        elif not np.all(condition):
            raise error


# ---- the walk --------------------------------------------------------------------------------------------------------

# The branch that alone needs a node: nodes of `ifelse` and their sides, the outermost first. (): all others.
Place = tuple[tuple[Apply, bool], ...]
# Two branches of these ops are computed faster than one is chosen: one loop then has both, and what follows.
_MOVES = ("Alloc", "DimShuffle", "Reshape", "Shape", "Shape_i", "SpecifyShape")
_QUICK = ("Add", "Cast", "Identity", "Mul", "Neg", "Second", "Sqr", "Sub")  # functions of numbers


def _places(fgraph: Any) -> dict[Apply, Place]:
    uses: dict[Variable, list[Place]] = {v: [()] for v in fgraph.outputs}
    found: dict[Apply, Place] = {}
    for node in reversed(fgraph.toposort()):
        place = found[node] = _common([p for v in node.outputs for p in uses.get(v, ())])
        for i, v in enumerate(node.inputs):
            is_side = _is_branch(node) and i > 0
            uses.setdefault(v, []).append((*place, (node, i <= node.op.n_outs)) if is_side else place)
    return found


def _common(places: Sequence[Place]) -> Place:
    first = places[0]
    for n, each in enumerate(zip(*places, strict=False)):
        if any(step != each[0] for step in each):
            return first[:n]
    return first[: min(map(len, places))]


def _is_branch(node: Apply) -> bool:
    return type(node.op).__name__ == "IfElse"


def _side_of(node: Apply, side: bool) -> list[Variable]:
    """What an `ifelse` gives where its condition is `side`."""
    both, count = node.inputs[1:], node.op.n_outs
    return both[:count] if side else both[count:]


def _is_quick(node: Apply) -> bool:
    name = type(node.op).__name__
    return name in _MOVES or (name == "Elemwise" and type(node.op.scalar_op).__name__ in _QUICK)


class Graph:
    """A graph, whose nodes were found in the table, as a function from values of its inputs to those of its outputs."""

    def __init__(self, fgraph: Any) -> None:
        self.inputs, self.outputs = list(fgraph.inputs), list(fgraph.outputs)
        self.steps: dict[Place, list[tuple[Apply, Run]]] = {}
        places = _places(fgraph)
        for node in fgraph.toposort():
            self.steps.setdefault(places[node], []).append((node, run_of(node)))

    def __call__(self, *inputs: Any) -> list[Any]:
        values: dict[Variable, Any] = dict(zip(self.inputs, inputs, strict=True))
        self._walk((), values)
        return [_value(v, values) for v in self.outputs]

    def _walk(self, place: Place, values: dict[Variable, Any]) -> None:
        """Adds the results of the nodes of a place to `values`."""
        for node, run in self.steps.get(place, ()):
            results: Any
            if _is_branch(node):
                results = self._chosen(node, run, place, values)
            else:
                given = [_value(v, values) for v in node.inputs]
                results = _folded(node, given) if _is_foldable(node, given) else _told(node, run, given)
            results = results if isinstance(results, (list, tuple)) else [results]
            for v, x in zip(node.outputs, results, strict=True):
                values[v] = fit(x, v.type)

    def _chosen(self, node: Apply, run: Run, place: Place, values: dict[Variable, Any]) -> Any:
        """The results of an `ifelse`. Of what only one side needs, the program computes that of the side it takes."""
        condition = _value(node.inputs[0], values)
        yes, no = ((*place, (node, side)) for side in (True, False))
        if not is_array(condition):
            self._walk(yes if condition else no, values)
            return [_value(v, values) for v in _side_of(node, bool(condition))]
        inside = [n for side in (yes, no) for n, _ in self.steps.get(side, ())]
        if all(map(_is_quick, inside)) or not all(hasattr(v.type, "ndim") for v in node.outputs):
            for side in (yes, no):
                self._walk(side, values)
            return run(*[_value(v, values) for v in node.inputs])
        errors: list[Exception] = []
        holds = cast(named(condition, node.inputs[0].type), bool)
        *results, failed = cond(
            holds, *(functools.partial(self._side, node, side, values, errors) for side in (yes, no))
        )
        for k, error in enumerate(errors, 1):
            check([ops.not_equal(failed, k)], error)
        return results

    def _side(self, node: Apply, place: Place, values: dict[Variable, Any], errors: list[Exception]) -> list[Any]:
        """The values of one side, and which error it raises: its number in `errors`, which grow, or 0."""
        values = dict(values)
        with Checks() as checks:
            self._walk(place, values)
        failed = ops.full({}, 0, dtype="int64")
        for condition, error in zip(reversed(checks.conditions), reversed(checks.errors), strict=True):
            errors.append(error)
            failed = ops.where(ops.all(cast(condition, bool)), failed, len(errors))
        taken = zip(_side_of(node, place[-1][1]), node.outputs, strict=True)
        found = [fit(named(_value(v, values), v.type), y.type) for v, y in taken]
        return [*found, failed]


_OF_GRAPH = "In the graph of PyTensor"


def _told(node: Apply, run: Run, given: Sequence[Any]) -> Any:
    """What a node gives. An error of a function of xt names the node, which is what the user wrote."""
    try:
        return run(*given)
    except Error as error:
        text, where = error.parts
        if text.startswith("xt.") and _OF_GRAPH not in text:
            shown = str(node)
            error.say(f"{text}. {_OF_GRAPH}, this is {shown if len(shown) <= 200 else node.op}", where)
        raise


def _value(v: Variable, values: Mapping[Variable, Any]) -> Any:
    return v.data if isinstance(v, Constant) else values[v]


def _is_foldable(node: Apply, given: Sequence[Any]) -> bool:
    if type(node.op).__name__ in ("Steps", "Scan"):  # a stage says when a scan ends by its condition
        return False
    return all(isinstance(x, (np.ndarray, np.generic, int, float, slice, type(None))) for x in given) and not any(
        is_draw(v.type) for v in node.inputs
    )


def is_draw(type_: Any) -> bool:
    """Whether it is the type of random generators."""
    return any(c.__name__ == "RandomType" for c in type(type_).__mro__)


def _folded(node: Apply, given: Sequence[Any]) -> list[Any]:
    """What PyTensor itself computes of known values."""
    storage: dict[Variable, list[Any]] = {}
    for v, x in zip(node.inputs, given, strict=True):
        storage[v] = [x if not hasattr(v.type, "ndim") or x is None else np.asarray(x, v.type.dtype)]
        if type(v.type).__name__ == "ScalarType":
            storage[v] = [np.asarray(x, v.type.dtype)[()]]
    storage |= {v: [None] for v in node.outputs}
    computed = {v: [v not in node.outputs] for v in storage}
    node.op.make_thunk(node, storage, computed, [], impl="py")()
    return [storage[v][0] for v in node.outputs]
