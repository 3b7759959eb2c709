"""jit: a function that is traced and compiled once per types of its arguments.

Later calls on plain arrays do not run Python code.
"""

from __future__ import annotations

import functools
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from ..base.calls import shown
from ..base.dims import suggestion
from ..base.environment import threads_advice
from ..base.errors import ArgumentTypeError, DimensionError, UnsupportedError, trimmed
from ..base.lacking import LOOKS, lacks
from ..call.arguments import StaticNames, name_of, signature_of
from ..call.compilations import Compilation, code_of
from ..call.entry import Function
from ..compiler.carried import Carried
from ..explorer.page import Explorer, explored, measured, writable
from ..values.mesh import Layout, Mesh
from .compiling import Compiler
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
    _compiler: Compiler
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
        compiler = Compiler(fn, StaticNames(fn, static), dynamic_dims, device, donated, layout)
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
        return functools.partial(found, *self.args) if name in LOOKS else found


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
        instead = threads_advice(unknown[0]) or suggestion(unknown[0], _OPTIONS)
        if ours in _OPTIONS:
            instead = f". Write {ours}={options[unknown[0]]!r}, of names or positions"
        raise ArgumentTypeError(f"xt.jit: there is no option {unknown[0]}=; options are {', '.join(_OPTIONS)}{instead}")
    if f is None:
        return lambda g: Jitted(g, **options)
    return Jitted(f, **options)
