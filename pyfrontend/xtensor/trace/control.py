"""Control flow while tracing: switch, while and scan around traced functions.

Carries and branches may have any structure. A Python scalar takes the dtype that the body gives it; everything else
keeps its type.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base import dtypes, tree
from ..base.calls import call_with, shown
from ..base.dims import batched, describe, suggestion
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, Error, SizeError
from ..ir import context as c
from ..values.spec import Spec
from . import build
from .lift import as_tracer
from .program import result_leaves
from .regions import Regions, discarding
from .scope import current
from .tracer import DynamicSize, Tracer, spec

if TYPE_CHECKING:
    from ..mlir import ir

_INT64 = np.dtype("int64")
_BOOL = np.dtype(bool)
_STEP = ("i", "carry")


def _show(s: Spec) -> str:
    return f"{s.dtype.name} {describe(s.dims, s.shape)}"


# -- two types that should be one -------------------------------------------------------------------------------------


def _weak_fits(weak: Spec, dtype: np.dtype[Any]) -> bool:
    """Whether a Python scalar may become `dtype` without changing its kind."""
    return _rank(weak.dtype) <= _rank(dtype)


def _rank(dtype: np.dtype[Any]) -> int:
    return 3 if dtypes.is_complex(dtype) else 2 if dtypes.is_float(dtype) else int(dtype != _BOOL)


def join(a: Spec, b: Spec) -> Spec | None:
    """The type that both can have, with the dims in the order of `a`; None if no such type exists."""
    if a.sizes != b.sizes:
        return None
    if a.dtype == b.dtype:
        dtype = a.dtype
    elif a.weak and b.weak:
        dtype = max(a.dtype, b.dtype, key=lambda d: (_rank(d), d.itemsize))
    elif a.weak and _weak_fits(a, b.dtype):
        dtype = b.dtype
    elif b.weak and _weak_fits(b, a.dtype):
        dtype = a.dtype
    else:
        return None
    return Spec._of(a.dims, a.shape, dtype, a.weak and b.weak)


def _difference(a: Spec, b: Spec, first: str, second: str) -> tuple[type[Error], str, str]:
    """The kind of error, the first difference and what to do about it. `first` and `second`: what has these types."""
    new = [d for d in b.dims if d not in a.dims]
    gone = [d for d in a.dims if d not in b.dims]
    if new:
        return (
            DimensionError,
            f"dim {new[0]!r}, which only {second} has",
            f"Give {first} the dim {new[0]!r} too, or reduce {second} over it",
        )
    if gone:
        return (
            DimensionError,
            f"dim {gone[0]!r}, which only {first} has",
            f"Write xt.broadcast_like(value, like) to give {second} that dim",
        )
    for d in a.dims:
        if a.sizes[d] != b.sizes[d]:
            sizes = ["?" if s.sizes[d] is None else str(s.sizes[d]) for s in (a, b)]
            return SizeError, f"the size of dim {d!r}, {sizes[0]} and {sizes[1]}", "Both need one size"
    try:
        wide = np.promote_types(a.dtype, b.dtype)
    except TypeError:  # float16 and bfloat16
        wide = np.dtype("float32")
    narrow = [what for what, s in ((first, a), (second, b)) if s.dtype != wide]
    instead = f'Write .astype("{wide.name}") on {" and ".join(narrow)}'
    if len(narrow) == 1:
        other, kept = (second, a) if narrow == [first] else (first, b)
        instead += f', or .astype("{kept.dtype.name}") on {other}'
    return DTypeError, f"the dtype, {a.dtype.name} and {b.dtype.name}", instead


def _arranged(structure: tree.TreeDef, result: Any) -> Any:
    """`result` with the keys of dicts in the order of `structure`, where nothing else differs."""
    try:
        return structure.unflatten(tree.leaves_at(structure, result))
    except ArgumentError:
        return result


def _fit(x: Tracer, to: Spec) -> Tracer:
    """`x` with the dtype and the order of dims of `to`."""
    return build.broadcast(build.meet(x, to.dtype), to.dims)


def _results(values: Sequence[ir.Value], specs: Sequence[Spec]) -> list[Tracer]:
    return [Tracer(v, weak=s.weak, spec=s) for v, s in zip(values, specs, strict=True)]


def name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def stands_for(step: Any, fn: Callable[..., Any], places: Sequence[int | None]) -> None:
    """Gives a function that calls the user's its name, and its parameters those at `places`; None: it has no name."""
    step.__name__ = name_of(fn)
    step.stands_for = fn, places


