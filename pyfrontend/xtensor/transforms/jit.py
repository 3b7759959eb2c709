"""jit: a function that is traced and compiled once per types of its arguments.

Later calls on plain arrays do not run Python code.
"""

from __future__ import annotations

import functools
import threading
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from .. import _native
from ..base.calls import call_with, shown
from ..base.dims import check_name, suggestion
from ..base.errors import (
    ArgumentTypeError,
    DimensionError,
    Error,
    MemoryError_,
    UnsupportedError,
    trimmed,
    users_frames,
)
from ..base.lacking import lacks
from ..call import out_of_memory
from ..call.arguments import Call, StaticNames, name_of, place_of, signature_of
from ..call.arrays import as_array
from ..call.checked import check
from ..call.compilations import Compilation, History, argument_names, code_of, key_of, outside
from ..call.entry import Entry, Function, moved
from ..call.opened import Programs
from ..call.spelling import spelling
from ..compiler import nonfinite
from ..compiler.carried import MOST_CARRIED, Carried
from ..explorer.page import Explorer, explored, measured, writable
from ..ir import location
from ..labels.parts import WholeLabels
from ..labels.relabel import LabelsKey, LatestLabels
from ..labels.xarray import is_dataarray
from ..trace import program as programs
from ..trace.program import Program
from ..trace.scope import tracing
from ..values import devices, options, targets
from ..values.mesh import Layout, Mesh
from ..values.spec import Spec
from . import stepwise
from .pickling import Pickled
from .stages import Traced, instead_of

P = ParamSpec("P")
R = TypeVar("R")


_OPTIONS = ("static", "dynamic_dims", "device", "donate", "mesh", "split", "sizes", "deterministic")


