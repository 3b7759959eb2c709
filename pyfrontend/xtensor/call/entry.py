"""Entry: one compiled signature of a function, and how Python's numbers and arrays become its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _native
from ..base import dtypes, tree
from ..base.ranges import of_ints
from ..compiler.executable import load
from ..labels import dataset as _dataset  # noqa: F401 (makes Datasets pytrees)
from ..labels.origins import origins
from ..labels.parts import label_parts
from ..labels.relabel import Relabel
from ..labels.xarray import announce
from ..trace.program import Program
from ..values import targets
from ..values.array import Array
from ..values.kinds import NUMBERS
from ..values.options import Options
from ..values.spec import Spec

_SINGLE = tree.structure(0)


def moved(arrays: Sequence[Any], specs: Sequence[Spec], device: _native.Device | None) -> list[Any]:
    """Arguments of a program where it runs, Python floats with the dtype that they have there (`Target.arriving`)."""
    there = []
    for a, s in zip(arrays, specs, strict=True):
        number = a
        if s.weak and a.dtype != s.dtype and dtypes.is_inexact(s.dtype) and dtypes.is_inexact(a.dtype):
            number = _native.from_scalar(a.item(), s.dtype.name)
        there.append(_native.to_device(number, device))
    return there


def _has_labels(x: Any) -> bool:
    """Of an Array, a DataArray or a number."""
    cls = type(x)
    return x.meta is not None if cls is Array else cls not in NUMBERS


class Entry:
    """A compiled signature: how to call it and what to make of the results."""

    __slots__ = (
        "by_labels",
        "called",
        "captured",
        "device",
        "executable",
        "inline",
        "inputs",
        "is_bare",
        "is_registered",
        "key",
        "labelled",
        "labels",
        "layout",
        "outputs",
        "outside",
        "ranges",
        "relabel",
        "retire",
        "spellings",
        "unflatten",
        "unwrap",
        "used",
    )

    def __init__(
        self, program: Program, labelled: bool, device: _native.Device | None = None, inline: bool = False
    ) -> None:
        self.device = device
        self.executable = load(program, targets.target_of(device), inline=inline)
        self.key, self.called = program.key, program.called
        self.outside: dict[str, tuple[str, Any]] = {}  # what the function read from outside when it was traced
        # What the function reads from outside goes where it runs, once.
        self.captured = [_native.to_device(a, device) for a in program.captured]
        self.inputs = program.inputs
        # It serves calls with the labels that it was traced for, and no others; or it makes labels.
        self.by_labels = program.consulted or bool(program.own)
        self.layout, self.outputs = program.layout, program.outputs
        self.ranges = program.ranges
        self.inline = inline  # the function is one op: what is wrong with it is wrong at the caller's line
        # Arrays with labels among those that the function reads from outside, by number.
        first = len(program.inputs)
        self.labelled = {first + i: a for i, a in enumerate(program.captured) if a.meta is not None}
        follows = labelled or self.labelled or program.own
        self.relabel = Relabel(origins(program), program.name) if follows else None
        # What C++ labels results with: (labels of the arguments, of the results, xarray's keep_attrs if it matters).
        self.labels: list[tuple[tuple[Any, ...], tuple[Any, ...], Any]] | None = None if self.relabel is None else []
        self.is_registered = False
        self.spellings = 0  # how many `_Eager.register` has found
        self.unflatten: Callable[[Sequence[Any]], Any] = program.tree.unflatten
        if program.places is not None:
            structure, places = program.tree, program.places
            self.unflatten = lambda results: structure.unflatten([results[i] for i in places])
        self.unwrap = program.tree == _SINGLE
        # Whether results are those of the machine code, with nothing to check before and nothing to add.
        self.is_bare = not (self.ranges or self.relabel or self.layout or program.places or device)
        self.used = False  # as `Programs` asks
        self.retire: Callable[[Any], bool] = lambda executable: False  # of the function that may call it

    def run(self, arrays: list[Any]) -> Sequence[Any]:
        """Arguments that are elsewhere are moved."""
        for r in self.ranges:
            r.check(int(arrays[r.argument]), self.inline)
        arrays = moved(arrays, self.inputs, self.device)
        found: tuple[Any, ...] = self.executable.run(arrays + self.captured if self.captured else arrays)
        return found

    def result(self, arrays: list[Any], labelled: dict[int, Any]) -> Any:
        """What the function returns. `labelled`: the arguments that have labels, by number."""
        results = self.run(arrays)
        if self.relabel is not None:
            every = {**labelled, **self.labelled}
            if self.layout is not None:
                every_array = [*arrays, *self.captured]
                results = label_parts(self.relabel, results, self.outputs, every, every_array, len(arrays), self.layout)
                return results[0] if self.unwrap else self.unflatten(results)
            results = self.relabel(results, every, [*arrays, *self.captured])
            if self.labels is not None and self.is_registered:
                self.relabel.remember(self.labels, results, arrays, every)
        return results[0] if self.unwrap else self.unflatten(results)

    def relabelled(self, results: Sequence[Any], given: tuple[Any, ...]) -> Sequence[Any]:
        """What C++ makes of the results of a call with DataArrays. `given`: all arguments."""
        assert self.relabel is not None
        sources = {i: x for i, x in enumerate(given) if _has_labels(x)}
        if self.labelled:
            sources.update(self.labelled)
        return self.relabel.as_dataarrays(results, sources, ())  # which arguments there are does not matter

    def register(
        self,
        function: Any,
        types: Sequence[Any] | None,
        spelling: Any = None,
        opened: bool = False,
        *,
        limits: Iterable[tuple[Any, ...]] = (),
        options: Options,
    ) -> None:
        """From now on C++ finds this entry for arguments of `types` (None: any that fit), under these options. opened:
        open sizes of 0 and 1 do not, and where it fails the slow path is asked. limits: (argument, least, most) of
        numbers that must lie between these."""
        if self.layout is not None and self.relabel is not None:
            return  # the processes compare labels first
        settled = self.relabel is not None and self.relabel.is_settled
        if self.by_labels and not settled:
            return
        # C++ compares what is attached to Arrays, and not the labels of DataArrays.
        relabel = self.relabelled if settled and not self.by_labels else None
        if self.labels is not None and (types is None or None in types):
            self.labels = None  # those of results may depend on sizes
            if relabel is None:
                return
        wrapper = None if self.unwrap else self.unflatten
        if any(types is None or types[r.argument] is not int for r in self.ranges):
            return  # the int that must fit is in an array
        given = zip(types or (), self.inputs, strict=False)
        if any(isinstance(t, _native.ArrayType) and t.dtype != s.dtype.name for t, s in given):
            return  # a weak float64 from the CPU, where there is no float64
        ranges = [*of_ints(self.ranges), *limits]
        how = ranges, spelling, self.labels, opened, options, relabel
        function.add(types, self.executable, self.unwrap, wrapper, self.captured, *how)
        if relabel is not None:
            announce()
        self.is_registered = True


class Function(_native.Function):
    """A callable whose calls on plain arrays run compiled code straight from C++."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """An attribute of a class stays what it is. `help` and other tools take what has `__get__` for a function, and
        show its parameters."""
        return self