def parameters_of(fn: Callable[..., Any]) -> list[str]:
    """The names of the parameters of a function, those that take one argument by position."""
    if hasattr(fn, "stands_for"):
        fn, places = fn.stands_for
        known = parameters_of(fn)
        return ["the number of the step" if i is None else known[i] for i in places] if known else []
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind < p.VAR_POSITIONAL]


def scalar_of(op: str, what: str, x: Any, kind: str, lift: Callable[[Any], Any] = as_tracer) -> Any:
    """An array without dims that must hold a bool or an integer."""
    found = lift(x)
    if found.dims:
        raise DimensionError(
            f"xt.{op}: {what} is {_show(spec(found))}, with {', '.join(map(repr, found.dims))} left. "
            + (
                "Write .all() or .any() at its end; or xt.where to choose element by element, xt.vectorize for one "
                "decision per instance"
                if kind == "bool"
                else "It must be one integer without dims"
            )
        )
    if kind == "bool" and found.dtype != _BOOL:
        raise DTypeError(f"xt.{op}: {what} must be a bool, and is {found.dtype.name}. Write a comparison, as x != 0")
    if kind == "integer" and not dtypes.is_integer(found.dtype):
        raise DTypeError(f'xt.{op}: {what} must be an integer, and is {found.dtype.name}. Write .astype("i8")')
    return found


# -- switch -----------------------------------------------------------------------------------------------------------


def cond(predicate: Any, yes: Callable[..., Any], no: Callable[..., Any], args: Sequence[Any]) -> Any:
    """`yes(*args)` where the predicate holds, else `no(*args)`."""
    p = scalar_of("cond", "the predicate", predicate, "bool")
    names = ("the `yes` branch", "the `no` branch")
    return _switch("cond", build.cast(p, _INT64), (yes, no), args, names, (1, 0))


def switch(index: Any, branches: Sequence[Callable[..., Any]], args: Sequence[Any]) -> Any:
    """`branches[index](*args)`, the index clamped into range."""
    if not branches:
        raise ArgumentError("xt.switch: the list of branches is empty. Give at least one function")
    i = scalar_of("switch", "the index", index, "integer")
    if i.dtype == np.dtype("uint64"):
        i = build.binary("minimum", i, build.constant(np.uint64(len(branches))))
    names = [f"branch {k} ({name_of(branch)})" for k, branch in enumerate(branches)]
    return _switch("switch", i if i.dtype == _INT64 else build.cast(i, _INT64), tuple(branches), args, names)


