"""Scans of PyTensor as loops over a named dim.

PyTensor passes the memory of all states of a recurrence, and a step reads and writes it by position. Here, states are
carries, and what a step gives is stacked. Only the arrays of a gradient that a step both reads and writes at several
positions (PyTensor's mit-mot) are carried whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType

from ... import ops
from ...transforms.control import scan as scan_along
from ...transforms.control import while_loop
from .graph import Checks, Graph, Run, check, fixed, implements
from .values import axis, cast, fit, full, kept, named, renamed, size

_STEP = "step"
_SLOT = "slot"


def _inside(x: Any, ndim: int, first: str) -> Any:
    """An array of the loop as one of a step: axis 0 is `first`, the others move up."""
    return renamed(x, {axis(0): first} | {axis(i): axis(i - 1) for i in range(1, ndim)})


def _outside(x: Any, ndim: int, first: str) -> Any:
    return renamed(x, {first: axis(0)} | {axis(i - 1): axis(i) for i in range(1, ndim)})


class Scan:
    """A scan: what its inputs and outputs are."""

    def __init__(self, op: Any, node: Apply) -> None:
        self.op, self.node, self.info = op, node, op.info
        fgraph = op.fgraph.clone()
        get_mode("XTENSOR").optimizer(fgraph)
        self.graph = Graph(fgraph)
        self.inner = self.graph.inputs
        self.errors: list[Exception] = []  # of the conditions that a step checks, in their order

    def _whole(self, x: Any, v: Any) -> Any:
        """An outer array with axis 0."""
        return full(x, v.type, {*kept(v.type), 0})

    def _start(self, steps: int, outer: Sequence[Any]) -> tuple[Any, ...]:
        """What the loop begins with: the carry, what each step reads, and what the states are."""
        op, info, node = self.op, self.info, self.node
        seqs = [
            _inside(ops.isel(self._whole(x, v), {axis(0): slice(steps)}), v.type.ndim, _STEP)
            for x, v in zip(op.outer_seqs(outer), op.outer_seqs(node.inputs), strict=True)
        ]
        seqs = [fit(x, i.type) for x, i in zip(seqs, op.inner_seqs(self.inner), strict=True)]
        mots = op.outer_mitmot(node.inputs)
        buffers = [
            _inside(self._whole(x, v), v.type.ndim, _SLOT) for x, v in zip(op.outer_mitmot(outer), mots, strict=True)
        ]
        traces = [*op.outer_mitsot(node.inputs), *op.outer_sitsot(node.inputs)]
        taps = [*info.mit_sot_in_slices, *[(-1,)] * info.n_sit_sot]
        like = [*_grouped(op.inner_mitsot(self.inner), info.mit_sot_in_slices), *_single(op.inner_sitsot(self.inner))]
        wholes = [
            self._whole(x, v) for x, v in zip([*op.outer_mitsot(outer), *op.outer_sitsot(outer)], traces, strict=True)
        ]
        windows = [
            [fit(_inside(ops.isel(x, {axis(0): k}), v.type.ndim, _STEP), inner[0].type) for k in range(-min(tap))]
            for x, v, tap, inner in zip(wholes, traces, taps, like, strict=True)
        ]
        untraced = list(op.outer_untraced_sit_sot(outer))
        carry = {"step": np.int64(0), "buffers": buffers, "windows": windows, "untraced": untraced}
        return self._step(list(op.outer_non_seqs(outer)), taps, like), carry, seqs, mots, traces, wholes, taps

    def count(self, *outer: Any) -> Any:
        """The number of steps until the condition holds: at most those that are given."""
        most = int(fixed(outer[0], "the number of steps", self.node))
        step, carry, seqs, *_ = self._start(most, outer)
        if not most:
            return np.int64(0)

        def go(state: Any) -> Any:
            at = state["carry"]["step"]
            carry, _ = step(state["carry"], [ops.isel(x, {_STEP: at}) for x in seqs])
            return {"carry": carry, "ended": ops.any(cast(named(self.ended, self.graph.outputs[-1].type), bool))}

        def goes_on(state: Any) -> Any:
            return ops.logical_and(ops.logical_not(state["ended"]), ops.less(state["carry"]["step"], most))

        last = while_loop(goes_on, go, {"carry": carry, "ended": ops.full({}, False)})
        return last["carry"]["step"]

    def __call__(self, *outer: Any) -> list[Any]:
        op, node = self.op, self.node
        steps = int(fixed(outer[0], "the number of steps", node))
        step, carry, seqs, mots, traces, wholes, taps = self._start(steps, outer)
        last, stacked = scan_along(step, carry, seqs, dim=_STEP, length=steps)
        results = [_outside(x, v.type.ndim, _SLOT) for x, v in zip(last["buffers"], mots, strict=True)]
        for trace, x, v, tap in zip(stacked[: len(traces)], wholes, traces, taps, strict=True):
            initial = ops.isel(x, {axis(0): slice(-min(tap))})
            results.append(
                _kept(_outside(trace, v.type.ndim, _STEP), self._length(size(x, 0), steps - min(tap)), initial)
            )
        lengths = [self._length(int(fixed(n, "a length", node)), steps) for n in op.outer_nitsot(outer)]
        free = stacked[len(traces) : len(traces) + len(lengths)]
        for holds, error in zip(stacked[len(traces) + len(lengths) :], self.errors, strict=True):
            check([ops.all(holds)], error)
        for trace, n, v in zip(free, lengths, op.outer_nitsot_outs(node.outputs), strict=True):
            results.append(_kept(_outside(trace, v.type.ndim, _STEP), n))
        return [*results, *last["untraced"]]

    def _length(self, given: int, states: int) -> int:
        """How many positions a result has. Where a condition ended the loop, there are no more than states."""
        return min(given, states) if self.info.as_while else given

    def _step(self, constants: list[Any], taps: Sequence[Any], like: Sequence[Any]) -> Any:
        op, info = self.op, self.info
        reads, writes = info.normalized_mit_mot_in_slices, info.normalized_mit_mot_out_slices

        def step(carry: Any, seqs: Any) -> Any:
            at = carry["step"]
            moved = [ops.isel(b, {_SLOT: at + t}) for b, tap in zip(carry["buffers"], reads, strict=True) for t in tap]
            states = [w[len(w) + t] for w, tap in zip(carry["windows"], taps, strict=True) for t in tap]
            given = [*seqs, *moved, *states, *carry["untraced"], *constants]
            with Checks() as checks:
                found = self.graph(*[fit(x, v.type) for x, v in zip(given, self.inner, strict=True)])
            self.errors = checks.errors
            self.ended = found[-1] if self.info.as_while else None
            conditions = [ops.all(cast(c, bool)) for c in checks.conditions]
            buffers = []
            for b, xs, tap in zip(carry["buffers"], op.inner_mitmot_outs_grouped(found), writes, strict=True):
                for x, t in zip(xs, tap, strict=True):
                    b = b.at({_SLOT: at + t}).set(_known(x, b.dtype))
                buffers.append(b)
            new = [*op.inner_mitsot_outs(found), *op.inner_sitsot_outs(found)]
            new = [fit(named(x, i[0].type), i[0].type) for x, i in zip(new, like, strict=True)]
            windows = [[*w[1:], x] for w, x in zip(carry["windows"], new, strict=True)]
            outs = op.inner_nitsot_outs(self.graph.outputs)
            free = [fit(named(x, v.type), v.type) for x, v in zip(op.inner_nitsot_outs(found), outs, strict=True)]
            untraced = list(op.inner_untraced_sit_sot_outs(found))
            return {"step": at + 1, "buffers": buffers, "windows": windows, "untraced": untraced}, [
                *new,
                *free,
                *conditions,
            ]

        return step


def _known(x: Any, dtype: Any) -> Any:
    return x if hasattr(x, "dims") else np.asarray(x, dtype)


def _single(variables: Sequence[Any]) -> list[list[Any]]:
    return [[v] for v in variables]


def _grouped(variables: Sequence[Any], taps: Sequence[Any]) -> list[list[Any]]:
    found, rest = [], list(variables)
    for tap in taps:
        found.append(rest[: len(tap)])
        rest = rest[len(tap) :]
    return found


def _kept(trace: Any, length: int, initial: Any = None) -> Any:
    """As many positions as PyTensor keeps: the last states, or the last ones of `initial` and then all states. Where a
    gradient is truncated, zeros follow."""
    steps = size(trace, 0)
    if length <= steps:
        return ops.isel(trace, {axis(0): slice(steps - length, steps)})
    pieces = [trace]
    rest = length - steps
    if initial is not None:
        count = size(initial, 0)
        first = min(rest, count)
        pieces.insert(0, ops.isel(initial, {axis(0): slice(count - first, count)}))
        rest -= first
    if rest:
        pieces.append(ops.zeros({**trace.sizes, axis(0): rest}, dtype=trace.dtype))
    return ops.concat(pieces, axis(0))


@implements("Scan", known=lambda node: [node.inputs[0], *node.op.outer_nitsot(node.inputs)])
def scan(op: Any, node: Apply) -> Run:
    return Scan(op, node)  # of one that ends by a condition, the number of steps is that of a stage before


class Steps(Op):
    """The number of steps of a scan that ends by a condition, as a scalar. Its inputs are those of the scan."""

    __props__ = ("scan",)

    def __init__(self, scan: Any) -> None:
        self.scan = scan

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [TensorType("int64", shape=())()])

    def perform(self, node: Apply, inputs: Any, outputs: Any) -> None:
        raise NotImplementedError


@implements("Steps", known=lambda node: [node.inputs[0], *node.op.scan.outer_nitsot(node.inputs)])
def steps(op: Any, node: Apply) -> Run:
    return Scan(op.scan, node).count
