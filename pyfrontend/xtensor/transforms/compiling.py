"""What compiles the programs of a jitted function: the way of its first calls, which runs Python code."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _native
from ..base.calls import call_with
from ..base.dims import check_name
from ..base.errors import ArgumentTypeError, DimensionError, Error, MemoryError_, UnsupportedError, users_frames
from ..call import out_of_memory
from ..call.arguments import Call, StaticNames, name_of, place_of, signature_of
from ..call.arrays import as_array
from ..call.checked import check
from ..call.compilations import History, argument_names, code_of, key_of, outside
from ..call.entry import Entry, moved
from ..call.opened import Programs
from ..call.spelling import spelling
from ..compiler import nonfinite
from ..compiler.carried import MOST_CARRIED
from ..ir import location
from ..labels.parts import WholeLabels
from ..labels.relabel import LabelsKey, LatestLabels
from ..labels.xarray import is_dataarray
from ..trace import program as programs
from ..trace.program import Program
from ..trace.scope import tracing
from ..values import devices, options, targets
from ..values.mesh import Layout
from ..values.spec import Spec
from . import stepwise

_traced = threading.local()  # layout: of the program that is being traced


def _retire(function: Callable[[], Any], executable: Any) -> bool:
    """Whether the function that a weak reference is to called it since the last time; else it forgets it."""
    there = function()
    return there is not None and bool(there.retire(executable))


class Compiler:
    """The slow path of a jitted function: what cannot be found by comparing types."""

    def __init__(
        self,
        fn: Callable[..., Any],
        static: StaticNames,
        dynamic_dims: Sequence[str] | str,
        device: str | None = None,
        donated: StaticNames | None = None,
        layout: Layout | None = None,
    ) -> None:
        if not isinstance(dynamic_dims, Iterable):
            raise ArgumentTypeError(f"xt.jit(dynamic_dims=): names of dims are needed, got {dynamic_dims!r}")
        names = (dynamic_dims,) if isinstance(dynamic_dims, str) else tuple(dynamic_dims)
        self.fn = fn
        self.name = name_of(fn)
        self.static = static
        self.donated = donated
        self.layout = layout
        self.wholes = None if layout is None else WholeLabels(layout, self.name)
        self.dynamic = frozenset(check_name(d) for d in names)
        self.history = History(self.name, (code_of(fn),), self.dynamic)
        self.programs = Programs()
        self.entries = self.programs.entries
        self.lowered: deque[str] = deque(maxlen=MOST_CARRIED)  # keys of programs that calls did not compile
        # Keys of calls whose labels the function reads: these are a part of the key. The latest of each key.
        self.by_labels: dict[Any, LatestLabels] = {}
        self.function: Callable[[], Any] = lambda: None
        self.asked = device
        self.by_tracing = False
        self.decided = device is not None  # else it runs where its arguments are
        self.device = None if device is None else devices.named(device)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if tracing():
            if self.layout is not None and self.layout != getattr(_traced, "layout", None):
                raise UnsupportedError(
                    f"{self.name} has mesh= and split=, and is called in a program without: there, its arguments would "
                    "not be parts. Give mesh= and split= to the outermost xt.jit"
                )
            return call_with("jit", self.fn, args, kwargs)
        if not self.by_tracing and not options.current().jit:
            return self.op_by_op(args, kwargs)
        return self.call(args, kwargs)

    def op_by_op(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function as it is, on the arrays that a program would get, where it would run."""
        call = Call(args, kwargs, self.fn, self.static, self.dynamic)
        if self.dynamic:
            self.check_dynamic(call.full_specs())
        device = self.device if self.decided else call.device()
        specs = targets.target_of(device).arriving(call.full_specs())
        given = moved(call.arrays, specs, device)
        for i, (s, x) in enumerate(zip(specs, given, strict=True)):
            given[i] = stepwise.fit(x, s)
            if i in call.labelled:
                given[i] = _native.to_device(as_array(call.labelled[i]), device)
        new_args, new_kwargs = call.structure.unflatten(given)
        with options.option(device="cpu" if device is None else device.name):  # new arrays are made where it runs
            found = call_with("jit", self.fn, new_args, new_kwargs)
        if found is stepwise.UNKNOWN:
            return self.call(args, kwargs)
        return stepwise.results_of(found, self.name, any(map(is_dataarray, call.labelled.values())))

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = Call(args, kwargs, self.fn, self.static, self.dynamic)
        device = self.device if self.decided else call.device()
        self.join_labels(call)
        under = options.current().of_programs
        key: Any = (under, device, bool(call.labelled), call.key)
        if key in self.by_labels:
            key = key, self.by_labels[key].key(call.labelled)
        entry = self.entries.get(key)
        if entry is None:
            begin = self.history.count
            program, entry = self.compile(call, device)
            entry.outside = outside(self.fn)
            if entry.by_labels and key not in self.by_labels and type(key[-1]) is not LabelsKey:
                latest = self.by_labels[key] = LatestLabels(self.dynamic)
                key = key, latest.key(call.labelled)
            self.note(program, call, entry, key, begin)
            self.programs.add(key, functools.partial(_retire, self.function), entry)
            self.register(entry, call, under)
        else:
            entry.used = True
            if call.labelled and not entry.is_registered:
                self.register(entry, call, under)  # the first one was with what C++ does not take
        if options.current().nan != "raise":
            return self.result(entry, call, args, kwargs)
        taken = self.donated.leaves(call.structure) if self.donated else ()
        arrays = [nonfinite.copied(x) if i in taken else x for i, x in enumerate(call.arrays)]
        result = self.result(entry, call, args, kwargs)
        again = None if self.layout else lambda: self.placed(call, targets.target_of(device))
        check(result, arrays, again, entry, self.fn)
        return result

    def result(self, entry: Entry, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return entry.result(call.arrays, call.labelled)
        except MemoryError_ as error:
            self.of_memory(error, args, kwargs)
            raise

    def of_memory(self, error: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Says in an error of a call what the memory is for. C++ asks, too."""

        def again() -> tuple[Program, targets.Target, Sequence[Sequence[int | None]]]:
            call = Call(args, kwargs, self.fn, self.static, self.dynamic)
            placed = self.placed(call, targets.target_of(self.device if self.decided else call.device()))
            return *placed, [x.shape for x in call.arrays]

        if isinstance(error, MemoryError_) and self.layout is None:
            out_of_memory.tell(error, self.name, again)

    def note(self, program: Program, call: Call, entry: Entry, key: Any, begin: int) -> None:
        """Remembers what was compiled, and tells of it. begin: how many were before."""
        labels = key[-1] if type(key[-1]) is LabelsKey else None
        device = entry.device.name if entry.device else "cpu"
        where = options.current().of_programs, device, call.structure, call.full_specs(), bool(call.labelled)
        compiled_for = key_of(self.fn, *where, labels, call.weak_arrays())
        self.history.add(program, compiled_for, self.history.reasons(compiled_for, self.fn, begin))

    def compile(self, call: Call, device: _native.Device | None) -> tuple[Program, Entry]:
        program, target = self.placed(call, targets.target_of(device))
        if self.layout is not None and not self.layout.mesh.checks:
            self.layout.mesh.agree(program.agreed, program.told)
        return program, Entry(program, bool(call.labelled), target.device)

    def register(self, entry: Entry, call: Call, under: options.Options) -> None:
        """From now on calls that are spelled like this one are C++'s."""
        if call.told is None:
            return
        spelled = None if call.plain else spelling(call.structure, range(len(call.arrays)))
        if spelled is None and not call.plain:
            return
        types: list[Any] | None = None
        if not self.dynamic:
            types = call.told
        elif any(isinstance(t, type) for t in call.told):
            types = [t if isinstance(t, type) else None for t in call.told]
        function = self.function()
        if function is not None:  # else its last call is running
            entry.register(function, types, spelled, options=under)

    def placed(
        self, call: Call, target: targets.Target, asked: bool = False, donates: bool = True
    ) -> tuple[Program, targets.Target]:
        """The program, and where it runs: what it reads from outside decides where nothing else does."""
        program = self.program(call, target, donates)
        if asked or self.decided or call.is_placed:
            return program, target
        target = targets.target_of(targets.of_captured(program.captured))
        if target.arriving(program.inputs) != program.inputs:
            program = self.program(call, target, donates)
        return program, target

    def program(self, call: Call, target: targets.Target, donates: bool = True) -> Program:
        def body(tracers: list[Any]) -> Any:
            args, kwargs = call.structure.unflatten(tracers)
            return call_with("jit", self.fn, args, kwargs)

        specs = call.full_specs()
        if self.dynamic and not self.entries:
            self.check_dynamic(specs)
        donated = self.donated.leaves(call.structure) if self.donated and donates else ()
        names = self.names(call, len(specs))
        if self.layout is None:
            return programs.trace(body, specs, self.name, names, target, call.labelled, donated)
        self.join_labels(call)
        if target.device is not None:
            raise UnsupportedError(f"{self.name}: programs of several processes run on the CPU, not on {target.name!r}")
        whole = [self.layout.whole(s) for s in specs]
        outer, _traced.layout = getattr(_traced, "layout", None), self.layout
        try:
            program = programs.trace(body, whole, self.name, names, target, call.labelled, donated)
        finally:
            _traced.layout = outer
        program.distribute(self.layout, place_of(self.fn), names)
        self.layout.check_used(f"xt.jit({self.name}, split=)", [s.dims for s in specs], program.text)
        return program

    def join_labels(self, call: Call) -> None:
        """In a program of several processes: the labels of whole arguments, which follow from those of the parts."""
        if self.wholes is not None and call.labelled:
            call.labelled = self.wholes.of(call.labelled, call.full_specs())

    def check_dynamic(self, specs: Sequence[Spec]) -> None:
        """At the first call: a dynamic dim that no argument has is a slip of the pen."""
        there = {d: None for s in specs for d in s.dims}
        missing = sorted(self.dynamic.difference(there))
        if missing:
            raise DimensionError(
                f"xt.jit(dynamic_dims=): no argument of {self.name} has dim {', '.join(map(repr, missing))}; the "
                f"arguments' dims are {', '.join(map(repr, there)) or 'none'}"
            )

    def names(self, call: Call, count: int) -> list[str] | None:
        """Names of the parameters, where each is one array; of parts of them, too, where `location.naming`."""
        signature = signature_of(self.fn)
        args = call.structure.children[0]
        if location.is_naming():
            found = argument_names(self.fn, call.structure)
            return found if len(found) == count else None
        if signature is None or args.size != count or any(c.size != 1 for c in args.children):
            return None
        found = list(signature.parameters)[:count]
        return found if len(found) == count else None

    def abstract(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], donates: bool = True
    ) -> tuple[Program, Call, targets.Target]:
        """What a call would run. donates: calls of the program take over the arguments that `donate` names."""
        try:
            target = self.asked_for(kwargs)
            call = Call(args, kwargs, self.fn, self.static, self.dynamic, abstract=True)
            first = target or targets.target_of(self.device if self.decided else call.device())
            program, first = self.placed(call, first, target is not None, donates)
            return program, call, first
        except Error as error:
            raise error.with_traceback(users_frames(error.__traceback__)) from None

    def asked_for(self, kwargs: dict[str, Any]) -> targets.Target | None:
        """What `device=` means, taken out of `kwargs`; a parameter of the function that is called so is its own."""
        signature = signature_of(self.fn)
        if "device" not in kwargs or (signature is not None and "device" in signature.parameters):
            return None
        return targets.target_named(kwargs.pop("device"))