@discarding
def _switch(
    op: str,
    selector: Tracer,
    branches: Sequence[Callable[..., Any]],
    args: Sequence[Any],
    names: Sequence[str],
    places: Sequence[int] | None = None,
) -> Any:
    """names: how errors call the branches. places: which value of the selector chooses each, by default its number."""
    places = places or range(len(branches))
    regions = Regions(len(branches))
    leaves: list[list[Tracer]] = []
    structure: tree.TreeDef | None = None
    paths: list[str] = []
    for i, branch, name in zip(places, branches, names, strict=True):

        def body(
            _: list[Tracer],
            branch: Callable[..., Any] = branch,
            name: str = name,
            first: tree.TreeDef | None = structure,
        ) -> Any:
            result = call_with(op, branch, args, what=name)
            if first is not None:
                result = _arranged(first, result)
            found, shape = result_leaves(result, name_of(branch))
            return found, shape, tree.paths(result)

        found, shape, at = regions.trace(i, (), body)
        if structure is None:
            structure, paths = shape, at
        elif shape != structure:
            raise ArgumentError(
                f"xt.{op}: {names[0]} and {name} return different structures, {structure} and {shape}; they "
                f"differ {tree.difference(structure, shape)}"
            )
        leaves.append(found)
    assert structure is not None
    specs: list[Spec] = []
    for k, path in enumerate(paths):
        common = spec(leaves[0][k])
        for name, found in zip(names[1:], leaves[1:], strict=True):
            joined = join(common, spec(found[k]))
            if joined is None:
                _branches_differ(op, (names[0], name), path, common, spec(found[k]))
            common = joined
        specs.append(common)
    yields: list[list[Tracer]] = [[]] * len(branches)
    for i, found in zip(places, leaves, strict=True):

        def fitted(_: list[Tracer], found: list[Tracer] = found) -> list[Tracer]:
            return [_fit(x, s) for x, s in zip(found, specs, strict=True)]

        yields[i] = regions.trace(i, (), fitted)
    values = regions.finish("switch", [c.array_type(s) for s in specs], (selector,), {}, yields)
    return structure.unflatten(_results(values, specs))


def _branches_differ(op: str, names: Sequence[str], path: str, a: Spec, b: Spec) -> NoReturn:
    first, second = names
    kind, difference, instead = _difference(a, b, first, second)
    raise kind(
        f"xt.{op}: {first} and {second} return different types{f' at {path}' if path else ''}: {_show(a)} "
        f"and {_show(b)}; the first difference is {difference}. {instead}"
    )


# -- carries ----------------------------------------------------------------------------------------------------------


