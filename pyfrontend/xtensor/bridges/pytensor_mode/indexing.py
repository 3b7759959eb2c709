"""Reads and updates by index of PyTensor, on named arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.subtensor import indices_from_subtensor

from ... import ops
from ...base.errors import ArgumentError, Error, IndexError_, UnsupportedError
from .graph import Run, check, fixed, implements
from .values import (
    axis,
    cast,
    full,
    is_array,
    kept,
    longest,
    named,
    numbered,
    renamed,
    shape,
    squeezed,
    stretching,
)


def entries_of(op: Any, node: Apply, first: int) -> list[Any]:
    """The index of each axis, of variables: slices, and what an int or an array of ints is."""
    inputs = node.inputs[first:]
    if type(op).__name__ in ("AdvancedSubtensor1", "AdvancedIncSubtensor1"):
        return inputs
    return list(indices_from_subtensor(inputs, op.idx_list)) if getattr(op, "idx_list", None) is not None else inputs


def _slices(first: int) -> Any:
    """The bounds of slices, which must be known."""

    def known(node: Apply) -> list[Variable]:
        entries = [e for e in entries_of(node.op, node, first) if isinstance(e, slice)]
        return [v for e in entries for v in (e.start, e.stop, e.step) if isinstance(v, Variable)]

    return known


class Selection:
    """An index, put together for `isel` and `at`: what it selects along each dim, and the dims of the result."""

    def __init__(self, node: Apply, entries: Sequence[Any], values: dict[Variable, Any], x: Any) -> None:
        self.node, self.values = node, values
        type_ = node.inputs[0].type
        sizes = shape(x, type_.ndim)
        self.indexers: dict[str, Any] = {}
        self.order: list[str | None] = []  # of the result: dims by axis
        found: list[Any] = []
        for x in map(self._read, entries):
            found += self._spread(x, len(found), sizes)
        arrays = [i for i, x in enumerate(found) if not isinstance(x, (slice, int)) and self._ndim(x)]
        advanced = [i for i, x in enumerate(found) if not isinstance(x, slice)] if arrays else []
        ndim = max((self._ndim(found[i]) for i in advanced), default=0)
        points: list[str | None] = [f"point{k}" for k in range(ndim)]
        adjacent = advanced == list(range(advanced[0], advanced[-1] + 1)) if advanced else True
        if advanced and not adjacent:
            self.order += points
        for i in range(type_.ndim):
            x = found[i] if i < len(found) else slice(None)
            if isinstance(x, slice):
                self.order.append(axis(i))
                if x != slice(None):
                    self.indexers[axis(i)] = x
                continue
            if advanced and adjacent and i == advanced[0]:
                self.order += points
            self.indexers[axis(i)] = x if isinstance(x, int) else self._points(x, ndim)
        self._broadcast()
        self.axes = {i for i in range(type_.ndim) if axis(i) in self.indexers}

    def _broadcast(self) -> None:
        """Index arrays stretch as in NumPy, also where only the call knows that a size is 1."""
        arrays = {d: x for d, x in self.indexers.items() if hasattr(x, "dims")}
        sizes = longest(arrays.values())
        for d, x in arrays.items():
            self.indexers[d] = squeezed(x, sizes)

    def _value(self, v: Any) -> Any:
        return v.data if isinstance(v, Constant) else self.values[v] if isinstance(v, Variable) else v

    def _read(self, entry: Any) -> Any:
        if isinstance(entry, slice):
            return slice(*(self._bound(v) for v in (entry.start, entry.stop, entry.step)))
        value = self._value(entry)
        if isinstance(value, slice):
            return slice(*(None if b is None else int(b) for b in (value.start, value.stop, value.step)))
        if value is None:
            raise UnsupportedError(f'the mode "XTENSOR" has no new axis in an index, as in {self.node.outputs[0]}')
        if not is_array(value) and np.ndim(value) == 0 and np.asarray(value).dtype != np.bool_:
            return int(value)
        return value, entry.type

    def _bound(self, v: Any) -> int | None:
        value = self._value(v)
        return None if value is None else int(fixed(value, "a bound of a slice", self.node))

    def _spread(self, x: Any, first: int, sizes: Sequence[int]) -> list[Any]:
        """A mask as the positions where it holds, along each of its axes, of which `first` is the first."""
        if isinstance(x, (slice, int)) or x[1].dtype != "bool":
            return [x]
        mask = np.asarray(fixed(x[0], "the number of positions where a mask holds", self.node))
        if mask.shape != tuple(sizes[first : first + mask.ndim]):
            raise mask_error(self.node, mask.shape, first, sizes)
        return [(p, x[1].clone(dtype="int64", shape=(None,))) for p in np.nonzero(mask)]

    @staticmethod
    def _ndim(x: Any) -> int:
        return 0 if isinstance(x, int) else int(x[1].ndim)

    def _points(self, x: tuple[Any, Any], ndim: int) -> Any:
        value, type_ = x
        shift = ndim - type_.ndim
        return renamed(named(value, type_), {axis(i): f"point{i + shift}" for i in range(type_.ndim)})


def mask_error(node: Apply, found: Sequence[int], first: int, sizes: Sequence[int]) -> Error:
    return IndexError_(
        f"a mask of shape {tuple(found)} selects from {node.inputs[0]}, whose sizes from axis {first} on are "
        f"{tuple(sizes[first:])}: a mask has the sizes of the axes that it stands for"
    )


def _selection(op: Any, node: Apply, first: int, given: Sequence[Any]) -> Selection:
    entries = entries_of(op, node, first)
    return Selection(node, entries, dict(zip(node.inputs, given, strict=True)), given[0])


@implements("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1", known=_slices(1))
def read(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(*given: Any) -> Any:
        s = _selection(op, node, 1, given)
        x = full(given[0], type_, {*kept(type_), *s.axes})
        return numbered(ops.isel(x, s.indexers) if s.indexers else x, s.order)

    return run


def _lone_mask(op: Any, node: Apply, given: Sequence[Any]) -> tuple[int, Any, Any] | None:
    """The mask of an index which has one that is computed, and otherwise whole axes: its first axis, value, type."""
    values = dict(zip(node.inputs, given, strict=True))
    entries = entries_of(op, node, 2)
    masks = [
        (i, values[e], e.type)
        for i, e in enumerate(entries)
        if isinstance(e, Variable) and getattr(e.type, "dtype", "") == "bool" and is_array(values.get(e))
    ]
    rest = [e for i, e in enumerate(entries) if not masks or i != masks[0][0]]
    return masks[0] if len(masks) == 1 and all(e == slice(None) for e in rest) else None


def _masked(op: Any, node: Apply, given: Sequence[Any], first: int, mask: Any, type_: Any) -> Any:
    """An update where a mask holds. Values with an axis for the places of the mask are read by their number."""
    target, update_type = (v.type for v in node.inputs[:2])
    x = full(given[0], target)
    sizes, places = shape(x, target.ndim), range(first, first + type_.ndim)
    mask = renamed(full(mask, type_), {axis(i): axis(first + i) for i in range(type_.ndim)})
    if [mask.sizes[axis(i)] for i in places] != [sizes[i] for i in places]:
        raise mask_error(node, [mask.sizes[axis(i)] for i in places], first, sizes)
    y = cast(stretching(given[1], update_type), target.dtype)
    order = [*map(axis, range(first)), "place", *map(axis, range(places.stop, target.ndim))]
    y = renamed(y, {axis(i): order[len(order) - update_type.ndim + i] for i in range(update_type.ndim)})
    if "place" in y.dims:
        flat = ops.stack(mask, {"flat": tuple(axis(i) for i in places)})
        number = ops.cumsum(ops.astype(flat, "i8"), dim="flat")
        count, most = ops.sum(ops.astype(flat, "i8")), y.sizes["place"]
        message = f"values of size {most} do not fit the number of places of a mask, in {node.outputs[0]}"
        check([ops.equal(count, most)], ArgumentError(message))
        number = ops.unstack(number, {"flat": {axis(i): sizes[i] for i in places}})
        y = ops.take(y, ops.clip(number - 1, 0, max(most - 1, 0)), dim="place") if most else ops.zeros_like(x)
    return ops.where(mask, y if op.set_instead_of_inc else x + y, x)


@implements("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1", known=_slices(2))
def update(op: Any, node: Apply) -> Run:
    type_, update_type = (v.type for v in node.inputs[:2])

    def run(*given: Any) -> Any:
        if mask := _lone_mask(op, node, given):
            return _masked(op, node, given, *mask)
        s = _selection(op, node, 2, given)
        x = full(given[0], type_, {*kept(type_), *s.axes})
        y = cast(stretching(given[1], update_type), type_.dtype)
        # The axes of y are the last ones of what is selected.
        shift = len(s.order) - update_type.ndim
        y = renamed(y, {axis(i): s.order[i + shift] or "" for i in range(update_type.ndim)})
        batch = {d: n for d, n in y.sizes.items() if d.startswith("batch") and d not in x.dims}
        x = ops.expand_dims(x, batch) if batch else x
        if not s.indexers:
            new = y if op.set_instead_of_inc else x + y
            return ops.broadcast_like(new, x)
        at = x.at(s.indexers)
        return at.set(y) if op.set_instead_of_inc else at.add(y)

    return run
