"""The linker behind the mode: a graph of PyTensor as one program, called with NumPy arrays."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.link.basic import JITLinker
from pytensor.link.utils import raise_with_op

from ... import _native, ops, random
from ...base.latest import Latest
from ...call.opened import MOST
from ...compiler.executable import native_type
from ...transforms.jit import jit
from ...values import options
from .graph import KNOWN, Checks, Graph, found, is_draw
from .values import axis, cast, in_order, kept, named

# Rewrites to ops which work in place, or which are kernels of another library.
_OF_OTHERS = (
    "cxx_only", "BlasOpt", "inplace", "fusion", "local_careduce_fusion", "scan_make_inplace",
    "scan_save_mem_prealloc", "scan_reduce_trace_prealloc", "reuse_lu_decomposition_multiple_solves",
    "reuse_decomposition_multiple_solves", "scan_split_non_sequence_lu_decomposition_solve",
    "scan_split_non_sequence_decomposition_and_solve",
)  # fmt: skip


# How many times the code of a call is remembered anew.
_CHANCES = 16


class XTensorLinker(JITLinker):
    """Links a graph to a function of NumPy arrays, which `convert` makes of it."""

    convert: Any = None

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = _OF_OTHERS

    def fgraph_convert(self, fgraph: Any, *args: Any, **kwargs: Any) -> Any:
        return type(self).convert(fgraph)

    def create_thunk_inputs(self, storage_map: Any) -> list[Any]:
        return [storage_map[v] for v in self.fgraph.inputs]

    def jit_compile(self, fn: Any) -> Any:
        return fn

    def create_jitable_thunk(self, *args: Any, **kwargs: Any) -> Any:
        """As upstream's, but its result is that of the call, so PyTensor need not gather it from the storage."""
        thunks, nodes, fn = super().create_jitable_thunk(*args, **kwargs)
        inputs, outputs = thunks[0].inputs, thunks[0].outputs
        if not outputs:
            return thunks, nodes, fn

        def thunk() -> Any:
            try:
                results = fn(*[x[0] for x in inputs])
            except Exception:
                raise_with_op(self.fgraph, nodes[0], thunk)
            for storage, value in zip(outputs, results):  # noqa: B905 (the hot loop; both have one for each result)
                storage[0] = value
            return results

        thunk.inputs, thunk.outputs, thunk.lazy = inputs, outputs, False  # type: ignore[attr-defined]
        return [thunk], nodes, fn