class Carry:
    """What a loop hands from step to step. Its leaves are tracers, or what a subclass makes of them."""

    lift: Any = staticmethod(as_tracer)
    fit_one: Any = staticmethod(_fit)

    def __init__(self, op: str, init: Any) -> None:
        self.op = op
        leaves, self.structure = tree.flatten(init)
        self.paths = tree.paths(init)
        self.init = [self.lift(x) for x in leaves]
        self.specs = [spec(x) for x in self.init]

    def names(self, fn: Callable[..., Any]) -> list[str]:
        """What `fn` calls the leaves."""
        first = (parameters_of(fn) or ["carry"])[0]
        return [f"{first}{path}" for path in self.paths]

    def unflatten(self, leaves: Sequence[Tracer]) -> Any:
        return self.structure.unflatten(leaves)

    def leaves_of(self, result: Any, fn: Callable[..., Any]) -> list[Tracer]:
        """What `fn` returned as the next carry."""
        found, shape = tree.flatten(result)
        if shape != self.structure:
            if result is None:
                raise no_carry(self.op, fn, _show(self.specs[0]) if self.paths == [""] else str(self.structure))
            try:
                found = tree.leaves_at(self.structure, result)
            except ArgumentError:
                raise ArgumentError(
                    f"xt.{self.op}: the carry changes its structure. It starts as {self.structure} and "
                    f"{name_of(fn)} returns {shape}; they differ {tree.difference(self.structure, shape)}"
                ) from None
            for x, s, path in zip(found, self.specs, self.paths, strict=True):
                if x is None:
                    raise no_carry(self.op, fn, _show(s), path)
        return result_leaves(found, name_of(fn), self.lift)[0]

    def step(
        self, f: Callable[[Any, Any], Any], given: Any, x: Any, dim: str
    ) -> tuple[list[Tracer], list[Tracer], tree.TreeDef]:
        """`f(given, x)` as a step of a scan along `dim`: the next carry, and the ys with their structure."""
        op = self.op
        before, batched.steps = batched.steps, (*batched.steps, (dim, op))
        try:
            result = call_with(op, f, [given, x], roles=("carry", "x"))
        finally:
            batched.steps = before
        if not isinstance(result, tuple) or len(result) != 2:
            raise ArgumentTypeError(
                f"xt.{op}: {name_of(f)} must return a tuple (carry, y), got {shown(result)}. Write return carry, None "
                "if there is nothing to stack"
            )
        ys, structure = result_leaves(result[1], name_of(f), self.lift)
        for y, path in zip(ys, tree.paths(result[1]), strict=True):
            if dim in y.dims:
                raise DimensionError(
                    f"xt.{op}: {name_of(f)} returned {_show(spec(y))} as y{path}, which has dim {dim!r} already; "
                    f"ys are stacked along it. Rename it: y.rename({{{dim!r}: ...}})"
                )
        return self.leaves_of(result[0], f), ys, structure

    def decide(self, keep_on: Callable[[Any], Any], leaves: Sequence[Tracer]) -> Any:
        """Whether a while loop goes on."""
        op = self.op
        keeps = call_with(op, keep_on, [self.unflatten(leaves)], roles=("carry",))
        if keeps is None or isinstance(keeps, (tuple, list, dict)):
            raise ArgumentTypeError(f"xt.{op}: the condition {name_of(keep_on)} must return a bool, got {shown(keeps)}")
        return scalar_of(op, f"what {name_of(keep_on)} returned", keeps, "bool", self.lift)

    def settle(self, found: Sequence[Tracer], fn: Callable[..., Any]) -> bool:
        """Whether the carry's types hold; if Python scalars give way, `specs` are the next to try."""
        specs = []
        for s, x, path in zip(self.specs, found, self.paths, strict=True):
            joined = join(s, spec(x))
            if joined is None or (joined.dtype != s.dtype and not s.weak):
                self._changes(s, spec(x), path, fn)
            specs.append(joined)
        settled = specs == self.specs
        self.specs = specs
        return settled

    def _changes(self, a: Spec, b: Spec, path: str, fn: Callable[..., Any]) -> NoReturn:
        kind, difference, instead = _difference(a, b, "the start", "the result")
        raise kind(
            f"xt.{self.op}: the carry changes its type{f' at {path}' if path else ''}. It comes in as {_show(a)} and "
            f"{name_of(fn)} returns {_show(b)}; the first difference is {difference}. {instead}"
        )

    def start(self) -> list[Tracer]:
        return self.fit(self.init)

    def fit(self, found: Sequence[Tracer]) -> list[Tracer]:
        return [self.fit_one(x, s) for x, s in zip(found, self.specs, strict=True)]


def never_ends(op: str, body: Callable[..., Any]) -> ArgumentError:
    return ArgumentError(
        f"xt.{op}: {name_of(body)} returns its carry unchanged, so the loop would never end. Return the next carry, "
        "or bound the loop: max_steps=..."
    )


def steps_differ(op: str, fn: Callable[..., Any], a: Spec, b: Spec) -> Error:
    kind, difference, instead = _difference(a, b, "one step", "another one")
    return kind(
        f"xt.{op}: {name_of(fn)} returns other types of y in other steps, {_show(a)} and {_show(b)}; the first "
        f"difference is {difference}. {instead}"
    )


def no_carry(op: str, fn: Callable[..., Any], carry: str, path: str = "") -> ArgumentTypeError:
    at = f" at {path}" if path else ""
    return ArgumentTypeError(f"xt.{op}: {name_of(fn)} returned None{at}; the carry{at} is {carry}: return the next one")


# -- while ------------------------------------------------------------------------------------------------------------


