"""The state of tracing: one scope per function, and one for each region inside it. Scopes are per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _native
from ..base.dtypes import DType
from ..base.errors import TracerError, user_line
from ..base.ranges import Range
from ..ir import location
from ..ir.context import array_type, context, mlir
from ..values.spec import Spec
from ..values.targets import CPU, Target

if TYPE_CHECKING:
    from ..mlir import ir
    from ..values.array import Array
    from .tracer import Tracer


# The attribute of @main that says which dims must not be empty (compiler/Sizes.h).
NONEMPTY = "xtensor.nonempty"
# The attribute of its arguments whose memory results may take (passes/Buffers/Passes.h).
DONATED = "xtensor.donated"


class _Local(threading.local):
    scope: Scope | None = None
    op: str = ""  # the public function that is being traced, for messages of compiled code
    arguments: Sequence[Any] = ()  # and what it was given
    alone: bool = False  # whether it is traced for a call of its own, and not as a part of a function of the user's
    labelled: bool = False  # whether it is traced for a call of arrays with labels, by itself
    is_rule: bool = False  # whether what is being traced is the rule of its derivative


local = _Local()


@contextmanager
def part_of(name: str) -> Iterator[None]:
    """Ops that are traced meanwhile are parts of this public function, unless another one called it."""
    before, local.op = local.op, local.op or name
    try:
        yield
    finally:
        local.op = before


class Scope:
    """A block that ops are added to. `always`: it runs whenever the function does."""

    __slots__ = ("alive", "always", "block", "ip", "parent", "root")

    parent: Scope | None
    root: Root
    always: bool

    def __init__(self, block: ir.Block, parent: Scope | None, always: bool = True) -> None:
        self.always = always and (parent is None or parent.always)
        self.block = block
        self.ip = mlir().InsertionPoint(block)
        self.parent = parent
        if parent is not None:
            self.root = parent.root
        self.alive = False

    def __enter__(self) -> Scope:
        local.scope = self
        self.alive = True
        return self

    def __exit__(self, *exc: object) -> None:
        local.scope = self.parent
        self.alive = False


Joined: TypeAlias = "tuple[str, list[Any], list[tuple[str, ...]] | None]"


class Root(Scope):
    """A function under construction. Concrete arrays met on the way become its hidden last arguments."""

    __slots__ = (
        "called",
        "captured",
        "consulted",
        "consulted_of",
        "declared",
        "device",
        "failing",
        "fed",
        "followed",
        "fresh",
        "function",
        "functions",
        "given",
        "hidden",
        "joined",
        "labels",
        "module",
        "nonempty",
        "numbers",
        "open",
        "operands",
        "outer",
        "own",
        "owned",
        "ranges",
        "specs",
        "weak_float",
    )

    def __init__(self, specs: Sequence[Spec], names: Sequence[str] | None = None, target: Target = CPU) -> None:
        ir, ctx = mlir(), context()
        self.specs = specs = target.arriving(specs)
        here = location.of_user()
        self.module = ir.Module.create(here)
        types = [array_type(s) for s in specs]
        self.function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main", context=ctx),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [], context=ctx), context=ctx),
            },
            regions=1,
            loc=here,
            ip=ir.InsertionPoint(self.module.body),
        )
        locs = [location.of_argument(n) for n in names] if names else [here] * len(types)
        block = ir.Block.create_at_start(self.function.regions[0], types, locs)
        super().__init__(block, None)
        self.root = self
        # dynamic dim -> the input's that has its size: what the user can take out of dynamic_dims
        self.declared = {d: d for s in specs for d, n in s.sizes.items() if n is None}
        self.captured: dict[int, Tracer] = {}
        self.hidden: list[tuple[int, Array]] = []  # what is captured, by the number of its argument
        self.numbers = {a: i for i, (a, s) in enumerate(zip(block.arguments, specs, strict=True)) if s.weak}
        self.ranges: dict[tuple[int, DType], Range] = {}
        # dims of which a call's sizes must not be 0: (dim, public function, FILE:LINE) -> what it is told
        self.nonempty: dict[tuple[str, str, str | None], str] = {}
        self.failing = 0  # how many ops may fail when they run
        self.operands: dict[str, str] = {}  # the name of such an op -> the arrays that its public function was given
        # value -> (another value, steps by dim): the first one's positions are labelled as the other's after the steps.
        self.labels: dict[Any, tuple[Any, dict[str, Any]]] = {}
        # result -> what is known of the function that it comes from, its inputs and all of its results
        self.followed: dict[Any, tuple[Any, list[Any], list[Any]]] = {}
        # Of the call: arguments that have labels, by number; and whether the function looked at them.
        self.given: Mapping[int, Any] = {}
        self.consulted = False
        # By the number of the argument: its labels, and the dims along which it read them to find positions.
        self.consulted_of: dict[int, tuple[Any, set[str]]] = {}
        # argument of a region that is being traced -> the value outside that it is
        self.fed: dict[Any, Any] = {}
        # Labels that the function made (labels/xarray.py), and value -> (the number of those that it has, the value
        # whose labels it has along dynamic dims)
        self.own: list[Any] = []
        self.owned: dict[Any, tuple[int, Any]] = {}
        # value -> the public function that gave it, what that was given, and of each the dims whose coordinates meet
        # (None: all); several where it puts arrays together in pairs.
        self.joined: dict[Any, list[Joined]] = {}
        # Where the ops are from, by its id and the public function that added them ("": none did).
        self.functions: dict[tuple[int, str], Any] = {}
        self.called: set[Any] = set()  # functions of Python that the program calls (callbacks.py)
        self.open: list[Any] = []  # ops with regions that are not made yet (regions.py)
        self.fresh = 0
        self.device = target.name  # where the function will run
        self.weak_float = target.weak_float  # the dtype of Python floats among themselves there

    def __enter__(self) -> Root:
        self.outer = local.scope  # of a function that exports this one while it is traced
        _native.enter_trace()
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        local.scope = self.outer
        _native.exit_trace()

    def release(self) -> tuple[Array, ...]:
        """The captured arrays, in the order of their arguments. Tracers refer to the root: none stays here.

        A signal handler that calls ops while its thread traces captures in the midst of `capture`."""
        hidden = [array for _, array in sorted(self.hidden, key=lambda place: place[0])]
        self.captured.clear()
        self.hidden.clear()
        if len(hidden) + len(self.specs) != len(self.block.arguments):
            raise TracerError(
                "a signal handler used arrays while a function was being traced in its thread, and an exception ended "
                "it. Call the function again; let the handler set a flag that the program checks"
            )
        # Views: a call that takes an array over does not write to memory that a program reads.
        return tuple(array._with_meta(array.meta) for array in hidden)

    def meets(self, value: ir.Value, dtype: DType) -> None:
        """Remembers that a Python int becomes one of `dtype`: calls check that it fits."""
        number = self.numbers.get(value) if self.numbers else None
        if number is not None and (number, dtype) not in self.ranges:
            self.ranges[number, dtype] = Range(number, dtype, user_line(), local.op)

    def same_size(self, new: str, old: str) -> None:
        """Remembers that a dim has the size of a dynamic one."""
        self.declared.setdefault(new, self.declared.get(old, old))

    def needs_elements(self, dim: str, message: str, where: str | None) -> None:
        """Remembers that the dynamic dim must not be empty: `message` is what a call says that has it so."""
        self.nonempty.setdefault((dim, local.op, where), message)

    def fresh_dim(self, like: str) -> str:
        """A name that no user can spell, and that no other part of the program has."""
        self.fresh += 1
        return f"{like}~b{self.fresh}"

    @property
    def main(self) -> ir.Operation:
        return self.function

    def feed(self, arguments: Sequence[Any], values: Sequence[Tracer | None]) -> None:
        """Remembers what the arguments of a region are outside of it; None: another one at each step of a loop."""
        self.fed.update((a, x.value) for a, x in zip(arguments, values, strict=True) if x is not None)

    def join(
        self, value: ir.Value, op: str, *together: Sequence[Tracer], along: list[tuple[str, ...]] | None = None
    ) -> None:
        """Remembers that `op` puts elements of arrays together, of each group in `together`, where it gives `value`."""
        # In place of what was there: of a body that is traced again, other values have been where these are.
        self.joined[value] = [(op, [x.value for x in arrays], along) for arrays in together]

    def finish(self, values: Sequence[ir.Value], donated: Sequence[int] = ()) -> None:
        """Adds the return and gives the function its type. `donated`: arguments whose memory results may take."""
        ir, ctx = mlir(), context()
        ir.Operation.create("func.return", operands=list(values), loc=location.of_user(), ip=self.ip)
        types = [a.type for a in self.block.arguments]
        kind = ir.FunctionType.get(types, [v.type for v in values], context=ctx)
        self.function.attributes["function_type"] = ir.TypeAttr.get(kind, context=ctx)
        if donated and self.device == "cpu":
            marks = [{DONATED: ir.UnitAttr.get(ctx)} if i in donated else {} for i in range(len(types))]
            self.function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(m, ctx) for m in marks], ctx)
        if self.nonempty:
            entries = [
                {"dim": dim, "message": message, "where": where or ""}
                for (dim, _, where), message in self.nonempty.items()
            ]
            self.function.attributes[NONEMPTY] = ir.ArrayAttr.get(
                [
                    ir.DictAttr.get({k: ir.StringAttr.get(v, context=ctx) for k, v in e.items()}, context=ctx)
                    for e in entries
                ],
                context=ctx,
            )


def tracing() -> bool:
    """Whether a function is being traced in this thread."""
    return local.scope is not None


def current() -> Scope:
    scope = local.scope
    if scope is None:
        raise TracerError("no function is being traced: this works only inside of a traced function")
    return scope


def is_alive(scope: Scope) -> bool:
    """Whether what was made in `scope` means something where this thread is."""
    here = local.scope
    return scope.alive and here is not None and here.root is scope.root


def check_alive(tracer: Any) -> None:
    """Refuses tracers whose trace has ended, or that another thread or another function traces."""
    if is_alive(tracer.scope):
        return
    raise TracerError(
        f"a traced array {tracer!r} was used outside of the function that it was traced in. It has no value there: "
        "return it from the function, and use the result of the call instead"
    )