class Jitted(Function, Pickled, Generic[P, R]):
    """A function that `xt.jit` made. Call it, or look inside with `trace`, `lower`, `cost` and `as_text`.

    Example:
    >>> f = xt.jit(lambda x: x * x)
    >>> isinstance(f, xt.Jitted)
    True
    >>> print(f.lower(xt.spec(i=2)).as_text("traced"))
    module {
      func.func @main(%arg0: !xtensor.array<i: 2, f64>) -> !xtensor.array<i: 2, f64> {
        %0 = xtensor.mul %arg0, %arg0 : <i: 2, f64>, <i: 2, f64>
        return %0 : !xtensor.array<i: 2, f64>
      }
    }
    """

    __wrapped__: Callable[P, R]
    __name__: str
    _compiler: _Compiler
    _options: dict[str, Any]

    if TYPE_CHECKING:  # the call itself is C++

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    else:  # any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, instead_of(name))

    def __new__(
        cls,
        fn: Callable[P, R],
        *,
        static: Any = (),
        dynamic_dims: Sequence[str] | str = (),
        device: str | None = None,
        donate: Any = (),
        mesh: Mesh | None = None,
        split: Mapping[str, str] | None = None,
        sizes: Mapping[str, int] | None = None,
        deterministic: bool | int = False,
        by_tracing: bool = False,
    ) -> Jitted[P, R]:
        """by_tracing: `fn` works on tracers alone, so that no option makes it run op by op."""
        if not callable(fn):
            raise ArgumentTypeError(f"xt.jit needs a function, got {shown(fn)}")
        layout = _layout(mesh, split, deterministic, sizes, dynamic_dims, device)
        donated = StaticNames(fn, donate, "donate")
        compiler = _Compiler(fn, StaticNames(fn, static), dynamic_dims, device, donated, layout)
        self = super().__new__(cls, compiler)
        functools.update_wrapper(self, fn, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = name_of(fn)
        if isinstance(fn, functools.partial):  # its own docstring is about partial
            self.__doc__ = fn.func.__doc__
        compiler.by_tracing = by_tracing or layout is not None
        self._compiler = compiler
        self._options = {"static": static, "dynamic_dims": dynamic_dims, "device": device, "donate": donate}
        if by_tracing:
            self._options |= {"by_tracing": True}
        if layout is not None:
            self._options |= {"mesh": mesh, "split": split, "sizes": sizes, "deterministic": deterministic}
        compiler.function = weakref.ref(self)  # no cycle: the code goes when the function does
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else _Method(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self.__name__}>"

    @property
    def layout(self) -> Layout | None:
        """What ``mesh=`` and ``split=`` say; None: the program of one process."""
        return self._compiler.layout

    def _made(self) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
        """Copies and other processes trace for themselves."""
        return self.__dict__.get("_transform") or (self.__wrapped__, _jit_again, (self._options,))

    def _carried(self) -> Carried:
        token = self.__dict__.setdefault("_token", uuid.uuid4().hex)
        keys = [*self._compiler.lowered, *(e.key for e in list(self._compiler.entries.values()))]
        return Carried(token, [k for k in keys if k])

    def _receive(self, carried: Carried) -> None:
        self.__dict__["_token"] = carried.token
        known = self._compiler.lowered
        known.extend([k for k in carried.keys if k not in known])

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """What was compiled for calls of this function, in order: for which arguments, in what time, and why again.

        The latest 256. ``xt.option(log="compile")`` tells each as it comes.
        """
        return tuple(self._compiler.history.records)

    @trimmed
    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the traced program for these arguments (arrays or `xt.spec`), a `Traced` stage.

        ``device=`` names the device to compile for, unless `f` has a parameter of that name. It may be a device
        that is not here ("metal") or a device's profile.
        """
        return Traced(*self._compiler.abstract(args, kwargs), self._compiler.lowered)

    @trimmed
    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the `Lowered` stage, whose `as_text(phase)` shows the program after each phase.

        ``device=`` is as in `trace`.
        """
        return self.trace(*args, **kwargs).lower()

    @trimmed
    def cost(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what one call costs: flops, bytes moved and arena size; for a device also launches and on_host.

        If dims are dynamic, it is the cost of a call with the sizes of the arguments. UnsupportedError if an `xt.spec`
        leaves a size open.
        """
        return self.lower(*args, **kwargs).cost()

    @trimmed
    def memory(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a `Memory`: the bytes that one call needs, and where each temporary lies, and when.

        Printed, it draws the arena as text, and a notebook shows it as a picture. The arguments are arrays or
        `xt.spec`; ``device=`` is as in `trace`. If dims are dynamic, it is the memory of a call with arguments of these
        sizes. UnsupportedError if an `xt.spec` leaves a size open.

        Example:
        >>> f = xt.jit(lambda x: xt.sort(xt.exp(x), "i"))
        >>> memory = f.memory(xt.spec(i=1000))
        >>> max(memory.temporaries, key=lambda t: t.bytes).bytes >= 8000
        True
        """
        return self.lower(*args, **kwargs).memory()

    @trimmed
    def as_text(self, phase: str, *args: Any, **kwargs: Any) -> str:
        """Returns ``f.lower(*args).as_text(phase)``."""
        return str(self.lower(*args, **kwargs).as_text(phase))

    @trimmed
    def explore(self, *args: Any, path: Any = None, profile: Any = None, **kwargs: Any) -> Any:
        """Returns an `Explorer`, a page that shows your Python beside the program after each phase.

        A click on a line of either side shows what belongs to it on the other. The page is one HTML file, which needs
        no network: ``explore(.., path="f.html")`` writes it, and so does ``.write("f.html")``. A notebook shows it.
        The arguments are arrays or `xt.spec`; ``device=`` is as in `trace`. ``profile=p``, of a block of
        ``with xt.profile() as p`` that has called `f`, adds the graph of its kernels, as measured. If `f` has a
        parameter `path` or `profile`, it gets it. ArgumentError if the file cannot be written, or if the block has not
        called `f` with such arguments.

        Example:
        >>> f = xt.jit(lambda x: xt.sum(xt.exp(x)))
        >>> page = f.explore(xt.spec(i=4))
        >>> [phase["name"] for phase in page.data["phases"]][:3]
        ['traced', 'simplified', 'differentiated']
        """
        signature = signature_of(self.__wrapped__)
        own = {"path": path, "profile": profile}
        if signature is not None and own.keys() & signature.parameters.keys():
            its = {name for name in own if name in signature.parameters}
            kwargs = {**kwargs, **{name: own[name] for name in its if own[name] is not None}}
            path, profile = (None if name in its else own[name] for name in own)
        if path is not None:
            writable(path)
        program, call, target = self._compiler.abstract(args, kwargs)
        code = code_of(self.__wrapped__)
        page = Explorer(explored(program, target, code, measured(profile, program, target), call.shapes))
        if path is not None:
            page.write(path)
        return page


class _Method(functools.partial[Any]):
    """A jitted method of an instance, which can be looked into as a jitted function can."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)  # transforms ask the function, and give it the instance
        found = getattr(self.func, name)  # with advice, if it has none
        if name == "as_text":
            return lambda phase, *args, **kwargs: found(phase, *self.args, *args, **kwargs)
        return functools.partial(found, *self.args) if name in _LOOKS else found


_LOOKS = frozenset({"cost", "explore", "lower", "memory", "trace"})
_traced = threading.local()  # layout: of the program that is being traced


def _layout(
    mesh: Any, split: Any, deterministic: Any, sizes: Any, dynamic_dims: Any, device: str | None
) -> Layout | None:
    """What `mesh=`, `split=`, `sizes=` and `deterministic=` mean together."""
    if mesh is None and split is None:
        if sizes is not None:
            raise ArgumentTypeError("xt.jit(sizes=) is for programs of several processes, with mesh= and split=")
        if deterministic is not False:
            raise ArgumentTypeError(
                f"xt.jit(deterministic={shown(deterministic)}) is for programs of several processes, with mesh= and "
                "split=. For updates by position on a device, write xt.option(deterministic=True)"
            )
        return None
    if mesh is None or split is None:
        raise ArgumentTypeError(
            "xt.jit(mesh=, split=): one needs the other. Write xt.jit(f, mesh=mesh, split={dim: mesh dim})"
        )
    layout = Layout(mesh, split, deterministic, sizes)
    names = (dynamic_dims,) if isinstance(dynamic_dims, str) else dynamic_dims
    both = sorted(layout.split.keys() & set(names))
    if both:
        raise DimensionError(f"xt.jit(split=): dim {both[0]!r} is in dynamic_dims; the size of a split dim is static")
    if device not in (None, "cpu"):
        raise UnsupportedError(f"xt.jit(mesh=, device={device!r}): programs of several processes run on the CPU")
    return layout


def _jit_again(fn: Callable[..., Any], options: dict[str, Any]) -> Jitted[..., Any]:
    return Jitted(fn, **options)


def transformed(
    run: Callable[..., Any], f: Callable[..., Any], make: Callable[..., Any], *more: Any, **others: Any
) -> Jitted[..., Any]:
    """``make(f, *more)``, which runs `run` and has the options of `f` but for `others`; a pickle has what made it."""
    made: Jitted[..., Any] = Jitted(run, **{"by_tracing": True, **options_of(f), **others})
    made.__dict__["_transform"] = (f, make, more)
    return made


def _bound(f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The jitted function in a bound method or a `functools.partial`, and the arguments that it has been given."""
    if isinstance(f, functools.partial) and isinstance(f.func, Jitted):
        return f.func, f.args, f.keywords
    return f, (), {}


def options_of(f: Any, static: bool = True) -> dict[str, Any]:
    """What `xt.jit(f, device=, static=)` was given: it holds for what is made of the function, too. Without `static`,
    for what has other arguments, or marks those of the function itself."""
    f, args, _ = _bound(f)
    if not isinstance(f, Jitted):
        return {"device": None, "static": ()}
    compiler = f._compiler
    found: dict[str, Any] = {"device": compiler.asked, "static": compiler.static.after(len(args)) if static else ()}
    if (layout := compiler.layout) is not None:
        found |= {"mesh": layout.mesh, "split": layout.split, "deterministic": layout.blocks or False}
        found["sizes"] = layout.sizes or None
    return found


def marked_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function, those that its own `xt.jit(f, static=)` names in a `Static`."""
    f, before, keywords = _bound(f)
    if not isinstance(f, Jitted):
        return args, kwargs
    new, named = f._compiler.static.mark(before + args, {**keywords, **kwargs})
    return new[len(before) :], {k: named[k] for k in kwargs}


def marked(f: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """As `marked_call`, of arguments by position."""
    return marked_call(f, tuple(args), {})[0]


def _retire(function: Callable[[], Any], executable: Any) -> bool:
    """Whether the function that a weak reference is to called it since the last time; else it forgets it."""
    there = function()
    return there is not None and bool(there.retire(executable))


class _Compiler:
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


@overload
def jit(
    f: Callable[P, R],
    /,
    *,
    device: str | None = None,
    donate: Any = (),
    static: Any = (),
    dynamic_dims: Sequence[str] | str = (),
    mesh: Mesh | None = None,
    split: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
    deterministic: bool | int = False,
) -> Jitted[P, R]: ...
@overload
def jit(
    *,
    device: str | None = None,
    donate: Any = (),
    static: Any = (),
    dynamic_dims: Sequence[str] | str = (),
    mesh: Mesh | None = None,
    split: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
    deterministic: bool | int = False,
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(f: Any = None, /, **options: Any) -> Any:
    """Returns a function that compiles `f` once per dims, sizes and dtypes of its arguments, and runs that code.

    Arguments are arrays, DataArrays, numbers, and pytrees of them. It works as a decorator, with or without
    options.

    static: names or positions of arguments that are ordinary Python values (hashable). `f` is compiled for each
    value.
    dynamic_dims: dims for which one compilation serves every size.
    device: where it runs, "cpu", "vulkan", "cuda" or "metal" (see `xt.devices()`). Arguments are moved there, and
    results stay there. By default it runs where its arguments are.
    mesh, split: the program runs in every process of an `xt.Mesh`, each of which has a part of the arrays. `split`
    maps dims of arrays to dims of the mesh, for the whole program; arguments and results are parts along these, and
    `f` sees the sizes of the whole.
    sizes: sizes of the whole of split dims that are not multiples of the number of processes. The last processes have
    fewer positions of them.
    deterministic: with True, results have the same bits for any number of processes that divides 8. A number stands
    for another number than 8. Split dims are computed in so many blocks, which must divide their sizes.
    donate: names or positions of arguments that a call takes over. Results lie in their memory where that is
    possible, so an update or a step of an optimizer needs no second array. Later uses of such an array raise
    ArgumentError. ``jit(lambda p, g: p - 0.1 * g, donate=0)`` for example works in the memory of `p`.

    Another value of a Python number does not compile again. Arrays that `f` reads from outside, also in a list or
    an attribute, are fixed when `f` is traced: a later change has no effect. Pass an array that changes as an
    argument.

    Raises:
        ArgumentError: a static or donated argument does not exist, or a donated array is used again.
        DeviceError: `device` does not exist.

    Example:
    >>> @xt.jit
    ... def loss(w, x):
    ...     return xt.mean(xt.square(x @ w))
    >>> loss(xt.array([1.0, 2.0], "feature"), xt.ones(sample=4, feature=2)).item()
    9.0
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        ours = unknown[0].partition("_")[0]
        instead = suggestion(unknown[0], _OPTIONS)
        if ours in _OPTIONS:
            instead = f". Write {ours}={options[unknown[0]]!r}, of names or positions"
        raise ArgumentTypeError(f"xt.jit: there is no option {unknown[0]}=; options are {', '.join(_OPTIONS)}{instead}")
    if f is None:
        return lambda g: Jitted(g, **options)
    return Jitted(f, **options)