@discarding
def while_loop(
    keep_on: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    max_steps: int | None,
    op: str = "while_loop",
    names: Callable[[], Sequence[str]] | None = None,
) -> Any:
    """`body` over and over, from `init`, for as long as `keep_on(carry)` holds and at most `max_steps` times. names:
    what the user calls the leaves of the carry, by default as the functions do."""
    carry = Carry(op, init)

    def step(arguments: list[Tracer]) -> list[Tracer]:
        return carry.leaves_of(call_with(op, body, [carry.unflatten(arguments)], roles=("carry",)), body)

    while True:
        regions = Regions(2)
        found = regions.trace(1, carry.specs, step, names=names or (lambda: carry.names(body)))
        specs = carry.specs
        if max_steps is None and regions.hands_on(1, found):
            raise never_ends(op, body)
        if carry.settle(found, body):
            break
        regions.discard()

    def decide(arguments: list[Tracer]) -> Tracer:
        found: Tracer = carry.decide(keep_on, arguments)
        return found

    more = regions.trace(0, specs, decide, names=names or (lambda: carry.names(keep_on)))
    nexts = regions.trace(1, (), lambda _: carry.fit(found))
    attributes: dict[str, ir.Attribute] = {}
    if max_steps is not None:
        attributes["max_steps"] = c.integer_attribute(max_steps)
    types = [c.array_type(s) for s in carry.specs]
    values = regions.finish("while", types, carry.start(), attributes, [[more], nexts], op)
    return carry.unflatten(_results(values, carry.specs))


# -- scan -------------------------------------------------------------------------------------------------------------