class Program:
    """A graph as a function of NumPy arrays. Integers that sizes follow from are static: a program for each value."""

    def __init__(self, fgraph: Any) -> None:
        self.graph = Graph(fgraph)
        self.types = [v.type for v in fgraph.inputs]
        self.outputs = [v.type for v in fgraph.outputs]
        self.generators = [i for i, t in enumerate(self.types) if is_draw(t)]
        self.static = static_inputs(fgraph)
        # Of each array: the dtype, the dims, and the axes that these are, unless they are all.
        self.arrays = {
            i: (np.dtype(t.dtype), tuple(map(axis, kept(t))), None if len(kept(t)) == t.ndim else kept(t))
            for i, t in enumerate(self.types)
            if i not in {*self.static, *self.generators}
        }
        # Generators among the results: which argument each goes back to.
        self.origins = {k: fgraph.inputs.index(_origin(v)) for k, v in enumerate(fgraph.outputs) if is_draw(v.type)}
        self.layouts = [None if k in self.origins else _layout(t) for k, t in enumerate(self.outputs)]
        self.programs = Latest(MOST)
        self.one = None if self.static else self._compiled([])
        self.is_plain = not self.generators and not any(self.layouts)
        self.errors: list[Exception] = []
        # The machine code of the latest call, which takes arrays of NumPy, what it reads from outside, and the options
        # that it is for. None where results need more than it gives.
        self.latest: tuple[Any, list[Any], Any] | None = None
        self.chances = _CHANCES if self.one is not None and self.is_plain else 0

    def __call__(self, *inputs: Any) -> list[Any]:
        if self.latest is not None:
            code, captured, under = self.latest
            if options.current() is under:
                try:
                    return [x.values for x in code(*inputs, *captured)]
                except (TypeError, MemoryError):  # other sizes or places in memory, or an error that is told below
                    self.latest = None
        return self._slowly(inputs)

    def _slowly(self, inputs: Sequence[Any]) -> list[Any]:
        program = self.one or self._program(inputs)
        given = []
        for i, (dtype, dims, axes) in self.arrays.items():
            x = np.asarray(inputs[i], dtype)
            given.append(_native.from_buffer(x if axes is None else x.reshape([x.shape[k] for k in axes]), dims))
        if self.is_plain:
            found = program(*given)
            if self.chances and type(found) is list:
                self._keep(program, given)
            return [x.values for x in self._checked(found)]
        advanced = {i: copy.deepcopy(inputs[i]) for i in self.generators}
        for generator in advanced.values():
            given.append(_native.from_buffer(np.asarray(generator.bit_generator.random_raw(), "u8"), ()))
        values = iter(self._checked(program(*given)))
        return [
            advanced[self.origins[k]] if k in self.origins else _numpy(next(values), layout)
            for k, layout in enumerate(self.layouts)
        ]

    def _keep(self, program: Any, given: Sequence[Any]) -> None:
        """Remembers the code of a call that gave its results and nothing else."""
        self.chances -= 1  # arguments that differ from call to call cost more than they save
        under = options.current()
        if under.nan == "raise" or not under.jit or under.profile or any(axes for *_, axes in self.arrays.values()):
            return
        types = [x.type for x in given]
        for key, entry in reversed(list(program._compiler.entries.items())):
            is_it = key[0] is under.of_programs and [native_type(s) for s in entry.inputs] == types
            if is_it and entry.is_bare:
                self.latest = entry.executable, entry.captured, under
                return

    def _program(self, inputs: Sequence[Any]) -> Any:
        """The one for these values of static arguments."""
        key = tuple([(x.shape, x.tobytes()) for i in self.static for x in [np.asarray(inputs[i])]])
        return self.programs(key, lambda: self._compiled([inputs[i] for i in self.static]))

    def _checked(self, results: Any) -> list[Any]:
        """The results, if the conditions hold that stand beside them."""
        if type(results) is list:
            return results
        for name, holds in results["conditions"].items():
            if not holds.values:
                raise copy.copy(self.errors[int(name)])  # a raised one would collect tracebacks
        return list(results["results"])

    def _compiled(self, static: list[Any]) -> Any:
        def run(*arrays: Any) -> Any:
            given: dict[int, Any] = dict(zip(self.static, static, strict=True))
            given |= dict(zip([*self.arrays, *self.generators], arrays, strict=True))
            given |= {i: random.key(given[i]) for i in self.generators}
            with Checks() as checks:
                found = self.graph(*(given[i] for i in range(len(self.types))))
            conditions: dict[str, Any] = {}
            for condition, error in zip(checks.conditions, checks.errors, strict=True):
                if error not in self.errors:
                    self.errors.append(error)
                name = str(self.errors.index(error))
                holds = ops.all(cast(condition, bool))
                conditions[name] = conditions[name] & holds if name in conditions else holds
            results = [
                in_order(named(x, t), t)
                for k, (x, t) in enumerate(zip(found, self.outputs, strict=True))
                if k not in self.origins
            ]
            return {"results": results, "conditions": conditions} if conditions else results

        return jit(run)


def _layout(type_: Any) -> list[bool] | None:
    """Whether each axis has a dim; None: all have."""
    axes = kept(type_)
    return None if len(axes) == type_.ndim else [i in axes for i in range(type_.ndim)]


def _numpy(x: Any, layout: list[bool] | None) -> Any:
    """A result as PyTensor expects it: an array of NumPy with all axes."""
    if layout is None:
        return x.values
    sizes = iter(x.shape)
    return x.values.reshape([next(sizes) if has_dim else 1 for has_dim in layout])


def static_inputs(fgraph: Any) -> list[int]:
    """The integer arguments that sizes follow from, also sizes inside of loops and of graphs that are ops."""
    work: list[Variable] = []
    for node in fgraph.toposort():
        known = found(KNOWN, node.op)
        work += known(node) if known else []
        if getattr(node.op, "fgraph", None) is not None and len(node.op.fgraph.inputs):
            inside = {node.op.fgraph.inputs[i] for i in static_inputs(node.op.fgraph)}
            work += [outer for outer, inner in _passed(node) if inner in inside]
    seen: set[Variable] = set()
    while work:
        v = work.pop()
        if v in seen or type(v.owner and v.owner.op).__name__ in ("Shape", "Shape_i"):
            continue
        seen.add(v)
        work += v.owner.inputs if v.owner else []
    return [
        i for i, v in enumerate(fgraph.inputs) if v in seen and np.dtype(getattr(v.type, "dtype", "f8")).kind in "biu"
    ]


def _passed(node: Any) -> list[tuple[Variable, Variable]]:
    """The inputs of a node that an inner graph gets as they are, and its names of them."""
    op = node.op
    if type(op).__name__ == "Scan":
        return list(zip(op.outer_non_seqs(node.inputs), op.inner_non_seqs(op.fgraph.inputs), strict=True))
    if len(op.fgraph.inputs) != len(node.inputs):
        return []
    return list(zip(node.inputs, op.fgraph.inputs, strict=True))


def _origin(v: Variable) -> Variable:
    """The argument that a generator comes from."""
    while v.owner is not None:
        v = next(x for x in v.owner.inputs if is_draw(x.type))
    return v