@discarding
def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    dim: str,
    reverse: bool,
    length: int | DynamicSize | None,
    op: str = "scan",
    weak: bool = False,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` at each position of `dim` in `xs`. The last carry, and the ys with `dim` first.
    `weak`: the elements of `xs` stand for Python scalars."""
    carry = Carry(op, init)
    over, x_structure = scanned(op, xs, dim)
    steps = steps_of(op, over, tree.paths(xs), dim, length)
    elements = [_without(x.spec, dim, weak) for x in over]

    def step(arguments: list[Tracer]) -> tuple[list[Tracer], list[Tracer], tree.TreeDef]:
        given = carry.unflatten(arguments[: len(carry.specs)])
        return carry.step(f, given, x_structure.unflatten(arguments[len(carry.specs) :]), dim)

    outside = [*[None] * len(carry.specs), *over]

    def names() -> list[str]:
        second = (parameters_of(f)[1:] or ["x"])[0]
        return [*carry.names(f), *(f"{second}{path}" for path in tree.paths(xs))]

    while True:
        regions = Regions(1)
        found, ys, structure = regions.trace(0, [*carry.specs, *elements], step, outside, names)
        if carry.settle(found, f):
            break
        regions.discard()
    nexts = regions.trace(0, (), lambda _: carry.fit(found))
    n = None if isinstance(steps, Tracer) else steps
    stacked = [Spec._of((dim, *y.dims), (n, *y.spec.shape), y.dtype) for y in ys]
    attributes: dict[str, ir.Attribute] = {"dim": c.string_attribute(dim)}
    if reverse:
        attributes["reverse"] = c.mlir().UnitAttr.get(context=c.context())
    operands = [*carry.start(), *over]
    size: list[Tracer] = []
    if not over and isinstance(steps, Tracer):
        size = [steps]
    elif not over:
        attributes["length"] = c.integer_attribute(steps)
    attributes["operandSegmentSizes"] = c.mlir().DenseI32ArrayAttr.get(
        [len(carry.specs), len(over), len(size)], context=c.context()
    )
    types = [c.array_type(s) for s in (*carry.specs, *stacked)]
    values = regions.finish("scan", types, [*operands, *size], attributes, [[*nexts, *ys]], op)
    if values and len(over) > 1:
        current().root.join(values[0], op, over, along=[(dim,)] * len(over))
    results = _results(values, [*carry.specs, *stacked])
    return carry.unflatten(results[: len(carry.specs)]), structure.unflatten(results[len(carry.specs) :])


def scanned(op: str, xs: Any, dim: str, lift: Callable[[Any], Any] = as_tracer) -> tuple[list[Any], tree.TreeDef]:
    """What a scan reads, and its structure."""
    leaves, structure = tree.flatten(xs)
    over = [lift(x) for x in leaves]
    for x, path in zip(over, tree.paths(xs), strict=True):
        if dim not in x.dims:
            have = ", ".join(map(repr, x.dims)) if x.dims else "none"
            instead = "What is the same at every step is used in the function as it is"
            if isinstance(xs, (list, tuple)) and not any(y.dims for y in over):
                instead = f"Numbers in a row are one array: xt.array([..], {dim!r})"
            hint = suggestion(dim, x.dims) or "."
            raise DimensionError(
                f"xt.{op}: there is no dim {dim!r} in xs{path}, {_show(spec(x))}; its dims are {have}{hint} {instead}"
            )
    return over, structure


def _without(s: Spec, dim: str, weak: bool) -> Spec:
    kept = [(d, n) for d, n in zip(s.dims, s.shape, strict=True) if d != dim]
    return Spec._of([d for d, _ in kept], [n for _, n in kept], s.dtype, weak)


def steps_of(
    op: str, over: Sequence[Any], paths: Sequence[str], dim: str, length: int | DynamicSize | None
) -> int | Tracer:
    """The number of steps: an int, or a size that is known when the program runs."""
    if not over:
        if length is None:
            raise ArgumentError(f"xt.{op}: without xs, length= says how many steps there are")
        return build.as_size(length) if isinstance(length, DynamicSize) else length
    first = spec(over[0]).sizes[dim]
    for x, path in zip(over[1:], paths[1:], strict=True):
        if spec(x).sizes[dim] != first:
            raise SizeError(
                f"xt.{op}: dim {dim!r} has different sizes in xs{paths[0]}, {_show(spec(over[0]))}, and xs{path}, "
                f"{_show(spec(x))}"
            )
    if isinstance(length, int) and first is not None and first != length:
        raise SizeError(
            f"xt.{op}: length={length}, and dim {dim!r} has size {first} in xs{paths[0]}, {_show(spec(over[0]))}"
        )
    return build.size(over[0], dim) if first is None else first


# -- loops over a range -----------------------------------------------------------------------------------------------


def fori_loop(lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """`carry = body(i, carry)` for i from `lo` up to `hi`."""
    if isinstance(lo, int) and isinstance(hi, int):
        first = build.constant(np.int64(lo))

        def step(carry: Any, i: Tracer) -> tuple[Any, None]:
            at = build.binary("add", i, first) if lo else i
            index = Tracer(at.value, weak=True, spec=at.spec, bounds=(lo, hi - 1) if hi > lo else None)
            return call_with("fori_loop", body, [index, carry], roles=_STEP), None

        stands_for(step, body, (1, None if lo else 0))
        dim = f"step~{_depth()}"
        return scan(step, init, build.iota(dim, max(hi - lo, 0)), dim, False, None, "fori_loop", weak=True)[0]
    first, last = (scalar_of("fori_loop", what, x, "integer") for what, x in (("lo", lo), ("hi", hi)))
    start, end = (x if x.dtype == _INT64 else build.cast(x, _INT64) for x in (first, last))

    def advance(state: tuple[Tracer, Any]) -> tuple[Tracer, Any]:
        i, carry = state
        at = Tracer(i.value, weak=True, spec=i.spec, scope=i.scope)
        found = call_with("fori_loop", body, [at, carry], roles=_STEP)
        if found is None and carry is not None:
            raise no_carry("fori_loop", body, shown(carry))
        return build.binary("add", i, build.constant(np.int64(1))), found

    advance.__name__ = name_of(body)

    def names() -> list[str]:
        known = parameters_of(body)
        number, each = known if len(known) == 2 else _STEP
        return [number, *(f"{each}{path}" for path in tree.paths(init))]

    begin = Tracer(start.value, spec=Spec._of((), (), _INT64), scope=start.scope)
    _, found = while_loop(lambda s: build.compare("lt", s[0], end), advance, (begin, init), None, "fori_loop", names)
    return found


def _depth() -> int:
    """How many regions are open: nested loops get different names for their steps."""
    depth, scope = 0, current().parent
    while scope is not None:
        depth, scope = depth + 1, scope.parent
    return depth
